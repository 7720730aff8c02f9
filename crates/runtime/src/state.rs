//! The one word that says what may happen to a process, and its transitions. Nobody else does a compare-and-swap on it.
//!
//! - QUEUED: on some run queue (at most one). RUNNING: a scheduler runs it. DIRTY: a dirty thread has it (or its queue).
//! - ACTIVE: there is a reason to run: a signal arrived, or the slice ended. Set by wakers at any time.
//! - Invariant: ACTIVE without QUEUED, RUNNING or DIRTY lasts only inside a transition.

use crate::process::Priority;
use std::sync::atomic::{AtomicU32, Ordering};

const QUEUED: u32 = 1;
const RUNNING: u32 = 2;
const DIRTY: u32 = 4;
const ACTIVE: u32 = 8;
const EXITING: u32 = 16;
const FREE: u32 = 32;
const SUSPENDED: u32 = 64;
const GC: u32 = 128;
const PRIORITY_SHIFT: u32 = 8;
const PRIORITY_MASK: u32 = 3 << PRIORITY_SHIFT;
const DIRTY_QUEUED: u32 = 1 << 10;

pub struct ProcState(AtomicU32);

#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Snapshot(u32);

impl Snapshot {
    pub fn is_queued(self) -> bool {
        self.0 & QUEUED != 0
    }
    pub fn is_running(self) -> bool {
        self.0 & (RUNNING | DIRTY) != 0
    }
    pub fn is_active(self) -> bool {
        self.0 & ACTIVE != 0
    }
    pub fn is_dirty(self) -> bool {
        self.0 & DIRTY != 0
    }
    pub fn is_exiting(self) -> bool {
        self.0 & (EXITING | FREE) != 0
    }
    pub fn is_suspended(self) -> bool {
        self.0 & SUSPENDED != 0
    }
    pub fn is_collecting(self) -> bool {
        self.0 & GC != 0
    }
    pub fn priority(self) -> Priority {
        match (self.0 & PRIORITY_MASK) >> PRIORITY_SHIFT {
            0 => Priority::Max,
            1 => Priority::High,
            2 => Priority::Normal,
            _ => Priority::Low,
        }
    }
}

#[must_use]
#[derive(PartialEq, Eq, Clone, Copy)]
pub enum Put {
    /// The caller set QUEUED and must put the process on a run queue.
    Enqueue,
    Nothing,
}

impl ProcState {
    pub fn new(priority: Priority) -> ProcState {
        ProcState(AtomicU32::new((priority as u32) << PRIORITY_SHIFT))
    }

    pub fn load(&self) -> Snapshot {
        // Acquire: pairs with the AcqRel transitions, so that a reader that sees a state sees what led to it.
        Snapshot(self.0.load(Ordering::Acquire))
    }

    fn update(&self, mut f: impl FnMut(u32) -> u32) -> (u32, u32) {
        let mut old = self.0.load(Ordering::Relaxed);
        loop {
            let new = f(old);
            if new == old {
                return (old, new);
            }
            // AcqRel: what was done before the transition is visible to whoever sees it, and the other way round.
            match self.0.compare_exchange_weak(old, new, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return (old, new),
                Err(seen) => old = seen,
            }
        }
    }

    /// Something arrived for the process.
    pub fn wake(&self) -> Put {
        let (old, new) = self.update(|s| {
            if s & FREE != 0 {
                s
            } else if s & (QUEUED | RUNNING | DIRTY) != 0 {
                s | ACTIVE
            } else {
                s | ACTIVE | QUEUED
            }
        });
        if old & QUEUED == 0 && new & QUEUED != 0 { Put::Enqueue } else { Put::Nothing }
    }

    /// A scheduler took it from its queue.
    pub fn start_running(&self) {
        let (old, _) = self.update(|s| (s & !(QUEUED | ACTIVE)) | RUNNING);
        debug_assert!(old & QUEUED != 0 && old & (RUNNING | DIRTY) == 0);
    }

    /// The owner is about to wait: forgets wake-ups whose cause it has seen. Must be followed by one more look at the inbox.
    pub fn clear_active(&self) {
        if self.0.load(Ordering::Relaxed) & ACTIVE != 0 {
            // SeqCst with the look at the inbox that follows: a waker pushes first and sets ACTIVE second, so either that look
            // finds the signal or ACTIVE is set again after this.
            self.0.fetch_and(!ACTIVE, Ordering::SeqCst);
        }
    }

    /// The owner gives it up; `more` when it wants to run again.
    pub fn stop_running(&self, more: bool) -> Put {
        let (_, new) = self.update(|s| {
            let s = (s & !(RUNNING | DIRTY | DIRTY_QUEUED)) | if more { ACTIVE } else { 0 };
            if s & ACTIVE != 0 && s & FREE == 0 { s | QUEUED } else { s }
        });
        if new & QUEUED != 0 { Put::Enqueue } else { Put::Nothing }
    }

    /// From a scheduler to a dirty thread.
    pub fn go_dirty(&self) {
        self.update(|s| (s & !RUNNING) | DIRTY);
    }
    pub fn set_exiting(&self) {
        self.update(|s| s | EXITING);
    }
    pub fn set_free(&self) {
        self.update(|s| (s | FREE) & !(RUNNING | DIRTY | QUEUED | ACTIVE));
    }
    pub fn set_suspended(&self, on: bool) {
        self.update(|s| if on { s | SUSPENDED } else { s & !SUSPENDED });
    }
    pub fn set_collecting(&self, on: bool) {
        self.update(|s| if on { s | GC } else { s & !GC });
    }
    pub fn set_priority(&self, priority: Priority) {
        self.update(|s| (s & !PRIORITY_MASK) | (priority as u32) << PRIORITY_SHIFT);
    }
    pub fn has_active(&self) -> bool {
        self.0.load(Ordering::SeqCst) & ACTIVE != 0
    }
}
