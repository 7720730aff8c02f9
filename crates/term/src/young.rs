//! The young generation of the shared heap (`+hmem shared`): the range of addresses that its blocks and fragments lie in.
//!
//! All processes allocate in blocks of one range, which nothing else lies in. So "may a minor collection move this object?" is one
//! subtraction and one comparison, as it is for literals. See `heddle_runtime::shared`.

use crate::heap::Fragment;
use crate::literal::NOWHERE;
use crate::quiet;
use crate::term::Term;
use heddle_abi::settings::{MemoryArchitecture, SETTINGS};
use heddle_memory::{MemoryKind, space};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering};

static BASE: AtomicUsize = AtomicUsize::new(NOWHERE);
/// 0: there is none.
static BYTES: AtomicUsize = AtomicUsize::new(0);

/// Sizes that are tried, in bytes. Address space only; the allocator has no larger ranges, and valgrind gives not even the first.
const SIZES: [usize; 7] = [15 << 30, 7 << 30, 3 << 30, 1 << 30, 512 << 20, 256 << 20, 128 << 20];
/// Of the allocator's pages.
const ALIGNMENT: usize = 64 << 10;

/// For tests: asks for a shared heap, before the first literal is made.
pub fn want() {
    SETTINGS.memory.set(MemoryArchitecture::Shared);
}

pub(crate) fn is_wanted() -> bool {
    SETTINGS.memory.is(MemoryArchitecture::Shared)
}

/// True if the heap is shared.
#[inline(always)]
pub fn is_on() -> bool {
    // Relaxed, as the base: set once before there are other threads.
    BYTES.load(Ordering::Relaxed) != 0
}

/// The range, for code that asks often.
#[derive(Clone, Copy)]
pub struct Range {
    base: usize,
    bytes: usize,
}

impl Range {
    #[inline(always)]
    pub fn now() -> Range {
        Range { base: BASE.load(Ordering::Relaxed), bytes: BYTES.load(Ordering::Relaxed) }
    }

    /// Of a pointer.
    #[inline(always)]
    pub fn contains(self, term: Term) -> bool {
        (term.raw() as usize).wrapping_sub(self.base) < self.bytes
    }
}

#[inline(always)]
pub fn contains(term: Term) -> bool {
    Range::now().contains(term)
}

/// Maps the range, if one is wanted.
pub(crate) fn reserve() {
    if !is_wanted() {
        return;
    }
    let (rights, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE);
    let share = space::share(SIZES[0], quiet::MESSAGE_SHARES);
    for bytes in SIZES.into_iter().filter(|&bytes| bytes <= share) {
        // SAFETY: an anonymous private mapping of fresh address space.
        let ptr = unsafe { libc::mmap(null_mut(), bytes + ALIGNMENT, rights, flags, -1, 0) };
        if ptr == libc::MAP_FAILED {
            continue;
        }
        let base = (ptr as usize).next_multiple_of(ALIGNMENT);
        // SAFETY: the range was just mapped for it.
        let taken = unsafe { heddle_memory::message_area(base as *mut u8, bytes) };
        assert!(taken, "the allocator does not take the range of the young generation");
        BASE.store(base, Ordering::Relaxed);
        BYTES.store(bytes, Ordering::Relaxed);
        return;
    }
    quiet::fail("the shared heap", &std::io::Error::last_os_error())
}

/// What memory the blocks of processes are.
#[inline(always)]
pub fn kind() -> MemoryKind {
    if is_on() { MemoryKind::Message } else { MemoryKind::Heap }
}

/// A fragment of a process' heap.
pub(crate) fn fragment(capacity_words: usize) -> *mut Fragment {
    Fragment::of(kind(), capacity_words)
}
