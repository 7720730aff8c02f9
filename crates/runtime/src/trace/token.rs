//! The token of sequential tracing, and what a process stores of it: see `seq`.

use crate::signal::package::Package;
use heddle_term::ident::PidView;
use heddle_term::{Atom, Heap, Term};

/// The sender of the last message that had the token.
#[derive(Clone, Copy)]
pub enum Sender {
    Process(PidView),
    /// A node that answered in no process's name.
    Node(Atom),
}

impl Sender {
    pub fn local(pid: u64) -> Sender {
        Sender::Process(PidView::of_local(pid))
    }

    pub fn to_term(self, heap: &mut Heap) -> Term {
        match self {
            Sender::Process(pid) => pid.to_term(heap),
            Sender::Node(name) => name.into(),
        }
    }

    fn of(term: Term) -> Option<Sender> {
        PidView::of(term).map(Sender::Process).or_else(|| term.as_atom().map(Sender::Node))
    }
}

#[derive(Clone)]
pub struct Token {
    pub flags: u32,
    pub label: Package,
    pub serial: i64,
    pub sender: Sender,
    pub previous: i64,
}

impl Token {
    pub fn term(&self, heap: &mut Heap) -> Term {
        let (label, sender) = (heap.copy(self.label.term()), self.sender.to_term(heap));
        heap.tuple(&[Term::small(self.flags as i64), label, Term::small(self.serial), sender, Term::small(self.previous)])
    }

    /// The token in the form of `term`, as other nodes send it. None for other terms.
    pub fn of(term: Term) -> Option<Token> {
        let &[flags, label, serial, sender, previous] = term.as_tuple()? else { return None };
        let flags = u32::try_from(flags.as_small()?).ok()?;
        let (serial, previous) = (serial.as_small()?, previous.as_small()?);
        Some(Token { flags, label: Package::new(label), serial, sender: Sender::of(sender)?, previous })
    }
}

/// The state of sequential tracing in a process.
#[derive(Default)]
pub struct SeqState {
    pub token: Option<Box<Token>>,
    pub clock: i64,
    pub previous: i64,
}
