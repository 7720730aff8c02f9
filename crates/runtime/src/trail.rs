//! Where the last signals to a process lie.
//!
//! Who takes what came to him follows a list from the newest signal to the oldest, each in a line of its own that another core wrote:
//! he waits for the memory at each, and learns only there where the next one is. So each signal says where an earlier one is, some
//! steps on, and who comes by lets the processor fetch that one meanwhile. It is told that as it is put in the inbox: the trail is
//! beside the state word, in the line that the sender is about to change anyway.
//!
//! These are hints. Two senders may write at the same time, and what lies there may be free by now: nobody may do more than prefetch it.

use crate::signal::Signal;
use std::ptr::without_provenance_mut;
use std::sync::atomic::{AtomicU8, AtomicU16, Ordering};

/// So many signals back: as many as the line has room for. Where a line that another core wrote takes 100 ns to come (measured on
/// the host that we work on), a signal could take 10 then.
const STEPS: usize = 10;
/// Signals are lines of the cache. Of their numbers the lower bits are kept, in two parts; what is above is the same for signals of
/// the same GiB, as most are that come to one process, and taken from the next one.
const LINE_BITS: u32 = 6;
const KEPT_BITS: u32 = u16::BITS + u8::BITS;
const ABOVE: u32 = LINE_BITS + KEPT_BITS;

pub struct Trail {
    low: [AtomicU16; STEPS],
    high: [AtomicU8; STEPS],
    next: AtomicU8,
}

/// The state word and what else is in the line have the other half.
const _: () = assert!(size_of::<Trail>() <= 32);

impl Trail {
    pub(crate) const fn new() -> Trail {
        Trail { low: [const { AtomicU16::new(0) }; STEPS], high: [const { AtomicU8::new(0) }; STEPS], next: AtomicU8::new(0) }
    }

    /// Notes that the signal is on its way. What was noted `STEPS` before it, or some address.
    #[inline(always)]
    pub(crate) fn step(&self, signal: *mut Signal) -> *mut Signal {
        // Relaxed throughout: hints.
        // (It is less, and so costs less to tell the compiler than a remainder.)
        let next = (self.next.load(Ordering::Relaxed) as usize).min(STEPS - 1);
        let back = (self.high[next].load(Ordering::Relaxed) as usize) << u16::BITS | self.low[next].load(Ordering::Relaxed) as usize;
        let address = signal.addr();
        let line = address >> LINE_BITS;
        self.low[next].store(line as u16, Ordering::Relaxed);
        self.high[next].store((line >> u16::BITS) as u8, Ordering::Relaxed);
        self.next.store(if next == STEPS - 1 { 0 } else { next as u8 + 1 }, Ordering::Relaxed);
        without_provenance_mut(address >> ABOVE << ABOVE | back << LINE_BITS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trail_tells_what_came_some_steps_before() {
        let trail = Trail::new();
        let signal = |n: usize| without_provenance_mut::<Signal>(0x7f12_1456_7000 + 0x91_2340 * n);
        for n in 0..40usize {
            let back = trail.step(signal(n));
            assert!(n < STEPS || back == signal(n - STEPS), "{n}: {back:?}");
        }
    }
}
