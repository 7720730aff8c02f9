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

use super::home::{self, ANY, CLOSED, put};
pub use super::home::{block_private, place_of};
use crate::base::place::Place;
use crate::process::ProcShared;
use crate::sched;
use crate::sched::{balance, private_threads};
use std::sync::Mutex;
use std::sync::atomic::Ordering;

/// Called by the owner: from now on the process should run there. A private thread that it had ends.
pub fn change(p: &ProcShared, place: Place) {
    let before = place_of(p);
    put(p, place);
    if let Place::Private(index) = before
        && before != place
    {
        private_threads::end(index);
    }
}

// ---- schedulers that are reserved ----

/// The schedulers that were isolated. `home::CLOSED` has those of them that are closed: all, unless that would be every online
/// scheduler. Relaxed there and for `home::ANY`: see above.
static ISOLATED: Mutex<Vec<usize>> = Mutex::new(Vec::new());

pub fn isolated() -> Vec<usize> {
    ISOLATED.lock().unwrap().clone()
}

/// Reserves an online scheduler for processes pinned to it. False if no other online scheduler would be left for all.
pub fn isolate(index: usize) -> bool {
    let mut isolated = ISOLATED.lock().unwrap();
    if !isolated.contains(&index) {
        if (0..home::online()).all(|other| other == index || isolated.contains(&other)) {
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
    let one_is_open = (0..home::online()).any(|index| !isolated.contains(&index));
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
