//! Hints for prefetching the signals of an inbox.
//!
//! Draining an inbox follows a linked list from the newest signal to the oldest. Each signal is on a cache line that another core
//! wrote, so each step misses, and the address of the next signal is known only after the miss. So each signal also holds the
//! address of one some steps earlier, which the reader prefetches. A sender gets that address when it puts its signal in the inbox:
//! this table of the last signals is beside the state word, in the cache line that the sender is about to change anyway.
//!
//! The addresses are hints. Two senders may write the table at the same time, and a signal in it may be freed by now, so an address
//! from it may be prefetched and nothing else.

use crate::signal::Signal;
use std::ptr::without_provenance_mut;
use std::sync::atomic::{AtomicU8, AtomicU16, Ordering};

/// How many signals back the address leads: as many as the cache line has room for. If a line that another core wrote takes 100 ns
/// to arrive (measured on the host we work on), a signal could then take 10 ns.
const STEPS: usize = 10;
/// A signal is one cache line, so its address is a line number. The table keeps the lower bits of that number, in two parts. The
/// upper bits are taken from the signal that is being sent: they are the same for all signals of one GiB, and most signals to one
/// process are.
const LINE_BITS: u32 = 6;
const KEPT_BITS: u32 = u16::BITS + u8::BITS;
const ABOVE: u32 = LINE_BITS + KEPT_BITS;

pub(crate) struct PrefetchChain {
    low: [AtomicU16; STEPS],
    high: [AtomicU8; STEPS],
    next: AtomicU8,
}

/// The other half of the cache line is for the state word and its neighbours.
const _: () = assert!(size_of::<PrefetchChain>() <= 32);

impl PrefetchChain {
    pub(crate) const fn new() -> PrefetchChain {
        PrefetchChain { low: [const { AtomicU16::new(0) }; STEPS], high: [const { AtomicU8::new(0) }; STEPS], next: AtomicU8::new(0) }
    }

    /// Notes that the signal is on its way. Returns the signal that was noted `STEPS` before it, or an
    /// arbitrary address.
    #[inline(always)]
    pub(crate) fn step(&self, signal: *mut Signal) -> *mut Signal {
        // Relaxed throughout: these are hints. `next` is always below STEPS; `min` says that to the compiler at a lower cost than a
        // remainder.
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
        let chain = PrefetchChain::new();
        let signal = |n: usize| without_provenance_mut::<Signal>(0x7f12_1456_7000 + 0x91_2340 * n);
        for n in 0..40usize {
            let back = chain.step(signal(n));
            assert!(n < STEPS || back == signal(n - STEPS), "{n}: {back:?}");
        }
    }
}
