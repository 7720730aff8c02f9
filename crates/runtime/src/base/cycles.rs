//! A clock for what is measured so often that reading the system's clock would cost too much. It is the processor's cycle counter
//! where that runs at a constant rate ("invariant"), and CLOCK_MONOTONIC elsewhere. Readings become nanoseconds when they are asked
//! for, by how far both clocks advanced since the start.

use crate::base::time::monotonic_ns;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

struct Start {
    is_counter: bool,
    cycles: u64,
    ns: i64,
}

static START: OnceLock<Start> = OnceLock::new();

#[cfg(target_arch = "x86_64")]
fn is_invariant() -> bool {
    use std::arch::x86_64::__cpuid;
    __cpuid(0x8000_0000).eax >= 0x8000_0007 && __cpuid(0x8000_0007).edx & 1 << 8 != 0
}
#[cfg(not(target_arch = "x86_64"))]
fn is_invariant() -> bool {
    false
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn counter() -> u64 {
    // SAFETY: every x86-64 processor has the instruction, and systems let programs use it (is_invariant was asked first).
    unsafe { std::arch::x86_64::_rdtsc() }
}
#[cfg(not(target_arch = "x86_64"))]
fn counter() -> u64 {
    0
}

pub fn init() {
    START.get_or_init(|| {
        let is_counter = is_invariant();
        Start { is_counter, cycles: if is_counter { counter() } else { 0 }, ns: monotonic_ns() }
    });
}

/// Only differences mean something.
#[inline]
pub fn now() -> u64 {
    match START.get() {
        _ if !heddle_memory::COUNTED => 0,
        Some(start) if start.is_counter => counter(),
        _ => monotonic_ns() as u64,
    }
}

/// The nanoseconds that `cycles` took.
pub fn to_ns(cycles: u64) -> u64 {
    match START.get() {
        Some(start) if start.is_counter => {
            let passed = (counter().saturating_sub(start.cycles)).max(1);
            (cycles as u128 * (monotonic_ns() - start.ns) as u128 / passed as u128) as u64
        }
        _ => cycles,
    }
}

/// Nanoseconds that 2^32 cycles take; 0 as long as it was not computed.
static RATE: AtomicU64 = AtomicU64::new(0);
/// Both clocks must have advanced this far before `RATE` is computed. The time between the two readings is a hundred-thousandth of
/// it then.
const RATE_NS: i64 = 10_000_000;

/// As `to_ns`, and always the same result for the same argument. It costs one multiplication, for callers that ask often.
#[inline]
pub(crate) fn to_rough_ns(cycles: u64) -> u64 {
    // Relaxed: all threads that compute it compute about the same, and either result will do.
    match RATE.load(Ordering::Relaxed) {
        0 => find_rate(cycles),
        rate => ((cycles as u128 * rate as u128) >> 32) as u64,
    }
}

#[cold]
fn find_rate(cycles: u64) -> u64 {
    if START.get().is_some_and(|start| start.is_counter && monotonic_ns() - start.ns >= RATE_NS) {
        RATE.store(to_ns(1 << 32), Ordering::Relaxed);
    }
    to_ns(cycles)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nap_takes_as_long_on_both_clocks() {
        init();
        std::thread::sleep(std::time::Duration::from_millis(20));
        let (began, before) = (now(), monotonic_ns());
        std::thread::sleep(std::time::Duration::from_millis(50));
        let (ended, after) = (now(), monotonic_ns());
        let (ns, wanted) = (to_ns(ended - began), (after - before) as u64);
        assert!(ns.abs_diff(wanted) < wanted / 10, "{ns} {wanted}");
        // The first finds the rate, the others use it.
        for _ in 0..3 {
            let rough = to_rough_ns(ended - began);
            assert!(rough.abs_diff(wanted) < wanted / 10, "{rough} {wanted}");
        }
    }
}
