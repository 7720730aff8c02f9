//! What moves processes between run queues besides thieves: an offline scheduler empties its queue, a busy one evens out.

use crate::process::ProcRef;
use crate::run_queue::RunQueue;
use crate::sched;
use std::sync::atomic::{AtomicU64, Ordering};

/// An offline scheduler gives away what is not bound to it.
#[cold]
pub fn hand_over(index: usize) {
    let Some(queue) = sched::queues().nth(index) else { return };
    while !queue.is_empty() {
        let all = queue.steal(usize::MAX, queue);
        if all.is_empty() {
            return;
        }
        for (i, p) in all.into_iter().enumerate() {
            sched::enqueue_at(i % sched::online().max(1), p);
        }
        queue.hold(0);
    }
}

/// When a scheduler looks whether another one has much more to do although both are busy: idle ones steal without that.
#[derive(Default)]
pub struct Balance {
    next: u64,
    /// What it had taken of normal and low priority then.
    taken_low: u64,
}

/// Reductions between such looks, as in ERTS.
const BALANCE_EVERY: u64 = 2000 * 2000;
static BALANCED: AtomicU64 = AtomicU64::new(0);

impl Balance {
    #[inline(always)]
    pub fn is_due(&mut self, reductions: u64) -> bool {
        if reductions < self.next {
            return false;
        }
        self.next = reductions + BALANCE_EVERY;
        true
    }
}

/// How often a scheduler compared its queue with the others'.
pub fn balanced() -> u64 {
    BALANCED.load(Ordering::Relaxed)
}

/// Takes what starves behind more urgent work elsewhere; and half of the difference from the longest queue if that is half as
/// long again as ours. So processes of one priority get about the same time wherever they are.
#[cold]
pub fn level(index: usize, balance: &mut Balance) {
    BALANCED.fetch_add(1, Ordering::Relaxed);
    let Some(mine) = sched::queues().nth(index) else { return };
    let taken_low = mine.taken_low();
    if std::mem::replace(&mut balance.taken_low, taken_low) == taken_low {
        // Urgent processes keep it busy: others would starve here.
        return;
    }
    for (_, queue) in sched::queues().enumerate().filter(|&(other, _)| other != index) {
        if queue.is_starving() {
            keep(mine, queue.rescue(mine));
        }
    }
    let Some(longest) = sched::queues().max_by_key(|queue| queue.len()) else { return };
    let (there, here) = (longest.len(), mine.len());
    if there > here + here / 2 + 2 {
        keep(mine, longest.share((there - here) / 2, mine));
    }
}

/// The calling scheduler puts what it took on its own queue.
fn keep(mine: &RunQueue, taken: Vec<ProcRef>) {
    for p in taken {
        // SAFETY: `level` runs on the thread that owns the queue.
        unsafe { mine.push(p, p.state.load().queue_priority()) };
    }
    mine.hold(0);
}
