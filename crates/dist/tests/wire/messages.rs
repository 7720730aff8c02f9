//! Whole messages: encoding in steps, and payloads.

use crate::random;
use heddle_dist::wire::{Assembler, AtomBudget, Control, DistEncoder, Fragmenter, Framing, Limits, OutCache, OutMessage, Step, WireError};
use heddle_model::Random;
use heddle_term::ident::PidView;
use heddle_term::{Atom, Heap, Term};
use std::num::NonZeroU64;

const CACHE: Framing = Framing { atom_cache: true, fragments: false };
const NONE: Framing = Framing { atom_cache: false, fragments: false };

fn pid() -> PidView {
    PidView { node: Atom::new("peer@host"), creation: 7, number: 100, serial: 2 }
}

fn send() -> Control {
    Control::Send { from: Some(pid()), to: pid(), token: None }
}

fn packets(framing: Framing, message: OutMessage) -> Vec<Vec<u8>> {
    let (mut fragmenter, mut cache, mut packets) = (Fragmenter::new(framing, message, NonZeroU64::MIN), OutCache::new(), Vec::new());
    while let Some(packet) = fragmenter.next(&mut cache) {
        packets.push(Vec::new());
        packet.append_to(packets.last_mut().unwrap());
    }
    packets
}

/// The first packet of a message.
fn packet(framing: Framing, message: OutMessage) -> Vec<u8> {
    packets(framing, message).swap_remove(0)
}

#[test]
fn steps_write_what_one_step_writes() {
    let mut random = Random::new(5);
    let mut stops = 0;
    for n in 0..3000 {
        let mut heap = Heap::new();
        let term = random::term(&mut heap, &mut random, 5);
        let framing = if n % 2 == 0 { CACHE } else { NONE };
        let whole = packet(framing, DistEncoder::encode(framing, &send(), Some(term)).unwrap());
        let mut encoder = DistEncoder::new(framing, &send(), Some(term)).unwrap();
        let budget_bytes = random.one(&[0, 1, 10, 1000]);
        while encoder.step(budget_bytes) == Step::More {
            stops += 1;
        }
        assert_eq!(packet(framing, encoder.finish().unwrap()), whole, "{term:?}");
        heap.clear();
    }
    assert!(stops > 10_000);
}

#[test]
fn a_step_of_a_long_list_is_short() {
    let mut heap = Heap::new();
    let elements: Vec<Term> = (0..1_000_000).map(Term::small).collect();
    let list = heap.list(&elements);
    let mut encoder = DistEncoder::new(CACHE, &send(), Some(list)).unwrap();
    let mut steps = 1;
    while encoder.step(1000) == Step::More {
        steps += 1;
    }
    assert!((4000..6000).contains(&steps), "{steps}");
    let bytes = packet(CACHE, encoder.finish().unwrap());
    let plain = heddle_term::etf::encode(list, &Default::default());
    assert!(bytes.ends_with(&plain[1..]));
    heap.clear();
}

#[test]
fn without_atom_cache_terms_are_as_term_to_binary_writes_them() {
    let mut random = Random::new(6);
    for _ in 0..1000 {
        let mut heap = Heap::new();
        let term = random::term(&mut heap, &mut random, 4);
        let bytes = packet(NONE, DistEncoder::encode(NONE, &send(), Some(term)).unwrap());
        let plain = heddle_term::etf::encode(term, &Default::default());
        assert_eq!(bytes[..3], [112, 131, 104]);
        assert!(bytes.ends_with(&plain), "{term:?}");
        heap.clear();
    }
}

#[test]
fn a_payload_is_there_if_and_only_if_the_operation_has_one() {
    let budget = AtomBudget::new(0);
    let link = Control::Link { from: pid(), to: pid() };
    assert_eq!(DistEncoder::encode(CACHE, &send(), None).err(), Some(WireError::NoPayload(22)));
    assert_eq!(DistEncoder::encode(CACHE, &link, Some(Term::NIL)).err(), Some(WireError::UnexpectedPayload(1)));
    let mut heap = Heap::new();
    for framing in [CACHE, NONE] {
        let mut bytes = packet(framing, DistEncoder::encode(framing, &send(), Some(Term::NIL)).unwrap());
        bytes.truncate(bytes.len() - if framing.has_header() { 1 } else { 2 });
        let received = Assembler::new(framing, Limits::default()).receive(&bytes, &budget).unwrap().unwrap();
        assert_eq!(received.split(&mut heap, &budget).err(), Some(WireError::NoPayload(22)));
    }
    heap.clear();
}

#[test]
fn an_empty_packet_is_a_tick() {
    for framing in [CACHE, NONE] {
        assert!(Assembler::new(framing, Limits::default()).receive(&[], &AtomBudget::new(0)).unwrap().is_none());
    }
}

#[test]
fn atoms_of_a_payload_count_against_the_budget() {
    let mut heap = Heap::new();
    let mut bytes = packet(NONE, DistEncoder::encode(NONE, &send(), Some(Term::NIL)).unwrap());
    bytes.pop();
    bytes.extend_from_slice(b"\x77\x0fnew in payloads");
    let mut receive = |budget: &AtomBudget| {
        let received = Assembler::new(NONE, Limits::default()).receive(&bytes, budget).unwrap().unwrap();
        let (_, payload) = received.split(&mut heap, budget).unwrap();
        payload.unwrap().decode(&mut heap, budget)
    };
    assert_eq!(receive(&AtomBudget::new(0)).err(), Some(WireError::AtomBudget));
    assert_eq!(Atom::existing("new in payloads"), None);
    assert!(receive(&AtomBudget::new(1)).is_ok());
    heap.clear();
}

#[test]
fn what_was_encoded_before_the_framing_was_known_is_understood_in_each() {
    let mut random = Random::new(7);
    let budget = AtomBudget::new(0);
    for n in 0..2000 {
        let mut heap = Heap::new();
        let term = if n % 4 == 0 { heap.binary(&[n as u8; 3000]) } else { random::term(&mut heap, &mut random, 4) };
        for framing in [NONE, CACHE, Framing { atom_cache: true, fragments: true }, Framing::UNKNOWN] {
            let message = DistEncoder::encode(Framing::UNKNOWN, &send(), Some(term)).unwrap();
            let (packets, mut assembler) = (packets(framing, message), Assembler::new(framing, Limits::default()));
            let (last, others) = packets.split_last().unwrap();
            assert!(others.iter().all(|bytes| assembler.receive(bytes, &budget).unwrap().is_none()));
            let received = assembler.receive(last, &budget).unwrap().unwrap();
            let (control, payload) = received.split(&mut heap, &budget).unwrap();
            assert!(matches!(control, Control::Send { to, .. } if to == pid()));
            let again = payload.unwrap().decode(&mut heap, &budget).unwrap();
            assert!(heddle_term::order::exact_eq(term, again), "{term:?} {framing:?}");
        }
        heap.clear();
    }
    let link = Control::Unlink { id: 1, from: pid(), to: pid() };
    let bytes = packet(NONE, DistEncoder::encode(Framing::UNKNOWN, &link, None).unwrap());
    assert_eq!(bytes, packet(NONE, DistEncoder::encode(NONE, &link, None).unwrap()));
}
