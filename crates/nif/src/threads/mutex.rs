//! Mutexes.

use crate::threads::name;
use heddle_runtime::qsbr;
use libc::{c_char, c_int, pthread_mutex_t};
use std::cell::UnsafeCell;
use std::ffi::CString;

pub struct Mutex {
    /// In memory that does not move, as it must not once it is used.
    pub raw: UnsafeCell<pthread_mutex_t>,
    name: Option<CString>,
}

/// Stops the VM: the library used a lock in a way that its document leaves undefined.
#[cold]
pub fn misused(what: &str, status: c_int) -> ! {
    heddle_term::complain!("{what}: {}\n", std::io::Error::from_raw_os_error(status));
    std::process::abort()
}

/// Ends with a message if the function of the C library failed.
#[inline]
pub fn check(what: &str, status: c_int) {
    if status != 0 {
        misused(what, status);
    }
}

api! { FUNCTIONS:
    fn enif_mutex_create(name: *const c_char) -> *mut Mutex {
        Box::into_raw(Box::new(Mutex { raw: UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER), name: name::copy(name) }))
    }
    fn enif_mutex_destroy(mutex: *mut Mutex) {
        if !mutex.is_null() {
            check("enif_mutex_destroy", libc::pthread_mutex_destroy((*mutex).raw.get()));
            drop(Box::from_raw(mutex));
        }
    }
    fn enif_mutex_trylock(mutex: *mut Mutex) -> c_int {
        match libc::pthread_mutex_trylock((*mutex).raw.get()) {
            status @ (0 | libc::EBUSY) => status,
            status => misused("enif_mutex_trylock", status),
        }
    }
    fn enif_mutex_lock(mutex: *mut Mutex) {
        let status = match libc::pthread_mutex_trylock((*mutex).raw.get()) {
            libc::EBUSY => qsbr::while_others_go(|| libc::pthread_mutex_lock((*mutex).raw.get())),
            status => status,
        };
        check("enif_mutex_lock", status);
    }
    fn enif_mutex_unlock(mutex: *mut Mutex) {
        check("enif_mutex_unlock", libc::pthread_mutex_unlock((*mutex).raw.get()));
    }
    fn enif_mutex_name(mutex: *mut Mutex) -> *mut c_char {
        if mutex.is_null() { std::ptr::null_mut() } else { name::pointer(&(*mutex).name) }
    }
}
