//! Which threads are about to sleep, or do: the side of the parking protocol that wakers look at.
//!
//! A thread that found nothing to do says so here (`enter`), looks for work once more, and sleeps. A thread that brings work looks here after
//! that (`wake`, `wake_any`). Both sides put a barrier between their two steps, so one of them sees the other: the thread sees the
//! work, or the waker sees the thread. Work comes more often than sleep: the wakers' barrier is the light one. A waker that takes a
//! thread out of the set is the only one that does, and has to wake it.

use crate::atomic::{AtomicU64, AtomicUsize, Ordering};
use crate::barrier;

const WORD: usize = 64;

pub struct IdleSet {
    words: Box<[AtomicU64]>,
    /// Threads that `wake_any` leaves alone.
    closed: Box<[AtomicU64]>,
    count: AtomicUsize,
}

impl IdleSet {
    pub fn new(threads: usize) -> IdleSet {
        let words = || (0..threads.div_ceil(WORD)).map(|_| AtomicU64::new(0)).collect();
        IdleSet { words: words(), closed: words(), count: AtomicUsize::new(0) }
    }

    #[inline(always)]
    pub fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    /// The thread is about to sleep. It must look for work once more after this.
    pub fn enter(&self, thread: usize) {
        // Counted before it is there: a thread that takes it out may count it off at once.
        self.count.fetch_add(1, Ordering::Relaxed);
        self.words[thread / WORD].fetch_or(1 << (thread % WORD), Ordering::Relaxed);
        barrier::heavy();
    }

    /// The thread is awake. True if another thread took it out of the set: to wake it.
    pub fn leave(&self, thread: usize) -> bool {
        !self.take_out(thread)
    }

    fn take_out(&self, thread: usize) -> bool {
        let bit = 1 << (thread % WORD);
        let was_there = self.words[thread / WORD].fetch_and(!bit, Ordering::Relaxed) & bit != 0;
        if was_there {
            self.count.fetch_sub(1, Ordering::Relaxed);
        }
        was_there
    }

    /// The thread is not woken for what any may do, or it is again.
    pub fn close(&self, thread: usize, is_closed: bool) {
        let (word, bit) = (&self.closed[thread / WORD], 1 << (thread % WORD));
        // Relaxed: a thread that is woken all the same looks for work in vain.
        if is_closed {
            word.fetch_or(bit, Ordering::Relaxed)
        } else {
            word.fetch_and(!bit, Ordering::Relaxed)
        };
    }

    /// After work was brought for this thread: true if the caller has to wake it.
    pub fn wake(&self, thread: usize) -> bool {
        barrier::light();
        self.words[thread / WORD].load(Ordering::Relaxed) & 1 << (thread % WORD) != 0 && self.take_out(thread)
    }

    /// After work was brought that any of the first `threads` may do: one that the caller has to wake.
    pub fn wake_any(&self, threads: usize) -> Option<usize> {
        barrier::light();
        if self.count() == 0 {
            return None;
        }
        for (w, word) in self.words.iter().enumerate() {
            loop {
                let bits = word.load(Ordering::Relaxed) & !self.closed[w].load(Ordering::Relaxed);
                let thread = w * WORD + bits.trailing_zeros() as usize;
                if bits == 0 || thread >= threads {
                    break;
                }
                if self.take_out(thread) {
                    return Some(thread);
                }
            }
        }
        None
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::IdleSet;

    #[test]
    fn the_lowest_is_woken_once_and_none_beyond_the_limit() {
        let idle = IdleSet::new(130);
        for thread in [129, 70, 3] {
            idle.enter(thread);
        }
        assert_eq!(idle.count(), 3);
        assert!(!idle.leave(129));
        idle.enter(129);
        assert_eq!(idle.wake_any(2), None);
        assert_eq!(idle.wake_any(130), Some(3));
        assert!(!idle.wake(3));
        assert_eq!(idle.wake_any(129), Some(70));
        assert!(idle.wake(129));
        assert!(idle.leave(129));
        assert_eq!(idle.wake_any(130), None);
        assert_eq!(idle.count(), 0);
    }
}
