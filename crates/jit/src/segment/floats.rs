//! Float registers. A result that is not finite is left to the first tier, which raises.

use super::state::{Held, Known};
use super::{Segment, trusted};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types as clif};
use heddle_abi::opcodes::Op;
use heddle_beamfile::Operand;
use heddle_term::term::{SMALL_SHIFT, TAG_BOXED};
use heddle_term::{Header, Kind};

const FLOAT: u64 = Header::new(Kind::Float, 1).raw();

impl Segment<'_, '_> {
    fn float(&mut self, register: Operand) -> Value {
        let Operand::FR(f) = register else {
            self.unfit.get_or_insert(super::Unfit("a float register"));
            return self.b.ins().f64const(0.0);
        };
        if let Some(held) = self.state.f.get(&f) {
            return held.value;
        }
        let value = self.b.ins().load(clif::F64, trusted(), self.c, self.plan.host.floats + i32::from(f) * 8);
        self.state.f.insert(f, Held { value, is_new: false });
        value
    }

    fn set_float(&mut self, register: Operand, value: Value) {
        if let Operand::FR(f) = register {
            self.state.f.insert(f, Held { value, is_new: true });
        }
    }

    pub(super) fn move_float(&mut self, from: Operand, to: Operand) {
        match (from, to) {
            (Operand::FR(_), Operand::FR(_)) => {
                let value = self.float(from);
                self.set_float(to, value);
            }
            (Operand::FR(_), _) => {
                let value = self.float(from);
                let term = self.build_float(value);
                self.set(to, term);
            }
            _ => {
                let term = self.get(from);
                let value = self.b.ins().load(clif::F64, trusted(), term, 8 - TAG_BOXED as i32);
                self.set_float(to, value);
            }
        }
    }

    /// A number as a float: small integers here, floats too; large integers are left to the first tier.
    pub(super) fn convert(&mut self, at: usize, from: Operand, to: Operand) {
        let term = self.get(from);
        match self.known(term) {
            Some(Known::Small) => {
                let value = self.small_as_float(term);
                self.set_float(to, value);
            }
            Some(Known::Float) => self.move_float(from, to),
            _ => {
                let (small, other, done) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
                let value = self.b.append_block_param(done, clif::F64);
                let is_small = self.is_small(term);
                self.b.ins().brif(is_small, small, &[], other, &[]);
                self.b.switch_to_block(small);
                let converted = self.small_as_float(term);
                self.b.ins().jump(done, &[converted.into()]);
                self.b.switch_to_block(other);
                let boxed = self.is_boxed(term);
                self.exit_unless(boxed, at);
                let header = self.boxed_word(term, 0);
                let is_float = self.b.ins().icmp_imm_s(IntCC::Equal, header, FLOAT as i64);
                self.exit_unless(is_float, at);
                let loaded = self.b.ins().load(clif::F64, trusted(), term, 8 - TAG_BOXED as i32);
                self.b.ins().jump(done, &[loaded.into()]);
                self.b.switch_to_block(done);
                self.set_float(to, value);
            }
        }
    }

    fn small_as_float(&mut self, term: Value) -> Value {
        let integer = self.b.ins().sshr_imm_u(term, i64::from(SMALL_SHIFT));
        self.b.ins().fcvt_from_sint(clif::F64, integer)
    }

    pub(super) fn float_arithmetic(&mut self, at: usize, o: &[Operand]) {
        let (a, b) = (self.float(o[1]), self.float(o[2]));
        let value = match self.view().instr(at).op {
            Op::Fadd => self.b.ins().fadd(a, b),
            Op::Fsub => self.b.ins().fsub(a, b),
            Op::Fmul => self.b.ins().fmul(a, b),
            _ => self.b.ins().fdiv(a, b),
        };
        self.need_finite(at, value);
        self.set_float(o[3], value);
    }

    /// Goes on if the value is a number that a term can hold; otherwise the first tier raises.
    pub(super) fn need_finite(&mut self, at: usize, value: Value) {
        let size = self.b.ins().fabs(value);
        let infinity = self.b.ins().f64const(f64::INFINITY);
        let is_finite = self.b.ins().fcmp(FloatCC::LessThan, size, infinity);
        self.exit_unless(is_finite, at);
    }

    /// The value of a term that is a float; otherwise the first tier does the instruction.
    pub(super) fn float_of(&mut self, at: usize, term: Value) -> Value {
        if self.known(term) != Some(Known::Float) {
            let boxed = self.is_boxed(term);
            self.exit_unless(boxed, at);
            let header = self.boxed_word(term, 0);
            let is_float = self.b.ins().icmp_imm_s(IntCC::Equal, header, FLOAT as i64);
            self.exit_unless(is_float, at);
        }
        self.b.ins().load(clif::F64, trusted(), term, 8 - TAG_BOXED as i32)
    }

    /// A term for a float, for which there is room.
    pub(super) fn build_float(&mut self, value: Value) -> Value {
        let bits = self.b.ins().bitcast(clif::I64, MemFlagsData::new(), value);
        let header = self.word(FLOAT);
        let term = self.build(&[header, bits], TAG_BOXED);
        self.learn(term, Known::Float);
        term
    }

    pub(super) fn negate_float(&mut self, from: Operand, to: Operand) {
        let value = self.float(from);
        let value = self.b.ins().fneg(value);
        self.set_float(to, value);
    }
}
