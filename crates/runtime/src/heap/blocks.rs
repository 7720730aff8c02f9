//! The blocks that heaps are made of. They are counted, and in the mode that looks for stale terms they are poisoned when they are
//! freed.
//!
//! A thread keeps the last block that was freed. A process that collects in a steady state alternates between two blocks of one
//! size, and so do processes that come and go: the block is in the cache, and a large one need not go to the allocator's arenas,
//! which takes longer than a small collection.
//!
//! Large blocks begin a little after the address that the allocator returns, each at another distance (a *colour*). The allocator
//! aligns its memory, so two blocks may be exactly a multiple of 256 MB apart, and a collection copies from one to the other at the
//! same pace. Some processors choose a line of the first-level cache by a hash of bits 12 to 27 of the address; what is read and
//! what is written then evict each other all the time, and a collection of a large list takes more than twice as long (AMD EPYC;
//! seen as loads that miss, and gone with any other distance).

use heddle_memory::MemoryKind;
use heddle_term::heap::POISON;
use heddle_term::young;
use std::cell::Cell;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Larger blocks are not kept: 1 MiB a thread is what an idle VM pays. (The mode that collects at every allocation keeps all.)
const KEPT_WORDS: usize = 128 * 1024;
/// Blocks of this size and more are coloured: that takes a hundredth of them at most.
const COLOURED_WORDS: usize = 1024 * 1024;
/// Three pages and eight lines from one colour to the next: the hashed bits then differ in several places. So a distance that is a
/// power of two does not make up for it, nor, in most cases, does garbage at the beginning of one block.
const STEP_WORDS: usize = (3 * 4096 + 8 * 64) / 8;
const COLOURS: usize = 7;

/// A thread compares the sum of all heaps with the threshold for huge pages after it has allocated this much.
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
            // SAFETY: it was allocated with this size, and nothing else refers to it.
            unsafe { give_back(before, before_words) };
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

/// Bytes of all heap blocks and fragments in use, without the blocks that threads keep.
pub fn used_bytes() -> usize {
    (heddle_memory::sum(MemoryKind::Heap) + heddle_memory::sum(MemoryKind::Message)).saturating_sub(heddle_memory::kept_bytes())
}

/// A block of `words`, which are not zero.
pub(crate) fn allocate(words: usize) -> *mut u64 {
    // A thread that is ending has no spare block.
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
        _ => get(words),
    }
}

/// A block from the allocator.
#[inline]
fn get(words: usize) -> *mut u64 {
    if words >= COLOURED_WORDS { get_coloured(words) } else { heddle_memory::allocate(young::kind(), words * 8).cast() }
}

/// The word before the block holds the address where its memory begins.
#[cold]
#[inline(never)]
fn get_coloured(words: usize) -> *mut u64 {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    // Relaxed: any colour will do.
    let colour = 1 + NEXT.fetch_add(1, Ordering::Relaxed) % COLOURS;
    let memory: *mut u64 = heddle_memory::allocate(young::kind(), (words + COLOURS * STEP_WORDS) * 8).cast();
    // SAFETY: the memory has room for all steps before the words.
    unsafe {
        let start = memory.add(colour * STEP_WORDS);
        *start.cast::<*mut u64>().sub(1) = memory;
        start
    }
}

/// # Safety
/// The block is from `get`, with this size, and is not used any more.
unsafe fn give_back(start: *mut u64, words: usize) {
    // SAFETY: by contract; the word before a coloured block was written by `get_coloured`, and is not part of any block.
    unsafe {
        if words >= COLOURED_WORDS {
            let memory = *start.cast::<*mut u64>().sub(1);
            heddle_memory::free(young::kind(), memory.cast(), (words + COLOURS * STEP_WORDS) * 8);
        } else {
            heddle_memory::free(young::kind(), start.cast(), words * 8);
        }
    }
}

#[cold]
#[inline(never)]
fn look(spare: &Spare, more_bytes: usize) {
    spare.until_look_bytes.set(LOOK_BYTES);
    crate::heap::huge_pages::blocks_are(used_bytes() + more_bytes);
}

/// Frees the block that the calling thread keeps.
pub(crate) fn let_go() {
    let _ = SPARE.try_with(|spare| spare.keep(null_mut(), 0));
}

/// Frees a block; a null block is ignored.
pub(crate) fn free(start: *mut u64, end: *mut u64) {
    if start.is_null() {
        return;
    }
    let words = (end as usize - start as usize) / 8;
    if words > KEPT_WORDS && !crate::base::zeal::gc() || SPARE.try_with(|spare| spare.keep(start, words)).is_err() {
        // SAFETY: from `allocate`, with this size; the caller does not use it any more.
        unsafe { give_back(start, words) };
    }
}

/// In the mode that looks for stale terms, fills the used part of a block that is being freed with a marker.
pub(crate) fn poison(from: *mut u64, to: *mut u64) {
    if crate::base::zeal::gc() && !from.is_null() {
        // SAFETY: a part of a block that is ours, and that nothing uses after this.
        unsafe { std::slice::from_raw_parts_mut(from, (to as usize - from as usize) / 8) }.fill(POISON);
    }
}

#[cfg(test)]
mod tests {
    use super::{COLOURED_WORDS, COLOURS, KEPT_WORDS, allocate, free, get, give_back};

    /// Two blocks: with more, huge pages would be asked for, which affects the whole process.
    #[test]
    fn large_blocks_are_whole_and_lie_differently_on_their_pages() {
        let words = COLOURED_WORDS + 12345;
        for _ in 0..COLOURS {
            let starts = [get(words), get(words)];
            for (start, value) in starts.into_iter().zip(1..) {
                // SAFETY: the block is ours.
                unsafe { std::slice::from_raw_parts_mut(start, words) }.fill(value);
            }
            for (start, value) in starts.into_iter().zip(1..) {
                // SAFETY: as above.
                assert!(unsafe { std::slice::from_raw_parts(start, words) }.iter().all(|&word| word == value));
            }
            assert_ne!(starts[0].addr() % 4096, starts[1].addr() % 4096);
            // SAFETY: from `get`, and not used any more.
            starts.into_iter().for_each(|start| unsafe { give_back(start, words) });
        }
    }

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
