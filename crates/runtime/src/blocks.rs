//! The blocks that heaps are made of: counted, and poisoned when they are given back in the mode that looks for stale terms.
//!
//! A thread keeps the last block that it was given back. A process that collects in a steady state goes to and fro between two
//! blocks of one size, and so do processes that come and go: the block is in the cache, and large ones need no way to the
//! allocator's arenas, which takes longer than a small collection.

use heddle_memory::Kind;
use heddle_term::heap::POISON;
use heddle_term::young;
use std::cell::Cell;
use std::ptr::null_mut;

/// A larger block is not kept: 1 MiB a thread is what an idle machine pays. (But one that collects at every allocation keeps all.)
const KEPT_WORDS: usize = 128 * 1024;
/// A thread looks how large all heaps are together after it allocated so much.
const LOOK_BYTES: usize = 1 << 20;

struct Spare {
    block: Cell<(*mut u64, usize)>,
    until_look_bytes: Cell<usize>,
}

impl Spare {
    /// Keeps a block instead of the one that was kept.
    fn keep(&self, start: *mut u64, words: usize) {
        let (before, before_words) = self.block.replace((start, words));
        heddle_memory::keep(words * 8);
        if !before.is_null() {
            // SAFETY: it was allocated with this size, as memory of this kind, and nobody else has it.
            unsafe { heddle_memory::free(young::kind(), before.cast(), before_words * 8) };
        }
    }
}

impl Drop for Spare {
    fn drop(&mut self) {
        self.keep(null_mut(), 0);
    }
}

thread_local! {
    static SPARE: Spare = const { Spare { block: Cell::new((null_mut(), 0)), until_look_bytes: Cell::new(LOOK_BYTES) } };
}

/// Bytes in all heap blocks and fragments that are in use: without those that threads keep.
pub fn used_bytes() -> usize {
    (heddle_memory::sum(Kind::Heap) + heddle_memory::sum(Kind::Message)).saturating_sub(heddle_memory::kept_bytes())
}

/// A block of `words`, which are not zero.
pub(crate) fn allocate(words: usize) -> *mut u64 {
    // A thread that ends has none.
    let kept = SPARE.try_with(|spare| {
        let (start, found) = spare.block.get();
        if found == words {
            spare.block.set((null_mut(), 0));
            heddle_memory::keep(0);
            return start;
        }
        match spare.until_look_bytes.get().checked_sub(words * 8) {
            Some(left) => spare.until_look_bytes.set(left),
            None => look(spare, words * 8),
        }
        null_mut()
    });
    match kept {
        Ok(start) if !start.is_null() => start,
        _ => heddle_memory::allocate(young::kind(), words * 8).cast(),
    }
}

#[cold]
#[inline(never)]
fn look(spare: &Spare, more_bytes: usize) {
    spare.until_look_bytes.set(LOOK_BYTES);
    crate::huge_pages::blocks_are(used_bytes() + more_bytes);
}

/// Gives the allocator the block that the calling thread keeps.
pub(crate) fn let_go() {
    let _ = SPARE.try_with(|spare| spare.keep(null_mut(), 0));
}

/// Takes back a block, or nothing.
pub(crate) fn free(start: *mut u64, end: *mut u64) {
    if start.is_null() {
        return;
    }
    let words = (end as usize - start as usize) / 8;
    if words > KEPT_WORDS && !crate::zeal::gc() || SPARE.try_with(|spare| spare.keep(start, words)).is_err() {
        // SAFETY: allocated with this size, as memory of this kind.
        unsafe { heddle_memory::free(young::kind(), start.cast(), words * 8) };
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
