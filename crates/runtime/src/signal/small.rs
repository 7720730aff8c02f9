//! Messages of a few words, as most are: the signal itself holds the words. On its way such a message is one cache line and one
//! block of memory instead of two. If sender and receiver run on different cores, that line is what each message waits for. In the
//! message queue it stays so until `receive` looks at it: then its words go to the heap, and it becomes a message like the others.
//!
//! With a shared heap, a pointer is less work if the receiver looks at the message soon. But the next collections copy what is in a
//! long queue, and a message that refers into its sender's block keeps the sender from collecting that block alone. So a receiver
//! that was sent many messages since it last drained its inbox is sent the words themselves, which are no root. Such words do not
//! refer to literals either: literals that are being freed are looked for from roots.

use crate::observe::messages::{Cost, Timed};
use crate::signal::package::Package;
use crate::signal::{Signal, SignalBody};
use heddle_term::copy::{Keep, copy_to_keeping, flat_size_keeping, relocate};
use heddle_term::heap::{Heap, OffHeap};
use heddle_term::{Header, Kind, Term};
use std::ptr::null_mut;

/// As many words as the cache line has room for.
pub const WORDS: usize = 4;

/// A term that owns something outside the heap is on a list, for which a signal has no room. Such a term can have few enough words only
/// if it is the whole message: inside another term it has more.
#[inline(always)]
pub(super) fn is_plain(term: Term) -> bool {
    !term.kind().is_some_and(Kind::is_off_heap)
}

/// With private heaps.
#[inline(always)]
pub(crate) fn copied(from: Term, term: Term, count: impl FnOnce(Cost) -> Timed) -> Box<Signal> {
    let keep = Keep::live();
    let words = flat_size_keeping(term, keep);
    let timed = count(Cost::of_copy(words));
    if fits(term, words) {
        return pack(from, term, keep, words, timed);
    }
    Signal::recent(|| SignalBody::message(from, Package::of_words(term, keep, words, timed), None))
}

#[inline(always)]
pub(super) fn fits(term: Term, words: usize) -> bool {
    words.wrapping_sub(1) < WORDS && is_plain(term)
}

/// `count`: the words that the copy needs, at most as many as there is room for.
#[inline(always)]
pub(super) fn pack(from: Term, term: Term, keep: Keep, count: usize, timed: Timed) -> Box<Signal> {
    debug_assert!(count <= WORDS);
    let is_list = term.is_cons();
    let mut signal =
        Signal::recent(|| SignalBody::Small { from, words: [0; WORDS], count: count as u8, is_list, is_old: false, before: null_mut() });
    if let SignalBody::Small { words, .. } = &mut signal.body {
        let mut off_heap = OffHeap::new();
        // SAFETY: the caller counted the words. The thread that takes the signal relocates the pointers among the words (`unpack_in_place`).
        unsafe { copy_to_keeping(term, words.as_mut_ptr(), &mut off_heap, keep) };
        debug_assert!(off_heap.head.is_null());
    }
    timed.end(count);
    signal
}

/// The term whose first words these are.
#[inline(always)]
pub(crate) fn root(words: *const u64, is_list: bool) -> Term {
    if is_list { Term::cons(words) } else { Term::boxed(words) }
}

/// Moves the words that the signal holds into `heap`. The signal becomes a message without memory of its own.
#[inline(always)]
pub(crate) fn unpack_in_place(signal: &mut Signal, heap: &mut Heap) {
    let SignalBody::Small { from, words, count, is_list, .. } = &mut signal.body else { return };
    let count = *count as usize;
    let to = heap.alloc(count);
    let only_root = if *is_list { 2 } else { 1 + Header::from_raw(words[0]).arity() };
    // SAFETY: the words are whole objects, to which nothing outside points but their root; the heap made room for `count` words.
    unsafe {
        if count == only_root {
            // None of them points to another.
            for (n, &word) in words[..count].iter().enumerate() {
                *to.add(n) = word;
            }
        } else {
            relocate(words.as_mut_ptr(), count, to);
        }
    }
    signal.body = SignalBody::message(*from, Package::immediate(root(to, *is_list)), None);
}
