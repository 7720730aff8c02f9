//! A term with memory of its own, on its way between heaps: message data, exit reasons, stored options.
//!
//! With the hybrid heap a message is a region of the message area that the package holds, unless it is small: then it is copied, as
//! with private heaps.

use crate::base::memory_mode;
use crate::heap::private::off_heap::virtual_words;
use crate::observe::messages::{Cost, Timed};
use heddle_sync::prefetch;
use heddle_term::Term;
use heddle_term::area::{self, NewRegion, Region};
use heddle_term::copy::{Keep, copy_to_keeping, flat_size_keeping, relocate};
use heddle_term::heap::{Fragment, Heap, OffHeap};
use heddle_term::holding::HoldingCopy;
use heddle_term::literal::{self, Leaving};
use std::ptr::null_mut;

/// Up to this size, in words, the receiver copies the data into its heap at once; larger fragments are adopted as they are.
const ADOPT_ABOVE_WORDS: usize = 256;

/// A message of more words is shared, if there is a message area. Copying a smaller one once or twice costs less than holding it.
pub(super) const SHARE_ABOVE_WORDS: usize = 16;

pub struct Package {
    term: Term,
    /// The package's own memory; or, marked, a region. Null: the package is bare.
    fragment: *mut Fragment,
    /// With memory: the first object in it that owns something outside. Bare, in a message queue: for the queue's use. One field for
    /// both, so that a message is one cache line.
    beside: *mut u64,
}

/// True if, with a shared heap, the term is in the heap and not a literal.
#[inline(always)]
pub(crate) fn is_in_heap(term: Term) -> bool {
    term.is_pointer() && !literal::is_literal(term)
}

/// The mark on the address of a region.
const REGION: usize = 1;

// SAFETY: only the package refers to its memory.
unsafe impl Send for Package {}

impl Package {
    /// A flat copy of `term` that may be kept anywhere: it refers to no literals. A term in the message area that refers to none is
    /// shared instead of copied.
    pub fn new(term: Term) -> Package {
        match Package::lasting_region(term) {
            Some(region) => {
                // SAFETY: a caller that has the term holds its region.
                unsafe { Region::hold(region, 1) };
                Package::of_region(term, region)
            }
            None => Package::keeping(term, Keep::NOTHING, |_| Timed::NO),
        }
    }

    /// The region of a term, if it refers to no literals.
    fn lasting_region(term: Term) -> Option<*mut Region> {
        if !area::contains(term) {
            return None;
        }
        // SAFETY: as in `new`.
        unsafe {
            let region = Region::of(term);
            (!Region::has_literals(region)).then_some(region)
        }
    }

    /// As `new`, with the message area and for several receivers: `new` of the resulting term copies nothing more, unless it is small.
    pub(crate) fn for_several(term: Term) -> Package {
        let is_lasting = Package::lasting_region(term).is_some();
        let words = if is_lasting { 0 } else { flat_size_keeping(term, Keep::NOTHING) };
        if words > SHARE_ABOVE_WORDS
            && let Some(mut new) = NewRegion::new(words)
        {
            // SAFETY: the region has as many words as were counted.
            let copy = unsafe { copy_to_keeping(term, new.start(), new.off_heap(), Keep::NOTHING) };
            return Package::of_region(copy, new.close(words, false));
        }
        Package::new(term)
    }

    /// A copy of a term that costs less to copy whole than to hold: `words` words with this `keep`, of which `foreseen` were
    /// foreseen to be sent.
    #[inline(never)]
    pub(super) fn small(term: Term, keep: Keep, words: usize, foreseen: usize, count: impl FnOnce(Cost) -> Timed) -> Package {
        let timed = count(Cost { words, referred: 0, foreseen });
        if timed.is_wanted() { Package::timed(term, keep, words, timed) } else { Package::copied(term, keep, words) }
    }

    /// `foreseen`: words that the sender built and has not sent yet, that were foreseen to be sent. The term is not in place.
    pub(super) fn copied_to_share(term: Term, keep: Keep, foreseen: usize, count: impl FnOnce(Cost) -> Timed) -> Package {
        let copy = HoldingCopy::of(term, keep);
        let (words, foreseen) = (copy.words(), copy.data_words().min(foreseen));
        let timed = count(Cost { words, referred: copy.referred_words(), foreseen: foreseen + copy.foreseen_words() });
        if copy.data_words() > SHARE_ABOVE_WORDS
            && let Some((term, region)) = copy.to_region(foreseen)
        {
            timed.end(words);
            return Package::of_region(term, region);
        }
        let fragment = Fragment::new(words);
        let mut off_heap = OffHeap::new();
        // SAFETY: the fragment has as many words as were counted.
        unsafe {
            let term = copy.write(Fragment::start(fragment), &mut off_heap);
            (*fragment).used_words = words;
            timed.end(words);
            Package { term, fragment, beside: off_heap.head }
        }
    }

    /// Takes over a hold of the caller.
    pub(super) fn of_region(term: Term, region: *mut Region) -> Package {
        Package { term, fragment: region.map_addr(|address| address | REGION).cast(), beside: null_mut() }
    }

    /// The region, if the package holds one.
    #[inline(always)]
    pub(super) fn region(&self) -> Option<*mut Region> {
        (self.fragment.addr() & REGION != 0).then(|| self.fragment.map_addr(|address| address & !REGION).cast())
    }

    #[inline(always)]
    pub(crate) fn keeping(term: Term, keep: Keep, count: impl FnOnce(Cost) -> Timed) -> Package {
        let words = flat_size_keeping(term, keep);
        let timed = count(Cost::of_copy(words));
        Package::of_words(term, keep, words, timed)
    }

    /// A copy of a term that has `words` words with this `keep`.
    #[inline(always)]
    pub(crate) fn of_words(term: Term, keep: Keep, words: usize, timed: Timed) -> Package {
        if words == 0 {
            return Package::immediate(term);
        }
        // Asked here and not after the copy: the usual copy then does not ask again.
        if timed.is_wanted() { Package::timed(term, keep, words, timed) } else { Package::copied(term, keep, words) }
    }

    #[cold]
    #[inline(never)]
    fn timed(term: Term, keep: Keep, words: usize, timed: Timed) -> Package {
        let package = Package::copied(term, keep, words);
        timed.end(words);
        package
    }

    #[inline(always)]
    fn copied(term: Term, keep: Keep, words: usize) -> Package {
        let fragment = Fragment::new(words);
        let mut off_heap = OffHeap::new();
        // SAFETY: the fragment has exactly as many words as the caller counted.
        unsafe {
            let copy = copy_to_keeping(term, Fragment::start(fragment), &mut off_heap, keep);
            (*fragment).used_words = words;
            Package { term: copy, fragment, beside: off_heap.head }
        }
    }

    /// With a shared heap: true if its data may be in the young generation.
    #[inline(always)]
    pub(crate) fn refers(&self) -> bool {
        self.is_bare() && is_in_heap(self.term)
    }

    /// Calls `f` on the term if its data is in the shared heap.
    #[inline]
    pub(crate) fn for_root(&mut self, f: &mut impl FnMut(&mut Term)) {
        if self.fragment.is_null() {
            f(&mut self.term);
        }
    }

    /// A package of an immediate or literal.
    #[inline]
    pub const fn immediate(term: Term) -> Package {
        Package { term, fragment: null_mut(), beside: null_mut() }
    }

    /// Builds the term in the package's own memory. `build` may use the heap freely.
    pub fn build(build: impl FnOnce(&mut Heap) -> Term) -> Package {
        let mut heap = Heap::new();
        let term = build(&mut heap);
        let package = Package::new(term);
        heap.clear();
        package
    }

    /// True if the package refers to literals that are leaving. (It may also return true for a word that only looks like such a
    /// pointer.)
    pub(crate) fn refers_to(&self, leaving: &Leaving) -> bool {
        if self.fragment.is_null() {
            return leaving.contains(self.term.raw());
        }
        if let Some(region) = self.region() {
            // SAFETY: the package holds the region.
            return unsafe { Region::refers_to(region, leaving) };
        }
        // SAFETY: our own fragment, filled up to its used words.
        let inside = unsafe {
            let start = Fragment::start(self.fragment);
            leaving.is_in(start, start.add((*self.fragment).used_words))
        };
        inside || leaving.contains(self.term.raw())
    }

    /// The term in place; valid while the package is.
    pub fn term(&self) -> Term {
        self.term
    }

    /// Words of memory that the package holds, perhaps together with others.
    pub fn words(&self) -> usize {
        if let Some(region) = self.region() {
            // SAFETY: the package holds the region.
            return unsafe { Region::words(region) };
        }
        // SAFETY: a package without region owns its fragment, if it has one.
        if self.fragment.is_null() { 0 } else { unsafe { (*self.fragment).used_words } }
    }

    /// Words that it takes on the heap that it is unpacked to; large fragments, which are adopted, count as well.
    pub(crate) fn words_to_unpack(&self) -> usize {
        let Some(region) = self.region() else { return self.words() };
        let mut references = 1;
        // SAFETY: the package holds the region, whose list does not change.
        unsafe { area::for_each_reference(Region::listed(region), |_, _| references += 1) };
        references * area::REFERENCE_WORDS
    }

    /// Prefetches its memory, which will be read soon.
    #[inline(always)]
    pub(crate) fn prefetch(&self) {
        // Without a fragment, the term is immediate or refers to an object of the shared heap or a literal.
        match self.is_bare() {
            true if self.term.is_pointer() => prefetch::to_read(self.term.ptr().cast()),
            true => {}
            false => prefetch::to_read(self.fragment.cast()),
        }
    }

    /// True if the term needs no memory of the package.
    #[inline(always)]
    pub(crate) fn is_bare(&self) -> bool {
        self.fragment.is_null()
    }

    /// For a bare package: what its queue keeps with it, null at first.
    #[inline(always)]
    pub(crate) fn queued(&mut self) -> Option<&mut *mut u64> {
        self.is_bare().then_some(&mut self.beside)
    }

    /// The term of a bare package, so that the collector can update it.
    #[inline(always)]
    pub(crate) fn bare_term(&mut self) -> &mut Term {
        debug_assert!(self.is_bare());
        &mut self.term
    }

    /// Moves the term into `heap`.
    #[inline]
    pub fn unpack(mut self, heap: &mut Heap) -> Term {
        self.unpack_in_place(heap);
        self.term
    }

    /// Moves the term into `heap`; the package then needs no memory. Returns the words of the regions that `heap` came to refer to
    /// (see `held_regions`).
    #[inline]
    pub(crate) fn unpack_in_place(&mut self, heap: &mut Heap) -> usize {
        if self.fragment.is_null() {
            return 0;
        }
        let region = self.region();
        let fragment = std::mem::replace(&mut self.fragment, null_mut());
        let listed = std::mem::replace(&mut self.beside, null_mut());
        if let Some(region) = region {
            // SAFETY: the hold was the package's.
            return unsafe { heap.hold(region) };
        }
        // SAFETY: the fragment is ours, whole and closed; its off-heap objects are relinked below.
        unsafe {
            let words = (*fragment).used_words;
            if words > ADOPT_ABOVE_WORDS && memory_mode::adopts_fragments(heap) {
                let held_words = splice(listed, &mut heap.off_heap, 0);
                heap.adopt(fragment);
                return held_words;
            }
            let to = heap.alloc(words);
            let delta = relocate(Fragment::start(fragment), words, to);
            let held_words = splice(listed, &mut heap.off_heap, delta);
            Fragment::free(fragment);
            self.term = Term::from_raw(self.term.raw().wrapping_add(delta));
            held_words
        }
    }
}

impl Clone for Package {
    fn clone(&self) -> Self {
        Package::new(self.term)
    }
}

impl Drop for Package {
    fn drop(&mut self) {
        if !self.fragment.is_null() {
            OffHeap { head: self.beside, virtual_words: 0 }.release_all();
            // SAFETY: the fragment, or the hold on the region, is ours, and nothing refers to it any more.
            unsafe {
                match self.region() {
                    Some(region) => Region::release(region, 1),
                    None => Fragment::free(self.fragment),
                }
            }
        }
    }
}

/// Appends the list that begins with `object`, whose objects were moved by `delta` bytes (list links still hold old addresses), to
/// `to`. Returns the words of the regions among them.
///
/// # Safety
/// `object` is the list of a package's objects, which were moved by that distance.
#[inline(always)]
unsafe fn splice(mut object: *mut u64, to: &mut OffHeap, delta: u64) -> usize {
    let mut held_words = 0;
    while !object.is_null() {
        // SAFETY: each object was copied whole to its address plus delta.
        unsafe {
            let moved = (object as u64).wrapping_add(delta) as *mut u64;
            let next = *moved.add(1) as *mut u64;
            let words = virtual_words(moved);
            to.virtual_words += words;
            held_words += if area::reference(moved).is_some() { words } else { 0 };
            to.push(moved);
            object = next;
        }
    }
    held_words
}
