//! Locks that several readers, or one writer, may have.

use crate::threads::mutex::{check, misused};
use crate::threads::name;
use heddle_runtime::qsbr;
use libc::{c_char, c_int, pthread_rwlock_t};
use std::cell::UnsafeCell;
use std::ffi::CString;

pub struct RwLock {
    /// In memory that does not move, as it must not once it is used.
    raw: UnsafeCell<pthread_rwlock_t>,
    name: Option<CString>,
}

api! { FUNCTIONS:
    fn enif_rwlock_create(name: *const c_char) -> *mut RwLock {
        Box::into_raw(Box::new(RwLock { raw: UnsafeCell::new(libc::PTHREAD_RWLOCK_INITIALIZER), name: name::copy(name) }))
    }
    fn enif_rwlock_destroy(lock: *mut RwLock) {
        if !lock.is_null() {
            check("enif_rwlock_destroy", libc::pthread_rwlock_destroy((*lock).raw.get()));
            drop(Box::from_raw(lock));
        }
    }
    fn enif_rwlock_tryrlock(lock: *mut RwLock) -> c_int {
        match libc::pthread_rwlock_tryrdlock((*lock).raw.get()) {
            status @ (0 | libc::EBUSY) => status,
            status => misused("enif_rwlock_tryrlock", status),
        }
    }
    fn enif_rwlock_rlock(lock: *mut RwLock) {
        let status = match libc::pthread_rwlock_tryrdlock((*lock).raw.get()) {
            libc::EBUSY => qsbr::while_others_go(|| libc::pthread_rwlock_rdlock((*lock).raw.get())),
            status => status,
        };
        check("enif_rwlock_rlock", status);
    }
    fn enif_rwlock_runlock(lock: *mut RwLock) {
        check("enif_rwlock_runlock", libc::pthread_rwlock_unlock((*lock).raw.get()));
    }
    fn enif_rwlock_tryrwlock(lock: *mut RwLock) -> c_int {
        match libc::pthread_rwlock_trywrlock((*lock).raw.get()) {
            status @ (0 | libc::EBUSY) => status,
            status => misused("enif_rwlock_tryrwlock", status),
        }
    }
    fn enif_rwlock_rwlock(lock: *mut RwLock) {
        let status = match libc::pthread_rwlock_trywrlock((*lock).raw.get()) {
            libc::EBUSY => qsbr::while_others_go(|| libc::pthread_rwlock_wrlock((*lock).raw.get())),
            status => status,
        };
        check("enif_rwlock_rwlock", status);
    }
    fn enif_rwlock_rwunlock(lock: *mut RwLock) {
        check("enif_rwlock_rwunlock", libc::pthread_rwlock_unlock((*lock).raw.get()));
    }
    fn enif_rwlock_name(lock: *mut RwLock) -> *mut c_char {
        if lock.is_null() { std::ptr::null_mut() } else { name::pointer(&(*lock).name) }
    }
}
