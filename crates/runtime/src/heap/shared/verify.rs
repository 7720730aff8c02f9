//! Checks the whole shared heap after a collection, in the test mode `gc`: nothing refers to the young generation, and each pointer leads
//! into a piece of the old generation, or to a literal.

use super::pieces::Old;
use super::zombies;
use crate::heap::roots;
use crate::process::ProcRef;
use crate::process::{proctab, stack};
use heddle_term::boxed::for_each_slot;
use heddle_term::term::{TAG_FORWARD, TAG_MASK};
use heddle_term::{Term, literal};
use std::sync::atomic::{AtomicU64, Ordering};

/// Larger heaps are checked at one of `ONE_IN` collections.
const VERIFIED_WORDS: usize = 4096;
const ONE_IN: u64 = 64;
static LOOKS: AtomicU64 = AtomicU64::new(0);

/// Panics if a term refers to memory outside of the heap.
pub(super) fn all(old: &Old) {
    if old.words > VERIFIED_WORDS && !LOOKS.fetch_add(1, Ordering::Relaxed).is_multiple_of(ONE_IN) {
        return;
    }
    let mut pieces: Vec<(usize, usize)> = old.pieces().map(|piece| (piece.start as usize, piece.top as usize)).collect();
    pieces.sort_unstable();
    let check = |term: Term, place: &dyn Fn() -> String| {
        if !term.is_pointer() || literal::is_literal(term) {
            return;
        }
        let at = term.ptr() as usize;
        let before = pieces.partition_point(|&(start, _)| start <= at);
        let is_there = before > 0 && at < pieces[before - 1].1;
        assert!(is_there, "shared heap: {} refers to {:#x}, which is nowhere", place(), term.raw());
    };
    for piece in old.pieces() {
        let look = |slot: *mut Term| {
            // SAFETY: a word of the piece.
            let term = unsafe { *slot };
            // A forwarding word here means that an object was moved twice.
            assert!(term.raw() & TAG_MASK != TAG_FORWARD, "the old generation has a forwarding word at {slot:p}");
            check(term, &|| format!("an object at {slot:p}"));
        };
        // SAFETY: pieces are whole objects up to their tops, and the world is stopped.
        unsafe { for_each_slot(piece.start, piece.top, look) };
    }
    let mut look = |p: ProcRef| {
        // SAFETY: the world stands still.
        let local = unsafe { p.local() };
        if local.start.is_null() {
            return;
        }
        let pid = local.pid_term();
        for (slot, term) in stack::words(local) {
            check(term, &|| format!("the stack of {pid:?} at {slot:p}"));
        }
        let mut f = |slot: &mut Term| check(*slot, &|| format!("a root of {pid:?}"));
        if local.is_in_safe_region() {
            roots::for_each_root_in_safe_region(local, &mut f);
        } else {
            roots::for_each_young_root(local, &mut [], &mut f);
        }
        local.messages.for_each_bare(&mut f);
        p.state.for_each_root(&mut |slot: &mut Term| check(*slot, &|| format!("a signal to {pid:?}")));
    };
    proctab::for_each(&mut look);
    proctab::for_each_port(&mut look);
    zombies::for_each(&mut look);
}
