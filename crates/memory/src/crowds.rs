//! How much a thread has sent to each receiver lately: a receiver that was sent much has a long queue (see `small` in the runtime).
//!
//! These are hints. Receivers whose numbers are a multiple of the table's size apart share a place, and a sender that finds another's count begins anew.

use std::sync::atomic::{AtomicU16, Ordering};

/// 8 KiB a thread, of which it uses what it needs for its receivers.
const CROWDS: usize = 4096;

/// A thread's. Relaxed throughout: hints. (Threads without a row of their own share one.)
pub struct Crowds {
    /// The receiver's turn in which the thread sent it something last, in the upper half, and how often it did in that turn, in the lower.
    counts: [AtomicU16; CROWDS],
}

impl Crowds {
    pub(crate) const fn new() -> Crowds {
        Crowds { counts: [const { AtomicU16::new(0) }; CROWDS] }
    }

    /// Something is sent to the receiver of this number (those of processes that were made together are next to each other), whose `turn`
    /// changes when its queue is short. Returns how much the thread sent to it since the turn changed last, as far as the thread knows: 255 for more.
    #[inline(always)]
    pub fn add(&self, receiver: u64, turn: u8) -> u8 {
        let count = &self.counts[receiver as usize % CROWDS];
        let [before, sent] = count.load(Ordering::Relaxed).to_be_bytes();
        let sent = if before == turn { sent } else { 0 };
        count.store(u16::from_be_bytes([turn, sent.saturating_add(1)]), Ordering::Relaxed);
        sent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crowd_is_what_came_since_the_receiver_looked() {
        let crowds = Box::new(Crowds::new());
        let sent: Vec<u8> = (0..300).map(|_| crowds.add(5, 7)).collect();
        assert_eq!((sent[0], sent[1], sent[255], sent[299]), (0, 1, 255, 255));
        assert_eq!(crowds.add(6, 7), 0);
        assert_eq!(crowds.add(5, 8), 0);
        assert_eq!(crowds.add(5, 8), 1);
        assert_eq!(crowds.add(5 + CROWDS as u64, 9), 0);
    }
}
