//! Size and flat copy of a term, without native recursion. Literals are shared, not copied. Sharing inside the term is
//! not preserved (as in ERTS), so the size is that of the flat tree.

use crate::bits::{copy_bits, data_of};
use crate::boxed::{HEAP_BITS_MAX_BYTES, Header, Kind};
use crate::heap::{Heap, OffHeap};
use crate::literal::is_literal;
use crate::refbin::RefBin;
use crate::resource;
use crate::term::Term;
use std::sync::Arc;

/// Words that `copy_into` needs for this term; 0 for immediates and literals.
pub fn flat_size(term: Term) -> usize {
    if term.is_immediate() || is_literal(term) {
        return 0;
    }
    let mut words = 0;
    let mut stack: Vec<Term> = Vec::new();
    let mut current = term;
    loop {
        if current.is_immediate() || is_literal(current) {
        } else if current.is_cons() {
            words += 2;
            let head = current.head();
            if head.is_pointer() {
                stack.push(head);
            }
            current = current.tail();
            continue;
        } else {
            let header = current.header();
            match header.kind() {
                Kind::SubBits => words += sub_bits_words(current),
                kind => {
                    words += header.words();
                    if kind.raw_words() != usize::MAX {
                        for i in header.raw_words()..header.arity() {
                            let slot = current.slot(i);
                            if slot.is_pointer() {
                                stack.push(slot);
                            }
                        }
                    }
                }
            }
        }
        match stack.pop() {
            Some(next) => current = next,
            None => return words,
        }
    }
}

/// A copied slice becomes a small bitstring of its own, or a slice with a BinRef of its own.
fn sub_bits_words(term: Term) -> usize {
    let bytes = term.word(1).div_ceil(8) as usize;
    if bytes <= HEAP_BITS_MAX_BYTES { 2 + bytes.div_ceil(8) } else { 4 + 4 }
}

/// Copies `term` to `dest`, which has room for `flat_size(term)` words; off-heap objects go on `off_heap`.
/// Breadth first: the destination itself is the work list.
///
/// # Safety
/// `dest` must have room for exactly `flat_size(term)` words.
pub unsafe fn copy_to(term: Term, dest: *mut u64, off_heap: &mut OffHeap) -> Term {
    if term.is_immediate() || is_literal(term) {
        return term;
    }
    let mut top = dest;
    let mut scan = dest;
    // SAFETY: `flat_size` counted every word that the evacuations below write.
    unsafe {
        let root = evacuate(term, &mut top, off_heap);
        while scan < top {
            let word = Term::from_raw(*scan);
            if word.is_header() {
                scan = scan.add(1 + Header::from_raw(word.raw()).raw_words());
            } else {
                if word.is_pointer() && !is_literal(word) && !in_range(word, dest, top) {
                    *scan = evacuate(word, &mut top, off_heap).raw();
                }
                scan = scan.add(1);
            }
        }
        root
    }
}

#[inline(always)]
fn in_range(term: Term, from: *mut u64, to: *mut u64) -> bool {
    let ptr = term.ptr();
    ptr >= from && ptr < to
}

/// Shallow copy of one object.
unsafe fn evacuate(term: Term, top: &mut *mut u64, off_heap: &mut OffHeap) -> Term {
    let src = term.ptr();
    let dst = *top;
    // SAFETY: the caller counted the words; sources are whole objects.
    unsafe {
        if term.is_cons() {
            *dst = *src;
            *dst.add(1) = *src.add(1);
            *top = dst.add(2);
            return Term::cons(dst);
        }
        let header = Header::from_raw(*src);
        match header.kind() {
            Kind::SubBits => {
                let size_bits = term.word(1);
                let bytes = size_bits.div_ceil(8) as usize;
                let original = term.slot(2);
                if bytes <= HEAP_BITS_MAX_BYTES {
                    let words = bytes.div_ceil(8);
                    *dst = Header::new(Kind::HeapBits, 1 + words).raw();
                    *dst.add(1) = size_bits;
                    std::ptr::write_bytes(dst.add(2), 0, words);
                    copy_bits(data_of(original).0, term.word(0), dst.add(2).cast(), 0, size_bits);
                    *top = dst.add(2 + words);
                } else {
                    let block = original.word(2) as *mut RefBin;
                    RefBin::retain(block);
                    let bin = dst.add(4);
                    *dst = header.raw();
                    *dst.add(1) = term.word(0);
                    *dst.add(2) = size_bits;
                    *dst.add(3) = Term::boxed(bin).raw();
                    *bin = Header::new(Kind::BinRef, 3).raw();
                    *bin.add(2) = original.word(1);
                    *bin.add(3) = block as u64;
                    off_heap.push(bin);
                    off_heap.virtual_words += RefBin::capacity_bytes(block) / 8;
                    *top = dst.add(8);
                }
                return Term::boxed(dst);
            }
            kind => {
                std::ptr::copy_nonoverlapping(src, dst, header.words());
                *top = dst.add(header.words());
                if kind.is_off_heap() {
                    share_off_heap(dst, off_heap);
                }
            }
        }
        Term::boxed(dst)
    }
}

/// A bitwise copy of an off-heap object at `object` becomes a second owner.
unsafe fn share_off_heap(object: *mut u64, off_heap: &mut OffHeap) {
    // SAFETY: `object` is a fresh bitwise copy of a live off-heap object.
    unsafe {
        match Header::from_raw(*object).kind() {
            Kind::BinRef => {
                let block = *object.add(3) as *mut RefBin;
                RefBin::retain(block);
                off_heap.virtual_words += RefBin::capacity_bytes(block) / 8;
            }
            Kind::MagicRef => {
                let shared: Arc<dyn resource::Resource> = resource::share(*object.add(4) as resource::ResourcePtr);
                *object.add(4) = resource::into_raw(shared) as u64;
            }
            kind => unreachable!("{kind:?} is not off-heap"),
        }
        off_heap.push(object);
    }
}

impl Heap {
    /// A copy of `term` (from any heap) in this one.
    pub fn copy(&mut self, term: Term) -> Term {
        let words = flat_size(term);
        if words == 0 {
            return term;
        }
        let dest = self.alloc(words);
        // SAFETY: exactly `flat_size` words were allocated.
        unsafe { copy_to(term, dest, &mut self.off_heap) }
    }
}

/// Moves `words` words of whole objects from `from` to `to` and corrects the pointers among them. Returns the difference
/// in bytes to add to pointers into the old place.
///
/// # Safety
/// The block at `from` is closed: nothing else points into it but the terms the caller corrects, and off-heap objects in it
/// are relinked by the caller.
pub unsafe fn relocate(from: *mut u64, words: usize, to: *mut u64) -> u64 {
    let delta = (to as u64).wrapping_sub(from as u64);
    // SAFETY: by contract both blocks have `words` words and do not overlap.
    unsafe {
        std::ptr::copy_nonoverlapping(from, to, words);
        let end = from.add(words);
        crate::boxed::for_each_slot(to, to.add(words), |slot| {
            let term = *slot;
            if term.is_pointer() && in_range(term, from, end) {
                *slot = Term::from_raw(term.raw().wrapping_add(delta));
            }
        });
    }
    delta
}
