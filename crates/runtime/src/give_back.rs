//! Giving memory back to the system after a peak.
//!
//! The allocator gives free areas back when threads allocate, so what an idle machine freed last would stay. Therefore a thread that
//! is about to sleep takes in what others freed of its blocks and gives back what nobody uses: at most once a second, and if it freed
//! something worth it. A thread that sleeps already does not hear of what others free of its blocks, so now and then, if much was
//! freed, all schedulers are woken to do the same (`round`). Dirty and private threads may sleep for hours; so whoever gives back
//! leaves his areas to all, and who frees the last of what he allocated there gives that back, too.

use crate::{blocks, huge_pages, qsbr, sched, shared, time};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

/// What a thread freed before it looks: less is not worth a walk through its areas.
const STEP_BYTES: u64 = 256 << 10;
/// One that may sleep for hours, allocated and freed: it looks behind its work, and what it does not give up then stays as long.
const IDLE_STEP_BYTES: u64 = 64 << 10;
const EVERY_MS: i64 = 1000;
/// What all freed before all are woken.
const ROUND_STEP_BYTES: u64 = 16 << 20;
const ROUND_EVERY_MS: i64 = 2000;

/// How long a thread sleeps at most while it keeps what others may still look at (`qsbr::tidy`).
const GARBAGE_MS: u64 = 10;

/// When the last round was, and what all had freed then.
static ROUND_MS: AtomicI64 = AtomicI64::new(i64::MIN / 2);
static FREED_AT_ROUND: AtomicU64 = AtomicU64::new(0);
/// Somebody sleeps until a round is due: the others need not.
static IS_WAITED_FOR: AtomicBool = AtomicBool::new(false);

struct Last {
    ms: Cell<i64>,
    freed_bytes: Cell<u64>,
    allocated_bytes: Cell<u64>,
    /// This thread waits for the next round.
    waits: Cell<bool>,
    round_ms: Cell<i64>,
}

thread_local! {
    static LAST: Last = const {
        Last {
            ms: Cell::new(i64::MIN / 2),
            freed_bytes: Cell::new(0),
            allocated_bytes: Cell::new(0),
            waits: Cell::new(false),
            round_ms: Cell::new(i64::MIN / 2),
        }
    };
}

fn freed_by_all() -> u64 {
    heddle_memory::rows().fold(0, |sum, row| sum.wrapping_add(row.freed_bytes()))
}

/// What the calling thread freed since it gave back last, with the signals that it keeps, and those that all do (`memory::recent`).
fn freed_since(last: &Last) -> u64 {
    let row = heddle_memory::mine();
    row.freed_bytes().wrapping_sub(last.freed_bytes.get()).wrapping_add((row.recent.bytes() + heddle_memory::common_bytes()) as u64)
}

/// The calling thread is about to sleep for up to so many ms and holds no borrowed pointer. How long it may. `keeps_garbage`: what
/// `qsbr::tidy` said.
pub(crate) fn before_sleep(wait_ms: u64, keeps_garbage: bool) -> u64 {
    let wait_ms = if keeps_garbage { wait_ms.min(GARBAGE_MS) } else { wait_ms };
    LAST.with(|last| {
        let now = time::ticks_ms() as i64;
        let mut wait = wait_ms as i64;
        let round = ROUND_MS.load(Ordering::Relaxed);
        if last.round_ms.replace(round) != round {
            collect(last, now);
        }
        if freed_since(last) >= STEP_BYTES {
            let due = last.ms.get() + EVERY_MS - now;
            if due > 0 {
                wait = wait.min(due);
            } else {
                collect(last, now);
            }
        }
        if freed_by_all().wrapping_sub(FREED_AT_ROUND.load(Ordering::Relaxed)) >= ROUND_STEP_BYTES {
            // After everybody that went to sleep with this one looked at its own.
            let due = (round + ROUND_EVERY_MS).max(last.ms.get() + EVERY_MS) - now;
            if due <= 0 {
                last.waits.set(false);
                IS_WAITED_FOR.store(false, Ordering::Relaxed);
                start_round(last, round, now);
            } else if last.waits.get() || !IS_WAITED_FOR.swap(true, Ordering::Relaxed) {
                last.waits.set(true);
                wait = wait.min(due);
            }
        }
        wait.max(0) as u64
    })
}

/// What a thread does between two waits that sleeps where `before_sleep` is not asked: how long it may wait before it asks again,
/// None for as long as it likes.
pub(crate) fn while_idle(keeps_garbage: bool) -> Option<u64> {
    let wait = LAST.with(|last| {
        let allocated = heddle_memory::mine().allocated_bytes().wrapping_sub(last.allocated_bytes.get());
        if freed_since(last).wrapping_add(allocated) < IDLE_STEP_BYTES {
            return None;
        }
        let now = time::ticks_ms() as i64;
        let due = last.ms.get() + EVERY_MS - now;
        if due > 0 {
            return Some(due as u64);
        }
        collect(last, now);
        None
    });
    if keeps_garbage { Some(wait.unwrap_or(GARBAGE_MS).min(GARBAGE_MS)) } else { wait }
}

fn collect(last: &Last, now: i64) {
    blocks::let_go();
    shared::let_go();
    qsbr::shrink();
    heddle_memory::leave_and_purge();
    let row = heddle_memory::mine();
    last.ms.set(now);
    last.freed_bytes.set(row.freed_bytes());
    last.allocated_bytes.set(row.allocated_bytes());
}

#[cold]
fn start_round(last: &Last, before: i64, now: i64) {
    // Relaxed: who hears of it late does its part later. One of several starts it.
    if ROUND_MS.compare_exchange(before, now, Ordering::Relaxed, Ordering::Relaxed).is_err() {
        return;
    }
    FREED_AT_ROUND.store(freed_by_all(), Ordering::Relaxed);
    last.round_ms.set(now);
    collect(last, now);
    huge_pages::look();
    sched::wake_all_to_look();
}
