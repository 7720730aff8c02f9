//! Locks for the data of a port (`ErlDrvPDL`), which threads of the library may take.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicI64, Ordering};

pub struct DataLock {
    /// In memory that does not move, as it must not once it is used.
    raw: UnsafeCell<libc::pthread_mutex_t>,
    /// AcqRel where it sinks: the last owner sees what the others did.
    references: AtomicI64,
}

/// A lock with one reference.
pub fn create() -> *mut DataLock {
    let raw = UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER);
    Box::into_raw(Box::new(DataLock { raw, references: AtomicI64::new(1) }))
}

/// Adds a reference. Returns how many there are.
///
/// # Safety
/// The lock is live.
// SAFETY: functions of the interface call it with a lock of the library.
pub unsafe fn retain(lock: *mut DataLock) -> i64 {
    // SAFETY: by contract. Relaxed: the caller has a reference.
    unsafe { (*lock).references.fetch_add(1, Ordering::Relaxed) + 1 }
}

/// Takes a reference away. Returns how many are left.
///
/// # Safety
/// The caller has a reference.
// SAFETY: functions of the interface call it for a reference of the library, and the port when it ends.
pub unsafe fn release(lock: *mut DataLock) -> i64 {
    // SAFETY: by contract; without references no thread has the lock.
    unsafe {
        let left = (*lock).references.fetch_sub(1, Ordering::AcqRel) - 1;
        if left == 0 {
            libc::pthread_mutex_destroy((*lock).raw.get());
            drop(Box::from_raw(lock));
        }
        left
    }
}

/// # Safety
/// The lock is live.
// SAFETY: as `retain`.
pub unsafe fn references(lock: *mut DataLock) -> i64 {
    // SAFETY: by contract. Relaxed: a figure.
    unsafe { (*lock).references.load(Ordering::Relaxed) }
}

/// Takes the lock, and a reference to it.
///
/// # Safety
/// The lock is live, and the calling thread does not have it.
// SAFETY: as `retain`.
pub unsafe fn lock(lock: *mut DataLock) {
    // SAFETY: by contract.
    unsafe {
        retain(lock);
        heddle_runtime::qsbr::while_others_go(|| libc::pthread_mutex_lock((*lock).raw.get()));
    }
}

/// Lets go of the lock, and of a reference to it.
///
/// # Safety
/// The calling thread has the lock.
// SAFETY: as `retain`.
pub unsafe fn unlock(lock: *mut DataLock) {
    // SAFETY: by contract.
    unsafe {
        libc::pthread_mutex_unlock((*lock).raw.get());
        release(lock);
    }
}
