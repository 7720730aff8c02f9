//! Purging: gives memory back to the system after a peak.
//!
//! The allocator gives free areas back when threads allocate, so what an idle VM freed last would stay. Therefore a thread that is
//! about to sleep takes in what others freed of its blocks, and gives back what is free: at most once a second, and only if it
//! freed enough. A sleeping thread does not notice that others free its blocks. So now and then, if much was freed, all schedulers
//! are woken to do the same (a *round*). Dirty and private threads may sleep for hours. So a thread that gives back leaves its
//! areas to all threads, and the thread that frees the last block of such an area gives that back, too.

use crate::base::{qsbr, time};
use crate::heap::{blocks, huge_pages, shared};
use crate::sched;
use crate::sched::balance;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

/// Bytes a thread frees before it looks: with less, a walk through its areas is not worth its time.
const STEP_BYTES: u64 = 256 << 10;
/// Bytes allocated and freed before a thread looks that may sleep for hours. It looks after its work, and what it does not give
/// back then stays for that long.
const IDLE_STEP_BYTES: u64 = 64 << 10;
const EVERY_MS: i64 = 1000;
/// Bytes all threads free before all are woken.
const ROUND_STEP_BYTES: u64 = 16 << 20;
const ROUND_EVERY_MS: i64 = 2000;

/// The longest time a thread sleeps while it keeps garbage that other threads may still look at (`qsbr::tidy`).
const GARBAGE_MS: u64 = 10;

/// When the last round was, and what all threads had freed then.
static ROUND_MS: AtomicI64 = AtomicI64::new(i64::MIN / 2);
static FREED_AT_ROUND: AtomicU64 = AtomicU64::new(0);
/// True if a thread sleeps until a round is due; then other threads need not.
static IS_WAITED_FOR: AtomicBool = AtomicBool::new(false);

struct Last {
    ms: Cell<i64>,
    freed_bytes: Cell<u64>,
    allocated_bytes: Cell<u64>,
    /// True if this thread sleeps until the next round.
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

/// Bytes the calling thread has freed since it last gave memory back, with the signals that it keeps, and those that all threads
/// keep (`memory::recent`).
fn freed_since(last: &Last) -> u64 {
    let row = heddle_memory::mine();
    row.freed_bytes().wrapping_sub(last.freed_bytes.get()).wrapping_add((row.recent.bytes() + heddle_memory::common_bytes()) as u64)
}

/// The calling thread is about to sleep for up to `wait_ms` ms, and holds no borrowed pointer. Purges if that is due,
/// and returns how many ms the thread may sleep. `keeps_garbage`: what `qsbr::tidy` returned.
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
            // Late enough that every thread that went to sleep together with this one has looked at its own memory.
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

/// As `before_sleep`, for a thread that sleeps without a time limit. Returns how many ms it may sleep before it must call this
/// again; None if there is no limit.
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
    // Relaxed: a thread that hears of the round late does its part later. If several threads try, one starts it.
    if ROUND_MS.compare_exchange(before, now, Ordering::Relaxed, Ordering::Relaxed).is_err() {
        return;
    }
    FREED_AT_ROUND.store(freed_by_all(), Ordering::Relaxed);
    last.round_ms.set(now);
    collect(last, now);
    huge_pages::look(sched::count(), balance::active());
    sched::wake_all_to_look();
}
