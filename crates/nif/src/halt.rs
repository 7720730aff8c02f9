//! What libraries want when the VM halts and flushes: to be told (`on_halt`), and that it waits for their NIFs (`delay_halt`). They are
//! told first, so that a library can have its NIFs return.

use crate::library::Library;
use heddle_io::ports::flush;
use libc::{c_int, c_void};
use std::sync::Mutex;
use std::sync::atomic::Ordering;

/// `ERL_NIF_OPT_DELAY_HALT`.
pub const DELAY_HALT: c_int = 1;

/// Addresses of the libraries with a callback.
static TOLD: Mutex<Vec<usize>> = Mutex::new(Vec::new());

/// The library is unloaded.
pub fn forget(library: &Library) {
    TOLD.lock().unwrap().retain(|&l| l != library as *const Library as usize);
}

/// `callback` is called when the VM halts. Only while the library is loaded, and once.
pub fn on_halt(library: &Library, callback: *mut c_void) -> c_int {
    let is_free = library.on_halt.load(Ordering::Acquire).is_null();
    if !library.is_loading() || callback.is_null() || !is_free {
        return libc::EINVAL;
    }
    library.on_halt.store(callback, Ordering::Release);
    flush::TELL_LIBRARIES.get_or_init(|| tell);
    TOLD.lock().unwrap().push(library as *const Library as usize);
    0
}

pub fn delay_halt(library: &Library) -> c_int {
    if library.is_loading() && library.delay_halt() { 0 } else { libc::EINVAL }
}

/// Calls the callbacks of all libraries that are loaded.
fn tell() {
    let mut held: Vec<&Library> = Vec::new();
    for &address in TOLD.lock().unwrap().iter() {
        // SAFETY: a library takes itself from the list before it goes, and the list is locked.
        let library = unsafe { &*(address as *const Library) };
        if library.hold_if_used() {
            held.push(library);
        }
    }
    for library in held {
        let callback = library.on_halt.load(Ordering::Acquire);
        // SAFETY: an `ErlNifOnHaltCallback` of the library, which is held.
        let callback = unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut c_void)>(callback) };
        // Acquire: pairs with the Release in `bind_nifs`.
        // SAFETY: as above; private data of the library.
        unsafe { callback(library.private.load(Ordering::Acquire)) };
        library.release();
    }
}
