//! Which atoms the peer has in its cache, and the headers of packets.

use super::framing::{FIRST_FRAGMENT, NEXT_FRAGMENT, PASS_THROUGH, WHOLE};
use heddle_term::Atom;
use heddle_term::etf::VERSION;

/// The cache of a peer has 8 segments of 256 entries. An atom has one place in a segment (the lowest byte of its number), and is in
/// any of them.
const SEGMENTS: usize = 8;
const PLACES: usize = 256;
/// The number of no atom.
const EMPTY: u32 = u32::MAX;

/// A new entry: 8 in the four bits of an atom.
const NEW: u16 = 1 << 11;
/// In the four bits after those of the last atom: lengths of names have two bytes.
const LONG_NAMES: u16 = 1;

/// What the peer's cache holds, if it has read all headers that were written so far. Headers are written in the order in which packets
/// leave.
pub struct OutCache {
    /// Numbers of the atoms, for each place one in each segment.
    atoms: Box<[[u32; SEGMENTS]; PLACES]>,
    /// For each place the segment that is overwritten next.
    next: [u8; PLACES],
}

impl Default for OutCache {
    fn default() -> Self {
        OutCache::new()
    }
}

impl OutCache {
    pub fn new() -> OutCache {
        OutCache { atoms: Box::new([[EMPTY; SEGMENTS]; PLACES]), next: [0; PLACES] }
    }

    /// The highest of the places that an atom can have.
    pub const MAX_PLACE: usize = PLACES - 1;

    /// The place of the atom, for which others compete.
    pub fn place(atom: Atom) -> usize {
        atom.index() as usize % PLACES
    }

    /// Where the atom is from now on (0 to 2047), with `NEW` if the peer does not know it yet.
    #[inline]
    fn entry(&mut self, atom: Atom) -> u16 {
        let place = Self::place(atom);
        let segments = &mut self.atoms[place];
        if let Some(segment) = segments.iter().position(|&known| known == atom.index()) {
            return (segment * PLACES + place) as u16;
        }
        let segment = self.next[place] as usize % SEGMENTS;
        self.next[place] = segment as u8 + 1;
        segments[segment] = atom.index();
        NEW | (segment * PLACES + place) as u16
    }

    /// Appends the header of a message in one packet. `atoms` are those of its `AtomList`: at most 255.
    pub fn whole(&mut self, out: &mut Vec<u8>, atoms: &[Atom]) {
        out.extend_from_slice(&[VERSION, WHOLE]);
        self.references(out, atoms);
    }

    /// Appends the header of the first of several fragments.
    pub fn first_fragment(&mut self, out: &mut Vec<u8>, atoms: &[Atom], sequence: u64, fragments: u64) {
        out.extend_from_slice(&[VERSION, FIRST_FRAGMENT]);
        out.extend_from_slice(&sequence.to_be_bytes());
        out.extend_from_slice(&fragments.to_be_bytes());
        self.references(out, atoms);
    }

    fn references(&mut self, out: &mut Vec<u8>, atoms: &[Atom]) {
        debug_assert!(atoms.len() <= super::atoms::MAX_ATOMS);
        out.push(atoms.len() as u8);
        if atoms.is_empty() {
            return;
        }
        let mut entries = [0u16; super::atoms::MAX_ATOMS + 1];
        let mut has_long_names = false;
        for (entry, &atom) in entries.iter_mut().zip(atoms) {
            *entry = self.entry(atom);
            has_long_names |= *entry & NEW != 0 && atom.name().len() > u8::MAX as usize;
        }
        // The four bits of the entry after the last one.
        let after = if has_long_names { LONG_NAMES } else { 0 };
        entries[atoms.len()] = after << 8;
        let four_bits = |entry: u16| (entry >> 8) as u8;
        out.extend(entries[..atoms.len() + 1].chunks(2).map(|pair| match *pair {
            [low, high] => four_bits(low) | four_bits(high) << 4,
            _ => four_bits(pair[0]),
        }));
        for (&entry, atom) in entries.iter().zip(atoms) {
            out.push(entry as u8);
            if entry & NEW != 0 {
                let name = atom.name().as_bytes();
                let len = (name.len() as u16).to_be_bytes();
                out.extend_from_slice(if has_long_names { &len } else { &len[1..] });
                out.extend_from_slice(name);
            }
        }
    }
}

/// Appends the header of a fragment after the first; the last has number 1.
pub(super) fn next_fragment(out: &mut Vec<u8>, sequence: u64, fragment: u64) {
    out.extend_from_slice(&[VERSION, NEXT_FRAGMENT]);
    out.extend_from_slice(&sequence.to_be_bytes());
    out.extend_from_slice(&fragment.to_be_bytes());
}

/// Appends what stands for the header where there is none.
pub(super) fn pass_through(out: &mut Vec<u8>) {
    out.push(PASS_THROUGH);
}
