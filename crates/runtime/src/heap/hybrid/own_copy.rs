//! A large message is copied into a region when it is sent. After that the sender's own term goes on in the copy, so the next
//! message with the same list or tuple in it needs little more copying.
//!
//! The slots of the message's first objects are made to refer to what the same slots of the copy refer to. The terms are equal, so
//! no program sees the change. This is done only for objects that the process made since its last collection: an older object may
//! be promoted before the reference to the region is, which is as young as what is made now (see `off_heap`).

use crate::heap::hybrid::held_regions;
use crate::process::Process;
use heddle_term::area::{self, BUILDER, Fixed, Region};
use heddle_term::{Kind, Term};
use std::ops::Range;

/// Minimum size, in words. A smaller message is copied again at little more than the cost of holding a region.
const MIN_WORDS: usize = 128;
/// Elements of a message's tuple that are looked at.
const MAX_ELEMENTS: usize = 8;

/// `term` was sent, and copied to this region as `copy`, which refers to `words` words.
///
/// # Safety
/// The term is whole, and the caller holds the region.
#[inline]
// SAFETY: the sender calls it with the term that it just sent, while the package holds the region.
pub(crate) unsafe fn goes_on_in(p: &mut Process, term: Term, copy: Term, region: *mut Region, words: usize) {
    if words >= MIN_WORDS {
        // SAFETY: the term is whole, and the caller holds the region.
        unsafe { go_on(p, term, copy, region) }
    }
}

/// # Safety
/// As `goes_on_in`.
#[cold]
#[inline(never)]
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
            for (&element, &copy) in elements.iter().zip(copies).take(MAX_ELEMENTS) {
                any |= made.refers(element, copy);
            }
        } else {
            any = made.refers(term, copy);
        }
        if any {
            Region::hold(region, BUILDER);
            let words = p.heap.hold_times(region, BUILDER);
            held_regions::more(p, words);
        }
    }
}

/// The objects that may be changed.
struct Made {
    fresh: Range<usize>,
    fixed: Fixed,
}

impl Made {
    /// Makes the object refer to what its copy refers to: a list cell in its tail, a tuple in its elements. False if the object may
    /// not be changed, or if there is nothing to change.
    ///
    /// # Safety
    /// The objects are whole, and equal; the process owns `own`, and will hold the region of `copy`.
    unsafe fn refers(&self, own: Term, copy: Term) -> bool {
        if !own.is_pointer() || !self.fresh.contains(&(own.ptr() as usize)) {
            return false;
        }
        let slots = if own.is_cons() {
            1..2
        } else if own.is_kind(Kind::Tuple) {
            1..1 + own.header().arity().min(MAX_ELEMENTS)
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
