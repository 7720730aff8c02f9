//! `select_val` and `select_tuple_arity`: linear for few values, jump table for dense small integers, binary search otherwise.

use crate::loader::emitter::Emitter;
use crate::ops::{data, tests};
use crate::source;
use heddle_beamfile::{BeamError, Operand};
use heddle_term::Term;

/// Maximum number of values that are tried one after the other (guessed).
const LINEAR_MAX: usize = 4;

impl Emitter<'_> {
    pub fn select_val(&mut self, o: &[Operand]) -> Result<(), BeamError> {
        let Operand::List(list) = o[2] else { return Ok(()) };
        let default = Emitter::label_of(o[1]);
        let mut pairs: Vec<(Term, u32)> = Vec::new();
        for pair in self.beam.code.list(list).chunks_exact(2) {
            let value = self.constant(pair[0]).unwrap_or(Term::NIL);
            pairs.push((value, Emitter::label_of(pair[1])));
        }
        let s = self.place(o[0]);
        if pairs.iter().any(|(value, _)| value.is_pointer()) {
            self.op(tests::select_exact);
            self.any(o[0]);
            self.pairs(default, &pairs);
            return Ok(());
        }
        if pairs.len() > LINEAR_MAX && pairs.iter().all(|(value, _)| value.is_small()) {
            let low = pairs.iter().map(|(v, _)| v.small_value()).min().unwrap_or(0);
            let high = pairs.iter().map(|(v, _)| v.small_value()).max().unwrap_or(0);
            let span = high.wrapping_sub(low) as u64;
            if span < pairs.len() as u64 * 3 {
                self.op(source!(s, S => tests::select_jump::<S>));
                self.cell(s.cell());
                self.label(default);
                self.cell(low as u64);
                self.cell(span + 1);
                for value in low..=high {
                    let label = pairs.iter().find(|(v, _)| v.small_value() == value).map_or(default, |(_, label)| *label);
                    self.label(label);
                }
                return Ok(());
            }
        }
        if pairs.len() <= LINEAR_MAX {
            self.op(source!(s, S => tests::select_linear::<S>));
        } else {
            pairs.sort_by_key(|(value, _)| value.raw());
            self.op(source!(s, S => tests::select_binary::<S>));
        }
        self.cell(s.cell());
        self.pairs(default, &pairs);
        Ok(())
    }

    fn pairs(&mut self, default: u32, pairs: &[(Term, u32)]) {
        self.label(default);
        self.cell(pairs.len() as u64);
        for &(value, label) in pairs {
            self.cell(value.raw());
            self.label(label);
        }
    }

    pub fn select_arity(&mut self, o: &[Operand]) -> Result<(), BeamError> {
        let Operand::List(list) = o[2] else { return Ok(()) };
        let s = self.place(o[0]);
        self.op(source!(s, S => tests::select_arity::<S>));
        self.cell(s.cell());
        self.label(Emitter::label_of(o[1]));
        let pairs = self.beam.code.list(list);
        self.cell(pairs.len() as u64 / 2);
        for pair in pairs.chunks_exact(2) {
            self.cell(data::tuple_header(Emitter::number(pair[0]) as usize));
            self.label(Emitter::label_of(pair[1]));
        }
        Ok(())
    }
}
