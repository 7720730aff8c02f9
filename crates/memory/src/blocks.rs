//! Blocks of a kind. They are aligned to 16 bytes, small ones to 8 (as `malloc` does).

use crate::copy::copy_large;
use crate::failure::out_of_memory;
use crate::huge::{self, LARGE_BYTES};
use crate::mi::{mi_free, mi_theap_malloc, mi_theap_realloc};
use crate::own_row::own_row;
use crate::recent::RECENT_BYTES;
use crate::{MemoryKind, rows};

/// A block of that many bytes. There is no way on without memory: it does not return null.
#[inline(always)]
pub fn allocate(kind: MemoryKind, bytes: usize) -> *mut u8 {
    let row = own_row();
    let Some(heap) = row.ready(kind) else { return allocate_first(kind, bytes) };
    row.allocated(kind, bytes);
    // SAFETY: the calling thread's own pages.
    let block = unsafe { mi_theap_malloc(heap, bytes) };
    if block.is_null() { out_of_memory(kind, bytes) } else { block.cast() }
}

#[cold]
#[inline(never)]
fn allocate_first(kind: MemoryKind, bytes: usize) -> *mut u8 {
    // SAFETY: the calling thread's own pages, made now if need be.
    let block = unsafe { mi_theap_malloc(rows::allocated(kind, bytes).heap(kind), bytes) };
    if block.is_null() { out_of_memory(kind, bytes) } else { block.cast() }
}

/// The same, where there is a way on without: None when the kind's range is used up.
#[inline]
pub fn try_allocate(kind: MemoryKind, bytes: usize) -> Option<*mut u8> {
    // SAFETY: the calling thread's own pages, made now if need be.
    let block = unsafe { mi_theap_malloc(rows::mine().heap(kind), bytes) };
    if block.is_null() {
        return None;
    }
    rows::allocated(kind, bytes);
    Some(block.cast())
}

/// # Safety
/// The block came from `allocate` or `resize` with this kind and size, and is not used any more.
#[inline(always)]
// SAFETY: callers keep kind and size of each block with it: in its type, its header, or the range that they allocated.
pub unsafe fn free(kind: MemoryKind, block: *mut u8, bytes: usize) {
    own_row().freed(kind, bytes);
    // SAFETY: by contract it is a block of ours.
    unsafe { mi_free(block.cast()) }
}

/// A block of `RECENT_BYTES` for a heap, with what the thread freed of these before (`recent`).
#[inline(always)]
pub fn allocate_recent() -> *mut u8 {
    let row = own_row();
    match row.recent_data.take() {
        Some(block) => {
            row.allocated(MemoryKind::Heap, RECENT_BYTES);
            block
        }
        None => allocate(MemoryKind::Heap, RECENT_BYTES),
    }
}

/// # Safety
/// As `free`; the block came from `allocate_recent`.
#[inline(always)]
pub unsafe fn free_recent(block: *mut u8) {
    let row = own_row();
    // SAFETY: by contract; blocks are aligned to a word at least.
    unsafe {
        if row.recent_data.keep(block) {
            row.freed(MemoryKind::Heap, RECENT_BYTES);
        } else {
            free(MemoryKind::Heap, block, RECENT_BYTES);
        }
    }
}

/// As `allocate`, for a block that may be large: then it gets huge pages.
#[inline]
pub fn allocate_large(kind: MemoryKind, bytes: usize) -> *mut u8 {
    let block = allocate(kind, bytes);
    if bytes >= LARGE_BYTES {
        huge::open(block, bytes);
    }
    block
}

/// # Safety
/// As `free`; the block came from `allocate_large` or `resize`.
#[inline]
// SAFETY: the one caller outside, `RefBin::release`, has the size in the header of the binary; `resize` gets it from its own caller.
pub unsafe fn free_large(kind: MemoryKind, block: *mut u8, bytes: usize) {
    if bytes >= LARGE_BYTES {
        huge::shut(block, bytes);
    }
    // SAFETY: by contract.
    unsafe { free(kind, block, bytes) };
}

/// The block of `allocate_large` with another size, perhaps elsewhere.
///
/// # Safety
/// As for `free`, of the old address and size.
// SAFETY: the one caller, `RefBin::grow`, has the old size in the header of the binary.
pub unsafe fn resize(kind: MemoryKind, block: *mut u8, before: usize, bytes: usize) -> *mut u8 {
    if before.max(bytes) >= LARGE_BYTES {
        let resized = allocate_large(kind, bytes);
        // SAFETY: two blocks that have that many bytes at least; by contract the old one is not used any more.
        unsafe {
            copy_large(block, resized, before.min(bytes));
            free_large(kind, block, before);
        }
        return resized;
    }
    own_row().freed(kind, before);
    // SAFETY: by contract it is a block of ours; the pages are the calling thread's own, made now if need be.
    let block = unsafe { mi_theap_realloc(rows::allocated(kind, bytes).heap(kind), block.cast(), bytes) };
    if block.is_null() { out_of_memory(kind, bytes) } else { block.cast() }
}
