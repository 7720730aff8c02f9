//! Where a process may run: anywhere, on one scheduler, or on a thread of its own (`private`); and schedulers that are reserved for
//! the processes placed there.
//!
//! Only the owner of a process changes its placement: another process asks it to, by a signal. So a process that another thread
//! holds is never moved. A process goes to its new place when it is taken from a queue the next time: the scheduler that takes it
//! checks (`is_elsewhere`), and sends it where it belongs. So entries may be on any queue for a while.
//!
//! A process that is pinned to an offline scheduler runs like the others, and goes back when that scheduler is online again. So
//! does a process with a private thread, while multi-scheduling is blocked.
//!
//! An isolated scheduler is closed: it takes nothing from others and is not in the balance. A process that would go on its queue
//! and is not pinned to it goes to the next open one. This need not be exact at once: a process that was on its way when the
//! scheduler was closed is handed over, or runs a slice. One online scheduler stays open: if none would be, none is closed.

use crate::base::place::{MAX_SCHEDULERS, Place};
use crate::process::ProcShared;
use crate::sched;
use crate::sched::{balance, private_threads};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Called by the owner of the process, or its creator.
pub(crate) fn put(p: &ProcShared, place: Place) {
    match place {
        Place::Anywhere => p.place(0, false),
        Place::Next(index) => p.place(index + 1, true),
        Place::Pinned(index) | Place::Private(index) => p.place(index + 1, false),
    }
}

/// Where the process should run.
pub fn of(p: &ProcShared) -> Place {
    match p.placed().checked_sub(1) {
        None => Place::Anywhere,
        Some(index) if index >= MAX_SCHEDULERS => Place::Private(index),
        Some(index) if p.is_placed_once() => Place::Next(index),
        Some(index) => Place::Pinned(index),
    }
}

/// Called by the owner: from now on the process should run there. A private thread that it had ends.
pub fn change(p: &ProcShared, place: Place) {
    let before = of(p);
    put(p, place);
    if let Place::Private(index) = before
        && before != place
    {
        private_threads::end(index);
    }
}

/// The only place where the process may run now. None means every open scheduler.
#[inline(always)]
pub fn home(p: &ProcShared) -> Option<usize> {
    let number = p.placed();
    if number == 0 { None } else { home_if_there(p, number - 1) }
}

#[cold]
fn home_if_there(p: &ProcShared, index: usize) -> Option<usize> {
    if index < MAX_SCHEDULERS {
        (index < sched::online()).then_some(index)
    } else {
        // Schedulers handle its signals while its native blocks on that thread, or while it waits for a dirty thread.
        (!IS_BLOCKED.load(Ordering::Relaxed) && !p.state.load().is_dirty()).then_some(index)
    }
}

/// Called by the thread that took the process at `index`, and owns it: true if the process should run elsewhere.
#[inline(always)]
pub fn is_elsewhere(p: &ProcShared, index: usize) -> bool {
    p.placed() != 0 && is_not_here(p, index)
}

#[cold]
fn is_not_here(p: &ProcShared, index: usize) -> bool {
    let home = home(p);
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

/// Multi-scheduling is blocked: private threads run nothing. Relaxed: as `sched::online`.
static IS_BLOCKED: AtomicBool = AtomicBool::new(false);

pub fn block_private(is_blocked: bool) {
    IS_BLOCKED.store(is_blocked, Ordering::Relaxed);
}

// ---- schedulers that are reserved ----

/// The schedulers that were isolated.
static ISOLATED: Mutex<Vec<usize>> = Mutex::new(Vec::new());
/// Of these, the ones that are closed: all of them, unless that would be every online scheduler. Relaxed, here and for ANY: see
/// above.
static CLOSED: [AtomicU64; MAX_SCHEDULERS / 64] = [const { AtomicU64::new(0) }; MAX_SCHEDULERS / 64];
static ANY: AtomicBool = AtomicBool::new(false);

#[inline(always)]
pub fn is_closed(index: usize) -> bool {
    ANY.load(Ordering::Relaxed) && CLOSED[index / 64].load(Ordering::Relaxed) & 1 << (index % 64) != 0
}

pub(crate) fn is_any_closed() -> bool {
    ANY.load(Ordering::Relaxed)
}

/// Where a process goes that would go to `index` and is not pinned there: `index` itself if it is open.
#[inline(always)]
pub fn instead_of(index: usize) -> usize {
    if is_closed(index) { next_open(index) } else { index }
}

#[cold]
fn next_open(index: usize) -> usize {
    let after = |count: usize| (index..index + count).map(move |i| i % count).find(|&i| !is_closed(i));
    after(balance::active().max(1)).or_else(|| after(sched::online())).unwrap_or(index)
}

pub fn isolated() -> Vec<usize> {
    ISOLATED.lock().unwrap().clone()
}

/// Reserves an online scheduler for processes pinned to it. False if no other online scheduler would be left for all.
pub fn isolate(index: usize) -> bool {
    let mut isolated = ISOLATED.lock().unwrap();
    if !isolated.contains(&index) {
        if (0..sched::online()).all(|other| other == index || isolated.contains(&other)) {
            return false;
        }
        isolated.push(index);
        isolated.sort_unstable();
        close(&isolated);
    }
    true
}

/// The scheduler is open for all again. Returns true if it was isolated.
pub fn release(index: usize) -> bool {
    let mut isolated = ISOLATED.lock().unwrap();
    let before = isolated.len();
    isolated.retain(|&other| other != index);
    close(&isolated);
    isolated.len() < before
}

/// The number of online schedulers changed.
pub(crate) fn online_changed() {
    close(&ISOLATED.lock().unwrap());
}

fn close(isolated: &[usize]) {
    let one_is_open = (0..sched::online()).any(|index| !isolated.contains(&index));
    let mut any = false;
    for index in 0..sched::count() {
        let is_closed = one_is_open && isolated.contains(&index);
        any |= is_closed;
        let (word, bit) = (&CLOSED[index / 64], 1 << (index % 64));
        let before = if is_closed { word.fetch_or(bit, Ordering::Relaxed) } else { word.fetch_and(!bit, Ordering::Relaxed) };
        if (before & bit != 0) != is_closed {
            sched::close(index, is_closed);
        }
    }
    ANY.store(any, Ordering::Relaxed);
    balance::tell();
}
