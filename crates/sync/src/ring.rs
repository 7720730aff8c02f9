//! A queue with one owner, from which all may take: first in, first out, without locks, as large as it has to be.
//!
//! The owner appends, all threads take from the head: the owner one, others several at once. `head` and `tail` only grow, so a
//! compare-and-swap of `head` that succeeds has taken exactly the entries that were read before it: their slots are not written
//! again before `head` has passed them. The owner's append is two loads and two stores; taking one is one compare-and-swap.
//!
//! A full buffer is exchanged for one twice as large. Others may still read the old one, so the owner gets it back with the duty
//! to free it when no thread can read it any more (`Retired`). It is not written again, so what they find there is right, or their
//! compare-and-swap fails.

use crate::atomic::{AtomicPtr, AtomicU64, Ordering};
use crate::word::Word;
use std::ptr::null_mut;

/// Entries of the first buffer.
const FIRST: usize = if cfg!(loom) { 2 } else { 64 };

struct Buffer {
    slots: Box<[AtomicU64]>,
}

impl Buffer {
    fn new(size: usize) -> Box<Buffer> {
        Box::new(Buffer { slots: (0..size).map(|_| AtomicU64::new(0)).collect() })
    }

    fn slot(&self, index: u64) -> &AtomicU64 {
        &self.slots[index as usize & (self.slots.len() - 1)]
    }
}

/// A buffer that others may still read. Dropping it frees it: not before all have passed a point where they hold no reference
/// into a ring.
#[must_use]
pub struct Retired(#[allow(dead_code)] Box<Buffer>);

/// On a line of the cache of its own: mostly the owner takes.
#[repr(align(64))]
pub struct Ring {
    /// Index of the oldest entry: moved by each taker.
    /// AcqRel in takers, Acquire in readers: their reads of a slot come before the owner writes it again.
    head: AtomicU64,
    /// Index after the youngest one: written by the owner.
    /// Release in `push`, Acquire in takers: a thread that sees the tail sees the entry, and the buffer that it is in.
    tail: AtomicU64,
    /// Null until the first entry comes.
    /// Release in `grow`, Acquire in takers: the entries of a buffer that is seen are copied.
    buffer: AtomicPtr<Buffer>,
}

impl Default for Ring {
    fn default() -> Ring {
        Ring { head: AtomicU64::new(0), tail: AtomicU64::new(0), buffer: AtomicPtr::new(null_mut()) }
    }
}

impl Ring {
    /// How many there are; more or fewer by the time it is read.
    #[inline]
    pub fn len(&self) -> usize {
        let head = self.head.load(Ordering::Acquire);
        // The tail is read later, so it is not before this head.
        self.tail.load(Ordering::Acquire).wrapping_sub(head) as usize
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends an entry. How many there were before, and a buffer that is no longer needed.
    ///
    /// # Safety
    /// The caller is the owner: no other thread calls `push` at the same time, and what an earlier owner did happened before.
    #[inline]
    pub unsafe fn push(&self, entry: u64) -> (usize, Option<Retired>) {
        let tail = self.tail.load(Ordering::Relaxed);
        // Acquire: pairs with takers; their reads of the slot come before it is written again.
        let head = self.head.load(Ordering::Acquire);
        let mut buffer = self.buffer.load(Ordering::Relaxed);
        let mut retired = None;
        // SAFETY: only the owner exchanges the buffer, and the one that is there lives.
        if unsafe { buffer.as_ref() }.is_none_or(|buffer| buffer.slots.len() as u64 == tail - head) {
            (buffer, retired) = self.grow(buffer, head, tail);
        }
        // SAFETY: only the owner exchanges the buffer, and the one that is there lives.
        unsafe { &*buffer }.slot(tail).store(entry, Ordering::Relaxed);
        // Release: a thread that sees the tail sees the entry, and the buffer that it is in.
        self.tail.store(tail + 1, Ordering::Release);
        ((tail - head) as usize, retired)
    }

    #[cold]
    fn grow(&self, old: *mut Buffer, head: u64, tail: u64) -> (*mut Buffer, Option<Retired>) {
        // SAFETY: null, or the buffer that is there; only the owner frees one, after this.
        let old = unsafe { old.as_ref() };
        let new = Buffer::new(old.map_or(FIRST, |old| old.slots.len() * 2));
        for index in head..tail {
            let entry = old.map_or(0, |old| old.slot(index).load(Ordering::Relaxed));
            new.slot(index).store(entry, Ordering::Relaxed);
        }
        let new = Box::into_raw(new);
        let old = self.buffer.swap(new, Ordering::Release);
        // SAFETY: it came from a box, and is reached from here on by threads alone that read it already.
        (new, (!old.is_null()).then(|| Retired(unsafe { Box::from_raw(old) })))
    }

    /// The oldest entry, for the owner.
    #[inline]
    pub fn pop(&self) -> Option<u64> {
        loop {
            let head = self.head.load(Ordering::Acquire);
            if self.tail.load(Ordering::Acquire) == head {
                return None;
            }
            // SAFETY: as in `take`.
            let entry = unsafe { &*self.buffer.load(Ordering::Acquire) }.slot(head).load(Ordering::Relaxed);
            // AcqRel: as there.
            if self.head.exchange(head, head + 1, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                return Some(entry);
            }
        }
    }

    /// Takes up to `most` of the oldest, and no more than one of `share` (1: all, 2: half, rounded up). How many; they are in `out`.
    pub fn take(&self, most: usize, share: usize, out: &mut [u64]) -> usize {
        loop {
            let head = self.head.load(Ordering::Acquire);
            let there = self.tail.load(Ordering::Acquire).wrapping_sub(head) as usize;
            let count = there.div_ceil(share).min(most).min(out.len());
            if count == 0 {
                return 0;
            }
            // The tail that was seen is that of this buffer or an older one, so there is one.
            // SAFETY: as said; and it is not freed while a thread may read it (`Retired`).
            let buffer = unsafe { &*self.buffer.load(Ordering::Acquire) };
            for (index, out) in (head..).zip(&mut out[..count]) {
                *out = buffer.slot(index).load(Ordering::Relaxed);
            }
            // AcqRel: the reads come before the slots are free; what was done before is seen by a thread that sees the entries gone.
            if self.head.exchange(head, head + count as u64, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                return count;
            }
        }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        let buffer = self.buffer.load(Ordering::Relaxed);
        if !buffer.is_null() {
            // SAFETY: no other thread has the ring any more.
            drop(unsafe { Box::from_raw(buffer) });
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::Ring;

    #[test]
    fn entries_come_out_in_order_through_all_sizes() {
        let ring = Ring::default();
        let (mut next_in, mut next_out) = (0, 0);
        // Miri takes a millisecond for each entry.
        let rounds = if cfg!(miri) { 100 } else { 2000 };
        for round in 1..rounds {
            for _ in 0..round % 97 {
                // SAFETY: one thread.
                drop(unsafe { ring.push(next_in) });
                next_in += 1;
            }
            for _ in 0..(round * 7) % 101 {
                let found = ring.pop();
                assert_eq!(found, (next_out < next_in).then_some(next_out));
                next_out += found.is_some() as u64;
            }
            assert_eq!(ring.len() as u64, next_in - next_out);
        }
    }

    #[test]
    fn a_share_is_rounded_up_and_limited() {
        let ring = Ring::default();
        for entry in 0..7 {
            // SAFETY: one thread.
            drop(unsafe { ring.push(entry) });
        }
        let mut out = [0; 8];
        assert_eq!(ring.take(64, 2, &mut out), 4);
        assert_eq!(out[..4], [0, 1, 2, 3]);
        assert_eq!(ring.take(1, 2, &mut out), 1);
        assert_eq!(ring.take(64, 1, &mut out[..1]), 1);
        assert_eq!(ring.take(64, 2, &mut out), 1);
        assert_eq!(out[0], 6);
        assert_eq!(ring.take(64, 2, &mut out), 0);
    }
}
