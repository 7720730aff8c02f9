//! Registered names against a map.

use crate::process::names;
use heddle_model::{Random, Subject, run};
use heddle_term::{Atom, Term};
use std::collections::BTreeMap;

/// Names are the whole node's: no other test of this crate registers `model_N`.
struct Names(BTreeMap<u64, i64>);

#[derive(Clone, Copy, Debug)]
enum Operation {
    Register(u64, i64),
    Unregister(u64, Option<i64>),
    Whereis(u64),
}

fn name(n: u64) -> Atom {
    Atom::new(&format!("model_{n}"))
}

impl Subject for Names {
    type Operation = Operation;
    const THRESHOLDS: &'static [u64] = &[1, 10, 100];

    fn new() -> Self {
        // What a failed sequence left.
        names::all().into_iter().filter(|n| n.name().starts_with("model_")).for_each(|n| {
            names::unregister(n, None);
        });
        Names(BTreeMap::new())
    }

    fn operation(random: &mut Random) -> Operation {
        let id = random.below(4) as i64;
        match random.below(10) {
            0..3 => Operation::Whereis(random.key()),
            _ if random.grows() => Operation::Register(random.key(), id),
            _ => Operation::Unregister(random.key(), random.chance(50).then_some(id)),
        }
    }

    fn step(&mut self, operation: &Operation) {
        match *operation {
            Operation::Register(n, id) => {
                let free = !self.0.contains_key(&n);
                assert_eq!(names::register(name(n), Term::small(id + 1)), free);
                if free {
                    self.0.insert(n, id);
                }
            }
            Operation::Unregister(n, id) => {
                let goes = self.0.get(&n).copied().filter(|&has| id.is_none_or(|id| id == has));
                assert_eq!(names::unregister(name(n), id.map(|id| Term::small(id + 1))), goes.map(|id| Term::small(id + 1)));
                if goes.is_some() {
                    self.0.remove(&n);
                }
            }
            Operation::Whereis(n) => assert_eq!(names::whereis(name(n)), self.0.get(&n).map(|&id| Term::small(id + 1))),
        }
    }

    fn check(&mut self) {
        let mut all: Vec<Atom> = names::all().into_iter().filter(|n| n.name().starts_with("model_")).collect();
        let mut expected: Vec<Atom> = self.0.keys().map(|&n| name(n)).collect();
        all.sort();
        expected.sort();
        assert_eq!(all, expected);
    }
}

#[test]
fn names_behave_like_a_map() {
    run::<Names>();
}
