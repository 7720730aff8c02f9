//! What nobody refers to any more is not found by itself. As long as the machine works its allocations lead to collections; when it
//! is about to sleep, and much died since the last major one, it runs one first.

use super::pieces::Old;
use super::world;
use crate::time;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};

/// Not more often; and a major collection may take this part of the time.
const EVERY_MS: i64 = 1000;
const ONE_IN: i64 = 30;
/// Worth a collection: 128 KiB, and one of so many words of what lives.
const LEAST_WORDS: usize = 16 * 1024;
const PART: usize = 16;

/// Words that processes had which ended since the last major collection.
static DEAD_WORDS: AtomicUsize = AtomicUsize::new(0);
/// What lived then.
static LIVE_WORDS: AtomicUsize = AtomicUsize::new(0);
/// Much was promoted since: some of it will be dead. Or somebody asked for a major one, and was put off.
static IS_DUE: AtomicBool = AtomicBool::new(false);
static NEXT_MS: AtomicI64 = AtomicI64::new(0);

/// A process ended that had so many words.
pub(super) fn died(words: usize) {
    if words >= LEAST_WORDS / 64 {
        DEAD_WORDS.fetch_add(words, Ordering::Relaxed);
    }
}

pub(super) fn collected(old: &Old, is_major: bool, pause_us: usize) {
    if is_major {
        DEAD_WORDS.store(0, Ordering::Relaxed);
        LIVE_WORDS.store(old.words, Ordering::Relaxed);
        IS_DUE.store(false, Ordering::Relaxed);
        NEXT_MS.store(time::ticks_ms() as i64 + EVERY_MS.max(pause_us as i64 * ONE_IN / 1000), Ordering::Relaxed);
        return;
    }
    let grown = |now: usize, then: usize| now - then.min(now) >= LEAST_WORDS.max(then / PART);
    if grown(old.words, old.words_at_major) || grown(old.off_heap.virtual_words, old.virtual_words_at_major) {
        IS_DUE.store(true, Ordering::Relaxed);
    }
}

/// A major collection was asked for, and there was no time (`asked`).
pub(super) fn owes() {
    IS_DUE.store(true, Ordering::Relaxed);
}

/// In how many ms it is worth while; None: not as things are.
fn due_ms() -> Option<i64> {
    let much = LEAST_WORDS.max(LIVE_WORDS.load(Ordering::Relaxed) / PART);
    let is_worth_it = IS_DUE.load(Ordering::Relaxed) || DEAD_WORDS.load(Ordering::Relaxed) >= much;
    is_worth_it.then(|| (NEXT_MS.load(Ordering::Relaxed) - time::ticks_ms() as i64).max(0))
}

/// A scheduler, between two processes, has nothing to do, and no other has. How long it may sleep, of `wait_ms`; 0: not now, as a
/// collection ran.
pub(crate) fn before_sleep(wait_ms: u64) -> u64 {
    match due_ms() {
        None => wait_ms,
        Some(0) => {
            world::ask(world::MAJOR);
            world::come_in();
            0
        }
        Some(ms) => wait_ms.min(ms as u64),
    }
}
