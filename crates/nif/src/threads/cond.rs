//! Conditions that threads wait for.

use crate::threads::mutex::{Mutex, check};
use crate::threads::name;
use heddle_runtime::qsbr;
use libc::{c_char, pthread_cond_t};
use std::cell::UnsafeCell;
use std::ffi::CString;

pub struct Cond {
    /// In memory that does not move, as it must not once it is used.
    raw: UnsafeCell<pthread_cond_t>,
    name: Option<CString>,
}

api! { FUNCTIONS:
    fn enif_cond_create(name: *const c_char) -> *mut Cond {
        Box::into_raw(Box::new(Cond { raw: UnsafeCell::new(libc::PTHREAD_COND_INITIALIZER), name: name::copy(name) }))
    }
    fn enif_cond_destroy(cond: *mut Cond) {
        if !cond.is_null() {
            check("enif_cond_destroy", libc::pthread_cond_destroy((*cond).raw.get()));
            drop(Box::from_raw(cond));
        }
    }
    fn enif_cond_signal(cond: *mut Cond) {
        check("enif_cond_signal", libc::pthread_cond_signal((*cond).raw.get()));
    }
    fn enif_cond_broadcast(cond: *mut Cond) {
        check("enif_cond_broadcast", libc::pthread_cond_broadcast((*cond).raw.get()));
    }
    fn enif_cond_wait(cond: *mut Cond, mutex: *mut Mutex) {
        let status = qsbr::while_others_go(|| libc::pthread_cond_wait((*cond).raw.get(), (*mutex).raw.get()));
        check("enif_cond_wait", status);
    }
    fn enif_cond_name(cond: *mut Cond) -> *mut c_char {
        if cond.is_null() { std::ptr::null_mut() } else { name::pointer(&(*cond).name) }
    }
}
