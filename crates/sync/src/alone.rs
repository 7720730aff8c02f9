//! While only one thread looks at what is shared, its read-modify-writes need not be atomic (`word`). A machine that is not busy has
//! one scheduler at work most of the time, and so has each with `+S 1`: dirty threads, pollers and other schedulers come in seldom.
//!
//! Threads that look at what is shared are online, and say so (`runtime::qsbr`). One that finds all others offline *claims* to be
//! alone. From then on others come in as ever, but at their first word they find it claimed, and *revoke* that. Both sides must be sure
//! of the other:
//! - A thread that claims writes that, then looks whether others are online; they say that they are, then look whether it is claimed. With a
//!   full fence between on both sides one sees the other: no claim succeeds while others are online, none that is online misses one.
//! - The thread that is alone says that it is inside, looks whether it still is alone, changes the word by a load and a store, and says that it is
//!   out: no fence but for the compiler. A thread that revokes says so, has all running threads execute a fence (`barrier::heavy`), and waits
//!   until no thread is inside, which takes some instructions, or as long as that thread has no core.
//!
//! All threads that find it revoked, but not over, do the same, so none waits for a revoker that has no core; the only one to wait for is the one inside.
//!
//! Coming in costs microseconds then, so a thread that is alone gives that up before it wakes others, and claims seldom.

use crate::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use crate::barrier;

/// No thread is alone: all is atomic.
const NOBODY: usize = 0;
/// One was, and may still be inside.
const REVOKED: usize = 1;
/// Threads take turns: a thread at a word is alone.
const TURNS: usize = 2;

/// A thread's, or none's.
#[derive(Clone, Copy)]
pub struct Number(usize);

impl Number {
    pub const NONE: Number = Number(usize::MAX);

    pub const fn of(thread: usize) -> Number {
        Number(thread + TURNS + 1)
    }
}

/// On a line of the cache of its own: it is read at every change of a word.
#[repr(align(64))]
pub struct Alone {
    /// `NOBODY`, `REVOKED`, `TURNS`, or the thread that is alone.
    who: AtomicUsize,
    /// It changes a word just now. Written by the thread that is alone, or was.
    /// Release in `leave`, Acquire in `revoke`: what was changed is seen.
    inside: AtomicBool,
}

impl Alone {
    #[cfg(not(loom))]
    pub const fn new() -> Alone {
        Alone { who: AtomicUsize::new(NOBODY), inside: AtomicBool::new(false) }
    }
    #[cfg(loom)]
    pub fn new() -> Alone {
        Alone { who: AtomicUsize::new(NOBODY), inside: AtomicBool::new(false) }
    }

    /// By a thread that is online and at no word: is it alone from now on? `no_other_is_online`: looks at all.
    pub fn claim(&self, me: Number, no_other_is_online: impl FnOnce() -> bool) -> bool {
        // Otherwise it would cost what it is to save.
        let is_free = barrier::is_asymmetric() && self.who.compare_exchange(NOBODY, me.0, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if !is_free {
            return false;
        }
        // Pairs with the one of a thread that comes online.
        fence(Ordering::SeqCst);
        let is_alone = no_other_is_online();
        if !is_alone {
            self.give_up(me);
        }
        is_alone
    }

    /// By a thread that is online: its changes are atomic again, if it was alone.
    #[inline]
    pub fn give_up(&self, me: Number) {
        // (If it was revoked, that goes on.)
        if self.who.load(Ordering::Relaxed) == me.0 {
            // Release: a thread that sees it sees what was changed.
            let _ = self.who.compare_exchange(me.0, NOBODY, Ordering::Release, Ordering::Relaxed);
        }
    }

    /// By a thread that is online, before it changes a word: whether it may do so by a load and a store. `leave` must follow then.
    #[inline(always)]
    pub fn enter(&self, me: Number) -> bool {
        // Acquire: pairs with the thread that gave up, or ended the revocation: what was changed without atomics is seen.
        let who = self.who.load(Ordering::Acquire);
        who != NOBODY && (who == TURNS || self.enter_alone(who, me))
    }

    #[inline(always)]
    fn enter_alone(&self, who: usize, me: Number) -> bool {
        if who != me.0 {
            self.revoke(who);
            return false;
        }
        self.inside.store(true, Ordering::Relaxed);
        // Pairs with the heavy one of `revoke`: it sees us inside, or we see that it is revoked.
        barrier::none();
        let is_alone = self.who.load(Ordering::Relaxed) == who;
        if !is_alone {
            self.leave();
        }
        is_alone
    }

    /// The word is changed. (Where threads take turns none looks.)
    #[inline(always)]
    pub fn leave(&self) {
        // Release: a thread that sees it, with Acquire, sees what was changed (`revoke`).
        self.inside.store(false, Ordering::Release);
    }

    /// By a thread that is not alone: no thread is inside after this, or will be as long as the caller is online.
    #[cold]
    fn revoke(&self, who: usize) {
        // (Where it is no more as it was another thread did this.) AcqRel, here and below: as in `give_up` and `enter`.
        let _ = self.who.compare_exchange(who, REVOKED, Ordering::AcqRel, Ordering::Acquire);
        barrier::heavy();
        while self.inside.load(Ordering::Acquire) {
            pause();
        }
        // AcqRel: pairs with the Acquire in `enter`.
        let _ = self.who.compare_exchange(REVOKED, NOBODY, Ordering::AcqRel, Ordering::Acquire);
    }
}

impl Default for Alone {
    fn default() -> Alone {
        Alone::new()
    }
}

#[cfg(loom)]
fn pause() {
    loom::thread::yield_now();
}
#[cfg(not(loom))]
fn pause() {
    std::thread::yield_now();
}

pub use machine::*;

/// The machine's own.
#[cfg(not(loom))]
mod machine {
    use super::{Alone, Number, TURNS};
    use crate::thread_slot::Slot;
    use heddle_abi::settings::SETTINGS;
    use std::cell::Cell;
    #[cfg(debug_assertions)]
    use std::sync::atomic::AtomicBool;
    use std::sync::atomic::Ordering;

    static ALONE: Alone = Alone::new();

    thread_local! {
        /// The calling thread's, from its first claim.
        static ME: Cell<Number> = const { Cell::new(Number::NONE) };
        /// It is online.
        static ONLINE: Cell<bool> = const { Cell::new(false) };
    }

    /// See `Alone::claim`.
    pub fn claim(no_other_is_online: impl FnOnce() -> bool) -> bool {
        if !SETTINGS.may_be_alone.is_on() {
            return false;
        }
        ME.set(Number::of(Slot::mine().index()));
        let is_alone = ALONE.claim(ME.get(), no_other_is_online);
        #[cfg(debug_assertions)]
        WAS_CLAIMED.fetch_or(is_alone, Ordering::Relaxed);
        is_alone
    }

    /// The calling thread is online, or is not any more: for `is_allowed`.
    #[inline(always)]
    pub fn set_online(is_online: bool) {
        if cfg!(debug_assertions) {
            ONLINE.set(is_online);
        }
    }

    #[cfg(debug_assertions)]
    static WAS_CLAIMED: AtomicBool = AtomicBool::new(false);

    /// A thread that is not online misses that another is alone. (Tests of single parts do not know of that.)
    #[cfg(debug_assertions)]
    fn is_allowed() -> bool {
        ONLINE.get() || !WAS_CLAIMED.load(Ordering::Relaxed)
    }

    /// See `Alone::give_up`.
    #[inline]
    pub fn give_up() {
        ALONE.give_up(ME.get());
    }

    /// See `Alone::enter`.
    #[inline(always)]
    pub(crate) fn enter() -> bool {
        #[cfg(debug_assertions)]
        assert!(is_allowed(), "a thread that is not online changes a word that one may have alone");
        ALONE.enter(ME.get())
    }

    /// See `Alone::leave`.
    #[inline(always)]
    pub(crate) fn leave() {
        ALONE.leave();
    }

    /// Before there are threads.
    pub(crate) fn take_turns() {
        ALONE.who.store(TURNS, Ordering::Relaxed);
    }

    #[inline(always)]
    pub(crate) fn is_turns() -> bool {
        // Relaxed: written before the threads start that read it.
        ALONE.who.load(Ordering::Relaxed) == TURNS
    }
}

/// A model has its own, and makes all changes of words atomic.
#[cfg(loom)]
mod machine {
    pub(crate) fn enter() -> bool {
        false
    }
    pub(crate) fn leave() {}
    pub(crate) fn take_turns() {}
    pub(crate) fn is_turns() -> bool {
        false
    }
}
