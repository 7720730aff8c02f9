//! `select_val` and `select_tuple_arity`.

use super::Segment;
use super::state::Known;
use super::terms::tuple_header;
use cranelift_codegen::ir::{Block, InstBuilder};
use cranelift_frontend::Switch;
use heddle_beamfile::Operand;
use heddle_term::Term;
use heddle_term::term::SMALL_SHIFT;
use std::collections::HashMap;

/// Maximum number of values that are tried one after the other (guessed).
const LINEAR_MAX: usize = 4;

impl Segment<'_, '_> {
    pub(super) fn select_value(&mut self, value: Operand, otherwise: Operand, pairs: &[Operand]) -> bool {
        let value = self.get(value);
        let mut choices = Vec::new();
        for pair in pairs.chunks_exact(2) {
            let Some(word) = self.constant(pair[0]) else {
                self.fail("a choice that is no constant");
                return false;
            };
            choices.push((word, pair[1]));
        }
        if choices.len() <= LINEAR_MAX {
            for (word, label) in choices {
                let is = self.equals(value, word);
                let next = self.b.create_block();
                let state = self.state.clone();
                if let Some(known) = super::registers::kind_of(Term::from_raw(word)) {
                    self.learn(value, known);
                }
                let chosen = self.block_to(label);
                self.state = state;
                self.b.ins().brif(is, chosen, &[], next, &[]);
                self.b.switch_to_block(next);
            }
            return self.jump(otherwise);
        }
        let are_small = choices.iter().all(|&(word, _)| Term::from_raw(word).is_small());
        let default = self.block_to(otherwise);
        let mut switched = value;
        if are_small && self.known(value) != Some(Known::Small) {
            let small = self.is_small(value);
            self.go_on_if(small, default);
            self.learn(value, Known::Small);
        }
        if are_small {
            switched = self.b.ins().ushr_imm_u(value, i64::from(SMALL_SHIFT));
        }
        let mut switch = Switch::new();
        let mut blocks: HashMap<u32, Block> = HashMap::new();
        for (word, label) in choices {
            let number = if let Operand::Label(label) = label { label } else { 0 };
            let block = *blocks.entry(number).or_insert_with(|| self.block_to(label));
            let entry = if are_small { word >> SMALL_SHIFT } else { word };
            if !switch.entries().contains_key(&u128::from(entry)) {
                switch.set_entry(u128::from(entry), block);
            }
        }
        switch.emit(&mut self.b, switched, default);
        false
    }

    pub(super) fn select_arity(&mut self, value: Operand, otherwise: Operand, pairs: &[Operand]) -> bool {
        let value = self.get(value);
        let default = self.block_to(otherwise);
        if !self.known(value).is_some_and(Known::is_tuple) {
            let boxed = self.is_boxed(value);
            self.go_on_if(boxed, default);
        }
        let word = self.boxed_word(value, 0);
        for pair in pairs.chunks_exact(2) {
            let header = tuple_header(pair[0].number().unwrap_or(0) as usize);
            let is = self.equals(word, header);
            let next = self.b.create_block();
            let state = self.state.clone();
            self.learn(value, Known::TupleOf(header));
            let chosen = self.block_to(pair[1]);
            self.state = state;
            self.b.ins().brif(is, chosen, &[], next, &[]);
            self.b.switch_to_block(next);
        }
        self.b.ins().jump(default, &[]);
        false
    }
}
