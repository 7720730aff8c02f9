//! Packets that a node never sends, byte by byte.

use crate::random_pid::{self, Own};
use heddle_dist::wire::Framing;
use heddle_model::Random;
use heddle_term::etf;
use heddle_term::{Heap, Term};

/// What precedes a term on this connection.
fn version(framing: Framing) -> &'static [u8] {
    if framing.has_header() { &[] } else { &[131] }
}

/// The beginning of a packet without atoms.
fn header(framing: Framing) -> Vec<u8> {
    if framing.has_header() { vec![131, 68, 0] } else { vec![112] }
}

/// `{6, From, '', hostile_1}`, to which any payload may be added.
fn to_name(framing: Framing, own: &Own, random: &mut Random) -> Vec<u8> {
    let mut heap = Heap::new();
    let (from, name) = (own.pid(random).to_term(&mut heap), random_pid::name(random));
    let control = heap.tuple(&[Term::small(6), from, Term::NIL, name.into()]);
    let mut packet = header(framing);
    packet.extend_from_slice(version(framing));
    packet.extend_from_slice(&encoded(control));
    packet.extend_from_slice(version(framing));
    heap.clear();
    packet
}

/// A term without version byte.
fn encoded(term: Term) -> Vec<u8> {
    let mut bytes = Vec::new();
    etf::encode_body(&mut bytes, term, &etf::EncodeOptions::default());
    bytes
}

/// A packet of any of these kinds. Most break the protocol.
pub fn packet(framing: Framing, own: &Own, random: &mut Random) -> Vec<u8> {
    match random.below(10) {
        0..4 => odd_payload(framing, own, random),
        4 | 5 => odd_operation(framing, random),
        6 | 7 => odd_header(random),
        8 => (0..random.below(60)).map(|_| random.bits() as u8).collect(),
        _ => odd_control(framing, random),
    }
}

/// A payload that claims more than there is, or is no term.
fn odd_payload(framing: Framing, own: &Own, random: &mut Random) -> Vec<u8> {
    let mut packet = to_name(framing, own, random);
    let claim = random.one(&[0u32, 1, 65_536, 1 << 24, 1 << 27, 1 << 30, u32::MAX - 1, u32::MAX]).to_be_bytes();
    let depth = if random.chance(2) { 300_000 } else { random.one(&[10, 300, 1000, 5000]) };
    match random.below(14) {
        // Lists, tuples, maps, binaries, numbers and funs of that size.
        0 => packet.extend([&[108], &claim[..]].concat()),
        1 => packet.extend([&[105], &claim[..]].concat()),
        2 => packet.extend([&[116], &claim[..]].concat()),
        3 => packet.extend([&[109], &claim[..], b"few"].concat()),
        4 => packet.extend([&[111], &claim[..], &[0, 1]].concat()),
        5 => packet.extend([&[77], &claim[..], &[7, 1]].concat()),
        6 => packet.extend([&[112], &claim[..], &[1; 40]].concat()),
        // Many claims, each inside the one before.
        7 => (0..depth).for_each(|_| packet.extend([108, 0, 0, 0, 2])),
        // Deep terms, complete ones among them.
        8 => {
            (0..depth).for_each(|_| packet.extend([104, 1]));
            packet.push(106);
        }
        9 => {
            (0..depth).for_each(|_| packet.extend([108, 0, 0, 0, 1]));
            packet.push(106);
            (0..depth).for_each(|_| packet.push(106));
        }
        10 => {
            (0..depth).for_each(|_| packet.extend([116, 0, 0, 0, 1, 97, 1]));
            packet.push(106);
        }
        // Compressed terms and sealed ones have no place here.
        11 => packet.extend([&[80], &claim[..], &[120, 156, 75, 4, 0, 0, 98, 0, 98]].concat()),
        12 => packet.extend([121, 1, 2, 3, 4, 5, 6, 7, 8, 106]),
        _ => packet.extend((0..random.below(40)).map(|_| random.bits() as u8)),
    }
    packet
}

/// Operations that there are not, in tuples of any size.
fn odd_operation(framing: Framing, random: &mut Random) -> Vec<u8> {
    let mut heap = Heap::new();
    let operation = match random.below(4) {
        0 => Term::small(random.one(&[0, 4, 5, 9, 10, 11, 14, 15, 17, 37, 38, 255])),
        1 => {
            let any = random.bits() as i64;
            heap.integer(any)
        }
        2 => Term::small(random.below(37) as i64),
        _ => crate::random::term(&mut heap, random, 1),
    };
    let mut elements = vec![operation];
    for _ in 0..random.below(8) {
        elements.push(crate::random::term(&mut heap, random, 1));
    }
    let mut packet = header(framing);
    for term in [heap.tuple(&elements), Term::NIL] {
        packet.extend_from_slice(version(framing));
        packet.extend_from_slice(&encoded(term));
    }
    heap.clear();
    packet
}

/// Atoms of the cache that were never set, counts that are too large, names that are no text.
fn odd_header(random: &mut Random) -> Vec<u8> {
    let mut packet = vec![131, random.one(&[68, 68, 69, 70, 67, 71, 0])];
    if packet[1] == 69 || packet[1] == 70 {
        packet.extend_from_slice(&(random.below(9) << random.below(60)).to_be_bytes());
        packet.extend_from_slice(&(random.below(9) << random.below(60)).to_be_bytes());
    }
    let count = random.one(&[0, 1, 2, 7, 254, 255]);
    packet.push(count);
    let fills = random.one(&[0, 0x88, 0x08, 0x80, 0xff]);
    let flags = random.below(count as u64 / 2 + 2) as usize;
    packet.extend((0..flags).map(|_| fills));
    for _ in 0..random.below(count as u64 + 1) {
        packet.push(random.bits() as u8);
        if fills & 8 != 0 {
            packet.extend(random.one(&[&[2, b'o', b'k'][..], &[0], &[3, 0xff, 0xfe, 0xfd], &[255, b'x'], &[0, 2, b'o', b'k']]));
        }
    }
    packet
}

/// A control message that is no tuple.
fn odd_control(framing: Framing, random: &mut Random) -> Vec<u8> {
    let mut heap = Heap::new();
    let mut packet = header(framing);
    packet.extend_from_slice(version(framing));
    packet.extend_from_slice(&encoded(crate::random::term(&mut heap, random, 3)));
    heap.clear();
    packet
}
