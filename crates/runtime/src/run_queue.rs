//! One run queue: processes by priority. Owner and thieves use it under a short spin-free mutex; its length is readable
//! without. Max before high before normal; a low process runs once while each normal one runs 8 times (seed 000 §3.3.1), however
//! many there are of both.

use crate::process::{Priority, ProcRef};
use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// From ERTS (RESCHEDULE_LOW).
const LOW_SKIPS: u64 = 8;
/// A turn of a process of low priority, in the unit of `low_credit`.
const TURN: u64 = 1 << 16;

/// What waits for a thread, by priority.
#[derive(Default)]
pub struct Queues {
    /// Identities of processes that wait for their turn on some queue and are wanted earlier, by priority (not low).
    wanted: [VecDeque<u64>; 3],
    max: VecDeque<ProcRef>,
    high: VecDeque<ProcRef>,
    normal: VecDeque<ProcRef>,
    low: VecDeque<ProcRef>,
    /// Turns that those of low priority may take: each turn of a normal one brings a part of one.
    low_credit: u64,
}

/// What comes next: an entry, or the identity of a process whose entry is elsewhere.
pub enum Next {
    Process(ProcRef),
    Wanted(u64),
}

impl Queues {
    #[inline]
    pub fn push(&mut self, p: ProcRef, priority: Priority) {
        match priority {
            Priority::Max => self.max.push_back(p),
            Priority::High => self.high.push_back(p),
            Priority::Normal => self.normal.push_back(p),
            Priority::Low => self.low.push_back(p),
        }
    }

    /// Processes, without those that are wanted from elsewhere.
    pub fn count(&self) -> usize {
        self.max.len() + self.high.len() + self.normal.len() + self.low.len()
    }

    pub fn take(&mut self) -> Option<Next> {
        if let Some(pid) = self.wanted[0].pop_front() {
            return Some(Next::Wanted(pid));
        }
        if let Some(p) = self.max.pop_front() {
            return Some(Next::Process(p));
        }
        if let Some(pid) = self.wanted[1].pop_front() {
            return Some(Next::Wanted(pid));
        }
        if let Some(p) = self.high.pop_front() {
            return Some(Next::Process(p));
        }
        if let Some(pid) = self.wanted[2].pop_front() {
            return Some(Next::Wanted(pid));
        }
        if self.low.is_empty() {
            self.low_credit = 0;
        } else if self.normal.is_empty() {
            return self.low.pop_front().map(Next::Process);
        } else if self.low_credit >= TURN {
            self.low_credit -= TURN;
            return self.low.pop_front().map(Next::Process);
        } else {
            self.low_credit += self.low.len() as u64 * TURN / (LOW_SKIPS * self.normal.len() as u64);
        }
        self.normal.pop_front().map(Next::Process)
    }
}

#[derive(Default)]
#[repr(align(128))]
pub struct RunQueue {
    queues: Mutex<Queues>,
    len: AtomicUsize,
    /// Processes taken so far: a thief leaves a single process alone unless the owner seems stuck.
    pub taken: AtomicU64,
    /// Of those, the ones of normal and low priority; and how many they were at the last look (`is_starving`).
    taken_low: AtomicU64,
    seen_low: AtomicU64,
    /// Entries that the owner took, here or elsewhere, and that are in no queue yet or any more. Written by the owner, before
    /// they leave a queue (Release of `len`, with Acquire where it is read) and after they got into one: whoever adds this to
    /// the lengths of all queues, read before, misses nobody who was taken before that. (Who is put back between the looks is.)
    in_hand: AtomicUsize,
}

impl RunQueue {
    #[inline]
    pub fn len(&self) -> usize {
        // A hint; whoever acts on it takes the lock. Acquire: for `in_hand`.
        self.len.load(Ordering::Acquire)
    }
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Length after the push.
    pub fn push(&self, p: ProcRef, priority: Priority) -> usize {
        let mut q = self.queues.lock().unwrap();
        q.push(p, priority);
        let len = self.len.load(Ordering::Relaxed) + 1;
        self.len.store(len, Ordering::Relaxed);
        len
    }

    /// A process is wanted among those of `priority`, although its entry is elsewhere. Length after the push.
    pub fn want(&self, pid: u64, priority: Priority) -> usize {
        let mut q = self.queues.lock().unwrap();
        q.wanted[(priority as usize).min(2)].push_back(pid);
        let len = self.len.load(Ordering::Relaxed) + 1;
        self.len.store(len, Ordering::Relaxed);
        len
    }

    pub fn pop(&self) -> Option<Next> {
        if self.is_empty() {
            return None;
        }
        let mut q = self.queues.lock().unwrap();
        let len = self.len.load(Ordering::Relaxed);
        // Mostly all are of the same priority.
        let below = q.normal.len() + q.low.len();
        let next = if q.normal.len() == len { Next::Process(q.normal.pop_front()?) } else { q.take()? };
        if q.normal.len() + q.low.len() < below {
            self.taken_low.store(self.taken_low.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        }
        self.in_hand.store(1, Ordering::Relaxed);
        // Plain stores: both are only written under the lock. Release: see `in_hand`.
        self.len.store(len - 1, Ordering::Release);
        self.taken.store(self.taken.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        Some(next)
    }

    /// For the owner: what it holds in no queue.
    #[inline]
    pub fn hold(&self, count: usize) {
        self.in_hand.store(count, Ordering::Release);
    }

    pub fn in_hand(&self) -> usize {
        self.in_hand.load(Ordering::Relaxed)
    }

    /// Up to half of what is there (at least one), oldest first, never one that is bound to its scheduler. They are in the
    /// hands of the owner of `mine`.
    pub fn steal(&self, most: usize, mine: &RunQueue) -> Vec<ProcRef> {
        let mut q = self.queues.lock().unwrap();
        let want = self.len.load(Ordering::Relaxed).div_ceil(2).min(most);
        let mut out = Vec::with_capacity(want);
        let q = &mut *q;
        for queue in [&mut q.max, &mut q.high, &mut q.normal, &mut q.low] {
            let mut i = 0;
            while out.len() < want && i < queue.len() {
                if queue[i].bound_scheduler() == 0 {
                    out.push(queue.remove(i).expect("in range"));
                } else {
                    i += 1;
                }
            }
        }
        mine.hold(out.len());
        self.len.fetch_sub(out.len(), Ordering::Release);
        out
    }

    /// How many processes of normal and low priority were taken so far.
    pub fn taken_low(&self) -> u64 {
        self.taken_low.load(Ordering::Relaxed)
    }

    /// Whether processes of normal or low priority wait of which none was taken since the last look: more urgent ones keep
    /// their scheduler to themselves.
    pub fn is_starving(&self) -> bool {
        if self.is_empty() {
            return false;
        }
        let q = self.queues.lock().unwrap();
        let taken = self.taken_low.load(Ordering::Relaxed);
        self.seen_low.swap(taken, Ordering::Relaxed) == taken && !(q.normal.is_empty() && q.low.is_empty())
    }

    /// All of normal and low priority but those that are bound to their scheduler, into the hands of the owner of `mine`.
    pub fn rescue(&self, mine: &RunQueue) -> Vec<ProcRef> {
        let mut q = self.queues.lock().unwrap();
        let q = &mut *q;
        let mut out = Vec::new();
        for queue in [&mut q.normal, &mut q.low] {
            let (stay, go) = queue.drain(..).partition(|p| p.bound_scheduler() != 0);
            *queue = stay;
            out.extend::<VecDeque<ProcRef>>(go);
        }
        mine.hold(out.len());
        self.len.fetch_sub(out.len(), Ordering::Release);
        out
    }

    /// About `count` of those that came last, of each priority in proportion, never one that is bound to its scheduler; into the
    /// hands of the owner of `mine`.
    pub fn share(&self, count: usize, mine: &RunQueue) -> Vec<ProcRef> {
        let mut q = self.queues.lock().unwrap();
        let len = self.len.load(Ordering::Relaxed).max(1);
        let mut out = Vec::with_capacity(count);
        let q = &mut *q;
        for queue in [&mut q.max, &mut q.high, &mut q.normal, &mut q.low] {
            let mut left = queue.len() * count / len;
            for i in (0..queue.len()).rev() {
                if left > 0 && queue[i].bound_scheduler() == 0 {
                    out.extend(queue.remove(i));
                    left -= 1;
                }
            }
        }
        mine.hold(out.len());
        self.len.fetch_sub(out.len(), Ordering::Release);
        out
    }
}
