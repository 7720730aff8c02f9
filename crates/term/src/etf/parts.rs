//! Terms to bytes for a connection: in steps, with atoms as the caller writes them, and without the bytes of large bitstrings.

use super::encoder::{Encoder, Stack, Work};
use super::writer::{AtomWriter, Writer};
use crate::term::Term;

/// What a step left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    Done,
    /// Another step is needed.
    More,
}

/// A length does not fit in its field: there are more than 4,294,967,295 bytes in a bitstring, or elements in a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooLarge;

/// Encodes one term after the other. It keeps addresses of what is still to be written: until `step` says `Done`, the terms must
/// stay where they are.
pub struct PartsEncoder<A> {
    out: Vec<u8>,
    atoms: A,
    stack: Stack,
    /// Where whole bytes of large bitstrings belong (places in `out`, bitstrings).
    cuts: Vec<(usize, Term)>,
    cut_bytes: usize,
    is_too_large: bool,
}

// SAFETY: addresses in `stack` and `cuts` are of terms that their owner lets the encoder read, from whichever thread it is moved to.
unsafe impl<A: Send> Send for PartsEncoder<A> {}

/// The output and what was left out.
pub struct Parts<A> {
    pub bytes: Vec<u8>,
    /// Places in `bytes`, in order, and the bitstrings whose whole bytes belong there.
    pub cuts: Vec<(usize, Term)>,
    /// Sum of the bytes that were left out.
    pub cut_bytes: usize,
    pub atoms: A,
}

impl<A: AtomWriter> PartsEncoder<A> {
    /// With room for `room_bytes` of output, and for more when needed.
    pub fn new(atoms: A, room_bytes: usize) -> PartsEncoder<A> {
        let out = Vec::with_capacity(room_bytes);
        PartsEncoder { out, atoms, stack: Stack::new(), cuts: Vec::new(), cut_bytes: 0, is_too_large: false }
    }

    /// To write leaves of terms, or other bytes. No term is begun.
    pub fn writer(&mut self) -> Writer<'_, &mut A> {
        Writer { out: &mut self.out, atoms: &mut self.atoms }
    }

    /// Bytes so far, with those that are left out.
    pub fn len_bytes(&self) -> usize {
        self.out.len() + self.cut_bytes
    }

    /// Appends a term at once.
    pub fn term(&mut self, term: Term) {
        self.begin(term);
        self.step(usize::MAX);
    }

    /// The steps that follow append this term.
    pub fn begin(&mut self, term: Term) {
        self.stack.push(Work::Value(term));
    }

    /// Goes on for about `budget_bytes` of output.
    pub fn step(&mut self, budget_bytes: usize) -> Step {
        let pause_at = self.out.len().saturating_add(budget_bytes.max(1));
        let mut encoder: Encoder<'_, &mut A, true> = Encoder::new(&mut self.out, &mut self.atoms, 2, false);
        encoder.pause_at = pause_at;
        encoder.stack = std::mem::take(&mut self.stack);
        encoder.cuts = Some(std::mem::take(&mut self.cuts));
        encoder.cut_bytes = self.cut_bytes;
        encoder.go_on();
        let (stack, cuts, cut_bytes) = (std::mem::take(&mut encoder.stack), encoder.cuts.take(), encoder.cut_bytes);
        self.is_too_large |= encoder.is_too_large;
        (self.stack, self.cuts, self.cut_bytes) = (stack, cuts.unwrap_or_default(), cut_bytes);
        if self.stack.is_empty() { Step::Done } else { Step::More }
    }

    /// What was written. All that was begun is done.
    pub fn finish(self) -> Result<Parts<A>, TooLarge> {
        debug_assert!(self.stack.is_empty());
        if self.is_too_large {
            return Err(TooLarge);
        }
        Ok(Parts { bytes: self.out, cuts: self.cuts, cut_bytes: self.cut_bytes, atoms: self.atoms })
    }
}
