//! Limits the share of the time that collections take which programs request.
//!
//! With private heaps `garbage_collect` costs the caller the time to copy its own heap. Here it is a major collection of the heap that all
//! processes share. Programs call it often and take it for cheap: after each request that they served, or for each process in turn. With
//! 100 MB alive a major collection takes tens of milliseconds, and no other process runs meanwhile. So requested collections have a budget:
//! a share of the time, and an advance that is more than an occasional caller needs. A caller over the budget gets a minor collection at
//! once; the major one follows at a later safepoint of that process, or when the node is about to sleep (`idle`).

use crate::base::time::monotonic_ns;
use heddle_abi::settings::SETTINGS;
use std::sync::atomic::{AtomicI64, Ordering};

/// The advance: time that may be used before any was earned. Enough for some fifty collections while 1 MB is alive.
const BEFOREHAND_NS: i64 = 100_000_000;

/// The time at which the time used so far will be earned, by the monotonic clock. Relaxed: written while the world is stopped.
static EARNED_AT: AtomicI64 = AtomicI64::new(i64::MIN);

fn percent() -> i64 {
    SETTINGS.requested_collections_percent.get() as i64
}

/// True if the budget allows another requested collection.
pub(super) fn has_time() -> bool {
    let percent = percent();
    percent >= 100 || is_enough(EARNED_AT.load(Ordering::Relaxed), monotonic_ns(), percent)
}

/// A requested collection took `ns`. Requests come from programs, from the purge of code, and from schedulers before the node sleeps.
pub(super) fn took(ns: u64) {
    let earned_at = EARNED_AT.load(Ordering::Relaxed);
    EARNED_AT.store(spend(earned_at, monotonic_ns(), ns as i64, percent()), Ordering::Relaxed);
}

fn is_enough(earned_at: i64, now: i64, percent: i64) -> bool {
    earned_at <= now + earning(BEFOREHAND_NS, percent)
}

fn spend(earned_at: i64, now: i64, ns: i64, percent: i64) -> i64 {
    earned_at.max(now) + earning(ns, percent)
}

/// Time in ns that it takes to earn `ns` of the budget.
fn earning(ns: i64, percent: i64) -> i64 {
    ns / percent.max(1) * 100
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Number of collections of `ns` each that run within `whole_ns`, when one is requested every microsecond.
    fn collections(ns: i64, whole_ns: i64) -> i64 {
        let (mut now, mut earned_at, mut count) = (0, i64::MIN, 0);
        while now < whole_ns {
            if is_enough(earned_at, now, 25) {
                now += ns;
                earned_at = spend(earned_at, now, ns, 25);
                count += 1;
            }
            now += 1000;
        }
        count
    }

    #[test]
    fn what_is_asked_for_takes_its_part_of_the_time() {
        const SECOND: i64 = 1_000_000_000;
        // A hundred collections of a millisecond run at once, then one every four milliseconds.
        let short = collections(1_000_000, 100_000_000);
        assert!(short >= 99, "{short}");
        let short = collections(1_000_000, 10 * SECOND);
        assert!((2500..2700).contains(&short), "{short}");
        // Long ones: the first is never refused, and the next runs after four times its duration.
        let long = collections(2 * SECOND, 100 * SECOND);
        assert!((10..=11).contains(&long), "{long}");
        assert!(is_enough(i64::MIN, i64::MIN / 2, 25));
    }
}
