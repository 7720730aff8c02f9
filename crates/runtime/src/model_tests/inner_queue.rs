//! The queue of messages with its save position and receive markers, against a vector.

use crate::signal::Signal;
use crate::signal::inner_queue::InnerQueue;
use crate::signal::package::Package;
use heddle_model::{Random, Subject, run};
use heddle_term::{Heap, Term};

/// As many markers as a queue has: with more, the oldest may be forgotten.
const MARKERS: usize = 8;

struct Queue {
    heap: Heap,
    tested: InnerQueue,
    /// Numbers of the messages, in order.
    model: Vec<i64>,
    /// Where in `model` the next receive looks.
    save: usize,
    next: i64,
    /// Reference of each marker, and the number of the first message that came after it.
    markers: Vec<(i64, i64)>,
}

#[derive(Clone, Copy, Debug)]
enum Operation {
    Append(u64),
    Skip(u64),
    Remove,
    Restart,
    PassAll,
    Reserve,
    Use(u64),
    ClearMarker(u64),
    Clear,
}

impl Queue {
    fn peek(&mut self) -> Option<i64> {
        let mut held_words = 0;
        self.tested.peek(&mut self.heap, &mut held_words).map(|term| term.small_value())
    }
}

impl Subject for Queue {
    type Operation = Operation;
    const THRESHOLDS: &'static [u64] = &[1, 4, 10, 11, 40];

    fn new() -> Self {
        Queue { heap: Heap::new(), tested: InnerQueue::default(), model: Vec::new(), save: 0, next: 0, markers: Vec::new() }
    }

    fn operation(random: &mut Random) -> Operation {
        match random.below(40) {
            0..6 => Operation::Skip(1 + random.key() / 4),
            6..9 => Operation::Restart,
            9 => Operation::PassAll,
            10..13 => Operation::Reserve,
            13..17 => Operation::Use(random.below(10)),
            17..20 => Operation::ClearMarker(random.below(10)),
            20 if random.chance(5) => Operation::Clear,
            _ if random.grows() => Operation::Append(1 + random.below(4)),
            _ => Operation::Remove,
        }
    }

    fn step(&mut self, operation: &Operation) {
        match *operation {
            Operation::Append(count) => {
                for _ in 0..count {
                    self.tested.append(Signal::message(Package::immediate(Term::small(self.next))));
                    self.model.push(self.next);
                    self.next += 1;
                }
            }
            Operation::Skip(count) => {
                for _ in 0..count.min((self.model.len() - self.save) as u64) {
                    assert_eq!(self.peek(), Some(self.model[self.save]));
                    self.tested.skip();
                    self.save += 1;
                }
            }
            Operation::Remove if self.save < self.model.len() => {
                assert_eq!(self.peek(), Some(self.model[self.save]));
                self.tested.remove();
                self.model.remove(self.save);
                self.save = 0;
            }
            Operation::Remove => {}
            Operation::Restart => {
                self.tested.restart();
                self.save = 0;
            }
            Operation::PassAll => {
                self.tested.pass_all();
                self.save = self.model.len();
            }
            Operation::Reserve => {
                let reference = self.next * 1000 + self.markers.len() as i64 + 1;
                if self.markers.iter().any(|m| m.0 == reference) {
                    return;
                }
                let number = self.tested.marker_reserve();
                self.tested.marker_bind(number, Term::small(reference));
                self.markers.push((reference, self.next));
                if self.markers.len() > MARKERS {
                    self.markers.remove(0);
                }
            }
            Operation::Use(which) => {
                self.tested.restart();
                self.save = 0;
                if let Some(&(reference, from)) = self.markers.get(which as usize) {
                    self.tested.marker_use(Term::small(reference));
                    self.save = self.model.iter().position(|&n| n >= from).unwrap_or(self.model.len());
                } else {
                    self.tested.marker_use(Term::small(-1));
                }
            }
            Operation::ClearMarker(which) => {
                if (which as usize) < self.markers.len() {
                    let (reference, _) = self.markers.remove(which as usize);
                    self.tested.marker_clear(Term::small(reference));
                }
            }
            Operation::Clear => {
                // All messages are received; markers stay.
                self.tested.restart();
                self.save = 0;
                while self.tested.take().is_some() {}
                self.model.clear();
            }
        }
        assert_eq!(self.tested.len(), self.model.len());
        assert_eq!(self.tested.is_empty(), self.model.is_empty());
        assert_eq!(self.peek(), self.model.get(self.save).copied());
    }

    fn check(&mut self) {
        self.tested.check();
        let terms: Vec<i64> = self.tested.terms().map(|t| t.small_value()).collect();
        assert_eq!(terms, self.model);
    }

    fn end(&mut self) {
        self.tested.clear();
        self.heap.clear();
    }
}

#[test]
fn a_queue_behaves_like_a_vector_with_a_position() {
    run::<Queue>();
}
