//! How much of the time programs may spend on having all collected.
//!
//! With private heaps `garbage_collect` costs who calls it what he has. Here it is a major collection of what all have, and programs
//! call it often, taking it for cheap: behind each request that they served, or for each process in turn. With 100 MB that live each
//! takes 90 ms, and nobody else runs meanwhile. So what is asked for has a part of the time, and something beforehand, which
//! is more than who calls it now and then needs. Who asks for more gets a minor collection at once; the major one follows at a
//! later door of his, or when the machine is about to sleep (`idle`).

use crate::time::monotonic_ns;
use std::sync::atomic::{AtomicI64, Ordering};

/// So much of the time, in percent; with 100 nothing is refused (`+hgcp`).
pub static PERCENT: AtomicI64 = AtomicI64::new(25);
/// What may be spent beforehand: some fifty collections beside 1 MB that lives, which take 1.8 ms each.
const BEFOREHAND_NS: i64 = 100_000_000;

/// When the time that was spent will be earned, by the monotonic clock. Relaxed: written while the world stands still.
static EARNED_AT: AtomicI64 = AtomicI64::new(i64::MIN);

/// Whether there is time for another one.
pub(super) fn has_time() -> bool {
    let percent = PERCENT.load(Ordering::Relaxed);
    percent >= 100 || is_enough(EARNED_AT.load(Ordering::Relaxed), monotonic_ns(), percent)
}

/// One that was asked for took so long: by a program, by who purges code, or before the machine sleeps.
pub(super) fn took(ns: u64) {
    let earned_at = EARNED_AT.load(Ordering::Relaxed);
    EARNED_AT.store(spend(earned_at, monotonic_ns(), ns as i64, PERCENT.load(Ordering::Relaxed)), Ordering::Relaxed);
}

fn is_enough(earned_at: i64, now: i64, percent: i64) -> bool {
    earned_at <= now + earning(BEFOREHAND_NS, percent)
}

fn spend(earned_at: i64, now: i64, ns: i64, percent: i64) -> i64 {
    earned_at.max(now) + earning(ns, percent)
}

/// How long it takes to earn so much time.
fn earning(ns: i64, percent: i64) -> i64 {
    ns / percent.max(1) * 100
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Collections of `ns` each, in `whole_ns` in which one is asked for every microsecond.
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
        // A hundred of a millisecond at once, then one every four.
        let short = collections(1_000_000, 100_000_000);
        assert!(short >= 99, "{short}");
        let short = collections(1_000_000, 10 * SECOND);
        assert!((2500..2700).contains(&short), "{short}");
        // Long ones: the first is never refused, and the next comes when four times as much has passed.
        let long = collections(2 * SECOND, 100 * SECOND);
        assert!((10..=11).contains(&long), "{long}");
        assert!(is_enough(i64::MIN, i64::MIN / 2, 25));
    }
}
