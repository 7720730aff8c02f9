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

/// No serial number of a peer is as large as this.
const LARGEST_SERIAL: i64 = 1 << 58;

impl Token {
    pub fn term(&self, heap: &mut Heap) -> Term {
        let (label, sender) = (heap.copy(self.label.term()), self.sender.to_term(heap));
        heap.tuple(&[Term::small(self.flags as i64), label, Term::small(self.serial), sender, Term::small(self.previous)])
    }

    /// The token in the form of `term`, as other nodes send it. None for other terms.
    pub fn of(term: Term) -> Option<Token> {
        let &[flags, label, serial, sender, previous] = term.as_tuple()? else { return None };
        let flags = u32::try_from(flags.as_small()?).ok()?;
        // The next ones must be small integers, too, however many messages follow.
        let number = |term: Term| term.as_small().filter(|number| (0..LARGEST_SERIAL).contains(number));
        let (serial, previous) = (number(serial)?, number(previous)?);
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

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_term::node;

    #[test]
    fn a_serial_number_after_which_none_is_small_makes_no_token() {
        let mut heap = Heap::new();
        let (node, creation) = node::current();
        let mut token = |serial: i64| {
            let sender = PidView { node, creation, number: 1, serial: 0 }.to_term(&mut heap);
            let parts = [Term::small(1), Term::NIL, Term::small(serial), sender, Term::small(0)];
            Token::of(heap.tuple(&parts)).map(|token| token.serial)
        };
        assert_eq!([token(7), token((1 << 59) - 1), token(-1)], [Some(7), None, None]);
    }
}
