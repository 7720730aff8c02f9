//! Terms a million deep: nothing that walks terms may use the native stack for it.

use heddle_term::etf::{self, DecodeOptions, EncodeOptions};
use heddle_term::text::display;
use heddle_term::{Heap, Term, copy, hash, list, map, order};

const DEPTH: usize = 1_000_000;

fn walk_all(build: impl Fn(&mut Heap, Term) -> Term, bytes_a_level: usize) {
    let mut heap = Heap::new();
    let make = |heap: &mut Heap, end: i64| {
        let mut term = Term::small(end);
        for _ in 0..DEPTH {
            term = build(heap, term);
        }
        term
    };
    let (a, b, c) = (make(&mut heap, 1), make(&mut heap, 1), make(&mut heap, 2));
    assert!(order::exact_eq(a, b) && order::eq(a, b) && !order::exact_eq(a, c) && !order::eq(a, c));
    assert!(order::cmp(a, b).is_eq() && order::cmp(a, c).is_lt() && order::cmp_exact(c, a).is_gt());
    assert_eq!(hash::internal_hash(a), hash::internal_hash(b));
    assert_ne!(hash::internal_hash(a), hash::internal_hash(c));
    assert_eq!(hash::phash2(a, 1 << 32), hash::phash2(b, 1 << 32));
    assert_eq!(hash::phash(a, 1 << 32), hash::phash(b, 1 << 32));
    assert!(copy::flat_size(a) > DEPTH);
    let copied = heap.copy(a);
    assert!(order::exact_eq(a, copied));
    for options in [EncodeOptions::default(), EncodeOptions { deterministic: true, ..Default::default() }] {
        let bytes = etf::encode(a, &options);
        assert!(bytes.len() >= DEPTH * bytes_a_level);
        let back = etf::decode(&mut heap, &bytes, &DecodeOptions::default()).unwrap().term;
        assert!(order::exact_eq(a, back));
    }
    assert!(display::display(a).len() > DEPTH);
    heap.clear();
}

#[test]
fn nested_heads() {
    walk_all(|heap, term| heap.cons(term, Term::NIL), 5);
}

#[test]
fn nested_tails() {
    walk_all(|heap, term| heap.cons(Term::NIL, term), 1);
}

#[test]
fn nested_tuples() {
    walk_all(|heap, term| heap.tuple(&[Term::NIL, term, Term::small(1)]), 4);
}

#[test]
fn nested_map_values() {
    walk_all(|heap, term| map::from_pairs(heap, &[(Term::small(1), term)]), 5);
}

#[test]
fn nested_map_keys() {
    walk_all(|heap, term| map::from_pairs(heap, &[(term, Term::NIL)]), 5);
}

#[test]
fn nested_large_map_keys() {
    // Keys that are tries again: their order is found without recursion.
    let mut heap = Heap::new();
    let make = |heap: &mut Heap, end: i64| {
        let mut term = Term::small(end);
        for _ in 0..1000 {
            let mut pairs: Vec<(Term, Term)> = (0..33).map(|i| (heap.tuple(&[Term::small(i)]), Term::NIL)).collect();
            pairs.push((term, Term::NIL));
            term = map::from_pairs(heap, &pairs);
        }
        term
    };
    // A small stack would show recursion at this depth as well.
    let (a, b) = (make(&mut heap, 1), make(&mut heap, 2));
    let (a, b) = (a.raw(), b.raw());
    let work = move || {
        let (a, b) = (Term::from_raw(a), Term::from_raw(b));
        assert!(order::cmp(a, b).is_lt());
        assert!(order::cmp(b, a).is_gt());
        assert!(!order::exact_eq(a, b));
    };
    std::thread::Builder::new().stack_size(64 << 10).spawn(work).unwrap().join().unwrap();
    heap.clear();
}

#[test]
fn iolists() {
    let mut heap = Heap::new();
    let mut data = Term::NIL;
    for _ in 0..DEPTH {
        data = heap.list(&[data, Term::small(7)]);
    }
    assert_eq!(list::iolist_size(data), Ok(DEPTH));
    assert_eq!(list::iolist_to_vec(data).unwrap().len(), DEPTH);
    heap.clear();
}
