//! The signal that a process makes for a message of its own.

use crate::observe::messages::{Cost, Timed};
use crate::process::{ProcShared, Process};
use crate::signal::package::{Package, is_in_heap};
use crate::signal::small::{WORDS, fits, is_plain, pack};
use crate::signal::{Signal, SignalBody};
use crate::trace::token::Token;
use heddle_memory::own_row;
use heddle_term::copy::{Keep, flat_size_to};
use heddle_term::{Term, holding};

/// A message on its way to an inbox.
pub(crate) struct Outgoing {
    pub(crate) signal: Box<Signal>,
    /// True if its data may be in the young generation of the shared heap.
    pub(crate) refers: bool,
}

/// The signal for a message with a trace token.
pub(crate) fn with_token(from: Term, data: Package, token: Option<Box<Token>>) -> Outgoing {
    let refers = data.refers();
    Outgoing { signal: Signal::message_with(from, data, token), refers }
}

/// The signal for a term that is in no process heap, to another process or to the sender itself. None if the term is in a heap.
#[inline(always)]
pub(crate) fn bare(p: &Process, term: Term, count: impl FnOnce(Cost) -> Timed) -> Option<Outgoing> {
    if !Keep::live().keeps_all_of(term) {
        return None;
    }
    let signal = Signal::recent(|| SignalBody::message(Term::local_pid(p.pid()), Package::immediate(term), None));
    let _ = count(Cost::NOTHING);
    Some(Outgoing { signal, refers: false })
}

/// With the message area: a term that is in the area goes by reference, however short it is.
#[inline(always)]
pub(crate) fn beside_area(p: &mut Process, from: Term, term: Term, count: impl FnOnce(Cost) -> Timed) -> Box<Signal> {
    let keep = Keep::shared();
    match holding::in_place(term, keep) {
        None if is_plain(term)
            && let Some(words) = holding::small_copy(term, keep, WORDS) =>
        {
            let timed = count(Package::cost_of_small(p, words));
            pack(from, term, keep, words, timed)
        }
        _ => Signal::recent(|| SignalBody::message(from, Package::sharing(p, term, count), None)),
    }
}

/// A receiver that a thread has sent at least this many messages since it last drained its inbox has a long queue.
pub(crate) const CROWD: u8 = 12;

/// With a shared heap: the term itself, unless it is small and the receiver has a long queue.
#[inline(always)]
pub(crate) fn by_pointer(p: &mut Process, from: Term, to: &ProcShared, term: Term, count: impl FnOnce(Cost) -> Timed) -> Outgoing {
    let refers = is_in_heap(term);
    let is_crowded = refers && own_row().crowds.add(to.pid, to.turn()) >= CROWD;
    let words = if is_crowded { few_words(term) } else { 0 };
    let timed = count(if words != 0 { Cost::of_copy(words) } else { Cost { words: 0, referred: refers as usize, foreseen: 0 } });
    if words != 0 {
        return Outgoing { signal: pack(from, term, Keep::NOTHING, words, timed), refers: false };
    }
    Outgoing { signal: Signal::recent(|| SignalBody::message(from, Package::by_pointer(p, term), None)), refers }
}

/// The words of a term of the shared heap; 0 if there are too many.
#[inline(never)]
fn few_words(term: Term) -> usize {
    let words = flat_size_to(term, Keep::NOTHING, WORDS);
    if fits(term, words) { words } else { 0 }
}
