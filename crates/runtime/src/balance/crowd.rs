//! More schedulers at work than there are cores.
//!
//! As long as they have the cores for themselves, those beyond the number of cores add nothing but switches between threads, and
//! memory in more pieces: 64 schedulers on 2 cores took 1.23 s for life with 115,000 switches, and take 0.85 s with 11,000 now (two
//! schedulers: 0.78). So while the machine, natives on dirty threads included, uses nearly all that the cores have, only as many
//! stay active as there are cores. That ends when it uses less although somebody is there to look (a native may wait for something),
//! when somebody finds a process that waits for a scheduler which takes none, and when all sleep: a burst reaches everybody.
//! Where other programs have part of the cores all schedulers stay active: by their number Linux shares the cores out.

use super::{COMPACTION, by_utilisation};
use crate::affinity;
use crate::time;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Milliseconds between two looks.
const EVERY_MS: u64 = 5;
/// Those that are to rest hand over what they have when they have a core, which takes them a while.
const SETTLES_MS: u64 = 50;
/// Parts in a hundred of what the cores have: from here on there is a crowd, and up to here there is none any more.
const FULL: u64 = 90;
const FREE: u64 = 70;

/// Schedulers that may be active. Relaxed everywhere, here and below, as `ACTIVE`: numbers to go by. Who sees an older one activates too
/// few or too many until the next check of the balance.
static MOST: AtomicUsize = AtomicUsize::new(usize::MAX);
/// When the next look is due: whoever exchanges it has that look.
static NEXT_MS: AtomicU64 = AtomicU64::new(0);
/// When it began, and how many were active then.
static BEGAN_MS: AtomicU64 = AtomicU64::new(0);
static WERE: AtomicUsize = AtomicUsize::new(0);
/// At the last look: clock and time of the cores, in ns. Nobody waits for it: with a look under way there is no second one.
static LAST: Mutex<(u64, u64)> = Mutex::new((0, 0));

#[derive(PartialEq, Eq, Debug)]
pub(super) enum Change {
    None,
    Begins,
    Ends,
}

/// What follows from `used_ns` of the cores in `ns`.
fn change(ns: u64, used_ns: u64, cores: usize, is_crowded: bool) -> Change {
    if ns > 5 * EVERY_MS * 1_000_000 {
        // Nobody looked for long, or never: it says nothing of now.
        return Change::None;
    }
    let part = used_ns * 100 / (ns * cores as u64).max(1);
    match is_crowded {
        false if part >= FULL => Change::Begins,
        true if part < FREE => Change::Ends,
        _ => Change::None,
    }
}

/// How many may be active.
#[inline]
pub(super) fn most() -> usize {
    MOST.load(Ordering::Relaxed)
}

/// As many may be active as were: how many that was, 0 if it was over already.
pub(super) fn ends() -> usize {
    if most() != usize::MAX && MOST.swap(usize::MAX, Ordering::Relaxed) != usize::MAX { WERE.load(Ordering::Relaxed) } else { 0 }
}

/// Those that rest had the time to hand over what they had.
pub(super) fn is_settled() -> bool {
    time::ticks_ms() >= BEGAN_MS.load(Ordering::Relaxed) + SETTLES_MS
}

/// By a scheduler at work, on a machine with more of them than cores; `now_ms` on the timers' clock.
#[inline]
pub(super) fn look(now_ms: u64, active: usize) -> Change {
    let next = NEXT_MS.load(Ordering::Relaxed);
    if now_ms < next || NEXT_MS.compare_exchange(next, now_ms + EVERY_MS, Ordering::Relaxed, Ordering::Relaxed).is_err() {
        return Change::None;
    }
    let Ok(mut last) = LAST.try_lock() else { return Change::None };
    let now = (time::monotonic_ns() as u64, time::cpu_ns() as u64);
    let (then, used_then) = std::mem::replace(&mut *last, now);
    if !COMPACTION.load(Ordering::Relaxed) || by_utilisation() {
        return Change::None;
    }
    let change = change(now.0.saturating_sub(then).max(1), now.1.saturating_sub(used_then), affinity::processors(), most() != usize::MAX);
    match change {
        Change::Begins if active <= affinity::processors() => return Change::None,
        Change::Begins => {
            BEGAN_MS.store(now_ms, Ordering::Relaxed);
            WERE.store(active, Ordering::Relaxed);
            MOST.store(affinity::processors(), Ordering::Relaxed);
        }
        Change::Ends | Change::None => {}
    }
    change
}

#[cfg(test)]
mod tests {
    use super::{Change, change};

    const MS: u64 = 1_000_000;

    #[test]
    fn a_crowd_is_where_all_cores_are_used() {
        assert_eq!(change(10 * MS, 19 * MS, 2, false), Change::Begins);
        assert_eq!(change(10 * MS, 17 * MS, 2, false), Change::None);
        assert_eq!(change(10 * MS, 17 * MS, 4, false), Change::None);
    }

    #[test]
    fn it_ends_when_a_third_of_them_is_free() {
        assert_eq!(change(10 * MS, 19 * MS, 2, true), Change::None);
        assert_eq!(change(10 * MS, 15 * MS, 2, true), Change::None);
        assert_eq!(change(10 * MS, 13 * MS, 2, true), Change::Ends);
    }

    #[test]
    fn an_old_look_tells_nothing() {
        assert_eq!(change(90 * MS, 180 * MS, 2, false), Change::None);
        assert_eq!(change(90 * MS, 0, 2, true), Change::None);
        assert_eq!(change(u64::MAX, 0, 2, false), Change::None);
    }
}
