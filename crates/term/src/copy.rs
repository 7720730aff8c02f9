//! Size and copy of a term, without native recursion. A flat copy does not preserve sharing inside the term (as in ERTS), so its
//! size is that of the flat tree; `copy_shared` preserves it. `Keep` says which literals the copy refers to instead of copying them.

use crate::area::{self, Region};
use crate::bits::{copy_bits, data_of};
use crate::boxed::{HEAP_BITS_MAX_BYTES, Header, Kind};
use crate::heap::{Heap, OffHeap};
use crate::literal::{self, Leaving, RESERVED_BYTES, leaving};
use crate::refbin::RefBin;
use crate::resource;
use crate::term::Term;
use foldhash::fast::FixedState;
use std::collections::{HashMap, HashSet};
use std::mem::MaybeUninit;
use std::sync::Arc;

/// The literals that a copy refers to: those in a range of addresses. Size and copy must be given the same.
#[derive(Clone, Copy)]
pub struct Keep {
    base: usize,
    bytes: usize,
    leaving: Option<&'static Leaving>,
}

impl Keep {
    /// For data that leaves the sight of the literal collector: everything is copied.
    pub const NOTHING: Keep = Keep { base: 0, bytes: 0, leaving: None };

    /// All but those that are about to be freed.
    #[inline(always)]
    pub fn live() -> Keep {
        Keep { base: literal::base(), bytes: RESERVED_BYTES, leaving: leaving() }
    }

    /// As `live`, and what is in the message area: for holders of its regions (`HoldingCopy`).
    #[inline(always)]
    pub fn shared() -> Keep {
        Keep { bytes: RESERVED_BYTES + area::bytes(), ..Keep::live() }
    }

    /// The same literals, and nothing of the message area.
    #[inline(always)]
    pub fn literals(self) -> Keep {
        Keep { bytes: self.bytes.min(RESERVED_BYTES), ..self }
    }

    /// True if a copy of the term is the term itself.
    #[inline(always)]
    pub fn keeps_all_of(self, term: Term) -> bool {
        term.is_immediate() || self.keeps(term)
    }

    #[inline(always)]
    pub(crate) fn keeps(self, term: Term) -> bool {
        (term.raw() as usize).wrapping_sub(self.base) < self.bytes && self.leaving.is_none_or(|leaving| self.stays(term, leaving))
    }

    /// While literals leave. A region that may refer to them stays with its holders.
    #[cold]
    fn stays(self, term: Term, leaving: &Leaving) -> bool {
        if area::contains(term) {
            // SAFETY: the caller has the term, so its region is held.
            return unsafe { !Region::has_literals(Region::of(term)) };
        }
        !leaving.contains(term.raw())
    }
}

/// Words that a flat copy needs now; 0 for immediates and literals.
pub fn flat_size(term: Term) -> usize {
    flat_size_keeping(term, Keep::live())
}

/// Words that `copy_to_keeping` needs for this term.
pub fn flat_size_keeping(term: Term, keep: Keep) -> usize {
    flat_size_to(term, keep, usize::MAX)
}

/// The same, but no more is counted once it is above `limit`.
pub fn flat_size_to(term: Term, keep: Keep, limit: usize) -> usize {
    size_and_kept(term, keep, limit, |_| ())
}

/// As `flat_size_to`. `kept` gets the terms that the copy will refer to (of immediates only some).
#[inline(always)]
pub(crate) fn size_and_kept(term: Term, keep: Keep, limit: usize, mut kept: impl FnMut(Term)) -> usize {
    if keep.keeps_all_of(term) {
        kept(term);
        return 0;
    }
    let mut words = 0;
    let mut stack = Pending::new();
    let mut current = term;
    loop {
        if current.is_immediate() || keep.keeps(current) {
            kept(current);
        } else if current.is_cons() {
            words += 2;
            let head = current.head();
            if head.is_pointer() {
                stack.push(head);
            }
            current = current.tail();
            if words <= limit {
                continue;
            }
        } else {
            let header = current.header();
            match header.kind() {
                Kind::SubBits => words += sub_bits_words(current),
                kind => {
                    words += header.words();
                    // A large one is not looked through for nothing.
                    if kind.raw_words() != usize::MAX && words <= limit {
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
        if words > limit {
            return words;
        }
        match stack.pop() {
            Some(next) => current = next,
            None => return words,
        }
    }
}

/// Slots that are looked through for that.
const FLAT_SLOTS: usize = 16;

/// Words of a tuple that refers to nothing that a copy would not refer to. None for other terms, and for large tuples.
#[inline(always)]
pub fn flat_tuple_words(term: Term, keep: Keep) -> Option<usize> {
    if !term.is_boxed() || keep.keeps(term) {
        return None;
    }
    let header = term.header();
    let is_flat =
        header.kind() == Kind::Tuple && header.arity() <= FLAT_SLOTS && (0..header.arity()).all(|at| keep.keeps_all_of(term.slot(at)));
    is_flat.then(|| header.words())
}

/// Terms that are still to be looked at. The first few need no allocation: most messages are not deep.
struct Pending {
    near: [MaybeUninit<Term>; PENDING_NEAR],
    count: usize,
    far: Vec<Term>,
}

/// Guessed: a tuple of this many pointers, or pointers nested so deep.
const PENDING_NEAR: usize = 24;

impl Pending {
    #[inline(always)]
    fn new() -> Pending {
        Pending { near: [const { MaybeUninit::uninit() }; PENDING_NEAR], count: 0, far: Vec::new() }
    }
    #[inline(always)]
    fn push(&mut self, term: Term) {
        if self.count < PENDING_NEAR {
            self.near[self.count].write(term);
            self.count += 1;
        } else {
            self.far.push(term);
        }
    }
    #[inline(always)]
    fn pop(&mut self) -> Option<Term> {
        if let Some(term) = self.far.pop() {
            return Some(term);
        }
        self.count = self.count.checked_sub(1)?;
        // SAFETY: the first `count` were written, and this was one of them.
        Some(unsafe { self.near[self.count].assume_init() })
    }
}

/// A copied slice becomes a small bitstring of its own, or a slice with a BinRef of its own.
fn sub_bits_words(term: Term) -> usize {
    let bytes = term.word(1).div_ceil(8) as usize;
    if bytes <= HEAP_BITS_MAX_BYTES { 2 + bytes.div_ceil(8) } else { 4 + 4 }
}

/// Copies `term` to `dest`, which has room for as many words as were counted; off-heap objects go on `off_heap`.
/// Breadth first: the destination itself is the work list.
///
/// # Safety
/// `dest` must have room for exactly `flat_size_keeping(term, keep)` words.
pub unsafe fn copy_to_keeping(term: Term, dest: *mut u64, off_heap: &mut OffHeap, keep: Keep) -> Term {
    if term.is_immediate() || keep.keeps(term) {
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
                if word.is_pointer() && !in_range(word, dest, top) && !keep.keeps(word) {
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
///
/// # Safety
/// `object` is a fresh bitwise copy of a live off-heap object, on no list.
pub unsafe fn share_off_heap(object: *mut u64, off_heap: &mut OffHeap) {
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

/// Copies by the words of their originals.
type Copies = HashMap<u64, Term, FixedState>;

/// Words of one object's copy.
fn object_words(term: Term) -> usize {
    if term.is_cons() {
        return 2;
    }
    let header = term.header();
    if header.kind() == Kind::SubBits { sub_bits_words(term) } else { header.words() }
}

/// Words that `copy_shared` needs.
pub fn shared_size(term: Term, keep: Keep) -> usize {
    let mut seen = HashSet::with_hasher(FixedState::default());
    let mut stack = vec![term];
    let mut words = 0;
    while let Some(term) = stack.pop() {
        if term.is_immediate() || keep.keeps(term) || !seen.insert(term.raw()) {
            continue;
        }
        words += object_words(term);
        if term.is_cons() {
            stack.extend([term.head(), term.tail()]);
        } else {
            let header = term.header();
            if header.kind() != Kind::SubBits && header.kind().raw_words() != usize::MAX {
                stack.extend((header.raw_words()..header.arity()).map(|i| term.slot(i)));
            }
        }
    }
    words
}

impl Heap {
    /// A copy of `term` (from any heap) in this one.
    pub fn copy(&mut self, term: Term) -> Term {
        self.copy_keeping(term, Keep::live())
    }

    /// A copy that refers to the literals of `keep` alone.
    pub fn copy_keeping(&mut self, term: Term, keep: Keep) -> Term {
        if let Some(words) = flat_tuple_words(term, keep) {
            let dest = self.alloc(words);
            // SAFETY: the tuple has that many words, and room for them was just allocated.
            unsafe { std::ptr::copy_nonoverlapping(term.ptr(), dest, words) };
            return Term::boxed(dest);
        }
        let words = flat_size_keeping(term, keep);
        if words == 0 {
            return term;
        }
        let dest = self.alloc(words);
        // SAFETY: exactly as many words as were counted were allocated.
        unsafe { copy_to_keeping(term, dest, &mut self.off_heap, keep) }
    }

    /// A copy in which is shared what is shared in `term`.
    pub fn copy_shared(&mut self, term: Term, keep: Keep) -> Term {
        let mut copies = Copies::default();
        // Objects of the copy whose slots still hold terms of the original.
        let mut todo: Vec<(*mut u64, *mut u64)> = Vec::new();
        let root = self.copy_once(term, keep, &mut copies, &mut todo);
        while let Some((start, end)) = todo.pop() {
            let mut at = start;
            while at < end {
                // SAFETY: whole objects, just made.
                unsafe {
                    let word = Term::from_raw(*at);
                    if word.is_header() {
                        at = at.add(1 + Header::from_raw(word.raw()).raw_words());
                        continue;
                    }
                    // A slice brings its own reference to the binary.
                    if word.is_pointer() && !in_range(word, start, end) {
                        *at = self.copy_once(word, keep, &mut copies, &mut todo).raw();
                    }
                    at = at.add(1);
                }
            }
        }
        root
    }

    fn copy_once(&mut self, term: Term, keep: Keep, copies: &mut Copies, todo: &mut Vec<(*mut u64, *mut u64)>) -> Term {
        if term.is_immediate() || keep.keeps(term) {
            return term;
        }
        if let Some(&copy) = copies.get(&term.raw()) {
            return copy;
        }
        let start = self.alloc(object_words(term));
        let mut top = start;
        // SAFETY: room for the object was just made.
        let copy = unsafe { evacuate(term, &mut top, &mut self.off_heap) };
        copies.insert(term.raw(), copy);
        todo.push((start, top));
        copy
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
