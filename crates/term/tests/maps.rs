//! Maps against a model, over the border between flat maps and tries.

use heddle_term::boxed::Kind;
use heddle_term::{Heap, Term, hash, map, order};
use std::collections::HashMap;

struct Random(u64);
impl Random {
    fn next(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % below
    }
}

/// Keys of many kinds; equal numbers give equal keys.
fn key(heap: &mut Heap, n: u64) -> Term {
    match n % 5 {
        0 => Term::small(n as i64),
        1 => heap.float(n as f64),
        2 => heap.binary(format!("key {n}").as_bytes()),
        3 => heap.tuple(&[Term::small(n as i64), Term::NIL]),
        _ => Term::atom(heddle_term::Atom::new(&format!("key{n}"))),
    }
}

fn check(heap: &mut Heap, term: Term, model: &HashMap<u64, i64>, range: u64) {
    assert_eq!(map::size(term), model.len());
    assert_eq!(term.is_kind(Kind::FlatMap), model.len() <= 32);
    for n in 0..range {
        let key = key(heap, n);
        assert_eq!(map::get(term, key).map(|v| v.small_value()), model.get(&n).copied(), "{n}");
    }
    let pairs: Vec<(Term, Term)> = map::MapIter::new(term).collect();
    assert_eq!(pairs.len(), model.len());
    // The same set of pairs in another order is the same map: shape, order and hash.
    let mut shuffled = pairs.clone();
    shuffled.reverse();
    let again = map::from_pairs(heap, &shuffled);
    assert!(order::exact_eq(term, again));
    assert!(order::cmp(term, again).is_eq());
    assert_eq!(hash::internal_hash(term), hash::internal_hash(again));
    // Batches cover the map once, whatever their size.
    for limit in [1, 7, 1000] {
        let mut seen = Vec::new();
        let mut path = Some(Term::small(0));
        while let Some(at) = path {
            let (batch, next) = map::next_batch(heap, term, at, limit).unwrap();
            seen.extend(batch);
            path = next;
        }
        if term.is_kind(Kind::HashMap) {
            seen.reverse();
        }
        assert!(seen == pairs);
    }
    // Any position is accepted.
    for at in [1, 15, 16, 255, 1 << 40, (1 << 59) - 1] {
        map::next_batch(heap, term, Term::small(at), 5).unwrap();
    }
}

#[test]
fn against_a_model() {
    let mut random = Random(0x1234_5678_9abc_def1);
    for range in [8, 40, 70, 1000] {
        let mut heap = Heap::new();
        let mut term = map::empty();
        let mut model = HashMap::new();
        for step in 0..3000i64 {
            let n = random.next(range);
            let k = key(&mut heap, n);
            match random.next(6) {
                0..3 => {
                    term = map::put(&mut heap, term, k, Term::small(step));
                    model.insert(n, step);
                }
                3 => {
                    let updated = map::update(&mut heap, term, k, Term::small(step));
                    assert_eq!(updated.is_some(), model.contains_key(&n));
                    if let Some(updated) = updated {
                        term = updated;
                        model.insert(n, step);
                    }
                }
                4 => {
                    let taken = map::take(&mut heap, term, k);
                    assert_eq!(taken.map(|(v, _)| v.small_value()), model.remove(&n));
                    term = taken.map_or(term, |(_, rest)| rest);
                }
                _ => {
                    let extra: Vec<(u64, i64)> = (0..random.next(5)).map(|i| (random.next(range), step + i as i64)).collect();
                    let pairs: Vec<(Term, Term)> = extra.iter().map(|&(n, v)| (key(&mut heap, n), Term::small(v))).collect();
                    let exact = random.next(2) == 0;
                    let missing = extra.iter().any(|(n, _)| !model.contains_key(n));
                    match map::update_many(&mut heap, term, &pairs, exact) {
                        Ok(updated) => {
                            assert!(!(exact && missing));
                            term = updated;
                            model.extend(extra);
                        }
                        Err(_) => assert!(exact && missing),
                    }
                }
            }
            if step % 200 == 0 {
                check(&mut heap, term, &model, range);
            }
        }
        check(&mut heap, term, &model, range);
        heap.clear();
    }
}

#[test]
fn merging() {
    let mut random = Random(77);
    let mut heap = Heap::new();
    for _ in 0..300 {
        let range = 1 + random.next(200);
        let mut sides = Vec::new();
        for side in 0..2 {
            let entries: HashMap<u64, i64> = (0..random.next(150)).map(|i| (random.next(range), (i * 2) as i64 + side)).collect();
            let pairs: Vec<(Term, Term)> = entries.iter().map(|(&n, &v)| (key(&mut heap, n), Term::small(v))).collect();
            sides.push((map::from_pairs(&mut heap, &pairs), entries));
        }
        let merged = map::merge(&mut heap, sides[0].0, sides[1].0);
        let mut model = sides[0].1.clone();
        model.extend(&sides[1].1);
        check(&mut heap, merged, &model, range);
        assert!(map::merge(&mut heap, merged, merged) == merged);
        let subset = map::merge(&mut heap, merged, sides[1].0);
        assert!(order::exact_eq(subset, merged));
    }
    heap.clear();
}

#[test]
fn doubles_and_shared_keys() {
    let mut heap = Heap::new();
    let mut pairs: Vec<(Term, Term)> = (0..100).map(|i| (Term::small(i % 20), Term::small(i))).collect();
    let term = map::from_pairs(&mut heap, &pairs);
    assert_eq!(map::size(term), 20);
    assert_eq!(map::get(term, Term::small(3)), Some(Term::small(83)));
    assert!(map::from_distinct_pairs(&mut heap, &pairs).is_none());
    pairs.truncate(20);
    assert!(map::from_distinct_pairs(&mut heap, &pairs).is_some());
    let updated = map::put(&mut heap, term, Term::small(3), Term::NIL);
    assert_eq!(updated.slot(0), term.slot(0), "keys are shared");
    assert_eq!(map::put(&mut heap, term, Term::small(3), Term::small(83)), term, "nothing changed");
    heap.clear();
}

/// Two keys with the same hash for every salt would let a trie grow without end.
#[test]
fn parts_in_another_order_hash_apart() {
    let mut heap = Heap::new();
    let (zero, empty) = (Term::small(0), heap.binary(b""));
    let parts = [zero, empty, Term::NIL, heap.binary(&[0]), heap.binary(&[0; 8]), heap.bits(&[0], 3)];
    let mut keys = parts.to_vec();
    for a in parts {
        for b in parts {
            keys.extend([heap.tuple(&[a, b]), heap.cons(a, b)]);
            keys.extend(parts.map(|c| heap.tuple(&[a, b, c])));
        }
    }
    let mut different: Vec<Term> = Vec::new();
    for key in keys {
        if !different.iter().any(|&other| order::exact_eq(other, key)) {
            different.push(key);
        }
    }
    let hashes: std::collections::HashSet<u64> = different.iter().map(|&key| hash::internal_hash(key)).collect();
    assert_eq!(hashes.len(), different.len());
}
