//! What one scheduler reports to the balance for a period, and what the balance decides for it for the next.
//!
//! The owner writes its reductions, and if it waited, with plain loads and stores to cache lines of its own. The check of the balance reads
//! and resets those, and writes limits and paths, which the owner reads when it queues a process and between processes. Nothing here is
//! exact: a path that is read while it is replaced leads to a scheduler that was a target a moment ago.

use super::limits::CLASSES;
use super::paths::Path;
use super::utilisation::WorkedTime;
use crate::base::level::Priority;
use crate::observe::{figures, record};
use crate::sched::home::active;
use heddle_abi::settings::SETTINGS;
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU32, AtomicU64, Ordering};

/// It should not take work: it is not online, not active, or closed to all but the processes pinned to it.
const RESTS: u32 = 1 << 31;
/// It takes turns with the other schedulers at running processes (`blocking`).
const TURNS: u32 = 1 << 30;
/// Its time is accounted by state (`msacc`).
const ACCOUNTS: u32 = 1 << 29;
const ALL: u32 = (1 << CLASSES) - 1;

#[derive(Default)]
#[repr(align(128))]
pub struct Share {
    /// Reductions by class. Written by the scheduler.
    reductions: [AtomicU64; CLASSES],
    /// It waited for work in this period. The next field: in this half of it.
    waited: AtomicBool,
    waited_in_half: AtomicBool,
    /// What the scheduler must do between two processes, mostly nothing: a bit for each class that it pulls from its partner, and RESTS,
    /// TURNS, ACCOUNTS.
    duties: AtomicU32,
    /// A bit for each class that it pushes. The next field: of these, the ones that it continues to push.
    pushes: AtomicU32,
    evacuates: AtomicU32,
    /// It pushes because it is not active, and stops when it is active again.
    is_compacted: AtomicBool,
    partner: [AtomicU16; CLASSES],
    limit: [AtomicU32; CLASSES],
    /// Number of processes of a class that it pushes before it stops, unless it continues.
    moves: [AtomicU32; CLASSES],
    /// For the balance by utilisation.
    pub work: WorkedTime,
    /// Used by the scheduler alone.
    pub pressure: Pressure,
}

/// The calling scheduler takes `count` processes from `partner`, or gives them to it.
pub(super) fn moved(partner: usize, count: usize) {
    if count > 0 {
        figures::count(|mine| mine.migrations.add(count as u64));
        record::event(record::RecordedEvent::Migrate(partner, count));
    }
}

impl Share {
    /// Called by the scheduler: a process of this priority used `reductions`.
    #[inline(always)]
    pub(crate) fn used(&self, priority: Priority, reductions: u64) {
        let sum = &self.reductions[priority as usize];
        sum.store(sum.load(Ordering::Relaxed) + reductions, Ordering::Relaxed);
    }

    /// Called by the scheduler: it has nothing to do.
    pub(crate) fn waits(&self) {
        self.waited.store(true, Ordering::Relaxed);
        self.waited_in_half.store(true, Ordering::Relaxed);
    }

    /// For the check: reductions by class since the scheduler started.
    pub(super) fn reductions(&self) -> [u64; CLASSES] {
        std::array::from_fn(|class| self.reductions[class].load(Ordering::Relaxed))
    }

    /// True if it waited in this period.
    pub(super) fn waited(&self) -> bool {
        self.waited.load(Ordering::Relaxed)
    }

    pub(super) fn half_begins(&self) {
        self.waited_in_half.store(false, Ordering::Relaxed);
    }

    /// Returns if it waited in the period that ends, and if it waited in its second half.
    pub(super) fn period_ends(&self) -> (bool, bool) {
        (self.waited.swap(false, Ordering::Relaxed), self.waited_in_half.swap(false, Ordering::Relaxed))
    }

    /// It becomes inactive and gives everything to the partner; or it is active and keeps what it has.
    pub(super) fn compact(&self, path: Path) {
        let gives = matches!(path, Path::Push(_));
        self.set([path; CLASSES], [0; CLASSES], if gives { ALL } else { 0 }, 1);
        self.is_compacted.store(gives, Ordering::Relaxed);
    }

    /// `moves`: the number of processes of each class that it pushes in the period, unless it evacuates the class.
    pub(super) fn set(&self, paths: [Path; CLASSES], limits: [usize; CLASSES], evacuates: u32, moves: u32) {
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
            self.moves[class].store(moves, Ordering::Relaxed);
        }
        self.is_compacted.store(false, Ordering::Relaxed);
        self.evacuates.store(evacuates, Ordering::Relaxed);
        // Release, paired with the Acquire loads in `next_target` and `pulls`: a reader of the bits sees the partners of these or later
        // paths.
        self.pushes.store(pushes, Ordering::Release);
        self.change_duties(|duties| (duties & !ALL) | pulls);
    }

    /// Called by scheduler `index`, which is about to queue a process. Returns where the process goes instead, if anywhere.
    #[inline(always)]
    pub(crate) fn target(&self, index: usize, priority: Priority) -> Option<usize> {
        if self.pushes.load(Ordering::Relaxed) == 0 { None } else { self.next_target(priority as usize, index < active()) }
    }

    #[cold]
    fn next_target(&self, class: usize, is_active: bool) -> Option<usize> {
        if is_active && self.is_compacted.swap(false, Ordering::Relaxed) {
            self.pushes.store(0, Ordering::Relaxed);
        }
        let bit = 1 << class;
        // Acquire: pairs with `set`.
        let pushes = self.pushes.load(Ordering::Acquire);
        if pushes & bit == 0 {
            return None;
        }
        if self.evacuates.load(Ordering::Relaxed) & bit == 0 {
            // A concurrent check may set both again.
            let left = self.moves[class].load(Ordering::Relaxed).saturating_sub(1);
            self.moves[class].store(left, Ordering::Relaxed);
            if left == 0 {
                self.pushes.fetch_and(!bit, Ordering::Relaxed);
            }
        }
        let to = self.partner(class);
        moved(to, 1);
        Some(to)
    }

    fn change_duties(&self, change: impl Fn(u32) -> u32) {
        // Release: pairs with the Acquire in `pulls`; the partner and the limits are seen.
        let _ = self.duties.fetch_update(Ordering::Release, Ordering::Relaxed, |duties| Some(change(duties)));
    }

    pub(super) fn set_rests(&self, rests: bool) {
        self.change_duties(|duties| if rests { duties | RESTS } else { duties & !RESTS });
    }

    pub(crate) fn set_takes_turns(&self, takes: bool) {
        self.change_duties(|duties| if takes { duties | TURNS } else { duties & !TURNS });
    }

    /// True if it takes turns.
    pub(crate) fn takes_turns(&self) -> bool {
        self.duties.load(Ordering::Relaxed) & TURNS != 0
    }

    pub(crate) fn set_accounts(&self, accounts: bool) {
        self.change_duties(|duties| if accounts { duties | ACCOUNTS } else { duties & !ACCOUNTS });
    }

    /// The classes that it pulls, as bits.
    pub(super) fn pulls(&self) -> u32 {
        // Acquire: pairs with `set`.
        self.duties.load(Ordering::Acquire) & ALL
    }

    /// There is nothing more to pull. A concurrent check may set the bit again.
    pub(super) fn stop_pulling(&self, class: usize) {
        self.change_duties(|duties| duties & !(1 << class));
    }

    /// True if it should take work. (Relaxed: it may change at any time.)
    #[inline(always)]
    pub(crate) fn takes_work(&self) -> bool {
        self.duties.load(Ordering::Relaxed) & RESTS == 0
    }

    /// True if it should take work and pushes none.
    #[inline(always)]
    pub(crate) fn keeps_work(&self) -> bool {
        self.takes_work() && self.pushes.load(Ordering::Relaxed) == 0
    }

    /// True if it has any duty now.
    #[inline(always)]
    pub(crate) fn has_duties(&self) -> bool {
        self.duties.load(Ordering::Relaxed) != 0
    }

    pub(super) fn partner(&self, class: usize) -> usize {
        self.partner[class].load(Ordering::Relaxed) as usize
    }

    pub(super) fn limit(&self, class: usize) -> usize {
        self.limit[class].load(Ordering::Relaxed) as usize
    }
}

/// The work that waits on a scheduler's queue in addition to one process, summed up over time: enough of it wakes an inactive scheduler.
#[derive(Default)]
pub struct Pressure(AtomicU64);

impl Pressure {
    /// Called after a slice of `reductions`, with `waiting` processes on the queue. True if it is time to wake a scheduler.
    #[inline]
    pub(crate) fn is_high(&self, reductions: u64, waiting: usize) -> bool {
        let before = self.0.load(Ordering::Relaxed);
        let now = if waiting < 2 {
            before.saturating_sub(reductions)
        } else {
            // One more, so that a slice of hardly any reductions counts as well.
            before + (reductions + 1) * (waiting as u64 - 1)
        };
        let is_high = now >= SETTINGS.wake_limit.get() as u64;
        self.0.store(if is_high { 0 } else { now }, Ordering::Relaxed);
        is_high
    }
}

#[cfg(test)]
mod tests {
    use super::{CLASSES, Path, Pressure, SETTINGS, Share};

    #[test]
    fn a_scheduler_that_is_active_again_keeps_its_processes() {
        let share = Share::default();
        share.compact(Path::Push(3));
        assert_eq!(share.next_target(1, false), Some(3));
        assert_eq!(share.next_target(1, false), Some(3));
        assert_eq!(share.next_target(1, true), None);
        assert_eq!(share.next_target(1, false), None, "it stops until the next check");
    }

    #[test]
    fn a_path_between_active_ones_is_for_one_process_of_its_class() {
        let share = Share::default();
        let mut paths = [Path::Stay; CLASSES];
        paths[1] = Path::Push(2);
        share.set(paths, [7; CLASSES], 0, 1);
        assert_eq!(share.next_target(0, true), None);
        assert_eq!(share.next_target(1, true), Some(2));
        assert_eq!(share.next_target(1, true), None);
        share.compact(Path::Push(3));
        share.set(paths, [7; CLASSES], 1 << 1, 1);
        assert_eq!((share.next_target(1, true), share.next_target(1, true)), (Some(2), Some(2)));
    }

    #[test]
    fn a_path_may_be_for_more() {
        let share = Share::default();
        share.set([Path::Push(2); CLASSES], [0; CLASSES], 0, 3);
        let targets: Vec<_> = [1, 1, 2, 1, 1].map(|class| share.next_target(class, true)).into();
        assert_eq!(targets, [Some(2), Some(2), Some(2), Some(2), None]);
    }

    #[test]
    fn many_that_wait_wake_others_soon_and_few_after_a_while() {
        let limit = SETTINGS.wake_limit.get() as u64;
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
