//! Network namespaces (the option `netns`).

use super::reason::{Reason, last_error, name_of};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;

/// Calls `f` within the network namespace whose file has this path. `f` runs on a thread of its own that ends afterwards, so no other thread's
/// namespace changes.
pub fn within<R: Send>(path: &[u8], f: impl FnOnce() -> Result<R, Reason> + Send) -> Result<R, Reason> {
    let file = std::fs::File::open(std::ffi::OsStr::from_bytes(path)).map_err(|e| name_of(&e))?;
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("netns".into()).spawn_scoped(scope, || {
            // SAFETY: a plain system call on an open descriptor. It changes the namespace of this thread only.
            if unsafe { libc::setns(file.as_raw_fd(), libc::CLONE_NEWNET) } < 0 {
                return Err(last_error());
            }
            f()
        });
        thread.map_err(|e| name_of(&e))?.join().unwrap_or(Err("einval"))
    })
}
