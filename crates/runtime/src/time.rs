//! Monotonic and system time. Erlang monotonic time starts at a large negative number (as stock's does) and counts
//! nanoseconds of CLOCK_MONOTONIC; Erlang system time is that plus an offset fixed at start and corrected never (no time warp).

use std::sync::OnceLock;

/// `erlang:system_info(start_time)` of stock.
pub const START_NS: i64 = -576_460_752_000_000_000;

struct Origin {
    /// CLOCK_MONOTONIC at start, ns.
    monotonic: i64,
    /// Erlang system time minus Erlang monotonic time, ns.
    offset: i64,
}

static ORIGIN: OnceLock<Origin> = OnceLock::new();

fn clock(id: libc::clockid_t) -> i64 {
    let mut ts = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `ts` is a valid destination.
    unsafe { libc::clock_gettime(id, &mut ts) };
    ts.tv_sec * 1_000_000_000 + ts.tv_nsec
}

fn origin() -> &'static Origin {
    ORIGIN.get_or_init(|| {
        let monotonic = clock(libc::CLOCK_MONOTONIC);
        Origin { monotonic, offset: os_system_ns() - START_NS }
    })
}

pub fn init() {
    origin();
}

/// Erlang monotonic time in ns.
#[inline]
pub fn monotonic_ns() -> i64 {
    let o = origin();
    clock(libc::CLOCK_MONOTONIC) - o.monotonic + START_NS
}

/// Erlang system time minus Erlang monotonic time, in ns.
pub fn offset_ns() -> i64 {
    origin().offset
}

pub fn system_ns() -> i64 {
    monotonic_ns() + offset_ns()
}

pub fn os_system_ns() -> i64 {
    clock(libc::CLOCK_REALTIME)
}

/// Time that the machine ran on its processors, in ns.
pub fn cpu_ns() -> i64 {
    clock(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// Whole milliseconds since start: the timers' clock.
#[inline]
pub fn ticks_ms() -> u64 {
    ((monotonic_ns() - START_NS) / 1_000_000) as u64
}
