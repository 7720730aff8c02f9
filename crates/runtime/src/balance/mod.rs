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
//! - `+sub true`: all are always active, and what `utilisation` says counts unless none waits for work.
//!
//! The period is that of the study, 4,000,000 reductions, divided by the number of schedulers: with many, a period that one of
//! them takes to do as much is too long for the others (seed 000 §3.3.8).

pub mod active;
mod crowd;
pub mod limits;
pub mod paths;
pub mod share;
pub mod utilisation;

use crate::process::ProcRef;
use crate::run_queue::RunQueue;
use crate::{figures, placement, record, sched, time};
use active::{Rise, Seen};
use limits::{CLASSES, History, Queue};
use paths::Path;
pub use share::{Share, WAKE_LIMIT};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use utilisation::Pace;

/// Reductions of a period with one scheduler, and the fewest.
const PERIOD: u64 = 2000 * 2000;
const SHORTEST_PERIOD: u64 = 200 * 2000;

/// Load compaction (`+scl`).
pub static COMPACTION: AtomicBool = AtomicBool::new(true);
/// Balancing by utilisation (`+sub`).
pub static BY_UTILISATION: AtomicBool = AtomicBool::new(false);
static BALANCED: AtomicU64 = AtomicU64::new(0);
/// The number of those online changed since the last check.
static UNBLOCKED: AtomicBool = AtomicBool::new(false);
static SOME_REST: AtomicBool = AtomicBool::new(false);
/// Schedulers that are to work: those with the lowest numbers.
static ACTIVE: AtomicUsize = AtomicUsize::new(usize::MAX);

/// How often the balance was checked.
pub fn balanced() -> u64 {
    BALANCED.load(Ordering::Relaxed)
}

/// Active schedulers among those online.
#[inline]
pub fn active() -> usize {
    // Relaxed: who goes by an older number is one of those that it counted.
    ACTIVE.load(Ordering::Relaxed).min(sched::online())
}

/// How many may be active: see `crowd`.
pub fn most_active() -> usize {
    crowd::most().min(sched::online())
}

/// On a machine with more schedulers than cores, by one that works: whether it is crowded.
pub fn look_at_crowd(now_ms: u64) {
    match crowd::look(now_ms, active()) {
        crowd::Change::Begins => {
            // With a check under way: at the next look.
            let Ok(_one_at_a_time) = KNOWN.try_lock() else { return crowd_ends() };
            let open = open();
            set_active(&open, open.len());
        }
        crowd::Change::Ends => crowd_ends(),
        crowd::Change::None => {}
    }
}

/// As many are active as before it began. Nothing changes if there is none.
pub fn crowd_ends() {
    let were = crowd::ends();
    if were != 0 {
        ACTIVE.fetch_max(were, Ordering::Relaxed);
        tell();
    }
}

/// Online, and not kept for chosen processes.
fn open() -> Vec<usize> {
    (0..sched::online()).filter(|&scheduler| !placement::is_closed(scheduler)).collect()
}

/// The first `wanted` of `open` are to be active, or as many as may be. Whether those are all.
fn set_active(open: &[usize], wanted: usize) -> bool {
    let next = wanted.min(crowd::most());
    let all = next == open.len();
    ACTIVE.store(if all { sched::online() } else { open[next - 1] + 1 }, Ordering::Relaxed);
    tell();
    if !all {
        compact(open, next);
    }
    all
}

/// An inactive scheduler was woken: it and those before it are active.
pub fn activate(index: usize) {
    if index >= crowd::most() {
        if !crowd::is_settled() {
            return;
        }
        crowd_ends();
    }
    ACTIVE.fetch_max(index + 1, Ordering::Relaxed);
    tell();
}

/// The number of online schedulers changed, or scheduling was blocked: all are active until the next check.
pub fn reset() {
    UNBLOCKED.store(true, Ordering::Relaxed);
    crowd::ends();
    ACTIVE.store(usize::MAX, Ordering::Relaxed);
    tell();
    for scheduler in 0..sched::count() {
        sched::share(scheduler).set([Path::Stay; CLASSES], [0; CLASSES], 0, 1);
    }
}

/// After a change of who is online, active or closed: each scheduler finds in its share whether it is to take work.
#[cold]
pub fn tell() {
    /// How many were active when it was told last.
    static TOLD: Mutex<usize> = Mutex::new(usize::MAX);
    // One after the other: who comes last has seen all changes.
    let mut told = TOLD.lock().unwrap();
    // Else nobody would take what nobody has, nor check the balance: those that are active may all have been closed.
    if let Some(first) = (0..sched::online()).find(|&scheduler| !placement::is_closed(scheduler)) {
        ACTIVE.fetch_max(first + 1, Ordering::Relaxed);
    }
    for scheduler in 0..sched::count() {
        sched::share(scheduler).set_rests(scheduler >= active() || placement::is_closed(scheduler));
    }
    let active = active();
    let some_rest = active < sched::online();
    SOME_REST.store(some_rest, Ordering::Relaxed);
    if std::mem::replace(&mut *told, active) != active && some_rest {
        // From now on it is the one that comes to help.
        sched::have_look(active);
    }
}

/// Whether some of those online are not active.
#[inline(always)]
pub fn some_rest() -> bool {
    // Relaxed: who sees the older answer asks again after the next slice.
    SOME_REST.load(Ordering::Relaxed)
}

fn period() -> u64 {
    (PERIOD / sched::online().max(1) as u64).max(SHORTEST_PERIOD)
}

/// One process of each class for which there is a path, while it is shorter here than it should be and longer there.
#[cold]
pub fn pull(index: usize) {
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

/// The calling scheduler takes so many from this one or gives them to it.
fn moved(partner: usize, count: usize) {
    if count > 0 {
        figures::count(|mine| mine.migrations.add(count as u64));
        record::event(record::Event::Migrate(partner, count));
    }
}

/// The calling scheduler puts what it took on its own queue.
fn keep(mine: &RunQueue, taken: Vec<ProcRef>) {
    for p in taken {
        // SAFETY: who pulls is the thread that owns the queue.
        unsafe { mine.push(p, p.state.load().queue_level()) };
    }
    mine.hold(0);
}

/// A scheduler that is not to work gives away what is not bound to it.
#[cold]
pub fn hand_over(index: usize) {
    let queue = sched::queue(index);
    if index >= sched::online() && !queue.is_empty() {
        // SAFETY: the caller is its scheduler.
        for p in unsafe { queue.take_bound() } {
            sched::enqueue(p);
        }
        queue.hold(0);
    }
    // It may be to work again meanwhile: then what it gives away could be its own. So it would be where all others that work are closed.
    while !queue.is_empty() && !sched::takes_work(index) && (0..active().max(1)).any(|to| placement::instead_of(to) != index) {
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
    utilisation: Utilisation,
}

static KNOWN: Mutex<Option<Known>> = Mutex::new(None);

/// Half a period of the calling scheduler is over.
#[cold]
pub fn check(index: usize) {
    let Ok(mut known) = KNOWN.try_lock() else { return };
    let known = known.get_or_insert_with(Known::default);
    if known.checker != index && !sched::share(known.checker).waited() && !placement::is_closed(known.checker) {
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
    // By their places in this list, from here on.
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
    let seen = Seen {
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
    let next = if COMPACTION.load(Ordering::Relaxed) { active::next(&seen, &mut known.rise) } else { open.len() };
    known.active_then = next.min(crowd::most());
    if !set_active(&open, next) {
        return;
    }
    if !by_utilisation() || queues.iter().all(|queue| !queue.waited) {
        even_out(&open, &queues);
    }
}

/// Whether all are to work the same part of the time, also while there is not enough to do for all.
#[inline(always)]
pub fn by_utilisation() -> bool {
    // Relaxed: set before there are schedulers.
    BY_UTILISATION.load(Ordering::Relaxed)
}

/// What is known of how long each worked.
#[derive(Default)]
struct Utilisation {
    looked_ns: u64,
    worked_ns: Vec<u64>,
    pace: Vec<Pace>,
}

/// The calling scheduler begins or ends its work.
#[inline]
pub fn set_busy(index: usize, busy: bool) {
    if by_utilisation() {
        sched::share(index).work.set_busy(busy, time::monotonic_ns() as u64);
    }
}

/// By a scheduler with work, about once in `utilisation::PERIOD_MS`: sets paths from those that worked more than the others.
#[cold]
pub fn check_utilisation() {
    let Ok(mut known) = KNOWN.try_lock() else { return };
    let known = &mut known.get_or_insert_with(Known::default).utilisation;
    let now = time::monotonic_ns() as u64;
    let period = now - known.looked_ns;
    // Each scheduler comes by; with one of them there is nothing to balance.
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
    // All have enough to do: then lengths of queues count (`even_out`), and its paths stay.
    let all_work = parts.iter().all(|&part| part == 1000);
    for (&scheduler, path) in open.iter().zip(utilisation::paths(&parts)) {
        if all_work && !known.pace[scheduler].gives() {
            continue;
        }
        let moves = known.pace[scheduler].next(matches!(path, Path::Push(_)));
        sched::share(scheduler).set([path.of(&open); CLASSES], [0; CLASSES], 0, moves);
    }
}

/// Those that are not active push what comes to them.
fn compact(open: &[usize], active: usize) {
    for (place, &scheduler) in open.iter().enumerate() {
        sched::share(scheduler).compact(paths::under_load(place, active).of(open));
    }
}

/// Limits and paths for each class.
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
