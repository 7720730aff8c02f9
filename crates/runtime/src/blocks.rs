//! The blocks that heaps are made of: counted, and poisoned when they are given back in the mode that looks for stale terms.
//!
//! A thread keeps the last block that it was given back. A process that collects in a steady state goes to and fro between two
//! blocks of one size, and so do processes that come and go: the block is in the cache, and large ones need no way to the
//! allocator's arenas, which takes longer than a small collection.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::Cell;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes in all heap blocks (`erlang:memory(processes)`), without those that threads keep.
pub static BLOCK_BYTES: AtomicUsize = AtomicUsize::new(0);

/// A larger block is not kept: 1 MiB a thread is what an idle machine pays. (But one that collects at every allocation keeps all.)
const KEPT_WORDS: usize = 128 * 1024;
const POISON: u64 = 0xdead_dead_dead_dea7;

struct Spare(Cell<(*mut u64, usize)>);

impl Spare {
    /// Keeps a block instead of the one that was kept.
    fn keep(&self, start: *mut u64, words: usize) {
        let (before, before_words) = self.0.replace((start, words));
        if !before.is_null() {
            // SAFETY: it was allocated with this layout, and nobody else has it.
            unsafe { dealloc(before.cast(), layout(before_words)) };
        }
    }
}

impl Drop for Spare {
    fn drop(&mut self) {
        self.keep(null_mut(), 0);
    }
}

thread_local! {
    static SPARE: Spare = const { Spare(Cell::new((null_mut(), 0))) };
}

fn layout(words: usize) -> Layout {
    Layout::from_size_align(words * 8, 8).expect("heap size")
}

/// A block of `words`, which are not zero.
pub(crate) fn allocate(words: usize) -> *mut u64 {
    // Relaxed: a statistic.
    let total = BLOCK_BYTES.fetch_add(words * 8, Ordering::Relaxed) + words * 8;
    crate::huge_pages::blocks_are(total);
    // A thread that ends has none.
    let kept = SPARE.try_with(|spare| {
        let (start, found) = spare.0.get();
        if found == words {
            spare.0.set((null_mut(), 0));
            return start;
        }
        null_mut()
    });
    if let Ok(start) = kept
        && !start.is_null()
    {
        return start;
    }
    let layout = layout(words);
    // SAFETY: sizes are never zero.
    let ptr = unsafe { alloc(layout) }.cast::<u64>();
    if ptr.is_null() {
        handle_alloc_error(layout);
    }
    ptr
}

/// Takes back a block, or nothing.
pub(crate) fn free(start: *mut u64, end: *mut u64) {
    if start.is_null() {
        return;
    }
    let words = (end as usize - start as usize) / 8;
    BLOCK_BYTES.fetch_sub(words * 8, Ordering::Relaxed);
    if words > KEPT_WORDS && !crate::zeal::gc() || SPARE.try_with(|spare| spare.keep(start, words)).is_err() {
        // SAFETY: allocated with this layout.
        unsafe { dealloc(start.cast(), layout(words)) };
    }
}

/// Makes what was in use of a block that is given back unmistakable, in the mode that looks for who still refers to it.
pub(crate) fn poison(from: *mut u64, to: *mut u64) {
    if crate::zeal::gc() && !from.is_null() {
        // SAFETY: a part of a block that is ours, and nobody's after this.
        unsafe { std::slice::from_raw_parts_mut(from, (to as usize - from as usize) / 8) }.fill(POISON);
    }
}

#[cfg(test)]
mod tests {
    use super::{KEPT_WORDS, allocate, free};

    #[test]
    fn the_last_block_given_back_is_given_out_again_for_its_size_only() {
        let a = allocate(300);
        free(a, a.wrapping_add(300));
        let b = allocate(301);
        assert_ne!(a, b);
        assert_eq!(allocate(300), a);
        let large = allocate(KEPT_WORDS + 1);
        free(b, b.wrapping_add(301));
        free(large, large.wrapping_add(KEPT_WORDS + 1));
        assert_eq!(allocate(301), b);
        free(a, a.wrapping_add(300));
        free(b, b.wrapping_add(301));
    }
}
