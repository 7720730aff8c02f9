//! The worker cache (seed 004 §5.2.8): the one process that was woken by another, which then waits, is next on that scheduler if
//! one of the two waits for an answer and nobody else could run it sooner. Its message is still in this core's cache.
//!
//! Who waits while it has a receive marker waits for an answer: it made a reference, sent it, and wants the message with it, as
//! gen_server:call does. Others may be better off in the queue, where more messages come together until they run (a process that
//! wakes several, or that collects what many send).
//!
//! Fairness: partners that wake one another share one slice. The first who runs has taken its turn from the queue; what they use
//! together is counted, and when it is a slice, or somebody more urgent waits, the partner goes to the end of the queue as any
//! other. So who waits in the queue waits for no more than two slices where it waited for one (the last of the chain may use up its
//! own).
//!
//! Only the owner of the queue touches this, and thieves do not see it: therefore it is used only while no scheduler is idle.

use crate::process::{ProcRef, ProcShared};
use std::cell::Cell;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};

/// `+swc`
pub static IS_ON: AtomicBool = AtomicBool::new(true);

thread_local! {
    /// The running process set a receive marker.
    static CALLS: Cell<bool> = const { Cell::new(false) };
}

/// The running process is about to ask somebody.
#[inline(always)]
pub fn calls() {
    CALLS.set(true);
}

#[inline(always)]
pub fn is_calling() -> bool {
    CALLS.get()
}

/// Reductions that a chain of partners has.
const SLICE: u64 = 4000;

#[derive(Default)]
pub struct Partner {
    waiting: AtomicPtr<ProcShared>,
    /// Reductions since the owner last took a process from its queue, and one for each switch.
    spent: AtomicU64,
    /// How many the running process has woken: 0, 1 or more.
    woken: AtomicU32,
    /// The partner waits for an answer.
    awaits: AtomicBool,
}

/// Who of those that the running process wakes goes in the queue.
pub enum Woken {
    /// Nobody yet: it is the partner.
    First,
    /// It, and before it the one that was taken for the partner.
    Second(Option<ProcRef>),
    Further,
}

impl Partner {
    #[inline(always)]
    pub fn is_there(&self) -> bool {
        !self.waiting.load(Ordering::Relaxed).is_null()
    }

    /// By the owner, whose running process woke `p`, which awaits an answer, or does not.
    #[inline]
    pub fn woke(&self, p: ProcRef, awaits: bool) -> Woken {
        self.awaits.store(awaits, Ordering::Relaxed);
        let woken = self.woken.load(Ordering::Relaxed);
        self.woken.store((woken + 1).min(2), Ordering::Relaxed);
        match woken {
            0 => {
                self.waiting.store(p.as_ptr(), Ordering::Relaxed);
                Woken::First
            }
            1 => Woken::Second(self.take()),
            _ => Woken::Further,
        }
    }

    /// By the owner.
    #[inline]
    pub fn take(&self) -> Option<ProcRef> {
        let waiting = self.waiting.load(Ordering::Relaxed);
        if waiting.is_null() {
            return None;
        }
        // Release: who counts what is in hand after what waits misses nobody (`RunQueue::in_hand`).
        self.waiting.store(null_mut(), Ordering::Release);
        // SAFETY: only processes are put there, and an entry keeps its process.
        Some(unsafe { ProcRef::from_ptr(waiting) })
    }

    /// Whether the chain has something left.
    #[inline(always)]
    pub fn may_go_on(&self) -> bool {
        self.spent.load(Ordering::Relaxed) < SLICE
    }

    /// By the owner: the process that woke the partner waits itself, or does not, and awaits an answer, or does not. Who does not
    /// stay the partner after this.
    #[inline]
    pub fn after(&self, waits: bool, awaits: bool) -> Option<ProcRef> {
        if waits && (awaits || self.awaits.load(Ordering::Relaxed)) { None } else { self.take() }
    }

    /// By the owner: it takes its next process from the queue.
    #[inline(always)]
    pub fn begin(&self) {
        self.spent.store(0, Ordering::Relaxed);
    }

    /// By the owner: a process is about to run.
    #[inline(always)]
    pub fn runs(&self) {
        self.woken.store(0, Ordering::Relaxed);
        CALLS.set(false);
    }

    /// By the owner: a process ran.
    #[inline(always)]
    pub fn ran(&self, reductions: u64) {
        self.spent.store(self.spent.load(Ordering::Relaxed) + reductions + 1, Ordering::Relaxed);
    }

    /// For statistics: 0 or 1.
    pub fn count(&self) -> usize {
        !self.waiting.load(Ordering::Acquire).is_null() as usize
    }
}
