//! The index of breakpoints against a set. Thresholds: 64 slots at first, another index when every other slot is or was used.

use super::breakpoints::Breakpoint;
use super::entries;
use crate::base::qsbr;
use heddle_model::{Random, Subject, run};
use std::collections::BTreeSet;

/// Entries: cells of code that nothing runs.
static CODE: [u64; 2048] = [0; 2048];

struct Entries(BTreeSet<usize>);

#[derive(Clone, Copy, Debug)]
enum Operation {
    Insert(u64),
    Remove(u64),
    Find(u64),
}

fn entry(n: u64) -> usize {
    &raw const CODE[n as usize % CODE.len()] as usize
}

impl Subject for Entries {
    type Operation = Operation;
    const THRESHOLDS: &'static [u64] = &[1, 15, 16, 31, 32, 33, 64, 128, 500];

    fn new() -> Self {
        // No other test of this crate has breakpoints.
        entries::all().into_iter().for_each(entries::remove);
        Entries(BTreeSet::new())
    }

    fn operation(random: &mut Random) -> Operation {
        match random.below(10) {
            0..3 => Operation::Find(random.key()),
            _ if random.grows() => Operation::Insert(random.key()),
            _ => Operation::Remove(random.key()),
        }
    }

    fn step(&mut self, operation: &Operation) {
        match *operation {
            Operation::Insert(n) => {
                if self.0.insert(entry(n)) {
                    entries::insert(entry(n), Box::new(Breakpoint::of_nothing(entry(n))));
                }
            }
            Operation::Remove(n) => {
                entries::remove(entry(n));
                self.0.remove(&entry(n));
            }
            Operation::Find(n) => {
                let found = entries::find(entry(n)).map(|b| b.original as usize);
                assert_eq!(found, self.0.get(&entry(n)).copied());
            }
        }
    }

    fn check(&mut self) {
        let mut all = entries::all();
        all.sort();
        assert_eq!(all, self.0.iter().copied().collect::<Vec<_>>());
        assert!(all.iter().all(|&entry| entries::find(entry).is_some_and(|b| b.original as usize == entry)));
        qsbr::quiescent();
    }

    fn end(&mut self) {
        self.0.iter().for_each(|&entry| entries::remove(entry));
        assert!(entries::all().is_empty());
    }
}

#[test]
fn breakpoints_behave_like_a_set() {
    qsbr::online();
    run::<Entries>();
    qsbr::offline();
}
