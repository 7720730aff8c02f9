//! Blocks of a kind. They are aligned to 16 bytes, small ones to 8 (as `malloc` does).

use crate::Kind;
use crate::mimalloc::{mi_theap_malloc, mi_theap_realloc};
use crate::rows::MINE;
use libmimalloc_sys::mi_free;
use std::alloc::{Layout, handle_alloc_error};

/// A block of so many bytes. There is no way on without memory: it does not return null.
#[inline(always)]
pub fn allocate(kind: Kind, bytes: usize) -> *mut u8 {
    MINE.with(|mine| {
        mine.allocated(kind, bytes);
        // SAFETY: the calling thread's own pages.
        let block = unsafe { mi_theap_malloc(mine.heap(kind), bytes) };
        if block.is_null() { out_of_memory(bytes) } else { block.cast() }
    })
}

/// # Safety
/// The block came from `allocate` or `resize` with this kind and size, and is not used any more.
#[inline(always)]
pub unsafe fn free(kind: Kind, block: *mut u8, bytes: usize) {
    MINE.with(|mine| mine.freed(kind, bytes));
    // SAFETY: by contract it is a block of ours.
    unsafe { mi_free(block.cast()) }
}

/// The block with another size, perhaps elsewhere.
///
/// # Safety
/// As for `free`, of the old address and size.
pub unsafe fn resize(kind: Kind, block: *mut u8, before: usize, bytes: usize) -> *mut u8 {
    MINE.with(|mine| {
        mine.freed(kind, before);
        mine.allocated(kind, bytes);
        // SAFETY: by contract it is a block of ours; the pages are the calling thread's.
        let block = unsafe { mi_theap_realloc(mine.heap(kind), block.cast(), bytes) };
        if block.is_null() { out_of_memory(bytes) } else { block.cast() }
    })
}

#[cold]
#[inline(never)]
fn out_of_memory(bytes: usize) -> ! {
    handle_alloc_error(Layout::from_size_align(bytes, 8).expect("size of a block"))
}
