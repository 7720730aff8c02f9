//! Finds breakpoints by the entry of their function, for the engine: readers take no lock and write nothing.
//!
//! A hash table with open addressing. Its caller serialises the writers. What they remove is freed when no reader can have it any more,
//! which is when every scheduler has finished the slice that it was in (`qsbr`).

use crate::base::qsbr;
use crate::trace::breakpoints::Breakpoint;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

#[derive(Default)]
struct Slot {
    /// The entry; 0 = free, `GONE` = removed. Release in `put` and `remove`, Acquire in `find`: its breakpoint is seen.
    entry: AtomicUsize,
    breakpoint: AtomicPtr<Breakpoint>,
}

const GONE: usize = 1;

struct Index {
    slots: Box<[Slot]>,
    shift: u32,
}

impl Index {
    fn new(bits: u32) -> Index {
        Index { slots: (0..1usize << bits).map(|_| Slot::default()).collect(), shift: 64 - bits }
    }
    fn first(&self, entry: usize) -> usize {
        ((entry as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift) as usize
    }
    /// Slots in the order in which they are tried.
    fn slots(&self, entry: usize) -> impl Iterator<Item = &Slot> {
        let mask = self.slots.len() - 1;
        let first = self.first(entry);
        (0..self.slots.len()).map(move |step| &self.slots[(first + step) & mask])
    }
    fn find(&self, entry: usize) -> Option<&Slot> {
        for slot in self.slots(entry) {
            // Acquire, paired with the Release in `put`: a reader that sees the entry sees the breakpoint.
            match slot.entry.load(Ordering::Acquire) {
                0 => return None,
                found if found == entry => return Some(slot),
                _ => {}
            }
        }
        None
    }
    fn put(&self, entry: usize, breakpoint: *mut Breakpoint) {
        let slot = self.slots(entry).find(|s| s.entry.load(Ordering::Relaxed) == 0).expect("never full");
        slot.breakpoint.store(breakpoint, Ordering::Relaxed);
        slot.entry.store(entry, Ordering::Release);
    }
}

/// AcqRel in `insert`, Acquire in `find`: the slots of an index that is seen are filled.
static INDEX: AtomicPtr<Index> = AtomicPtr::new(null_mut());
/// Number of slots in use, removed ones included. Only writers read it.
static USED: AtomicUsize = AtomicUsize::new(0);

/// The breakpoint at the entry. Valid until the caller's slice ends.
#[inline]
pub(crate) fn find<'a>(entry: usize) -> Option<&'a Breakpoint> {
    // SAFETY: the index and what it refers to are only freed after the slices of all readers.
    // Acquire: pairs with AcqRel in `insert`.
    unsafe { INDEX.load(Ordering::Acquire).as_ref()?.find(entry)?.breakpoint.load(Ordering::Relaxed).as_ref() }
}

/// Adds a breakpoint whose entry is not in the table. One writer at a time.
pub(crate) fn insert(entry: usize, breakpoint: Box<Breakpoint>) {
    // SAFETY: only writers replace the index, and the caller is the only writer.
    let index = unsafe { INDEX.load(Ordering::Relaxed).as_ref() };
    let used = USED.load(Ordering::Relaxed) + 1;
    let breakpoint = Box::into_raw(breakpoint);
    if let Some(index) = index.filter(|i| used * 2 <= i.slots.len()) {
        index.put(entry, breakpoint);
        USED.store(used, Ordering::Relaxed);
        return;
    }
    // More than half full, removed entries included: replaces the index by one with the entries that are left.
    let live: Vec<(usize, *mut Breakpoint)> = index.into_iter().flat_map(live).chain([(entry, breakpoint)]).collect();
    let new = Index::new((live.len() * 4).next_power_of_two().max(64).trailing_zeros());
    for &(entry, breakpoint) in &live {
        new.put(entry, breakpoint);
    }
    USED.store(live.len(), Ordering::Relaxed);
    let old = INDEX.swap(Box::into_raw(Box::new(new)), Ordering::AcqRel);
    if !old.is_null() {
        // SAFETY: unlinked above; readers are done when this runs.
        let old = unsafe { Box::from_raw(old) };
        qsbr::retire(move || drop(old));
    }
}

fn live(index: &Index) -> impl Iterator<Item = (usize, *mut Breakpoint)> {
    index.slots.iter().map(|s| (s.entry.load(Ordering::Relaxed), s.breakpoint.load(Ordering::Relaxed))).filter(|(entry, _)| *entry > GONE)
}

/// Removes a breakpoint. One writer at a time.
pub(crate) fn remove(entry: usize) {
    // SAFETY: as in `insert`.
    let slot = unsafe { INDEX.load(Ordering::Relaxed).as_ref() }.and_then(|i| i.find(entry));
    if let Some(slot) = slot {
        slot.entry.store(GONE, Ordering::Release);
        let breakpoint = slot.breakpoint.load(Ordering::Relaxed);
        // SAFETY: unlinked above. A reader that found it before may still read it: its slot keeps the pointer until then.
        let breakpoint = unsafe { Box::from_raw(breakpoint) };
        qsbr::retire(move || drop(breakpoint));
    }
}

/// All entries. The caller is the only writer meanwhile.
pub(crate) fn all() -> Vec<usize> {
    // SAFETY: as in `insert`.
    unsafe { INDEX.load(Ordering::Relaxed).as_ref() }.map_or(Vec::new(), |i| live(i).map(|(entry, _)| entry).collect())
}
