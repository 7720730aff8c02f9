//! The atoms of one message on its way out: each is named once, and the terms refer to it by its place in the list.

use heddle_term::Atom;
use heddle_term::etf::{AtomWriter, WholeAtoms, tag};
use std::cell::Cell;

/// Atoms of a message that can be referred to. Further ones are written whole.
pub const MAX_ATOMS: usize = 255;

/// Twice as many as atoms, so that a search is short. A power of two.
const SLOTS: usize = 512;
const SLOT_BITS: u32 = SLOTS.trailing_zeros();

/// Words of a hash table with open addressing: number of the atom in the lowest 32 bits, then its place (8 bits), then the
/// generation of the list that it belongs to (24 bits). Words of former generations are free.
type Slots = Box<[u64; SLOTS]>;
const PLACE_SHIFT: u32 = 32;
const GENERATION_SHIFT: u32 = 40;
const MAX_GENERATION: u64 = (1 << 24) - 1;

thread_local! {
    /// The table that the last list of this thread used, and its generation.
    static SPARE: Cell<Option<(Slots, u64)>> = const { Cell::new(None) };
}

/// The distinct atoms of a message, in the order in which they came up.
pub struct AtomList {
    atoms: Vec<Atom>,
    slots: Slots,
    generation: u64,
    limit: usize,
}

impl AtomList {
    /// An empty list for up to `limit` atoms, at most 255. With none, all atoms are written whole.
    pub fn new(limit: usize) -> AtomList {
        let (mut slots, mut generation) = SPARE.take().unwrap_or_else(|| (Box::new([0; SLOTS]), 0));
        if generation == MAX_GENERATION {
            slots.fill(0);
            generation = 0;
        }
        AtomList { atoms: Vec::new(), slots, generation: generation + 1, limit: limit.min(MAX_ATOMS) }
    }

    /// The place of this atom, which is added if it is new; None if there is no room for it.
    #[inline]
    pub fn place(&mut self, atom: Atom) -> Option<u8> {
        let wanted = self.generation << GENERATION_SHIFT | atom.index() as u64;
        let mut at = (atom.index().wrapping_mul(0x9e37_79b1) >> (32 - SLOT_BITS)) as usize;
        loop {
            let word = self.slots[at % SLOTS];
            if word & !(0xff << PLACE_SHIFT) == wanted {
                return Some((word >> PLACE_SHIFT) as u8);
            }
            if word >> GENERATION_SHIFT != self.generation {
                break;
            }
            at += 1;
        }
        let place = self.atoms.len();
        if place == self.limit {
            return None;
        }
        if place == 0 {
            // Most messages have no more.
            self.atoms.reserve_exact(8);
        }
        self.slots[at % SLOTS] = wanted | (place as u64) << PLACE_SHIFT;
        self.atoms.push(atom);
        Some(place as u8)
    }

    /// The atoms, by their places. The table goes back to this thread.
    pub fn into_atoms(self) -> Vec<Atom> {
        SPARE.set(Some((self.slots, self.generation)));
        self.atoms
    }
}

impl AtomWriter for AtomList {
    #[inline]
    fn write(&mut self, out: &mut Vec<u8>, atom: Atom) {
        match self.place(atom) {
            Some(place) => out.extend_from_slice(&[tag::ATOM_CACHE_REF, place]),
            None => WholeAtoms::default().write(out, atom),
        }
    }
}
