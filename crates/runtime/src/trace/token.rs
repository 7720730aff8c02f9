//! The token of sequential tracing, and what a process stores of it: see `seq`.

use crate::signal::package::Package;
use heddle_term::{Heap, Term};

#[derive(Clone)]
pub struct Token {
    pub flags: u32,
    pub label: Package,
    pub serial: i64,
    /// Pid of the last sender.
    pub sender: Term,
    pub previous: i64,
}

// SAFETY: the sender is an immediate.
unsafe impl Send for Token {}

impl Token {
    pub fn term(&self, heap: &mut Heap) -> Term {
        let label = heap.copy(self.label.term());
        heap.tuple(&[Term::small(self.flags as i64), label, Term::small(self.serial), self.sender, Term::small(self.previous)])
    }
}

/// The state of sequential tracing in a process.
#[derive(Default)]
pub struct SeqState {
    pub token: Option<Box<Token>>,
    pub clock: i64,
    pub previous: i64,
}
