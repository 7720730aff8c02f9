//! Registered names: an array indexed by atom number, so that a send by name is one load. Writers take a mutex.

use crate::observe::locks::LockClass;
use heddle_term::{Atom, Term};
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

const CHUNK: usize = 4096;
const CHUNKS: usize = heddle_term::atom::MAX_LIMIT / CHUNK;

/// Cells hold the raw pid or port term, or 0.
/// A chunk: Release in `register`, Acquire in `cell`: its cells are 0 or set. A cell: Release in `register` and `unregister`, Acquire in
/// `whereis`: the process that is named is in the table.
static CELLS: [AtomicPtr<AtomicU64>; CHUNKS] = [const { AtomicPtr::new(std::ptr::null_mut()) }; CHUNKS];
static REGISTERED: Mutex<BTreeSet<Atom>> = Mutex::new(BTreeSet::new());

fn cell(name: Atom) -> Option<&'static AtomicU64> {
    let chunk = CELLS[name.index() as usize / CHUNK].load(Ordering::Acquire);
    if chunk.is_null() {
        return None;
    }
    // SAFETY: chunks have CHUNK cells and are never freed.
    Some(unsafe { &*chunk.add(name.index() as usize % CHUNK) })
}

/// Pid or port registered under `name`.
#[inline]
pub fn whereis(name: Atom) -> Option<Term> {
    // Acquire: pairs with the Release in `register`.
    match cell(name)?.load(Ordering::Acquire) {
        0 => None,
        raw => Some(Term::from_raw(raw)),
    }
}

/// False if the name is taken.
pub fn register(name: Atom, id: Term) -> bool {
    let mut registered = LockClass::Names.lock(&REGISTERED);
    let slot = &CELLS[name.index() as usize / CHUNK];
    if slot.load(Ordering::Relaxed).is_null() {
        let chunk: Vec<AtomicU64> = (0..CHUNK).map(|_| AtomicU64::new(0)).collect();
        // Release: pairs with the Acquire in `cell`.
        slot.store(Box::leak(chunk.into_boxed_slice()).as_mut_ptr(), Ordering::Release);
    }
    let cell = cell(name).expect("just made");
    if cell.load(Ordering::Relaxed) != 0 {
        return false;
    }
    // Release: pairs with the Acquire in `whereis`.
    cell.store(id.raw(), Ordering::Release);
    registered.insert(name);
    true
}

/// Removes the name if it belongs to `id` (or to any process or port, if that is None). Returns the pid or port that had it.
pub fn unregister(name: Atom, id: Option<Term>) -> Option<Term> {
    let mut registered = LockClass::Names.lock(&REGISTERED);
    let cell = cell(name)?;
    let current = cell.load(Ordering::Relaxed);
    if current == 0 || id.is_some_and(|id| id.raw() != current) {
        return None;
    }
    // Release: pairs with the Acquire in `whereis`.
    cell.store(0, Ordering::Release);
    registered.remove(&name);
    Some(Term::from_raw(current))
}

pub fn all() -> Vec<Atom> {
    LockClass::Names.lock(&REGISTERED).iter().copied().collect()
}
