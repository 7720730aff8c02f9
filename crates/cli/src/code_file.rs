//! The file with machine code that was made before: what `heddle precompile` writes, and emulators use.

use heddle_engine::second_tier::{self, Mode, stored};
use heddle_runtime::zeal;
use std::path::Path;

/// Uses the machine code in the file from now on. Fails if the file does not fit. Without the second tier, and where each allocation collects, nothing
/// is done.
pub fn open(path: &Path) -> Result<(), String> {
    if !matches!(second_tier::mode(), Mode::After(_)) || zeal::gc() {
        return Ok(());
    }
    stored::open(path).map_err(|problem| format!("+JMfile {}: {problem}", path.display()))
}
