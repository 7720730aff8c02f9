//! How much the processes may be given of the young generation before a minor collection is due.
//!
//! Threads count for themselves, and tell now and then. The limit follows the pause target (`+hpause`): what a minor collection
//! takes is mostly to copy what lives, and the less often one comes the less lives of what was made.

use super::world;
use crate::{affinity, cycles, sched};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// A thread tells after so many words.
const STEP_WORDS: usize = 4096;

static GIVEN_WORDS: AtomicUsize = AtomicUsize::new(0);
static COPIED_WORDS: AtomicUsize = AtomicUsize::new(0);
static LIMIT_WORDS: AtomicUsize = AtomicUsize::new(FIRST_WORDS);
/// `+hpause`, in microseconds.
pub static PAUSE_US: AtomicUsize = AtomicUsize::new(1000);

/// As much as the second cache of a core holds (512 KiB here), and the bounds between which it moves.
const FIRST_WORDS: usize = 64 * 1024;
const LEAST_WORDS: usize = 32 * 1024;
const MOST_WORDS: usize = 4 * 1024 * 1024;
/// And of the old generation one in so many words at most, unless that is less than at first.
const PART: usize = 4;
/// It grows while minor collections take more than one in so many parts of the time, and shrinks back while they take less than half of
/// that: what is larger than the cache costs memory, and time as well.
const WORTH_ONE_IN: u64 = 12;

/// A process' block grows to this size with use: what is larger is filled too seldom to matter, and what is smaller suits the cache.
const MOST_BLOCK_WORDS: usize = 8 * 1024;

/// What each of those that worked since the last collection may keep of the limit.
static SHARE_WORDS: AtomicUsize = AtomicUsize::new(MOST_BLOCK_WORDS);

/// How large the block of a process should be at most, so that those of all that work are no more than the limit together.
pub(super) fn share_words() -> usize {
    SHARE_WORDS.load(Ordering::Relaxed)
}

/// The world stands still; so many processes worked since the last collection.
pub(super) fn worked(processes: usize) {
    let share = LIMIT_WORDS.load(Ordering::Relaxed) / processes.max(1);
    SHARE_WORDS.store(share.min(MOST_BLOCK_WORDS), Ordering::Relaxed);
}

/// Where most of what a collection costs is to wait for the threads to come in, as with many more of them than cores, the nursery may
/// be this large whatever lives.
const MOST_WAITED_FOR_WORDS: usize = 1024 * 1024;
/// So long at least: two schedulers that have a core each come in within a slice.
const WAITED_NS: u64 = 500_000;

/// When the last collection was over, by `cycles`, and when one was asked for since.
static LAST: AtomicU64 = AtomicU64::new(0);
static ASKED: AtomicU64 = AtomicU64::new(0);

/// The first who wants a collection asks for it now.
pub(super) fn asked() {
    ASKED.store(cycles::now(), Ordering::Relaxed);
}

/// Time until `now` since then, both by `cycles`.
pub(super) fn since_asked(now: u64) -> u64 {
    now.wrapping_sub(ASKED.load(Ordering::Relaxed))
}

/// A process got so many words.
#[inline]
pub(super) fn took(words: usize) {
    let line = world::mine();
    // Relaxed: the thread's own.
    let untold = line.untold_words.load(Ordering::Relaxed) + words;
    if untold < STEP_WORDS {
        return line.untold_words.store(untold, Ordering::Relaxed);
    }
    line.untold_words.store(0, Ordering::Relaxed);
    // Relaxed: it only says when to ask.
    if GIVEN_WORDS.fetch_add(untold, Ordering::Relaxed) + untold >= LIMIT_WORDS.load(Ordering::Relaxed) {
        world::ask(world::MINOR);
    }
}

/// What the last minor collection copied.
pub(super) fn copied_last() -> usize {
    COPIED_WORDS.load(Ordering::Relaxed)
}

/// A collection is over, which began at `began` by `cycles`: a minor one, if `is_minor`, that copied so many words; so many are old now.
pub(super) fn collected(is_minor: bool, began: u64, copied_words: usize, old_words: usize) {
    GIVEN_WORDS.store(0, Ordering::Relaxed);
    let now = cycles::now();
    let last = LAST.swap(now, Ordering::Relaxed);
    if !is_minor {
        return;
    }
    COPIED_WORDS.store(copied_words, Ordering::Relaxed);
    let limit = LIMIT_WORDS.load(Ordering::Relaxed);
    let asked = ASKED.load(Ordering::Relaxed);
    let [pause, cost, since] = [now.wrapping_sub(began), now.wrapping_sub(asked), asked.wrapping_sub(last)].map(cycles::to_ns);
    let next = next_limit(limit, pause, cost, since, PAUSE_US.load(Ordering::Relaxed) as u64 * 1000);
    let cores = sched::count().clamp(1, affinity::processors());
    LIMIT_WORDS.store(next.min(most_words(old_words, cores, pause, cost)), Ordering::Relaxed);
}

/// It stays small beside what lives, else it is most of the memory; unless mostly the threads are waited for. But so many cores have a
/// second cache each: with what suits one of them for both of two, bang had 72 minor collections instead of 50, and procs 1000 100 copied
/// 133 million words instead of 92. Times in ns.
fn most_words(old_words: usize, cores: usize, pause: u64, cost: u64) -> usize {
    let is_waited_for = cost > 2 * pause && cost > WAITED_NS;
    let caches = cores * FIRST_WORDS;
    (old_words / PART).max(if is_waited_for { caches.max(MOST_WAITED_FOR_WORDS) } else { caches })
}

/// By how long the pause was, what it cost with the time until all had come in, and the time since the one before, in one unit.
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
    next.clamp(LEAST_WORDS, MOST_WORDS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nursery_is_large_beside_little_that_lives_only_where_threads_are_waited_for() {
        assert_eq!(most_words(0, 1, 200_000, 250_000), FIRST_WORDS);
        assert_eq!(most_words(0, 3, 200_000, 250_000), 3 * FIRST_WORDS);
        assert_eq!(most_words(100 * FIRST_WORDS, 1, 200_000, 250_000), 100 * FIRST_WORDS / PART);
        // All but a fifth of it is waiting; a part of a slice is nobody's fault.
        assert_eq!(most_words(0, 1, 200_000, 1_000_000), MOST_WAITED_FOR_WORDS);
        assert_eq!(most_words(0, 1, 20_000, WAITED_NS), FIRST_WORDS);
        assert_eq!(most_words(0, 1, 600_000, 1_000_000), FIRST_WORDS);
    }

    #[test]
    fn the_limit_follows_the_pause_target_and_does_not_grow_for_nothing() {
        let next = |limit, pause, since| next_limit(limit, pause, pause, since, 1000);
        // Pauses of half the target, which take half the time: it may not grow, as it would come too near.
        assert_eq!(next(100_000, 500, 500), 100_000);
        assert_eq!(next(100_000, 1001, 1 << 40), 75_000);
        assert_eq!(next(100_000, 100, 1000), 125_000);
        // Rare and short.
        assert_eq!(next(160_000, 100, 1 << 20), 150_000);
        assert_eq!(next(FIRST_WORDS, 100, 1 << 20), FIRST_WORDS);
        // Rare and short, but waited for.
        assert_eq!(next_limit(160_000, 100, 100_000, 1 << 20, 1000), 200_000);
        // Whatever happens.
        assert_eq!((0..100).fold(FIRST_WORDS, |limit, _| next(limit, 2000, 2000)), LEAST_WORDS);
        assert_eq!((0..100).fold(FIRST_WORDS, |limit, _| next(limit, 10, 10)), MOST_WORDS);
    }
}
