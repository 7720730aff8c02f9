//! The blocks that heaps are made of: counted, and poisoned when they are given back in the mode that looks for stale terms.
//!
//! A thread keeps the last block that it was given back. A process that collects in a steady state goes to and fro between two
//! blocks of one size, and so do processes that come and go: the block is in the cache, and large ones need no way to the
//! allocator's arenas, which takes longer than a small collection.
//!
//! Large blocks begin a little behind what the allocator gives, each elsewhere (`Colour`). It aligns them, so that two of them may lie
//! 256 MB apart to the byte, and a collection copies from one to the other at the same pace. Some processors choose a line of the first
//! cache by a hash of the address' bits 12 to 27, and then what is read and what is written take each other's place all the time:
//! 200 MB of a list took 95 ms to collect instead of 35 (AMD EPYC; seen as loads that miss, and gone with any other distance).

use heddle_memory::Kind;
use heddle_term::heap::POISON;
use heddle_term::young;
use std::cell::Cell;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A larger block is not kept: 1 MiB a thread is what an idle machine pays. (But one that collects at every allocation keeps all.)
const KEPT_WORDS: usize = 128 * 1024;
/// From here on blocks are coloured: that takes a hundredth of them at most.
const COLOURED_WORDS: usize = 1024 * 1024;
/// Three pages and eight lines from one colour to the next: what is hashed differs in several bits, so it is not made up for by a distance
/// that is a power of two, nor, in most cases, by garbage that one has at its beginning.
const STEP_WORDS: usize = (3 * 4096 + 8 * 64) / 8;
const COLOURS: usize = 7;

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
            // SAFETY: it was allocated with this size, and nobody else has it.
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
        _ => get(words),
    }
}

/// From the allocator.
#[inline]
fn get(words: usize) -> *mut u64 {
    if words >= COLOURED_WORDS { get_coloured(words) } else { heddle_memory::allocate(young::kind(), words * 8).cast() }
}

/// In front of the block stands where its memory begins.
#[cold]
#[inline(never)]
fn get_coloured(words: usize) -> *mut u64 {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    // Relaxed: any will do.
    let colour = 1 + NEXT.fetch_add(1, Ordering::Relaxed) % COLOURS;
    let memory: *mut u64 = heddle_memory::allocate(young::kind(), (words + COLOURS * STEP_WORDS) * 8).cast();
    // SAFETY: it has room for all steps before the words.
    unsafe {
        let start = memory.add(colour * STEP_WORDS);
        *start.cast::<*mut u64>().sub(1) = memory;
        start
    }
}

/// # Safety
/// From `get`, with this size, and nobody uses it.
// SAFETY: the contract above.
unsafe fn give_back(start: *mut u64, words: usize) {
    // SAFETY: by contract; what stands in front of a coloured block was written by `get_coloured`, and belongs to nobody.
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
        // SAFETY: by `allocate`, with this size; the caller has it no more.
        unsafe { give_back(start, words) };
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
    use super::{COLOURED_WORDS, COLOURS, KEPT_WORDS, allocate, free, get, give_back};

    /// (Two: with more than that huge pages would be asked for, which takes a machine.)
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
            // SAFETY: from `get`, and used no more.
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
