//! The rows of all threads.
//!
//! A thread takes a row when it allocates for the first time. A block may be freed by another thread than took it, so a row by itself
//! may have freed more than it took; sums wrap. When a thread ends, the next one goes on with its row: what the rows add up to stays
//! right.
//!
//! Rows are needed to allocate, so the system is asked for their memory.

use crate::MemoryKind;
use crate::own_row::{self, own_row};
use crate::row::Row;
use std::cell::Cell;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};

/// Threads that have a row of their own at a time: more than there can be schedulers and private threads.
const MAX: usize = 4095;

/// Made when they are needed, and there for good.
static ROWS: [AtomicPtr<Row>; MAX] = [const { AtomicPtr::new(null_mut()) }; MAX];
/// A bit for each row that a thread has.
static TAKEN: [AtomicU64; MAX.div_ceil(64)] = [const { AtomicU64::new(0) }; MAX.div_ceil(64)];
/// Rows below this one were in use.
static USED: AtomicUsize = AtomicUsize::new(0);
/// Of those that have none: threads that just end, or freed something before they allocated anything. What two of them free at the
/// very same time may be counted once.
pub(crate) static SHARED: Row = Row::new(MAX);

thread_local! {
    /// True if the thread took a row already, or is about to.
    static IS_KNOWN: Cell<bool> = const { Cell::new(false) };
    static LEASE: Lease = const { Lease };
}

/// Frees the row when the thread ends.
struct Lease;

impl Drop for Lease {
    fn drop(&mut self) {
        let row = own_row();
        own_row::set(&SHARED);
        if !row.is_shared() {
            row.ends();
            // Release: pairs with the Acquire of the thread that takes it next and goes on with our figures.
            TAKEN[row.number() / 64].fetch_and(!(1 << (row.number() % 64)), Ordering::Release);
        }
    }
}

/// The calling thread's; it takes one if it can, and has the shared one otherwise.
pub fn mine() -> &'static Row {
    let row = own_row();
    if row.is_shared() { take() } else { row }
}

/// Counts a block for a thread that may have no row, and gives what it has then.
#[inline]
pub(crate) fn allocated(kind: MemoryKind, bytes: usize) -> &'static Row {
    let row = mine();
    if row.is_shared() {
        row.allocated_by_many(kind, bytes);
    } else {
        row.allocated(kind, bytes);
    }
    row
}

#[cold]
#[inline(never)]
fn take() -> &'static Row {
    // What is allocated to take it is the shared row's.
    if IS_KNOWN.replace(true) || LEASE.try_with(|_| ()).is_err() {
        return &SHARED;
    }
    let row = free_row().unwrap_or(&SHARED);
    if !row.is_shared() {
        row.begins();
        own_row::set(row);
    }
    row
}

fn free_row() -> Option<&'static Row> {
    for (word, bits) in TAKEN.iter().enumerate() {
        loop {
            let seen = bits.load(Ordering::Relaxed);
            let bit = seen.trailing_ones() as usize;
            let index = word * 64 + bit;
            if bit == 64 || index >= MAX {
                break;
            }
            // Acquire: pairs with the Release of the thread that freed it.
            if bits.compare_exchange(seen, seen | 1 << bit, Ordering::Acquire, Ordering::Relaxed).is_ok() {
                return by_number(index);
            }
        }
    }
    None
}

/// The row, which the calling thread alone may make. None: the system has no memory; that number is not tried again.
fn by_number(index: usize) -> Option<&'static Row> {
    let mut row = ROWS[index].load(Ordering::Relaxed);
    if row.is_null() {
        row = map(index)?;
        // Release: pairs with the Acquire of a reader of figures.
        ROWS[index].store(row, Ordering::Release);
        // Relaxed: a reader that misses a row that is new misses figures that are new.
        USED.fetch_max(index + 1, Ordering::Relaxed);
    }
    // SAFETY: rows are never unmapped.
    Some(unsafe { &*row })
}

fn map(number: usize) -> Option<*mut Row> {
    let (rights, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: new memory, of no file.
    let memory = unsafe { libc::mmap(null_mut(), size_of::<Row>(), rights, flags, -1, 0) };
    if memory == libc::MAP_FAILED {
        return None;
    }
    let row: *mut Row = memory.cast();
    // SAFETY: the memory is ours, aligned to a page, and zero, which all of a row may be (atomic numbers and null pointers).
    unsafe { (*row).set_number(number) };
    Some(row)
}

/// Those that were ever in use; the last one is shared.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    let used = &ROWS[..USED.load(Ordering::Relaxed)];
    // SAFETY: a row stays once it is there. Acquire: pairs with the Release of the thread that made it.
    used.iter().filter_map(|row| unsafe { row.load(Ordering::Acquire).as_ref() }).chain([&SHARED])
}

/// Bytes in use for a kind. While others allocate it may be a few blocks wrong, and is never negative.
pub fn sum(kind: MemoryKind) -> usize {
    let live = rows().fold(0u64, |sum, row| sum.wrapping_add(row.live_bytes(kind)));
    (live as i64).max(0) as usize
}

/// Says how many bytes of blocks for heaps the calling thread keeps now, not in use.
#[inline(always)]
pub fn keep(bytes: usize) {
    own_row().keeps(bytes);
}

/// Of the bytes in use for heaps those that threads keep for the next request.
pub fn kept_bytes() -> usize {
    rows().map(Row::kept_bytes).sum::<u64>() as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RECENT_BYTES, allocate, allocate_recent, free, free_recent};
    use std::collections::HashSet;

    fn live(kind: MemoryKind) -> usize {
        sum(kind)
    }

    #[test]
    fn what_one_thread_allocates_and_another_frees_adds_up_to_nothing() {
        let _alone = crate::tests::alone();
        let before = live(MemoryKind::Ets);
        let blocks: Vec<usize> =
            std::thread::spawn(|| (0..100).map(|_| allocate(MemoryKind::Ets, 1000) as usize).collect()).join().unwrap();
        assert_eq!(live(MemoryKind::Ets) - before, 100_000);
        // SAFETY: blocks of that kind and size.
        std::thread::spawn(move || blocks.into_iter().for_each(|b| unsafe { free(MemoryKind::Ets, b as *mut u8, 1000) })).join().unwrap();
        assert_eq!(live(MemoryKind::Ets), before);
    }

    #[test]
    #[cfg_attr(any(miri, feature = "libc-malloc"), ignore = "the checked allocator gets each block back at once")]
    fn what_is_kept_for_the_next_message_is_nobodys_until_then() {
        let _alone = crate::tests::alone();
        let kept = || mine().recent_data.bytes();
        let other = std::thread::spawn(move || {
            mine().open_recent();
            let before = live(MemoryKind::Heap);
            let blocks = [allocate_recent(), allocate_recent()];
            assert_eq!(live(MemoryKind::Heap) - before, 2 * RECENT_BYTES);
            // SAFETY: blocks of `allocate_recent`.
            blocks.iter().for_each(|b| unsafe { free_recent(*b) });
            assert_eq!((live(MemoryKind::Heap) - before, kept()), (0, 2 * RECENT_BYTES));
            // The last one comes first.
            assert_eq!([allocate_recent(), allocate_recent()], [blocks[1], blocks[0]]);
            assert_eq!((live(MemoryKind::Heap) - before, kept()), (2 * RECENT_BYTES, 0));
            // SAFETY: as above.
            blocks.iter().for_each(|b| unsafe { free_recent(*b) });
            crate::leave_and_purge();
            assert_eq!((live(MemoryKind::Heap) - before, kept()), (0, 0));
            // Left as it ends.
            // SAFETY: as above.
            unsafe { free_recent(allocate_recent()) };
            before
        });
        assert_eq!(live(MemoryKind::Heap), other.join().unwrap());
    }

    #[test]
    fn rows_of_ended_threads_are_used_again_and_keep_their_figures() {
        let _alone = crate::tests::alone();
        let tallied = || rows().map(|row| row.tallied(1)).sum::<u64>();
        let before = tallied();
        let tally = || {
            mine().tally(1, 1);
            mine().number()
        };
        let numbers: HashSet<usize> = (0..200).map(|_| std::thread::spawn(tally).join().unwrap()).collect();
        assert!(!numbers.contains(&MAX));
        // Threads of other tests come and go meanwhile.
        assert!(numbers.len() < 50, "{numbers:?}");
        assert_eq!(tallied(), before + 200);
    }

    #[test]
    fn all_rows_are_added_up() {
        let _alone = crate::tests::alone();
        let before = mine().tallied(0);
        mine().tally(0, 5);
        assert!(rows().any(|row| std::ptr::eq(row, mine()) && row.tallied(0) == before + 5));
        assert!(rows().last().unwrap().is_shared());
    }
}
