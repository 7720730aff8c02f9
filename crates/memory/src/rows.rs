//! What each thread allocated and freed, by kind.
//!
//! A row is written by its thread alone, with plain loads and stores: no locked instruction, no shared line. That a thread has none
//! yet is found where it has no pages yet, too; so counting is no more than to load the row's address and to add. Who wants to know
//! adds up all rows. A block may be freed by another thread than took it, so a row by itself may have freed more than it took;
//! sums wrap. When a thread ends, the next one goes on with its row: what the rows add up to stays right.
//!
//! Rows are static, because they are needed to allocate.

use crate::mimalloc::{self, ThreadHeap};
use crate::stamp::SIZE_BITS;
use crate::{COUNTED, KINDS, Kind};
use std::cell::Cell;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Threads that have a row of their own at a time: more than there can be schedulers and private threads. Others share the last.
const MOST: usize = 4096;

/// Of one kind, since the machine started.
#[derive(Default)]
pub struct Counts {
    pub blocks_allocated: AtomicU64,
    pub bytes_allocated: AtomicU64,
    pub blocks_freed: AtomicU64,
    pub bytes_freed: AtomicU64,
}

#[repr(align(128))]
pub struct Row {
    kinds: [Counts; KINDS.len()],
    /// Of binaries and messages, which know who allocated them: what this thread freed for others.
    pub foreign_blocks: AtomicU64,
    pub foreign_bytes: AtomicU64,
    /// Bytes of blocks (`Kind::Heap`) that the thread keeps for who asks next.
    kept_bytes: AtomicU64,
    /// 0, or how many scheduler threads come before it and 1. Written when the thread begins.
    owner: AtomicUsize,
    /// What `areas` knows the thread by.
    thread: AtomicUsize,
}

static ROWS: [Row; MOST] = [const {
    Row {
        kinds: [const {
            Counts {
                blocks_allocated: AtomicU64::new(0),
                bytes_allocated: AtomicU64::new(0),
                blocks_freed: AtomicU64::new(0),
                bytes_freed: AtomicU64::new(0),
            }
        }; KINDS.len()],
        foreign_blocks: AtomicU64::new(0),
        foreign_bytes: AtomicU64::new(0),
        kept_bytes: AtomicU64::new(0),
        owner: AtomicUsize::new(0),
        thread: AtomicUsize::new(0),
    }
}; MOST];
/// A bit for each row that a thread has.
static TAKEN: [AtomicU64; MOST / 64] = [const { AtomicU64::new(0) }; MOST / 64];
/// Rows below this one were in use.
static USED: AtomicUsize = AtomicUsize::new(0);
/// Of those that have none: threads that just end, or freed something before they allocated anything. What two of them free at the
/// very same time may be counted once.
const SHARED: usize = MOST - 1;

/// What a thread needs to allocate.
pub(crate) struct Mine {
    /// The shared one: it has none of its own yet, or no more.
    row: Cell<*const Row>,
    /// Whether it took a row already, or is about to.
    is_known: Cell<bool>,
    /// The number of the row, in the upper 16 bits (`Stamp`).
    stamp: Cell<u64>,
    /// None is there without a row.
    heaps: [Cell<*mut ThreadHeap>; KINDS.len()],
}

thread_local! {
    static MINE: Mine = const {
        Mine {
            row: Cell::new(&raw const ROWS[SHARED]),
            is_known: Cell::new(false),
            stamp: Cell::new((SHARED as u64) << SIZE_BITS),
            heaps: [const { Cell::new(null_mut()) }; KINDS.len()],
        }
    };
    static LEASE: Lease = const { Lease };
}

/// Gives the row back when the thread ends.
struct Lease;

impl Drop for Lease {
    fn drop(&mut self) {
        let mine = me();
        mine.heaps.iter().for_each(|heap| heap.set(null_mut()));
        let index = (mine.stamp.replace((SHARED as u64) << SIZE_BITS) >> SIZE_BITS) as usize;
        mine.row.set(&raw const ROWS[SHARED]);
        if index != SHARED {
            ROWS[index].owner.store(0, Ordering::Relaxed);
            ROWS[index].thread.store(0, Ordering::Relaxed);
            // Release: pairs with the Acquire of who takes it next and goes on with our figures.
            TAKEN[index / 64].fetch_and(!(1 << (index % 64)), Ordering::Release);
        }
    }
}

/// The calling thread's. (Not a closure for `with`: large ones are not put in place, and every allocation would pay for a call.)
#[inline(always)]
pub(crate) fn me() -> &'static Mine {
    // SAFETY: it needs no drop, so it is there as long as the thread; it is not shared, so the reference stays on the thread.
    MINE.with(|mine| unsafe { &*std::ptr::from_ref(mine) })
}

impl Mine {
    /// The pages of the calling thread, if it took them before; then it has a row, and there is nothing else to do.
    #[inline(always)]
    pub fn ready(&self, kind: Kind) -> Option<*mut ThreadHeap> {
        Some(self.heaps[kind as usize].get()).filter(|heap| !heap.is_null())
    }

    /// The row of the calling thread, or the shared one.
    #[inline(always)]
    pub fn row(&self) -> &'static Row {
        // SAFETY: it is never null: it points into ROWS, which stay.
        unsafe { &*self.row.get() }
    }

    /// The pages of the calling thread.
    pub fn heap(&self, kind: Kind) -> *mut ThreadHeap {
        if let Some(heap) = self.ready(kind) {
            return heap;
        }
        // SAFETY: a heap that stays.
        let heap = unsafe { mimalloc::mi_heap_theap(mimalloc::heap(kind)) };
        // Not when the thread is ending: then mimalloc takes it back.
        if self.has_row() {
            self.heaps[kind as usize].set(heap);
        }
        heap
    }

    /// Whether the calling thread has a row of its own; it takes one if it can.
    fn has_row(&self) -> bool {
        !std::ptr::eq(self.row.get(), &ROWS[SHARED]) || self.take_row()
    }

    #[cold]
    #[inline(never)]
    fn take_row(&self) -> bool {
        // What is allocated to take it is the shared row's.
        if self.is_known.replace(true) || LEASE.try_with(|_| ()).is_err() {
            return false;
        }
        let Some(number) = free_row() else { return false };
        let row = &ROWS[number];
        row.thread.store(crate::thread_id(), Ordering::Relaxed);
        self.stamp.set((number as u64) << SIZE_BITS);
        self.row.set(row);
        true
    }

    /// For threads that may have no row.
    pub fn allocated(&self, kind: Kind, bytes: usize) {
        if self.has_row() {
            return self.row().allocated(kind, bytes);
        }
        let counts = ROWS[SHARED].counts(kind);
        counts.blocks_allocated.fetch_add(1, Ordering::Relaxed);
        counts.bytes_allocated.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Says how many bytes of blocks for heaps the thread keeps now.
    #[inline(always)]
    pub fn keeps(&self, bytes: usize) {
        // Who keeps a block allocated it or freed another for it, so the row is its own.
        if COUNTED {
            self.row().kept_bytes.store(bytes as u64, Ordering::Relaxed);
        }
    }

    /// Counts a block that another thread allocated and this one frees.
    #[cold]
    #[inline(never)]
    pub fn freed_for_another(&self, bytes: usize) {
        if self.has_row() {
            add(&self.row().foreign_blocks, 1);
            add(&self.row().foreign_bytes, bytes as u64);
        }
    }

    #[inline(always)]
    pub fn stamp(&self) -> u64 {
        self.stamp.get()
    }
}

/// By the row's thread.
#[inline(always)]
fn add(figure: &AtomicU64, more: u64) {
    // Relaxed: a statistic. No read-modify-write: nobody else writes it.
    figure.store(figure.load(Ordering::Relaxed).wrapping_add(more), Ordering::Relaxed);
}

fn free_row() -> Option<usize> {
    for (word, bits) in TAKEN.iter().enumerate() {
        loop {
            let seen = bits.load(Ordering::Relaxed);
            let bit = seen.trailing_ones() as usize;
            let index = word * 64 + bit;
            if bit == 64 || index >= SHARED {
                break;
            }
            // Acquire: pairs with the Release of who gave it back.
            if bits.compare_exchange(seen, seen | 1 << bit, Ordering::Acquire, Ordering::Relaxed).is_ok() {
                // Relaxed: who misses a row that is new misses figures that are new.
                USED.fetch_max(index + 1, Ordering::Relaxed);
                return Some(index);
            }
        }
    }
    None
}

impl Row {
    /// By its thread.
    #[inline(always)]
    pub(crate) fn allocated(&self, kind: Kind, bytes: usize) {
        if !COUNTED {
            return;
        }
        let counts = self.counts(kind);
        add(&counts.blocks_allocated, 1);
        add(&counts.bytes_allocated, bytes as u64);
    }

    /// By its thread.
    #[inline(always)]
    pub(crate) fn freed(&self, kind: Kind, bytes: usize) {
        if !COUNTED {
            return;
        }
        let counts = self.counts(kind);
        add(&counts.blocks_freed, 1);
        add(&counts.bytes_freed, bytes as u64);
    }

    #[inline(always)]
    pub fn counts(&self, kind: Kind) -> &Counts {
        &self.kinds[kind as usize]
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
}

impl Counts {
    /// Bytes that were allocated and not freed, over all rows.
    fn live(&self) -> u64 {
        self.bytes_allocated.load(Ordering::Relaxed).wrapping_sub(self.bytes_freed.load(Ordering::Relaxed))
    }
}

/// The calling thread's; the shared one if it can have none.
pub fn mine() -> &'static Row {
    me().has_row();
    me().row()
}

/// Says how many bytes of blocks for heaps the calling thread keeps now, in use by nobody.
#[inline(always)]
pub fn keep(bytes: usize) {
    me().keeps(bytes);
}

/// Those that were ever in use; the last one is shared.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    ROWS[..USED.load(Ordering::Relaxed)].iter().chain([&ROWS[SHARED]])
}

/// Bytes in use for a kind. While others allocate it may be a few blocks wrong, and is never negative.
pub fn sum(kind: Kind) -> usize {
    let live = rows().fold(0u64, |sum, row| sum.wrapping_add(row.counts(kind).live()));
    (live as i64).max(0) as usize
}

/// Of the bytes in use for heaps those that threads keep for who asks next.
pub fn kept_bytes() -> usize {
    rows().map(|row| row.kept_bytes.load(Ordering::Relaxed)).sum::<u64>() as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{allocate, free};

    fn live(kind: Kind) -> usize {
        sum(kind)
    }

    #[test]
    fn what_one_thread_allocates_and_another_frees_adds_up_to_nothing() {
        let before = live(Kind::Ets);
        let blocks: Vec<usize> = std::thread::spawn(|| (0..100).map(|_| allocate(Kind::Ets, 1000) as usize).collect()).join().unwrap();
        assert_eq!(live(Kind::Ets) - before, 100_000);
        // SAFETY: blocks of that kind and size.
        std::thread::spawn(move || blocks.into_iter().for_each(|b| unsafe { free(Kind::Ets, b as *mut u8, 1000) })).join().unwrap();
        assert_eq!(live(Kind::Ets), before);
    }

    #[test]
    fn rows_of_ended_threads_are_used_again_and_keep_their_figures() {
        let number = || std::thread::spawn(|| mine() as *const Row as usize).join().unwrap();
        let first = number();
        assert!((0..200).any(|_| number() == first));
    }
}
