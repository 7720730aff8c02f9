//! The process dictionary against a list of pairs: around the size from which on it has an index, with hashes that collide.

use crate::process::dictionary::Dictionary;
use heddle_model::{Random, Subject, run};
use heddle_term::hash::narrow;
use heddle_term::{Heap, Term};
use std::collections::BTreeMap;

struct Pairs<const MASK: u64> {
    heap: Heap,
    tested: Dictionary,
    model: BTreeMap<u64, i64>,
}

#[derive(Clone, Copy, Debug)]
enum Operation {
    Put(u64, i64),
    Erase(u64),
    Get(u64),
    Clear,
    /// The collector moves keys and values.
    Move,
}

/// Every other key is a term that can be moved; hashes of those collide if they are narrowed.
fn key(heap: &mut Heap, n: u64) -> Term {
    if n.is_multiple_of(2) { Term::small(n as i64) } else { heap.tuple(&[Term::small(n as i64)]) }
}

impl<const MASK: u64> Subject for Pairs<MASK> {
    type Operation = Operation;
    const THRESHOLDS: &'static [u64] = &[1, 8, 15, 16, 17, 32, 33, 64, 200];

    fn new() -> Self {
        narrow::set(MASK);
        Pairs { heap: Heap::new(), tested: Dictionary::default(), model: BTreeMap::new() }
    }

    fn operation(random: &mut Random) -> Operation {
        match random.below(200) {
            0 => Operation::Clear,
            1..3 => Operation::Move,
            3..40 => Operation::Get(random.key()),
            _ if random.grows() => Operation::Put(random.key(), random.below(1000) as i64),
            _ => Operation::Erase(random.key()),
        }
    }

    fn step(&mut self, operation: &Operation) {
        match *operation {
            Operation::Put(n, value) => {
                let key = key(&mut self.heap, n);
                assert_eq!(self.tested.put(key, Term::small(value)), self.model.insert(n, value).map(Term::small));
            }
            Operation::Erase(n) => {
                let key = key(&mut self.heap, n);
                assert_eq!(self.tested.erase(key), self.model.remove(&n).map(Term::small));
            }
            Operation::Get(n) => {
                let key = key(&mut self.heap, n);
                assert_eq!(self.tested.get(key), self.model.get(&n).copied().map(Term::small));
            }
            Operation::Clear => {
                self.tested.clear();
                self.model.clear();
            }
            Operation::Move => {
                let mut heap = Heap::new();
                self.tested.for_each_root(|root| *root = heap.copy(*root));
                std::mem::replace(&mut self.heap, heap).clear();
            }
        }
        assert_eq!(self.tested.entries().len(), self.model.len());
        assert_eq!(self.tested.entries().is_empty(), self.model.is_empty());
    }

    fn check(&mut self) {
        self.tested.check();
        for (&n, &value) in &self.model {
            let key = key(&mut self.heap, n);
            assert_eq!(self.tested.get(key), Some(Term::small(value)), "key {n}");
        }
        let mut values: Vec<Term> = self.tested.entries().iter().map(|e| e.1).collect();
        let mut expected: Vec<Term> = self.model.values().map(|&v| Term::small(v)).collect();
        values.sort_by_key(|t| t.raw());
        expected.sort_by_key(|t| t.raw());
        assert_eq!(values, expected);
    }

    fn end(&mut self) {
        self.heap.clear();
    }
}

#[test]
fn a_dictionary_behaves_like_a_list_of_pairs() {
    run::<Pairs<{ u64::MAX }>>();
}

#[test]
fn a_dictionary_whose_hashes_collide_behaves_like_a_list_of_pairs() {
    run::<Pairs<0x3_0000_0003>>();
}
