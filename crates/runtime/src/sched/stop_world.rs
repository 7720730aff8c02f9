//! Stop-the-world: for crash dumps, and for callers that must see all processes as they are. The other schedulers stop before they
//! take their next process, and go on when all threads that stopped them have released them.

pub use crate::base::stop_requests::release_others;
use crate::base::stop_requests::{STILL, STOP, STOPS, is_stop_wanted, request, stand};
use crate::base::{qsbr, time};
use crate::heap::shared;
use crate::sched;
use crate::sched::private_threads;
use std::sync::atomic::Ordering;
use std::time::Duration;

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
