//! Memory of libraries (`driver_alloc`).

use libc::{c_void, size_t};

// SAFETY: the crate `nif` defines them with these types.
unsafe extern "C" {
    fn enif_alloc(size: size_t) -> *mut c_void;
    fn enif_realloc(memory: *mut c_void, size: size_t) -> *mut c_void;
    fn enif_free(memory: *mut c_void);
}

pub fn allocate(size: usize) -> *mut c_void {
    // SAFETY: has no preconditions.
    unsafe { enif_alloc(size) }
}

/// # Safety
/// `memory` is null or from `allocate`; the caller forgets it.
// SAFETY: `driver_realloc` calls it with what the library passes.
pub unsafe fn resize(memory: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: by contract.
    unsafe { enif_realloc(memory, size) }
}

/// # Safety
/// `memory` is null or from `allocate`, and is not used any more.
// SAFETY: `driver_free` calls it with what the library passes, and replies of `control` and `call` are allocated for the VM to free.
pub unsafe fn free(memory: *mut c_void) {
    // SAFETY: by contract.
    unsafe { enif_free(memory) }
}
