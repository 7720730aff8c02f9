//! An encoded message to packets.

use super::framing::Framing;
use super::message::OutMessage;
use super::out_cache::{self, OutCache};
use heddle_term::held::HeldBytes;
use std::num::NonZeroU64;
use std::ops::Range;

/// Bytes of terms in a packet, but where a control message has more.
pub const MAX_FRAGMENT_BYTES: usize = 64 << 10;

/// A place in the body of a message.
#[derive(Clone, Copy, Default)]
struct Place {
    /// In the message's own bytes.
    at: usize,
    /// How many of the held binaries lie before.
    held: usize,
    /// In the held binary that begins at `at`.
    inside: usize,
}

/// The packets of one message, in order.
pub struct Fragmenter {
    framing: Framing,
    message: OutMessage,
    sequence: NonZeroU64,
    /// Packets that are still to come.
    left: u64,
    is_first: bool,
    place: Place,
}

/// A packet, without the length before it.
pub struct Packet<'a> {
    /// Comes before the body.
    pub header: Vec<u8>,
    /// The body, piece by piece.
    pub pieces: Pieces<'a>,
}

/// A part of a packet's body.
#[derive(Clone)]
pub enum Piece<'a> {
    /// Bytes of the message.
    Own(&'a [u8]),
    /// These bytes of a large binary, which the receiver of the piece may hold as well.
    Held(&'a HeldBytes, Range<usize>),
}

/// The next bytes of a message.
#[derive(Clone)]
pub struct Pieces<'a> {
    message: &'a OutMessage,
    place: Place,
    left_bytes: usize,
}

impl Fragmenter {
    /// `sequence` tells the fragments of this message from those of others. No other message of the connection that is not sent
    /// completely has it.
    pub fn new(framing: Framing, mut message: OutMessage, sequence: NonZeroU64) -> Fragmenter {
        if !framing.has_header() && !message.has_versions {
            message.add_versions();
        }
        let rest = message.len_bytes - first_bytes(framing, &message);
        let left = 1 + rest.div_ceil(MAX_FRAGMENT_BYTES) as u64;
        Fragmenter { framing, message, sequence, left, is_first: true, place: Place::default() }
    }

    /// Packets that are still to come.
    pub fn packets_left(&self) -> u64 {
        self.left
    }

    /// The next packet, to be sent before any other that is made later with the cache of the connection.
    pub fn next(&mut self, cache: &mut OutCache) -> Option<Packet<'_>> {
        if self.left == 0 {
            return None;
        }
        let mut header = Vec::with_capacity(64);
        let (message, sequence) = (&self.message, self.sequence.get());
        let len = if !std::mem::take(&mut self.is_first) {
            out_cache::next_fragment(&mut header, sequence, self.left);
            MAX_FRAGMENT_BYTES
        } else {
            match self.framing.has_header() {
                false => out_cache::pass_through(&mut header),
                true if self.left == 1 => cache.whole(&mut header, &message.atoms),
                true => cache.first_fragment(&mut header, &message.atoms, sequence, self.left),
            }
            first_bytes(self.framing, message)
        };
        self.left -= 1;
        let pieces = Pieces { message, place: self.place, left_bytes: len };
        let mut walk = pieces.clone();
        while walk.next().is_some() {}
        self.place = walk.place;
        // The last packet may be shorter.
        Some(Packet { header, pieces: Pieces { left_bytes: len - walk.left_bytes, ..pieces } })
    }
}

/// Bytes of the message in its first packet.
fn first_bytes(framing: Framing, message: &OutMessage) -> usize {
    if framing.fragments { message.len_bytes.min(MAX_FRAGMENT_BYTES).max(message.control_bytes) } else { message.len_bytes }
}

impl Packet<'_> {
    /// Bytes of header and body.
    pub fn len_bytes(&self) -> usize {
        self.header.len() + self.pieces.left_bytes
    }

    /// Appends header and body.
    pub fn append_to(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.header);
        self.pieces.clone().for_each(|piece| out.extend_from_slice(piece.as_bytes()));
    }
}

impl<'a> Piece<'a> {
    pub fn as_bytes(&self) -> &'a [u8] {
        match self {
            Piece::Own(bytes) => bytes,
            Piece::Held(held, range) => &held.as_bytes()[range.clone()],
        }
    }
}

impl<'a> Iterator for Pieces<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        if self.left_bytes == 0 {
            return None;
        }
        let place = &mut self.place;
        let held = self.message.held.get(place.held);
        if let Some((at, binary)) = held
            && *at == place.at
        {
            let rest = binary.as_bytes().len() - place.inside;
            let len = rest.min(self.left_bytes);
            let piece = Piece::Held(binary, place.inside..place.inside + len);
            place.inside += len;
            if len == rest {
                (place.held, place.inside) = (place.held + 1, 0);
            }
            self.left_bytes -= len;
            return Some(piece);
        }
        let end = held.map_or(self.message.bytes.len(), |(at, _)| *at);
        let len = (end - place.at).min(self.left_bytes);
        if len == 0 {
            return None;
        }
        let piece = Piece::Own(&self.message.bytes[place.at..place.at + len]);
        place.at += len;
        self.left_bytes -= len;
        Some(piece)
    }
}
