//! Registers saved with a process, and arguments left for a native: a vector of terms that is one pointer, because every
//! process has two and most hold nothing.

use heddle_term::Term;
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// Stands before the terms, in the same allocation.
#[repr(C)]
struct Header {
    len: u32,
    capacity: u32,
}

#[derive(Default)]
pub struct Registers(Option<NonNull<Header>>);

// SAFETY: owns its terms as a vector would.
unsafe impl Send for Registers {}

/// Terms that a first allocation has room for at least: with the header four words, which is a small size class.
const MIN_CAPACITY: usize = 3;

fn layout(capacity: usize) -> Layout {
    Layout::from_size_align(size_of::<Header>() + capacity * 8, 8).expect("registers")
}

impl Registers {
    pub(crate) const fn new() -> Registers {
        Registers(None)
    }

    fn data(block: NonNull<Header>) -> *mut Term {
        // SAFETY: the terms follow the header in the same allocation.
        unsafe { block.as_ptr().add(1).cast::<Term>() }
    }

    #[inline]
    pub fn clear(&mut self) {
        if let Some(block) = self.0 {
            // SAFETY: our live block.
            unsafe { (*block.as_ptr()).len = 0 };
        }
    }

    #[inline]
    pub fn extend_from_slice(&mut self, terms: &[Term]) {
        if terms.is_empty() {
            return;
        }
        let len = self.len();
        let block = match self.0 {
            // SAFETY: our live block.
            Some(block) if unsafe { (*block.as_ptr()).capacity } as usize >= len + terms.len() => block,
            _ => self.grow(len + terms.len()),
        };
        // SAFETY: the block has room after its first `len` terms; the source is another allocation.
        unsafe {
            std::ptr::copy_nonoverlapping(terms.as_ptr(), Registers::data(block).add(len), terms.len());
            (*block.as_ptr()).len = (len + terms.len()) as u32;
        }
    }

    /// Only the first `len` stay.
    pub(crate) fn truncate(&mut self, len: usize) {
        if let Some(block) = self.0 {
            // SAFETY: our live block.
            unsafe { (*block.as_ptr()).len = (*block.as_ptr()).len.min(len as u32) };
        }
    }

    pub fn push(&mut self, term: Term) {
        self.extend_from_slice(&[term]);
    }

    #[cold]
    fn grow(&mut self, need: usize) -> NonNull<Header> {
        let capacity = need.max(MIN_CAPACITY);
        let layout = layout(capacity);
        // SAFETY: the layout has a non-zero size.
        let Some(block) = NonNull::new(unsafe { alloc(layout) }.cast::<Header>()) else { handle_alloc_error(layout) };
        let len = self.len();
        // SAFETY: fresh memory with room for the header and more terms than the old block holds.
        unsafe {
            block.as_ptr().write(Header { len: len as u32, capacity: capacity as u32 });
            std::ptr::copy_nonoverlapping(self.as_ptr(), Registers::data(block), len);
        }
        *self = Registers(Some(block));
        block
    }
}

impl Drop for Registers {
    fn drop(&mut self) {
        if let Some(block) = self.0 {
            // SAFETY: allocated with this layout; nothing else refers to it.
            unsafe { dealloc(block.as_ptr().cast(), layout((*block.as_ptr()).capacity as usize)) };
        }
    }
}

impl Deref for Registers {
    type Target = [Term];
    #[inline]
    fn deref(&self) -> &[Term] {
        match self.0 {
            // SAFETY: the first `len` terms are initialised.
            Some(block) => unsafe { std::slice::from_raw_parts(Registers::data(block), (*block.as_ptr()).len as usize) },
            None => &[],
        }
    }
}

impl DerefMut for Registers {
    #[inline]
    fn deref_mut(&mut self) -> &mut [Term] {
        match self.0 {
            // SAFETY: as in `deref`, and borrowed alone.
            Some(block) => unsafe { std::slice::from_raw_parts_mut(Registers::data(block), (*block.as_ptr()).len as usize) },
            None => &mut [],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_what_it_was_given_while_it_grows() {
        let mut r = Registers::new();
        assert!(r.is_empty());
        for n in 0..20 {
            r.push(Term::small(n));
        }
        r.extend_from_slice(&[Term::NIL, Term::NIL]);
        assert_eq!(r.len(), 22);
        assert!((0..20).all(|n| r[n as usize] == Term::small(n)));
        let taken = std::mem::take(&mut r);
        assert_eq!((r.len(), taken.len()), (0, 22));
        r.clear();
        r.extend_from_slice(&taken[..1]);
        assert_eq!(&*r, &[Term::small(0)]);
    }
}
