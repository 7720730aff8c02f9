//! Collects before the node sleeps. As long as it works its allocations lead to collections, but garbage that is left when it falls idle
//! would stay. So a scheduler that is about to sleep runs a major collection first if much has died since the last one.

use super::pieces::Old;
use super::safepoint;
use crate::base::time;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};

/// Minimum time between two idle collections. The time also grows with the pause: collections take at most one part in `ONE_IN` of the
/// time.
const EVERY_MS: i64 = 1000;
const ONE_IN: i64 = 30;
/// Garbage is worth a collection from 128 KiB on, and from one part in `PART` of the live words on.
const MIN_WORDS: usize = 16 * 1024;
const PART: usize = 16;

/// Words of the processes that ended since the last major collection.
static DEAD_WORDS: AtomicUsize = AtomicUsize::new(0);
/// Words alive after the last major collection.
static LIVE_WORDS: AtomicUsize = AtomicUsize::new(0);
/// True if much was promoted since the last major collection, so some of it will be dead, or if a requested major collection was deferred.
static IS_DUE: AtomicBool = AtomicBool::new(false);
static NEXT_MS: AtomicI64 = AtomicI64::new(0);

/// A process that had `words` words has ended.
pub(super) fn died(words: usize) {
    if words >= MIN_WORDS / 64 {
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
    let grown = |now: usize, then: usize| now - then.min(now) >= MIN_WORDS.max(then / PART);
    if grown(old.words, old.words_at_major) || grown(old.off_heap.virtual_words, old.virtual_words_at_major) {
        IS_DUE.store(true, Ordering::Relaxed);
    }
}

/// A major collection was requested, and the budget did not allow it (`budget`).
pub(super) fn owes() {
    IS_DUE.store(true, Ordering::Relaxed);
}

/// Milliseconds until a collection is worth while; None if there is not enough garbage.
fn due_ms() -> Option<i64> {
    let much = MIN_WORDS.max(LIVE_WORDS.load(Ordering::Relaxed) / PART);
    let is_worth_it = IS_DUE.load(Ordering::Relaxed) || DEAD_WORDS.load(Ordering::Relaxed) >= much;
    is_worth_it.then(|| (NEXT_MS.load(Ordering::Relaxed) - time::ticks_ms() as i64).max(0))
}

/// A scheduler, between two processes, has nothing to do, and no other scheduler has. Returns how many of `wait_ms` milliseconds it may
/// sleep. Returns 0 if a collection ran: then there may be work.
pub(crate) fn before_sleep(wait_ms: u64) -> u64 {
    match due_ms() {
        None => wait_ms,
        Some(0) => {
            safepoint::request(safepoint::MAJOR);
            safepoint::stop();
            0
        }
        Some(ms) => wait_ms.min(ms as u64),
    }
}
