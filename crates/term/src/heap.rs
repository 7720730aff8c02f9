//! Where terms are built: a bump region, fragments when that is full, and the list of off-heap objects.
//!
//! The same type serves a process (its region is the free part of the process block) and a free-standing builder
//! (no region: everything goes to fragments). `alloc` never moves anything: see "Rooting" in docs/memory.md.

use crate::area::{self, Region};
use crate::boxed::{Header, Kind};
use crate::refbin::RefBin;
use crate::resource;
use crate::term::Term;
use crate::young;
use heddle_memory::{RECENT_BYTES, Stamp};
use std::ptr::null_mut;

/// What freed memory of terms is overwritten with in the mode that looks for stale terms.
pub const POISON: u64 = 0xdead_dead_dead_dea7;

/// A side block of terms, in one allocation with this header.
#[repr(C)]
pub struct Fragment {
    pub next: *mut Fragment,
    /// Words after the header, and the thread that allocated them.
    capacity: Stamp,
    pub used_words: usize,
}

/// Fragments of up to this many words (most messages need no more) are kept by the thread that freed them (`heddle_memory::free_recent`).
const RECENT_WORDS: usize = (RECENT_BYTES - size_of::<Fragment>()) / 8;

impl Fragment {
    fn bytes(capacity_words: usize) -> usize {
        size_of::<Fragment>() + capacity_words * 8
    }

    #[inline]
    pub fn new(capacity_words: usize) -> *mut Fragment {
        if capacity_words > RECENT_WORDS {
            return Fragment::of(heddle_memory::MemoryKind::Heap, capacity_words);
        }
        Fragment::at(heddle_memory::allocate_recent(), RECENT_WORDS)
    }

    /// One for a process' heap.
    pub fn in_heap(capacity_words: usize) -> *mut Fragment {
        young::fragment(capacity_words)
    }

    #[inline(always)]
    pub(crate) fn of(kind: heddle_memory::MemoryKind, capacity_words: usize) -> *mut Fragment {
        Fragment::at(heddle_memory::allocate(kind, Fragment::bytes(capacity_words)), capacity_words)
    }

    /// In fresh memory for that many words.
    #[inline(always)]
    fn at(memory: *mut u8, capacity_words: usize) -> *mut Fragment {
        let fragment = memory.cast::<Fragment>();
        // SAFETY: callers just allocated it, no other thread sees it, with room for the header.
        unsafe { fragment.write(Fragment { next: null_mut(), capacity: Stamp::new(capacity_words), used_words: 0 }) };
        fragment
    }

    /// # Safety
    /// `fragment` must be live.
    #[inline(always)]
    pub unsafe fn start(fragment: *mut Fragment) -> *mut u64 {
        // SAFETY: the words follow the header in the same allocation.
        unsafe { fragment.add(1).cast::<u64>() }
    }

    /// # Safety
    /// `fragment` must be live and nothing may point into it any more.
    #[inline]
    pub unsafe fn free(fragment: *mut Fragment) {
        // SAFETY: by contract; a fragment of as many words has such a block, wherever it was allocated.
        unsafe {
            if Fragment::capacity_words(fragment) != RECENT_WORDS {
                return Fragment::free_of(heddle_memory::MemoryKind::Heap, fragment);
            }
            (*fragment).capacity.leaves(RECENT_BYTES);
            heddle_memory::free_recent(fragment.cast());
        }
    }

    /// A fragment of a process' heap, where the heap is shared.
    ///
    /// # Safety
    /// As `free`; it is in the young generation.
    pub unsafe fn free_young(fragment: *mut Fragment) {
        // SAFETY: the fragment is live, in the young generation, and nothing points into it any more.
        unsafe { Fragment::free_of(heddle_memory::MemoryKind::Message, fragment) }
    }

    /// # Safety
    /// As `free`; the fragment is of that kind.
    #[inline(always)]
    // SAFETY: `free` and `free_young` pass the kind with which the fragment was allocated.
    unsafe fn free_of(kind: heddle_memory::MemoryKind, fragment: *mut Fragment) {
        // SAFETY: by contract it is live and ours; its capacity is what it was allocated with.
        unsafe {
            let capacity = (*fragment).capacity;
            let bytes = Fragment::bytes(capacity.size());
            capacity.leaves(bytes);
            heddle_memory::free(kind, fragment.cast(), bytes);
        }
    }

    /// # Safety
    /// `fragment` must be live.
    pub unsafe fn capacity_words(fragment: *const Fragment) -> usize {
        // SAFETY: the fragment is live.
        unsafe { (*fragment).capacity.size() }
    }
}

/// List of the objects of one generation that own something outside the heap, threaded through their first word.
pub struct OffHeap {
    /// Address of the first object's header, or null.
    pub head: *mut u64,
    /// Words of binary data that the listed objects refer to ("virtual heap" of ERTS).
    pub virtual_words: usize,
}

impl OffHeap {
    pub const fn new() -> OffHeap {
        OffHeap { head: null_mut(), virtual_words: 0 }
    }

    /// # Safety
    /// `object` is the address of an initialised off-heap object that is on no list.
    #[inline]
    pub unsafe fn push(&mut self, object: *mut u64) {
        // SAFETY: off-heap objects keep their link in the word after the header.
        unsafe { *object.add(1) = self.head as u64 };
        self.head = object;
    }

    /// Releases everything on the list.
    #[inline]
    pub fn release_all(&mut self) {
        if !self.head.is_null() {
            self.release_listed();
        }
        self.virtual_words = 0;
    }

    #[inline(never)]
    fn release_listed(&mut self) {
        let mut object = std::mem::replace(&mut self.head, null_mut());
        while !object.is_null() {
            // SAFETY: listed objects are initialised; each is released once because the list is emptied.
            unsafe {
                let next = *object.add(1) as *mut u64;
                release_object(object);
                object = next;
            }
        }
    }
}

impl Default for OffHeap {
    fn default() -> Self {
        OffHeap::new()
    }
}

/// Releases what an off-heap object owns.
///
/// # Safety
/// `object` is the address of an initialised off-heap object that is used no more.
pub unsafe fn release_object(object: *mut u64) {
    // SAFETY: layouts as in the table of `boxed`.
    unsafe {
        match Header::from_raw(*object).kind() {
            Kind::BinRef => RefBin::release(*object.add(3) as *mut RefBin),
            Kind::MagicRef => resource::release(*object.add(4) as resource::ResourcePtr),
            Kind::RegionRef => Region::release(*object.add(2) as *mut Region, *object.add(3) as usize),
            kind => unreachable!("{kind:?} on an off-heap list"),
        }
    }
}

/// Smallest fragment that a native's overflow opens, in words (guessed: a few dozen small results).
const FRAGMENT_MIN_WORDS: usize = 64;

pub struct Heap {
    /// First free word of the bump region.
    pub htop: *mut u64,
    /// End of the bump region (for a process: `stop` less the reserved slack).
    pub hlimit: *mut u64,
    /// Newest first; the newest may have room.
    pub fragments: *mut Fragment,
    /// Words used in all fragments.
    pub fragment_words: usize,
    pub off_heap: OffHeap,
}

// SAFETY: a heap is owned by one thread at a time; it is handed over whole.
unsafe impl Send for Heap {}

impl Heap {
    /// A builder without a bump region.
    pub const fn new() -> Heap {
        Heap { htop: null_mut(), hlimit: null_mut(), fragments: null_mut(), fragment_words: 0, off_heap: OffHeap::new() }
    }

    /// True if others may refer to terms of this heap, now and after it is gone: it is a process' part of the shared heap. (Builders have
    /// no region, and memory of their own.)
    #[inline]
    pub fn lends_terms(&self) -> bool {
        young::is_on() && !self.hlimit.is_null()
    }

    /// Room for `words` words that the caller initialises as whole objects before anything else happens.
    /// Never collects, never moves.
    #[inline(always)]
    pub fn alloc(&mut self, words: usize) -> *mut u64 {
        if (self.hlimit as usize).wrapping_sub(self.htop as usize) as isize >= (words * 8) as isize {
            let ptr = self.htop;
            self.htop = ptr.wrapping_add(words);
            ptr
        } else {
            self.alloc_fragment(words)
        }
    }

    #[cold]
    #[inline(never)]
    fn alloc_fragment(&mut self, words: usize) -> *mut u64 {
        // SAFETY: fragments on our list are live and ours.
        unsafe {
            let mut fragment = self.fragments;
            if fragment.is_null() || (*fragment).capacity.size() - (*fragment).used_words < words {
                // Grow geometrically, so that a native that builds a long list opens few fragments.
                let capacity = words.max(FRAGMENT_MIN_WORDS).max(self.fragment_words.min(1 << 16));
                fragment = if self.lends_terms() { young::fragment(capacity) } else { Fragment::new(capacity) };
                (*fragment).next = self.fragments;
                self.fragments = fragment;
            }
            let ptr = Fragment::start(fragment).add((*fragment).used_words);
            (*fragment).used_words += words;
            self.fragment_words += words;
            ptr
        }
    }

    /// Takes over a filled fragment (a message's).
    ///
    /// # Safety
    /// `fragment` is live and on no list.
    pub unsafe fn adopt(&mut self, fragment: *mut Fragment) {
        // SAFETY: by contract. The head keeps its room, so the adopted one goes second.
        unsafe {
            self.fragment_words += (*fragment).used_words;
            if self.fragments.is_null() {
                (*fragment).next = null_mut();
                self.fragments = fragment;
            } else {
                (*fragment).next = (*self.fragments).next;
                (*self.fragments).next = fragment;
            }
        }
    }

    /// Refers to a region of the message area: takes over one of the caller's holds. What the region refers to is held as well.
    /// Returns the words of them all, or 0 if it was the last that the heap came to refer to.
    ///
    /// # Safety
    /// The caller holds the region.
    pub unsafe fn hold(&mut self, region: *mut Region) -> usize {
        // SAFETY: the caller holds the region once.
        unsafe { self.hold_times(region, 1) }
    }

    /// The same, of that many holds.
    ///
    /// # Safety
    /// The caller holds the region as often.
    #[inline(always)]
    pub unsafe fn hold_times(&mut self, region: *mut Region, times: usize) -> usize {
        let newest = self.off_heap.head;
        // SAFETY: what is listed is whole, and ours; a region holds what it lists.
        unsafe {
            if !newest.is_null() && area::reference(newest).is_some_and(|(held, _)| held == region) {
                *newest.add(3) += times as u64;
                return 0;
            }
            let mut words = Region::words(region);
            area::for_each_reference(Region::listed(region), |inner, _| {
                words += Region::words(inner);
                Region::hold(inner, 1);
                let at = self.alloc(area::REFERENCE_WORDS);
                area::refer(at, inner, 1, &mut self.off_heap);
            });
            let at = self.alloc(area::REFERENCE_WORDS);
            area::refer(at, region, times, &mut self.off_heap);
            words
        }
    }

    /// Frees the last `words` words of the newest allocation, if it ended at `end`.
    #[allow(clippy::not_unsafe_ptr_arg_deref, reason = "the pointer is only compared, and written when it is the end of our own memory")]
    pub fn give_back(&mut self, end: *mut u64, words: usize) {
        if words == 0 {
            return;
        }
        if end == self.htop {
            self.htop = self.htop.wrapping_sub(words);
            return;
        }
        // SAFETY: the words lie inside memory that the caller allocated; a filler keeps the block walkable.
        unsafe { *end.sub(words) = Header::new(Kind::Filler, words - 1).raw() };
    }

    /// Frees all fragments and releases all off-heap objects: the end of a builder's or process' life.
    #[inline]
    pub fn clear(&mut self) {
        self.off_heap.release_all();
        self.free_fragments();
    }

    /// Frees the fragments alone; their live contents were moved away.
    #[inline]
    pub fn free_fragments(&mut self) {
        if !self.fragments.is_null() {
            self.free_listed_fragments();
        }
    }

    #[inline(never)]
    fn free_listed_fragments(&mut self) {
        let mut fragment = std::mem::replace(&mut self.fragments, null_mut());
        self.fragment_words = 0;
        while !fragment.is_null() {
            // SAFETY: fragments on our list are live and ours; the caller vouches that nothing points into them.
            unsafe {
                let next = (*fragment).next;
                Fragment::free(fragment);
                fragment = next;
            }
        }
    }

    // ---- builders of the common shapes ----

    #[inline]
    pub fn cons(&mut self, head: Term, tail: Term) -> Term {
        let ptr = self.alloc(2);
        // SAFETY: two words were just allocated.
        unsafe {
            *ptr = head.raw();
            *ptr.add(1) = tail.raw();
        }
        Term::cons(ptr)
    }

    #[inline]
    pub fn tuple(&mut self, elements: &[Term]) -> Term {
        let ptr = self.alloc(1 + elements.len());
        // SAFETY: room for the header and all elements was just allocated.
        unsafe {
            *ptr = Header::new(Kind::Tuple, elements.len()).raw();
            std::ptr::copy_nonoverlapping(elements.as_ptr().cast::<u64>(), ptr.add(1), elements.len());
        }
        Term::boxed(ptr)
    }

    /// A proper list of `elements` followed by `tail`.
    #[inline]
    pub fn list_with_tail(&mut self, elements: &[Term], tail: Term) -> Term {
        if elements.is_empty() {
            return tail;
        }
        let ptr = self.alloc(2 * elements.len());
        let last = elements.len() - 1;
        for (i, element) in elements.iter().enumerate() {
            // SAFETY: two words an element were allocated.
            unsafe {
                let cell = ptr.add(2 * i);
                *cell = element.raw();
                *cell.add(1) = if i == last { tail.raw() } else { Term::cons(cell.add(2)).raw() };
            }
        }
        Term::cons(ptr)
    }

    #[inline]
    pub fn list(&mut self, elements: &[Term]) -> Term {
        self.list_with_tail(elements, Term::NIL)
    }

    /// A list of bytes (Latin-1 string).
    pub fn byte_list(&mut self, bytes: &[u8]) -> Term {
        self.small_list(bytes.iter().map(|&b| b as i64))
    }

    /// A list of the characters of `text` (a string).
    pub fn string(&mut self, text: &str) -> Term {
        if text.is_ascii() {
            return self.byte_list(text.as_bytes());
        }
        let chars: Vec<Term> = text.chars().map(|c| Term::small(c as i64)).collect();
        self.list(&chars)
    }

    pub fn small_list(&mut self, values: impl ExactSizeIterator<Item = i64>) -> Term {
        let n = values.len();
        if n == 0 {
            return Term::NIL;
        }
        let ptr = self.alloc(2 * n);
        for (i, value) in values.enumerate() {
            // SAFETY: two words an element were allocated.
            unsafe {
                let cell = ptr.add(2 * i);
                *cell = Term::small(value).raw();
                *cell.add(1) = if i + 1 == n { Term::NIL.raw() } else { Term::cons(cell.add(2)).raw() };
            }
        }
        Term::cons(ptr)
    }

    #[inline]
    pub fn float(&mut self, value: f64) -> Term {
        let ptr = self.alloc(2);
        // SAFETY: two words were just allocated.
        unsafe {
            *ptr = Header::new(Kind::Float, 1).raw();
            *ptr.add(1) = value.to_bits();
        }
        Term::boxed(ptr)
    }

    /// Any 64-bit signed integer.
    #[inline]
    pub fn integer(&mut self, value: i64) -> Term {
        match Term::try_small(value) {
            Some(term) => term,
            None => self.big_words(value < 0, &[value.unsigned_abs()]),
        }
    }

    /// Any 64-bit unsigned integer.
    #[inline]
    pub fn unsigned(&mut self, value: u64) -> Term {
        if value <= crate::term::SMALL_MAX as u64 { Term::small(value as i64) } else { self.big_words(false, &[value]) }
    }

    /// An integer outside the small range: sign and magnitude (little endian, no leading zero digit).
    #[inline]
    pub fn big_words(&mut self, negative: bool, digits: &[u64]) -> Term {
        debug_assert!(digits.last() != Some(&0));
        let ptr = self.alloc(1 + digits.len());
        let kind = if negative { Kind::NegBig } else { Kind::PosBig };
        // SAFETY: header and digits fit the allocation.
        unsafe {
            *ptr = Header::new(kind, digits.len()).raw();
            std::ptr::copy_nonoverlapping(digits.as_ptr(), ptr.add(1), digits.len());
        }
        Term::boxed(ptr)
    }

    /// A local reference from its three 32-bit words (`words[0]` has 18 bits).
    pub fn reference(&mut self, words: [u32; 3]) -> Term {
        let ptr = self.alloc(3);
        // SAFETY: three words were just allocated.
        unsafe {
            *ptr = Header::new(Kind::Ref, 2).raw();
            *ptr.add(1) = words[0] as u64 | (words[1] as u64) << 32;
            *ptr.add(2) = words[2] as u64;
        }
        Term::boxed(ptr)
    }

    /// A reference that is also an address: an alias of process `pid` (its payload).
    pub fn alias_reference(&mut self, words: [u32; 3], pid: u64) -> Term {
        let ptr = self.alloc(4);
        // SAFETY: four words were just allocated.
        unsafe {
            *ptr = Header::new(Kind::Ref, 3).raw();
            *ptr.add(1) = words[0] as u64 | (words[1] as u64) << 32;
            *ptr.add(2) = words[2] as u64;
            *ptr.add(3) = pid;
        }
        Term::boxed(ptr)
    }

    /// A magic reference that owns `resource`.
    pub fn magic_reference(&mut self, words: [u32; 3], object: std::sync::Arc<dyn resource::Resource>) -> Term {
        let ptr = self.alloc(5);
        // SAFETY: five words were just allocated; the object is pushed on this heap's list once.
        unsafe {
            *ptr = Header::new(Kind::MagicRef, 4).raw();
            *ptr.add(2) = words[0] as u64 | (words[1] as u64) << 32;
            *ptr.add(3) = words[2] as u64;
            *ptr.add(4) = resource::into_raw(object) as u64;
            self.off_heap.push(ptr);
        }
        Term::boxed(ptr)
    }

    /// A binary of these bytes: on the heap up to 64 bytes, reference counted above.
    pub fn binary(&mut self, bytes: &[u8]) -> Term {
        self.bits(bytes, bytes.len() as u64 * 8)
    }

    /// A bitstring of the first `size_bits` bits of `bytes` (exactly the bytes needed).
    pub fn bits(&mut self, bytes: &[u8], size_bits: u64) -> Term {
        debug_assert!(bytes.len() as u64 == size_bits.div_ceil(8));
        if bytes.len() <= crate::boxed::HEAP_BITS_MAX_BYTES {
            let (term, data) = self.heap_bits(size_bits);
            // SAFETY: `data` has room for the bytes.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), data, bytes.len()) };
            term
        } else {
            self.bin_ref(RefBin::from_bytes(bytes), size_bits)
        }
    }

    /// An on-heap bitstring with zeroed bytes and the address of its data. At most 64 bytes.
    pub fn heap_bits(&mut self, size_bits: u64) -> (Term, *mut u8) {
        let bytes = size_bits.div_ceil(8) as usize;
        debug_assert!(bytes <= crate::boxed::HEAP_BITS_MAX_BYTES);
        let words = bytes.div_ceil(8);
        let ptr = self.alloc(2 + words);
        // SAFETY: header, size and data words fit the allocation.
        unsafe {
            *ptr = Header::new(Kind::HeapBits, 1 + words).raw();
            *ptr.add(1) = size_bits;
            std::ptr::write_bytes(ptr.add(2), 0, words);
            (Term::boxed(ptr), ptr.add(2).cast::<u8>())
        }
    }

    /// A term for a reference-counted block; takes over the caller's reference.
    #[allow(clippy::not_unsafe_ptr_arg_deref, reason = "blocks come from RefBin and the caller owns a reference")]
    pub fn bin_ref(&mut self, block: *mut RefBin, size_bits: u64) -> Term {
        let ptr = self.alloc(4);
        // SAFETY: four words were just allocated; the object is pushed on this heap's list once.
        unsafe {
            *ptr = Header::new(Kind::BinRef, 3).raw();
            *ptr.add(2) = size_bits;
            *ptr.add(3) = block as u64;
            self.off_heap.push(ptr);
            self.off_heap.virtual_words += RefBin::capacity_bytes(block) / 8;
        }
        Term::boxed(ptr)
    }

    /// A slice of `original` (HeapBits, BinRef or SubBits): `start_bits` from its own start.
    pub fn sub_bits(&mut self, original: Term, start_bits: u64, size_bits: u64) -> Term {
        let (base, offset) = match original.header().kind() {
            Kind::SubBits => (original.slot(2), original.word(0)),
            _ => (original, 0),
        };
        let ptr = self.alloc(4);
        // SAFETY: four words were just allocated.
        unsafe {
            *ptr = Header::new(Kind::SubBits, 3).raw();
            *ptr.add(1) = offset + start_bits;
            *ptr.add(2) = size_bits;
            *ptr.add(3) = base.raw();
        }
        Term::boxed(ptr)
    }
}

impl Default for Heap {
    fn default() -> Self {
        Heap::new()
    }
}
