//! Messages on their way to the peer, until the port or process that carries the connection takes them.
//!
//! A message of more bytes than a fragment goes out a fragment at a time, with others in between. What its sender sends meanwhile waits until
//! its last fragment is out, so the order of one sender's signals holds.

use crate::outgoing::Outgoing;
use crate::wire::{Fragmenter, Framing, MAX_FRAGMENT_BYTES, OutCache, Packet};
use std::collections::VecDeque;
use std::num::NonZeroU64;

/// A message that goes out in fragments, and what its sender sent afterwards.
struct Large {
    sender: u64,
    fragments: Fragmenter,
    later: VecDeque<Outgoing>,
}

pub struct OutQueue {
    ready: VecDeque<Outgoing>,
    large: VecDeque<Large>,
    /// Bytes of all messages that are not out completely.
    bytes: usize,
    sequence: NonZeroU64,
    cache: OutCache,
}

impl OutQueue {
    pub fn new() -> OutQueue {
        OutQueue { ready: VecDeque::new(), large: VecDeque::new(), bytes: 0, sequence: NonZeroU64::MIN, cache: OutCache::new() }
    }

    /// Bytes of all messages that are not out completely.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    pub fn is_empty(&self) -> bool {
        self.ready.is_empty() && self.large.is_empty()
    }

    pub fn push(&mut self, message: Outgoing) {
        self.bytes += message.bytes();
        match self.large.iter_mut().find(|large| large.sender == message.sender) {
            Some(large) => large.later.push_back(message),
            None => self.ready.push_back(message),
        }
    }

    /// The next packets, appended to `packets` by `write`, until they have about `room` bytes. A fragment of a large message follows at most as
    /// many bytes of small ones as it has itself.
    pub fn take(&mut self, framing: Framing, room: usize, mut write: impl FnMut(&Packet<'_>)) {
        let mut written = 0;
        while written < room && !self.is_empty() {
            written += self.take_small(framing, &mut write);
            written += self.take_fragment(&mut write);
        }
    }

    fn take_small(&mut self, framing: Framing, write: &mut impl FnMut(&Packet<'_>)) -> usize {
        let mut written = 0;
        while written < MAX_FRAGMENT_BYTES
            && let Some(Outgoing { sender, message }) = self.ready.pop_front()
        {
            let bytes = message.len_bytes();
            self.sequence = self.sequence.checked_add(1).unwrap_or(NonZeroU64::MIN);
            let mut fragments = Fragmenter::new(framing, message, self.sequence);
            if fragments.packets_left() > 1 {
                self.begin(sender, fragments);
                continue;
            }
            if let Some(packet) = fragments.next(&mut self.cache) {
                written += packet.len_bytes();
                write(&packet);
            }
            self.bytes -= bytes;
        }
        written
    }

    /// A message that goes out in fragments. What its sender has in the queue waits.
    fn begin(&mut self, sender: u64, fragments: Fragmenter) {
        let (later, others) = std::mem::take(&mut self.ready).into_iter().partition(|message| message.sender == sender);
        self.ready = others;
        self.large.push_back(Large { sender, fragments, later });
    }

    /// One fragment of the large message whose turn it is.
    fn take_fragment(&mut self, write: &mut impl FnMut(&Packet<'_>)) -> usize {
        let Some(mut large) = self.large.pop_front() else { return 0 };
        let mut written = 0;
        if let Some(packet) = large.fragments.next(&mut self.cache) {
            written = packet.len_bytes();
            write(&packet);
            self.bytes -= written - packet.header.len();
        }
        if large.fragments.packets_left() > 0 {
            self.large.push_back(large);
        } else {
            // They come before what their sender sends from now on, and after what others have sent.
            self.ready.extend(large.later);
        }
        written
    }
}
