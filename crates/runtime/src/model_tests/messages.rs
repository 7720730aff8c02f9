//! Messages of all kinds, from the inbox to the heap, against a vector: in the signal itself (up to 4 words), in memory of their own (adopted as
//! it is above 256 words), immediate, with binaries, with literals that leave; with markers, removal anywhere and collections in between.
//! Thresholds: 4 and 256 words, 8 markers.

use super::processes::make;
use crate::base::qsbr;
use crate::heap::CollectionKind;
use crate::heap::gc;
use crate::heap::literals;
use crate::heap::mode;
use crate::heap::private::verify;
use crate::lifecycle::handle::{self, After};
use crate::observe::messages::Timed;
use crate::process::{self, Process};
use crate::signal::Signal;
use crate::signal::outgoing;
use crate::signal::package::Package;
use heddle_model::{Random, Subject, run};
use heddle_term::bits::BitsView;
use heddle_term::{Heap, Term};
use std::collections::VecDeque;

/// The shape of a message, and its number.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Made {
    Immediate,
    /// A tuple of its number and this many other elements.
    Tuple(usize),
    /// A list that begins with its number.
    List(usize),
    Binary(usize),
    /// A float, whose words are no terms.
    Float,
}

struct Mailbox {
    p: &'static mut Process,
    inbox: VecDeque<(i64, Made)>,
    queue: Vec<(i64, Made)>,
    save: usize,
    /// The reference, and the number of the first message after the marker.
    markers: Vec<(i64, i64)>,
    next: i64,
    /// Of all that arrived.
    handled: i64,
}

#[derive(Clone, Copy, Debug)]
enum Operation {
    /// Sent as processes send, or as the runtime does.
    Send(Made, bool),
    Handle,
    Skip(u64),
    Remove,
    Take,
    RemoveFirst(u64),
    Restart,
    PassAll,
    Reserve,
    Use(u64),
    Forget(u64),
    Collect(CollectionKind),
}

fn build(heap: &mut Heap, number: i64, made: Made) -> Term {
    let first = Term::small(number);
    match made {
        Made::Immediate => first,
        Made::Tuple(others) => {
            let elements: Vec<Term> = std::iter::once(first).chain((0..others as i64).map(Term::small)).collect();
            heap.tuple(&elements)
        }
        Made::List(others) => heap.small_list((number..=number + others as i64).collect::<Vec<_>>().into_iter()),
        Made::Binary(bytes) => heap.binary(&vec![number as u8; bytes]),
        Made::Float => heap.float(number as f64 + 0.5),
    }
}

fn is(term: Term, number: i64, made: Made) -> bool {
    match made {
        Made::Immediate => term == Term::small(number),
        Made::Tuple(others) => term.as_tuple().is_some_and(|elements| {
            elements[0] == Term::small(number) && elements[1..].iter().copied().eq((0..others as i64).map(Term::small))
        }),
        Made::List(others) => {
            heddle_term::list::to_vec(term).is_some_and(|all| all.into_iter().eq((number..=number + others as i64).map(Term::small)))
        }
        Made::Binary(bytes) => BitsView::of(term).is_some_and(|view| view.to_vec() == vec![number as u8; bytes]),
        Made::Float => term.as_float() == Some(number as f64 + 0.5),
    }
}

impl Mailbox {
    fn peek(&mut self) -> Option<Term> {
        let found = self.p.messages.peek(&mut self.p.heap, &mut self.p.held_words);
        self.p.sync_limit();
        found
    }

    /// Checks that the message at the save position is the one that the model has there.
    fn look(&mut self) {
        let expected = self.queue.get(self.save).copied();
        let found = self.peek();
        assert_eq!(found.is_some(), expected.is_some());
        assert!(found.zip(expected).is_none_or(|(term, (number, made))| is(term, number, made)));
    }
}

impl Subject for Mailbox {
    type Operation = Operation;
    const THRESHOLDS: &'static [u64] = &[1, 4, 8, 9, 30];

    fn new() -> Self {
        let p = make(1);
        let _ = p.state.wake();
        let _ = p.state.start_running();
        // SAFETY: this thread made it, and runs it alone.
        let p = unsafe { p.local() };
        Mailbox { p, inbox: VecDeque::new(), queue: Vec::new(), save: 0, markers: Vec::new(), next: 0, handled: 0 }
    }

    fn operation(random: &mut Random) -> Operation {
        let made = match random.below(12) {
            0..2 => Made::Immediate,
            2..5 => Made::Tuple(random.below(4) as usize),
            5 => Made::List(random.below(3) as usize),
            6 => Made::Float,
            7 => Made::Binary(random.one(&[0, 3, 64, 65, 1000])),
            8 => Made::List(random.one(&[10, 127, 128, 129, 400])),
            _ => Made::Tuple(4 + random.below(12) as usize),
        };
        match random.below(60) {
            0..6 => Operation::Handle,
            6..16 => Operation::Skip(1 + random.key() / 3),
            16..18 => Operation::Restart,
            18 => Operation::PassAll,
            19..22 => Operation::Reserve,
            22..25 => Operation::Use(random.below(10)),
            25..28 => Operation::Forget(random.below(10)),
            28..31 => Operation::RemoveFirst(random.bits()),
            31 => Operation::Take,
            32..35 => Operation::Collect(random.one(&[
                CollectionKind::Automatic,
                CollectionKind::Automatic,
                CollectionKind::Shrink,
                CollectionKind::Major,
            ])),
            _ if random.grows() => Operation::Send(made, random.chance(70)),
            _ => Operation::Remove,
        }
    }

    fn step(&mut self, operation: &Operation) {
        match *operation {
            Operation::Send(made, by_process) => {
                let number = self.next;
                self.next += 1;
                let mut heap = Heap::new();
                let term = build(&mut heap, number, made);
                let to = self.p.proc_ref();
                if by_process {
                    let outgoing = match outgoing::bare(self.p, term, |_| Timed::NO) {
                        Some(outgoing) => outgoing,
                        None => mode::pack(self.p, &to, term, |_| Timed::NO),
                    };
                    assert!(to.state.push_message(outgoing).is_ok());
                } else {
                    assert!(to.state.push(Signal::message(Package::new(term))).is_ok());
                }
                heap.clear();
                self.inbox.push_back((number, made));
            }
            Operation::Handle => {
                assert_eq!(self.p.shared().state.has_signals(), !self.inbox.is_empty());
                assert!(handle::drain(self.p) == After::Continue);
                self.queue.extend(self.inbox.drain(..));
                self.handled = self.next;
            }
            Operation::Skip(count) => {
                for _ in 0..count.min((self.queue.len() - self.save) as u64) {
                    self.look();
                    self.p.messages.skip();
                    self.save += 1;
                }
            }
            Operation::Remove if self.save < self.queue.len() => {
                self.look();
                if !self.p.messages.remove_plain() {
                    self.p.messages.remove();
                }
                self.queue.remove(self.save);
                self.save = 0;
            }
            Operation::Remove => {}
            Operation::Take => {
                let signal = self.p.messages.take();
                self.save = 0;
                assert_eq!(signal.is_some(), !self.queue.is_empty());
                if let Some(signal) = signal {
                    let (number, made) = self.queue.remove(0);
                    assert!(is(signal.body.message_term(), number, made));
                    signal.discard();
                }
            }
            Operation::RemoveFirst(which) => {
                let found = (!self.queue.is_empty()).then(|| which as usize % (self.queue.len() + 1));
                let wanted = found.and_then(|at| self.queue.get(at)).copied();
                let removed = self.p.messages.remove_first(|term| wanted.is_some_and(|(number, made)| is(term, number, made)));
                self.save = 0;
                if let Some(wanted) = wanted {
                    // Binaries of the same bytes are the same.
                    let mut heap = Heap::new();
                    let term = build(&mut heap, wanted.0, wanted.1);
                    let at = self.queue.iter().position(|&(number, made)| is(term, number, made)).expect("it is there");
                    heap.clear();
                    self.queue.remove(at);
                }
                assert_eq!(removed, wanted.is_some());
            }
            Operation::Restart => {
                self.p.messages.restart();
                self.save = 0;
            }
            Operation::PassAll => {
                self.p.messages.pass_all();
                self.save = self.queue.len();
            }
            Operation::Reserve => {
                let reference = self.next * 100 + self.markers.len() as i64;
                if self.markers.iter().all(|m| m.0 != reference) {
                    let number = self.p.messages.marker_reserve();
                    self.p.messages.marker_bind(number, Term::small(reference));
                    self.markers.push((reference, self.handled));
                    if self.markers.len() > 8 {
                        self.markers.remove(0);
                    }
                }
            }
            Operation::Use(which) => {
                self.p.messages.restart();
                let marker = self.markers.get(which as usize).copied();
                self.p.messages.marker_use(Term::small(marker.map_or(-1, |m| m.0)));
                let from = marker.map_or(0, |m| m.1);
                self.save = self.queue.iter().position(|&(n, _)| n >= from).unwrap_or(self.queue.len());
            }
            Operation::Forget(which) => {
                if (which as usize) < self.markers.len() {
                    let (reference, _) = self.markers.remove(which as usize);
                    self.p.messages.marker_clear(Term::small(reference));
                }
            }
            Operation::Collect(kind) => {
                gc::collect(self.p, &mut [], 0, kind);
                verify::heap(self.p, &mut []);
                literals::copy_off(self.p);
            }
        }
        assert_eq!(self.p.messages.len(), self.queue.len());
        assert_eq!(self.p.messages.is_at_end(), self.save >= self.queue.len());
    }

    fn check(&mut self) {
        self.p.messages.check();
        let terms: Vec<Term> = self.p.messages.terms().collect();
        assert!(terms.len() == self.queue.len() && terms.iter().zip(&self.queue).all(|(&term, &(number, made))| is(term, number, made)));
    }

    fn end(&mut self) {
        self.step(&Operation::Handle);
        self.check();
        mode::abandon(self.p);
        // SAFETY: nothing refers to it any more.
        unsafe { process::deallocate(self.p.proc_ref()) };
        qsbr::quiescent();
    }
}

#[test]
fn messages_of_all_kinds_behave_like_a_vector() {
    qsbr::online();
    run::<Mailbox>();
    qsbr::offline();
}
