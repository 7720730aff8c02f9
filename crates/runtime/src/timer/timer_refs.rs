//! `erlang:send_after`, `start_timer`: timers that send, which Erlang knows by reference.
//!
//! A timer ends with the process it would send to: then `cancel` and `read` find none, and the timer itself is taken out by a
//! sweep. A sweep walks through all timers. So it waits until about as many receivers have ended as there are timers, or for a
//! second, or for a hundred times as long as the last sweep took.

use crate::base::refs::RefId;
use crate::base::time;
use crate::process::proctab;
use crate::sched;
use crate::signal::package::Package;
use crate::timer::{Action, Handle, NODE_BYTES, Reserved};
use crate::trace::flags;
use heddle_term::Term;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

/// Receivers that ended since the last sweep.
static ENDED: AtomicUsize = AtomicUsize::new(0);
/// How many receivers may end before the next sweep.
static SWEEP_AFTER: AtomicUsize = AtomicUsize::new(MIN_SWEEP_AT);
const MIN_SWEEP_AT: usize = 64;
/// A sweep is scheduled. Relaxed, as all here: an extra sweep, or one that is a second late, does no harm.
static IS_DUE: AtomicBool = AtomicBool::new(false);
/// How long after the end of a receiver a scheduled sweep begins.
static SWEEP_AFTER_MS: AtomicU64 = AtomicU64::new(MIN_SWEEP_AFTER_MS);
const MIN_SWEEP_AFTER_MS: u64 = 1000;

/// A reserved timer, which must be started or given up, and its reference.
pub fn reserve() -> (Reserved, RefId) {
    let timer = sched::timers().reserve();
    let reference = timer.handle().reference();
    (timer, reference)
}

/// Sends `message` to `dest` (a local pid or a name) at `deadline_ms` on the clock of `time::ticks_ms`.
pub fn start(timer: Reserved, deadline_ms: u64, dest: Term, message: Package) {
    if dest.is_local_pid() {
        let Some(receiver) = proctab::lookup(dest.payload()) else { return timer.give_up() };
        // Relaxed: a receiver that is just ending may not see this; the timer then goes when it is due.
        if receiver.trace.load(Ordering::Relaxed) & flags::TIMED == 0 {
            receiver.trace.fetch_or(flags::TIMED, Ordering::Relaxed);
        }
    }
    sched::timers().set(timer, deadline_ms, Action::Send { dest, message });
}

/// The remaining ms, if the timer had not fired.
pub fn cancel(reference: RefId) -> Option<u64> {
    let (left, dest) = sched::timers().cancel_send(Handle::of(reference)?)?;
    has_receiver(dest).then_some(left)
}

pub fn read(reference: RefId) -> Option<u64> {
    let (left, dest) = sched::timers().read_send(Handle::of(reference)?)?;
    has_receiver(dest).then_some(left)
}

fn has_receiver(dest: Term) -> bool {
    !dest.is_local_pid() || proctab::lookup(dest.payload()).is_some()
}

/// A process that timers would send to has left the table.
pub(crate) fn receiver_ended() {
    if ENDED.fetch_add(1, Ordering::Relaxed) + 1 >= SWEEP_AFTER.load(Ordering::Relaxed) {
        sweep();
    } else if !IS_DUE.load(Ordering::Relaxed) && !IS_DUE.swap(true, Ordering::Relaxed) {
        sched::after(SWEEP_AFTER_MS.load(Ordering::Relaxed), || {
            // Before the walk: a receiver that ends during the walk gets another sweep.
            IS_DUE.store(false, Ordering::Relaxed);
            sweep();
        });
    }
}

/// Cancels the timers whose receivers ended.
pub fn sweep() {
    ENDED.store(0, Ordering::Relaxed);
    let begin = Instant::now();
    let mut left = 0;
    sched::timers().for_each_send(|handle, dest| {
        if has_receiver(dest) {
            left += 1;
        } else {
            sched::timers().cancel_send(handle);
        }
    });
    SWEEP_AFTER.store(left.max(MIN_SWEEP_AT), Ordering::Relaxed);
    SWEEP_AFTER_MS.store(MIN_SWEEP_AFTER_MS.max(begin.elapsed().as_millis() as u64 * 100), Ordering::Relaxed);
}

/// The number of timers that have not fired.
pub fn count() -> usize {
    let mut count = 0;
    sched::timers().for_each_send(|_, _| count += 1);
    count
}

/// Bytes that a timer takes, without its message.
pub const BYTES: usize = NODE_BYTES;

/// The first tick at which `ms` from now have gone by.
pub fn deadline_after(ms: u64) -> u64 {
    time::ticks_ms() + ms + 1
}
