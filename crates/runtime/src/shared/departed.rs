//! Processes that left the process table and are not finished: they ended for all others while a dirty thread had them, or was to get
//! them. Until that thread is done with one its native may use what it was given, and what it made lies in its blocks; so
//! collections look at it as at those in the table.

use crate::process::ProcRef;
use std::sync::{Mutex, PoisonError};

/// Those of them that are there. The lock is taken at both ends of this and by collections: dirty threads are seldom overtaken.
static DEPARTED: Mutex<Vec<ProcRef>> = Mutex::new(Vec::new());

/// It left the table, but is not finished. By a thread that is inside.
#[cold]
pub(crate) fn add(p: ProcRef) {
    DEPARTED.lock().unwrap_or_else(PoisonError::into_inner).push(p);
}

/// It is about to be finished. By a thread that is inside.
#[cold]
pub(crate) fn remove(p: ProcRef) {
    DEPARTED.lock().unwrap_or_else(PoisonError::into_inner).retain(|other| other.as_ptr() != p.as_ptr());
}

/// While the world stands still.
pub(super) fn for_each(f: impl FnMut(ProcRef)) {
    DEPARTED.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().for_each(f);
}
