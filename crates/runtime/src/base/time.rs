//! Monotonic and system time. Erlang monotonic time starts at a large negative number (as stock's does) and counts
//! nanoseconds of CLOCK_MONOTONIC; Erlang system time is that plus an offset (`time_offset`).
//!
//! Without time correction (`+c false`) Erlang monotonic time follows the system's clock. It stands still while that clock is below
//! the latest time that was read, and leaps forward with it.

use heddle_abi::settings::SETTINGS;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

/// `erlang:system_info(start_time)` of stock.
pub const START_NS: i64 = -576_460_752_000_000_000;

const NS_PER_TICK: i64 = 1_000_000;

/// CLOCK_MONOTONIC at start, ns.
static ORIGIN_NS: OnceLock<i64> = OnceLock::new();
/// Erlang system time minus Erlang monotonic time, ns. Changed by `time_offset` alone.
static OFFSET_NS: AtomicI64 = AtomicI64::new(0);
/// Without correction: what to do with an offset by which the system's clock went back. Unset: the offset does not follow the clock.
pub(crate) static FOLLOW_LEAP_BACK: OnceLock<fn(i64)> = OnceLock::new();
/// Without correction: the system's clock minus Erlang monotonic time, and the latest monotonic time that was read.
static UNCORRECTED_OFFSET_NS: AtomicI64 = AtomicI64::new(0);
static UNCORRECTED_LAST_NS: AtomicI64 = AtomicI64::new(START_NS);

fn clock(id: libc::clockid_t) -> i64 {
    let mut ts = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `ts` is a valid destination.
    unsafe { libc::clock_gettime(id, &mut ts) };
    ts.tv_sec * 1_000_000_000 + ts.tv_nsec
}

fn origin_ns() -> i64 {
    *ORIGIN_NS.get_or_init(|| {
        let offset = os_system_ns() - START_NS;
        UNCORRECTED_OFFSET_NS.store(offset, Ordering::Relaxed);
        set_offset_ns(offset);
        clock(libc::CLOCK_MONOTONIC)
    })
}

pub fn init() {
    origin_ns();
}

#[inline]
pub fn is_corrected() -> bool {
    SETTINGS.time_correction.is_on()
}

/// Erlang monotonic time in ns.
#[inline]
pub fn monotonic_ns() -> i64 {
    if !is_corrected() {
        return uncorrected_ns(os_system_ns());
    }
    let origin = origin_ns();
    clock(libc::CLOCK_MONOTONIC) - origin + START_NS
}

/// Relaxed throughout: no other data depends on the latest time, and a thread that reads the old offset computes a time that `last`
/// covers.
#[cold]
fn uncorrected_ns(os_system: i64) -> i64 {
    init();
    let now = os_system - UNCORRECTED_OFFSET_NS.load(Ordering::Relaxed);
    let last = UNCORRECTED_LAST_NS.fetch_max(now, Ordering::Relaxed);
    if now >= last {
        return now;
    }
    // The clock went back. A small difference only means that several threads read the clock at about the same time.
    if let Some(follow) = FOLLOW_LEAP_BACK.get()
        && last - now > CLOCK_WENT_BACK_NS
    {
        let before = os_system - now;
        let exchanged = UNCORRECTED_OFFSET_NS.compare_exchange(before, os_system - last, Ordering::Relaxed, Ordering::Relaxed);
        if exchanged.is_ok() {
            follow(os_system - last);
        }
    }
    last
}

const CLOCK_WENT_BACK_NS: i64 = 1_000_000;

/// Erlang system time minus Erlang monotonic time, in ns.
///
/// Relaxed, all uses: no other data depends on the offset.
pub fn offset_ns() -> i64 {
    OFFSET_NS.load(Ordering::Relaxed)
}

pub(crate) fn set_offset_ns(offset_ns: i64) {
    OFFSET_NS.store(offset_ns, Ordering::Relaxed);
}

pub fn system_ns() -> i64 {
    monotonic_ns() + offset_ns()
}

/// System time in µs, later than all results before it (`erlang:now/0`).
pub fn unique_us() -> i64 {
    static LAST: AtomicI64 = AtomicI64::new(0);
    let us = system_ns() / 1000;
    // Relaxed: only the values matter.
    let before = LAST.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(us.max(last + 1)));
    us.max(before.unwrap_or(us) + 1)
}

pub fn os_system_ns() -> i64 {
    clock(libc::CLOCK_REALTIME)
}

/// CPU time of all threads of this OS process, in ns.
pub fn cpu_ns() -> i64 {
    clock(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// How long it takes until `ticks_ms` is `tick`, and at most `limit_ms` milliseconds: without time correction the clock may be set back.
pub(crate) fn until_tick(tick: u64, limit_ms: u64) -> Duration {
    let left_ns = (tick as i64).saturating_mul(NS_PER_TICK) - (monotonic_ns() - START_NS);
    Duration::from_nanos(left_ns.max(0) as u64).min(Duration::from_millis(limit_ms))
}

/// Whole milliseconds since start: the timers' clock.
#[inline]
pub fn ticks_ms() -> u64 {
    ((monotonic_ns() - START_NS) / NS_PER_TICK) as u64
}
