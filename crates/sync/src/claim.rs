//! The state of a thing in a place that is used again and again: of all threads that want it, one gets it, and a thread that knows it by an earlier
//! use of the place gets nothing.
//!
//! One word: the generation of the place, what kind of thing is in it, and its phase. A place is prepared by the thread that has it to
//! itself, and opened. From then on one `take` succeeds; the taker has it to itself again, and says so with `renew` when it is
//! done: the next thing there has the next generation. A generation never comes back, so an exchange that finds the one it expects
//! found the same thing all the time.

use crate::atomic::{AtomicU64, Ordering, fence};

const CLOSED: u64 = 0;
const OPEN: u64 = 1;
/// A thread looks at what is inside; one that wants to take it waits for a moment.
const HELD: u64 = 2;
const PHASE: u64 = 3;
const KIND_SHIFT: u32 = 2;
const KINDS: u64 = 4;
const GENERATION_SHIFT: u32 = 4;

/// Generations are below this. At ten million uses of one place a second they last ten days; the place is not used after that.
pub const GENERATIONS: u64 = 1 << 43;

pub struct Claim(AtomicU64);

fn word(generation: u64, kind: u64, phase: u64) -> u64 {
    generation << GENERATION_SHIFT | kind << KIND_SHIFT | phase
}

fn kind_of(word: u64) -> u64 {
    word >> KIND_SHIFT & (KINDS - 1)
}

impl Claim {
    pub fn new(generation: u64) -> Claim {
        Claim(AtomicU64::new(word(generation, 0, CLOSED)))
    }

    /// For a thread that has the place to itself, or only wants to try.
    #[inline]
    pub fn generation(&self) -> u64 {
        self.0.load(Ordering::Relaxed) >> GENERATION_SHIFT
    }

    /// To be called before the first thing is written that `read` reads.
    #[inline]
    pub fn prepare(&self) {
        // Pairs with the fence in `read`: a thread that sees what is written next sees that the generation before is over.
        fence(Ordering::Release);
    }

    /// All is in its place. For the thread that has it to itself.
    #[inline]
    pub fn open(&self, kind: u64) {
        debug_assert!(kind < KINDS && self.0.load(Ordering::Relaxed) & PHASE == CLOSED);
        // Release: pairs with `take`, `hold`, `read` and `seen`.
        self.0.store(word(self.generation(), kind, OPEN), Ordering::Release);
    }

    /// Generation and kind of what is in it now.
    #[inline]
    pub fn seen(&self) -> Option<(u64, u64)> {
        // Acquire: pairs with the Release of `open`; what was put in the place is seen.
        let seen = self.0.load(Ordering::Acquire);
        (seen & PHASE != CLOSED).then_some((seen >> GENERATION_SHIFT, kind_of(seen)))
    }

    /// What `read` reads, with relaxed loads, if the thing was there all the time.
    #[inline]
    pub fn read<T>(&self, generation: u64, read: impl FnOnce() -> T) -> Option<T> {
        let is_there = |seen: u64| seen & PHASE != CLOSED && seen >> GENERATION_SHIFT == generation;
        // Acquire: pairs with `open`.
        if !is_there(self.0.load(Ordering::Acquire)) {
            return None;
        }
        let found = read();
        // Pairs with the fence in `prepare`.
        fence(Ordering::Acquire);
        is_there(self.0.load(Ordering::Relaxed)).then_some(found)
    }

    /// Of all calls for this thing one returns true: the thing is that caller's.
    #[inline]
    pub fn take(&self, generation: u64, kind: u64) -> bool {
        self.exchange(generation, kind, CLOSED)
    }

    /// As `take`, to have a look: `let_go` must follow soon.
    pub fn hold(&self, generation: u64, kind: u64) -> bool {
        self.exchange(generation, kind, HELD)
    }

    #[inline]
    fn exchange(&self, generation: u64, kind: u64, phase: u64) -> bool {
        let open = word(generation, kind, OPEN);
        loop {
            // Acquire: pairs with `open`, and with `let_go`. Release: what the caller read before comes before the next `renew`.
            match self.0.compare_exchange(open, word(generation, kind, phase), Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(seen) if seen == word(generation, kind, HELD) => wait(),
                Err(_) => return false,
            }
        }
    }

    pub fn let_go(&self) {
        let seen = self.0.load(Ordering::Relaxed);
        debug_assert!(seen & PHASE == HELD);
        // Release: our look comes before whatever its taker does.
        self.0.store(seen & !PHASE | OPEN, Ordering::Release);
    }

    /// As `take`, without an exchange.
    ///
    /// # Safety
    /// No other thread takes or holds this thing at the same time.
    #[inline]
    pub unsafe fn take_alone(&self, generation: u64, kind: u64) -> bool {
        // Acquire: pairs with the Release of `open`; what was put in the place is seen.
        let is_there = self.0.load(Ordering::Acquire) == word(generation, kind, OPEN);
        if is_there {
            // Relaxed: the next user gets the place from the caller.
            self.0.store(word(generation, kind, CLOSED), Ordering::Relaxed);
        }
        is_there
    }

    /// What was taken is done with. False if the place cannot be used again.
    #[inline]
    pub fn renew(&self) -> bool {
        let generation = self.generation() + 1;
        // The thread that has the place next gets it from the caller, and calls `prepare`. Release: a thread that comes too late sees what the caller
        // did before it took the thing, after a fence.
        self.0.store(word(generation, 0, CLOSED), Ordering::Release);
        generation < GENERATIONS - 1
    }
}

fn wait() {
    #[cfg(loom)]
    loom::thread::yield_now();
    #[cfg(not(loom))]
    std::hint::spin_loop();
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn one_gets_it_and_stale_ones_get_nothing() {
        let claim = Claim::new(7);
        assert_eq!(claim.seen(), None);
        assert!(!claim.take(7, 0));
        claim.open(2);
        assert_eq!(claim.seen(), Some((7, 2)));
        assert!(!claim.take(6, 2));
        assert!(!claim.take(7, 1));
        assert_eq!(claim.read(7, || 1), Some(1));
        assert!(claim.take(7, 2));
        assert!(!claim.take(7, 2));
        assert_eq!(claim.read(7, || 1), None);
        assert!(claim.renew());
        claim.open(1);
        assert!(!claim.take(7, 1));
        assert!(claim.hold(8, 1));
        assert_eq!(claim.read(8, || 1), Some(1));
        claim.let_go();
        // SAFETY: there is one thread.
        assert!(unsafe { claim.take_alone(8, 1) });
        // SAFETY: as above.
        assert!(!unsafe { claim.take_alone(8, 1) });
    }

    #[test]
    fn a_place_that_ran_out_of_generations_says_so() {
        let claim = Claim::new(GENERATIONS - 3);
        assert!(claim.renew());
        assert!(!claim.renew());
    }
}
