//! The worker cache (Hedqvist, "A Parallel and Multithreaded ERLANG Implementation", 1998, section 5.2.8): one process, the
//! *partner*, may run next on a scheduler without having been in its queue. It is the one process that the running process woke, if
//! the running process then waits, one of the two waits for an answer, and no other scheduler could run it sooner. Its message is
//! still in this core's cache.
//!
//! A process that waits while it has a receive marker waits for an answer: it made a reference, sent it, and wants the message that
//! contains it, as gen_server:call does. Other processes may do better in the queue, where more messages arrive before they run (a
//! process that wakes several others, or one that collects what many send).
//!
//! Fairness: partners that wake one another share one slice. The first of the chain took its turn from the queue. The reductions of
//! the chain are counted; when they amount to a slice, or a more urgent process waits, the partner goes to the end of the queue as
//! any other. So a process in the queue waits at most two slices where it waited one (the last of the chain may use up its own
//! slice).
//!
//! Only the owner of the queue touches the partner, and thieves do not see it. Therefore it is used only while no scheduler is
//! idle.

use crate::process::{ProcRef, ProcShared};
use std::cell::Cell;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};

thread_local! {
    /// True if the running process set a receive marker.
    static CALLS: Cell<bool> = const { Cell::new(false) };
}

/// The running process is about to ask another process.
#[inline(always)]
pub(crate) fn calls() {
    CALLS.set(true);
}

#[inline(always)]
pub(crate) fn is_calling() -> bool {
    CALLS.get()
}

/// Reductions that a chain of partners may use.
const SLICE: u64 = 4000;

#[derive(Default)]
pub(crate) struct WorkerCache {
    waiting: AtomicPtr<ProcShared>,
    /// Reductions since the owner last took a process from its queue, plus one for each switch.
    spent: AtomicU64,
    /// The number of processes that the running process has woken: 0, 1, or 2 for more.
    woken: AtomicU32,
    /// True if the partner waits for an answer.
    awaits: AtomicBool,
}

/// Which of the processes that the running process wakes go in the queue.
pub(crate) enum Woken {
    /// None yet: the woken process is the partner.
    First,
    /// The woken process, and before it the one that was the partner until now.
    Second(Option<ProcRef>),
    Further,
}

impl WorkerCache {
    #[inline(always)]
    pub(crate) fn is_there(&self) -> bool {
        !self.waiting.load(Ordering::Relaxed).is_null()
    }

    /// Called by the owner: its running process woke `p`, which waits for an answer (`awaits`) or does not.
    #[inline]
    pub(crate) fn woke(&self, p: ProcRef, awaits: bool) -> Woken {
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

    /// Called by the owner.
    #[inline]
    pub(crate) fn take(&self) -> Option<ProcRef> {
        let waiting = self.waiting.load(Ordering::Relaxed);
        if waiting.is_null() {
            return None;
        }
        // Release: a thread that reads `RunQueue::in_flight` after the queue lengths misses no process.
        self.waiting.store(null_mut(), Ordering::Release);
        // SAFETY: only processes are put there, and an entry keeps its process.
        Some(unsafe { ProcRef::from_ptr(waiting) })
    }

    /// True if the chain has reductions left.
    #[inline(always)]
    pub(crate) fn may_go_on(&self) -> bool {
        self.spent.load(Ordering::Relaxed) < SLICE
    }

    /// Called by the owner: the process that woke the partner stopped running. `waits`: it waits; `awaits`: it waits for an answer.
    /// Returns the process that does not stay the partner.
    #[inline]
    pub fn after(&self, waits: bool, awaits: bool) -> Option<ProcRef> {
        if waits && (awaits || self.awaits.load(Ordering::Relaxed)) { None } else { self.take() }
    }

    /// Called by the owner: it takes its next process from the queue.
    #[inline(always)]
    pub(crate) fn begin(&self) {
        self.spent.store(0, Ordering::Relaxed);
    }

    /// Called by the owner: a process is about to run.
    #[inline(always)]
    pub(crate) fn runs(&self) {
        self.woken.store(0, Ordering::Relaxed);
        CALLS.set(false);
    }

    /// Called by the owner: a process ran.
    #[inline(always)]
    pub(crate) fn ran(&self, reductions: u64) {
        self.spent.store(self.spent.load(Ordering::Relaxed) + reductions + 1, Ordering::Relaxed);
    }

    /// The number of partners, for statistics: 0 or 1.
    pub fn count(&self) -> usize {
        // Acquire: pairs with the Release of the owner that takes the partner.
        !self.waiting.load(Ordering::Acquire).is_null() as usize
    }
}
