//! The keys of a model, from which any can be picked.

use std::collections::HashMap;
use std::hash::Hash;

/// A set of keys beside a model's map: picking one takes the same time however many there are, where a map would be walked over up to it.
/// The order depends on the insertions and removals alone, so that a seed leads to the same picks each time.
pub struct Picker<K> {
    keys: Vec<K>,
    /// Where each key stands in `keys`.
    places: HashMap<K, usize>,
}

impl<K: Copy + Eq + Hash> Picker<K> {
    pub fn new() -> Picker<K> {
        Picker { keys: Vec::new(), places: HashMap::new() }
    }

    /// A key that is there already stays where it is.
    pub fn insert(&mut self, key: K) {
        let end = self.keys.len();
        if *self.places.entry(key).or_insert(end) == end {
            self.keys.push(key);
        }
    }

    /// The last key takes its place. True if it was there.
    pub fn remove(&mut self, key: K) -> bool {
        let Some(place) = self.places.remove(&key) else { return false };
        self.keys.swap_remove(place);
        if let Some(&moved) = self.keys.get(place) {
            self.places.insert(moved, place);
        }
        true
    }

    /// One of the keys, by any number; none if there is no key.
    pub fn pick(&self, which: u64) -> Option<K> {
        self.keys.get(which as usize % self.keys.len().max(1)).copied()
    }

    /// All keys, in the order of picking.
    pub fn keys(&self) -> &[K] {
        &self.keys
    }

    /// Removes the keys for which `stays` is false.
    pub fn retain(&mut self, mut stays: impl FnMut(K) -> bool) {
        for key in self.keys.clone() {
            if !stays(key) {
                self.remove(key);
            }
        }
    }
}

impl<K: Copy + Eq + Hash> Default for Picker<K> {
    fn default() -> Picker<K> {
        Picker::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;
    use std::collections::BTreeSet;

    #[test]
    fn each_key_is_picked_by_one_number_and_no_other() {
        let (mut picker, mut set, mut random) = (Picker::new(), BTreeSet::new(), Random::new(1));
        for _ in 0..2000 {
            let key = random.below(20);
            if random.chance(50) {
                picker.insert(key);
                set.insert(key);
            } else {
                assert_eq!(picker.remove(key), set.remove(&key));
            }
            let size = set.len() as u64;
            let picked: Vec<u64> = (size..2 * size).filter_map(|which| picker.pick(which)).collect();
            assert_eq!(picked, picker.keys());
            assert!(picked.len() == set.len() && picked.into_iter().collect::<BTreeSet<u64>>() == set);
        }
        picker.retain(|key| key % 2 == 0);
        set.retain(|key| key % 2 == 0);
        assert_eq!(picker.keys().iter().copied().collect::<BTreeSet<u64>>(), set);
        assert_eq!(Picker::<u64>::new().pick(7), None);
    }
}
