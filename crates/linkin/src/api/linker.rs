//! Other libraries that a driver opens, and drivers that a library adds or makes permanent.

use crate::entry::Entry;
use crate::instance::{self, PortHandle};
use crate::library;
use libc::{c_char, c_int, c_void};
use std::cell::RefCell;
use std::ffi::{CStr, CString};

thread_local! {
    /// What went wrong last on this thread.
    static ERROR: RefCell<CString> = RefCell::new(c"No error".to_owned());
}

fn note_error() {
    // SAFETY: the text is the calling thread's, until its next call of the linker.
    let text = unsafe {
        let text = libc::dlerror();
        if text.is_null() { c"Unspecified error".to_owned() } else { CStr::from_ptr(text).to_owned() }
    };
    ERROR.set(text);
}

api! { FUNCTIONS:
    fn driver_dl_open(name: *const c_char) -> *mut c_void {
        let file = [CStr::from_ptr(name).to_bytes(), b".so\0"].concat();
        let handle = libc::dlopen(file.as_ptr().cast(), libc::RTLD_NOW);
        if handle.is_null() {
            note_error();
        }
        handle
    }
    fn driver_dl_sym(handle: *mut c_void, name: *const c_char) -> *mut c_void {
        let found = libc::dlsym(handle, name);
        if found.is_null() {
            note_error();
        }
        found
    }
    fn driver_dl_close(handle: *mut c_void) -> c_int {
        libc::dlclose(handle)
    }
    fn driver_dl_error() -> *const c_char {
        ERROR.with_borrow(|text| text.as_ptr())
    }
    fn driver_lock_driver(port: PortHandle) -> c_int {
        let Some(instance) = instance::of(port) else { return -1 };
        let mut drivers = library::all();
        match drivers.iter_mut().find(|driver| std::sync::Arc::ptr_eq(&driver.library, &instance.library)) {
            Some(driver) if !driver.library.loaded.is_part() => {
                driver.make_permanent();
                0
            }
            _ => -1,
        }
    }
    fn add_driver_entry(entry: *const Entry) {
        library::add_part(entry);
    }
    fn remove_driver_entry(entry: *const Entry) -> c_int {
        library::remove_part(entry)
    }
}
