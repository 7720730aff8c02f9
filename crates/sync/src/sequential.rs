//! The sequential machine: one thread at a time has its turn at everything that processes share, and what the others would see of
//! a read-modify-write need not be atomic then.
//!
//! The mode is chosen once, before there are threads. In it a thread takes the turn before it looks at what is shared, and gives it
//! back before it blocks; the scheduler, which mostly has it, offers it between two processes to threads that wait. Turns are taken in the
//! order of asking. Giving back and taking synchronise as a lock does, so plain loads and stores are enough for what is only touched
//! with the turn: `word::Word` does its read-modify-writes with them then. Elsewhere, and for what other threads touch at any time
//! (the set of the idle, what is brought for a scheduler), they are atomic in this mode as well.
//!
//! Where the mode is off all that costs a look at one byte that is never written.

use crate::alone;
use crate::turn::Turn;

static TURN: Turn = Turn::new();

/// From here on. Before any other thread looks at what is shared.
pub fn choose() {
    alone::take_turns();
}

#[inline(always)]
pub fn is_on() -> bool {
    alone::is_turns()
}

/// Takes the turn, if this is the sequential machine. The caller does not have it.
#[inline]
pub fn enter() {
    if is_on() {
        TURN.take();
    }
}

/// Ends the turn.
#[inline]
pub fn leave() {
    if is_on() {
        TURN.give_back();
    }
}

/// By the thread that has it, and holds nothing that is shared just now: lets threads that wait go first.
#[inline(always)]
pub fn offer() {
    if is_on() && TURN.is_wanted() {
        TURN.give_back();
        TURN.take();
    }
}
