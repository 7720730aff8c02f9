//! Literals: terms that no collector moves. They live in one reserved address range, so the question "may this object be
//! moved?" is one subtraction and one comparison.
//!
//! Memory is handed out in areas: one for each persistent term and each literal of a module. An area that is given up (purged
//! code, a persistent term that was replaced) leaves in two steps, which `heddle_runtime::literals` drives: it is announced in
//! `LEAVING`, from when on copies of terms between heaps no longer refer to it but copy what they find there; every process
//! copies what it still refers to; then the area is freed and its memory handed out again.

use crate::area;
use crate::copy::{Keep, copy_to_keeping, flat_size_keeping, shared_size};
use crate::heap::{Heap, OffHeap};
use crate::term::Term;
use std::collections::{BTreeMap, BTreeSet};
use std::ptr::null_mut;
use std::sync::Mutex;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// Reserved address space, in bytes. Memory is only used as it is touched; under Miri all of it is used at once, so the range is small.
pub const RESERVED_BYTES: usize = if cfg!(miri) { 1 << 20 } else { 16 << 30 };

/// Where a range begins that is not there: no address of a term is within a range's size above it, nor does an end beyond it overflow.
pub(crate) const NOWHERE: usize = 1 << 63;

static BASE: AtomicUsize = AtomicUsize::new(NOWHERE);
/// How many of the reserved bytes can be used.
static MAPPED_BYTES: AtomicUsize = AtomicUsize::new(0);
static SPACE: Mutex<Space> = Mutex::new(Space { next: 0, used_bytes: 0, free: BTreeMap::new(), by_size: BTreeSet::new() });
/// What is about to be freed, or null.
/// AcqRel in `announce`, Acquire in readers: the list that is seen is complete.
static LEAVING: AtomicPtr<Leaving> = AtomicPtr::new(null_mut());

/// Where the reserved addresses begin.
#[inline(always)]
pub fn base() -> usize {
    // Relaxed: set once before the first literal term exists; a thread that holds a literal got it after that.
    BASE.load(Ordering::Relaxed)
}

#[inline(always)]
pub fn is_literal(term: Term) -> bool {
    (term.raw() as usize).wrapping_sub(base()) < RESERVED_BYTES
}

/// Bytes of literals in use.
pub fn used_bytes() -> usize {
    SPACE.lock().unwrap().used_bytes
}

/// What must be true of the range: what is free between literals is known by place and by size alike, no two such parts touch, and all of it is
/// either free or in use.
#[cfg(any(test, feature = "narrow-hash"))]
pub fn check() {
    let space = SPACE.lock().unwrap();
    let by_size: BTreeSet<(usize, usize)> = space.free.iter().map(|(&start, &bytes)| (bytes, start)).collect();
    assert!(by_size == space.by_size);
    let (mut end, mut free_bytes) = (0, 0);
    for (&start, &bytes) in &space.free {
        assert!(start > end && bytes > 0 && start + bytes <= space.next, "free at {start:#x}, behind {end:#x}");
        (end, free_bytes) = (start + bytes, free_bytes + bytes);
    }
    assert!(space.next == 0 || space.next - base() == space.used_bytes + free_bytes);
}

/// Bytes of the range that literals lie in, with what is free between them.
pub fn extent_bytes() -> usize {
    SPACE.lock().unwrap().next.saturating_sub(BASE.load(Ordering::Relaxed))
}

/// Addresses of the range that are not in use.
struct Space {
    /// From here on nothing was ever handed out.
    next: usize,
    used_bytes: usize,
    /// Start to bytes; neighbours are merged.
    free: BTreeMap<usize, usize>,
    /// (bytes, start) of the same.
    by_size: BTreeSet<(usize, usize)>,
}

impl Space {
    fn take(&mut self, bytes: usize) -> usize {
        self.used_bytes += bytes;
        if let Some(&(found, start)) = self.by_size.range((bytes, 0)..).next() {
            self.forget(start, found);
            if found > bytes {
                self.note(start + bytes, found - bytes);
            }
            return start;
        }
        if self.next == 0 {
            self.next = reserve();
        }
        let start = self.next;
        self.next += bytes;
        let mapped_bytes = MAPPED_BYTES.load(Ordering::Relaxed);
        if self.next > BASE.load(Ordering::Relaxed) + mapped_bytes {
            crate::complain!("heddle: literal memory is used up ({mapped_bytes} bytes; with `ulimit -v` an eighth of that)\n");
            std::process::abort();
        }
        start
    }
    fn give(&mut self, mut start: usize, mut bytes: usize) {
        self.used_bytes -= bytes;
        if let Some((&before, &size)) = self.free.range(..start).next_back()
            && before + size == start
        {
            self.forget(before, size);
            start = before;
            bytes += size;
        }
        if let Some(&size) = self.free.get(&(start + bytes)) {
            self.forget(start + bytes, size);
            bytes += size;
        }
        self.note(start, bytes);
    }
    fn note(&mut self, start: usize, bytes: usize) {
        self.free.insert(start, bytes);
        self.by_size.insert((bytes, start));
    }
    fn forget(&mut self, start: usize, bytes: usize) {
        self.free.remove(&start);
        self.by_size.remove(&(bytes, start));
    }
}

/// Memory of one literal. Not freed by itself: see `free`.
pub struct Area {
    start: usize,
    words: usize,
    off_heap: OffHeap,
}
// SAFETY: the raw list is only touched by the owner; what it lists is shared memory with counted references.
unsafe impl Send for Area {}
// SAFETY: as above; a shared reference only reads the extent.
unsafe impl Sync for Area {}

impl Area {
    fn new(words: usize) -> Area {
        Area { start: SPACE.lock().unwrap().take(words * 8), words, off_heap: OffHeap::new() }
    }
    pub fn words(&self) -> usize {
        self.words
    }

    /// # Safety
    /// Nothing refers to what lies in it any more.
    pub unsafe fn free(mut self) {
        self.off_heap.release_all();
        SPACE.lock().unwrap().give(self.start, self.words * 8);
    }
}

/// A copy of `term` in an area of its own; None for what needs no memory.
pub fn keep(term: Term) -> (Term, Option<Area>) {
    let keep = Keep::live();
    let words = flat_size_keeping(term, keep);
    if words == 0 {
        return (term, None);
    }
    let mut area = Area::new(words);
    // SAFETY: the words just reserved are ours alone, as many as were counted.
    let copy = unsafe { copy_to_keeping(term, area.start as *mut u64, &mut area.off_heap, keep) };
    (copy, Some(area))
}

/// As `keep`, with what `term` shares inside still shared, and without referring to other literals.
pub fn keep_shared(term: Term) -> (Term, Option<Area>) {
    let words = shared_size(term, Keep::NOTHING);
    if words == 0 {
        return (term, None);
    }
    let mut area = Area::new(words);
    let start = area.start as *mut u64;
    let mut heap = Heap::new();
    heap.htop = start;
    heap.hlimit = start.wrapping_add(words);
    let copy = heap.copy_shared(term, Keep::NOTHING);
    debug_assert!(heap.fragments.is_null());
    area.off_heap = std::mem::take(&mut heap.off_heap);
    (copy, Some(area))
}

/// Copies `term` into literal memory that is never freed.
pub fn make_literal(term: Term) -> Term {
    // An area is only freed when it is asked to be.
    keep(term).0
}

/// Areas that are about to be freed.
pub struct Leaving {
    /// (start, end), sorted.
    ranges: Vec<(usize, usize)>,
    words: usize,
}

impl Leaving {
    pub fn of(areas: &[Area]) -> Leaving {
        let mut ranges: Vec<(usize, usize)> = areas.iter().map(|a| (a.start, a.start + a.words * 8)).collect();
        ranges.sort_unstable();
        Leaving { ranges, words: areas.iter().map(|a| a.words).sum() }
    }
    /// Words of all of them.
    pub fn words(&self) -> usize {
        self.words
    }
    /// Does the word look like a pointer to something there?
    #[inline]
    pub fn contains(&self, word: u64) -> bool {
        let (first, last) = (self.ranges[0].0, self.ranges[self.ranges.len() - 1].1);
        let at = word as usize;
        if !matches!(word & 7, 1 | 2) || at < first || at >= last {
            return false;
        }
        let i = self.ranges.partition_point(|r| r.0 <= at);
        i > 0 && at < self.ranges[i - 1].1
    }
    /// True if any of the words does.
    ///
    /// # Safety
    /// The words from `from` to `to` may be read.
    pub unsafe fn is_in(&self, from: *const u64, to: *const u64) -> bool {
        let mut at = from;
        while at < to {
            // SAFETY: `at` is between `from` and `to`, whose words may be read.
            unsafe {
                if self.contains(*at) {
                    return true;
                }
                at = at.add(1);
            }
        }
        false
    }
}

/// What is leaving now. The result may be used until the caller's next quiescent state.
#[inline(always)]
pub fn leaving() -> Option<&'static Leaving> {
    // SAFETY: the thread that replaces it frees the old one only when no thread can still use it. Acquire: pairs with `announce`.
    unsafe { LEAVING.load(Ordering::Acquire).as_ref() }
}

/// Announces what leaves, or (None) that it is gone. Returns what was announced before: to be freed when no thread can use it.
pub fn announce(leaving: Option<Box<Leaving>>) -> Option<Box<Leaving>> {
    let old = LEAVING.swap(leaving.map_or(null_mut(), Box::into_raw), Ordering::AcqRel);
    // SAFETY: it came from a box.
    (!old.is_null()).then(|| unsafe { Box::from_raw(old) })
}

fn reserve() -> usize {
    let (start, mapped_bytes) = area::reserve();
    MAPPED_BYTES.store(mapped_bytes, Ordering::Relaxed);
    // Release: `MAPPED_BYTES` is set before. Readers load Relaxed, as they know the range by a literal that they got.
    BASE.store(start, Ordering::Release);
    start
}
