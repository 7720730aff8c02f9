//! What a sender has of a large message that was copied when it was sent: its own term goes on in the copy, so the next message with
//! the same list or tuple in it copies little more.
//!
//! The slots of the message's first objects are made to refer to what the same slots of the copy refer to: equal terms, so nobody
//! sees it. Only of objects that the process made since its last collection: an older one may be promoted before the reference to
//! the region is, which is as young as what is made now (see `off_heap`).

use crate::held;
use crate::process::Process;
use heddle_term::area::{self, BUILDER, Fixed, Region};
use heddle_term::{Kind, Term};
use std::ops::Range;

/// Smaller messages are copied again for little more than it costs to hold a region.
const LEAST_WORDS: usize = 128;
/// Elements of a message that are looked at.
const MOST_ELEMENTS: usize = 8;

/// `term` was sent, and copied to this region as `copy`, which refers to so many words.
///
/// # Safety
/// The term is whole, and the caller holds the region.
#[inline]
// SAFETY: the contract above.
pub unsafe fn goes_on_in(p: &mut Process, term: Term, copy: Term, region: *mut Region, words: usize) {
    if words >= LEAST_WORDS {
        // SAFETY: by contract.
        unsafe { go_on(p, term, copy, region) }
    }
}

#[cold]
#[inline(never)]
// SAFETY: the contract of `goes_on_in`.
unsafe fn go_on(p: &mut Process, term: Term, copy: Term, region: *mut Region) {
    // SAFETY: by contract; what is listed of a region does not change.
    unsafe {
        let mut references = 1;
        area::for_each_reference(Region::listed(region), |_, _| references += 1);
        let room = (p.heap.hlimit as usize).saturating_sub(p.heap.htop as usize) / 8;
        if room < references * area::REFERENCE_WORDS {
            return;
        }
        let made = Made { fresh: p.high_water as usize..p.heap.htop as usize, fixed: Fixed::now() };
        let mut any = false;
        if let (Some(elements), Some(copies)) = (term.as_tuple(), copy.as_tuple()) {
            for (&element, &copy) in elements.iter().zip(copies).take(MOST_ELEMENTS) {
                any |= made.refers(element, copy);
            }
        } else {
            any = made.refers(term, copy);
        }
        if any {
            Region::hold(region, BUILDER);
            let words = p.heap.hold_times(region, BUILDER);
            held::more(p, words);
        }
    }
}

/// What may be changed.
struct Made {
    fresh: Range<usize>,
    fixed: Fixed,
}

impl Made {
    /// Makes the object refer to what its copy refers to: a cell in its tail, a tuple in its elements. False if it may not, or if there
    /// is nothing.
    ///
    /// # Safety
    /// Both are whole, and equal; the process owns the one, and will hold the region of the other.
    // SAFETY: the contract above.
    unsafe fn refers(&self, own: Term, copy: Term) -> bool {
        if !own.is_pointer() || !self.fresh.contains(&(own.ptr() as usize)) {
            return false;
        }
        let slots = if own.is_cons() {
            1..2
        } else if own.is_kind(Kind::Tuple) {
            1..1 + own.header().arity().min(MOST_ELEMENTS)
        } else {
            return false;
        };
        let mut any = false;
        for slot in slots {
            // SAFETY: both have these slots.
            unsafe {
                let at = own.ptr().add(slot);
                let before = Term::from_raw(*at);
                if before.is_pointer() && !self.fixed.contains(before) {
                    *at = *copy.ptr().add(slot);
                    any = true;
                }
            }
        }
        any
    }
}
