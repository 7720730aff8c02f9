//! Maps against `BTreeMap`: flat ones, tries, and tries whose keys collide.

use crate::boxed::Kind;
use crate::hash::{self, narrow};
use crate::{Atom, Heap, Term, map, order};
use heddle_model::{Random, Subject, run};
use std::collections::BTreeMap;

/// With `MASK`, the bits of hashes that count.
struct Maps<const MASK: u64> {
    heap: Heap,
    map: Term,
    kept: Term,
    model: BTreeMap<u64, i64>,
    kept_model: BTreeMap<u64, i64>,
}

#[derive(Clone, Debug)]
enum Operation {
    Put(u64, i64),
    Update(u64, i64),
    Remove(u64),
    Take(u64),
    Get(u64),
    Keep,
    Swap,
    Merge,
    FromPairs(Vec<(u64, i64)>),
    UpdateMany(Vec<(u64, i64)>, bool),
    Batches(usize),
    Copy,
}

fn key(heap: &mut Heap, n: u64) -> Term {
    match n % 6 {
        0 => Term::small(n as i64),
        1 => heap.float((n - 1) as f64), // equal to the small before, and another key
        2 => heap.binary(format!("key {n}").as_bytes()),
        3 => heap.tuple(&[Term::small(n as i64), Term::NIL]),
        4 => heap.list(&[Term::small(n as i64)]),
        _ => Term::atom(Atom::new(&format!("key{n}"))),
    }
}

impl<const MASK: u64> Maps<MASK> {
    fn whole(&mut self, term: Term, model: &BTreeMap<u64, i64>) {
        assert_eq!(map::size(term), model.len());
        assert_eq!(term.is_kind(Kind::FlatMap), model.len() <= 32);
        for (&n, &value) in model {
            let key = key(&mut self.heap, n);
            assert_eq!(map::get(term, key), Some(Term::small(value)), "key {n}");
        }
        let mut pairs: Vec<(Term, Term)> = map::MapIter::new(term).collect();
        assert_eq!(pairs.len(), model.len());
        // The shape depends on what is in it alone.
        pairs.reverse();
        let again = map::from_pairs(&mut self.heap, &pairs);
        assert!(order::exact_eq(term, again) && order::cmp(term, again).is_eq());
        assert_eq!(hash::internal_hash(term), hash::internal_hash(again));
    }

    /// Garbage goes by copying what lives to another heap.
    fn collect(&mut self) {
        let mut heap = Heap::new();
        self.map = heap.copy(self.map);
        self.kept = heap.copy(self.kept);
        std::mem::replace(&mut self.heap, heap).clear();
    }
}

impl<const MASK: u64> Subject for Maps<MASK> {
    type Operation = Operation;
    const THRESHOLDS: &'static [u64] = &[1, 8, 16, 32, 33, 64, 100, 300];

    fn new() -> Self {
        narrow::set(MASK);
        Maps { heap: Heap::new(), map: map::empty(), kept: map::empty(), model: BTreeMap::new(), kept_model: BTreeMap::new() }
    }

    fn operation(random: &mut Random) -> Operation {
        let value = random.below(5) as i64;
        let some = |random: &mut Random, limit: u64| (0..random.below(limit)).map(|i| (random.key(), i as i64)).collect::<Vec<_>>();
        match random.below(100) {
            0 => Operation::Keep,
            1 => Operation::Swap,
            2 => Operation::Merge,
            3 => Operation::FromPairs(some(random, 70)),
            4 | 5 => Operation::UpdateMany(some(random, 8), false),
            6 => Operation::UpdateMany(some(random, 3), true),
            7 => Operation::Batches(1 + random.below(40) as usize),
            8 => Operation::Copy,
            9..20 => Operation::Get(random.key()),
            20..25 => Operation::Take(random.key()),
            25..30 => Operation::Update(random.key(), value),
            _ if random.grows() => Operation::Put(random.key(), value),
            _ => Operation::Remove(random.key()),
        }
    }

    fn step(&mut self, operation: &Operation) {
        let (heap, model) = (&mut self.heap, &mut self.model);
        match operation {
            Operation::Put(n, value) => {
                let key = key(heap, *n);
                self.map = map::put(heap, self.map, key, Term::small(*value));
                model.insert(*n, *value);
            }
            Operation::Update(n, value) => {
                let key = key(heap, *n);
                let updated = map::update(heap, self.map, key, Term::small(*value));
                assert_eq!(updated.is_some(), model.contains_key(n));
                if let Some(updated) = updated {
                    self.map = updated;
                    model.insert(*n, *value);
                }
            }
            Operation::Remove(n) => {
                let key = key(heap, *n);
                let less = map::remove(heap, self.map, key);
                assert!(model.remove(n).is_some() || order::exact_eq(less, self.map));
                self.map = less;
            }
            Operation::Take(n) => {
                let key = key(heap, *n);
                let taken = map::take(heap, self.map, key);
                assert_eq!(taken.map(|(value, _)| value.small_value()), model.remove(n));
                self.map = taken.map_or(self.map, |(_, less)| less);
            }
            Operation::Get(n) => {
                let key = key(heap, *n);
                assert_eq!(map::get(self.map, key).map(|v| v.small_value()), model.get(n).copied());
                assert_eq!(map::contains(self.map, key), model.contains_key(n));
            }
            Operation::Keep => (self.kept, self.kept_model) = (self.map, model.clone()),
            Operation::Swap => {
                std::mem::swap(&mut self.map, &mut self.kept);
                std::mem::swap(model, &mut self.kept_model);
            }
            Operation::Merge => {
                self.map = map::merge(heap, self.map, self.kept);
                model.extend(self.kept_model.iter().map(|(&n, &value)| (n, value)));
            }
            Operation::FromPairs(pairs) => {
                let terms: Vec<(Term, Term)> = pairs.iter().map(|&(n, value)| (key(heap, n), Term::small(value))).collect();
                self.map = map::from_pairs(heap, &terms);
                *model = pairs.iter().copied().collect();
                let distinct = map::from_distinct_pairs(heap, &terms);
                assert_eq!(distinct.is_some(), model.len() == pairs.len());
            }
            Operation::UpdateMany(pairs, exact) => {
                let terms: Vec<(Term, Term)> = pairs.iter().map(|&(n, value)| (key(heap, n), Term::small(value))).collect();
                let updated = map::update_many(heap, self.map, &terms, *exact);
                let all_there = pairs.iter().all(|(n, _)| model.contains_key(n));
                assert_eq!(updated.is_ok(), !exact || all_there);
                if let Ok(updated) = updated {
                    self.map = updated;
                    model.extend(pairs.iter().copied());
                }
            }
            Operation::Batches(limit) => {
                let (mut count, mut path) = (0, Some(Term::small(0)));
                while let Some(at) = path {
                    let (batch, next) = map::next_batch(heap, self.map, at, *limit).expect("a position of the map");
                    count += batch.len();
                    path = next;
                }
                assert_eq!(count, model.len());
            }
            Operation::Copy => self.collect(),
        }
    }

    fn check(&mut self) {
        self.collect();
        let (map, model, kept, kept_model) = (self.map, self.model.clone(), self.kept, self.kept_model.clone());
        self.whole(map, &model);
        self.whole(kept, &kept_model);
        for map in [map, kept].into_iter().filter(|map| map.is_kind(Kind::HashMap)) {
            crate::hamt::check(map);
        }
        let same = model.len() == kept_model.len() && model == kept_model;
        assert_eq!(order::exact_eq(map, kept), same);
        self.collect();
    }

    fn end(&mut self) {
        self.heap.clear();
    }
}

#[test]
fn maps_behave_like_a_sorted_map() {
    run::<Maps<{ u64::MAX }>>();
}

#[test]
fn maps_behave_like_a_sorted_map_where_hashes_collide() {
    run::<Maps<0xc000_0000_0000_0003>>();
}
