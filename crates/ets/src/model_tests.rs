//! Stores against plain models (`heddle_model`): all kinds of hash stores, with hashes that collide, and trees that split and join.

use super::hash_store::{Copies, HashStore, place_of};
use super::object::{Change, Owned, Verdict};
use super::tree_store::{Range, TreeStore};
use heddle_model::{Random, Subject, run};
use heddle_runtime::qsbr;
use heddle_term::hash::narrow;
use heddle_term::{Heap, Term};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

#[derive(Clone, Debug)]
enum Operation {
    Insert(i64, i64),
    /// Only if all keys are new, or whatever is there.
    InsertAll(Vec<(i64, i64)>, bool),
    Remove(i64),
    /// Those of the key whose value is even.
    RemoveSome(i64),
    Update(i64, i64),
    Lookup(i64),
    /// A traversal in parts of that many, with changes in between.
    Scan(usize, i64),
    /// Deletes and replaces in a traversal.
    ScanWrite(i64),
    Next(i64),
    Clear,
    Fix,
    Unfix,
}

fn operation(random: &mut Random) -> Operation {
    let (key, value) = (random.key() as i64, random.below(6) as i64);
    match random.below(200) {
        0 => Operation::Clear,
        1..4 => Operation::Fix,
        4..8 => Operation::Unfix,
        8..12 => Operation::Scan(1 + random.below(40) as usize, key),
        12..15 => Operation::ScanWrite(value),
        15..25 => {
            let some = (0..random.below(9)).map(|i| (random.key() as i64, i as i64)).collect();
            Operation::InsertAll(some, random.chance(50))
        }
        25..40 => Operation::Next(key),
        40..60 => Operation::Lookup(key),
        60..75 => Operation::Update(key, value),
        75..85 => Operation::RemoveSome(key),
        _ if random.grows() => Operation::Insert(key, value),
        _ => Operation::Remove(key),
    }
}

/// Keys are integers, or, for the half of them, tuples.
fn key(heap: &mut Heap, n: i64) -> Term {
    if n % 2 == 0 { Term::small(n) } else { heap.tuple(&[Term::small(n)]) }
}

fn number(key: Term) -> i64 {
    key.as_small().unwrap_or_else(|| key.slot(0).small_value())
}

fn stored(heap: &mut Heap, n: i64, value: i64) -> Owned {
    let key = key(heap, n);
    let tuple = heap.tuple(&[key, Term::small(value)]);
    Owned::new(tuple, 0, place_of(key))
}

/// Values of each key, oldest first.
type Model = BTreeMap<i64, Vec<i64>>;

/// 0: one object a key, 1: different ones, 2: any. `BITS`: of the number of shards.
struct Hash<const COPIES: u32, const BITS: u32, const MASK: u64> {
    heap: Heap,
    store: HashStore,
    model: Model,
    /// Objects in the model.
    size: usize,
    fixed: bool,
    /// Keys that were deleted while the table is fixed.
    deleted: Vec<i64>,
}

impl<const COPIES: u32, const BITS: u32, const MASK: u64> Hash<COPIES, BITS, MASK> {
    fn add(&mut self, n: i64, value: i64) {
        let values = self.model.entry(n).or_default();
        self.size -= values.len();
        match COPIES {
            0 => *values = vec![value],
            1 if values.contains(&value) => {}
            _ => values.push(value),
        }
        self.size += values.len();
    }

    fn lose(&mut self, n: i64, f: impl Fn(i64) -> bool) -> usize {
        let Some(values) = self.model.get_mut(&n) else { return 0 };
        let before = values.len();
        values.retain(|&v| !f(v));
        let lost = before - values.len();
        self.size -= lost;
        if values.is_empty() {
            self.model.remove(&n);
        }
        if lost > 0 && self.fixed {
            self.deleted.push(n);
        }
        lost
    }

    fn values(&mut self, n: i64) -> Vec<i64> {
        let key = key(&mut self.heap, n);
        let mut found = Vec::new();
        self.store.with_key(key, |o| found.insert(0, o.elements()[1].small_value()));
        found
    }
}

impl<const COPIES: u32, const BITS: u32, const MASK: u64> Subject for Hash<COPIES, BITS, MASK> {
    type Operation = Operation;
    const THRESHOLDS: &'static [u64] = &[1, 4, 8, 16, 17, 32, 64, 130, 260, 1000];

    fn new() -> Self {
        narrow::set(MASK);
        let copies = [Copies::One, Copies::Distinct, Copies::Any][COPIES as usize];
        Hash { heap: Heap::new(), store: HashStore::new(BITS, copies), model: Model::new(), size: 0, fixed: false, deleted: Vec::new() }
    }

    fn operation(random: &mut Random) -> Operation {
        operation(random)
    }

    fn step(&mut self, operation: &Operation) {
        match operation {
            &Operation::Insert(n, value) => {
                self.store.insert(stored(&mut self.heap, n, value));
                self.add(n, value);
            }
            Operation::InsertAll(some, only_new) => {
                let objects = some.iter().map(|&(n, value)| stored(&mut self.heap, n, value)).collect();
                let any_there = some.iter().any(|(n, _)| self.model.contains_key(n));
                assert_eq!(self.store.insert_all(objects, *only_new, || true), Some(!(*only_new && any_there)));
                if !(*only_new && any_there) {
                    some.iter().for_each(|&(n, value)| self.add(n, value));
                }
            }
            &Operation::Remove(n) => {
                let key = key(&mut self.heap, n);
                assert_eq!(self.store.remove(key, |_| true), self.lose(n, |_| true));
            }
            &Operation::RemoveSome(n) => {
                let key = key(&mut self.heap, n);
                let removed = self.store.remove(key, |o| o.elements()[1].small_value() % 2 == 0);
                assert_eq!(removed, self.lose(n, |v| v % 2 == 0));
            }
            &Operation::Update(n, value) if COPIES == 0 => {
                let key = key(&mut self.heap, n);
                let fresh = stored(&mut self.heap, n, value);
                let mut there = None;
                self.store.update(key, |old| {
                    there = old.map(|o| o.elements()[1].small_value());
                    if there.is_some() { Change::Put(fresh) } else { Change::Nothing }
                });
                assert_eq!(there, self.model.get(&n).map(|values| values[0]));
                if there.is_some() {
                    self.add(n, value);
                }
            }
            Operation::Update(n, _) | Operation::Lookup(n) => {
                let expected = self.model.get(n).cloned().unwrap_or_default();
                assert_eq!(self.values(*n), expected);
                let key = key(&mut self.heap, *n);
                assert_eq!(self.store.contains(key), !expected.is_empty());
            }
            &Operation::Scan(part, other) => {
                // What stays there is met once, whatever comes and goes meanwhile.
                let (mut met, mut place) = (BTreeMap::<i64, usize>::new(), Some(0));
                while let Some(from) = place {
                    let mut left = part;
                    place = self.store.scan(from, |o| {
                        *met.entry(number(o.key)).or_default() += 1;
                        left = left.saturating_sub(1);
                        left == 0
                    });
                    self.store.insert(stored(&mut self.heap, 1_000_000 + other, 0));
                    let key = key(&mut self.heap, 1_000_000 + other);
                    assert_eq!(self.store.remove(key, |_| true), 1);
                    if self.fixed {
                        self.deleted.push(1_000_000 + other);
                    }
                }
                met.remove(&(1_000_000 + other));
                let expected: BTreeMap<i64, usize> = self.model.iter().map(|(&n, values)| (n, values.len())).collect();
                assert_eq!(met, expected);
            }
            &Operation::ScanWrite(value) => {
                let (heap, mut deleted) = (&mut self.heap, Vec::new());
                let end = self.store.scan_write(0, |o| {
                    let (n, old) = (number(o.key), o.elements()[1].small_value());
                    let verdict = match old {
                        _ if old == value => {
                            deleted.push((n, old));
                            Verdict::Delete
                        }
                        _ if COPIES == 0 && n % 3 == 0 => Verdict::Replace(stored(heap, n, old + 10)),
                        _ => Verdict::Keep,
                    };
                    (verdict, false)
                });
                assert_eq!(end, None);
                let keys: Vec<i64> = self.model.keys().copied().collect();
                let lost: usize = keys.iter().map(|&n| self.lose(n, |v| v == value)).sum();
                assert_eq!(deleted.len(), lost);
                if COPIES == 0 {
                    self.model.iter_mut().filter(|(n, _)| **n % 3 == 0).for_each(|(_, values)| values[0] += 10);
                }
            }
            &Operation::Next(n) => {
                let key = key(&mut self.heap, n);
                let mut present = true;
                let next = self.store.next(Some(key), &mut present, |o| number(o.key));
                if self.model.contains_key(&n) || self.deleted.contains(&n) {
                    assert!(present);
                } else if MASK == u64::MAX {
                    assert!(!present, "a key that was never there is taken for one that was deleted");
                }
                assert!(next.is_none_or(|n| self.model.contains_key(&n)));
            }
            Operation::Clear => {
                assert_eq!(self.store.clear().0, self.size);
                if self.fixed {
                    self.deleted.extend(self.model.keys());
                }
                self.model.clear();
                self.size = 0;
            }
            Operation::Fix => {
                self.store.keep_deleted();
                self.fixed = true;
            }
            Operation::Unfix => {
                drop(self.store.give_up_kept());
                self.fixed = false;
                self.deleted.clear();
                assert_eq!(self.store.kept(), 0);
            }
        }
        assert_eq!(self.store.size(), self.size);
    }

    fn check(&mut self) {
        let model = self.model.clone();
        for (&n, values) in &model {
            assert_eq!(&self.values(n), values, "key {n}");
        }
        // From key to key: each once.
        let (mut met, mut present, mut at) = (Vec::new(), true, self.store.next(None, &mut true, |o| number(o.key)));
        while let Some(n) = at {
            met.push(n);
            assert!(met.len() <= model.len());
            let key = key(&mut self.heap, n);
            at = self.store.next(Some(key), &mut present, |o| number(o.key));
            assert!(present);
        }
        met.sort();
        assert_eq!(met, model.keys().copied().collect::<Vec<_>>());
        assert_eq!(self.store.chain_lengths().iter().sum::<usize>(), self.size);
        self.store.check();
        self.heap.clear();
    }
}

/// An ordered table. Pieces split and join as if many threads wrote.
struct Tree {
    heap: Heap,
    store: TreeStore,
    model: BTreeMap<i64, i64>,
}

/// Integers alone, so that the order of the model is that of the table.
fn numbered(heap: &mut Heap, n: i64, value: i64) -> Owned {
    let tuple = heap.tuple(&[Term::small(n), Term::small(value)]);
    Owned::new(tuple, 0, 0)
}

impl Subject for Tree {
    type Operation = Operation;
    const THRESHOLDS: &'static [u64] = &[1, 10, 11, 50, 200, 1000];

    fn new() -> Self {
        let store = TreeStore::new(true);
        store.random_split_join.store(true, Ordering::Relaxed);
        Tree { heap: Heap::new(), store, model: BTreeMap::new() }
    }

    fn operation(random: &mut Random) -> Operation {
        operation(random)
    }

    fn step(&mut self, operation: &Operation) {
        match operation {
            &Operation::Insert(n, value) => {
                self.store.insert(numbered(&mut self.heap, n, value));
                self.model.insert(n, value);
            }
            Operation::InsertAll(some, only_new) => {
                let objects = some.iter().map(|&(n, value)| numbered(&mut self.heap, n, value)).collect();
                let any_there = some.iter().any(|(n, _)| self.model.contains_key(n));
                assert_eq!(self.store.insert_all(objects, *only_new, || true), Some(!(*only_new && any_there)));
                if !(*only_new && any_there) {
                    self.model.extend(some.iter().copied());
                }
            }
            &Operation::Remove(n) => {
                assert_eq!(self.store.remove(Term::small(n), |_| true), self.model.remove(&n).is_some() as usize);
            }
            &Operation::RemoveSome(n) => {
                let goes = self.model.get(&n).is_some_and(|v| v % 2 == 0);
                assert_eq!(self.store.remove(Term::small(n), |o| o.elements()[1].small_value() % 2 == 0), goes as usize);
                if goes {
                    self.model.remove(&n);
                }
            }
            &Operation::Update(n, value) => {
                let fresh = numbered(&mut self.heap, n, value);
                let mut there = None;
                self.store.update(Term::small(n), |old| {
                    there = old.map(|o| o.elements()[1].small_value());
                    Change::Put(fresh)
                });
                assert_eq!(there, self.model.insert(n, value));
            }
            &Operation::Lookup(n) => {
                let mut found = None;
                self.store.with_key(Term::small(n), |o| found = o.elements()[1].as_small());
                assert_eq!(found, self.model.get(&n).copied());
                assert_eq!(self.store.contains(Term::small(n)), found.is_some());
                let at = self.store.nth(n as usize, |o| o.key.small_value());
                assert_eq!(at, self.model.keys().nth(n as usize).copied());
            }
            &Operation::Scan(part, from) => {
                let backward = part.is_multiple_of(2);
                let mut met = Vec::new();
                let ended = self.store.scan(Range::ALL, Some(Term::small(from)), backward, |o| {
                    met.push(o.key.small_value());
                    met.len() == part
                });
                let expected: Vec<i64> = if backward {
                    self.model.range(..from).rev().take(part).map(|(&n, _)| n).collect()
                } else {
                    self.model.range(from + 1..).take(part).map(|(&n, _)| n).collect()
                };
                assert_eq!(ended, expected.len() < part);
                assert_eq!(met, expected);
            }
            &Operation::ScanWrite(value) => {
                let heap = &mut self.heap;
                let ended = self.store.scan_write(Range::ALL, None, |o| {
                    let (n, old) = (o.key.small_value(), o.elements()[1].small_value());
                    let verdict = match old {
                        _ if old == value => Verdict::Delete,
                        _ if n % 3 == 0 => Verdict::Replace(numbered(heap, n, old + 10)),
                        _ => Verdict::Keep,
                    };
                    (verdict, false)
                });
                assert!(ended);
                self.model.retain(|_, v| *v != value);
                self.model.iter_mut().filter(|(n, _)| **n % 3 == 0).for_each(|(_, v)| *v += 10);
            }
            &Operation::Next(n) => {
                let next = self.store.next(Some(Term::small(n)), false, |o| o.key.small_value());
                assert_eq!(next, self.model.range(n + 1..).next().map(|(&n, _)| n));
                let previous = self.store.next(Some(Term::small(n)), true, |o| o.key.small_value());
                assert_eq!(previous, self.model.range(..n).next_back().map(|(&n, _)| n));
            }
            Operation::Clear => {
                assert_eq!(self.store.clear().0, self.model.len());
                self.model.clear();
            }
            Operation::Fix | Operation::Unfix => {}
        }
        assert_eq!(self.store.size(), self.model.len());
    }

    fn check(&mut self) {
        let mut all = Vec::new();
        self.store.scan(Range::ALL, None, false, |o| {
            all.push((o.key.small_value(), o.elements()[1].small_value()));
            false
        });
        assert_eq!(all, self.model.iter().map(|(&n, &v)| (n, v)).collect::<Vec<_>>());
        self.heap.clear();
    }

    fn end(&mut self) {
        // What was removed can go.
        qsbr::quiescent();
    }
}

const NARROW: u64 = 0xe000_0000_0000_0000;

#[test]
fn sets_behave_like_a_map_of_one_value() {
    run::<Hash<0, 0, { u64::MAX }>>();
    run::<Hash<0, 4, { u64::MAX }>>();
}

#[test]
fn sets_whose_hashes_collide_behave_like_a_map_of_one_value() {
    run::<Hash<0, 0, NARROW>>();
    run::<Hash<0, 4, NARROW>>();
}

#[test]
fn bags_behave_like_a_map_of_different_values() {
    run::<Hash<1, 2, { u64::MAX }>>();
    run::<Hash<1, 2, NARROW>>();
}

#[test]
fn duplicate_bags_behave_like_a_map_of_values() {
    run::<Hash<2, 2, { u64::MAX }>>();
    run::<Hash<2, 2, NARROW>>();
}

#[test]
fn ordered_tables_behave_like_a_sorted_map() {
    qsbr::online();
    run::<Tree>();
    qsbr::offline();
}
