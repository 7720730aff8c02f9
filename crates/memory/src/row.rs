//! A row of figures: what one thread counts, with plain loads and stores in cache lines of its own. No locked instruction, no shared
//! line; a reader adds up all rows (`rows`).

use crate::crowds::Crowds;
use crate::mi::{ThreadHeap, mi_free, mi_heap_theap};
use crate::mimalloc;
use crate::recent::{self, COMMON, RECENT_BYTES, Recent};
use crate::rows::{self, SHARED};
use crate::{COUNTED, KINDS, MemoryKind};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};

/// Blocks of Rust's allocator up to this many bytes, and of whole words, are counted by their size: one addition instead of two for
/// each block and its bytes. Most sizes are known when the VM is compiled, so which way it goes as well.
const SMALL_BYTES: usize = 128;
const SMALL: usize = SMALL_BYTES / 8 + 1;

/// Figures of a row that belong to the crates above.
pub const TALLIES: usize = 1024 + 256;

/// Written by the row's thread.
struct Figures {
    blocks: AtomicU64,
    bytes: AtomicU64,
}

/// What was allocated, or what was freed, since the VM started.
struct Blocks {
    kinds: [Figures; KINDS.len()],
    /// Of `MemoryKind::Rest`, and not in `kinds`: by words.
    small: [AtomicU64; SMALL],
}

/// Blocks and the bytes that were asked for, of one kind, since the VM started.
#[derive(Clone, Copy, Default, Debug)]
pub struct Counts {
    pub blocks_allocated: u64,
    pub bytes_allocated: u64,
    pub blocks_freed: u64,
    pub bytes_freed: u64,
}

// What every allocation touches comes first.
#[repr(C, align(128))]
pub struct Row {
    /// The thread's pages: here, because a thread that allocates counts. None is there without a row of its own, so that a thread has none
    /// yet is found where it has no pages yet.
    heaps: [AtomicPtr<ThreadHeap>; KINDS.len()],
    /// Signals, and fragments in which messages travel.
    pub recent: Recent<{ recent::SIGNALS }>,
    pub recent_data: Recent<{ recent::DATA }>,
    allocated: Blocks,
    freed: Blocks,
    /// Of binaries and messages, which know the thread that allocated them: what this thread freed for others.
    pub foreign_blocks: AtomicU64,
    pub foreign_bytes: AtomicU64,
    /// Bytes of blocks (`MemoryKind::Heap`) that the thread keeps for the next request.
    kept_bytes: AtomicU64,
    /// Its number among all rows.
    number: usize,
    /// 0, or how many scheduler threads come before it and 1. Written when the thread begins.
    owner: AtomicUsize,
    /// What `areas` knows the thread by.
    thread: AtomicUsize,
    tallies: [AtomicU64; TALLIES],
    pub crowds: Crowds,
}

/// By the row's thread. Returns the sum.
#[inline(always)]
fn add(figure: &AtomicU64, more: u64) -> u64 {
    // Relaxed: a statistic. No read-modify-write: no other thread writes it.
    let sum = figure.load(Ordering::Relaxed).wrapping_add(more);
    figure.store(sum, Ordering::Relaxed);
    sum
}

impl Blocks {
    const fn new() -> Blocks {
        Blocks {
            kinds: [const { Figures { blocks: AtomicU64::new(0), bytes: AtomicU64::new(0) } }; KINDS.len()],
            small: [const { AtomicU64::new(0) }; SMALL],
        }
    }

    #[inline(always)]
    fn count(&self, kind: MemoryKind, bytes: usize) {
        if !COUNTED {
            return;
        }
        if kind == MemoryKind::Rest && bytes <= SMALL_BYTES && bytes.is_multiple_of(8) {
            add(&self.small[bytes / 8], 1);
            return;
        }
        let figures = &self.kinds[kind as usize];
        add(&figures.blocks, 1);
        add(&figures.bytes, bytes as u64);
    }

    /// Blocks and bytes.
    fn sum(&self, kind: MemoryKind) -> [u64; 2] {
        let figures = &self.kinds[kind as usize];
        let mut sum = [&figures.blocks, &figures.bytes].map(|figure| figure.load(Ordering::Relaxed));
        if kind == MemoryKind::Rest {
            for (words, small) in self.small.iter().enumerate() {
                let blocks = small.load(Ordering::Relaxed);
                sum = [sum[0].wrapping_add(blocks), sum[1].wrapping_add(blocks * words as u64 * 8)];
            }
        }
        sum
    }
}

/// One that was kept, and counts as freed.
fn free_data(block: *mut u8) {
    // SAFETY: a block of the allocator's that is not in use.
    unsafe { mi_free(block.cast()) };
}

impl Row {
    pub(crate) const fn new(number: usize) -> Row {
        Row {
            heaps: [const { AtomicPtr::new(null_mut()) }; KINDS.len()],
            recent: Recent::new(),
            recent_data: Recent::new(),
            allocated: Blocks::new(),
            freed: Blocks::new(),
            foreign_blocks: AtomicU64::new(0),
            foreign_bytes: AtomicU64::new(0),
            kept_bytes: AtomicU64::new(0),
            number,
            owner: AtomicUsize::new(0),
            thread: AtomicUsize::new(0),
            tallies: [const { AtomicU64::new(0) }; TALLIES],
            crowds: Crowds::new(),
        }
    }

    /// Of a row that is all zero.
    pub(crate) fn set_number(&mut self, number: usize) {
        self.number = number;
    }

    /// The pages of the row's thread, if it took them before; then the row is its own, and there is nothing else to do.
    #[inline(always)]
    pub(crate) fn ready(&self, kind: MemoryKind) -> Option<*mut ThreadHeap> {
        // Relaxed: only the thread writes it.
        Some(self.heaps[kind as usize].load(Ordering::Relaxed)).filter(|heap| !heap.is_null())
    }

    /// The pages of the row's thread.
    pub(crate) fn heap(&self, kind: MemoryKind) -> *mut ThreadHeap {
        if let Some(heap) = self.ready(kind) {
            return heap;
        }
        // SAFETY: a heap that stays.
        let heap = unsafe { mi_heap_theap(mimalloc::heap(kind)) };
        // Not when the thread is ending: then mimalloc takes it back.
        if !self.is_shared() {
            self.heaps[kind as usize].store(heap, Ordering::Relaxed);
        }
        heap
    }

    /// The next thread with this row has pages of its own.
    pub(crate) fn begins(&self) {
        self.thread.store(crate::thread_id(), Ordering::Relaxed);
    }

    pub(crate) fn ends(&self) {
        self.let_go_of_recent();
        self.recent.close();
        self.recent_data.close();
        self.heaps.iter().for_each(|heap| heap.store(null_mut(), Ordering::Relaxed));
        self.owner.store(0, Ordering::Relaxed);
        self.thread.store(0, Ordering::Relaxed);
    }

    /// By its thread.
    pub(crate) fn let_go_of_recent(&self) {
        self.recent.let_go(|block| self.free_signal(block));
        self.recent_data.let_go(free_data);
    }

    /// The same of what is kept for all.
    pub(crate) fn let_go_of_common(&self) {
        recent::let_go_of_common(&COMMON[recent::SIGNALS], |block| self.free_signal(block));
        recent::let_go_of_common(&COMMON[recent::DATA], free_data);
    }

    /// Of one that was kept.
    fn free_signal(&self, block: *mut u8) {
        self.freed(MemoryKind::Rest, RECENT_BYTES);
        // SAFETY: a block of the allocator's that is not in use.
        unsafe { mi_free(block.cast()) };
    }

    /// From now on its thread keeps what it frees of signals.
    pub fn open_recent(&self) {
        // A block that is kept is free to its users, which neither Miri nor a sanitizer would know.
        if !self.is_shared() && !cfg!(any(miri, feature = "libc-malloc")) {
            self.recent.open();
            self.recent_data.open();
        }
    }

    pub(crate) fn is_shared(&self) -> bool {
        std::ptr::eq(self, &SHARED)
    }

    /// By its thread.
    #[inline(always)]
    pub(crate) fn allocated(&self, kind: MemoryKind, bytes: usize) {
        self.allocated.count(kind, bytes);
    }

    /// By its thread.
    #[inline(always)]
    pub(crate) fn freed(&self, kind: MemoryKind, bytes: usize) {
        self.freed.count(kind, bytes);
    }

    /// By threads that have no row.
    pub(crate) fn allocated_by_many(&self, kind: MemoryKind, bytes: usize) {
        let figures = &self.allocated.kinds[kind as usize];
        figures.blocks.fetch_add(1, Ordering::Relaxed);
        figures.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Counts a block that another thread allocated and the calling one frees.
    #[cold]
    #[inline(never)]
    pub(crate) fn freed_for_another(bytes: usize) {
        let row = rows::mine();
        if !row.is_shared() {
            add(&row.foreign_blocks, 1);
            add(&row.foreign_bytes, bytes as u64);
        }
    }

    /// Says how many bytes of blocks for heaps the thread keeps now.
    #[inline(always)]
    pub(crate) fn keeps(&self, bytes: usize) {
        // A thread that keeps a block allocated it or freed another for it, so the row is its own.
        if COUNTED {
            self.kept_bytes.store(bytes as u64, Ordering::Relaxed);
        }
    }

    #[inline(always)]
    pub fn number(&self) -> usize {
        self.number
    }

    pub fn counts(&self, kind: MemoryKind) -> Counts {
        let ([blocks_allocated, bytes_allocated], [blocks_freed, bytes_freed]) = (self.allocated.sum(kind), self.freed.sum(kind));
        Counts { blocks_allocated, bytes_allocated, blocks_freed, bytes_freed }
    }

    /// Bytes of all kinds.
    pub fn freed_bytes(&self) -> u64 {
        KINDS.iter().fold(0, |sum, &kind| sum.wrapping_add(self.freed.sum(kind)[1]))
    }

    /// Bytes of all kinds.
    pub fn allocated_bytes(&self) -> u64 {
        KINDS.iter().fold(0, |sum, &kind| sum.wrapping_add(self.allocated.sum(kind)[1]))
    }

    /// Bytes of one kind that were allocated and not freed, over all rows: it may be negative in one.
    pub(crate) fn live_bytes(&self, kind: MemoryKind) -> u64 {
        self.allocated.sum(kind)[1].wrapping_sub(self.freed.sum(kind)[1])
    }

    pub fn kept_bytes(&self) -> u64 {
        self.kept_bytes.load(Ordering::Relaxed)
    }

    /// Says that the row is that of a scheduler thread.
    pub fn is_of_scheduler(&self, number: usize) {
        self.owner.store(number + 1, Ordering::Relaxed);
    }

    pub fn scheduler(&self) -> Option<usize> {
        self.owner.load(Ordering::Relaxed).checked_sub(1)
    }

    /// What `areas` knows its thread by; 0: it has none now.
    pub fn thread(&self) -> usize {
        self.thread.load(Ordering::Relaxed)
    }

    /// By its thread; what it means is for the crate to say that counts. Returns the sum.
    #[inline(always)]
    pub fn tally(&self, figure: usize, more: u64) -> u64 {
        if COUNTED { add(&self.tallies[figure], more) } else { 0 }
    }

    pub fn tallied(&self, figure: usize) -> u64 {
        self.tallies[figure].load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::{Row, SMALL_BYTES};
    use crate::{KINDS, MemoryKind};

    /// By whatever way: sizes around those that are counted by size, and far from them.
    #[test]
    fn blocks_and_bytes_add_up_for_every_size() {
        let row = Row::new(7);
        for kind in KINDS {
            let (mut blocks, mut bytes) = (0, 0);
            for size in (0..=2 * SMALL_BYTES).chain([4096, 1 << 40]) {
                for _ in 0..3 {
                    row.allocated(kind, size);
                    (blocks, bytes) = (blocks + 1, bytes + size as u64);
                }
                row.freed(kind, size);
            }
            let counts = row.counts(kind);
            assert_eq!((counts.blocks_allocated, counts.bytes_allocated), (blocks, bytes));
            assert_eq!((counts.blocks_freed * 3, counts.bytes_freed * 3), (blocks, bytes));
            assert_eq!(row.live_bytes(kind), counts.bytes_allocated - counts.bytes_freed);
        }
        assert_eq!(row.freed_bytes(), KINDS.len() as u64 * row.counts(MemoryKind::Rest).bytes_freed);
    }

    #[test]
    fn tallies_are_apart() {
        let row = Row::new(7);
        row.tally(0, 2);
        row.tally(super::TALLIES - 1, 3);
        row.tally(0, 2);
        assert_eq!([0, 1, super::TALLIES - 1].map(|figure| row.tallied(figure)), [4, 0, 3]);
    }
}
