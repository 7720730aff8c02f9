//! Decides which schedulers work, and moves processes between them, in addition to work stealing. After J. Zhang, "Characterizing the
//! Scalability of Erlang VM on Many-core Processors", 2011, sections 3.3.2 to 3.3.6.
//!
//! Once a period one scheduler checks all of them (`BalanceCheck`): their reductions, the lengths of their queues, and which waited for work. From
//! that `active` computes how many should be active, `limits` how long each queue should be, and `paths` which queue gives processes to
//! which. The results are stored in each scheduler's `Share`, which the scheduler reads between two processes.
//!
//! - Fewer active than online (load compaction): the others give away what they have and sleep. A scheduler with more work than it can do
//!   wakes them again: idle active ones at once, others when enough work has waited long enough (`Pressure`).
//! - All active: queues that were too short pull from those that were too long, one process at a time while limits allow. Those that were
//!   too long push one process. Those that can do nothing for a class, because more urgent processes take all their time, push all
//!   processes of the class.
//! - `+sub true`: all schedulers are always active. The paths of `utilisation` are used, unless no scheduler waits for work.
//!
//! The period is that of the study, 4,000,000 reductions, divided by the number of schedulers: with many, the time that one of them takes
//! for all of it is too long for the others (section 3.3.8).

pub mod active;
pub mod limits;
mod oversubscription;
pub mod paths;
pub mod share;
pub mod utilisation;

use crate::base::time;
use crate::process::ProcRef;
use crate::sched;
pub use crate::sched::home::active;
use crate::sched::home::{self, ACTIVE};
use crate::sched::run_queue::RunQueue;
use active::{PeriodSummary, Rise};
use heddle_abi::settings::SETTINGS;
use limits::{CLASSES, History, Queue};
use paths::Path;
pub use share::Share;
use share::moved;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use utilisation::Pace;

/// Reductions of a period with one scheduler, and the shortest period.
const PERIOD: u64 = 2000 * 2000;
const MIN_PERIOD: u64 = 200 * 2000;

static BALANCED: AtomicU64 = AtomicU64::new(0);
/// The number of online schedulers changed since the last check.
static UNBLOCKED: AtomicBool = AtomicBool::new(false);
static SOME_REST: AtomicBool = AtomicBool::new(false);

/// Number of checks of the balance so far.
pub fn balanced() -> u64 {
    BALANCED.load(Ordering::Relaxed)
}

/// Maximum number of active schedulers: see `oversubscription`.
pub(crate) fn max_active() -> usize {
    oversubscription::max_active().min(sched::online())
}

/// Begins or ends oversubscription. Called by a working scheduler if there are more schedulers than cores.
pub(crate) fn check_oversubscription(now_ms: u64) {
    match oversubscription::measure(now_ms, active()) {
        oversubscription::OversubscriptionChange::Begins => {
            // While a check is under way: at the next measurement.
            let Ok(_one_at_a_time) = KNOWN.try_lock() else { return end_oversubscription() };
            let open = open();
            set_active(&open, open.len());
        }
        oversubscription::OversubscriptionChange::Ends => end_oversubscription(),
        oversubscription::OversubscriptionChange::None => {}
    }
}

/// Ends oversubscription: as many schedulers become active as before it began. Does nothing if there is none.
pub(crate) fn end_oversubscription() {
    let were = oversubscription::end();
    if were != 0 {
        ACTIVE.fetch_max(were, Ordering::Relaxed);
        tell();
    }
}

/// The schedulers that are online and not closed (kept for chosen processes).
fn open() -> Vec<usize> {
    (0..sched::online()).filter(|&scheduler| !home::is_closed(scheduler)).collect()
}

/// Makes the first `wanted` of `open` active, or as many as may be. Returns true if those are all.
fn set_active(open: &[usize], wanted: usize) -> bool {
    let next = wanted.min(oversubscription::max_active());
    let all = next == open.len();
    ACTIVE.store(if all { sched::online() } else { open[next - 1] + 1 }, Ordering::Relaxed);
    tell();
    if !all {
        compact(open, next);
    }
    all
}

/// An inactive scheduler was woken: it becomes active, and so do those before it.
pub(crate) fn activate(index: usize) {
    if index >= oversubscription::max_active() {
        if !oversubscription::has_handed_over() {
            return;
        }
        end_oversubscription();
    }
    ACTIVE.fetch_max(index + 1, Ordering::Relaxed);
    tell();
}

/// The number of online schedulers changed, or multi-scheduling was blocked: all are active until the next check.
pub(crate) fn reset() {
    UNBLOCKED.store(true, Ordering::Relaxed);
    oversubscription::end();
    ACTIVE.store(usize::MAX, Ordering::Relaxed);
    tell();
    for scheduler in 0..sched::count() {
        sched::share(scheduler).set([Path::Stay; CLASSES], [0; CLASSES], 0, 1);
    }
}

/// After a change of which schedulers are online, active or closed: tells each scheduler in its share if it should take work.
#[cold]
pub(crate) fn tell() {
    /// The number of active schedulers at the last call.
    static TOLD: Mutex<usize> = Mutex::new(usize::MAX);
    // One call at a time, so the last one has seen all changes.
    let mut told = TOLD.lock().unwrap();
    // The first open scheduler is always active: all active ones may have been closed, and then none would take unowned processes or check
    // the balance.
    if let Some(first) = (0..sched::online()).find(|&scheduler| !home::is_closed(scheduler)) {
        ACTIVE.fetch_max(first + 1, Ordering::Relaxed);
    }
    for scheduler in 0..sched::count() {
        sched::share(scheduler).set_rests(scheduler >= active() || home::is_closed(scheduler));
    }
    let active = active();
    let some_rest = active < sched::online();
    SOME_REST.store(some_rest, Ordering::Relaxed);
    if std::mem::replace(&mut *told, active) != active && some_rest {
        // The first inactive scheduler is the next one to help.
        sched::have_look(active);
    }
}

/// True if some of the online schedulers are not active.
#[inline(always)]
pub(crate) fn some_rest() -> bool {
    // Relaxed: a scheduler that reads an old answer asks again after the next slice.
    SOME_REST.load(Ordering::Relaxed)
}

fn period() -> u64 {
    (PERIOD / sched::online().max(1) as u64).max(MIN_PERIOD)
}

/// Pulls one process of each class for which there is a path, while the queue here is shorter than its limit and the one there longer.
#[cold]
pub(crate) fn pull(index: usize) {
    let (share, mine) = (sched::share(index), sched::queue(index));
    let pulls = share.pulls();
    for class in (0..CLASSES).filter(|class| pulls & 1 << class != 0) {
        let from = share.partner(class);
        let limit_there = sched::share(from).limit(class);
        let limit_here = share.limit(class);
        let there = sched::queue(from);
        let taken = if mine.len_of(class) < limit_here && there.len_of(class) > limit_there { there.pull(class, mine) } else { Vec::new() };
        if taken.is_empty() {
            share.stop_pulling(class);
        }
        moved(from, taken.len());
        keep(mine, taken);
    }
}

/// The calling scheduler puts what it took on its own queue.
fn keep(mine: &RunQueue, taken: Vec<ProcRef>) {
    for p in taken {
        // SAFETY: the calling thread owns the queue.
        unsafe { mine.push(p, p.state.load().queue_level()) };
    }
    mine.hold(0);
}

/// A scheduler that should not work gives away all processes that are not bound to it.
#[cold]
pub(crate) fn hand_over(index: usize) {
    let queue = sched::queue(index);
    if index >= sched::online() && !queue.is_empty() {
        // SAFETY: the caller is its scheduler.
        for p in unsafe { queue.take_bound() } {
            sched::enqueue(p);
        }
        queue.hold(0);
    }
    // It may have become active again meanwhile. Then its own queue could be a target, as it is when all other working schedulers are
    // closed.
    while !queue.is_empty() && !sched::takes_work(index) && (0..active().max(1)).any(|to| home::instead_of(to) != index) {
        let all = queue.steal(usize::MAX, queue);
        if all.is_empty() {
            return;
        }
        for (i, p) in all.into_iter().enumerate() {
            let to = i % active().max(1);
            moved(to, 1);
            sched::enqueue_at(to, p);
        }
        queue.hold(0);
    }
}

/// When a scheduler next tries to check the balance.
#[derive(Default)]
pub(crate) struct BalanceCheck {
    next: u64,
}

impl BalanceCheck {
    #[inline(always)]
    pub(crate) fn is_due(&mut self, reductions: u64) -> bool {
        if reductions < self.next {
            return false;
        }
        self.next = reductions + period() / 2;
        true
    }
}

/// What one check leaves for the next.
#[derive(Default)]
struct Known {
    /// The scheduler that checks. Another one takes over when that one has waited for work.
    checker: usize,
    is_half: bool,
    active_then: usize,
    rise: Rise,
    /// By scheduler: reductions by class at the last check. The next field: reductions in each period.
    reductions: Vec<[u64; CLASSES]>,
    history: Vec<History>,
    utilisation: Utilisation,
}

static KNOWN: Mutex<Option<Known>> = Mutex::new(None);

/// Called when half a period of the calling scheduler is over. Checks the balance every second time.
#[cold]
pub(crate) fn check(index: usize) {
    let Ok(mut known) = KNOWN.try_lock() else { return };
    let known = known.get_or_insert_with(Known::default);
    if known.checker != index && !sched::share(known.checker).waited() && !home::is_closed(known.checker) {
        return;
    }
    known.checker = index;
    known.is_half = !known.is_half;
    if known.is_half {
        for scheduler in 0..sched::count() {
            sched::share(scheduler).half_begins();
        }
        return;
    }
    BALANCED.fetch_add(1, Ordering::Relaxed);
    let period = period();
    let online = sched::online();
    // From here on schedulers are numbered by their places in this list.
    let open = open();
    known.reductions.resize(sched::count(), [0; CLASSES]);
    known.history.resize_with(sched::count(), || History::new(period));
    let active = active();
    let active_now = open.partition_point(|&scheduler| scheduler < active);
    let (mut queues, mut all, mut half) = (Vec::with_capacity(online), 0, 0);
    for &scheduler in &open {
        let share = sched::share(scheduler);
        let sums = share.reductions();
        let before = std::mem::replace(&mut known.reductions[scheduler], sums);
        let reductions: [u64; CLASSES] = std::array::from_fn(|class| sums[class] - before[class]);
        let (waited, waited_in_half) = share.period_ends();
        half += !waited_in_half as usize;
        let sum = reductions.iter().sum();
        all += sum;
        known.history[scheduler].add(sum, waited, period);
        let longest = sched::queue(scheduler).take_longest();
        queues.push(Queue { waited, reductions, longest, history: known.history[scheduler].clone() });
    }
    let summary = PeriodSummary {
        online: open.len(),
        busy_all_period: queues.iter().filter(|queue| !queue.waited).count(),
        busy_second_half: half,
        active_then: if known.active_then == 0 { active_now } else { known.active_then.min(open.len()) },
        active_now,
        reductions: all,
        period,
        rest: period / 8,
        longest: queues.iter().map(|queue| queue.longest.iter().sum()).max().unwrap_or(0),
        last_in_use: open.iter().rposition(|&scheduler| !sched::queue(scheduler).is_empty()).map_or(0, |last| last + 1),
        unblocked: UNBLOCKED.swap(false, Ordering::Relaxed),
    };
    let next = if SETTINGS.compaction.is_on() { active::next(&summary, &mut known.rise) } else { open.len() };
    known.active_then = next.min(oversubscription::max_active());
    if !set_active(&open, next) {
        return;
    }
    if !by_utilisation() || queues.iter().all(|queue| !queue.waited) {
        even_out(&open, &queues);
    }
}

/// True if all schedulers should work the same share of the time, even while there is not enough work for all.
#[inline(always)]
pub(crate) fn by_utilisation() -> bool {
    SETTINGS.by_utilisation.is_on()
}

/// How long each scheduler worked, for the balance by utilisation.
#[derive(Default)]
struct Utilisation {
    looked_ns: u64,
    worked_ns: Vec<u64>,
    pace: Vec<Pace>,
}

/// The calling scheduler begins or ends its work.
#[inline]
pub(crate) fn set_busy(index: usize, busy: bool) {
    if by_utilisation() {
        sched::share(index).work.set_busy(busy, time::monotonic_ns() as u64);
    }
}

/// Called by a scheduler with work, about once in `utilisation::PERIOD_MS`: sets paths away from the schedulers that worked more than the
/// others.
#[cold]
pub(crate) fn check_utilisation() {
    let Ok(mut known) = KNOWN.try_lock() else { return };
    let known = &mut known.get_or_insert_with(Known::default).utilisation;
    let now = time::monotonic_ns() as u64;
    let period = now - known.looked_ns;
    // Every scheduler calls this; with only one there is nothing to balance.
    if period < utilisation::PERIOD_MS * 1_000_000 * 9 / 10 || sched::online() < 2 {
        return;
    }
    known.looked_ns = now;
    known.worked_ns.resize(sched::count(), 0);
    known.pace.resize_with(sched::count(), Pace::default);
    let open = open();
    let part = |&scheduler: &usize| {
        let worked = sched::share(scheduler).work.ns(now);
        let before = std::mem::replace(&mut known.worked_ns[scheduler], worked);
        utilisation::part(worked.saturating_sub(before), period)
    };
    let parts: Vec<usize> = open.iter().map(part).collect();
    // If all have enough to do, the lengths of queues count (`even_out`), and its paths stay.
    let all_work = parts.iter().all(|&part| part == 1000);
    for (&scheduler, path) in open.iter().zip(utilisation::paths(&parts)) {
        if all_work && !known.pace[scheduler].gives() {
            continue;
        }
        let moves = known.pace[scheduler].next(matches!(path, Path::Push(_)));
        sched::share(scheduler).set([path.of(&open); CLASSES], [0; CLASSES], 0, moves);
    }
}

/// Schedulers that are not active push what comes to them.
fn compact(open: &[usize], active: usize) {
    for (place, &scheduler) in open.iter().enumerate() {
        sched::share(scheduler).compact(paths::under_load(place, active).of(open));
    }
}

/// Sets limits and paths for each class.
fn even_out(open: &[usize], queues: &[Queue]) {
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
    for (&scheduler, ((paths, limits), evacuates)) in open.iter().zip(paths.into_iter().zip(limits).zip(evacuates)) {
        sched::share(scheduler).set(paths.map(|path| path.of(open)), limits, evacuates, 1);
    }
}
