//! Limits the words that processes may be given in the young generation (the nursery) before a minor collection is due.
//!
//! Each thread counts for itself and reports the sum now and then. The limit follows the pause target (`+hpause`). Most of a minor
//! collection is copying live objects, and the less often one runs, the smaller the share of new objects that are still alive.

use super::safepoint;
use crate::base::{affinity, cycles};
use crate::sched;
use heddle_abi::settings::SETTINGS;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// A thread reports what it counted after this many words.
const STEP_WORDS: usize = 4096;

static GIVEN_WORDS: AtomicUsize = AtomicUsize::new(0);
static COPIED_WORDS: AtomicUsize = AtomicUsize::new(0);
static LIMIT_WORDS: AtomicUsize = AtomicUsize::new(FIRST_WORDS);

/// The first limit: as much as the second-level cache of a core holds (512 KiB). The next two are the bounds of the limit.
const FIRST_WORDS: usize = 64 * 1024;
const MIN_WORDS: usize = 32 * 1024;
const MAX_WORDS: usize = 4 * 1024 * 1024;
/// The limit is at most one part in `PART` of the old generation, unless that is less than the first limit.
const PART: usize = 4;
/// The limit grows while minor collections take more than one part in `WORTH_ONE_IN` of the time, and shrinks back while they take less
/// than half of that: a nursery larger than the cache costs memory, and time as well.
const WORTH_ONE_IN: u64 = 12;

/// Maximum size to which a process' block grows with use. Larger blocks are filled too seldom to matter, and smaller ones suit the cache.
const MAX_BLOCK_WORDS: usize = 8 * 1024;

/// The share of the limit for each process that worked since the last collection, in words.
static SHARE_WORDS: AtomicUsize = AtomicUsize::new(MAX_BLOCK_WORDS);

/// Maximum size of a process' block, so that the blocks of all working processes together are no more than the limit.
pub(super) fn share_words() -> usize {
    SHARE_WORDS.load(Ordering::Relaxed)
}

/// Sets the share of each process. `processes` of them worked since the last collection. The world is stopped.
pub(super) fn worked(processes: usize) {
    let share = LIMIT_WORDS.load(Ordering::Relaxed) / processes.max(1);
    SHARE_WORDS.store(share.min(MAX_BLOCK_WORDS), Ordering::Relaxed);
}

/// The nursery may be this large, however little is alive, where collections cost mostly the wait for the threads to stop, as with many
/// more threads than cores.
const MAX_WAITED_FOR_WORDS: usize = 1024 * 1024;
/// Minimum wait in ns for that: two schedulers that have a core each stop within a slice.
const WAITED_NS: u64 = 500_000;

/// The end of the last collection, and the first request since then, both by `cycles`.
static LAST: AtomicU64 = AtomicU64::new(0);
static REQUESTED: AtomicU64 = AtomicU64::new(0);

/// Notes the time of the first request for a collection.
pub(super) fn requested() {
    REQUESTED.store(cycles::now(), Ordering::Relaxed);
}

/// Time from the first request until `now`, both by `cycles`.
pub(super) fn since_request(now: u64) -> u64 {
    now.wrapping_sub(REQUESTED.load(Ordering::Relaxed))
}

/// Counts `words` that a process got, and requests a minor collection at the limit.
#[inline]
pub(super) fn took(words: usize) {
    let line = safepoint::mine();
    // Relaxed: the counter is the thread's own.
    let unreported = line.unreported_words.load(Ordering::Relaxed) + words;
    if unreported < STEP_WORDS {
        return line.unreported_words.store(unreported, Ordering::Relaxed);
    }
    line.unreported_words.store(0, Ordering::Relaxed);
    // Relaxed: the count only decides when to request a collection.
    if GIVEN_WORDS.fetch_add(unreported, Ordering::Relaxed) + unreported >= LIMIT_WORDS.load(Ordering::Relaxed) {
        safepoint::request(safepoint::MINOR);
    }
}

/// Words that the last minor collection copied.
pub(super) fn copied_last() -> usize {
    COPIED_WORDS.load(Ordering::Relaxed)
}

/// A collection is over that began at `began` (by `cycles`) and copied `copied_words`. The old generation has `old_words` now. After a
/// minor one the limit is adapted.
pub(super) fn collected(is_minor: bool, began: u64, copied_words: usize, old_words: usize) {
    GIVEN_WORDS.store(0, Ordering::Relaxed);
    let now = cycles::now();
    let last = LAST.swap(now, Ordering::Relaxed);
    if !is_minor {
        return;
    }
    COPIED_WORDS.store(copied_words, Ordering::Relaxed);
    let limit = LIMIT_WORDS.load(Ordering::Relaxed);
    let requested = REQUESTED.load(Ordering::Relaxed);
    let [pause, cost, since] = [now.wrapping_sub(began), now.wrapping_sub(requested), requested.wrapping_sub(last)].map(cycles::to_ns);
    let next = next_limit(limit, pause, cost, since, SETTINGS.pause_us.get() as u64 * 1000);
    let cores = sched::count().clamp(1, affinity::processors());
    LIMIT_WORDS.store(next.min(max_words(old_words, cores, pause, cost)), Ordering::Relaxed);
}

/// Maximum of the limit. It stays small relative to the live words, or it would be most of the memory, unless collections mostly wait for
/// threads. It is at least one second-level cache for each of `cores`. Times in ns.
fn max_words(old_words: usize, cores: usize, pause: u64, cost: u64) -> usize {
    let is_waited_for = cost > 2 * pause && cost > WAITED_NS;
    let caches = cores * FIRST_WORDS;
    (old_words / PART).max(if is_waited_for { caches.max(MAX_WAITED_FOR_WORDS) } else { caches })
}

/// The next limit, from the pause, the cost (the pause and the time until all threads had stopped), and the time since the previous
/// collection, all in one unit.
fn next_limit(limit: usize, pause: u64, cost: u64, since: u64, target: u64) -> usize {
    let next = if pause > target {
        limit * 3 / 4
    } else if cost * WORTH_ONE_IN > since && pause * 2 < target {
        limit * 5 / 4
    } else if cost * WORTH_ONE_IN * 2 < since && limit > FIRST_WORDS {
        limit * 15 / 16
    } else {
        limit
    };
    next.clamp(MIN_WORDS, MAX_WORDS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nursery_is_large_beside_little_that_lives_only_where_threads_are_waited_for() {
        assert_eq!(max_words(0, 1, 200_000, 250_000), FIRST_WORDS);
        assert_eq!(max_words(0, 3, 200_000, 250_000), 3 * FIRST_WORDS);
        assert_eq!(max_words(100 * FIRST_WORDS, 1, 200_000, 250_000), 100 * FIRST_WORDS / PART);
        // Four fifths of the cost are waiting. A wait of a part of a slice does not count.
        assert_eq!(max_words(0, 1, 200_000, 1_000_000), MAX_WAITED_FOR_WORDS);
        assert_eq!(max_words(0, 1, 20_000, WAITED_NS), FIRST_WORDS);
        assert_eq!(max_words(0, 1, 600_000, 1_000_000), FIRST_WORDS);
    }

    #[test]
    fn the_limit_follows_the_pause_target_and_does_not_grow_for_nothing() {
        let next = |limit, pause, since| next_limit(limit, pause, pause, since, 1000);
        // Pauses of half the target, which take half the time: the limit may not grow, as the pauses would come too near the target.
        assert_eq!(next(100_000, 500, 500), 100_000);
        assert_eq!(next(100_000, 1001, 1 << 40), 75_000);
        assert_eq!(next(100_000, 100, 1000), 125_000);
        // Rare and short: the limit shrinks to the first one.
        assert_eq!(next(160_000, 100, 1 << 20), 150_000);
        assert_eq!(next(FIRST_WORDS, 100, 1 << 20), FIRST_WORDS);
        // Rare and short, but the threads are waited for: the limit grows.
        assert_eq!(next_limit(160_000, 100, 100_000, 1 << 20, 1000), 200_000);
        // The limit stays within its bounds.
        assert_eq!((0..100).fold(FIRST_WORDS, |limit, _| next(limit, 2000, 2000)), MIN_WORDS);
        assert_eq!((0..100).fold(FIRST_WORDS, |limit, _| next(limit, 10, 10)), MAX_WORDS);
    }
}
