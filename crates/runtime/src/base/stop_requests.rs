//! Why and how long schedulers must stop: for the world to be stopped (`stop_world`), or for a collection of the shared heap.

use crate::base::qsbr;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};

/// The number of threads that stopped the others.
pub(crate) static STOPS: Mutex<usize> = Mutex::new(0);
static LET_GO: Condvar = Condvar::new();
/// Why schedulers must stop, as bits. A scheduler reads it before each process. SeqCst with the set of idle schedulers, see
/// `sched::idling::park`.
static REQUESTS: AtomicU8 = AtomicU8::new(0);
/// A thread stopped the others.
pub(crate) const STOP: u8 = 1;
/// The shared heap will be collected (`shared::safepoint`).
pub(crate) const COLLECTION: u8 = 2;
/// Schedulers that have stopped. SeqCst in `stand_offline`, and in `stop_world::wait_for_others`, which sees what they did before they
/// stopped.
pub(crate) static STILL: AtomicUsize = AtomicUsize::new(0);

#[inline(always)]
pub(crate) fn is_stop_wanted() -> bool {
    REQUESTS.load(Ordering::SeqCst) & STOP != 0
}

#[inline(always)]
pub(crate) fn is_requested() -> bool {
    REQUESTS.load(Ordering::SeqCst) != 0
}

pub(crate) fn request(why: u8) {
    REQUESTS.fetch_or(why, Ordering::SeqCst);
}

pub(crate) fn end_request(why: u8) {
    REQUESTS.fetch_and(!why, Ordering::SeqCst);
}

/// Ends the caller's stop, whether or not all others had stopped.
pub fn release_others() {
    let mut stops = STOPS.lock().unwrap();
    *stops -= 1;
    if *stops == 0 {
        end_request(STOP);
        LET_GO.notify_all();
    }
}

/// As `stand`, for a private thread. It is not counted in `STILL`: `private_threads::others_run` looks at these threads themselves.
#[cold]
pub(crate) fn wait_until_over() {
    qsbr::offline_for_long();
    let mut stops = STOPS.lock().unwrap();
    while *stops > 0 {
        stops = LET_GO.wait(stops).unwrap();
    }
    drop(stops);
    qsbr::online();
}

/// A scheduler stands still as long as a stop is wanted.
#[cold]
pub(crate) fn stand() {
    qsbr::offline_for_long();
    stand_offline();
    qsbr::online();
}

/// As `stand`, for a thread that is offline already.
pub(crate) fn stand_offline() {
    STILL.fetch_add(1, Ordering::SeqCst);
    let mut stops = STOPS.lock().unwrap();
    while *stops > 0 {
        stops = LET_GO.wait(stops).unwrap();
    }
    // Under the lock: the next thread that stops the others must not count this one, which goes on.
    STILL.fetch_sub(1, Ordering::SeqCst);
    drop(stops);
}
