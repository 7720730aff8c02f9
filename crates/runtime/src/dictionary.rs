//! The process dictionary: a vector of entries with an open-addressed index once it is large. Entries are dense, so a removal
//! moves the last one into the hole; the index is kept by backward shifts, so no operation costs more as it grows. Keys and
//! values are roots; terms that the collector moves keep their hash (it is computed from the value, not the address).

use heddle_term::Term;
use std::mem::ManuallyDrop;

/// Most processes have none: one word then.
#[derive(Default)]
pub struct Dictionary(Option<ManuallyDrop<Box<Table>>>);

/// By hand: processes come and go, and should not pay for the freeing of what they have not.
impl Drop for Dictionary {
    #[inline]
    fn drop(&mut self) {
        self.clear();
    }
}

#[derive(Default)]
struct Table {
    entries: Vec<(Term, Term)>,
    /// A power of two of slots, at most half of them used; none while there are few entries.
    index: Vec<Slot>,
}

#[derive(Clone, Copy)]
struct Slot {
    /// Position in `entries`, or EMPTY.
    at: u32,
    hash: u32,
}

const EMPTY: Slot = Slot { at: u32::MAX, hash: 0 };

/// Up to here a scan finds keys.
const INDEX_ABOVE: usize = 16;

impl Dictionary {
    #[inline]
    pub fn get(&self, key: Term) -> Option<Term> {
        let table = self.0.as_ref()?;
        table.position(key).map(|i| table.entries[i].1)
    }

    /// The value that was there before.
    pub fn put(&mut self, key: Term, value: Term) -> Option<Term> {
        let table = self.0.get_or_insert_default();
        if let Some(i) = table.position(key) {
            return Some(std::mem::replace(&mut table.entries[i].1, value));
        }
        table.entries.push((key, value));
        table.index_last();
        None
    }

    pub fn erase(&mut self, key: Term) -> Option<Term> {
        self.0.as_mut()?.remove(key)
    }

    #[inline]
    pub fn clear(&mut self) {
        if self.0.is_some() {
            self.drop_table();
        }
    }

    #[cold]
    fn drop_table(&mut self) {
        drop(self.0.take().map(ManuallyDrop::into_inner));
    }
    pub fn len(&self) -> usize {
        self.entries().len()
    }
    pub fn is_empty(&self) -> bool {
        self.entries().is_empty()
    }
    pub fn entries(&self) -> &[(Term, Term)] {
        self.0.as_ref().map_or(&[], |t| &t.entries)
    }
    pub fn for_each_root(&mut self, mut f: impl FnMut(&mut Term)) {
        for (key, value) in self.0.iter_mut().flat_map(|t| &mut t.entries) {
            f(key);
            f(value);
        }
    }
}

impl Table {
    fn position(&self, key: Term) -> Option<usize> {
        if self.index.is_empty() {
            return self.entries.iter().position(|(k, _)| same(*k, key));
        }
        let hash = hash(key);
        let mask = self.index.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            let Slot { at, hash: seen } = self.index[slot];
            if at == EMPTY.at {
                return None;
            }
            if seen == hash && same(self.entries[at as usize].0, key) {
                return Some(at as usize);
            }
            slot = (slot + 1) & mask;
        }
    }

    /// The slot that says `at`; it must be there.
    fn slot_of(&self, at: usize) -> usize {
        let mask = self.index.len() - 1;
        let mut slot = hash(self.entries[at].0) as usize & mask;
        while self.index[slot].at != at as u32 {
            slot = (slot + 1) & mask;
        }
        slot
    }

    fn remove(&mut self, key: Term) -> Option<Term> {
        let at = self.position(key)?;
        if !self.index.is_empty() {
            let last = self.entries.len() - 1;
            let hole = self.slot_of(at);
            let moved = self.slot_of(last);
            self.index[moved].at = at as u32;
            self.close(hole);
        }
        let (_, value) = self.entries.swap_remove(at);
        // An index eight times too large goes; the factor keeps growing and shrinking apart.
        if self.entries.len() * 16 < self.index.len() {
            self.rebuild();
        }
        Some(value)
    }

    /// Empties a slot and moves those behind it up that would not be found any more.
    fn close(&mut self, mut hole: usize) {
        let mask = self.index.len() - 1;
        let mut slot = hole;
        loop {
            slot = (slot + 1) & mask;
            let here = self.index[slot];
            if here.at == EMPTY.at {
                break;
            }
            let home = here.hash as usize & mask;
            // It may move when its home is not between the hole and itself.
            if slot.wrapping_sub(home) & mask >= slot.wrapping_sub(hole) & mask {
                self.index[hole] = here;
                hole = slot;
            }
        }
        self.index[hole] = EMPTY;
    }

    fn index_last(&mut self) {
        if self.entries.len() <= INDEX_ABOVE {
            return;
        }
        if self.entries.len() * 2 > self.index.len() {
            self.rebuild();
        } else {
            self.link(self.entries.len() - 1);
        }
    }

    fn rebuild(&mut self) {
        self.index = Vec::new();
        if self.entries.len() <= INDEX_ABOVE {
            return;
        }
        self.index.resize((self.entries.len() * 4).next_power_of_two(), EMPTY);
        for at in 0..self.entries.len() {
            self.link(at);
        }
    }

    fn link(&mut self, at: usize) {
        let hash = hash(self.entries[at].0);
        let mask = self.index.len() - 1;
        let mut slot = hash as usize & mask;
        while self.index[slot].at != EMPTY.at {
            slot = (slot + 1) & mask;
        }
        self.index[slot] = Slot { at: at as u32, hash };
    }
}

#[inline]
fn same(a: Term, b: Term) -> bool {
    a == b || (a.is_pointer() && b.is_pointer() && heddle_term::order::exact_eq(a, b))
}

#[inline]
fn hash(key: Term) -> u32 {
    let wide = if key.is_immediate() { key.raw().wrapping_mul(0x9e37_79b9_7f4a_7c15) } else { heddle_term::hash::internal_hash(key) };
    (wide >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against a plain list, with many removals in the middle of runs.
    #[test]
    fn behaves_like_a_list_of_pairs() {
        let mut model: Vec<(i64, i64)> = Vec::new();
        let mut tested = Dictionary::default();
        let mut random = 12345u64;
        for round in 0..40_000i64 {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            // Grows, shrinks and grows: the range of keys changes.
            let range = if round / 10_000 % 2 == 0 { 600 } else { 40 };
            let key = (random >> 33) as i64 % range;
            let place = model.iter().position(|p| p.0 == key);
            if random >> 32 & 1 == 0 || round / 10_000 % 2 == 1 && random >> 30 & 1 == 0 {
                let expected = place.map(|i| model.swap_remove(i).1);
                assert_eq!(tested.erase(Term::small(key)), expected.map(Term::small));
            } else {
                let expected = place.map(|i| model[i].1);
                match place {
                    Some(i) => model[i].1 = round,
                    None => model.push((key, round)),
                }
                assert_eq!(tested.put(Term::small(key), Term::small(round)), expected.map(Term::small));
            }
            assert_eq!(tested.len(), model.len());
        }
        for (key, value) in model {
            assert_eq!(tested.get(Term::small(key)), Some(Term::small(value)));
        }
    }
}
