//! A copy that leaves in the message area what is there: of messages, and of what new processes begin with.
//!
//! Literals begin to leave, and are gone, at any time. All that is asked about one message is asked with the same `Keep::shared`: what
//! must be copied by one answer, and not by the next, has no room.

use crate::area::{self, NewRegion, Region, Seen};
use crate::copy::{Keep, copy_to_keeping, size_and_kept};
use crate::heap::OffHeap;
use crate::term::Term;
use std::ptr::null_mut;

/// A copy to be, that refers to what is in the message area where it lies, and holds the regions of that.
pub struct HoldingCopy {
    term: Term,
    keep: Keep,
    data_words: usize,
    regions: Seen,
    has_literals: bool,
}

/// A copy that would have to hold more regions does without: receivers hold each of them, too.
const MAX_REGIONS: usize = 16;

/// If nothing has to be copied, as of most messages: the region that the term is in, null if it is in none.
#[inline(always)]
pub fn in_place(term: Term, keep: Keep) -> Option<*mut Region> {
    if term.is_immediate() {
        return Some(null_mut());
    }
    if !keep.keeps(term) {
        return None;
    }
    // SAFETY: the caller has the term, so its region is held.
    Some(if area::contains(term) { unsafe { Region::of(term) } } else { null_mut() })
}

/// The words that a copy needs of what is not in place, if they are no more than `limit` and it would refer to no region.
#[inline(always)]
pub fn small_copy(term: Term, keep: Keep, limit: usize) -> Option<usize> {
    let mut refers = false;
    let words = size_and_kept(term, keep, limit, |kept| refers |= area::contains(kept));
    (words <= limit && !refers).then_some(words)
}

impl HoldingCopy {
    /// Of what is not in place with this `keep`.
    pub fn of(term: Term, keep: Keep) -> HoldingCopy {
        let mut copy = HoldingCopy { term, keep, data_words: 0, regions: Seen::default(), has_literals: false };
        copy.measure();
        copy.regions.close();
        if copy.regions.len() > MAX_REGIONS {
            (copy.keep, copy.regions, copy.has_literals) = (keep.literals(), Seen::default(), false);
            copy.measure();
        }
        copy
    }

    fn measure(&mut self) {
        self.data_words = size_and_kept(self.term, self.keep, usize::MAX, |kept| {
            if kept.is_immediate() {
            } else if area::contains(kept) {
                // SAFETY: the caller has the term, so its regions are held.
                unsafe { self.regions.note(kept) };
            } else {
                self.has_literals = true;
            }
        });
    }

    /// Words that are copied.
    pub fn data_words(&self) -> usize {
        self.data_words
    }

    /// Words that it needs: the data, and what says which regions are held.
    pub fn words(&self) -> usize {
        self.data_words + self.regions.len() * area::REFERENCE_WORDS
    }

    /// Words of the regions that it refers to.
    pub fn referred_words(&self) -> usize {
        // SAFETY: the caller has the term, so its regions are held.
        self.regions.regions().map(|region| unsafe { Region::words(region) }).sum()
    }

    /// Of those, the words of which it was foreseen that they would be sent.
    pub fn foreseen_words(&self) -> usize {
        // SAFETY: the caller has the term, so its regions are held.
        let foreseen = self.regions.regions().filter(|&region| unsafe { Region::is_foreseen(region) });
        // SAFETY: the caller has the term, so its regions are held.
        foreseen.map(|region| unsafe { Region::words(region) }).sum()
    }

    /// The copy.
    ///
    /// # Safety
    /// `at` has room for as many words as it needs, on the heap of the list.
    pub unsafe fn write(&self, at: *mut u64, off_heap: &mut OffHeap) -> Term {
        debug_assert!(self.data_words != 0);
        // SAFETY: by contract; the caller has the term, so the regions are held meanwhile.
        unsafe {
            let copy = copy_to_keeping(self.term, at, off_heap, self.keep);
            let mut reference = at.add(self.data_words);
            for region in self.regions.regions() {
                Region::hold(region, 1);
                area::refer(reference, region, 1, off_heap);
                reference = reference.add(area::REFERENCE_WORDS);
            }
            copy
        }
    }

    /// The copy, in a region of its own that the caller holds once; None if the area is full. `foreseen` words of it were.
    pub fn to_region(&self, foreseen: usize) -> Option<(Term, *mut Region)> {
        let mut new = NewRegion::new(self.words())?;
        if foreseen > self.data_words / 2 {
            new.was_foreseen();
        }
        // SAFETY: it has the room.
        let copy = unsafe { self.write(new.start(), new.off_heap()) };
        // SAFETY: they are held.
        let inner = self.regions.regions().any(|region| unsafe { Region::has_literals(region) });
        Some((copy, new.close(self.words(), self.has_literals || inner)))
    }
}
