//! The process dictionary: a vector of entries with an open-addressed index once it is large. Entries are dense, so a removal
//! moves the last one into the hole; the index is kept by backward shifts, so no operation costs more as it grows. Keys and
//! values are roots; terms that the collector moves keep their hash (it is computed from the value, not the address).

use heddle_term::Term;
use std::mem::ManuallyDrop;

/// One word, since most processes have none.
#[derive(Default)]
pub struct Dictionary(Option<ManuallyDrop<Box<Table>>>);

/// Written by hand: processes come and go, and should not pay for freeing an empty dictionary.
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
    pub fn entries(&self) -> &[(Term, Term)] {
        self.0.as_ref().map_or(&[], |t| &t.entries)
    }
    pub(crate) fn for_each_root(&mut self, mut f: impl FnMut(&mut Term)) {
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

    /// The slot that holds `at`, which must exist.
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
        // An index that is eight times too large is freed; the factor keeps growing and shrinking apart.
        if self.entries.len() * 16 < self.index.len() {
            self.rebuild();
        }
        Some(value)
    }

    /// Empties a slot, and moves up the following ones that would not be found any more.
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
            // A slot may move if its home is not between the hole and itself.
            if slot.wrapping_sub(home) & mask >= slot.wrapping_sub(hole) & mask {
                self.index[hole] = here;
                hole = slot;
            }
        }
        self.index[hole] = EMPTY;
    }

    /// An index stays while removals make the entries few. So this asks whether there is one, not how many entries there are.
    fn index_last(&mut self) {
        if self.index.is_empty() && self.entries.len() <= INDEX_ABOVE {
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
impl Dictionary {
    pub(crate) fn check(&self) {
        self.0.iter().for_each(|table| table.check());
    }
}

#[cfg(test)]
impl Table {
    /// Every entry has one slot, which a search from its home finds, and there are no other slots.
    fn check(&self) {
        if self.index.is_empty() {
            assert!(self.entries.len() <= INDEX_ABOVE);
            return;
        }
        assert!(self.index.len().is_power_of_two() && self.entries.len() * 2 <= self.index.len());
        assert!(self.entries.len() * 16 >= self.index.len(), "an index much too large");
        assert_eq!(self.index.iter().filter(|slot| slot.at != EMPTY.at).count(), self.entries.len());
        for (at, &(key, _)) in self.entries.iter().enumerate() {
            assert_eq!(self.position(key), Some(at));
            assert_eq!(self.index[self.slot_of(at)].hash, hash(key));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The next number of a sequence, from 0 to `below - 1`.
    fn draw(state: &mut u64, below: u64) -> u64 {
        *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (*state >> 33) % below
    }

    /// `steps` random operations beside a plain list. The number of entries that it tends to goes up and down, over each size at
    /// which an index is made, grows and is freed. `key` makes a key from a number.
    fn compare(seed: u64, steps: u64, key: impl Fn(u64) -> Term) {
        let sizes = [3, 17, 7, 16, 40, 5, 130, 9, 18, 300, 12, 0];
        let mut random = seed;
        let mut model: Vec<(u64, u64)> = Vec::new();
        let mut tested = Dictionary::default();
        let mut wanted = 0;
        for step in 0..steps {
            if step % 400 == 0 {
                wanted = sizes[draw(&mut random, sizes.len() as u64) as usize];
            }
            let number = draw(&mut random, 2 * wanted as u64 + 4);
            let place = model.iter().position(|p| p.0 == number);
            // Goes some way beyond the wanted size, so that it is crossed again and again.
            let adds = if model.len() < wanted { 7 } else { 2 };
            match draw(&mut random, 10) {
                dice if dice < adds => {
                    assert_eq!(tested.put(key(number), Term::small(step as i64)), place.map(|i| Term::small(model[i].1 as i64)));
                    match place {
                        Some(i) => model[i].1 = step,
                        None => model.push((number, step)),
                    }
                }
                9 => assert_eq!(tested.get(key(number)), place.map(|i| Term::small(model[i].1 as i64))),
                _ => {
                    // Mostly a key that is there.
                    let number = if model.is_empty() { number } else { model[draw(&mut random, model.len() as u64) as usize].0 };
                    let place = model.iter().position(|p| p.0 == number);
                    let expected = place.map(|i| Term::small(model.swap_remove(i).1 as i64));
                    assert_eq!(tested.erase(key(number)), expected);
                }
            }
            if draw(&mut random, 5_000) == 0 {
                tested.clear();
                model.clear();
            }
            // The order is that of the list: both fill a hole with the last entry.
            let entries = tested.entries().iter().map(|e| e.1);
            assert!(entries.eq(model.iter().map(|e| Term::small(e.1 as i64))), "seed {seed}, step {step}");
            if let Some(table) = &tested.0 {
                table.check();
            }
        }
    }

    #[test]
    fn behaves_like_a_list_of_pairs_at_all_sizes() {
        for seed in 0..10 {
            compare(seed, 4_000, |number| Term::small(number as i64));
        }
    }

    /// Keys with the same home, so that searches and removals go through long runs that wrap around.
    #[test]
    fn behaves_so_with_colliding_keys() {
        let keys: Vec<Term> = (0i64..).map(Term::small).filter(|&k| hash(k) & 255 > 253).take(700).collect();
        for seed in 0..10 {
            compare(seed, 2_000, |number| keys[number as usize]);
        }
    }

    #[test]
    fn what_is_put_is_found_where_removals_made_the_entries_few() {
        let mut tested = Dictionary::default();
        let small = |n: i64| Term::small(n);
        (1..=17).for_each(|n| assert_eq!(tested.put(small(n), small(n)), None));
        (10..=17).for_each(|n| assert_eq!(tested.erase(small(n)), Some(small(n))));
        assert_eq!(tested.put(small(99), small(1)), None);
        assert_eq!(tested.get(small(99)), Some(small(1)));
        assert_eq!(tested.erase(small(99)), Some(small(1)));
        assert_eq!(tested.entries().len(), 9);
    }
}
