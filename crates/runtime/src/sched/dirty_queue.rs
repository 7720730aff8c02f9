//! The queue of one kind of dirty threads.

use super::run_queue::Turns;
use crate::base::level::Priority;
use crate::observe::locks::LockClass;
use crate::process::ProcRef;
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex};

/// The processes that wait for dirty threads of one kind. They block for long, so a lock is good enough.
#[derive(Default)]
pub(crate) struct DirtyQueue {
    pub(super) waiting: Mutex<Waiting>,
    pub(super) ready: Condvar,
    /// For threads that are offline: signalled when more are online.
    pub(super) more_online: Condvar,
}

#[derive(Default)]
pub(super) struct Waiting {
    /// One queue a priority.
    pub(super) queues: [VecDeque<ProcRef>; 4],
    pub(super) turns: Turns,
}

impl DirtyQueue {
    pub(crate) fn push(&self, p: ProcRef, priority: Priority) {
        LockClass::DirtyQueue.lock(&self.waiting).queues[priority as usize].push_back(p);
        self.ready.notify_one();
    }

    pub fn count(&self) -> usize {
        LockClass::DirtyQueue.lock(&self.waiting).queues.iter().map(VecDeque::len).sum()
    }
}
