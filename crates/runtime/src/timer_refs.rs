//! `erlang:send_after`, `start_timer`: timers that send, known to Erlang by reference.
//!
//! A timer ends with the process it would send to: who asks finds none, and now and then those are taken out. That costs a
//! walk through all timers, so it waits until about as many receivers have ended as there are timers, or for a second, or for as
//! long as makes the walks a hundredth of the time.

use crate::package::Package;
use crate::signal::RefId;
use crate::timer::{Action, Handle, NODE_BYTES, Reserved};
use crate::trace::flags;
use crate::{proctab, sched, time};
use heddle_term::Term;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

/// Receivers that ended since the last sweep.
static ENDED: AtomicUsize = AtomicUsize::new(0);
/// How many may before the next one.
static SWEEP_AFTER: AtomicUsize = AtomicUsize::new(SWEEP_AT_LEAST);
const SWEEP_AT_LEAST: usize = 64;
/// A sweep will come when its time has. Relaxed, as all here: a sweep too many or a second later does no harm.
static IS_DUE: AtomicBool = AtomicBool::new(false);
/// How long from the end of a receiver till then.
static SWEEP_AFTER_MS: AtomicU64 = AtomicU64::new(SWEEP_AFTER_LEAST_MS);
const SWEEP_AFTER_LEAST_MS: u64 = 1000;

/// A timer, to be started, and its reference.
pub fn reserve() -> (Reserved, RefId) {
    let timer = sched::timers().reserve();
    let reference = timer.handle().reference();
    (timer, reference)
}

/// Sends `message` to `dest` (a local pid or a name) at `deadline_ms` on the clock of `time::ticks_ms`.
pub fn start(timer: Reserved, deadline_ms: u64, dest: Term, message: Package) {
    if dest.is_local_pid() {
        let Some(receiver) = proctab::lookup(dest.payload()) else { return timer.give_up() };
        // Relaxed: if it is just ending it may not see this; the timer then goes when it is due.
        if receiver.trace.load(Ordering::Relaxed) & flags::TIMED == 0 {
            receiver.trace.fetch_or(flags::TIMED, Ordering::Relaxed);
        }
    }
    sched::timers().set(timer, deadline_ms, Action::Send { dest, message });
}

/// Remaining ms if it had not fired.
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

/// A process that timers were to send to has left the table.
pub fn receiver_ended() {
    if ENDED.fetch_add(1, Ordering::Relaxed) + 1 >= SWEEP_AFTER.load(Ordering::Relaxed) {
        sweep();
    } else if !IS_DUE.load(Ordering::Relaxed) && !IS_DUE.swap(true, Ordering::Relaxed) {
        sched::after(SWEEP_AFTER_MS.load(Ordering::Relaxed), || {
            // Before the walk: who ends during it gets another one.
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
    SWEEP_AFTER.store(left.max(SWEEP_AT_LEAST), Ordering::Relaxed);
    SWEEP_AFTER_MS.store(SWEEP_AFTER_LEAST_MS.max(begin.elapsed().as_millis() as u64 * 100), Ordering::Relaxed);
}

/// Timers under way.
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
