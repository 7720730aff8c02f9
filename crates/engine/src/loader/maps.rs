//! Emits maps whose keys are known when the code is loaded.

use super::emitter::Emitter;
use crate::ops::maps;
use heddle_beamfile::Operand;
use heddle_term::order::cmp_map_keys;
use heddle_term::{Header, Kind, Term, map};
use std::cmp::Ordering;

impl Emitter<'_> {
    /// Emits `put_map_assoc` to the empty map with keys that are all constants, each once: the tuple of keys is made now. Returns false for
    /// any other instruction. (Operands: label, source, destination, live registers, keys and values.)
    pub fn new_map(&mut self, o: &[Operand], zeal: bool) -> bool {
        let &[_, Operand::Literal(source), dst, live, Operand::List(list)] = o else { return false };
        let source = self.literals[source as usize];
        if !source.is_map() || map::size(source) != 0 {
            return false;
        }
        let mut pairs: Vec<(Term, Operand)> = Vec::new();
        for pair in self.beam.code.list(list).chunks_exact(2) {
            let Some(key) = self.constant(pair[0]) else { return false };
            pairs.push((key, pair[1]));
        }
        pairs.sort_by(|a, b| cmp_map_keys(a.0, b.0));
        if pairs.is_empty() || pairs.len() > map::FLAT_MAX || pairs.windows(2).any(|w| cmp_map_keys(w[0].0, w[1].0) != Ordering::Less) {
            return false;
        }
        let keys: Vec<Term> = pairs.iter().map(|pair| pair.0).collect();
        let keys = self.keep(|heap| heap.tuple(&keys));
        self.zeal(zeal, live);
        self.op(maps::new_map);
        self.cell(Header::new(Kind::FlatMap, 1 + pairs.len()).raw());
        self.cell(keys.raw());
        self.cell(Emitter::number(live));
        self.any(dst);
        self.cell(pairs.len() as u64);
        for (_, value) in pairs {
            self.any(value);
        }
        true
    }
}
