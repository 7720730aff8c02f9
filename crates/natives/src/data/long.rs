//! Work that may take long: it is counted in reductions, and big portions go to a dirty scheduler.

use heddle_runtime::process::{Process, Thrown};
use heddle_runtime::sched;

/// Bytes (or steps about as long as a byte) that a normal scheduler does at one go: below a millisecond.
const HERE_BYTES: usize = 256 * 1024;
/// Bytes a reduction (guessed: copying and checking run at some bytes a nanosecond).
const BYTES_PER_REDUCTION: usize = 256;

/// To be called before `bytes` steps of work, when nothing was done yet: counts them, or moves the native elsewhere.
pub fn work(p: &mut Process, bytes: usize) -> Result<(), Thrown> {
    if bytes > HERE_BYTES && !sched::on_dirty_thread() {
        return Err(Thrown::DirtyCpu);
    }
    p.bump(bytes / BYTES_PER_REDUCTION);
    Ok(())
}
