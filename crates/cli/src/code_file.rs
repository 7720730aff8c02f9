//! The file with machine code that was made before: what `heddle precompile` writes, and emulators use.

use heddle_engine::second_tier::{self, Mode, stored};
use heddle_runtime::zeal;
use std::path::PathBuf;

/// The name of the file beside the program.
const NAME: &str = "heddle.code";

/// Which file is used.
pub enum CodeFile {
    /// The one beside the program, if it is there and fits.
    Default,
    At(PathBuf),
    None,
}

impl CodeFile {
    /// Uses the machine code in the file from now on. Fails if a file that was named does not fit.
    pub fn open(&self) -> Result<(), String> {
        if !matches!(second_tier::mode(), Mode::After(_)) || zeal::gc() {
            return Ok(());
        }
        match self {
            CodeFile::None => {}
            CodeFile::Default => {
                let _ = default().map(|path| stored::open(&path));
            }
            CodeFile::At(path) => stored::open(path).map_err(|problem| format!("+JMfile {}: {problem}", path.display()))?,
        }
        Ok(())
    }
}

/// The file beside the program.
pub fn default() -> Option<PathBuf> {
    Some(std::env::current_exe().ok()?.parent()?.join(NAME))
}
