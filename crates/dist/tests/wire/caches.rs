//! The atom caches of both ends, and headers.

use crate::random;
use heddle_dist::wire::{AtomBudget, AtomList, Framing, InCache, InPacket, OutCache, WireError};
use heddle_model::Random;
use heddle_term::Atom;
use heddle_term::etf::AtomWriter;

const BOTH: Framing = Framing { atom_cache: true, fragments: true };

fn read(cache: &mut InCache, packet: &[u8]) -> Result<Vec<Atom>, WireError> {
    match cache.read(BOTH, packet, &AtomBudget::new(1000))? {
        InPacket::Whole { atoms, .. } | InPacket::First { atoms, .. } => Ok(atoms),
        other => panic!("{other:?}"),
    }
}

#[test]
fn caches_of_both_ends_stay_in_step() {
    let mut random = Random::new(1);
    let (mut out, mut into) = (OutCache::new(), InCache::new());
    for n in 0..100_000u64 {
        let mut list = AtomList::new(255);
        for _ in 0..random.one(&[0, 1, 2, 5, 20, 300]) {
            list.place(random::atom(&mut random));
        }
        let atoms = list.into_atoms();
        let mut packet = Vec::new();
        if n % 3 == 0 {
            out.first_fragment(&mut packet, &atoms, n + 1, 2);
        } else {
            out.whole(&mut packet, &atoms);
        }
        packet.extend_from_slice(b"body");
        assert_eq!(read(&mut into, &packet).unwrap(), atoms);
    }
}

#[test]
fn an_atom_is_named_once() {
    let (mut out, mut into) = (OutCache::new(), InCache::new());
    let atoms = [Atom::new("first_atom_of_a_message"), Atom::new("x")];
    let (mut first, mut second) = (Vec::new(), Vec::new());
    out.whole(&mut first, &atoms);
    out.whole(&mut second, &atoms);
    assert_eq!(first.len(), 3 + 2 + (2 + 23) + (2 + 1));
    assert_eq!(second.len(), 3 + 2 + 2);
    assert_eq!(read(&mut into, &first).unwrap(), atoms);
    assert_eq!(read(&mut into, &second).unwrap(), atoms);
}

#[test]
fn a_header_without_atoms_has_no_flags() {
    let mut packet = Vec::new();
    OutCache::new().whole(&mut packet, &[]);
    assert_eq!(packet, [131, 68, 0]);
}

#[test]
fn a_list_has_each_atom_once_and_no_more_than_its_limit() {
    for round in 0..1000 {
        let mut list = AtomList::new(round % 256);
        let atoms: Vec<Atom> = (0..400).map(|n| Atom::new(&format!("l{}", (n * 7 + round) % 300))).collect();
        let places: Vec<Option<u8>> = atoms.iter().map(|&atom| list.place(atom)).collect();
        let mut bytes = Vec::new();
        list.write(&mut bytes, atoms[0]);
        assert_eq!(bytes[0], if round % 256 == 0 { 119 } else { 82 });
        let listed = list.into_atoms();
        assert_eq!(listed.len(), (round % 256).min(300));
        for (atom, place) in atoms.iter().zip(places) {
            match place {
                Some(place) => assert_eq!(listed[place as usize], *atom),
                None => assert!(!listed.contains(atom)),
            }
        }
    }
}

#[test]
fn names_longer_than_255_bytes_have_long_lengths() {
    let (mut out, mut into) = (OutCache::new(), InCache::new());
    let long = Atom::new(&"\u{10348}".repeat(255));
    for atoms in [vec![Atom::new("short"), long], vec![long], vec![Atom::new("other")], vec![long, Atom::new("third"), long]] {
        let mut packet = Vec::new();
        out.whole(&mut packet, &atoms);
        assert_eq!(read(&mut into, &packet).unwrap(), atoms);
    }
}

#[test]
fn a_header_that_ends_early_is_an_error() {
    let atoms = [Atom::new("one"), Atom::new("two"), Atom::new("three")];
    let (mut whole, mut first) = (Vec::new(), Vec::new());
    OutCache::new().whole(&mut whole, &atoms);
    OutCache::new().first_fragment(&mut first, &atoms, 5, 6);
    for packet in [whole, first] {
        for end in 1..packet.len() {
            assert_eq!(read(&mut InCache::new(), &packet[..end]).unwrap_err(), WireError::Truncated);
        }
        assert!(read(&mut InCache::new(), &packet).is_ok());
    }
}

#[test]
fn what_is_no_header_is_an_error() {
    let mut cache = InCache::new();
    assert_eq!(read(&mut cache, &[112, 131, 97, 1]).unwrap_err(), WireError::Version(112));
    assert_eq!(read(&mut cache, &[131, 104, 2]).unwrap_err(), WireError::PacketKind(104));
    assert_eq!(read(&mut cache, &[131, 68, 1, 0x05, 77]).unwrap_err(), WireError::EmptyCacheEntry(5 * 256 + 77));
    assert_eq!(read(&mut cache, &[131, 68, 1, 0x08, 0, 1, 0xff]).unwrap_err(), WireError::AtomEncoding);
    let mut too_long = vec![131, 68, 1, 0x18, 0, 1, 0];
    too_long.extend([b'x'; 256]);
    assert_eq!(read(&mut cache, &too_long).unwrap_err(), WireError::AtomTooLong);
    let whole_only = Framing { atom_cache: true, fragments: false };
    let fragment = [131, 70, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1];
    assert_eq!(cache.read(whole_only, &fragment, &AtomBudget::new(0)).unwrap_err(), WireError::UnagreedFragment);
    let none = Framing { atom_cache: false, fragments: false };
    assert_eq!(cache.read(none, &[131, 68, 0], &AtomBudget::new(0)).unwrap_err(), WireError::NoPassThrough(131));
}

#[test]
fn a_peer_makes_no_more_atoms_than_its_budget() {
    let budget = AtomBudget::new(2);
    let mut cache = InCache::new();
    let mut packet = |name: &str| {
        let mut packet = vec![131, 68, 1, 8, 0, name.len() as u8];
        packet.extend_from_slice(name.as_bytes());
        cache.read(BOTH, &packet, &budget).map(|_| budget.left())
    };
    assert_eq!(packet("ok"), Ok(2));
    assert_eq!(packet("budget test 1"), Ok(1));
    assert_eq!(packet("budget test 1"), Ok(1));
    assert_eq!(packet("budget test 2"), Ok(0));
    assert_eq!(packet("budget test 3"), Err(WireError::AtomBudget));
    assert_eq!(packet("budget test 2"), Ok(0));
    assert_eq!(Atom::existing("budget test 3"), None);
}
