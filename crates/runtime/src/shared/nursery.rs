//! How much the processes may be given of the young generation before a minor collection is due.
//!
//! Threads count for themselves, and tell now and then. The limit follows the pause target (`+hpause`): what a minor collection
//! takes is mostly to copy what lives, and the less often one comes the less lives of what was made.

use super::world;
use crate::cycles;
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

/// When the last collection was over, by `cycles`.
static LAST: AtomicU64 = AtomicU64::new(0);

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

pub fn limit_words() -> usize {
    LIMIT_WORDS.load(Ordering::Relaxed)
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
    let (pause, since) = (cycles::to_ns(now.wrapping_sub(began)), cycles::to_ns(began.wrapping_sub(last)));
    let next = next_limit(limit, pause, since, PAUSE_US.load(Ordering::Relaxed) as u64 * 1000);
    // It stays small beside what lives: else it is most of the memory.
    let next = next.min((old_words / PART).max(FIRST_WORDS));
    LIMIT_WORDS.store(next, Ordering::Relaxed);
}

/// By how long the pause was, and the time since the one before, in one unit.
fn next_limit(limit: usize, pause: u64, since: u64, target: u64) -> usize {
    let next = if pause > target {
        limit * 3 / 4
    } else if pause * WORTH_ONE_IN > since && pause * 2 < target {
        limit * 5 / 4
    } else if pause * WORTH_ONE_IN * 2 < since && limit > FIRST_WORDS {
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
    fn the_limit_follows_the_pause_target_and_does_not_grow_for_nothing() {
        // Pauses of half the target, which take half the time: it may not grow, as it would come too near.
        assert_eq!(next_limit(100_000, 500, 500, 1000), 100_000);
        assert_eq!(next_limit(100_000, 1001, 1 << 40, 1000), 75_000);
        assert_eq!(next_limit(100_000, 100, 1000, 1000), 125_000);
        // Rare and short.
        assert_eq!(next_limit(160_000, 100, 1 << 20, 1000), 150_000);
        assert_eq!(next_limit(FIRST_WORDS, 100, 1 << 20, 1000), FIRST_WORDS);
        // Whatever happens.
        assert_eq!((0..100).fold(FIRST_WORDS, |limit, _| next_limit(limit, 2000, 2000, 1000)), LEAST_WORDS);
        assert_eq!((0..100).fold(FIRST_WORDS, |limit, _| next_limit(limit, 10, 10, 1000)), MOST_WORDS);
    }
}
