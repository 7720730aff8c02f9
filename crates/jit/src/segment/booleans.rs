//! Guard functions: operators, accessors, and tests whose result is a term.

use super::Segment;
use super::comparisons::Question;
use super::state::Known;
use crate::analysis::guards::{self, Operator};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};
use heddle_beamfile::Operand;
use heddle_term::term::{SMALL_SHIFT, TAG_CONS, TAG_MASK};
use heddle_term::{Header, Kind, Term};

impl Segment<'_, '_> {
    pub(super) fn guard(&mut self, at: usize) {
        let Some((name, arguments, to)) = guards::parts(&self.view(), at) else { return self.fail("a guard") };
        match *arguments {
            [a] => self.guard_1(at, name, a, to),
            [a, b] => self.guard_2(at, name, a, b, to),
            _ => self.fail("a guard"),
        }
    }

    fn guard_1(&mut self, at: usize, name: &str, a: Operand, to: Operand) {
        if name == "-" {
            return self.negate(at, a, to);
        }
        let value = self.get(a);
        let known = self.known(value);
        let result = match name {
            "hd" | "tl" => {
                if known != Some(Known::Cons) {
                    let is = self.has_bits(value, TAG_MASK, TAG_CONS);
                    self.exit_unless(is, at);
                    self.learn(value, Known::Cons);
                }
                let (head, tail) = if name == "hd" { (Some(to), None) } else { (None, Some(to)) };
                return self.get_list(a, head, tail);
            }
            "tuple_size" => {
                self.need_tuple(at, value);
                let size = self.size_of(value);
                let size = self.b.ins().ishl_imm_u(size, i64::from(SMALL_SHIFT));
                self.learn(size, Known::Small);
                size
            }
            // Of small maps, whose header also counts the tuple of the keys; the first tier does the others.
            "map_size" => {
                let boxed = self.is_boxed(value);
                self.exit_unless(boxed, at);
                let header = self.boxed_word(value, 0);
                let is_small = self.is_kind(header, [Kind::FlatMap; 2]);
                self.exit_unless(is_small, at);
                let size = self.arity(header);
                let size = self.b.ins().iadd_imm_s(size, -1);
                let size = self.b.ins().ishl_imm_u(size, i64::from(SMALL_SHIFT));
                self.learn(size, Known::Small);
                size
            }
            "byte_size" => self.byte_size(at, value),
            // Of small integers, and of what is not boxed.
            "is_integer" => {
                let boxed = self.is_boxed(value);
                let other = self.b.ins().icmp_imm_s(IntCC::Equal, boxed, 0);
                self.exit_unless(other, at);
                let is = self.is_small(value);
                self.boolean(is)
            }
            "not" => {
                let (yes, no) = (Term::bool(true).raw(), Term::bool(false).raw());
                let (is_true, is_false) = (self.equals(value, yes), self.equals(value, no));
                let is = self.b.ins().bor(is_true, is_false);
                self.exit_unless(is, at);
                self.boolean(is_false)
            }
            "is_atom" => {
                let is = self.is_atom(value);
                self.boolean(is)
            }
            "is_list" => {
                let (cons, nil) = (self.has_bits(value, TAG_MASK, TAG_CONS), self.equals(value, Term::NIL.raw()));
                let is = self.b.ins().bor(cons, nil);
                self.boolean(is)
            }
            // Of a value that is boxed; the first tier does the others.
            "is_tuple" => {
                let boxed = self.is_boxed(value);
                self.exit_unless(boxed, at);
                let header = self.boxed_word(value, 0);
                let is = self.is_kind(header, [Kind::Tuple; 2]);
                self.boolean(is)
            }
            _ => return self.fail("a guard"),
        };
        self.set(to, result);
    }

    fn guard_2(&mut self, at: usize, name: &str, a: Operand, b: Operand, to: Operand) {
        if let Some(operator) = Operator::of(name) {
            return self.binary_operator(at, operator, a, b, to);
        }
        let (question, swapped, negated) = match name {
            "=:=" => (Question::Same, false, false),
            "=/=" => (Question::Same, false, true),
            "==" => (Question::Equal, false, false),
            "/=" => (Question::Equal, false, true),
            "<" => (Question::Less, false, false),
            ">=" => (Question::Less, false, true),
            ">" => (Question::Less, true, false),
            "=<" => (Question::Less, true, true),
            "and" | "or" => return self.combine(at, name, a, b, to),
            "map_get" | "is_map_key" => {
                let (key, map) = (self.get(a), self.get(b));
                let result = self.look_into(at, name, key, map);
                return self.set(to, result);
            }
            _ => return self.element(at, a, b, to),
        };
        let (mut x, mut y) = (self.get(a), self.get(b));
        if swapped {
            (x, y) = (y, x);
        }
        let mut condition = self.answer(at, question, x, y);
        if negated {
            condition = self.b.ins().icmp_imm_s(IntCC::Equal, condition, 0);
        }
        let value = self.boolean(condition);
        self.set(to, value);
    }

    /// `and` and `or` of two booleans.
    fn combine(&mut self, at: usize, name: &str, a: Operand, b: Operand, to: Operand) {
        let values = [self.get(a), self.get(b)];
        let (yes, no) = (Term::bool(true).raw(), Term::bool(false).raw());
        let mut are_true = Vec::new();
        for value in values {
            let (is_true, is_false) = (self.equals(value, yes), self.equals(value, no));
            let is = self.b.ins().bor(is_true, is_false);
            self.exit_unless(is, at);
            are_true.push(is_true);
        }
        let both = match name {
            "and" => self.b.ins().band(are_true[0], are_true[1]),
            _ => self.b.ins().bor(are_true[0], are_true[1]),
        };
        let value = self.boolean(both);
        self.set(to, value);
    }

    /// The size of a binary of whole bytes. The first tier does the others.
    fn byte_size(&mut self, at: usize, value: Value) -> Value {
        let boxed = self.is_boxed(value);
        self.exit_unless(boxed, at);
        let header = self.boxed_word(value, 0);
        let bits = self.bit_size(value, header, |segment, is_other| segment.exit_unless(is_other, at));
        let is_whole = self.has_bits(bits, 7, 0);
        self.exit_unless(is_whole, at);
        let size = self.b.ins().ishl_imm_u(bits, i64::from(SMALL_SHIFT) - 3);
        self.learn(size, Known::Small);
        size
    }

    /// Goes on if the value is a tuple, otherwise the first tier does the instruction.
    fn need_tuple(&mut self, at: usize, value: Value) {
        if self.known(value).is_some_and(Known::is_tuple) {
            return;
        }
        let boxed = self.is_boxed(value);
        self.exit_unless(boxed, at);
        let header = self.boxed_word(value, 0);
        let is = self.is_kind(header, [Kind::Tuple; 2]);
        self.exit_unless(is, at);
        self.learn(value, Known::Tuple);
    }

    /// `element(N, Tuple)`
    fn element(&mut self, at: usize, index: Operand, tuple: Operand, to: Operand) {
        let value = self.get(tuple);
        let Some(index) = self.small_constant(index).and_then(|index| i32::try_from(index).ok()).filter(|&index| index > 0) else {
            return self.any_element(at, index, value, to);
        };
        self.need_tuple(at, value);
        let size = match self.known(value) {
            Some(Known::TupleOf(header)) => Some(Header::from_raw(header).arity() as i64),
            _ => None,
        };
        if size.is_none_or(|size| size < i64::from(index)) {
            let size = self.size_of(value);
            let is_inside = self.b.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, size, i64::from(index));
            self.exit_unless(is_inside, at);
        }
        let element = self.boxed_word(value, index);
        self.set(to, element);
    }

    /// `element(N, Tuple)` with a number that is not known now.
    fn any_element(&mut self, at: usize, index: Operand, tuple: Value, to: Operand) {
        let index = self.get(index);
        self.need_smalls(at, &[index]);
        self.need_tuple(at, tuple);
        let size = self.size_of(tuple);
        let index = self.b.ins().sshr_imm_u(index, i64::from(SMALL_SHIFT));
        let before = self.b.ins().iadd_imm_s(index, -1);
        let is_inside = self.b.ins().icmp(IntCC::UnsignedLessThan, before, size);
        self.exit_unless(is_inside, at);
        let offset = self.b.ins().ishl_imm_u(index, 3);
        let address = self.b.ins().iadd(tuple, offset);
        let element = self.boxed_word(address, 0);
        self.set(to, element);
    }

    /// The number of elements of a tuple.
    fn size_of(&mut self, tuple: Value) -> Value {
        let header = self.boxed_word(tuple, 0);
        self.arity(header)
    }
}
