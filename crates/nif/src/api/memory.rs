//! Memory of libraries, and other libraries that they open.

use heddle_memory::foreign;
use libc::{c_char, c_int, c_void, size_t};
use std::ffi::CStr;

type OnError = Option<unsafe extern "C" fn(*mut c_void, *const c_char)>;

/// Tells the library why the dynamic linker failed.
///
/// # Safety
/// `on_error` is a function of the library, or None, and takes the argument.
// SAFETY: `enif_dlopen` and `enif_dlsym` call it with what the library passes.
unsafe fn tell(on_error: OnError, argument: *mut c_void) {
    // SAFETY: a function of the library, with its argument; the linker's text is the calling thread's.
    unsafe {
        let text = libc::dlerror();
        if let Some(on_error) = on_error {
            on_error(argument, if text.is_null() { c"unknown error".as_ptr() } else { text });
        }
    }
}

api! { FUNCTIONS:
    fn enif_alloc(size: size_t) -> *mut c_void {
        foreign::allocate(size)
    }
    fn enif_realloc(memory: *mut c_void, size: size_t) -> *mut c_void {
        foreign::resize(memory, size)
    }
    fn enif_free(memory: *mut c_void) {
        foreign::free(memory)
    }
    fn enif_dlopen(name: *const c_char, on_error: OnError, argument: *mut c_void) -> *mut c_void {
        // As stock, which adds the ending whatever the name is.
        let file = [CStr::from_ptr(name).to_bytes(), b".so\0"].concat();
        let handle = libc::dlopen(file.as_ptr().cast(), libc::RTLD_NOW);
        if handle.is_null() {
            tell(on_error, argument);
        }
        handle
    }
    fn enif_dlsym(handle: *mut c_void, symbol: *const c_char, on_error: OnError, argument: *mut c_void) -> *mut c_void {
        let found = libc::dlsym(handle, symbol);
        if found.is_null() {
            tell(on_error, argument);
        }
        found
    }
    fn enif_getenv(key: *const c_char, value: *mut c_char, size: *mut size_t) -> c_int {
        let Some(found) = heddle_io::os::variable(CStr::from_ptr(key).to_bytes()) else { return -1 };
        let room = *size;
        if found.len() >= room {
            *size = found.len() + 1;
            return 1;
        }
        std::ptr::copy_nonoverlapping(found.as_ptr(), value.cast(), found.len());
        *value.add(found.len()) = 0;
        *size = found.len();
        0
    }
}
