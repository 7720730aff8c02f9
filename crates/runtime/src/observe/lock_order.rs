//! The order in which threads take locks, checked in debug builds.
//!
//! Each class of lock that a thread takes while it holds one of another class is an arrow between the two. All arrows of all threads are
//! kept. A thread that is about to add one that closes a circle panics, with the names of both classes: two threads could wait for each
//! other without end, although these two did not. Locks of one class among each other are not checked. In release builds nothing is left of
//! this, neither in memory nor in code.

use crate::observe::locks::LockClass;
use std::ops::{Deref, DerefMut};

/// A guard of a lock, and the note that the thread holds it.
pub struct Ordered<G> {
    guard: G,
    _held: Held,
}

impl<G> Ordered<G> {
    #[inline(always)]
    pub(crate) fn new(class: LockClass, lock: impl FnOnce() -> G) -> Ordered<G> {
        // Before the lock is waited for.
        let held = Held::new(class);
        Ordered { guard: lock(), _held: held }
    }

    /// The guard alone, for a condition variable: the thread that waits for one does not hold the lock.
    #[inline(always)]
    pub(crate) fn into_guard(self) -> G {
        self.guard
    }
}

impl<G: Deref> Deref for Ordered<G> {
    type Target = G::Target;

    #[inline(always)]
    fn deref(&self) -> &G::Target {
        &self.guard
    }
}

impl<G: DerefMut> DerefMut for Ordered<G> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut G::Target {
        &mut self.guard
    }
}

#[cfg(not(debug_assertions))]
struct Held;

#[cfg(not(debug_assertions))]
impl Held {
    #[inline(always)]
    fn new(_: LockClass) -> Held {
        Held
    }
}

#[cfg(debug_assertions)]
struct Held(LockClass);

#[cfg(debug_assertions)]
impl Held {
    fn new(class: LockClass) -> Held {
        arrows::take(class);
        Held(class)
    }
}

#[cfg(debug_assertions)]
impl Drop for Held {
    fn drop(&mut self) {
        arrows::release(self.0);
    }
}

#[cfg(debug_assertions)]
mod arrows {
    use crate::observe::locks::{CLASSES, LockClass};
    use std::cell::Cell;
    use std::sync::atomic::{AtomicU32, Ordering};

    const COUNT: usize = CLASSES.len();
    /// For each class, the classes of which a lock was taken while one of it was held, as bits. Relaxed: only ever gains bits.
    static AFTER: [AtomicU32; COUNT] = [const { AtomicU32::new(0) }; COUNT];

    thread_local! {
        /// How many locks of each class the thread holds.
        static HELD: Cell<[u8; COUNT]> = const { Cell::new([0; COUNT]) };
    }

    pub(super) fn take(class: LockClass) {
        let to = class as usize;
        // A thread that is ending has no such memory any more, and is not checked.
        let _ = HELD.try_with(|held| {
            let mut counts = held.get();
            let before = (0..COUNT).filter(|&from| from != to && counts[from] > 0);
            before.for_each(|from| add(from, to));
            counts[to] += 1;
            held.set(counts);
        });
    }

    pub(super) fn release(class: LockClass) {
        let _ = HELD.try_with(|held| {
            let mut counts = held.get();
            counts[class as usize] -= 1;
            held.set(counts);
        });
    }

    fn add(from: usize, to: usize) {
        if AFTER[from].load(Ordering::Relaxed) & 1 << to != 0 {
            return;
        }
        let (held, taken) = (CLASSES[from].name, CLASSES[to].name);
        assert!(!leads(to, from), "lock order: a thread takes {taken} while it holds {held}, and elsewhere it is the other way round");
        AFTER[from].fetch_or(1 << to, Ordering::Relaxed);
    }

    /// True if a chain of arrows leads from one class to the other.
    fn leads(from: usize, to: usize) -> bool {
        let (mut seen, mut waiting) = (0u32, 1u32 << from);
        while waiting != 0 {
            let at = waiting.trailing_zeros() as usize;
            seen |= 1 << at;
            waiting = (waiting | AFTER[at].load(Ordering::Relaxed)) & !seen;
        }
        seen & 1 << to != 0
    }
}

#[cfg(all(test, debug_assertions))]
mod tests {
    use crate::observe::locks::LockClass;
    use std::sync::Mutex;

    /// The classes are such that no code of this crate takes together.
    #[test]
    fn a_circle_of_three_classes_is_refused_where_it_closes() {
        let locks = [const { Mutex::new(()) }; 3];
        let classes = [LockClass::File, LockClass::Environment, LockClass::PersistentTerms];
        let both = |one: usize, other: usize| {
            let _one = classes[one].lock(&locks[one]);
            let _other = classes[other].lock(&locks[other]);
        };
        both(0, 1);
        both(1, 2);
        both(0, 2);
        let refused = std::thread::scope(|scope| scope.spawn(|| both(2, 0)).join());
        let text = *refused.expect_err("a circle").downcast::<String>().expect("a text");
        assert!(text.contains("takes file while it holds persistent_term_delete_permission"), "{text}");
        // What the refused thread held is free again.
        both(0, 1);
    }
}
