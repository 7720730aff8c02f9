//! Rust's global allocator.
//!
//! mimalloc's own Rust binding asks for an alignment each time. That takes longer, and worse: when the free list of a size class is
//! used up, the aligned way takes a block of a larger class instead of collecting what was freed meanwhile, and goes on so from then on
//! (a message and its signal cost 240 instructions instead of 60). What `malloc` aligns anyway needs no such request.

use crate::failure::out_of_memory;
use crate::mi::{
    mi_free, mi_malloc, mi_malloc_aligned, mi_option_set_default, mi_option_t, mi_realloc, mi_realloc_aligned, mi_theap_malloc, mi_zalloc,
    mi_zalloc_aligned,
};
use crate::own_row::own_row;
use crate::rows;
use crate::{COUNTED, MemoryKind};
use std::alloc::{GlobalAlloc, Layout};
use std::ffi::c_long;

pub struct Allocator;

/// `mi_option_purge_delay`, which the binding has no name for.
const PURGE_DELAY: mi_option_t = 15;
const PURGE_DELAY_MS: c_long = 300;
/// `mi_option_arena_reserve`: how much address space it takes at a time, in KiB.
const ARENA_RESERVE: mi_option_t = 23;

/// Freed memory goes back to the system after 300 ms instead of a second (MIMALLOC_PURGE_DELAY says otherwise). A server under
/// load frees much more in a second than it has: with 40 MB in use, tests/soak stood at 140 to 290 MB, and with 100 and 300 ms at the
/// same 140 to 190. Too soon costs time: bench spawn_live takes 110 ms with a delay of 100 ms and more, 250 to 460 ms with one of
/// 10 ms; the compiler makes 59,000 to 77,000 page faults with 100 ms, 53,000 to 64,000 with 300 (real_compile, ten rounds).
pub fn configure() {
    // SAFETY: it writes a word; no other thread runs yet.
    unsafe { mi_option_set_default(PURGE_DELAY, PURGE_DELAY_MS) };
    if crate::space::limit_bytes().is_some() {
        let reserve_bytes = crate::space::share(1 << 30, 16);
        // SAFETY: as above. One arena for what C libraries allocate, instead of one for each thread.
        unsafe {
            mi_option_set_default(ARENA_RESERVE, (reserve_bytes >> 10) as c_long);
            libc::mallopt(libc::M_ARENA_MAX, 1);
        }
    }
}

/// Blocks of 16 bytes and more are aligned to 16, smaller ones to 8 (`MI_MAX_ALIGN_SIZE`).
#[inline(always)]
fn is_natural(size: usize, align: usize) -> bool {
    align <= 8 || align == 16 && size >= 16
}

/// What a thread without pages does. Apart, so that the usual way needs no frame.
#[cold]
#[inline(never)]
fn allocate_first(size: usize, align: usize) -> *mut u8 {
    rows::allocated(MemoryKind::Rest, size).heap(MemoryKind::Rest);
    some(uncounted(size, align), size)
}

/// The block: one that there is no memory for ends the VM, which says more than Rust's own end does.
#[inline(always)]
fn some(block: *mut u8, size: usize) -> *mut u8 {
    if block.is_null() { out_of_memory(MemoryKind::Rest, size) } else { block }
}

#[inline(always)]
fn uncounted(size: usize, align: usize) -> *mut u8 {
    // SAFETY: any size may be asked for; the alignment is a power of two.
    unsafe { if is_natural(size, align) { mi_malloc(size) } else { mi_malloc_aligned(size, align) }.cast() }
}

// SAFETY: mimalloc's contract is that of GlobalAlloc; blocks of all its ways may be freed and resized by any of them.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let (size, align) = (layout.size(), layout.align());
        if !COUNTED {
            return uncounted(size, align);
        }
        let row = own_row();
        // `mi_malloc` would look for them as well.
        let Some(heap) = row.ready(MemoryKind::Rest) else { return allocate_first(size, align) };
        row.allocated(MemoryKind::Rest, size);
        // SAFETY: any size may be asked for; the alignment is a power of two. The pages are the calling thread's own.
        some(unsafe { if is_natural(size, align) { mi_theap_malloc(heap, size) } else { mi_malloc_aligned(size, align) }.cast() }, size)
    }
    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let (size, align) = (layout.size(), layout.align());
        if COUNTED {
            rows::allocated(MemoryKind::Rest, size);
        }
        // SAFETY: any size may be asked for; the alignment is a power of two.
        some(unsafe { if is_natural(size, align) { mi_zalloc(size) } else { mi_zalloc_aligned(size, align) }.cast() }, size)
    }
    #[inline]
    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        own_row().freed(MemoryKind::Rest, layout.size());
        // SAFETY: by the caller's contract it is a block of ours.
        unsafe { mi_free(ptr.cast()) }
    }
    #[inline]
    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let align = layout.align();
        own_row().freed(MemoryKind::Rest, layout.size());
        own_row().allocated(MemoryKind::Rest, size);
        // SAFETY: by the caller's contract it is a block of ours.
        let block =
            unsafe { if is_natural(size, align) { mi_realloc(ptr.cast(), size) } else { mi_realloc_aligned(ptr.cast(), size, align) } };
        some(block.cast(), size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use libmimalloc_sys::mi_option_get;

    /// The number is the right one: no other option is 1000 unless set.
    #[test]
    fn memory_is_given_back_soon() {
        // SAFETY: they read and write words.
        unsafe {
            assert_eq!(mi_option_get(PURGE_DELAY), 1000);
            configure();
            assert_eq!(mi_option_get(PURGE_DELAY), PURGE_DELAY_MS);
        }
    }

    /// What `is_natural` relies on.
    #[test]
    fn blocks_are_aligned_as_asked() {
        for size in (1..600).chain([1024, 4095, 4096, 70_000]) {
            for align in [1, 2, 4, 8, 16, 32, 64] {
                let layout = Layout::from_size_align(size, align).unwrap();
                // Many at a time: the first of a page is aligned anyway.
                // SAFETY: the layouts are not empty; each block is freed once, with the layout that it has then.
                unsafe {
                    let mut blocks: Vec<*mut u8> = (0..5).map(|_| Allocator.alloc(layout)).collect();
                    blocks.push(Allocator.alloc_zeroed(layout));
                    assert!(blocks.iter().all(|b| !b.is_null() && b.addr().is_multiple_of(align)), "{size} {align}");
                    for block in blocks {
                        let grown = Allocator.realloc(block, layout, size + 24);
                        assert!(grown.addr().is_multiple_of(align), "{size} + 24, {align}");
                        Allocator.dealloc(grown, Layout::from_size_align(size + 24, align).unwrap());
                    }
                }
            }
        }
    }
}
