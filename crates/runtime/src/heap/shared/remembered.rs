//! Remembers the processes that ran, or were sent something, since the last collection: only those may refer to young objects.
//!
//! A bit in the process' state tells if it is remembered already, and mostly nothing else is read. The collector finds it by a bit for its
//! slot of the process table and a bit for each 64 of those, so the search does not depend on the number of other processes.

use crate::process::proctab;
use crate::process::{ProcRef, ProcShared};
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The marks for one table.
struct Marks {
    /// A bit for each slot.
    slots: Box<[AtomicU64]>,
    /// A bit for each word of `slots` in which a bit may be set.
    words: Box<[AtomicU64]>,
}

impl Marks {
    fn new(slots: usize) -> Marks {
        let zeros = |count: usize| (0..count).map(|_| AtomicU64::new(0)).collect();
        Marks { slots: zeros(slots.div_ceil(64)), words: zeros(slots.div_ceil(64 * 64)) }
    }

    fn set(&self, slot: usize) {
        let word = slot / 64;
        // Relaxed: as the bit of the state.
        self.slots[word].fetch_or(1 << (slot % 64), Ordering::Relaxed);
        self.words[word / 64].fetch_or(1 << (word % 64), Ordering::Relaxed);
    }

    /// Calls `f` on each slot whose bit is set, and clears the bits.
    fn take(&self, mut f: impl FnMut(usize)) {
        take_bits(&self.words, 0..self.words.len(), |word| take_bits(&self.slots, word..word + 1, &mut f));
    }
}

/// Calls `f` on the number of each bit that is set in these words, and clears the bits.
fn take_bits(words: &[AtomicU64], range: Range<usize>, mut f: impl FnMut(usize)) {
    for at in range {
        if words[at].load(Ordering::Relaxed) == 0 {
            continue;
        }
        let mut left = words[at].swap(0, Ordering::Relaxed);
        while left != 0 {
            f(at * 64 + left.trailing_zeros() as usize);
            left &= left - 1;
        }
    }
}

/// The marks for the table of processes, and for that of ports.
static MARKS: OnceLock<[Marks; 2]> = OnceLock::new();

fn marks() -> &'static [Marks; 2] {
    MARKS.get_or_init(|| [Marks::new(proctab::limit()), Marks::new(proctab::port_limit())])
}

/// The process runs, or something is sent to it.
#[inline]
pub fn remember(p: &ProcShared) {
    if p.state.remember() {
        mark(p);
    }
}

#[cold]
fn mark(p: &ProcShared) {
    let marks = &marks()[p.is_port() as usize];
    marks.set(p.pid as usize & (marks.slots.len() * 64 - 1));
}

/// Calls `f` on each remembered process and forgets them all. `collected` may mark some again. The world is stopped.
pub(super) fn take(mut f: impl FnMut(ProcRef)) {
    for (marks, is_port) in marks().iter().zip([false, true]) {
        marks.take(|slot| {
            if let Some(p) = proctab::in_slot(slot, is_port) {
                f(p);
            }
        });
    }
}

/// The process was collected. It stays marked if its state says that it may refer to young objects again.
pub(super) fn collected(p: ProcRef) {
    if !p.state.was_collected() {
        mark(&p);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_slot_that_was_marked_is_found_once() {
        let marks = Marks::new(1 << 16);
        let slots = [0, 1, 63, 64, 4095, 4096, 40_000, (1 << 16) - 1];
        slots.iter().chain(&slots).for_each(|&slot| marks.set(slot));
        let take = || {
            let mut found = Vec::new();
            marks.take(|slot| found.push(slot));
            found
        };
        assert_eq!(take(), slots);
        assert!(take().is_empty());
        marks.set(63);
        assert_eq!(take(), [63]);
    }
}
