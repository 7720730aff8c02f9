//! Which schedulers work, and which processes move between them besides those that thieves take (seed 000 §3.3.2-3.3.6).
//!
//! Once a period one scheduler looks at all (`Check`): how much they did, how long their queues were, who waited for work. From
//! that `active` says how many are to be active, `limits` how long each queue should be, and `paths` who gives to whom; figures are
//! left in each scheduler's `Share`, where the scheduler finds them between two processes.
//!
//! - Fewer active than online (load compaction): the others give away what they have and sleep. Who has more to do than one can
//!   wakes them again: idle active ones at once, others when enough work waited long enough (`Pressure`).
//! - All active: queues that were too short pull from those that were too long, one process a turn while limits allow; those too
//!   long push one; those that can do nothing for a class, because more urgent processes take all their time, push all of it.
//!
//! The period is that of the study, 4,000,000 reductions, divided by the number of schedulers: with many, a period that one of
//! them takes to do as much is too long for the others (seed 000 §3.3.8).

pub mod active;
pub mod limits;
pub mod paths;

use crate::process::{Priority, ProcRef};
use crate::run_queue::RunQueue;
use crate::sched;
use active::{Rise, Seen};
use limits::{CLASSES, History, Queue};
use paths::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Ordering};

/// Reductions of a period with one scheduler, and the fewest.
const PERIOD: u64 = 2000 * 2000;
const SHORTEST_PERIOD: u64 = 200 * 2000;

/// Load compaction (`+scl`).
pub static COMPACTION: AtomicBool = AtomicBool::new(true);
static BALANCED: AtomicU64 = AtomicU64::new(0);
static MIGRATED: AtomicU64 = AtomicU64::new(0);
/// Schedulers that are to work: those with the lowest numbers.
static ACTIVE: AtomicUsize = AtomicUsize::new(usize::MAX);

/// How often the balance was checked.
pub fn balanced() -> u64 {
    BALANCED.load(Ordering::Relaxed)
}

/// How many processes moved along migration paths.
pub fn migrated() -> u64 {
    MIGRATED.load(Ordering::Relaxed)
}

/// Active schedulers among those online.
#[inline]
pub fn active() -> usize {
    // Relaxed: who goes by an older number is one of those that it counted.
    ACTIVE.load(Ordering::Relaxed).min(sched::online())
}

/// An inactive scheduler was woken: it and those before it are active.
pub fn activate(index: usize) {
    ACTIVE.fetch_max(index + 1, Ordering::Relaxed);
}

/// The number of online schedulers changed, or scheduling was blocked: all are active until the next check.
pub fn reset() {
    ACTIVE.store(usize::MAX, Ordering::Relaxed);
    for scheduler in 0..sched::count() {
        sched::share(scheduler).set([Path::Stay; CLASSES], [0; CLASSES], 0);
    }
}

fn period() -> u64 {
    (PERIOD / sched::online().max(1) as u64).max(SHORTEST_PERIOD)
}

fn class(priority: Priority) -> usize {
    priority as usize
}

/// What one scheduler tells of a period, and is told for the next.
#[derive(Default)]
#[repr(align(128))]
pub struct Share {
    /// Reductions by class: written by the scheduler.
    reductions: [AtomicU64; CLASSES],
    /// It waited for work in this period; in this half.
    waited: AtomicBool,
    waited_in_half: AtomicBool,
    /// Classes, as bits, of which it pulls from its partner, and of which it pushes; of these, the ones that it goes on pushing.
    pulls: AtomicU32,
    pushes: AtomicU32,
    evacuates: AtomicU32,
    partner: [AtomicU16; CLASSES],
    limit: [AtomicU32; CLASSES],
    /// By the scheduler.
    pub pressure: Pressure,
}

impl Share {
    /// By the scheduler: a process of this priority used so many.
    #[inline(always)]
    pub fn used(&self, priority: Priority, reductions: u64) {
        let sum = &self.reductions[class(priority)];
        sum.store(sum.load(Ordering::Relaxed) + reductions, Ordering::Relaxed);
    }

    /// By the scheduler: it has nothing to do.
    pub fn waits(&self) {
        self.waited.store(true, Ordering::Relaxed);
        self.waited_in_half.store(true, Ordering::Relaxed);
    }

    fn set(&self, paths: [Path; CLASSES], limits: [usize; CLASSES], evacuates: u32) {
        let (mut pulls, mut pushes) = (0, 0);
        for (class, path) in paths.into_iter().enumerate() {
            let partner = match path {
                Path::Stay => continue,
                Path::Pull(from) => {
                    pulls |= 1 << class;
                    from
                }
                Path::Push(to) => {
                    pushes |= 1 << class;
                    to
                }
            };
            self.partner[class].store(partner as u16, Ordering::Relaxed);
            self.limit[class].store(limits[class].min(u32::MAX as usize) as u32, Ordering::Relaxed);
        }
        self.evacuates.store(evacuates, Ordering::Relaxed);
        // Release: who sees the bits sees the partners of these or later paths.
        self.pushes.store(pushes, Ordering::Release);
        self.pulls.store(pulls, Ordering::Release);
    }

    /// By the scheduler, about to queue a process: where it goes instead, if anywhere.
    #[inline(always)]
    pub fn target(&self, priority: Priority) -> Option<usize> {
        if self.pushes.load(Ordering::Relaxed) == 0 { None } else { self.next_target(class(priority)) }
    }

    #[cold]
    fn next_target(&self, class: usize) -> Option<usize> {
        let bit = 1 << class;
        // Acquire: pairs with `set`.
        let pushes = self.pushes.load(Ordering::Acquire);
        if pushes & bit == 0 {
            return None;
        }
        if self.evacuates.load(Ordering::Relaxed) & bit == 0 {
            // One in a period. A check at the same time may set it again.
            self.pushes.fetch_and(!bit, Ordering::Relaxed);
        }
        MIGRATED.fetch_add(1, Ordering::Relaxed);
        Some(self.partner[class].load(Ordering::Relaxed) as usize)
    }

    /// Whether `pull` has anything to do.
    #[inline(always)]
    pub fn is_pulling(&self) -> bool {
        self.pulls.load(Ordering::Relaxed) != 0
    }
}

/// One process of each class for which there is a path, while it is shorter here than it should be and longer there.
#[cold]
pub fn pull(index: usize) {
    let (share, mine) = (sched::share(index), sched::queue(index));
    let pulls = share.pulls.load(Ordering::Acquire);
    for class in (0..CLASSES).filter(|class| pulls & 1 << class != 0) {
        let from = share.partner[class].load(Ordering::Relaxed) as usize;
        let limit_there = sched::share(from).limit[class].load(Ordering::Relaxed) as usize;
        let limit_here = share.limit[class].load(Ordering::Relaxed) as usize;
        let there = sched::queue(from);
        let taken = if mine.len_of(class) < limit_here && there.len_of(class) > limit_there { there.pull(class, mine) } else { Vec::new() };
        if taken.is_empty() {
            share.pulls.fetch_and(!(1 << class), Ordering::Relaxed);
        }
        MIGRATED.fetch_add(taken.len() as u64, Ordering::Relaxed);
        keep(mine, taken);
    }
}

/// The calling scheduler puts what it took on its own queue.
fn keep(mine: &RunQueue, taken: Vec<ProcRef>) {
    for p in taken {
        // SAFETY: those who pull run on the thread that owns the queue.
        unsafe { mine.push(p, p.state.load().queue_priority()) };
    }
    mine.hold(0);
}

/// A scheduler that is not to work gives away what is not bound to it.
#[cold]
pub fn hand_over(index: usize) {
    let queue = sched::queue(index);
    while !queue.is_empty() {
        let all = queue.steal(usize::MAX, queue);
        if all.is_empty() {
            return;
        }
        for (i, p) in all.into_iter().enumerate() {
            sched::enqueue_at(i % active().max(1), p);
        }
        queue.hold(0);
    }
}

/// Work that waits on a scheduler's queue behind others, summed up over time: enough of it wakes an inactive scheduler.
#[derive(Default)]
pub struct Pressure(AtomicU64);

/// From ERTS' `+swt`, in reductions times processes that wait behind another one.
pub static WAKE_LIMIT: AtomicU64 = AtomicU64::new(10 * 4000);

impl Pressure {
    /// After a slice of so many reductions, with so many waiting. True if it is time to wake somebody.
    #[inline]
    pub fn is_high(&self, reductions: u64, waiting: usize) -> bool {
        let before = self.0.load(Ordering::Relaxed);
        let now = if waiting < 2 {
            before.saturating_sub(reductions)
        } else {
            // A slice of hardly any reductions counts as well.
            before + (reductions + 1) * (waiting as u64 - 1)
        };
        let is_high = now >= WAKE_LIMIT.load(Ordering::Relaxed);
        self.0.store(if is_high { 0 } else { now }, Ordering::Relaxed);
        is_high
    }
}

/// When a scheduler looks whether it is to check the balance.
#[derive(Default)]
pub struct Check {
    next: u64,
}

impl Check {
    #[inline(always)]
    pub fn is_due(&mut self, reductions: u64) -> bool {
        if reductions < self.next {
            return false;
        }
        self.next = reductions + period() / 2;
        true
    }
}

/// What the checks know from one to the next.
#[derive(Default)]
struct Known {
    /// Who checks. Another one takes over when that one waited for work.
    checker: usize,
    is_half: bool,
    active_then: usize,
    rise: Rise,
    /// By scheduler: reductions by class at the last check, and what was done in each period.
    reductions: Vec<[u64; CLASSES]>,
    history: Vec<History>,
}

static KNOWN: Mutex<Option<Known>> = Mutex::new(None);

/// Half a period of the calling scheduler is over.
#[cold]
pub fn check(index: usize) {
    let Ok(mut known) = KNOWN.try_lock() else { return };
    let known = known.get_or_insert_with(Known::default);
    if known.checker != index && !sched::share(known.checker).waited.load(Ordering::Relaxed) {
        return;
    }
    known.checker = index;
    known.is_half = !known.is_half;
    if known.is_half {
        for scheduler in 0..sched::count() {
            sched::share(scheduler).waited_in_half.store(false, Ordering::Relaxed);
        }
        return;
    }
    BALANCED.fetch_add(1, Ordering::Relaxed);
    let period = period();
    let online = sched::online();
    known.reductions.resize(sched::count(), [0; CLASSES]);
    known.history.resize_with(sched::count(), || History::new(period));
    let active_now = active();
    let (mut queues, mut all, mut half) = (Vec::with_capacity(online), 0, 0);
    for scheduler in 0..online {
        let share = sched::share(scheduler);
        let sums: [u64; CLASSES] = std::array::from_fn(|class| share.reductions[class].load(Ordering::Relaxed));
        let before = std::mem::replace(&mut known.reductions[scheduler], sums);
        let reductions: [u64; CLASSES] = std::array::from_fn(|class| sums[class] - before[class]);
        let waited = share.waited.swap(false, Ordering::Relaxed);
        half += !share.waited_in_half.swap(false, Ordering::Relaxed) as usize;
        let sum = reductions.iter().sum();
        all += sum;
        known.history[scheduler].add(sum, waited, period);
        let longest = sched::queue(scheduler).take_longest();
        queues.push(Queue { waited, reductions, longest, history: known.history[scheduler].clone() });
    }
    let seen = Seen {
        online,
        busy_all_period: queues.iter().filter(|queue| !queue.waited).count(),
        busy_second_half: half,
        active_then: if known.active_then == 0 { active_now } else { known.active_then.min(online) },
        active_now,
        reductions: all,
        period,
        rest: period / 8,
        longest: queues.iter().map(|queue| queue.longest.iter().sum()).max().unwrap_or(0),
        last_in_use: (0..online).rev().find(|&scheduler| !sched::queue(scheduler).is_empty()).map_or(0, |last| last + 1),
        unblocked: false,
    };
    let next = if COMPACTION.load(Ordering::Relaxed) { active::next(&seen, &mut known.rise) } else { online };
    known.active_then = next;
    ACTIVE.store(next, Ordering::Relaxed);
    if next < online { compact(online, next) } else { even_out(&queues) }
}

/// Those that are not active push what comes to them.
fn compact(online: usize, active: usize) {
    const ALL: u32 = (1 << CLASSES) - 1;
    for scheduler in 0..online {
        let path = paths::under_load(scheduler, active);
        sched::share(scheduler).set([path; CLASSES], [0; CLASSES], if path == Path::Stay { 0 } else { ALL });
    }
}

/// Limits and paths for each class.
fn even_out(queues: &[Queue]) {
    let mut paths = vec![[Path::Stay; CLASSES]; queues.len()];
    let mut limits = vec![[0; CLASSES]; queues.len()];
    let mut evacuates = vec![0; queues.len()];
    for class in 0..CLASSES {
        let longest: Vec<usize> = queues.iter().map(|queue| queue.longest[class]).collect();
        if longest.iter().all(|&longest| longest == 0) {
            continue;
        }
        let availability = limits::availability(queues, class);
        let class_limits = limits::limits(queues, class, &availability);
        for (scheduler, path) in paths::full_load(&longest, &class_limits).into_iter().enumerate() {
            paths[scheduler][class] = path;
            limits[scheduler][class] = class_limits[scheduler];
            evacuates[scheduler] |= ((availability[scheduler] == 0.0) as u32) << class;
        }
    }
    for (scheduler, ((paths, limits), evacuates)) in paths.into_iter().zip(limits).zip(evacuates).enumerate() {
        sched::share(scheduler).set(paths, limits, evacuates);
    }
}

#[cfg(test)]
mod tests {
    use super::{Pressure, WAKE_LIMIT};
    use std::sync::atomic::Ordering;

    #[test]
    fn many_that_wait_wake_others_soon_and_few_after_a_while() {
        let limit = WAKE_LIMIT.load(Ordering::Relaxed);
        let slices = |waiting| {
            let pressure = Pressure::default();
            (1..).find(|_| pressure.is_high(4000, waiting))
        };
        assert_eq!(slices(10_000), Some(1));
        assert_eq!(slices(2), Some(limit.div_ceil(4001)));
        let pressure = Pressure::default();
        assert!((0..1000).all(|_| !pressure.is_high(4000, 1)));
    }
}
