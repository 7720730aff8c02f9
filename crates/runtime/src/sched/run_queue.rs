//! One run queue: what waits for a scheduler, by level.
//!
//! There are 32 levels (`level`). Everything at a level comes before anything at a less urgent one, with two exceptions among the
//! levels from 16 on, so that nothing there waits forever. (Levels 0 to 15 do make others wait, as processes of priority max and
//! high do in stock.)
//! - Of normal and low processes a low one runs once while each normal one runs 8 times (Zhang, "Characterizing the Scalability of
//!   Erlang VM on Many-core Processors", 2011, section 3.3.1), however many there are of both.
//! - While tasks wait at other levels, or processes at less urgent levels than those: after 64 turns of more urgent levels a less
//!   urgent level has one (`Turns`).
//!
//! No thread takes a lock. Each level is a ring: the owner, which is the scheduler that the queue belongs to, appends, and thieves
//! may take as well. What other threads bring (rarely: dirty threads, a thread that binds a process to this scheduler, a scheduler
//! that goes offline) is in `brought` until the owner, or a thief, sorts it in. Only the owner touches processes bound to this
//! scheduler, and identities of processes that are wanted out of turn.

use crate::base::level::{CLASS_LEVELS, LEVELS, Level, Priority};
use crate::base::qsbr;
use crate::process::ProcRef;
use crate::sched::balance::limits::CLASSES;
use crate::sched::home;
use crate::sched::worker_cache::WorkerCache;
use heddle_sync::ring::{Retired, Ring};
use heddle_sync::stack::Stack;
use std::cell::UnsafeCell;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

const NORMAL: usize = Level::NORMAL.number();
const LOW: usize = Level::LOW.number();
/// From this level on nothing waits forever.
const FAIR: usize = 2 * CLASS_LEVELS;
/// Turns of more urgent levels before a less urgent level has one. A guess: more than the number of levels, and too few to notice.
const MAX_PASSED: u32 = 64;

/// From ERTS (RESCHEDULE_LOW).
const LOW_SKIPS: u64 = 8;
/// The turn of a process of low priority, in the unit of `credit`.
const TURN: u64 = 1 << 16;

/// Decides which level has the turn when several of the levels from `FAIR` on are occupied.
#[derive(Default)]
pub(crate) struct Turns {
    /// Turns that processes of low priority may take: each turn of a normal one adds a part of a turn.
    credit: u64,
    /// Turns since a less urgent level last had one.
    passed: u32,
    /// The level that last had such a turn.
    last: usize,
}

impl Turns {
    /// True if one of the `low` processes has the turn, and not one of the `normal`. The caller takes one of that kind; at least
    /// one of them exists.
    #[inline]
    pub(crate) fn is_low(&mut self, normal: usize, low: usize) -> bool {
        if low == 0 {
            self.credit = 0;
            return false;
        }
        if normal == 0 {
            return true;
        }
        if self.credit >= TURN {
            self.credit -= TURN;
            return true;
        }
        self.credit += low as u64 * TURN / (LOW_SKIPS * normal as u64);
        false
    }

    /// The level that has this turn. `level` is the most urgent occupied one, `occupied` has the occupied ones as bits, `count`
    /// returns how many wait at one.
    fn level(&mut self, level: usize, occupied: u32, count: impl Fn(usize) -> usize) -> usize {
        let mut behind = occupied & !(u32::MAX >> (31 - level));
        if level == NORMAL && behind & 1 << LOW != 0 {
            if self.is_low(count(NORMAL), count(LOW)) {
                return LOW;
            }
            behind &= !(1 << LOW);
        }
        if behind == 0 {
            return level;
        }
        self.passed += 1;
        if self.passed <= MAX_PASSED {
            return level;
        }
        self.passed = 0;
        // The less urgent levels take turns, so that none of them waits forever either.
        let after = behind.checked_shr(self.last as u32 + 1).unwrap_or(0);
        self.last = match after {
            0 => behind.trailing_zeros() as usize,
            _ => self.last + 1 + after.trailing_zeros() as usize,
        };
        self.last
    }
}

/// True if `Turns` must be asked: the most urgent occupied level is `level`, and there are others.
#[inline(always)]
fn has_others(level: usize, occupied: u32) -> bool {
    level >= FAIR && occupied >> level > 1
}

/// What comes next: an entry, or the identity of a process whose entry is elsewhere.
pub(crate) enum NextEntry {
    Process(ProcRef),
    Wanted(u64),
}

enum Brought {
    Process(ProcRef, Level),
    Wanted(u64, Level),
}

/// What only the owner touches.
#[derive(Default)]
struct Own {
    /// Identities of processes that wait on some queue and are wanted earlier, by the level of the process that wants them.
    wanted: Vec<(usize, VecDeque<u64>)>,
    /// Processes bound to this scheduler, by level.
    bound: Vec<(usize, VecDeque<ProcRef>)>,
    /// True if a bound process was taken last while others of its level waited.
    bound_was_last: bool,
    turns: Turns,
}

/// The queue of a level; most urgent first.
fn of_level<T>(queues: &mut Vec<(usize, VecDeque<T>)>, level: usize) -> &mut VecDeque<T> {
    let at = queues.partition_point(|(other, _)| *other < level);
    if queues.get(at).is_none_or(|(other, _)| *other != level) {
        queues.insert(at, (level, VecDeque::new()));
    }
    &mut queues[at].1
}

/// The most urgent level that is not empty.
fn first<T>(queues: &[(usize, VecDeque<T>)]) -> Option<usize> {
    queues.iter().find(|(_, queue)| !queue.is_empty()).map(|(level, _)| *level)
}

#[derive(Default)]
#[repr(align(128))]
pub(crate) struct RunQueue {
    /// The index of its scheduler.
    index: usize,
    rings: [Ring; LEVELS],
    /// The levels whose ring may hold something, as bits. Written by the owner with Release, and read by others with Acquire: the entries
    /// of a level that is seen are in its ring.
    occupied: AtomicU32,
    own: UnsafeCell<Own>,
    /// The process that comes first without having been in a queue.
    pub partner: WorkerCache,
    /// How many entries `own` holds. Written by the owner with Release, and read by others with Acquire, as `in_flight` needs it.
    own_len: AtomicUsize,
    /// Processes taken so far. A thief leaves a single process alone unless this number shows that the owner is stuck.
    pub taken: AtomicU64,
    /// The greatest length of each class in this period: see `balance`. Written by the owner, except at the beginning of a period.
    longest: [AtomicUsize; CLASSES],
    /// Entries that the owner has taken, here or elsewhere, and that are not queued again yet. Written by the owner: set before an
    /// entry leaves a queue (Release of the ring's head, with Acquire where its length is read), and cleared after it is queued. A
    /// reader that sums the lengths of all queues and then adds this counts every process at least once, except one that is queued
    /// again between the two reads. A thief sets it, before it takes, to what it may get.
    in_flight: AtomicUsize,
    brought: Stack<Brought>,
    /// Incremented before something is put in `brought`, and decremented when it has got into a ring. So a thread that finds all
    /// lengths zero (`sched::idling::park`, Acquire with the Release of the decrement) misses nothing in between.
    brought_len: AtomicUsize,
}

// SAFETY: `own` is only touched by the owner (the contract of the functions that do); everything else is made for several threads.
unsafe impl Sync for RunQueue {}

impl RunQueue {
    pub(crate) fn of(index: usize) -> RunQueue {
        RunQueue { index, ..RunQueue::default() }
    }

    /// A hint: what other threads take and bring meanwhile may be counted or not.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        let mut bits = self.occupied.load(Ordering::Acquire);
        let mut len = self.own_len.load(Ordering::Acquire) + self.brought_len.load(Ordering::Acquire);
        while bits != 0 {
            len += self.rings[bits.trailing_zeros() as usize].len();
            bits &= bits - 1;
        }
        len
    }

    /// As `len`; mostly the first read decides.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        let bits = self.occupied.load(Ordering::Acquire);
        (bits == 0 || self.rings[bits.trailing_zeros() as usize].is_empty()) && self.len() == 0
    }

    /// Puts a process at the end of its level. Returns true if something else waits as well, as far as the owner knows.
    ///
    /// # Safety
    /// The calling thread is the owner.
    #[inline]
    // SAFETY: schedulers push on their own queue alone; for another one there is `bring`.
    pub(crate) unsafe fn push(&self, p: ProcRef, level: Level) -> bool {
        let level = level.number();
        if self.is_home_of(p) {
            // SAFETY: the calling thread is the owner.
            let own = unsafe { &mut *self.own.get() };
            of_level(&mut own.bound, level).push_back(p);
            self.own_len.store(self.own_len.load(Ordering::Relaxed) + 1, Ordering::Release);
            return self.own_len.load(Ordering::Relaxed) > 1 || self.occupied.load(Ordering::Relaxed) != 0;
        }
        let ring = &self.rings[level];
        // SAFETY: the calling thread is the owner, and only the owner appends to rings.
        let (before, buffer) = unsafe { ring.push(p.as_ptr() as u64) };
        if let Some(buffer) = buffer {
            free_later(buffer);
        }
        let longest = &self.longest[level / CLASS_LEVELS];
        if before >= longest.load(Ordering::Relaxed) {
            longest.store(before + 1, Ordering::Relaxed);
        }
        let occupied = self.occupied.load(Ordering::Relaxed);
        if occupied & 1 << level == 0 {
            // Release: a thread that sees the bit sees the entry.
            self.occupied.store(occupied | 1 << level, Ordering::Release);
        }
        before > 0 || occupied & !(1 << level) != 0 || self.own_len.load(Ordering::Relaxed) != 0
    }

    /// Puts a process in `brought` for the owner to find. The caller must tell the owner.
    pub(crate) fn bring(&self, p: ProcRef, level: Level) {
        self.brought_len.fetch_add(1, Ordering::Relaxed);
        self.brought.push(Brought::Process(p, level));
    }

    /// The process is wanted with the priority `priority`, although its entry is elsewhere. The caller must tell the owner.
    pub fn want(&self, pid: u64, priority: Priority) {
        self.brought_len.fetch_add(1, Ordering::Relaxed);
        self.brought.push(Brought::Wanted(pid, Level::of(priority).min(Level::NORMAL)));
    }

    /// Takes what comes next.
    ///
    /// # Safety
    /// The calling thread is the owner.
    #[inline(always)]
    // SAFETY: a scheduler pops from its own queue alone; others take from it by `steal`.
    pub(crate) unsafe fn pop(&self) -> Option<NextEntry> {
        // SAFETY: the calling thread is the owner.
        unsafe {
            if !self.brought.is_empty() {
                self.sort_in();
            }
            if self.partner.is_there()
                && let Some(p) = self.pop_partner()
            {
                return Some(NextEntry::Process(p));
            }
            self.partner.begin();
            let next = if self.own_len.load(Ordering::Relaxed) == 0 { self.pop_ring()? } else { self.pop_any()? };
            self.taken.store(self.taken.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
            Some(next)
        }
    }

    /// Takes the partner, if no process is more urgent and the chain has reductions left; else the partner is queued with the
    /// others.
    ///
    /// # Safety
    /// As `pop`.
    #[inline]
    unsafe fn pop_partner(&self) -> Option<ProcRef> {
        let occupied = self.occupied.load(Ordering::Relaxed);
        let is_next = occupied == 0 || (occupied & ((1 << NORMAL) - 1) == 0 && self.partner.may_go_on());
        self.in_flight.store(1, Ordering::Relaxed);
        let p = self.partner.take()?;
        if is_next && self.own_len.load(Ordering::Relaxed) == 0 {
            self.taken.store(self.taken.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
            return Some(p);
        }
        // SAFETY: the calling thread is the owner.
        unsafe { self.push(p, Level::NORMAL) };
        self.hold(0);
        None
    }

    /// Takes from the rings, while the owner has nothing in `own`.
    ///
    /// # Safety
    /// As `pop`.
    #[inline]
    // SAFETY: `pop` calls it, and its caller is the owner.
    unsafe fn pop_ring(&self) -> Option<NextEntry> {
        loop {
            let occupied = self.occupied.load(Ordering::Relaxed);
            if occupied == 0 {
                return None;
            }
            let level = occupied.trailing_zeros() as usize;
            if has_others(level, occupied) {
                // SAFETY: the calling thread is the owner here as well.
                return unsafe { self.pop_fair() };
            }
            if let Some(p) = self.pop_level(level) {
                return Some(NextEntry::Process(p));
            }
            self.occupied.store(occupied & !(1 << level), Ordering::Relaxed);
        }
    }

    /// As `pop_ring`, if several of the levels from `FAIR` on are occupied.
    ///
    /// # Safety
    /// As `pop`.
    #[cold]
    // SAFETY: `pop_ring` calls it, and its caller is the owner.
    unsafe fn pop_fair(&self) -> Option<NextEntry> {
        loop {
            let occupied = self.occupied.load(Ordering::Relaxed);
            if occupied == 0 {
                return None;
            }
            // SAFETY: the calling thread is the owner.
            let turns = unsafe { &mut (*self.own.get()).turns };
            let first = occupied.trailing_zeros() as usize;
            let has_others = has_others(first, occupied);
            let level = if has_others { turns.level(first, occupied, |level| self.rings[level].len()) } else { first };
            if let Some(p) = self.pop_level(level) {
                return Some(NextEntry::Process(p));
            }
            self.occupied.store(occupied & !(1 << level), Ordering::Relaxed);
        }
    }

    #[inline]
    fn pop_level(&self, level: usize) -> Option<ProcRef> {
        self.in_flight.store(1, Ordering::Relaxed);
        match self.rings[level].pop() {
            Some(entry) => {
                // SAFETY: entries are processes.
                Some(unsafe { ProcRef::from_ptr(entry as *mut _) })
            }
            None => {
                self.in_flight.store(0, Ordering::Release);
                None
            }
        }
    }

    /// As `pop`, for everything that there may be.
    ///
    /// # Safety
    /// As `pop`.
    #[cold]
    // SAFETY: `pop` calls it, and its caller is the owner.
    unsafe fn pop_any(&self) -> Option<NextEntry> {
        loop {
            // SAFETY: by contract; the borrow ends before anything else is called.
            let own = unsafe { &mut *self.own.get() };
            let rings = match self.occupied.load(Ordering::Relaxed) {
                0 => None,
                bits => Some(bits.trailing_zeros() as usize),
            };
            let (wanted, bound) = (first(&own.wanted), first(&own.bound));
            let level = wanted.into_iter().chain(bound).chain(rings).min()?;
            let next = if wanted == Some(level) {
                of_level(&mut own.wanted, level).pop_front().map(NextEntry::Wanted)
            } else {
                let Own { bound, turns, .. } = own;
                let waiting = bound.iter().filter(|(_, queue)| !queue.is_empty()).fold(0, |bits, (level, _)| bits | 1 << level);
                let occupied = waiting | self.occupied.load(Ordering::Relaxed);
                let count = |level: usize| self.rings[level].len() + bound.iter().find(|b| b.0 == level).map_or(0, |b| b.1.len());
                let level = if has_others(level, occupied) { turns.level(level, occupied, count) } else { level };
                self.pop_of(own, level)
            };
            match next {
                Some(NextEntry::Wanted(pid)) => {
                    self.in_flight.store(1, Ordering::Relaxed);
                    self.own_len.store(self.own_len.load(Ordering::Relaxed) - 1, Ordering::Release);
                    return Some(NextEntry::Wanted(pid));
                }
                Some(next) => return Some(next),
                None => {
                    // Thieves emptied the ring.
                    let occupied = self.occupied.load(Ordering::Relaxed);
                    let empty = (0..LEVELS).filter(|&level| self.rings[level].is_empty()).fold(0, |bits, level| bits | 1 << level);
                    self.occupied.store(occupied & !empty, Ordering::Relaxed);
                }
            }
        }
    }

    /// At one level, takes bound processes and others in turn.
    fn pop_of(&self, own: &mut Own, level: usize) -> Option<NextEntry> {
        let bound_there = own.bound.iter().any(|(other, queue)| *other == level && !queue.is_empty());
        if !bound_there || own.bound_was_last {
            own.bound_was_last = false;
            if let Some(p) = self.pop_level(level) {
                return Some(NextEntry::Process(p));
            }
        }
        let p = bound_there.then(|| of_level(&mut own.bound, level).pop_front()).flatten()?;
        own.bound_was_last = true;
        self.in_flight.store(1, Ordering::Relaxed);
        self.own_len.store(self.own_len.load(Ordering::Relaxed) - 1, Ordering::Release);
        Some(NextEntry::Process(p))
    }

    /// Puts what others brought where it belongs.
    ///
    /// # Safety
    /// As `pop`.
    #[cold]
    unsafe fn sort_in(&self) {
        let all = self.brought.take();
        let count = all.len();
        for brought in all {
            match brought {
                // SAFETY: the calling thread is the owner, by contract.
                Brought::Process(p, level) => drop(unsafe { self.push(p, level) }),
                Brought::Wanted(pid, level) => {
                    // SAFETY: the owner's part, and by contract the caller is the owner.
                    of_level(unsafe { &mut (*self.own.get()).wanted }, level.number()).push_back(pid);
                    self.own_len.store(self.own_len.load(Ordering::Relaxed) + 1, Ordering::Release);
                }
            }
        }
        self.brought_len.fetch_sub(count, Ordering::Release);
    }

    /// Called by the owner: it holds `count` entries that are in no queue.
    #[inline]
    pub(crate) fn hold(&self, count: usize) {
        self.in_flight.store(count, Ordering::Release);
    }

    pub fn in_flight(&self) -> usize {
        self.in_flight.load(Ordering::Relaxed)
    }

    /// Called by thieves: takes up to half of the queue and at most `max` processes, most urgent and oldest first, and never a
    /// bound one. The owner of `mine`, which is the caller, then holds them.
    pub(crate) fn steal(&self, max: usize, mine: &RunQueue) -> Vec<ProcRef> {
        let mut out = Vec::new();
        let mut bits = self.occupied.load(Ordering::Acquire);
        while bits != 0 && out.len() < max {
            self.take_from(bits.trailing_zeros() as usize, max - out.len(), 2, mine, &mut out);
            bits &= bits - 1;
        }
        if out.is_empty() && !self.brought.is_empty() {
            self.steal_brought(mine, &mut out);
        }
        out
    }

    /// Takes at most `max` from one level, as `Ring::take`.
    fn take_from(&self, level: usize, max: usize, share: usize, mine: &RunQueue, out: &mut Vec<ProcRef>) {
        let ring = &self.rings[level];
        let mut entries = [0; 64];
        let mut left = max;
        while left > 0 {
            let count = ring.len().div_ceil(share).min(left).min(entries.len());
            mine.hold(out.len() + count);
            let count = ring.take(count, share, &mut entries);
            mine.hold(out.len() + count);
            // SAFETY: entries are processes.
            out.extend(entries[..count].iter().map(|&entry| unsafe { ProcRef::from_ptr(entry as *mut _) }));
            left -= count;
            if count < entries.len() {
                return;
            }
        }
    }

    /// The owner is busy with something else: takes what was brought to it and is not bound.
    #[cold]
    fn steal_brought(&self, mine: &RunQueue, out: &mut Vec<ProcRef>) {
        let (go, stay): (Vec<_>, Vec<_>) =
            self.brought.take().into_iter().partition(|brought| matches!(brought, Brought::Process(p, _) if !self.is_home_of(*p)));
        for brought in stay {
            self.brought.push(brought);
        }
        mine.hold(out.len() + go.len());
        self.brought_len.fetch_sub(go.len(), Ordering::Release);
        out.extend(go.into_iter().filter_map(|brought| match brought {
            Brought::Process(p, _) => Some(p),
            Brought::Wanted(..) => None,
        }));
    }

    fn is_home_of(&self, p: ProcRef) -> bool {
        home::of(&p) == Some(self.index)
    }

    /// As `len`, without what only the owner may take.
    pub(crate) fn len_for_others(&self) -> usize {
        self.len().saturating_sub(self.own_len.load(Ordering::Relaxed))
    }

    /// Takes the processes bound to this scheduler, which must not run them now.
    ///
    /// # Safety
    /// The calling thread is the owner.
    #[cold]
    // SAFETY: a scheduler that goes offline calls it for its own queue.
    pub(crate) unsafe fn take_bound(&self) -> Vec<ProcRef> {
        // SAFETY: the calling thread is the owner.
        let own = unsafe { &mut *self.own.get() };
        let bound: Vec<ProcRef> = std::mem::take(&mut own.bound).into_iter().flat_map(|(_, queue)| queue).collect();
        self.hold(bound.len());
        self.own_len.store(self.own_len.load(Ordering::Relaxed) - bound.len(), Ordering::Release);
        bound
    }

    /// The number of waiting processes of an Erlang priority that are not bound.
    pub(crate) fn len_of(&self, class: usize) -> usize {
        self.rings[class * CLASS_LEVELS..(class + 1) * CLASS_LEVELS].iter().map(Ring::len).sum()
    }

    /// Takes one process of a class. The owner of `mine`, which is the caller, then holds it.
    pub(crate) fn pull(&self, class: usize, mine: &RunQueue) -> Vec<ProcRef> {
        let mut out = Vec::new();
        for level in class * CLASS_LEVELS..(class + 1) * CLASS_LEVELS {
            if out.is_empty() {
                self.take_from(level, 1, 1, mine, &mut out);
            }
        }
        out
    }

    /// The greatest lengths since the last call.
    pub(crate) fn take_longest(&self) -> [usize; CLASSES] {
        std::array::from_fn(|class| self.longest[class].swap(self.len_of(class), Ordering::Relaxed))
    }
}

/// Thieves may look into the buffer until each of them has passed a quiescent state.
#[cold]
fn free_later(buffer: Retired) {
    qsbr::retire(move || drop(buffer));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The turns that each level has if all the occupied levels always stay occupied.
    fn shares(occupied: u32, turns: usize) -> Vec<(usize, usize)> {
        let mut chooser = Turns::default();
        let mut shares = vec![0; LEVELS];
        for _ in 0..turns {
            let first = occupied.trailing_zeros() as usize;
            let level = if has_others(first, occupied) { chooser.level(first, occupied, |_| 1) } else { first };
            shares[level] += 1;
        }
        shares.into_iter().enumerate().filter(|(_, count)| *count > 0).collect()
    }

    #[test]
    fn levels_of_max_and_high_make_all_others_wait() {
        assert_eq!(shares(1 << 3 | 1 << 15 | 1 << 20, 1000), [(3, 1000)]);
        assert_eq!(shares(1 << 15 | 1 << 16 | 1 << 31, 1000), [(15, 1000)]);
    }

    #[test]
    fn a_low_one_runs_once_while_a_normal_one_runs_eight_times() {
        assert_eq!(shares(1 << NORMAL | 1 << LOW, 900), [(NORMAL, 800), (LOW, 100)]);
    }

    #[test]
    fn levels_from_sixteen_on_do_not_wait_forever() {
        assert_eq!(shares(1 << 18 | 1 << 20 | 1 << 28 | 1 << 31, 65 * 300), [(18, 64 * 300), (20, 100), (28, 100), (31, 100)]);
        // Where normal and low processes share turns, a task between them does not wait for both.
        let with_task = shares(1 << NORMAL | 1 << 24 | 1 << LOW, 9000);
        let of = |level| with_task.iter().find(|share| share.0 == level).map_or(0, |share| share.1);
        assert!(of(24) > 100 && of(LOW) > 900 && of(NORMAL) > 7000, "{with_task:?}");
    }

    #[test]
    fn those_that_come_once_come_in_order() {
        let (mut chooser, mut occupied, mut order) = (Turns::default(), u32::MAX, Vec::new());
        while occupied != 0 {
            let first = occupied.trailing_zeros() as usize;
            let level = if has_others(first, occupied) {
                chooser.level(first, occupied, |level| usize::from(occupied >> level & 1 == 1))
            } else {
                first
            };
            order.push(level);
            occupied &= !(1 << level);
        }
        assert_eq!(order, (0..LEVELS).collect::<Vec<_>>());
    }
}
