//! Blocks of one size that a thread freed, kept for what it allocates next.
//!
//! A signal, and the fragment with what it carries, is allocated by who sends it and freed by who receives it. Where these are two threads
//! the allocator takes it back by a list that both write to, and the owner collects it later, block by block, from the other one's
//! cache. But most threads receive about as many as they send: who keeps what he freed has memory for his next message, which is in
//! his cache already.
//!
//! What is kept of signals counts as allocated, of fragments as freed (`allocate_recent`): theirs are memory of processes. A thread keeps
//! nothing before it opened its lists.

use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// The size of each block, in bytes: a signal's, or a fragment's with a few words.
pub const RECENT_BYTES: usize = 64;
/// A slice sends or receives some hundreds, and processes that do the same follow each other: many who send, then many who receive. 1 MiB a
/// thread is what the machine pays, for each of the two, until it has nothing to do (`give_back` counts them).
const MOST: usize = 16_384;

/// A thread's. By that thread alone, so all is Relaxed; who has no row of his own shares one that has no room.
pub struct Recent {
    /// Each begins with the address of the next.
    first: AtomicPtr<u8>,
    room: AtomicUsize,
}

impl Recent {
    pub(crate) const fn new() -> Recent {
        Recent { first: AtomicPtr::new(null_mut()), room: AtomicUsize::new(0) }
    }

    /// By a thread with a row of its own, once: from now on it keeps what it frees.
    pub(crate) fn open(&self) {
        self.room.store(MOST, Ordering::Relaxed);
    }

    /// A block of `RECENT_BYTES`, if there is one.
    #[inline(always)]
    pub fn take(&self) -> Option<*mut u8> {
        let block = self.first.load(Ordering::Relaxed);
        if block.is_null() {
            return None;
        }
        // SAFETY: it is on the list, so it is the thread's, and the address was written by `keep`.
        let next = unsafe { block.cast::<*mut u8>().read() };
        self.first.store(next, Ordering::Relaxed);
        self.room.store(self.room.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        Some(block)
    }

    /// Whether the block is on the list now.
    ///
    /// # Safety
    /// It has `RECENT_BYTES` of the kind that this list is for, is aligned to a word, and nobody uses it.
    #[inline(always)]
    // SAFETY: the contract above.
    pub unsafe fn keep(&self, block: *mut u8) -> bool {
        let room = self.room.load(Ordering::Relaxed);
        if room == 0 {
            return false;
        }
        // SAFETY: by contract.
        unsafe { block.cast::<*mut u8>().write(self.first.load(Ordering::Relaxed)) };
        self.first.store(block, Ordering::Relaxed);
        self.room.store(room - 1, Ordering::Relaxed);
        true
    }

    /// What is kept.
    pub fn bytes(&self) -> usize {
        // (Without blocks the list may not be open.)
        if self.first.load(Ordering::Relaxed).is_null() { 0 } else { (MOST - self.room.load(Ordering::Relaxed)) * RECENT_BYTES }
    }

    /// Calls `free` on each block; there is room for as many again.
    pub(crate) fn let_go(&self, free: impl Fn(*mut u8)) {
        while let Some(block) = self.take() {
            free(block);
        }
    }

    /// The thread ends, and let go of all: the next one with the row has not opened its list.
    pub(crate) fn close(&self) {
        debug_assert!(self.first.load(Ordering::Relaxed).is_null());
        self.room.store(0, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    #[test]
    fn what_is_kept_is_given_out_again_the_last_first_up_to_a_bound() {
        let recent = Recent::new();
        let mut memory = vec![[0u64; RECENT_BYTES / 8]; MOST + 1];
        let blocks: Vec<*mut u8> = memory.iter_mut().map(|block| block.as_mut_ptr().cast()).collect();
        // SAFETY: memory of this test, each at most once on the list.
        let keep = |n: usize| unsafe { recent.keep(blocks[n]) };
        assert!(!keep(0));
        assert_eq!((recent.take(), recent.bytes()), (None, 0));
        recent.open();
        assert_eq!(recent.bytes(), 0);
        assert!((0..MOST).all(keep));
        assert_eq!(recent.bytes(), MOST * RECENT_BYTES);
        assert!(!keep(MOST));
        assert_eq!([recent.take(), recent.take()], [Some(blocks[MOST - 1]), Some(blocks[MOST - 2])]);
        assert!(keep(MOST));
        let freed = RefCell::new(Vec::new());
        recent.let_go(|block| freed.borrow_mut().push(block));
        assert_eq!(freed.borrow().len(), MOST - 1);
        assert_eq!(freed.borrow()[..2], [blocks[MOST], blocks[MOST - 3]]);
        assert_eq!((recent.take(), recent.bytes()), (None, 0));
        assert!((0..MOST).all(keep));
        recent.let_go(|_| ());
        recent.close();
        assert!(!keep(0));
    }
}
