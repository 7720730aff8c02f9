//! Packets of a connection to whole messages.

use super::error::WireError;
use super::framing::Framing;
use super::in_cache::{InCache, InPacket};
use super::received::{Body, Received};
use heddle_term::Atom;
use heddle_term::etf::AtomBudget;
use heddle_term::held::HeldBuilder;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// Bytes that the first fragment of a message makes room for at most (guessed: most messages are smaller), and how many times its own.
const FIRST_ROOM_BYTES: usize = 2 << 20;
const FIRST_ROOM_TIMES: usize = 32;

/// What incomplete messages of a connection may take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Messages that are incomplete at the same time. A sender that is a process has at most one.
    pub max_sequences: usize,
    /// Bytes of them all, with the room that was made for fragments to come.
    pub max_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        // Guessed: far above what nodes do.
        Limits { max_sequences: 1 << 16, max_bytes: 4 << 30 }
    }
}

/// A message of which fragments are missing.
#[derive(Clone)]
struct Sequence {
    atoms: Vec<Atom>,
    body: HeldBuilder,
    /// Bytes that the body will have, guessed from the first fragment.
    expected_bytes: usize,
    /// The number of the next fragment, and so of those that are missing.
    missing: u64,
}

/// Takes the packets of one connection as they arrive.
#[derive(Clone)]
pub struct Assembler {
    framing: Framing,
    cache: InCache,
    incomplete: HashMap<u64, Sequence>,
    /// Bytes of the bodies in `incomplete`, with their unused room.
    bytes: usize,
    limits: Limits,
}

impl Assembler {
    pub fn new(framing: Framing, limits: Limits) -> Assembler {
        Assembler { framing, cache: InCache::new(), incomplete: HashMap::new(), bytes: 0, limits }
    }

    /// The message that this packet completes, if it does. Its bytes are the packet's where it has one packet.
    pub fn receive<'a>(&mut self, packet: &'a [u8], budget: &AtomBudget) -> Result<Option<Received<'a>>, WireError> {
        match self.cache.read(self.framing, packet, budget)? {
            InPacket::Tick => Ok(None),
            InPacket::Whole { atoms, body } | InPacket::First { fragment: 1, atoms, body, .. } => {
                Ok(Some(Received::new(self.framing, atoms, Body::Packet(body))))
            }
            InPacket::First { sequence, fragment, atoms, body } => {
                self.first(sequence, fragment, atoms, body)?;
                Ok(None)
            }
            InPacket::Next { sequence, fragment, body } => self.next(sequence, fragment, body),
        }
    }

    fn first(&mut self, sequence: u64, fragment: u64, atoms: Vec<Atom>, body: &[u8]) -> Result<(), WireError> {
        let missing = fragment.checked_sub(1).ok_or(WireError::FragmentZero { sequence })?;
        // Later fragments are not larger. The number of fragments is the peer's word, so room is made as they come.
        let expected_bytes = body.len().saturating_mul(fragment.try_into().unwrap_or(usize::MAX));
        let room = expected_bytes.min(FIRST_ROOM_BYTES).min(FIRST_ROOM_TIMES * body.len());
        if self.bytes.saturating_add(room) > self.limits.max_bytes {
            return Err(WireError::TooManyBytes { limit: self.limits.max_bytes });
        }
        let begun = self.incomplete.len();
        match self.incomplete.entry(sequence) {
            Entry::Occupied(_) => Err(WireError::SequenceTwice { sequence }),
            Entry::Vacant(_) if begun >= self.limits.max_sequences => Err(WireError::TooManySequences { limit: self.limits.max_sequences }),
            Entry::Vacant(place) => {
                let mut begun = HeldBuilder::with_capacity(room);
                begun.append(body);
                self.bytes += begun.capacity_bytes();
                place.insert(Sequence { atoms, body: begun, expected_bytes, missing });
                Ok(())
            }
        }
    }

    fn next<'a>(&mut self, sequence: u64, fragment: u64, body: &[u8]) -> Result<Option<Received<'a>>, WireError> {
        let room = self.limits.max_bytes.saturating_sub(self.bytes);
        let Entry::Occupied(mut place) = self.incomplete.entry(sequence) else {
            return Err(WireError::UnknownSequence { sequence });
        };
        let begun = place.get_mut();
        if begun.missing != fragment {
            return Err(WireError::FragmentOrder { sequence, expected: begun.missing, got: fragment });
        }
        let old = begun.body.capacity_bytes();
        if (begun.body.len_bytes() + body.len()).saturating_sub(old) > room {
            return Err(WireError::TooManyBytes { limit: self.limits.max_bytes });
        }
        begun.body.append_up_to(body, begun.expected_bytes.min(old + room));
        self.bytes += begun.body.capacity_bytes() - old;
        begun.missing -= 1;
        if begun.missing > 0 {
            return Ok(None);
        }
        let Sequence { atoms, body, .. } = place.remove();
        self.bytes -= body.capacity_bytes();
        Ok(Some(Received::new(self.framing, atoms, Body::Held(body.finish()))))
    }

    /// Bytes that incomplete messages take.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}
