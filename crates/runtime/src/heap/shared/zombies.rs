//! Processes that left the process table but are not finished: they ended for all others while a dirty thread had them, or was about to get
//! them. Until that thread is done with such a process, its native may use the arguments, and what the native made lies in the process'
//! blocks. So collections visit these processes like those in the table.

use crate::process::ProcRef;
use std::sync::{Mutex, PoisonError};

/// All such processes. The lock is taken when one is added or removed, and by collections. That is rare: few processes end while a dirty
/// thread has them.
static ZOMBIES: Mutex<Vec<ProcRef>> = Mutex::new(Vec::new());

/// The process has left the table, but is not finished. Called by a thread that is inside.
#[cold]
pub(crate) fn add(p: ProcRef) {
    ZOMBIES.lock().unwrap_or_else(PoisonError::into_inner).push(p);
}

/// The process is about to be finished. Called by a thread that is inside.
#[cold]
pub(crate) fn remove(p: ProcRef) {
    ZOMBIES.lock().unwrap_or_else(PoisonError::into_inner).retain(|other| other.as_ptr() != p.as_ptr());
}

/// Calls `f` on each. The world is stopped.
pub(super) fn for_each(f: impl FnMut(ProcRef)) {
    ZOMBIES.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().for_each(f);
}
