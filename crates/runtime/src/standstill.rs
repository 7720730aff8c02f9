//! Stopping the world: for crash dumps, and for who wants to see all processes as they are. The others stop where they would take
//! their next process, and go on once all who stopped them let them.

use crate::{private, qsbr, sched, shared, time};
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

/// How many stopped the others.
static STOPS: Mutex<usize> = Mutex::new(0);
static LET_GO: Condvar = Condvar::new();
/// Why schedulers are to come to a stop, as bits: what they look at before each process. SeqCst with the set of the idle, see
/// `sched::park`.
static ALARM: AtomicU8 = AtomicU8::new(0);
/// Somebody stopped the others.
const STOP: u8 = 1;
/// The shared heap is to be collected (`shared::world`).
pub(crate) const COLLECTION: u8 = 2;
/// Schedulers that stand still.
static STILL: AtomicUsize = AtomicUsize::new(0);

#[inline(always)]
pub(crate) fn is_wanted() -> bool {
    ALARM.load(Ordering::SeqCst) & STOP != 0
}

#[inline(always)]
pub(crate) fn is_alarm() -> bool {
    ALARM.load(Ordering::SeqCst) != 0
}

pub(crate) fn raise_alarm(why: u8) {
    ALARM.fetch_or(why, Ordering::SeqCst);
}

pub(crate) fn end_alarm(why: u8) {
    ALARM.fetch_and(!why, Ordering::SeqCst);
}

/// A scheduler, or private thread, between two processes does what the alarm is for.
#[cold]
pub(crate) fn heed() {
    if shared::world::is_wanted() {
        shared::world::come_in();
    }
    if is_wanted() {
        stand();
    }
}

/// Stops the other schedulers; false if some did not come to a stop in so many ms (nobody does who stops others himself). To be
/// followed by `release_others`, unless the machine ends.
pub fn stop_others(limit_ms: u64) -> bool {
    *STOPS.lock().unwrap() += 1;
    wait_for_others(limit_ms)
}

/// The same, unless somebody else does it now: the caller's slice should end then.
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
    raise_alarm(STOP);
    let (me, count) = (sched::current_index(), sched::count());
    let others = count - me.is_some() as usize;
    let end = time::monotonic_ns() + limit_ms as i64 * 1_000_000;
    while STILL.load(Ordering::SeqCst) < others || private::others_run() {
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

/// The caller's stop is over, whatever came of it.
pub fn release_others() {
    let mut stops = STOPS.lock().unwrap();
    *stops -= 1;
    if *stops == 0 {
        end_alarm(STOP);
        LET_GO.notify_all();
    }
}

/// As `stand`, for a private thread, which is looked at itself (`private::others_run`).
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

/// A scheduler stands still as long as it is wanted.
#[cold]
fn stand() {
    qsbr::offline_for_long();
    stand_outside();
    qsbr::online();
}

/// The same for one that holds nothing already.
pub(crate) fn stand_outside() {
    STILL.fetch_add(1, Ordering::SeqCst);
    let mut stops = STOPS.lock().unwrap();
    while *stops > 0 {
        stops = LET_GO.wait(stops).unwrap();
    }
    // Under the lock: who stops the others next must not count this one, which goes on.
    STILL.fetch_sub(1, Ordering::SeqCst);
    drop(stops);
}
