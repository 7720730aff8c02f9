//! A process that fills its heap again and again in one slice has a larger one until it waits.
//!
//! What lives decides how large a heap is (`gc`), so a process that makes much and keeps little stays at the smallest size, and has
//! to be collected all the time: an nrev of 30 elements 30 times a slice with 233 words. So who was full `OFTEN` times in one slice
//! takes the next size, and so on, until it is full more rarely than that. Where it waits it is collected into the size that it would
//! have without this: who waits keeps no more than that, and pays with one collection behind several that it was spared.

use crate::gc::{self, Kind};
use crate::process::Process;
use crate::{long_gc, sizes};

/// So many times in a slice (4,000 reductions; a collection of a small heap costs what some 30 reductions do) is too often.
const OFTEN: u8 = 3;
/// The same where much is copied each time.
const OFTEN_WITH_MUCH: u8 = 2;

/// A block does not grow beyond this size: it and the one that it is copied to, 33 KB each, stay in the nearer caches.
const MOST_WORDS: usize = 4185;
/// Unless more than an eighth of it lives, so that much is copied each time: then up to this one.
const MOST_WORDS_WITH_MUCH: usize = 10958;

/// What is known of a process.
#[derive(Default)]
pub struct Busy {
    /// One more than the step (`sizes`) that its block had before it became larger because the process is busy; 0 if it is as large as
    /// what lives in it asks for.
    usual_step: u8,
    /// How often the block was full in the running slice since it has its size.
    filled: u8,
}

impl Busy {
    #[inline(always)]
    pub(crate) fn begin_slice(&mut self) {
        self.filled = 0;
    }
}

/// Whether it has a larger block than what lives in it asks for.
#[inline(always)]
pub fn is_busy(p: &Process) -> bool {
    p.busy.usual_step != 0
}

/// Its block was full, and was collected.
pub(crate) fn filled(p: &mut Process) {
    p.busy.filled += 1;
    if p.busy.filled < OFTEN_WITH_MUCH {
        return;
    }
    let words = p.heap_words();
    let has_much = 8 * (p.used_words() + p.stack_words()) > words;
    if !has_much && p.busy.filled < OFTEN {
        return;
    }
    p.busy.filled = 0;
    // Who has a limit has it for what it needs itself.
    if words < if has_much { MOST_WORDS_WITH_MUCH } else { MOST_WORDS } && p.max_heap().size_words == 0 {
        p.grow = true;
        if !is_busy(p) {
            p.busy.usual_step = sizes::step(words) as u8 + 1;
        }
    }
}

/// The words that its block would have if it were not busy, as far as that is known.
pub(crate) fn usual_words(p: &Process) -> usize {
    if is_busy(p) { sizes::all()[p.busy.usual_step as usize - 1] } else { p.heap_words() }
}

/// Its block is as large as what lives in it asks for, from here on.
pub(crate) fn forget(p: &mut Process) {
    p.busy.usual_step = 0;
}

/// It is about to wait; all that lives is in its roots.
#[cold]
pub fn rest(p: &mut Process) {
    // What lives made it large meanwhile, or the old generation is due as well and takes long: it is not worth that.
    if p.heap_words() > 2 * MOST_WORDS_WITH_MUCH || long_gc::is_long(p, Kind::Automatic) {
        forget(p);
    } else {
        gc::collect(p, &mut [], 0, Kind::Rest);
    }
}
