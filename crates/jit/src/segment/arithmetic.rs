//! Arithmetic with small integers whose result is one. The first tier does all else.

use super::Segment;
use super::state::Known;
use crate::analysis::guards::Operator;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types as clif};
use heddle_beamfile::{Operand, ValueType};
use heddle_term::Term;
use heddle_term::term::{SMALL_MASK, SMALL_SHIFT};

/// Shifts by more bits are left to the first tier.
const MAX_SHIFT: i64 = 59;

impl Segment<'_, '_> {
    pub(super) fn binary_operator(&mut self, at: usize, operator: Operator, a: Operand, b: Operand, to: Operand) {
        let constant = self.small_constant(b);
        let (x, y) = (self.get(a), self.get(b));
        if matches!(operator, Operator::Add | Operator::Sub | Operator::Mul) && self.may_be_floats(a, x, b, y) {
            return self.number_operator(at, operator, x, y, to);
        }
        self.need_smalls(at, &[x, y]);
        let value = match operator {
            Operator::Add | Operator::Sub => self.sum(at, operator, x, y, constant),
            Operator::Mul => self.multiply(at, x, y),
            Operator::Div | Operator::Rem => self.divide(at, operator, x, y, constant),
            Operator::And => self.b.ins().band(x, y),
            Operator::Or => self.b.ins().bor(x, y),
            Operator::Xor => self.b.ins().bxor(x, y),
            Operator::Left => self.shift_left(at, x, y, constant),
            Operator::Right => self.shift_right(at, x, y, constant),
        };
        self.learn(value, Known::Small);
        self.set(to, value);
    }

    /// True if both may be floats, as far as the compiler and the code before know.
    fn may_be_floats(&self, a: Operand, x: Value, b: Operand, y: Value) -> bool {
        let view = self.view();
        let may = |operand: Operand, value: Value| match (self.known(value), operand) {
            (Some(known), _) => known == Known::Float,
            (None, Operand::Typed { type_index, .. }) => view.source.beam.value_type(type_index).kinds & ValueType::FLOAT != 0,
            _ => true,
        };
        may(a, x) && may(b, y)
    }

    /// An operator on two small integers, or on two floats. The first tier does all else.
    fn number_operator(&mut self, at: usize, operator: Operator, x: Value, y: Value, to: Operand) {
        let h = self.heap_top();
        let (integers, floats, done) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        let [result, top] = [clif::I64; 2].map(|kind| self.b.append_block_param(done, kind));
        let is_float = [x, y].iter().any(|&value| self.known(value) == Some(Known::Float));
        if is_float {
            self.b.ins().jump(floats, &[]);
        } else {
            let bits = self.b.ins().bor(x, y);
            let small = self.is_small(bits);
            self.b.ins().brif(small, integers, &[], floats, &[]);
            self.b.switch_to_block(integers);
            let value = match operator {
                Operator::Add | Operator::Sub => self.sum(at, operator, x, y, None),
                _ => self.multiply(at, x, y),
            };
            self.b.ins().jump(done, &[value.into(), h.into()]);
        }
        // Exits are not shared between the two ways: neither dominates the other.
        self.exit = None;
        self.b.switch_to_block(floats);
        let (a, b) = (self.float_of(at, x), self.float_of(at, y));
        let value = match operator {
            Operator::Add => self.b.ins().fadd(a, b),
            Operator::Sub => self.b.ins().fsub(a, b),
            _ => self.b.ins().fmul(a, b),
        };
        self.need_finite(at, value);
        self.make_room(at, 2);
        let term = self.build_float(value);
        let after = self.heap_top();
        self.b.ins().jump(done, &[term.into(), after.into()]);
        self.b.switch_to_block(done);
        self.exit = None;
        self.state.h = top;
        self.state.heap_bytes = 0;
        self.set(to, result);
    }

    fn multiply(&mut self, at: usize, x: Value, y: Value) -> Value {
        let y = self.b.ins().sshr_imm_u(y, i64::from(SMALL_SHIFT));
        let (product, overflow) = self.b.ins().smul_overflow(x, y);
        self.exit_if(overflow, at);
        product
    }

    /// `-X`
    pub(super) fn negate(&mut self, at: usize, a: Operand, to: Operand) {
        let x = self.get(a);
        let zero = self.word(Term::small(0).raw());
        self.learn(zero, Known::Small);
        self.need_smalls(at, &[x, zero]);
        let value = self.sum(at, Operator::Sub, zero, x, None);
        self.learn(value, Known::Small);
        self.set(to, value);
    }

    fn exit_if(&mut self, condition: Value, at: usize) {
        let holds = self.b.ins().icmp_imm_s(IntCC::Equal, condition, 0);
        self.exit_unless(holds, at);
    }

    /// `operator`: `Add` or `Sub`.
    fn sum(&mut self, at: usize, operator: Operator, x: Value, y: Value, constant: Option<i64>) -> Value {
        let is_add = operator == Operator::Add;
        let Some(constant) = constant else {
            let (value, overflow) = if is_add { self.b.ins().sadd_overflow(x, y) } else { self.b.ins().ssub_overflow(x, y) };
            self.exit_if(overflow, at);
            return value;
        };
        let value = if is_add { self.b.ins().iadd(x, y) } else { self.b.ins().isub(x, y) };
        // On which side of `x` it is, if it fits.
        let side = match (is_add, constant >= 0) {
            (true, true) => IntCC::SignedGreaterThanOrEqual,
            (true, false) => IntCC::SignedLessThan,
            (false, true) => IntCC::SignedLessThanOrEqual,
            (false, false) => IntCC::SignedGreaterThan,
        };
        let fits = self.b.ins().icmp(side, value, x);
        self.exit_unless(fits, at);
        value
    }

    fn divide(&mut self, at: usize, operator: Operator, x: Value, y: Value, constant: Option<i64>) -> Value {
        // Division by -1 alone can leave the small integers.
        match constant {
            Some(0 | -1) => {
                let never = self.b.ins().iconst(clif::I8, 0);
                self.exit_unless(never, at);
            }
            Some(_) => {}
            None => {
                let one_more = self.b.ins().iadd_imm_s(y, 1 << SMALL_SHIFT);
                let fits = self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThan, one_more, 1 << SMALL_SHIFT);
                self.exit_unless(fits, at);
            }
        }
        let shift = i64::from(SMALL_SHIFT);
        let x = self.b.ins().sshr_imm_u(x, shift);
        let y = match constant {
            // In code that is never reached.
            Some(0 | -1) => self.word(1),
            Some(constant) => self.word(constant as u64),
            None => self.b.ins().sshr_imm_u(y, shift),
        };
        let value = match operator {
            Operator::Div => self.b.ins().sdiv(x, y),
            _ => self.b.ins().srem(x, y),
        };
        self.b.ins().ishl_imm_u(value, shift)
    }

    fn shift_left(&mut self, at: usize, x: Value, y: Value, constant: Option<i64>) -> Value {
        let count = match constant {
            Some(count @ 0..=MAX_SHIFT) => self.word(count as u64),
            _ => {
                // Negative counts are large unsigned ones.
                let fits = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThanOrEqual, y, MAX_SHIFT << SMALL_SHIFT);
                self.exit_unless(fits, at);
                self.b.ins().sshr_imm_u(y, i64::from(SMALL_SHIFT))
            }
        };
        let shifted = self.b.ins().ishl(x, count);
        let back = self.b.ins().sshr(shifted, count);
        let fits = self.b.ins().icmp(IntCC::Equal, back, x);
        self.exit_unless(fits, at);
        shifted
    }

    fn shift_right(&mut self, at: usize, x: Value, y: Value, constant: Option<i64>) -> Value {
        let count = match constant {
            Some(count @ 0..=MAX_SHIFT) => self.word(count as u64),
            _ => {
                let fits = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThanOrEqual, y, MAX_SHIFT << SMALL_SHIFT);
                self.exit_unless(fits, at);
                self.b.ins().sshr_imm_u(y, i64::from(SMALL_SHIFT))
            }
        };
        let shifted = self.b.ins().sshr(x, count);
        self.b.ins().band_imm_s(shifted, !(SMALL_MASK as i64))
    }
}
