//! Blocks for libraries in C, which do not say the size of a block when they free it. These blocks are in the pages of Rust's allocator, and no kind
//! counts them.
//!
//! A library may free by `enif_free` what another function of the VM has allocated for it, as with stock.

use crate::mi::{mi_free, mi_malloc, mi_realloc};
use std::ffi::c_void;

/// A block of that many bytes, or null.
pub fn allocate(bytes: usize) -> *mut c_void {
    // SAFETY: has no preconditions.
    unsafe { mi_malloc(bytes) }
}

/// The block with another size, perhaps elsewhere. Null if there is no room: then the block stays as it is.
///
/// # Safety
/// The block is null or comes from the VM, and is not used any more unless the result is null.
// SAFETY: `enif_realloc` calls it with what the library passes.
pub unsafe fn resize(block: *mut c_void, bytes: usize) -> *mut c_void {
    // SAFETY: a block of mimalloc, as all of the VM's are, or null.
    unsafe { mi_realloc(block, bytes) }
}

/// # Safety
/// The block is null or comes from the VM, and is not used any more.
// SAFETY: `enif_free` calls it with what the library passes.
pub unsafe fn free(block: *mut c_void) {
    // SAFETY: a block of mimalloc, as all of the VM's are, or null.
    unsafe { mi_free(block) }
}
