//! The name and creation of this node, as terms and the external format need them.

use crate::atom::Atom;
use std::sync::atomic::{AtomicU64, Ordering};

/// Atom number in the low half, creation above.
/// Release in `set_current`, Acquire in readers: name and creation are in one word, and the atom is known.
static CURRENT: AtomicU64 = AtomicU64::new(crate::am::NONODE_NOHOST.index() as u64);

/// Name and creation of this node.
#[inline]
pub fn current() -> (Atom, u32) {
    // Acquire: pairs with `set_current`, so that the name's atom is readable.
    let word = CURRENT.load(Ordering::Acquire);
    (Atom::from_index(word as u32), (word >> 32) as u32)
}

pub fn name() -> Atom {
    current().0
}

pub fn creation() -> u32 {
    current().1
}

/// Distribution starts (or stops: `nonode@nohost`, 0).
pub fn set_current(name: Atom, creation: u32) {
    CURRENT.store(name.index() as u64 | (creation as u64) << 32, Ordering::Release);
}
