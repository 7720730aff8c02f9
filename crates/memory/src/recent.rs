//! Blocks of one size that threads freed, kept for what they allocate next.
//!
//! A signal, and the fragment with what it carries, is allocated by who sends it and freed by who receives it. Where these are two threads
//! the allocator takes it back by a list that both write to, and the owner collects it later, block by block, from the other one's
//! cache. But most threads receive about as many as they send: who keeps what he freed has memory for his next message, which is in
//! his cache already. A thread keeps two batches at most; where it would have a third, one goes to a depot of all threads, and who has
//! none left takes one from there (magazines, Bonwick and Adams 2001).
//!
//! What is kept of signals counts as allocated, of fragments as freed (`allocate_recent`): theirs are memory of processes. A thread keeps
//! nothing before it opened its lists.

use heddle_sync::depot::Depot;
use heddle_sync::prefetch;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

/// The size of each block, in bytes: a signal's, or a fragment's with a few words.
pub const RECENT_BYTES: usize = 64;
/// Blocks of a batch: two are as large as a part of the second cache.
const BATCH: usize = 4096;
/// 64 MiB, beyond which blocks go back to the allocator. What is kept is given back when a thread has nothing to do (`give_back`).
const BATCHES: usize = 256;

pub(crate) type Batches = Depot<BATCHES>;

/// Of signals, and of fragments.
pub(crate) static COMMON: [Batches; 2] = [const { Depot::new() }; 2];
pub(crate) const SIGNALS: usize = 0;
pub(crate) const DATA: usize = 1;

/// Bytes of signals that are kept for whichever thread needs some first.
pub fn common_bytes() -> usize {
    COMMON[SIGNALS].len() * BATCH * RECENT_BYTES
}

/// A thread's, of what there is common to all under this number. By that thread alone, so all is Relaxed; who has no row of his own
/// shares one that stays closed. All zeros are a closed one without blocks.
pub struct Recent<const OF: usize> {
    /// The current batch: each block begins with the address of the next.
    first: AtomicPtr<u8>,
    /// Blocks that it lacks to be whole; 0 as well while the list is closed.
    room: AtomicUsize,
    /// A whole one, or null.
    whole: AtomicPtr<u8>,
    is_open: AtomicBool,
}

impl<const OF: usize> Recent<OF> {
    pub(crate) const fn new() -> Recent<OF> {
        Recent {
            first: AtomicPtr::new(null_mut()),
            room: AtomicUsize::new(0),
            whole: AtomicPtr::new(null_mut()),
            is_open: AtomicBool::new(false),
        }
    }

    /// By a thread with a row of its own, once: from now on it keeps what it frees.
    pub(crate) fn open(&self) {
        self.is_open.store(true, Ordering::Relaxed);
        self.room.store(BATCH, Ordering::Relaxed);
    }

    /// A block of `RECENT_BYTES`, if there is one.
    #[inline(always)]
    pub fn take(&self) -> Option<*mut u8> {
        if self.first.load(Ordering::Relaxed).is_null() && !self.next_batch() {
            return None;
        }
        self.pop()
    }

    #[inline(always)]
    fn pop(&self) -> Option<*mut u8> {
        let block = self.first.load(Ordering::Relaxed);
        if block.is_null() {
            return None;
        }
        // SAFETY: it is on the list, so it is the thread's, and the address was written by `keep`.
        let next = unsafe { block.cast::<*mut u8>().read() };
        // Another thread may have freed it.
        prefetch::to_write(next);
        self.first.store(next, Ordering::Relaxed);
        self.room.store(self.room.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        Some(block)
    }

    /// The current batch is used up. Whether there is another one now.
    #[cold]
    #[inline(never)]
    fn next_batch(&self) -> bool {
        if !self.is_open.load(Ordering::Relaxed) {
            return false;
        }
        let mut batch = self.whole.load(Ordering::Relaxed);
        if batch.is_null() {
            batch = COMMON[OF].take();
        } else {
            self.whole.store(null_mut(), Ordering::Relaxed);
        }
        if batch.is_null() {
            return false;
        }
        self.first.store(batch, Ordering::Relaxed);
        self.room.store(0, Ordering::Relaxed);
        true
    }

    /// Whether the block is kept now.
    ///
    /// # Safety
    /// It has `RECENT_BYTES` of the kind that this list is for, is aligned to a word, and nobody uses it.
    #[inline(always)]
    // SAFETY: the contract above.
    pub unsafe fn keep(&self, block: *mut u8) -> bool {
        if self.room.load(Ordering::Relaxed) == 0 && !self.put_aside() {
            return false;
        }
        // SAFETY: by contract.
        unsafe { block.cast::<*mut u8>().write(self.first.load(Ordering::Relaxed)) };
        self.first.store(block, Ordering::Relaxed);
        self.room.store(self.room.load(Ordering::Relaxed) - 1, Ordering::Relaxed);
        true
    }

    /// The current batch is whole. Whether there is room for another one.
    #[cold]
    #[inline(never)]
    fn put_aside(&self) -> bool {
        let whole = self.whole.load(Ordering::Relaxed);
        if !self.is_open.load(Ordering::Relaxed) || !whole.is_null() && !COMMON[OF].put(whole) {
            return false;
        }
        self.whole.store(self.first.load(Ordering::Relaxed), Ordering::Relaxed);
        self.first.store(null_mut(), Ordering::Relaxed);
        self.room.store(BATCH, Ordering::Relaxed);
        true
    }

    /// What the thread keeps.
    pub fn bytes(&self) -> usize {
        if !self.is_open.load(Ordering::Relaxed) {
            return 0;
        }
        let whole = if self.whole.load(Ordering::Relaxed).is_null() { 0 } else { BATCH };
        (BATCH - self.room.load(Ordering::Relaxed) + whole) * RECENT_BYTES
    }

    /// Calls `free` on each block that the thread keeps; there is room for as many again.
    pub(crate) fn let_go(&self, free: impl Fn(*mut u8)) {
        while let Some(block) = self.pop().or_else(|| self.whole_as_current().then(|| self.pop()).flatten()) {
            free(block);
        }
    }

    fn whole_as_current(&self) -> bool {
        !self.whole.load(Ordering::Relaxed).is_null() && self.next_batch()
    }

    /// The thread ends, and let go of all: the next one with the row has not opened its list.
    pub(crate) fn close(&self) {
        debug_assert!(self.bytes() == 0);
        self.is_open.store(false, Ordering::Relaxed);
        self.room.store(0, Ordering::Relaxed);
    }
}

/// Calls `free` on each block that is kept for all.
pub(crate) fn let_go_of_common(common: &Batches, free: impl Fn(*mut u8)) {
    loop {
        let mut block = common.take();
        if block.is_null() {
            return;
        }
        while !block.is_null() {
            // SAFETY: the batch is the caller's now, and its blocks refer to each other, the last one to none.
            let next = unsafe { block.cast::<*mut u8>().read() };
            free(block);
            block = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    #[test]
    fn what_is_kept_is_given_out_again_the_last_first_and_the_rest_to_others() {
        let _alone = crate::tests::alone();
        let common = &COMMON[SIGNALS];
        let (recent, other) = (Recent::<SIGNALS>::new(), Recent::<SIGNALS>::new());
        let mut memory = vec![[0u64; RECENT_BYTES / 8]; 3 * BATCH + 1];
        let blocks: Vec<*mut u8> = memory.iter_mut().map(|block| block.as_mut_ptr().cast()).collect();
        // SAFETY: memory of this test, each at most once on a list.
        let keep = |n: usize| unsafe { recent.keep(blocks[n]) };
        assert!(!keep(0));
        assert_eq!((recent.take(), recent.bytes()), (None, 0));
        recent.open();
        assert_eq!((recent.take(), recent.bytes()), (None, 0));
        assert!((0..2 * BATCH).all(keep));
        assert_eq!((recent.bytes(), common.len()), (2 * BATCH * RECENT_BYTES, 0));
        assert_eq!([recent.take(), recent.take()], [Some(blocks[2 * BATCH - 1]), Some(blocks[2 * BATCH - 2])]);
        assert!((2 * BATCH - 2..3 * BATCH).all(keep));
        // The first batch is for all, once.
        assert_eq!((recent.bytes(), common.len()), (2 * BATCH * RECENT_BYTES, 1));
        assert_eq!(other.take(), None);
        other.open();
        let theirs: Vec<*mut u8> = std::iter::from_fn(|| other.take()).collect();
        assert_eq!(theirs.len(), BATCH);
        assert_eq!((theirs[0], theirs[BATCH - 1], common.len()), (blocks[BATCH - 1], blocks[0], 0));
        let freed = RefCell::new(Vec::new());
        let free = |block| freed.borrow_mut().push(block);
        recent.let_go(free);
        assert_eq!((freed.borrow().len(), recent.bytes(), recent.take()), (2 * BATCH, 0, None));
        assert!((0..3 * BATCH).all(keep));
        let_go_of_common(common, free);
        assert_eq!((freed.borrow().len(), common.len()), (3 * BATCH, 0));
        recent.let_go(|_| ());
        recent.close();
        assert!(!keep(0));
    }
}
