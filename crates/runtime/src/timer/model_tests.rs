//! The wheel against a sorted set of deadlines, on a clock of its own.

mod machine;
mod slab;

use super::node::Node;
use super::tests::Clock;
use heddle_model::{Random, Subject, run};
use std::collections::BTreeMap;

struct Timers {
    clock: Clock,
    /// Nodes by deadline: each deadline is set once.
    model: BTreeMap<u64, *const Node>,
}

#[derive(Clone, Copy, Debug)]
enum Operation {
    /// Milliseconds from now.
    Set(u64),
    /// The timer at that place of those that are set.
    Cancel(u64),
    Step(u64),
}

/// Distances around the borders of the wheel's levels, of 256 slots each.
fn distance(random: &mut Random) -> u64 {
    match random.below(6) {
        0 => 1 + random.below(300),
        1 => random.one(&[255, 256, 257, 511, 512, 65_535, 65_536, 65_537, 1 << 24, (1 << 24) + 1, 1 << 32, 1 << 40]),
        2 => 1 + random.below(70_000),
        3 => {
            let bits = random.below(42);
            1 + random.below(1 << bits)
        }
        _ => 1 + random.key(),
    }
}

impl Subject for Timers {
    type Operation = Operation;
    const THRESHOLDS: &'static [u64] = &[2, 16, 256, 512, 1024];

    fn new() -> Self {
        Timers { clock: Clock::at(1000), model: BTreeMap::new() }
    }

    fn operation(random: &mut Random) -> Operation {
        match random.below(10) {
            0..2 => Operation::Step(if random.chance(5) { distance(random) } else { 1 + random.below(40) }),
            _ if random.grows() => Operation::Set(distance(random)),
            _ => Operation::Cancel(random.key()),
        }
    }

    fn step(&mut self, operation: &Operation) {
        match *operation {
            Operation::Set(after) => {
                let deadline = self.clock.now + after;
                if !self.model.contains_key(&deadline) {
                    self.model.insert(deadline, self.clock.set(deadline));
                }
            }
            Operation::Cancel(which) => {
                let Some(&deadline) = self.model.keys().nth(which as usize % self.model.len().max(1)) else { return };
                let node = self.model.remove(&deadline).expect("just seen");
                self.clock.cancel(node);
            }
            Operation::Step(ms) => {
                let until = self.clock.wheel.until_next(u64::MAX);
                let first = self.model.keys().next().map_or(u64::MAX, |deadline| deadline - self.clock.now);
                assert!(until <= first, "it says that the next is due in {until} ms, and it is in {first}");
                let mut due = self.clock.step(ms);
                due.sort();
                let later = self.model.split_off(&(self.clock.now + 1));
                assert_eq!(due, std::mem::replace(&mut self.model, later).into_keys().collect::<Vec<_>>());
            }
        }
        assert_eq!(self.clock.wheel.is_empty(), self.model.is_empty());
    }

    fn check(&mut self) {
        self.clock.wheel.check();
    }

    fn end(&mut self) {
        let nodes: Vec<_> = std::mem::take(&mut self.model).into_values().collect();
        nodes.into_iter().for_each(|node| self.clock.cancel(node));
        assert!(self.clock.wheel.is_empty());
    }
}

#[test]
fn the_wheel_behaves_like_a_sorted_set_of_deadlines() {
    run::<Timers>();
}
