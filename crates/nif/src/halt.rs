//! What libraries want when the VM halts: to be told (`on_halt`), and that it waits for their dirty NIFs (`delay_halt`).

use crate::library::Library;
use heddle_runtime::shutdown;
use libc::{c_int, c_void};
use std::sync::atomic::Ordering;
use std::sync::{Mutex, Once};
use std::time::Duration;

/// `ERL_NIF_OPT_DELAY_HALT`.
pub const DELAY_HALT: c_int = 1;

/// Addresses of the libraries that want anything.
static WANTED: Mutex<Vec<usize>> = Mutex::new(Vec::new());
static INSTALL: Once = Once::new();

fn add(library: &Library) {
    let mut wanted = WANTED.lock().unwrap();
    let address = library as *const Library as usize;
    if !wanted.contains(&address) {
        wanted.push(address);
    }
    INSTALL.call_once(|| shutdown::at_exit(run));
}

/// The library is unloaded.
pub fn forget(library: &Library) {
    WANTED.lock().unwrap().retain(|&l| l != library as *const Library as usize);
}

/// `callback` is called when the VM halts. Only while the library is loaded, and once.
pub fn on_halt(library: &Library, callback: *mut c_void) -> c_int {
    let is_free = library.on_halt.load(Ordering::Acquire).is_null();
    if !library.is_loading() || callback.is_null() || !is_free {
        return libc::EINVAL;
    }
    library.on_halt.store(callback, Ordering::Release);
    add(library);
    0
}

pub fn delay_halt(library: &Library) -> c_int {
    if !library.is_loading() || library.delays_halt.swap(true, Ordering::Relaxed) {
        return libc::EINVAL;
    }
    add(library);
    0
}

fn run() {
    let wanted = WANTED.lock().unwrap().clone();
    for address in wanted {
        // SAFETY: a library takes itself from the list before it goes.
        let library = unsafe { &*(address as *const Library) };
        while library.delays_halt.load(Ordering::Relaxed) && library.running.load(Ordering::Acquire) > 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
        let callback = library.on_halt.load(Ordering::Acquire);
        if !callback.is_null() {
            // SAFETY: an `ErlNifOnHaltCallback` of the library, which is loaded.
            let callback = unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut c_void)>(callback) };
            // Acquire: pairs with the Release in `bind_nifs`.
            // SAFETY: as above; private data of the library.
            unsafe { callback(library.private.load(Ordering::Acquire)) };
        }
    }
}
