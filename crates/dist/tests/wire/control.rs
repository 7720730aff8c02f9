//! Control messages: what is accepted, and what is not.

use crate::random;
use heddle_dist::wire::{Assembler, AtomBudget, Control, DistEncoder, Fragmenter, Framing, Limits, Malformed, OutCache, Target};
use heddle_model::Random;
use heddle_term::etf::{self, EncodeOptions};
use heddle_term::ident::{PidView, RefView};
use heddle_term::{Atom, Heap, Term};
use std::num::NonZeroU64;

const ALL_OPERATIONS: [u8; 28] = [1, 2, 3, 6, 7, 8, 12, 13, 16, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36];

fn peer_pid() -> PidView {
    PidView { node: Atom::new("peer@host"), creation: 7, number: 100, serial: 2 }
}

fn own_pid() -> PidView {
    let (node, creation) = heddle_term::node::current();
    PidView { node, creation, number: 99, serial: 0 }
}

fn peer_reference() -> RefView {
    RefView { node: Atom::new("peer@host"), creation: 7, count: 5, words: [1, 2, 3, 4, 5] }
}

/// The fields after the operation, each with a term that is good there.
fn good_fields(heap: &mut Heap, operation: u8) -> Vec<Term> {
    let (from, to) = (peer_pid().to_term(heap), own_pid().to_term(heap));
    let (reference, name, nothing) = (peer_reference().to_term(heap), Term::atom(Atom::new("name")), Term::atom(Atom::new("")));
    let token = heap.tuple(&[Term::small(1), Term::NIL]);
    let mfa = heap.tuple(&[name, name, Term::small(2)]);
    match operation {
        1 | 7 | 22 | 24 | 26 => vec![from, to],
        2 => vec![nothing, to],
        3 | 8 | 13 | 18 | 23 | 25 | 27 => {
            let mut fields = vec![from, to, token, token];
            fields.truncate(if matches!(operation, 13 | 18) { 4 } else { 3 });
            fields
        }
        6 => vec![from, nothing, name],
        12 => vec![nothing, to, token],
        16 => vec![from, nothing, name, token],
        19 | 20 => vec![from, name, reference],
        21 => vec![from, to, reference, token],
        28 => vec![name, to, reference],
        29 => vec![reference, from, from, mfa, Term::NIL],
        30 => vec![reference, from, from, mfa, Term::NIL, token],
        31 => vec![reference, to, Term::small(3), from],
        32 => vec![reference, to, Term::small(0), name, token],
        33 => vec![from, reference],
        34 => vec![from, reference, token],
        _ => vec![heap.unsigned(u64::MAX), from, to],
    }
}

fn parse(heap: &mut Heap, operation: u8, fields: &[Term]) -> Result<Control, Malformed> {
    let mut elements = vec![Term::small(operation as i64)];
    elements.extend_from_slice(fields);
    let tuple = heap.tuple(&elements);
    Control::parse(tuple)
}

#[test]
fn each_operation_is_read_and_written_with_its_number_and_fields() {
    let mut heap = Heap::new();
    for operation in ALL_OPERATIONS {
        let fields = good_fields(&mut heap, operation);
        let control = parse(&mut heap, operation, &fields).unwrap();
        assert_eq!(control.operation(), operation);
        let mut elements = vec![Term::small(operation as i64)];
        elements.extend_from_slice(&fields);
        let tuple = heap.tuple(&elements);
        // What is written is the same tuple, but for the operation's cookie, which is always ''.
        let mut parts = etf::PartsEncoder::new(etf::WholeAtoms::default(), 64);
        control.encode(&mut parts);
        let bytes = parts.finish().unwrap().bytes;
        assert_eq!(bytes, etf::encode(tuple, &EncodeOptions::default())[1..], "operation {operation}");
    }
    heap.clear();
}

#[test]
fn a_field_more_or_less_is_an_error() {
    let mut heap = Heap::new();
    for operation in ALL_OPERATIONS {
        let mut fields = good_fields(&mut heap, operation);
        fields.push(Term::NIL);
        let arity = fields.len() + 1;
        assert_eq!(parse(&mut heap, operation, &fields).unwrap_err(), Malformed::Arity { operation, arity });
        fields.truncate(arity - 3);
        assert_eq!(parse(&mut heap, operation, &fields).unwrap_err(), Malformed::Arity { operation, arity: arity - 2 });
    }
    heap.clear();
}

/// Fields that may be any term: reasons, tokens, options, and what was a cookie.
fn may_be_anything(operation: u8, field: usize) -> bool {
    matches!(
        (operation, field),
        (2 | 12, 2) | (6 | 16, 3) | (3 | 8 | 13 | 18 | 23 | 25 | 27 | 12 | 34, 4) | (13 | 18 | 16 | 21, 5) | (29 | 30 | 32, 6) | (30, 7)
    )
}

#[test]
fn a_field_of_the_wrong_type_is_an_error() {
    let mut heap = Heap::new();
    for operation in ALL_OPERATIONS {
        let fields = good_fields(&mut heap, operation);
        for place in 0..fields.len() {
            let mut fields = fields.clone();
            fields[place] = heap.float(0.5);
            let result = parse(&mut heap, operation, &fields);
            match may_be_anything(operation, place + 2) {
                true => assert!(result.is_ok(), "operation {operation}, field {}", place + 2),
                false => match result.unwrap_err() {
                    Malformed::Field { operation: named, field, .. } => assert_eq!((named, field), (operation, place + 2)),
                    other => panic!("{other:?}"),
                },
            }
        }
    }
    heap.clear();
}

#[test]
fn values_out_of_range_are_errors() {
    let mut heap = Heap::new();
    let check = |heap: &mut Heap, operation: u8, place: usize, value: Term| {
        let mut fields = good_fields(heap, operation);
        fields[place] = value;
        match parse(heap, operation, &fields).unwrap_err() {
            Malformed::Field { field, .. } => assert_eq!(field, place + 2),
            other => panic!("{other:?}"),
        }
    };
    check(&mut heap, 35, 0, Term::small(0));
    check(&mut heap, 35, 0, Term::small(-1));
    let big = heap.big_words(false, &[0, 1]);
    check(&mut heap, 36, 0, big);
    check(&mut heap, 31, 2, Term::small(1 << 27));
    check(&mut heap, 31, 2, Term::small(-1));
    let mfa = heap.tuple(&[Term::NIL, Term::NIL, Term::NIL]);
    check(&mut heap, 29, 3, mfa);
    let short = heap.tuple(&[Term::atom(Atom::new("a"))]);
    check(&mut heap, 30, 3, short);
    heap.clear();
}

#[test]
fn what_is_no_operation_is_an_error() {
    let mut heap = Heap::new();
    assert_eq!(Control::parse(Term::NIL).unwrap_err(), Malformed::NoOperation);
    let empty = heap.tuple(&[]);
    assert_eq!(Control::parse(empty).unwrap_err(), Malformed::NoOperation);
    let float = heap.float(1.0);
    let tuple = heap.tuple(&[float]);
    assert_eq!(Control::parse(tuple).unwrap_err(), Malformed::NoOperation);
    for unknown in [-1, 0, 4, 5, 37, 256 + 22, i32::MAX as i64] {
        let tuple = heap.tuple(&[Term::small(unknown), Term::NIL, Term::NIL]);
        assert_eq!(Control::parse(tuple).unwrap_err(), Malformed::UnknownOperation(unknown));
    }
    heap.clear();
}

#[test]
fn identifiers_of_other_nodes_are_found() {
    let mut heap = Heap::new();
    let (peer, this) = (Atom::new("peer@host"), heddle_term::node::name());
    for operation in ALL_OPERATIONS {
        let fields = good_fields(&mut heap, operation);
        let control = parse(&mut heap, operation, &fields).unwrap();
        // The reference of a reply is of the node that asked.
        let is_reply = matches!(operation, 31 | 32);
        assert_eq!(control.check_nodes(peer, this).is_ok(), !is_reply, "operation {operation}");
        let is_free = matches!(operation, 2 | 6 | 7 | 12 | 16 | 22 | 23 | 33 | 34);
        assert_eq!(control.check_nodes(Atom::new("else@host"), Atom::new("where@host")).is_ok(), is_free, "operation {operation}");
    }
    let stranger = PidView { node: Atom::new("third@host"), ..peer_pid() };
    let monitor = Control::Monitor { from: peer_pid(), to: Target::Pid(stranger), reference: peer_reference() };
    assert!(matches!(monitor.check_nodes(peer, this), Err(Malformed::Node { operation: 19, .. })));
    heap.clear();
}

#[test]
fn random_control_messages_come_back_in_all_framings() {
    let mut random = Random::new(3);
    let framings = [(false, false), (false, true), (true, false), (true, true)];
    let mut ends: Vec<_> = framings
        .iter()
        .map(|&(atom_cache, fragments)| {
            let framing = Framing { atom_cache, fragments };
            (framing, OutCache::new(), Assembler::new(framing, Limits::default()))
        })
        .collect();
    let budget = AtomBudget::new(0);
    for n in 0..20_000 {
        let mut heap = Heap::new();
        let control = random::control(&mut heap, &mut random);
        let payload = control.has_payload().then(|| random::term(&mut heap, &mut random, 3));
        let (framing, cache, assembler) = &mut ends[n % 4];
        let message = DistEncoder::encode(*framing, &control, payload).unwrap();
        let mut packets = Fragmenter::new(*framing, message, NonZeroU64::MIN);
        while let Some(packet) = packets.next(cache) {
            let mut bytes = Vec::new();
            packet.append_to(&mut bytes);
            assert_eq!(bytes.len(), packet.len_bytes());
            let left = packets.packets_left();
            let received = assembler.receive(&bytes, &budget).unwrap();
            assert_eq!(received.is_some(), left == 0);
            let Some(received) = received else { continue };
            let (control_again, payload_again) = received.split(&mut heap, &budget).unwrap();
            assert_eq!(format!("{control:?}"), format!("{control_again:?}"));
            let payload_again = payload_again.map(|payload| payload.into_owned().decode(&mut heap, &budget).unwrap());
            match (payload, payload_again) {
                (None, None) => {}
                (Some(a), Some(b)) => assert!(heddle_term::order::exact_eq(a, b), "{a:?} {b:?}"),
                other => panic!("{other:?}"),
            }
        }
        heap.clear();
    }
    assert!(ends.iter().all(|(_, _, assembler)| assembler.bytes() == 0));
}
