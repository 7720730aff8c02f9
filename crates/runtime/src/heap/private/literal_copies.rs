//! A major collection that leaves literals, or regions of the message area, copies what the process refers to in them.

use heddle_term::area::{self, Seen};
use heddle_term::copy::share_off_heap;
use heddle_term::literal::Leaving;
use heddle_term::{Header, OffHeap, Term};
use std::collections::HashMap;
use std::ptr::null_mut;

/// Copies of literals. A literal itself has no forwarding word, so the copies are noted here. The same goes for regions, if they
/// must be left.
#[derive(Default)]
pub(super) struct LiteralCopies {
    copies: HashMap<u64, Term>,
    off_heap: OffHeap,
    copies_shared: bool,
    /// Regions that are still referred to.
    pub(super) shared: Seen,
}

impl LiteralCopies {
    pub(super) fn new(copies_shared: bool) -> LiteralCopies {
        LiteralCopies { copies_shared, ..LiteralCopies::default() }
    }

    /// The literal itself, or its copy if it is leaving.
    ///
    /// # Safety
    /// `*top` has room for one copy of everything that is leaving.
    // SAFETY: the major collection adds the words of all that leaves to the size of to-space.
    pub(super) unsafe fn copy(&mut self, term: Term, leaving: &Leaving, top: &mut *mut u64) -> Term {
        let is_shared = area::contains(term);
        let is_left = if is_shared { self.copies_shared } else { leaving.contains(term.raw()) };
        if !is_left {
            if is_shared {
                // SAFETY: as in `stays`.
                unsafe { self.shared.note(term) };
            }
            return term;
        }
        if let Some(&copy) = self.copies.get(&term.raw()) {
            return copy;
        }
        let dst = *top;
        // SAFETY: by contract; a literal is a whole object.
        unsafe {
            let src = term.ptr();
            let n = if term.is_cons() { 2 } else { Header::from_raw(*src).words() };
            std::ptr::copy_nonoverlapping(src, dst, n);
            *top = dst.add(n);
            if !term.is_cons() && Header::from_raw(*dst).kind().is_off_heap() {
                share_off_heap(dst, &mut self.off_heap);
            }
        }
        let copy = Term::from_raw(dst as u64 | term.tag());
        self.copies.insert(term.raw(), copy);
        copy
    }

    /// Moves the off-heap objects among the copies to the process's list.
    pub(super) fn hand_over(&mut self, to: &mut OffHeap) {
        to.virtual_words += self.off_heap.virtual_words;
        let mut object = std::mem::replace(&mut self.off_heap.head, null_mut());
        while !object.is_null() {
            // SAFETY: listed objects keep their link in the word after the header.
            unsafe {
                let next = *object.add(1) as *mut u64;
                to.push(object);
                object = next;
            }
        }
    }
}
