//! Blocks of one size that threads freed, kept for what they allocate next.
//!
//! A signal, and the fragment with what it carries, is allocated by its sender and freed by its receiver. Where these are two threads
//! the allocator takes it back by a list that both write to, and the owner collects it later, block by block, from the other one's
//! cache. But most threads receive about as many as they send: a thread that keeps what it freed has memory for its next message, which is in
//! its cache already. A thread keeps two batches at most; where it would have a third, one goes to a depot of all threads, and a thread that has
//! none left takes one from there (magazines, Bonwick and Adams 2001). A batch is a list of addresses, so that blocks that
//! another thread freed can be asked for some messages ahead.
//!
//! What is kept of signals counts as allocated, of fragments as freed (`allocate_recent`): theirs are memory of processes. A thread keeps
//! nothing before it opened its lists.

use heddle_sync::depot::Depot;
use heddle_sync::prefetch;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// The size of each block, in bytes: a signal's, or a fragment's with a few words.
pub const RECENT_BYTES: usize = 64;
/// Blocks of a batch: two are as large as a part of the second cache.
const BATCH: usize = 2048;
/// 64 MiB, beyond which blocks go back to the allocator. What is kept is given back when a thread has nothing to do (`purge` of the runtime).
const BATCHES: usize = 512;
/// A block is prefetched this many allocations before its turn.
const AHEAD: usize = 6;

pub(crate) type Batches = Depot<BATCHES>;
type Batch = [*mut u8; BATCH];

/// Of signals, and of fragments. What is there are whole batches, each a box.
pub(crate) static COMMON: [Batches; 2] = [const { Depot::new() }; 2];
pub(crate) const SIGNALS: usize = 0;
pub(crate) const DATA: usize = 1;

/// Bytes of signals that are kept for whichever thread needs some first.
pub fn common_bytes() -> usize {
    COMMON[SIGNALS].len() * BATCH * RECENT_BYTES
}

/// A thread's, of what there is common to all under this number. By that thread alone, so all is Relaxed; a thread without a row of its own
/// shares one that stays closed. All zeros are a closed one without blocks.
pub struct Recent<const OF: usize> {
    /// Blocks of the current batch, and how many there may be: 0 while there is none.
    count: AtomicUsize,
    limit: AtomicUsize,
    current: AtomicPtr<Batch>,
    /// Another one, or null; whole or empty.
    other: AtomicPtr<Batch>,
    other_count: AtomicUsize,
    /// 1: what the thread frees is kept.
    is_open: AtomicUsize,
}

impl<const OF: usize> Recent<OF> {
    pub(crate) const fn new() -> Recent<OF> {
        Recent {
            count: AtomicUsize::new(0),
            limit: AtomicUsize::new(0),
            current: AtomicPtr::new(null_mut()),
            other: AtomicPtr::new(null_mut()),
            other_count: AtomicUsize::new(0),
            is_open: AtomicUsize::new(0),
        }
    }

    /// By a thread with a row of its own, once: from now on it keeps what it frees.
    pub(crate) fn open(&self) {
        self.is_open.store(1, Ordering::Relaxed);
    }

    /// A block of `RECENT_BYTES`, if there is one.
    #[inline(always)]
    pub fn take(&self) -> Option<*mut u8> {
        if self.count.load(Ordering::Relaxed) == 0 && !self.next_batch() {
            return None;
        }
        Some(self.pop())
    }

    /// There is one.
    #[inline(always)]
    fn pop(&self) -> *mut u8 {
        let left = self.count.load(Ordering::Relaxed) - 1;
        let blocks = self.current.load(Ordering::Relaxed).cast::<*mut u8>();
        self.count.store(left, Ordering::Relaxed);
        // SAFETY: the first `count` of the batch were written, and `left` is one of them, as is an earlier one.
        unsafe {
            prefetch::to_write(*blocks.add(left.saturating_sub(AHEAD)));
            *blocks.add(left)
        }
    }

    /// The current batch is used up. Whether there is a whole one now.
    #[cold]
    #[inline(never)]
    fn next_batch(&self) -> bool {
        if self.other_count.load(Ordering::Relaxed) != 0 {
            self.exchange();
            return true;
        }
        if self.is_open.load(Ordering::Relaxed) == 0 {
            return false;
        }
        let batch = COMMON[OF].take().cast::<Batch>();
        if batch.is_null() {
            return false;
        }
        let empty = self.current.swap(batch, Ordering::Relaxed);
        self.count.store(BATCH, Ordering::Relaxed);
        self.limit.store(BATCH, Ordering::Relaxed);
        if self.other.load(Ordering::Relaxed).is_null() {
            self.other.store(empty, Ordering::Relaxed);
        } else {
            free_batch(empty);
        }
        true
    }

    /// The current batch and the other one, which there is, change places.
    fn exchange(&self) {
        let (current, count) = (self.current.load(Ordering::Relaxed), self.count.load(Ordering::Relaxed));
        self.current.store(self.other.swap(current, Ordering::Relaxed), Ordering::Relaxed);
        self.count.store(self.other_count.swap(count, Ordering::Relaxed), Ordering::Relaxed);
    }

    /// True if the block is kept now.
    ///
    /// # Safety
    /// It has `RECENT_BYTES` of the kind that this list is for, and is not in use.
    #[inline(always)]
    pub unsafe fn keep(&self, block: *mut u8) -> bool {
        if !self.has_room() && !self.put_aside() {
            return false;
        }
        // SAFETY: by contract, and there is room.
        unsafe { self.keep_there(block) };
        true
    }

    /// True if the current batch has room for a block.
    #[inline(always)]
    pub fn has_room(&self) -> bool {
        self.count.load(Ordering::Relaxed) != self.limit.load(Ordering::Relaxed)
    }

    /// Keeps the block where there is room for it.
    ///
    /// # Safety
    /// As `keep`, and `has_room` was just true.
    #[inline(always)]
    pub unsafe fn keep_there(&self, block: *mut u8) {
        let count = self.count.load(Ordering::Relaxed);
        // SAFETY: there are fewer than the batch has room for.
        unsafe { *self.current.load(Ordering::Relaxed).cast::<*mut u8>().add(count) = block };
        self.count.store(count + 1, Ordering::Relaxed);
    }

    /// The current batch is whole, or there is none. Whether there is room now.
    #[cold]
    #[inline(never)]
    fn put_aside(&self) -> bool {
        if self.is_open.load(Ordering::Relaxed) == 0 {
            return false;
        }
        if self.current.load(Ordering::Relaxed).is_null() {
            self.current.store(new_batch(), Ordering::Relaxed);
            self.limit.store(BATCH, Ordering::Relaxed);
            return true;
        }
        if self.other.load(Ordering::Relaxed).is_null() {
            self.other.store(new_batch(), Ordering::Relaxed);
        } else if self.other_count.load(Ordering::Relaxed) != 0 {
            if !COMMON[OF].put(self.other.load(Ordering::Relaxed).cast()) {
                return false;
            }
            self.other.store(new_batch(), Ordering::Relaxed);
            self.other_count.store(0, Ordering::Relaxed);
        }
        self.exchange();
        true
    }

    /// What the thread keeps.
    pub fn bytes(&self) -> usize {
        (self.count.load(Ordering::Relaxed) + self.other_count.load(Ordering::Relaxed)) * RECENT_BYTES
    }

    /// Calls `free` on each block that the thread keeps; there is room for as many again.
    pub(crate) fn let_go(&self, free: impl Fn(*mut u8)) {
        for _ in 0..2 {
            while self.count.load(Ordering::Relaxed) != 0 {
                free(self.pop());
            }
            self.exchange();
        }
    }

    /// The thread ends, and let go of all: the next one with the row has not opened its list.
    pub(crate) fn close(&self) {
        debug_assert!(self.bytes() == 0);
        self.is_open.store(0, Ordering::Relaxed);
        self.limit.store(0, Ordering::Relaxed);
        free_batch(self.current.swap(null_mut(), Ordering::Relaxed));
        free_batch(self.other.swap(null_mut(), Ordering::Relaxed));
    }
}

fn new_batch() -> *mut Batch {
    Box::into_raw(Box::new([null_mut(); BATCH]))
}

/// Of a batch whose blocks are no concern any more, or null.
fn free_batch(batch: *mut Batch) {
    if !batch.is_null() {
        // SAFETY: each batch is from `new_batch`, and the caller's alone.
        drop(unsafe { Box::from_raw(batch) });
    }
}

/// Calls `free` on each block that is kept for all.
pub(crate) fn let_go_of_common(common: &Batches, free: impl Fn(*mut u8)) {
    loop {
        let batch = common.take().cast::<Batch>();
        if batch.is_null() {
            return;
        }
        // SAFETY: a whole batch, the caller's now.
        unsafe { (*batch).iter().for_each(|&block| free(block)) };
        free_batch(batch);
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
        // They are not looked into.
        let blocks: Vec<*mut u8> = (1..3 * BATCH + 2).map(|n| std::ptr::without_provenance_mut(n * RECENT_BYTES)).collect();
        // SAFETY: each at most once on a list.
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
        other.close();
        assert!(!keep(0));
    }
}
