//! Limits the active schedulers under oversubscription: there are more of them than cores, and together they use all cores.
//!
//! As long as the node has the cores for itself, schedulers beyond the number of cores only add switches between threads, and memory in
//! more pieces. So while the node, natives on dirty threads included, uses nearly all that the cores have, only as many schedulers stay
//! active as there are cores. That ends when the node uses less although there is work (a native may wait for something), when a scheduler
//! finds a process that waits for a scheduler which takes none, and when all sleep: then a burst reaches all schedulers. Where other
//! programs use part of the cores all schedulers stay active, because Linux divides the cores by the number of threads.

use crate::base::affinity;
use crate::base::time;
use heddle_abi::settings::SETTINGS;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Milliseconds between two measurements.
const EVERY_MS: u64 = 5;
/// Time that schedulers get to hand over their processes when they become inactive, in ms: they need a core for it first.
const HANDOVER_MS: u64 = 50;
/// Percentages of the cores' time: oversubscription begins from the first on, and ends below the second.
const FULL: u64 = 90;
const FREE: u64 = 70;

/// Maximum number of active schedulers. Relaxed everywhere, here and below, as `ACTIVE`: these numbers are hints. A reader with an old
/// value activates too few or too many schedulers until the next check of the balance.
static MAX_ACTIVE: AtomicUsize = AtomicUsize::new(usize::MAX);
/// When the next measurement is due. The thread that exchanges this value does it.
static NEXT_MS: AtomicU64 = AtomicU64::new(0);
/// When oversubscription began, and the number of active schedulers then.
static BEGAN_MS: AtomicU64 = AtomicU64::new(0);
static WERE: AtomicUsize = AtomicUsize::new(0);
/// Clock and CPU time in ns at the last measurement. No thread waits for the lock: one that finds it taken does not measure.
static LAST: Mutex<(u64, u64)> = Mutex::new((0, 0));

#[derive(PartialEq, Eq, Debug)]
pub(super) enum OversubscriptionChange {
    None,
    Begins,
    Ends,
}

/// The change that follows from the use of `used_ns` of CPU time in `ns`.
fn change(ns: u64, used_ns: u64, cores: usize, is_oversubscribed: bool) -> OversubscriptionChange {
    if ns > 5 * EVERY_MS * 1_000_000 {
        // The last measurement is long ago, or there was none, so the average says nothing about now.
        return OversubscriptionChange::None;
    }
    let part = used_ns * 100 / (ns * cores as u64).max(1);
    match is_oversubscribed {
        false if part >= FULL => OversubscriptionChange::Begins,
        true if part < FREE => OversubscriptionChange::Ends,
        _ => OversubscriptionChange::None,
    }
}

/// Maximum number of active schedulers.
#[inline]
pub(super) fn max_active() -> usize {
    MAX_ACTIVE.load(Ordering::Relaxed)
}

/// Ends oversubscription. Returns how many schedulers were active before it, 0 if there was none.
pub(super) fn end() -> usize {
    if max_active() != usize::MAX && MAX_ACTIVE.swap(usize::MAX, Ordering::Relaxed) != usize::MAX {
        WERE.load(Ordering::Relaxed)
    } else {
        0
    }
}

/// True if the schedulers that became inactive have had the time to hand over their processes.
pub(super) fn has_handed_over() -> bool {
    time::ticks_ms() >= BEGAN_MS.load(Ordering::Relaxed) + HANDOVER_MS
}

/// Measures, if it is time to. Called by a scheduler at work if there are more of them than cores. `now_ms` is on the timers' clock.
#[inline]
pub(super) fn measure(now_ms: u64, active: usize) -> OversubscriptionChange {
    let next = NEXT_MS.load(Ordering::Relaxed);
    if now_ms < next || NEXT_MS.compare_exchange(next, now_ms + EVERY_MS, Ordering::Relaxed, Ordering::Relaxed).is_err() {
        return OversubscriptionChange::None;
    }
    let Ok(mut last) = LAST.try_lock() else { return OversubscriptionChange::None };
    let now = (time::monotonic_ns() as u64, time::cpu_ns() as u64);
    let (then, used_then) = std::mem::replace(&mut *last, now);
    if !SETTINGS.compaction.is_on() || SETTINGS.by_utilisation.is_on() {
        return OversubscriptionChange::None;
    }
    let change =
        change(now.0.saturating_sub(then).max(1), now.1.saturating_sub(used_then), affinity::processors(), max_active() != usize::MAX);
    match change {
        OversubscriptionChange::Begins if active <= affinity::processors() => return OversubscriptionChange::None,
        OversubscriptionChange::Begins => {
            BEGAN_MS.store(now_ms, Ordering::Relaxed);
            WERE.store(active, Ordering::Relaxed);
            MAX_ACTIVE.store(affinity::processors(), Ordering::Relaxed);
        }
        OversubscriptionChange::Ends | OversubscriptionChange::None => {}
    }
    change
}

#[cfg(test)]
mod tests {
    use super::{OversubscriptionChange, change};

    const MS: u64 = 1_000_000;

    #[test]
    fn oversubscription_begins_when_all_cores_are_used() {
        assert_eq!(change(10 * MS, 19 * MS, 2, false), OversubscriptionChange::Begins);
        assert_eq!(change(10 * MS, 17 * MS, 2, false), OversubscriptionChange::None);
        assert_eq!(change(10 * MS, 17 * MS, 4, false), OversubscriptionChange::None);
    }

    #[test]
    fn it_ends_when_a_third_of_them_is_free() {
        assert_eq!(change(10 * MS, 19 * MS, 2, true), OversubscriptionChange::None);
        assert_eq!(change(10 * MS, 15 * MS, 2, true), OversubscriptionChange::None);
        assert_eq!(change(10 * MS, 13 * MS, 2, true), OversubscriptionChange::Ends);
    }

    #[test]
    fn an_old_measurement_changes_nothing() {
        assert_eq!(change(90 * MS, 180 * MS, 2, false), OversubscriptionChange::None);
        assert_eq!(change(90 * MS, 0, 2, true), OversubscriptionChange::None);
        assert_eq!(change(u64::MAX, 0, 2, false), OversubscriptionChange::None);
    }
}
