//! The message area of the hybrid heap (`+hmem hybrid`): data of messages that processes share.
//!
//! A message that is larger than a few words is copied once, when it is sent the first time, to a *region*: immutable from then on,
//! with a count of its holders. Receivers refer to it where it lies, and forward it by its address. A heap that refers to a region
//! holds it by a `RegionRef` on its off-heap list; a region that refers to another one does the same. So references only lead from
//! younger regions to older ones, there are no circles, and counting finds all that is dead: no collection of the area, nothing in
//! it moves, no thread stops. The collector of a process learns from the pointers that it meets which regions the process still refers
//! to (`Seen`), and gives up the others.
//!
//! A process that reads a region may find a pointer into another one and keep that alone. So a region lists all regions that can be reached
//! from it, not just the next ones, and its holders hold those too, from the start and as long. There are few (`MAX_REGIONS`): a
//! message that would refer to more is copied whole.
//!
//! The area follows the literals in one reserved range, so "may this object be moved?" stays one subtraction and one comparison.
//! Which region an address is in tells a map with a bit for each 16 bytes: the nearest bit at or below it marks where the region
//! begins. Words of the map that a large region fills say how far back that is. Only the thread that owns a page of the allocator
//! begins regions in it, so no other thread writes the map's words for it.

use crate::boxed::{Header, Kind};
use crate::heap::{OffHeap, POISON, release_object};
use crate::literal::{self, Leaving, NOWHERE, RESERVED_BYTES};
use crate::term::Term;
use crate::{quiet, young};
use foldhash::fast::FixedState;
use heddle_abi::settings::{MemoryArchitecture, SETTINGS};
use heddle_memory::{MemoryKind, Stamp, space};
use std::collections::HashMap;
use std::mem::MaybeUninit;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering, fence};

/// Where it begins, and its bytes; none: 0.
static BASE: AtomicUsize = AtomicUsize::new(NOWHERE);
static BYTES: AtomicUsize = AtomicUsize::new(0);
/// A bit for each granule of the area.
static STARTS: AtomicPtr<AtomicU64> = AtomicPtr::new(null_mut());

/// The area's size in bytes, unless a smaller one is asked for: the allocator has no larger ranges. Address space only; half as much
/// is tried where the system does not give it (valgrind). When all is used, messages are copied as with private heaps.
pub const MAX_BYTES: usize = 15 << 30;
/// With less the allocator does not work.
pub const MIN_BYTES: usize = 64 << 20;
/// The allocator aligns what is as large as regions are to this many bytes.
const GRANULE_BYTES: usize = 16;

/// For tests: asks for an area of that many bytes, before the first literal is made.
pub fn want(bytes: usize) {
    SETTINGS.message_area_mib.set(bytes >> 20);
    SETTINGS.memory.set(MemoryArchitecture::Hybrid);
}

pub fn is_wanted() -> bool {
    SETTINGS.memory.is(MemoryArchitecture::Hybrid)
}

fn wanted_bytes() -> usize {
    if is_wanted() { (SETTINGS.message_area_mib.get() << 20).clamp(MIN_BYTES, MAX_BYTES).next_multiple_of(MIN_BYTES) } else { 0 }
}

/// True if messages are shared.
#[inline(always)]
pub fn is_there() -> bool {
    bytes() != 0
}

#[inline(always)]
pub fn bytes() -> usize {
    // Relaxed, as the base: set once before there are other threads.
    BYTES.load(Ordering::Relaxed)
}

/// Is the term a pointer into the area?
#[inline(always)]
pub fn contains(term: Term) -> bool {
    (term.raw() as usize).wrapping_sub(BASE.load(Ordering::Relaxed)) < bytes()
}

/// Maps the literals' range, followed by the area if one is wanted. Returns the range's beginning, and how many bytes of it are there.
pub(crate) fn reserve() -> (usize, usize) {
    young::reserve();
    if young::is_on() {
        FIXED_BYTES.store(usize::MAX, Ordering::Relaxed);
    }
    let map = |bytes: usize| {
        // Miri has no mapping without memory.
        let sparse = if cfg!(miri) { 0 } else { libc::MAP_NORESERVE };
        let (rights, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | sparse);
        // SAFETY: an anonymous private mapping of fresh address space.
        let ptr = unsafe { libc::mmap(null_mut(), bytes, rights, flags, -1, 0) };
        (ptr != libc::MAP_FAILED).then_some(ptr as usize)
    };
    let mut bytes = wanted_bytes();
    if space::limit_bytes().is_some() {
        return reserve_little(bytes, map);
    }
    while bytes >= MIN_BYTES {
        let map_bytes = bytes / GRANULE_BYTES / 8;
        let (Some(start), Some(starts)) = (map(RESERVED_BYTES + bytes + ALIGNMENT), map(map_bytes)) else {
            bytes /= 2;
            continue;
        };
        let base = (start + RESERVED_BYTES).next_multiple_of(ALIGNMENT);
        begin(base, bytes, starts);
        return (base - RESERVED_BYTES, RESERVED_BYTES);
    }
    match map(RESERVED_BYTES) {
        Some(base) if !is_wanted() => (base, RESERVED_BYTES),
        _ => quiet::fail("literals and messages", &std::io::Error::last_os_error()),
    }
}

/// The same where there is a limit: a range as large as always, of which little is mapped.
fn reserve_little(wanted_bytes: usize, map: impl Fn(usize) -> Option<usize>) -> (usize, usize) {
    let fail = || quiet::fail("literals and messages", &std::io::Error::last_os_error());
    let literal_bytes = space::share(RESERVED_BYTES, quiet::LITERAL_SHARES) & !(ALIGNMENT - 1);
    let Some(base) = quiet::map(0, literal_bytes) else { fail() };
    if wanted_bytes > 0 {
        let bytes = (space::share(wanted_bytes, quiet::MESSAGE_SHARES) & !(MIN_BYTES - 1)).max(MIN_BYTES);
        let (Some(area), Some(starts)) = (quiet::map(RESERVED_BYTES, bytes), map(bytes / GRANULE_BYTES / 8)) else { fail() };
        begin(area, bytes, starts);
    }
    (base, literal_bytes)
}

/// The area lies there, after the literals, and its map.
fn begin(base: usize, bytes: usize, starts: usize) {
    // SAFETY: the range was just mapped for it.
    let taken = unsafe { heddle_memory::message_area(base as *mut u8, bytes) };
    assert!(taken, "the allocator does not take the message area");
    STARTS.store(starts as *mut AtomicU64, Ordering::Relaxed);
    BASE.store(base, Ordering::Relaxed);
    BYTES.store(bytes, Ordering::Relaxed);
    FIXED_BYTES.store(RESERVED_BYTES + bytes, Ordering::Relaxed);
}

/// Of the allocator's pages: the map's words are not shared between two of them.
const ALIGNMENT: usize = 64 << 10;

/// The holds that a builder of messages in a region has: told from those of others, which are fewer.
pub const BUILDER: usize = 1 << 32;

/// Data that messages consist of: this header, then words.
#[repr(C)]
pub struct Region {
    holders: AtomicUsize,
    /// Words after the header, and the thread that allocated them.
    capacity: Stamp,
    used_words: usize,
    /// Binaries and regions that it refers to.
    off_heap: OffHeap,
    /// True if it, or a region that it refers to, refers to literals.
    has_literals: bool,
    /// Messages were built in it, and perhaps still are (`open`); else it is a copy.
    is_built: bool,
    /// It was foreseen that this would be sent.
    is_foreseen: bool,
}

/// A region that is being filled by the thread that made it.
pub struct NewRegion(*mut Region);

impl NewRegion {
    /// Room for `words` words; None if the area is full.
    pub fn new(words: usize) -> Option<NewRegion> {
        let bytes = Region::bytes(words);
        let region = heddle_memory::try_allocate(MemoryKind::Message, bytes)?.cast::<Region>();
        mark_start(region as usize, bytes);
        let off_heap = OffHeap::new();
        let new = Region {
            holders: AtomicUsize::new(1),
            capacity: Stamp::new(words),
            used_words: 0,
            off_heap,
            has_literals: false,
            is_built: false,
            is_foreseen: false,
        };
        // SAFETY: fresh memory of that many bytes, which no other thread sees.
        unsafe { region.write(new) };
        Some(NewRegion(region))
    }

    pub fn start(&self) -> *mut u64 {
        // SAFETY: the words follow the header in the same allocation.
        unsafe { self.0.add(1).cast() }
    }

    pub fn off_heap(&mut self) -> &mut OffHeap {
        // SAFETY: no other thread knows it yet.
        unsafe { &mut (*self.0).off_heap }
    }

    /// It is filled with `words` words of whole objects, which are not written from now on. The caller holds it once.
    pub fn close(self, words: usize, has_literals: bool) -> *mut Region {
        // SAFETY: no other thread knows the region yet.
        unsafe {
            (*self.0).used_words = words;
            (*self.0).has_literals = has_literals;
        }
        self.0
    }

    /// Its owner will fill these words with whole objects, and shows others only what it does not write any more. It may refer to
    /// literals, and refers to no other region. The caller holds it `BUILDER` times.
    pub fn close_to_build(self, words: usize) -> *mut Region {
        let region = self.close(words, true);
        // SAFETY: no other thread knows of it yet.
        unsafe {
            ((*region).is_built, (*region).is_foreseen) = (true, true);
            (*region).holders = AtomicUsize::new(BUILDER);
        }
        region
    }

    /// It was foreseen that this would be sent, though it was not built here.
    pub fn was_foreseen(&mut self) {
        // SAFETY: no other thread knows it yet.
        unsafe { (*self.0).is_foreseen = true };
    }
}

impl Region {
    const fn bytes(words: usize) -> usize {
        size_of::<Region>() + words * 8
    }

    /// The region that a pointer into the area leads to.
    ///
    /// # Safety
    /// `term` points to an object of a region that is held.
    pub unsafe fn of(term: Term) -> *mut Region {
        // Relaxed: a thread that has the term got it after the region's beginning was noted.
        let base = BASE.load(Ordering::Relaxed);
        let starts = STARTS.load(Ordering::Relaxed);
        let granule = (term.ptr() as usize - base) / GRANULE_BYTES;
        let mut word = granule / 64;
        // SAFETY: the map has a bit for each granule of the area; where the region begins there is one, at or before this place.
        unsafe {
            let here = (*starts.add(word)).load(Ordering::Relaxed);
            let mut bits = if is_back(here) { here } else { here & (u64::MAX >> (63 - granule % 64)) };
            if bits == 0 {
                word -= 1;
                bits = (*starts.add(word)).load(Ordering::Relaxed);
            }
            if is_back(bits) {
                word -= (bits >> BACK_SHIFT) as usize;
                bits = (*starts.add(word)).load(Ordering::Relaxed);
            }
            (base + (word * 64 + 63 - bits.leading_zeros() as usize) * GRANULE_BYTES) as *mut Region
        }
    }

    /// # Safety
    /// The caller holds the region, or another holds it for the caller.
    pub unsafe fn words(region: *const Region) -> usize {
        // SAFETY: by contract it is there, and it was closed before it was held.
        unsafe { (*region).used_words }
    }

    /// # Safety
    /// As for `words`.
    pub unsafe fn has_literals(region: *const Region) -> bool {
        // SAFETY: the region is held and closed.
        unsafe { (*region).has_literals }
    }

    /// True if it was foreseen that this would be sent: for figures.
    ///
    /// # Safety
    /// As for `words`.
    pub unsafe fn is_foreseen(region: *const Region) -> bool {
        // SAFETY: the region is held and closed.
        unsafe { (*region).is_foreseen }
    }

    /// The first of the binaries and regions that it refers to, or null.
    ///
    /// # Safety
    /// As for `words`.
    pub unsafe fn listed(region: *const Region) -> *const u64 {
        // SAFETY: the region is held and closed.
        unsafe { (*region).off_heap.head }
    }

    /// Holds it `times` times more.
    ///
    /// # Safety
    /// As for `words`.
    pub unsafe fn hold(region: *const Region, times: usize) {
        // SAFETY: by contract. Relaxed: there is a holder already, which knows it.
        unsafe { (*region).holders.fetch_add(times, Ordering::Relaxed) };
    }

    /// True if `times` holds are all, but for that of the builder of messages in it: so it was not sent on.
    ///
    /// # Safety
    /// The holds are the caller's.
    pub unsafe fn is_held_alone(region: *const Region, times: usize) -> bool {
        // SAFETY: by contract. Relaxed: for a guess.
        unsafe { (*region).holders.load(Ordering::Relaxed) % BUILDER == times % BUILDER }
    }

    /// Takes back `times` holds. With the last one it goes, and what it held alone, however deep that is nested.
    ///
    /// # Safety
    /// The holds are the caller's, which refers to it no more.
    pub unsafe fn release(region: *mut Region, times: usize) {
        let mut dead = Vec::new();
        // SAFETY: by contract; what a region refers to it holds itself, so it is there until that is given up.
        unsafe {
            give_up(region, times, &mut dead);
            while let Some(region) = dead.pop() {
                let mut object = std::mem::replace(&mut (*region).off_heap.head, null_mut());
                while !object.is_null() {
                    let next = *object.add(1) as *mut u64;
                    match reference(object) {
                        Some((inner, times)) => give_up(inner, times, &mut dead),
                        None => release_object(object),
                    }
                    object = next;
                }
                free(region);
            }
        }
    }

    /// Calls `f` on each region that this one leads to, itself first, each once.
    ///
    /// # Safety
    /// As for `words`.
    pub unsafe fn for_each(region: *const Region, seen: &mut Seen, mut f: impl FnMut(*const Region)) {
        let mut meet = |region: *const Region| {
            if seen.add(region.cast_mut()) {
                f(region);
            }
        };
        meet(region);
        // SAFETY: by contract. Its list has all, and does not change once it is closed.
        unsafe { for_each_reference((*region).off_heap.head, |inner, _| meet(inner)) };
    }

    /// Does it, or what it refers to, refer to literals that are leaving?
    ///
    /// # Safety
    /// As for `words`.
    pub unsafe fn refers_to(region: *const Region, leaving: &Leaving) -> bool {
        // SAFETY: the region is held and closed.
        if unsafe { !(*region).has_literals } {
            return false;
        }
        let mut found = false;
        // SAFETY: by contract; the words of a closed region are initialised.
        unsafe {
            Region::for_each(region, &mut Seen::default(), |region| {
                let start = region.add(1).cast::<u64>();
                // Its builder may be writing to one that is built in.
                found |= (*region).is_built || leaving.is_in(start, start.add((*region).used_words));
            });
        }
        found
    }
}

/// # Safety
/// As for `Region::release`.
unsafe fn give_up(region: *mut Region, times: usize, dead: &mut Vec<*mut Region>) {
    // SAFETY: the caller holds the region `times` times.
    unsafe {
        // Release: what the caller read comes before the end; pairs with the Acquire fence of the last holder.
        if (*region).holders.fetch_sub(times, Ordering::Release) == times {
            // Acquire: pairs with the Release of the other holders.
            fence(Ordering::Acquire);
            dead.push(region);
        }
    }
}

/// # Safety
/// It has no holder, and its list was given up.
unsafe fn free(region: *mut Region) {
    // SAFETY: by contract; its capacity is what it was allocated with.
    unsafe {
        let capacity = (*region).capacity;
        let bytes = Region::bytes(capacity.size());
        if POISONS.load(Ordering::Relaxed) {
            std::slice::from_raw_parts_mut(region.add(1).cast::<u64>(), (*region).used_words).fill(POISON);
        }
        capacity.leaves(bytes);
        heddle_memory::free(MemoryKind::Message, region.cast(), bytes);
    }
}

/// True if what is freed is overwritten, so that a reference that is left to it is found (`HEDDLE_ZEAL`).
pub static POISONS: AtomicBool = AtomicBool::new(false);

/// In a word of the map that one region fills: this, and from `BACK_SHIFT` on how many words before it the region begins. No two regions
/// begin side by side, as each has its header.
const BACK: u64 = 0b11;
const BACK_SHIFT: u32 = 2;
const _: () = assert!(size_of::<Region>() > GRANULE_BYTES);

#[inline(always)]
fn is_back(word: u64) -> bool {
    word & BACK == BACK
}

/// Notes where a region begins, and that none does further on in it.
fn mark_start(address: usize, bytes: usize) {
    let starts = STARTS.load(Ordering::Relaxed);
    let begin = (address - BASE.load(Ordering::Relaxed)) / GRANULE_BYTES;
    let end = begin + (bytes - 1) / GRANULE_BYTES;
    let (first, last) = (begin / 64, end / 64);
    for word in first..=last {
        // SAFETY: the map has a bit for each granule of the area.
        let map = unsafe { &*starts.add(word) };
        // Relaxed, no read-modify-write: the word belongs to the page, the page to the calling thread; a thread that gets a pointer into the
        // region gets it later.
        if word != first && word != last {
            map.store(((word - first) as u64) << BACK_SHIFT | BACK, Ordering::Relaxed);
            continue;
        }
        let mut bits = u64::MAX;
        if word == first {
            // And what one that is gone left before it: that would look like `BACK`.
            bits &= u64::MAX << (begin % 64).saturating_sub(1);
        }
        if word == last {
            bits &= u64::MAX >> (63 - end % 64);
        }
        let start = if word == first { 1 << (begin % 64) } else { 0 };
        // One that is gone may have filled it.
        let others = map.load(Ordering::Relaxed);
        map.store(if is_back(others) { start } else { others & !bits | start }, Ordering::Relaxed);
    }
}

/// Words of a `RegionRef`.
pub const REFERENCE_WORDS: usize = 4;

/// A region that the owner of the list `off_heap` refers to: takes over `times` of the caller's holds.
///
/// # Safety
/// `at` has room for `REFERENCE_WORDS` words on the heap that the list belongs to.
pub unsafe fn refer(at: *mut u64, region: *mut Region, times: usize, off_heap: &mut OffHeap) {
    // SAFETY: by contract; the caller holds the region.
    unsafe {
        *at = Header::new(Kind::RegionRef, REFERENCE_WORDS - 1).raw();
        *at.add(2) = region as u64;
        *at.add(3) = times as u64;
        off_heap.push(at);
        off_heap.virtual_words += (*region).used_words;
    }
}

/// The region and the holds of an off-heap object, if it is a `RegionRef`.
///
/// # Safety
/// `object` is the address of an off-heap object.
#[inline(always)]
pub unsafe fn reference(object: *const u64) -> Option<(*mut Region, usize)> {
    // SAFETY: by contract; layout as in the table of `boxed`.
    unsafe {
        let is_one = Header::from_raw(*object).kind() == Kind::RegionRef;
        is_one.then(|| (*object.add(2) as *mut Region, *object.add(3) as usize))
    }
}

/// Calls `f` on each region that a list of off-heap objects holds, and how often it does.
///
/// # Safety
/// The list is whole and does not change meanwhile.
pub unsafe fn for_each_reference(head: *const u64, mut f: impl FnMut(*mut Region, usize)) {
    let mut object = head;
    while !object.is_null() {
        // SAFETY: the list is whole and does not change meanwhile.
        unsafe {
            if let Some((region, times)) = reference(object) {
                f(region, times);
            }
            object = *object.add(1) as *const u64;
        }
    }
}

/// Regions that were met, each with what a collection wants to remember of it. The first few need no allocation.
pub struct Seen {
    /// The last one that was met: neighbours are asked for together.
    last: std::ops::Range<usize>,
    near: [MaybeUninit<(*mut Region, *mut u64)>; NEAR],
    count: usize,
    /// All, once they are more.
    far: HashMap<*mut Region, *mut u64, FixedState>,
}

/// Guessed: what most processes hold.
const NEAR: usize = 8;

impl Seen {
    /// Notes the region that a pointer into the area leads to.
    ///
    /// # Safety
    /// As for `Region::of`.
    #[inline]
    pub unsafe fn note(&mut self, term: Term) {
        if !self.last.contains(&(term.ptr() as usize)) {
            // SAFETY: `term` points to an object of a region that is held.
            unsafe {
                let region = Region::of(term);
                self.last = region as usize..region as usize + Region::bytes((*region).capacity.size());
                self.add(region);
            }
        }
    }

    /// Notes what the regions refer to that are noted: they must be held.
    pub fn close(&mut self) {
        let mut inner = Vec::new();
        for region in self.regions() {
            // SAFETY: it is held; its list does not change any more.
            unsafe { for_each_reference((*region).off_heap.head, |region, _| inner.push(region)) };
        }
        for region in inner {
            self.add(region);
        }
    }

    /// False if it was noted before.
    pub fn add(&mut self, region: *mut Region) -> bool {
        if self.get(region).is_some() {
            return false;
        }
        if self.count < NEAR {
            self.near[self.count].write((region, null_mut()));
        } else {
            if self.count == NEAR {
                let near = self.near_ones().to_vec();
                self.far.extend(near);
            }
            self.far.insert(region, null_mut());
        }
        self.count += 1;
        true
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub fn len(&self) -> usize {
        self.count
    }

    pub fn regions(&self) -> impl Iterator<Item = *mut Region> + '_ {
        let near = if self.count <= NEAR { self.near_ones() } else { &[] };
        near.iter().map(|&(region, _)| region).chain(self.far.keys().copied())
    }

    /// The first ones.
    fn near_ones(&self) -> &[(*mut Region, *mut u64)] {
        // SAFETY: that many were written.
        unsafe { self.near[..self.count.min(NEAR)].assume_init_ref() }
    }

    /// What is remembered of a region that was noted (at first null); None if it was not.
    pub fn get(&mut self, region: *mut Region) -> Option<&mut *mut u64> {
        if self.count > NEAR {
            return self.far.get_mut(&region);
        }
        // SAFETY: that many were written.
        let near = unsafe { self.near[..self.count].assume_init_mut() };
        near.iter_mut().find(|(near, _)| *near == region).map(|(_, what)| what)
    }
}

impl Default for Seen {
    fn default() -> Self {
        Seen { last: 0..0, near: [const { MaybeUninit::uninit() }; NEAR], count: 0, far: HashMap::default() }
    }
}

/// Bytes from the first literal on in which nothing moves, or is a process' own.
static FIXED_BYTES: AtomicUsize = AtomicUsize::new(RESERVED_BYTES);

/// Where objects lie that no collector of a heap moves: literals, and the message area after them. With a shared heap: everywhere,
/// as no object is a process' own that it could change in place.
#[derive(Clone, Copy)]
pub struct Fixed {
    base: usize,
    bytes: usize,
}

impl Fixed {
    #[inline(always)]
    pub fn now() -> Fixed {
        Fixed { base: literal::base(), bytes: FIXED_BYTES.load(Ordering::Relaxed) }
    }

    #[inline(always)]
    pub fn contains(self, term: Term) -> bool {
        (term.raw() as usize).wrapping_sub(self.base) < self.bytes
    }

    /// The first address and the number of bytes.
    pub fn place(self) -> [usize; 2] {
        [self.base, self.bytes]
    }

    /// True if one of these is in the message area.
    #[inline(always)]
    pub fn is_shared(self, term: Term) -> bool {
        term.raw() as usize >= self.base + RESERVED_BYTES
    }
}

/// Is the term one that no collector moves?
#[inline(always)]
pub fn is_fixed(term: Term) -> bool {
    Fixed::now().contains(term)
}
