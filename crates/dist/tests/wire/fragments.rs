//! Messages in several packets.

use heddle_dist::wire::{
    Assembler, AtomBudget, Control, DistEncoder, Fragmenter, Framing, Limits, MAX_FRAGMENT_BYTES, OutCache, OutMessage, WireError,
};
use heddle_term::ident::PidView;
use heddle_term::{Atom, Heap, Term, order};
use std::num::NonZeroU64;

const BOTH: Framing = Framing { atom_cache: true, fragments: true };

fn send() -> Control {
    let pid = PidView { node: Atom::new("peer@host"), creation: 7, number: 100, serial: 2 };
    Control::Send { from: Some(pid), to: pid, token: None }
}

/// A message with a large binary, small terms, and a large binary again.
fn large_term(heap: &mut Heap, size: usize) -> Term {
    let large = heap.binary(&(0..size).map(|n| (n * 31) as u8).collect::<Vec<_>>());
    let part = heap.sub_bits(large, 80, (size as u64 - 11) * 8 + 3);
    let small: Vec<Term> = (0..size as i64 / 8).map(Term::small).collect();
    let small = heap.list(&small);
    heap.tuple(&[large, small, Term::atom(Atom::new("between")), part])
}

fn packets(message: OutMessage, framing: Framing, sequence: u64, cache: &mut OutCache) -> Vec<Vec<u8>> {
    let mut fragmenter = Fragmenter::new(framing, message, NonZeroU64::new(sequence).unwrap());
    let mut packets = Vec::new();
    while let Some(packet) = fragmenter.next(cache) {
        let mut bytes = Vec::new();
        packet.append_to(&mut bytes);
        packets.push(bytes);
    }
    packets
}

#[test]
fn a_long_message_comes_back_from_its_fragments() {
    let budget = AtomBudget::new(0);
    let mut cache = OutCache::new();
    let mut assembler = Assembler::new(BOTH, Limits::default());
    for size in [100, 30_000, MAX_FRAGMENT_BYTES, 3 * MAX_FRAGMENT_BYTES + 1] {
        let mut heap = Heap::new();
        let term = large_term(&mut heap, size);
        let message = DistEncoder::encode(BOTH, &send(), Some(term)).unwrap();
        let len = message.len_bytes();
        let packets = packets(message, BOTH, 9, &mut cache);
        assert_eq!(packets.len(), len.div_ceil(MAX_FRAGMENT_BYTES));
        assert!(packets.iter().all(|packet| packet.len() < MAX_FRAGMENT_BYTES + 400));
        for (n, packet) in packets.iter().enumerate() {
            let received = assembler.receive(packet, &budget).unwrap();
            assert_eq!(received.is_some(), n + 1 == packets.len());
            if let Some(received) = received {
                assert_eq!(received.len_bytes(), len);
                let (_, payload) = received.split(&mut heap, &budget).unwrap();
                let again = payload.unwrap().decode(&mut heap, &budget).unwrap();
                assert!(order::exact_eq(term, again));
            }
        }
        assert_eq!(assembler.bytes(), 0);
        heap.clear();
    }
}

#[test]
fn a_message_outlives_the_terms_that_it_was_made_of() {
    let budget = AtomBudget::new(0);
    let mut heap = Heap::new();
    let term = large_term(&mut heap, 5000);
    let message = DistEncoder::encode(BOTH, &send(), Some(term)).unwrap();
    let kept = heddle_term::etf::encode(term, &heddle_term::etf::EncodeOptions::default());
    heap.clear();
    let packets = packets(message, BOTH, 1, &mut OutCache::new());
    let received = Assembler::new(BOTH, Limits::default()).receive(&packets[0], &budget).unwrap().unwrap();
    let mut heap = Heap::new();
    let payload = received.split(&mut heap, &budget).unwrap().1.unwrap();
    let again = payload.decode(&mut heap, &budget).unwrap();
    assert_eq!(heddle_term::etf::encode(again, &heddle_term::etf::EncodeOptions::default()), kept);
    heap.clear();
}

#[test]
fn a_control_message_is_in_the_first_packet_however_long() {
    let mut heap = Heap::new();
    let reason = large_term(&mut heap, 200_000);
    let Control::Send { from: Some(from), to, .. } = send() else { unreachable!() };
    let exit = Control::Exit { from, to, token: None, reason: Some(reason) };
    let message = DistEncoder::encode(BOTH, &exit, None).unwrap();
    assert_eq!(packets(message, BOTH, 1, &mut OutCache::new()).len(), 1);
    let traced = Control::Send { from: Some(from), to, token: Some(reason) };
    let message = DistEncoder::encode(BOTH, &traced, Some(Term::NIL)).unwrap();
    let packets = packets(message, BOTH, 1, &mut OutCache::new());
    assert_eq!(packets.len(), 2);
    assert_eq!(packets[1].len(), 18 + 1);
    heap.clear();
}

#[test]
fn without_fragments_a_message_is_one_packet() {
    let mut heap = Heap::new();
    let term = large_term(&mut heap, 200_000);
    for (atom_cache, first) in [(true, [131, 68]), (false, [112, 131])] {
        let framing = Framing { atom_cache, fragments: false };
        let message = DistEncoder::encode(framing, &send(), Some(term)).unwrap();
        let packets = packets(message, framing, 1, &mut OutCache::new());
        assert_eq!((packets.len(), &packets[0][..2]), (1, &first[..]));
    }
    heap.clear();
}

#[test]
fn fragments_of_several_messages_may_mix() {
    let budget = AtomBudget::new(0);
    let mut heap = Heap::new();
    let mut cache = OutCache::new();
    let terms: Vec<Term> = (1..4).map(|n| large_term(&mut heap, n * 90_000)).collect();
    let mut waiting: Vec<Fragmenter> = (1u64..)
        .zip(&terms)
        .map(|(n, &term)| {
            let message = DistEncoder::encode(BOTH, &send(), Some(term)).unwrap();
            Fragmenter::new(BOTH, message, NonZeroU64::new(n).unwrap())
        })
        .collect();
    let mut assembler = Assembler::new(BOTH, Limits::default());
    let mut complete = Vec::new();
    while complete.len() < terms.len() {
        for (n, fragmenter) in waiting.iter_mut().enumerate() {
            let Some(packet) = fragmenter.next(&mut cache) else { continue };
            let mut bytes = Vec::new();
            packet.append_to(&mut bytes);
            if let Some(received) = assembler.receive(&bytes, &budget).unwrap() {
                let payload = received.split(&mut heap, &budget).unwrap().1.unwrap();
                let again = payload.decode(&mut heap, &budget).unwrap();
                assert!(order::exact_eq(terms[n], again));
                complete.push(n);
            }
        }
    }
    assert_eq!(complete, [0, 1, 2]);
    heap.clear();
}

fn fragment(kind: u8, sequence: u64, fragment: u64, body: &[u8]) -> Vec<u8> {
    let mut packet = vec![131, kind];
    packet.extend_from_slice(&sequence.to_be_bytes());
    packet.extend_from_slice(&fragment.to_be_bytes());
    if kind == 69 {
        packet.push(0);
    }
    packet.extend_from_slice(body);
    packet
}

#[test]
fn fragments_out_of_order_are_errors() {
    let receive = |packets: &[Vec<u8>]| {
        let mut assembler = Assembler::new(BOTH, Limits { max_sequences: 2, max_bytes: 10 });
        let mut last = Ok(());
        for packet in packets {
            assert_eq!(last, Ok(()));
            last = assembler.receive(packet, &AtomBudget::new(0)).map(|_| ());
        }
        last.unwrap_err()
    };
    let sequence = 7;
    assert_eq!(receive(&[fragment(70, 7, 1, b"x")]), WireError::UnknownSequence { sequence });
    assert_eq!(receive(&[fragment(69, 7, 0, b"x")]), WireError::FragmentZero { sequence });
    assert_eq!(receive(&[fragment(69, 7, 3, b"x"), fragment(69, 7, 3, b"x")]), WireError::SequenceTwice { sequence });
    for got in [0, 1, 3, u64::MAX] {
        let order = WireError::FragmentOrder { sequence, expected: 2, got };
        assert_eq!(receive(&[fragment(69, 7, 3, b"x"), fragment(70, 7, got, b"x")]), order);
    }
    // What fits exactly is taken.
    let full = [fragment(69, 7, 2, b"12345"), fragment(70, 7, 1, b"12345"), fragment(70, 7, 1, b"")];
    assert_eq!(receive(&full), WireError::UnknownSequence { sequence });
    let many = [fragment(69, 7, 3, b""), fragment(69, 8, 3, b""), fragment(69, 9, 3, b"")];
    assert_eq!(receive(&many), WireError::TooManySequences { limit: 2 });
    let long = [fragment(69, 7, 2, b"12345"), fragment(70, 7, 1, b"123456")];
    assert_eq!(receive(&long), WireError::TooManyBytes { limit: 10 });
    assert_eq!(receive(&[fragment(69, 7, u64::MAX, b"x")]), WireError::TooManyBytes { limit: 10 });
}

#[test]
fn the_room_of_messages_that_are_not_complete_is_counted_before_it_is_taken() {
    let limits = Limits { max_sequences: 1000, max_bytes: 1000 };
    let mut assembler = Assembler::new(BOTH, limits);
    // Each claims to be the first of very many fragments.
    let first = |sequence| fragment(69, sequence, u64::MAX, b"few");
    let taken = (0..).take_while(|&sequence| assembler.receive(&first(sequence), &AtomBudget::new(0)).is_ok()).count();
    assert!((1..=10).contains(&taken), "{taken} messages");
    assert!(assembler.bytes() <= limits.max_bytes);
    // What is complete does not count any more.
    let mut assembler = Assembler::new(BOTH, limits);
    for sequence in 0..100 {
        assembler.receive(&fragment(69, sequence, 3, &[1; 100]), &AtomBudget::new(0)).unwrap();
        assembler.receive(&fragment(70, sequence, 2, &[1; 100]), &AtomBudget::new(0)).unwrap();
        assert!(assembler.bytes() >= 200);
        assembler.receive(&fragment(70, sequence, 1, &[1; 300]), &AtomBudget::new(0)).unwrap();
        assert_eq!(assembler.bytes(), 0);
    }
}
