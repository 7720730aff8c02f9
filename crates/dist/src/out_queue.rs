//! Messages on their way to the peer, until the port or process that carries the connection takes them.
//!
//! A message of more bytes than a fragment goes out a fragment at a time, with others in between. What its sender sends meanwhile waits until
//! its last fragment is out, so the order of one sender's signals holds. However many large messages there are (processes that end with a large reason do
//! not wait), few of them are begun at a time: the peer holds what it has of each.

use crate::large_senders::LargeSenders;
use crate::outgoing::{Needs, Outgoing};
use crate::wire::{Fragmenter, Framing, MAX_FRAGMENT_BYTES, OutCache, Packet};
use foldhash::fast::FixedState;
use heddle_runtime::RefId;
use std::collections::{HashMap, VecDeque};
use std::num::NonZeroU64;

/// Messages of which some fragments are out: the peer must hold what it has of them.
const MAX_BEGUN: usize = 1024;
const MAX_BEGUN_BYTES: usize = 1 << 30;
/// One of at most as many bytes begins whatever those before it have.
const MEDIUM_BYTES: usize = 1 << 20;

/// A message that goes out in fragments.
struct Large {
    sender: u64,
    fragments: Fragmenter,
    bytes: usize,
}

pub struct OutQueue {
    ready: VecDeque<Outgoing>,
    /// Those of which fragments are out, or may go out: one of each in turn.
    large: VecDeque<Large>,
    large_bytes: usize,
    max_large_bytes: usize,
    /// Those that begin when others are out.
    waiting: VecDeque<Large>,
    /// What the senders sent that have a large message in the queue: it follows that message.
    followers: HashMap<u64, VecDeque<Outgoing>, FixedState>,
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
            large_bytes: 0,
            max_large_bytes: MAX_BEGUN_BYTES,
            waiting: VecDeque::new(),
            followers: HashMap::default(),
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
        match self.followers.get_mut(&message.sender) {
            Some(later) => {
                self.senders.queued(message.sender, message.bytes());
                later.push_back(message);
            }
            None => self.is_ready(message),
        }
    }

    fn is_ready(&mut self, message: Outgoing) {
        self.bytes += message.bytes();
        if is_large(&message) {
            self.followers.insert(message.sender, VecDeque::new());
        }
        self.ready.push_back(message);
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
            let (bytes, is_large) = (outgoing.bytes(), is_large(&outgoing));
            self.small_bytes -= small(bytes);
            self.bytes -= bytes;
            if !outgoing.is_for(flags) {
                if let Needs::Spawning(request) = outgoing.needs {
                    self.refused.push((outgoing.sender, request));
                }
                if is_large {
                    self.is_out(outgoing.sender);
                }
                continue;
            }
            let Outgoing { sender, message, .. } = outgoing;
            self.sequence = self.sequence.checked_add(1).unwrap_or(NonZeroU64::MIN);
            let mut fragments = Fragmenter::new(Framing::of_flags(flags), message, self.sequence);
            if fragments.packets_left() > 1 {
                debug_assert!(is_large);
                self.senders.queued(sender, bytes);
                self.begin(Large { sender, fragments, bytes });
                continue;
            }
            let written = fragments.next(&mut self.cache).map(|packet| {
                write(&packet);
                packet.len_bytes()
            });
            if is_large {
                self.is_out(sender);
            }
            let Some(written) = written else { continue };
            self.since_fragment += written;
            return written;
        }
        self.since_fragment = 0;
        self.take_fragment(write)
    }

    /// A message goes out in fragments: from now on, or when those before it are out.
    fn begin(&mut self, large: Large) {
        if large.bytes <= MEDIUM_BYTES && self.large.len() < MAX_BEGUN {
            self.large_bytes += large.bytes;
            self.large.push_back(large);
        } else {
            self.waiting.push_back(large);
            self.begin_waiting();
        }
    }

    fn begin_waiting(&mut self) {
        while let Some(next) = self.waiting.front() {
            let has_room = self.large.len() < MAX_BEGUN && self.large_bytes + next.bytes <= self.max_large_bytes;
            if !has_room && !self.large.is_empty() {
                return;
            }
            self.large_bytes += next.bytes;
            self.large.extend(self.waiting.pop_front());
        }
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
            self.large_bytes -= large.bytes;
            self.is_out(large.sender);
            self.begin_waiting();
        }
        written
    }

    /// The large message of a sender is out. What follows it comes before what its sender sends from now on, and after what others have sent.
    fn is_out(&mut self, sender: u64) {
        let mut later = self.followers.remove(&sender).unwrap_or_default();
        while let Some(message) = later.pop_front() {
            self.senders.left(sender, message.bytes());
            let is_large = is_large(&message);
            self.is_ready(message);
            if is_large {
                self.followers.insert(sender, later);
                return;
            }
        }
    }
}

/// True if the message has more bytes than a fragment, or nearly as many.
fn is_large(message: &Outgoing) -> bool {
    message.bytes() + 16 > MAX_FRAGMENT_BYTES
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
    fn few_of_the_largest_are_begun_at_a_time() {
        let mut queue = OutQueue::new();
        queue.max_large_bytes = 10 << 20;
        (0..9).for_each(|sender| queue.push(message(sender, 3 << 20)));
        queue.push(message(100, 20));
        queue.take_one(FLAGS, &mut |packet| assert_eq!(packet.header[1], 68));
        assert_eq!((queue.large.len(), queue.waiting.len()), (3, 6));
        queue.push(message(101, 2 * MAX_FRAGMENT_BYTES));
        queue.take_one(FLAGS, &mut |packet| assert_eq!(packet.header[1], 69));
        assert_eq!((queue.large.len(), queue.waiting.len()), (4, 6));
        while queue.waiting.len() == 6 {
            queue.take_one(FLAGS, &mut |_| {});
        }
        assert_eq!(queue.large.len(), 3);
        packets(&mut queue);
        assert_eq!((queue.bytes(), queue.large_bytes, queue.followers.len()), (0, 0, 0));
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
