//! Tests of types. What a test found is remembered on the way on which it held.

use super::Segment;
use super::state::Known;
use super::terms::tuple_header;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types as clif};
use heddle_abi::opcodes::Op;
use heddle_beamfile::Operand;
use heddle_term::boxed::ARITY_SHIFT;
use heddle_term::term::{IMMEDIATE_MASK, SMALL_MASK, TAG_BOXED, TAG_CONS, TAG_MASK};
use heddle_term::{Atom, Header, Kind, Term};

/// The low byte of a header tells its kind.
const KIND_MASK: u64 = 0xff;

fn kind_byte(kind: Kind) -> u64 {
    Header::new(kind, 0).raw() & KIND_MASK
}

impl Segment<'_, '_> {
    /// True if `value & mask == bits`.
    pub(super) fn has_bits(&mut self, value: Value, mask: u64, bits: u64) -> Value {
        let masked = self.b.ins().band_imm_u(value, mask as i64);
        self.b.ins().icmp_imm_s(IntCC::Equal, masked, bits as i64)
    }

    pub(super) fn is_small(&mut self, value: Value) -> Value {
        self.has_bits(value, SMALL_MASK, 0)
    }

    pub(super) fn is_boxed(&mut self, value: Value) -> Value {
        self.has_bits(value, TAG_MASK, TAG_BOXED)
    }

    pub(super) fn is_atom(&mut self, value: Value) -> Value {
        self.has_bits(value, IMMEDIATE_MASK, Term::atom(Atom::from_index(0)).raw())
    }

    /// Words after a header. Only for headers without more above that number.
    pub(super) fn arity(&mut self, header: Value) -> Value {
        self.b.ins().ushr_imm_u(header, i64::from(ARITY_SHIFT))
    }

    pub(super) fn equals(&mut self, value: Value, word: u64) -> Value {
        let word = self.word(word);
        self.b.ins().icmp(IntCC::Equal, value, word)
    }

    /// Goes on if the value is a boxed term of one of two kinds.
    fn check_kind(&mut self, value: Value, kinds: [Kind; 2], label: Operand) {
        let boxed = self.is_boxed(value);
        self.check(boxed, label);
        let header = self.boxed_word(value, 0);
        let is = self.is_kind(header, kinds);
        self.check(is, label);
    }

    /// Goes on if the value is a bitstring whose size in bits has none of these bits. A match that is passed on is left to the first tier.
    fn check_bits(&mut self, value: Value, odd: u64, label: Operand) {
        let boxed = self.is_boxed(value);
        self.check(boxed, label);
        let header = self.boxed_word(value, 0);
        let size = self.bit_size(value, header, |segment, is_other| {
            let is_match = segment.is_kind(header, [Kind::MatchCtx; 2]);
            let no_match = segment.b.ins().icmp_imm_s(IntCC::Equal, is_match, 0);
            segment.exit_unless(no_match, segment.at);
            segment.check(is_other, label);
        });
        if odd != 0 {
            let is_even = self.has_bits(size, odd, 0);
            self.check(is_even, label);
        }
    }

    /// The size in bits of a bitstring. `need`: goes on if a header that is not of a bitstring on the heap is of another one.
    pub(super) fn bit_size(&mut self, value: Value, header: Value, need: impl FnOnce(&mut Self, Value)) -> Value {
        let (on_heap, other, done) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        let size = self.b.append_block_param(done, clif::I64);
        let is_on_heap = self.is_kind(header, [Kind::HeapBits; 2]);
        self.b.ins().brif(is_on_heap, on_heap, &[], other, &[]);
        self.b.switch_to_block(on_heap);
        let bits = self.boxed_word(value, 1);
        self.b.ins().jump(done, &[bits.into()]);
        self.b.switch_to_block(other);
        let is_other = self.is_kind(header, [Kind::BinRef, Kind::SubBits]);
        need(self, is_other);
        let bits = self.boxed_word(value, 2);
        self.b.ins().jump(done, &[bits.into()]);
        self.b.switch_to_block(done);
        size
    }

    /// True if a header is of one of two kinds, whose numbers differ in one bit or not at all.
    pub(super) fn is_kind(&mut self, header: Value, kinds: [Kind; 2]) -> Value {
        let [a, b] = kinds.map(kind_byte);
        if (a ^ b).count_ones() <= 1 {
            return self.has_bits(header, KIND_MASK & !(a ^ b), a & b);
        }
        let (first, second) = (self.has_bits(header, KIND_MASK, a), self.has_bits(header, KIND_MASK, b));
        self.b.ins().bor(first, second)
    }

    pub(super) fn type_test(&mut self, at: usize, op: Op, o: &[Operand]) {
        let label = o[0];
        let value = self.get(o[1]);
        let known = self.known(value);
        match op {
            Op::IsInteger if known == Some(Known::Small) => {}
            Op::IsInteger => {
                let small = self.is_small(value);
                let view = self.view();
                // Where it is no small integer: a large one, for which the first tier goes on, or no integer at all.
                if view.cell(at).is_none() {
                    return self.fail("a test inside of an operation");
                }
                self.otherwise(small, |segment| {
                    let boxed = segment.is_boxed(value);
                    segment.check(boxed, label);
                    let header = segment.boxed_word(value, 0);
                    let is_big = segment.is_kind(header, [Kind::PosBig, Kind::NegBig]);
                    segment.check(is_big, label);
                    segment.exit(at);
                });
                self.learn(value, Known::Small);
            }
            Op::IsNumber if matches!(known, Some(Known::Small | Known::Float)) => {}
            Op::IsNumber => {
                let small = self.is_small(value);
                self.otherwise(small, |segment| {
                    let boxed = segment.is_boxed(value);
                    segment.check(boxed, label);
                    let header = segment.boxed_word(value, 0);
                    let (big, float) = (segment.is_kind(header, [Kind::PosBig, Kind::NegBig]), segment.is_kind(header, [Kind::Float; 2]));
                    let is = segment.b.ins().bor(big, float);
                    segment.check(is, label);
                    segment.exit(at);
                });
                self.learn(value, Known::Small);
            }
            Op::IsFloat if known == Some(Known::Float) => {}
            Op::IsFloat => {
                self.check_kind(value, [Kind::Float; 2], label);
                self.learn(value, Known::Float);
            }
            Op::IsAtom if known == Some(Known::Atom) => {}
            Op::IsAtom => {
                let is = self.is_atom(value);
                self.check(is, label);
                self.learn(value, Known::Atom);
            }
            Op::IsNil if known == Some(Known::Nil) => {}
            Op::IsNil => {
                let is = self.equals(value, Term::NIL.raw());
                self.check(is, label);
                self.learn(value, Known::Nil);
            }
            Op::IsNonemptyList if known == Some(Known::Cons) => {}
            Op::IsNonemptyList => {
                let is = self.has_bits(value, TAG_MASK, TAG_CONS);
                self.check(is, label);
                self.learn(value, Known::Cons);
            }
            Op::IsList if matches!(known, Some(Known::Cons | Known::Nil)) => {}
            Op::IsList => {
                let cons = self.has_bits(value, TAG_MASK, TAG_CONS);
                let nil = self.equals(value, Term::NIL.raw());
                let is = self.b.ins().bor(cons, nil);
                self.check(is, label);
            }
            Op::IsTuple if known.is_some_and(Known::is_tuple) => {}
            Op::IsTuple => {
                self.check_kind(value, [Kind::Tuple; 2], label);
                self.learn(value, Known::Tuple);
            }
            Op::IsMap => self.check_kind(value, [Kind::FlatMap, Kind::HashMap], label),
            Op::IsBitstr => self.check_bits(value, 0, label),
            Op::IsBinary => self.check_bits(value, 7, label),
            Op::IsFunction => self.check_kind(value, [Kind::Fun, Kind::ExportFun], label),
            Op::IsBoolean => {
                let (yes, no) = (self.equals(value, Term::bool(true).raw()), self.equals(value, Term::bool(false).raw()));
                let is = self.b.ins().bor(yes, no);
                self.check(is, label);
                self.learn(value, Known::Atom);
            }
            _ => self.fail("an instruction without a translation"),
        }
    }

    pub(super) fn test_arity(&mut self, o: &[Operand]) {
        let value = self.get(o[1]);
        let Some(size) = o[2].number() else { return self.fail("an arity") };
        let header = tuple_header(size as usize);
        if self.known(value) == Some(Known::TupleOf(header)) {
            return;
        }
        let word = self.boxed_word(value, 0);
        let is = self.equals(word, header);
        self.check(is, o[0]);
        self.learn(value, Known::TupleOf(header));
    }

    pub(super) fn is_tagged_tuple(&mut self, o: &[Operand]) {
        let value = self.get(o[1]);
        let (Some(size), Some(tag)) = (o[2].number(), self.constant(o[3])) else { return self.fail("a tagged tuple") };
        let header = tuple_header(size as usize);
        let known = self.known(value);
        if !known.is_some_and(Known::is_tuple) {
            let boxed = self.is_boxed(value);
            self.check(boxed, o[0]);
        }
        if known != Some(Known::TupleOf(header)) {
            let word = self.boxed_word(value, 0);
            let is = self.equals(word, header);
            self.check(is, o[0]);
            self.learn(value, Known::TupleOf(header));
        }
        let first = self.boxed_word(value, 1);
        let is = self.equals(first, tag);
        self.check(is, o[0]);
    }

    /// A word that is 1 if the condition holds, otherwise 0, as a term: `true` or `false`.
    pub(super) fn boolean(&mut self, condition: Value) -> Value {
        let (yes, no) = (self.word(Term::bool(true).raw()), self.word(Term::bool(false).raw()));
        let value = self.b.ins().select(condition, yes, no);
        debug_assert!(self.b.func.dfg.value_type(value) == clif::I64);
        self.learn(value, Known::Atom);
        value
    }
}
