//! Stop-the-world: for crash dumps, and for callers that must see all processes as they are. The other schedulers stop before they
//! take their next process, and go on when all threads that stopped them have released them.

use crate::base::{qsbr, time};
use crate::heap::shared;
use crate::sched;
use crate::sched::private_threads;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

/// The number of threads that stopped the others.
static STOPS: Mutex<usize> = Mutex::new(0);
static LET_GO: Condvar = Condvar::new();
/// Why schedulers must stop, as bits. A scheduler reads it before each process. SeqCst with the set of idle schedulers, see
/// `sched::park`.
static REQUESTS: AtomicU8 = AtomicU8::new(0);
/// A thread stopped the others.
const STOP: u8 = 1;
/// The shared heap will be collected (`shared::safepoint`).
pub(crate) const COLLECTION: u8 = 2;
/// Schedulers that have stopped. SeqCst in `stand_offline`, and in `wait_for_others`, which sees what they did before they stopped.
static STILL: AtomicUsize = AtomicUsize::new(0);

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

/// Called by a scheduler or a private thread between two processes: does what the alarm asks for.
#[cold]
pub(crate) fn respond() {
    if shared::safepoint::is_wanted() {
        shared::safepoint::stop();
    }
    if is_stop_wanted() {
        stand();
    }
}

/// Stops the other schedulers. False if some did not stop within `limit_ms` (a scheduler that itself stops the others does not
/// stop). `release_others` must follow, unless the VM ends.
pub fn stop_others(limit_ms: u64) -> bool {
    *STOPS.lock().unwrap() += 1;
    wait_for_others(limit_ms)
}

/// As `stop_others`, unless another thread has the others stopped now. Then the result is None, and the caller's slice should end.
pub fn stop_others_alone(limit_ms: u64) -> Option<bool> {
    let mut stops = STOPS.lock().unwrap();
    if *stops > 0 {
        return None;
    }
    *stops = 1;
    drop(stops);
    Some(wait_for_others(limit_ms))
}

fn wait_for_others(limit_ms: u64) -> bool {
    request(STOP);
    let (me, count) = (sched::current_index(), sched::count());
    let others = count - me.is_some() as usize;
    let end = time::monotonic_ns() + limit_ms as i64 * 1_000_000;
    while STILL.load(Ordering::SeqCst) < others || private_threads::others_run() {
        if time::monotonic_ns() > end {
            return false;
        }
        for index in (0..count).filter(|&index| me != Some(index)) {
            sched::wake_scheduler(index);
        }
        qsbr::while_others_go(|| std::thread::sleep(Duration::from_micros(200)));
    }
    true
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
fn stand() {
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
