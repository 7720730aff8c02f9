//! The process dictionary: an insertion-ordered vector with a hash index once it is large. Keys and values are roots; terms
//! that the collector moves keep their hash (it is computed from the value, not the address).

use heddle_term::Term;

#[derive(Default)]
pub struct Dictionary {
    entries: Vec<(Term, Term)>,
    /// Position + 1 by hash; rebuilt on growth and removal. Empty while small.
    index: Vec<u32>,
}

const INDEX_FROM: usize = 16;

impl Dictionary {
    fn position(&self, key: Term) -> Option<usize> {
        if self.index.is_empty() {
            return self.entries.iter().position(|(k, _)| same(*k, key));
        }
        let mask = self.index.len() - 1;
        let mut at = hash(key) as usize & mask;
        while self.index[at] != 0 {
            let i = self.index[at] as usize - 1;
            if same(self.entries[i].0, key) {
                return Some(i);
            }
            at = (at + 1) & mask;
        }
        None
    }

    pub fn get(&self, key: Term) -> Option<Term> {
        if self.entries.is_empty() {
            return None;
        }
        self.position(key).map(|i| self.entries[i].1)
    }

    pub fn put(&mut self, key: Term, value: Term) -> Option<Term> {
        if let Some(i) = self.position(key) {
            return Some(std::mem::replace(&mut self.entries[i].1, value));
        }
        self.entries.push((key, value));
        if self.entries.len() > INDEX_FROM {
            if self.entries.len() * 2 > self.index.len() {
                self.rebuild();
            } else {
                self.link(self.entries.len() - 1);
            }
        }
        None
    }

    pub fn erase(&mut self, key: Term) -> Option<Term> {
        let i = self.position(key)?;
        let (_, value) = self.entries.swap_remove(i);
        if !self.index.is_empty() {
            self.rebuild();
        }
        Some(value)
    }

    pub fn clear(&mut self) {
        self.entries.clear();
        self.index.clear();
    }
    pub fn len(&self) -> usize {
        self.entries.len()
    }
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
    pub fn entries(&self) -> &[(Term, Term)] {
        &self.entries
    }
    pub fn for_each_root(&mut self, mut f: impl FnMut(&mut Term)) {
        for (key, value) in &mut self.entries {
            f(key);
            f(value);
        }
    }

    fn rebuild(&mut self) {
        if self.entries.len() <= INDEX_FROM {
            self.index = Vec::new();
            return;
        }
        let len = (self.entries.len() * 4).next_power_of_two();
        self.index.clear();
        self.index.resize(len, 0);
        for i in 0..self.entries.len() {
            self.link(i);
        }
    }

    fn link(&mut self, i: usize) {
        let mask = self.index.len() - 1;
        let mut at = hash(self.entries[i].0) as usize & mask;
        while self.index[at] != 0 {
            at = (at + 1) & mask;
        }
        self.index[at] = i as u32 + 1;
    }
}

#[inline]
fn same(a: Term, b: Term) -> bool {
    a == b || (a.is_pointer() && b.is_pointer() && heddle_term::order::exact_eq(a, b))
}

#[inline]
fn hash(key: Term) -> u64 {
    if key.is_immediate() { key.raw().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20 } else { heddle_term::hash::internal_hash(key) }
}
