//! The stack of a process, as others see it; and the mark that tells the collector which part of it did not change.
//!
//! Only the running function writes its frame. So the frames below one whose return address is still there are as they were when it
//! was called. The collector uses that (Cheng, Harper and Lee, "Generational Stack Collection and Profile-Driven Pretenuring",
//! 1998): after a minor collection it exchanges a return address near the top, the *marked* one, for one that leads to the engine's
//! `mark_returned`. If that is still there at the next collection, nothing below it was written. What the part below refers to has
//! then survived twice and is promoted, so it is *clean*: nothing in it is young, and no minor collection needs to look at it
//! again. A recursion of depth N that allocates then no longer has N frames looked at in each collection.
//!
//! When a function returns through the mark, the mark is moved down the stack. Code that leaves frames in another way (exceptions,
//! `hibernate`) need not know of it: the mark's word is then gone or another one, and the collector looks at the whole stack again.
//! That cannot be mistaken, because all words of a stack are written before a collection may come, and only `set` writes marks.
//!
//! Readers use `words`, which puts the return address back that the mark stands for.

use crate::process::Process;
use crate::process::stack_mark::Mark;
use crate::trace::cells;
use heddle_term::Term;
use heddle_term::term::{TAG_CONTINUATION, TAG_MASK};
use std::sync::atomic::AtomicUsize;

/// `erlang:system_flag(backtrace_depth, N)`.
pub static BACKTRACE_DEPTH: AtomicUsize = AtomicUsize::new(8);

/// The mark is at least this many words below the top: the process would return through a nearer one at once.
const DISTANCE_WORDS: usize = 64;

fn mark(p: &Process) -> Mark {
    p.rare_if_any().map_or(Mark::NONE, |rare| rare.mark)
}

/// The words at the end of the stack that a minor collection need not visit.
pub(crate) fn clean_words(p: &Process) -> usize {
    mark(p).clean as usize
}

/// The word that replaces a marked return address; None before the engine has started.
fn marked_word() -> Option<Term> {
    cells::CELLS.get().map(|cells| Term::from_raw(cells.mark as u64 | TAG_CONTINUATION))
}

fn slot(p: &Process, at: u32) -> *mut u64 {
    p.end.wrapping_sub(at as usize)
}

/// True if the mark is where it was set.
fn is_there(p: &Process) -> bool {
    let at = mark(p).at;
    // SAFETY: the stack is initialised from `stop` to `end`.
    at != 0 && at as usize <= p.stack_words() && unsafe { Some(Term::from_raw(*slot(p, at))) == marked_word() }
}

/// Before a minor collection visits the stack: drops what is known of the stack, unless it still holds.
pub(crate) fn before_minor(p: &mut Process) {
    if p.rare_if_any().is_some() && !is_there(p) {
        p.rare().mark = Mark::NONE;
    }
}

/// After a minor collection visited the stack: what it found unchanged for the second time is clean.
pub(crate) fn after_minor(p: &mut Process) {
    let unchanged = mark(p).at.saturating_sub(1);
    take_away(p);
    set(p, DISTANCE_WORDS, unchanged);
}

/// A major collection makes everything young, so the mark goes.
pub(crate) fn before_major(p: &mut Process) {
    if is_there(p) {
        take_away(p);
    }
    if p.rare_if_any().is_some() {
        p.rare().mark = Mark::NONE;
    }
}

/// After a collection of the shared heap visited the stack: all that it refers to is old, so everything below a new mark is clean.
pub(crate) fn all_is_old(p: &mut Process) {
    take_away(p);
    set(p, DISTANCE_WORDS, u32::MAX);
}

/// The process returns through the mark, to the address that is returned here; the top of its stack is `s` now.
pub fn returned_through(p: &mut Process, s: *mut u64) -> *const u64 {
    let Mark { clean, target, .. } = mark(p);
    p.stop = s;
    // The new mark is further down by a quarter of the stack that is left, so that a long way back meets few marks.
    set(p, DISTANCE_WORDS.max(p.stack_words() / 4), clean);
    (target.raw() - TAG_CONTINUATION) as *const u64
}

/// Where a process really goes on that should go on at `to`: `to` may be a return address that was read where the mark is.
pub fn unmarked(p: &mut Process, to: *const u64) -> *const u64 {
    if cells::CELLS.get().is_some_and(|cells| cells.mark == to) { returned_through(p, p.stop) } else { to }
}

/// Puts the marked return address back. The mark must be in place, if there is one.
fn take_away(p: &mut Process) {
    let Mark { at, target, .. } = mark(p);
    if at != 0 {
        // SAFETY: its place is in the stack.
        unsafe { *slot(p, at) = target.raw() };
    }
}

/// Marks the first return address at least `distance` words below the top. Of the `clean` words, those below the mark are clean.
fn set(p: &mut Process, distance: usize, clean: u32) {
    let mut mark = Mark::NONE;
    if let Some((at, word)) = find(p, distance).and_then(|at| Some((at, marked_word()?))) {
        // SAFETY: `find` returns a place in the stack.
        let target = unsafe { std::mem::replace(&mut *slot(p, at), word.raw()) };
        mark = Mark { at, clean: clean.min(at - 1), target: Term::from_raw(target) };
    }
    if mark.at != 0 || p.rare_if_any().is_some() {
        p.rare().mark = mark;
    }
}

/// The place of a return address that only the engine uses; tracing looks for the addresses of its own frames in the stack itself.
fn find(p: &Process, distance: usize) -> Option<u32> {
    let words = u32::try_from(p.stack_words().checked_sub(distance)?).ok()?;
    (1..=words).rev().find(|&at| {
        // SAFETY: as in `is_there`.
        let word = unsafe { Term::from_raw(*slot(p, at)) };
        word.is_continuation() && cells::kind(word).is_none()
    })
}

/// The words of the stack with their addresses, from the top down. A marked word is shown as the return address it replaces.
pub fn words(p: &Process) -> impl Iterator<Item = (*mut u64, Term)> + '_ {
    let marked = marked_word();
    let mut slot = p.stop;
    std::iter::from_fn(move || {
        if slot >= p.end {
            return None;
        }
        // SAFETY: the stack is initialised from `stop` to `end`.
        let word = unsafe { Term::from_raw(*slot) };
        let found = (slot, if Some(word) == marked { mark(p).target } else { word });
        slot = slot.wrapping_add(1);
        Some(found)
    })
}

/// Return addresses from the top of the stack down, those of trace frames too.
pub fn return_addresses(p: &Process) -> impl Iterator<Item = *const u64> + '_ {
    words(p).filter(|(_, word)| word.is_continuation()).map(|(_, word)| (word.raw() - TAG_CONTINUATION) as *const u64)
}

/// As `return_addresses`, without those of trace frames.
pub fn callers(p: &Process) -> impl Iterator<Item = *const u64> + '_ {
    words(p)
        .filter(|(_, word)| word.is_continuation() && cells::kind(*word).is_none())
        .map(|(_, word)| (word.raw() - TAG_CONTINUATION) as *const u64)
}

/// As `callers` from `from` on, but equal neighbours count once, until `f` returns false. `last`: the word of the caller before, or 0. Ends at the mark of an
/// exception handler if `to_handler`, and then returns the place of that word.
#[inline(always)]
pub fn each_different_caller(
    p: &Process,
    from: *mut u64,
    mut last: u64,
    to_handler: bool,
    mut f: impl FnMut(*const u64) -> bool,
) -> Option<*mut u64> {
    let marked = marked_word().map_or(0, Term::raw);
    let mut slot = from;
    while slot < p.end {
        // SAFETY: the stack is initialised from `stop` to `end`.
        let mut word = unsafe { *slot };
        slot = slot.wrapping_add(1);
        if word & TAG_MASK != TAG_CONTINUATION {
            if to_handler && Term::from_raw(word).is_catch_marker() {
                return Some(slot.wrapping_sub(1));
            }
            continue;
        }
        // A deep recursion is passed quickly.
        if word == last {
            continue;
        }
        if word == marked {
            word = mark(p).target.raw();
        }
        if word == last || cells::kind(Term::from_raw(word)).is_some() {
            continue;
        }
        last = word;
        if !f((word - TAG_CONTINUATION) as *const u64) {
            return None;
        }
    }
    None
}
