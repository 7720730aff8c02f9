//! Messages on their way to the peer, until the port or process that carries the connection takes them.
//!
//! A message of more bytes than a fragment goes out a fragment at a time, with others in between. What its sender sends meanwhile waits until
//! its last fragment is out, so the order of one sender's signals holds.

use crate::large_senders::LargeSenders;
use crate::outgoing::{Needs, Outgoing};
use crate::wire::{Fragmenter, Framing, MAX_FRAGMENT_BYTES, OutCache, Packet};
use heddle_runtime::RefId;
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
    /// Bytes of the messages in `ready`.
    bytes: usize,
    pub senders: LargeSenders,
    /// Requests to spawn that the peer does not take: sender and reference.
    refused: Vec<(u64, RefId)>,
    /// Bytes of all messages that have at most as many as a fragment.
    small_bytes: usize,
    sequence: NonZeroU64,
    cache: OutCache,
    /// Bytes of small messages that left since the last fragment.
    since_fragment: usize,
}

impl OutQueue {
    pub fn new() -> OutQueue {
        OutQueue {
            ready: VecDeque::new(),
            large: VecDeque::new(),
            bytes: 0,
            senders: LargeSenders::default(),
            refused: Vec::new(),
            small_bytes: 0,
            sequence: NonZeroU64::MIN,
            cache: OutCache::new(),
            since_fragment: 0,
        }
    }

    /// Bytes of all messages that are not out completely.
    pub fn bytes(&self) -> usize {
        self.bytes + self.senders.total_bytes()
    }

    /// Those of them that delay what any process sends.
    pub fn ready_bytes(&self) -> usize {
        self.bytes
    }

    /// Bytes of messages that have at most as many as a fragment.
    pub fn small_bytes(&self) -> usize {
        self.small_bytes
    }

    pub fn is_empty(&self) -> bool {
        self.ready.is_empty() && self.large.is_empty()
    }

    /// Requests to spawn that were not sent, since the peer does not take them.
    pub fn refused(&mut self) -> Vec<(u64, RefId)> {
        std::mem::take(&mut self.refused)
    }

    pub fn push(&mut self, message: Outgoing) {
        self.small_bytes += small(message.bytes());
        match self.large.iter_mut().find(|large| large.sender == message.sender) {
            Some(large) => {
                self.senders.queued(message.sender, message.bytes());
                large.later.push_back(message);
            }
            None => {
                self.bytes += message.bytes();
                self.ready.push_back(message);
            }
        }
    }

    /// The next packets, until they have about `room` bytes. `flags`: what both nodes can do.
    pub fn take(&mut self, flags: u64, room: usize, mut write: impl FnMut(&Packet<'_>)) {
        let mut written = 0;
        while written < room && !self.is_empty() {
            written += self.take_one(flags, &mut write);
        }
    }

    /// The next packet, if there is one. Returns its bytes. Between two fragments of large messages are at most as many bytes of small messages
    /// as a fragment may have.
    pub fn take_one(&mut self, flags: u64, write: &mut impl FnMut(&Packet<'_>)) -> usize {
        while self.large.is_empty() || self.since_fragment < MAX_FRAGMENT_BYTES {
            let Some(outgoing) = self.ready.pop_front() else { break };
            let bytes = outgoing.bytes();
            self.small_bytes -= small(bytes);
            if !outgoing.is_for(flags) {
                self.bytes -= bytes;
                if let Needs::Spawning(request) = outgoing.needs {
                    self.refused.push((outgoing.sender, request));
                }
                continue;
            }
            let Outgoing { sender, message, .. } = outgoing;
            self.sequence = self.sequence.checked_add(1).unwrap_or(NonZeroU64::MIN);
            let mut fragments = Fragmenter::new(Framing::of_flags(flags), message, self.sequence);
            if fragments.packets_left() > 1 {
                self.bytes -= bytes;
                self.senders.queued(sender, bytes);
                self.begin(sender, fragments);
                continue;
            }
            self.bytes -= bytes;
            let Some(packet) = fragments.next(&mut self.cache) else { continue };
            self.since_fragment += packet.len_bytes();
            write(&packet);
            return packet.len_bytes();
        }
        self.since_fragment = 0;
        self.take_fragment(write)
    }

    /// A message that goes out in fragments. What its sender has in the queue waits.
    fn begin(&mut self, sender: u64, fragments: Fragmenter) {
        let (later, others): (VecDeque<Outgoing>, _) =
            std::mem::take(&mut self.ready).into_iter().partition(|message| message.sender == sender);
        self.ready = others;
        for message in &later {
            self.bytes -= message.bytes();
            self.senders.queued(sender, message.bytes());
        }
        self.large.push_back(Large { sender, fragments, later });
    }

    /// One fragment of the large message whose turn it is.
    fn take_fragment(&mut self, write: &mut impl FnMut(&Packet<'_>)) -> usize {
        let Some(mut large) = self.large.pop_front() else { return 0 };
        let mut written = 0;
        if let Some(packet) = large.fragments.next(&mut self.cache) {
            written = packet.len_bytes();
            write(&packet);
            self.senders.left(large.sender, written - packet.header.len());
        }
        if large.fragments.packets_left() > 0 {
            self.large.push_back(large);
        } else {
            // They come before what their sender sends from now on, and after what others have sent.
            for message in large.later {
                self.senders.left(large.sender, message.bytes());
                self.bytes += message.bytes();
                self.ready.push_back(message);
            }
        }
        written
    }
}

/// The bytes of a message if they are few.
fn small(bytes: usize) -> usize {
    if bytes <= MAX_FRAGMENT_BYTES { bytes } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flags;
    use crate::wire::{Control, DistEncoder};
    use heddle_term::ident::PidView;
    use heddle_term::{Heap, node};

    /// An atom cache and fragments.
    const FLAGS: u64 = flags::ATOM_CACHE | flags::FRAGMENTS;

    fn message(sender: u64, bytes: usize) -> Outgoing {
        let mut heap = Heap::new();
        let (name, creation) = node::current();
        let to = PidView { node: name, creation, number: sender as u32, serial: 0 };
        let payload = heap.binary(&vec![sender as u8; bytes]);
        let control = Control::Send { from: None, to, token: None };
        Outgoing {
            sender,
            needs: Needs::Nothing,
            message: DistEncoder::encode(Framing::of_flags(FLAGS), &control, Some(payload)).expect("a small message"),
        }
    }

    /// The packets that are taken one by one, as (kind, bytes).
    fn packets(queue: &mut OutQueue) -> Vec<(u8, usize)> {
        let mut all = Vec::new();
        while !queue.is_empty() {
            queue.take_one(FLAGS, &mut |packet| {
                let mut bytes = Vec::new();
                packet.append_to(&mut bytes);
                all.push((bytes[1], bytes.len()));
            });
        }
        all
    }

    #[test]
    fn each_packet_is_taken_once() {
        let mut queue = OutQueue::new();
        (0..5).for_each(|sender| queue.push(message(sender, 10)));
        assert_eq!(packets(&mut queue).len(), 5);
        assert_eq!(queue.bytes(), 0);
    }

    #[test]
    fn small_messages_leave_between_fragments_but_not_those_of_the_same_sender() {
        let mut queue = OutQueue::new();
        queue.push(message(1, 3 * MAX_FRAGMENT_BYTES));
        queue.push(message(1, 10));
        queue.push(message(2, 20));
        let kinds: Vec<u8> = packets(&mut queue).into_iter().map(|(kind, _)| kind).collect();
        // 68: whole; 69: first fragment; 70: the others.
        assert_eq!(kinds, [68, 69, 70, 70, 70, 68]);
        assert_eq!((queue.bytes(), queue.ready_bytes(), queue.senders.total_bytes()), (0, 0, 0));
    }

    #[test]
    fn large_messages_of_one_sender_follow_each_other() {
        let mut queue = OutQueue::new();
        (0..3).for_each(|_| queue.push(message(1, MAX_FRAGMENT_BYTES)));
        queue.push(message(1, 10));
        let kinds: Vec<u8> = packets(&mut queue).into_iter().map(|(kind, _)| kind).collect();
        assert_eq!(kinds, [69, 70, 69, 70, 69, 70, 68]);
        assert_eq!(queue.bytes(), 0);
    }
}
