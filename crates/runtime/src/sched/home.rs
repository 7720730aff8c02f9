//! Which schedulers take processes: how many are online and active, which are closed; and where a process must run. `placement` and
//! `balance` decide this.

use crate::base::place::{MAX_SCHEDULERS, Place};
use crate::process::ProcShared;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// Number of schedulers that are online. Relaxed: a thread that reads an older number brings work to a scheduler that hands it over.
static ONLINE: AtomicUsize = AtomicUsize::new(0);
/// Number of schedulers that should work: those with the lowest numbers.
pub(super) static ACTIVE: AtomicUsize = AtomicUsize::new(usize::MAX);

pub fn online() -> usize {
    ONLINE.load(Ordering::Relaxed)
}

pub(super) fn swap_online(count: usize) -> usize {
    ONLINE.swap(count, Ordering::Relaxed)
}

/// Number of active schedulers, at most those online.
#[inline]
pub fn active() -> usize {
    // Relaxed: a scheduler that reads an old number is one of those that it counted.
    ACTIVE.load(Ordering::Relaxed).min(online())
}

/// Called by the owner of the process, or its creator.
pub(crate) fn put(p: &ProcShared, place: Place) {
    match place {
        Place::Anywhere => p.place(0, false),
        Place::Next(index) => p.place(index + 1, true),
        Place::Pinned(index) | Place::Private(index) => p.place(index + 1, false),
    }
}

/// Where the process should run.
pub fn place_of(p: &ProcShared) -> Place {
    match p.placed().checked_sub(1) {
        None => Place::Anywhere,
        Some(index) if index >= MAX_SCHEDULERS => Place::Private(index),
        Some(index) if p.is_placed_once() => Place::Next(index),
        Some(index) => Place::Pinned(index),
    }
}

/// The only place where the process may run now. None means every open scheduler.
#[inline(always)]
pub(crate) fn of(p: &ProcShared) -> Option<usize> {
    let number = p.placed();
    if number == 0 { None } else { home_if_there(p, number - 1) }
}

#[cold]
fn home_if_there(p: &ProcShared, index: usize) -> Option<usize> {
    if index < MAX_SCHEDULERS {
        (index < online()).then_some(index)
    } else {
        // Schedulers handle its signals while its native blocks on that thread, or while it waits for a dirty thread.
        (!IS_BLOCKED.load(Ordering::Relaxed) && !p.state.load().is_dirty()).then_some(index)
    }
}

/// Called by the thread that took the process at `index`, and owns it: true if the process should run elsewhere.
#[inline(always)]
pub(crate) fn is_elsewhere(p: &ProcShared, index: usize) -> bool {
    p.placed() != 0 && is_not_here(p, index)
}

#[cold]
fn is_not_here(p: &ProcShared, index: usize) -> bool {
    let home = of(p);
    let elsewhere = match home {
        Some(home) => home != index,
        // A private thread runs no other process.
        None => index >= MAX_SCHEDULERS,
    };
    if !elsewhere && p.is_placed_once() {
        p.place(0, false);
    }
    elsewhere
}

/// Multi-scheduling is blocked: private threads run nothing. Relaxed: as ONLINE.
static IS_BLOCKED: AtomicBool = AtomicBool::new(false);

pub fn block_private(is_blocked: bool) {
    IS_BLOCKED.store(is_blocked, Ordering::Relaxed);
}

// ---- schedulers that are closed ----

/// The schedulers that are closed (`placement`). Relaxed, here and for ANY: a process that is on its way when a scheduler is closed
/// is handed over, or runs a slice.
pub(super) static CLOSED: [AtomicU64; MAX_SCHEDULERS / 64] = [const { AtomicU64::new(0) }; MAX_SCHEDULERS / 64];
pub(super) static ANY: AtomicBool = AtomicBool::new(false);

#[inline(always)]
pub(crate) fn is_closed(index: usize) -> bool {
    ANY.load(Ordering::Relaxed) && CLOSED[index / 64].load(Ordering::Relaxed) & 1 << (index % 64) != 0
}

pub(crate) fn is_any_closed() -> bool {
    ANY.load(Ordering::Relaxed)
}

/// Where a process goes that would go to `index` and is not pinned there: `index` itself if it is open.
#[inline(always)]
pub(crate) fn instead_of(index: usize) -> usize {
    if is_closed(index) { next_open(index) } else { index }
}

#[cold]
fn next_open(index: usize) -> usize {
    let after = |count: usize| (index..index + count).map(move |i| i % count).find(|&i| !is_closed(i));
    after(active().max(1)).or_else(|| after(online())).unwrap_or(index)
}
