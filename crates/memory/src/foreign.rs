//! Blocks for libraries in C, which do not say the size of a block when they free it. These blocks are in the pages of Rust's allocator, and no kind
//! counts them.
//!
//! A library may free by `enif_free` what another function of the VM has allocated for it, as with stock.

use crate::mi::{mi_free, mi_malloc, mi_realloc};
use std::ffi::c_void;

/// A block of that many bytes, or null.
///
/// A block of a word or more has its own address in its first word, and anything in the others. The NIF of `ets_cache` (erlang-p1-cache-tab 1.0.31, in
/// each ejabberd) takes the first field of a new block for a limit, before it writes it: zero lets the server not start. The new blocks of stock have an
/// address there (own observation), those of mimalloc an address or zero.
pub fn allocate(bytes: usize) -> *mut c_void {
    // SAFETY: has no preconditions.
    let block = unsafe { mi_malloc(bytes) };
    if bytes >= size_of::<usize>() && !block.is_null() {
        // SAFETY: a new block of at least a word; mimalloc aligns blocks to words.
        unsafe { block.cast::<usize>().write(block.addr()) };
    }
    block
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_word_of_a_new_block_is_not_zero() {
        let blocks: Vec<*mut c_void> = (0..10_000).map(|_| allocate(24)).collect();
        // SAFETY: blocks of 24 bytes; the first word of each is written.
        let zeros = blocks.iter().filter(|block| unsafe { block.cast::<u32>().read() } == 0).count();
        // SAFETY: each is freed once.
        blocks.into_iter().for_each(|block| unsafe { free(block) });
        assert_eq!(zeros, 0);
    }
}
