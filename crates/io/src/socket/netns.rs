//! Network namespaces: a call in another one than the VM's own.

use super::answer::last_errno;
use std::ffi::CStr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

fn open(path: &CStr) -> Result<OwnedFd, i32> {
    // SAFETY: the text lives.
    let fd = unsafe { libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) };
    // SAFETY: the descriptor was opened just now, and nothing else has it.
    if fd < 0 { Err(last_errno()) } else { Ok(unsafe { OwnedFd::from_raw_fd(fd) }) }
}

fn enter(namespace: &OwnedFd) -> Result<(), i32> {
    // SAFETY: a call on an open descriptor. It changes the calling thread alone.
    if unsafe { libc::setns(namespace.as_raw_fd(), libc::CLONE_NEWNET) } != 0 { Err(last_errno()) } else { Ok(()) }
}

/// Calls `f` in the namespace of this path, on the calling thread, which comes back afterwards. Without a path: where the thread is.
/// The error is a number of the system.
pub fn within<R>(path: Option<&CStr>, f: impl FnOnce() -> Result<R, i32>) -> Result<R, i32> {
    let Some(path) = path else { return f() };
    let (home, other) = (open(c"/proc/thread-self/ns/net")?, open(path)?);
    enter(&other)?;
    let result = f();
    enter(&home)?;
    result
}
