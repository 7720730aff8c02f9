//! Which processes ran, or were sent something, since the last collection: only those may refer to something young.
//!
//! A bit in the process' state tells whether it is noted already, which is all that is looked at mostly; and a bit for its slot of
//! the process table is what the collector finds it by, however many others there are.

use crate::process::{ProcRef, ProcShared};
use crate::proctab::{self, PORT};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// A bit for each slot of the table of processes, and of that of ports.
static MARKS: OnceLock<[Box<[AtomicU64]>; 2]> = OnceLock::new();

fn marks() -> &'static [Box<[AtomicU64]>; 2] {
    let new = |slots: usize| (0..slots.div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
    MARKS.get_or_init(|| [new(proctab::limit()), new(proctab::PORT_LIMIT)])
}

/// It runs, or something is sent to it.
#[inline]
pub(crate) fn touch(p: &ProcShared) {
    if p.state.touch() {
        mark(p);
    }
}

#[cold]
fn mark(p: &ProcShared) {
    let marks = &marks()[p.is_port() as usize];
    let slot = p.pid as usize & (marks.len() * 64 - 1);
    // Relaxed: as the bit of the state.
    marks[slot / 64].fetch_or(1 << (slot % 64), Ordering::Relaxed);
}

/// Calls `f` on each, while the world stands still; from now on none is noted, as far as `mark_again` does not say otherwise.
pub(super) fn take(mut f: impl FnMut(ProcRef)) {
    for (marks, bit) in marks().iter().zip([0, PORT]) {
        for (word, bits) in marks.iter().enumerate() {
            if bits.load(Ordering::Relaxed) == 0 {
                continue;
            }
            let mut left = bits.swap(0, Ordering::Relaxed);
            while left != 0 {
                let slot = word * 64 + left.trailing_zeros() as usize;
                left &= left - 1;
                if let Some(p) = proctab::in_slot(slot, bit != 0) {
                    f(p);
                }
            }
        }
    }
}

/// It was collected.
pub(super) fn collected(p: ProcRef) {
    if !p.state.was_collected() {
        mark(&p);
    }
}
