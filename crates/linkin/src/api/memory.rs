//! Memory and the environment.

use crate::memory;
use libc::{c_char, c_int, c_void, size_t};
use std::ffi::CStr;

// SAFETY: the crate `nif` defines it with these types.
unsafe extern "C" {
    fn enif_getenv(key: *const c_char, value: *mut c_char, size: *mut size_t) -> c_int;
}

api! { FUNCTIONS:
    fn driver_alloc(size: size_t) -> *mut c_void {
        memory::allocate(size)
    }
    fn driver_realloc(old: *mut c_void, size: size_t) -> *mut c_void {
        memory::resize(old, size)
    }
    fn driver_free(old: *mut c_void) {
        memory::free(old)
    }
    fn erl_drv_getenv(key: *const c_char, value: *mut c_char, size: *mut size_t) -> c_int {
        enif_getenv(key, value, size)
    }
    fn erl_drv_putenv(key: *const c_char, value: *const c_char) -> c_int {
        heddle_io::os::set_variable(CStr::from_ptr(key).to_bytes(), CStr::from_ptr(value).to_bytes());
        0
    }
}
