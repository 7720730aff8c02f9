//! Messages of a few words, as most are: the signal that brings one has it in itself. On its way a message is then one line of the
//! cache and one block of memory instead of two; where sender and receiver have different cores, that line is what each message waits
//! for. In the queue of messages it stays so until `receive` looks at it: then its words go to the heap, and it is a message as others.
//!
//! With a shared heap messages have no memory of their own, and there are none of these.

use crate::messages::{Cost, Timed};
use crate::package::Package;
use crate::process::Process;
use crate::signal::{Body, Signal};
use crate::trace::seq::Token;
use heddle_term::area;
use heddle_term::copy::{Keep, copy_to_keeping, flat_size_keeping, relocate};
use heddle_term::heap::{Heap, OffHeap};
use heddle_term::{Header, Kind, Term, holding};
use std::ptr::null_mut;

/// As many as a line has room for.
pub const WORDS: usize = 4;

/// What owns something elsewhere is on a list that a signal has no room for. Alone it has so few words, in another term it has more.
#[inline(always)]
fn is_plain(term: Term) -> bool {
    !term.kind().is_some_and(Kind::is_off_heap)
}

/// The signal that brings `term`, of `p`'s heap, from it to another process or itself. `count` as for `Package::message`.
#[inline(always)]
pub fn message(p: &mut Process, term: Term, token: Option<Box<Token>>, count: impl FnOnce(Cost) -> Timed) -> Box<Signal> {
    // No port sends this way.
    let from = Term::local_pid(p.pid());
    if token.is_some() || p.heap.is_shared() {
        return Signal::message_with(from, Package::of_process(p, term, count), token);
    }
    if area::is_there() {
        return beside_area(p, from, term, count);
    }
    let keep = Keep::live();
    let words = flat_size_keeping(term, keep);
    let timed = count(Cost::of_copy(words));
    if words.wrapping_sub(1) < WORDS && is_plain(term) && !timed.is_wanted() {
        return pack(from, term, keep, words);
    }
    Signal::message_with(from, Package::of_words(term, keep, words, timed), None)
}

/// With the message area: what is in it goes by reference, however short.
#[inline(always)]
fn beside_area(p: &mut Process, from: Term, term: Term, count: impl FnOnce(Cost) -> Timed) -> Box<Signal> {
    let keep = Keep::shared();
    if holding::in_place(term, keep).is_none()
        && is_plain(term)
        && let Some(words) = holding::small_copy(term, keep, WORDS)
    {
        let timed = count(Package::cost_of_small(p, words));
        if timed.is_wanted() {
            return Signal::message_with(from, Package::of_words(term, keep, words, timed), None);
        }
        return pack(from, term, keep, words);
    }
    Signal::message_with(from, Package::message(p, term, count), None)
}

/// `count` words are what the copy needs, and as many as there is room for.
#[inline(always)]
fn pack(from: Term, term: Term, keep: Keep, count: usize) -> Box<Signal> {
    debug_assert!(count <= WORDS);
    let body = Body::Small { from, words: [0; WORDS], count: count as u8, is_list: term.is_cons(), before: null_mut() };
    let mut signal = Signal::recent(body);
    if let Body::Small { words, .. } = &mut signal.body {
        let mut off_heap = OffHeap::new();
        // SAFETY: by the caller's word. Who takes the signal moves it with the pointers that the words have among them (`settle`).
        unsafe { copy_to_keeping(term, words.as_mut_ptr(), &mut off_heap, keep) };
        debug_assert!(off_heap.head.is_null());
    }
    signal
}

/// The term whose first words are here.
#[inline(always)]
pub(crate) fn root(words: *const u64, is_list: bool) -> Term {
    if is_list { Term::cons(words) } else { Term::boxed(words) }
}

/// What the signal brings in itself moves into `heap`. It goes on as a message of something without memory.
#[inline(always)]
pub(crate) fn settle(signal: &mut Signal, heap: &mut Heap) {
    let Body::Small { from, words, count, is_list, .. } = &mut signal.body else { return };
    let count = *count as usize;
    let to = heap.alloc(count);
    let only_root = if *is_list { 2 } else { 1 + Header::from_raw(words[0]).arity() };
    // SAFETY: the words are whole objects, which only their root points to from elsewhere; the heap made room for as many.
    unsafe {
        if count == only_root {
            // Nothing among them points to another.
            for (n, &word) in words[..count].iter().enumerate() {
                *to.add(n) = word;
            }
        } else {
            relocate(words.as_mut_ptr(), count, to);
        }
    }
    signal.body = Body::message(*from, Package::immediate(root(to, *is_list)), None);
}
