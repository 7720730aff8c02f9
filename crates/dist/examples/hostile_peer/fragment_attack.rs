//! Fragments as no node sends them: out of order, twice, of sequences that never end.

use crate::random_pid::Own;
use heddle_model::Random;
use heddle_term::{Heap, Term, etf};

fn first(sequence: u64, count: u64, body: &[u8]) -> Vec<u8> {
    [&[131, 69][..], &sequence.to_be_bytes(), &count.to_be_bytes(), &[0], body].concat()
}

fn next(sequence: u64, number: u64, body: &[u8]) -> Vec<u8> {
    [&[131, 70][..], &sequence.to_be_bytes(), &number.to_be_bytes(), body].concat()
}

/// Packets that belong together. The judge says which of them the node takes.
pub fn packets(own: &Own, random: &mut Random) -> Vec<Vec<u8>> {
    // Apart from the numbers of right messages, which begin at 1, or among them.
    let any = random.bits();
    let sequence = random.one(&[0, 1, 1 << 32, u64::MAX - 50, any]).wrapping_add(random.below(20));
    let mut heap = Heap::new();
    let from = own.pid(random).to_term(&mut heap);
    let control = heap.tuple(&[Term::small(6), from, Term::NIL, crate::random_pid::name(random).into()]);
    let mut body = Vec::new();
    etf::encode_body(&mut body, control, &etf::EncodeOptions::default());
    heap.clear();
    // A binary of which the fragments bring the bytes.
    let bytes = random.one(&[10u32, 10, 1000, 1000, 1000, 100_000]);
    body.push(109);
    body.extend_from_slice(&bytes.to_be_bytes());
    let part = vec![5; random.one(&[0, 1, 1, 1, 500, 500, 500, 500, 500, 60_000])];
    let count = random.one(&[2, 3, 5, 1 << 40, u64::MAX]);
    let mut packets = vec![first(sequence, count, &body)];
    match random.below(7) {
        // Complete, in order.
        0 => {
            let count = 4;
            packets = vec![first(sequence, count, &body)];
            let rest = vec![5; bytes as usize];
            let part = rest.len().div_ceil(3);
            packets.extend(rest.chunks(part).enumerate().map(|(n, part)| next(sequence, count - 1 - n as u64, part)));
        }
        // Never complete.
        1 => packets.extend((0..random.below(20)).map(|n| next(sequence, count - 1 - n.min(count - 2), &part))),
        // Out of order, or of another sequence.
        2 => packets.push(next(sequence, count, &part)),
        3 => packets.push(next(sequence.wrapping_add(1), count - 1, &part)),
        4 => packets.push(first(sequence, count, &body)),
        // No fragment, and the last one first.
        5 => packets = vec![first(sequence, random.below(2), &body)],
        _ => packets = (0..random.one(&[10, 100])).map(|n| first(sequence.wrapping_add(n), 2, &body)).collect(),
    }
    packets
}
