//! Processes whose large messages are on their way out, a fragment at a time. What they have queued does not delay the messages of others, so it
//! does not count for the gate of the connection: each of them waits by itself. Only if the peer takes nothing, all senders wait.

use heddle_abi::settings::SETTINGS;
use std::collections::HashMap;

/// The bytes of large messages from which on their sender waits, and all others if the peer takes nothing. It waits until half of it is out.
#[inline]
pub fn busy_bytes() -> usize {
    SETTINGS.node_busy_kib.get() << 10
}

/// The peer takes nothing if nothing has left for so long (guessed).
const STALLED_MS: u64 = 20;

#[derive(Default)]
pub struct LargeSenders {
    /// By the number of the sender.
    bytes: HashMap<u64, usize>,
    total: usize,
    waiting: Vec<u64>,
    /// When something left last, in `ticks_ms`.
    left_ms: u64,
}

impl LargeSenders {
    /// Bytes that are not out.
    pub fn total_bytes(&self) -> usize {
        self.total
    }

    pub fn queued(&mut self, sender: u64, bytes: usize) {
        self.total += bytes;
        *self.bytes.entry(sender).or_default() += bytes;
    }

    pub fn left(&mut self, sender: u64, bytes: usize) {
        self.total = self.total.saturating_sub(bytes);
        if let Some(rest) = self.bytes.get_mut(&sender) {
            *rest = rest.saturating_sub(bytes);
            if *rest == 0 {
                self.bytes.remove(&sender);
            }
        }
    }

    fn of(&self, sender: u64) -> usize {
        self.bytes.get(&sender).copied().unwrap_or(0)
    }

    /// True if the process must not send now.
    pub fn must_wait(&self, sender: u64, now_ms: u64) -> bool {
        self.of(sender) >= busy_bytes() || self.total >= busy_bytes() && now_ms > self.left_ms + STALLED_MS
    }

    /// The process waits, and is among the `woken` later. False if it does not have to.
    pub fn wait(&mut self, sender: u64, now_ms: u64) -> bool {
        let waits = self.must_wait(sender, now_ms);
        if waits && !self.waiting.contains(&sender) {
            self.waiting.push(sender);
        }
        waits
    }

    /// Something left: the processes that may go on.
    pub fn woken(&mut self, now_ms: u64) -> Vec<u64> {
        self.left_ms = now_ms;
        let (waiting, woken) = std::mem::take(&mut self.waiting).into_iter().partition(|&sender| self.of(sender) > busy_bytes() / 2);
        self.waiting = waiting;
        woken
    }

    /// The connection has ended: all that wait.
    pub fn end(&mut self) -> Vec<u64> {
        std::mem::take(self).waiting
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sender_waits_for_its_own_messages_alone() {
        let mut large = LargeSenders::default();
        large.woken(100);
        large.queued(1, busy_bytes() + 10);
        large.queued(2, 100);
        assert!(large.wait(1, 101));
        assert!(!large.wait(2, 101));
        assert!(!large.wait(3, 101));
        large.left(1, 20);
        assert!(large.woken(102).is_empty());
        large.left(1, busy_bytes() / 2);
        assert_eq!(large.woken(103), [1]);
        assert!(!large.must_wait(1, 103));
    }

    #[test]
    fn all_wait_when_the_peer_takes_nothing() {
        let mut large = LargeSenders::default();
        large.woken(100);
        large.queued(1, busy_bytes());
        assert!(!large.must_wait(2, 100 + STALLED_MS));
        assert!(large.wait(2, 101 + STALLED_MS));
        assert_eq!(large.woken(300), [2]);
        assert!(large.wait(1, 300));
        assert_eq!(large.end(), [1]);
        assert_eq!(large.total_bytes(), 0);
    }
}
