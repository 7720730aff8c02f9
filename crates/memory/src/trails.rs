//! Where a thread's last signals to each receiver lie.
//!
//! Who takes what came to him follows a list from the newest signal to the oldest, each in a line of its own that another core wrote:
//! he waits for the memory at each, and learns only there where the next one is. So each signal says where an earlier one is, some
//! steps on, and who comes by lets the processor fetch that one meanwhile. The sender knows it: it is what he sent there before.
//!
//! These are hints. Two receivers may share a trail, and what lies there may be free by now: nobody may do more than prefetch it.

use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicU16, Ordering};

/// So many signals back. With 7 bang and hackbench took as long.
const STEPS: usize = 4;
/// 32 KiB a thread, of which it uses what it needs for its receivers.
const TRAILS: usize = 1024;
/// 8 KiB a thread: who finds another receiver's crowd begins it anew.
const CROWDS: usize = 4096;
/// Receivers begin at lines of the cache, and lie in pages of mimalloc's, each at the same places of its page.
const LINE_BITS: u32 = 6;
const PAGE_BITS: u32 = 16;

/// A thread's. Relaxed throughout: hints. (Threads without a row of their own share one.)
pub struct Trails {
    trails: [[AtomicPtr<u8>; STEPS]; TRAILS],
    /// The receiver's turn in which the thread sent it something last, in the upper half, and how often it did in that turn, in the lower.
    crowds: [AtomicU16; CROWDS],
}

/// Modulo how many there are: a receiver's place.
#[inline(always)]
fn place(receiver: usize) -> usize {
    (receiver >> LINE_BITS) + (receiver >> PAGE_BITS)
}

impl Trails {
    pub(crate) const fn new() -> Trails {
        Trails { trails: [const { [const { AtomicPtr::new(null_mut()) }; STEPS] }; TRAILS], crowds: [const { AtomicU16::new(0) }; CROWDS] }
    }

    /// Something is sent to the receiver, whose `turn` changes when his queue is short. How much the thread sent him since it did last, as
    /// far as it knows: 255 for more.
    #[inline(always)]
    pub fn crowd(&self, receiver: usize, turn: u8) -> u8 {
        let crowd = &self.crowds[place(receiver) % CROWDS];
        let [before, sent] = crowd.load(Ordering::Relaxed).to_be_bytes();
        let sent = if before == turn { sent } else { 0 };
        crowd.store(u16::from_be_bytes([turn, sent.saturating_add(1)]), Ordering::Relaxed);
        sent
    }

    /// Notes that the signal goes to the receiver. What the thread sent there some signals ago, or null.
    #[inline(always)]
    pub fn step(&self, receiver: usize, signal: *mut u8) -> *mut u8 {
        let trail = &self.trails[place(receiver) % TRAILS];
        let back = trail[STEPS - 1].load(Ordering::Relaxed);
        for step in (1..STEPS).rev() {
            trail[step].store(trail[step - 1].load(Ordering::Relaxed), Ordering::Relaxed);
        }
        trail[0].store(signal, Ordering::Relaxed);
        back
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crowd_is_what_came_since_the_receiver_looked() {
        let trails = Box::new(Trails::new());
        let (here, there) = (0x1000, 0x1000 + (1 << LINE_BITS));
        let sent: Vec<u8> = (0..300).map(|_| trails.crowd(here, 7)).collect();
        assert_eq!((sent[0], sent[1], sent[255], sent[299]), (0, 1, 255, 255));
        assert_eq!(trails.crowd(there, 7), 0);
        assert_eq!(trails.crowd(here, 8), 0);
        assert_eq!(trails.crowd(here, 8), 1);
    }

    #[test]
    fn a_trail_tells_what_went_there_some_steps_before() {
        let trails = Box::new(Trails::new());
        let signal = |n: usize| std::ptr::without_provenance_mut::<u8>(n);
        let (here, there) = (0x1000, 0x1000 + (1 << LINE_BITS));
        for n in 1..20usize {
            let back = n.saturating_sub(STEPS);
            assert_eq!(trails.step(here, signal(n)), signal(back));
            assert_eq!(trails.step(there, signal(100 * n)), signal(100 * back));
        }
    }
}
