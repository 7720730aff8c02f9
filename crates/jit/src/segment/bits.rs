//! Matching of bitstrings.

use super::slices::SLICE_WORDS;
use super::state::{Known, Match};
use super::{Segment, trusted};
use crate::analysis::commands::{self, Command, Reading};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types as clif};
use heddle_beamfile::Operand;
use heddle_term::refbin::RefBin;
use heddle_term::term::{SMALL_SHIFT, TAG_BOXED};
use heddle_term::{Header, Kind};

/// Words of a match context: header, start, position, end, original.
const CONTEXT_WORDS: i64 = 5;
const START: i32 = 1;
const AT: i32 = 2;
const END: i32 = 3;
pub(super) const ORIGINAL: i32 = 4;

/// Loads and stores of bytes at any address.
pub(super) fn bytes() -> MemFlagsData {
    MemFlagsData::new().with_notrap()
}

impl Segment<'_, '_> {
    /// What is known of a match that the value is.
    pub(super) fn context(&mut self, context: Value) -> Match {
        if let Some(&known) = self.state.matches.get(&context) {
            return known;
        }
        let known = Match { at: self.boxed_word(context, AT), end: self.boxed_word(context, END), base: None };
        self.state.matches.insert(context, known);
        known
    }

    pub(super) fn move_match(&mut self, context: Value, at: Value) {
        self.exit = None;
        self.b.ins().store(trusted(), at, context, AT * 8 - TAG_BOXED as i32);
        // Another value may be the same context, read from another register.
        self.state.matches.retain(|&other, _| other == context);
        if let Some(known) = self.state.matches.get_mut(&context) {
            known.at = at;
        }
    }

    /// Address of the first byte of the original.
    pub(super) fn bytes_of(&mut self, context: Value) -> Value {
        if let Some(Match { base: Some(base), .. }) = self.state.matches.get(&context) {
            return *base;
        }
        let original = self.boxed_word(context, ORIGINAL);
        let header = self.boxed_word(original, 0);
        let (outside, foreign, done) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        let base = self.b.append_block_param(done, clif::I64);
        let on_heap = self.is_kind(header, [Kind::HeapBits; 2]);
        let inside = self.b.ins().iadd_imm_s(original, 16 - TAG_BOXED as i64);
        self.b.ins().brif(on_heap, done, &[inside.into()], outside, &[]);
        self.b.switch_to_block(outside);
        let layout = RefBin::LAYOUT;
        let block = self.boxed_word(original, 3);
        let used = self.b.ins().load(clif::I64, trusted(), block, layout.used_bits as i32);
        let is_foreign = self.b.ins().icmp_imm_s(IntCC::Equal, used, layout.foreign as i64);
        let first = self.b.ins().iadd_imm_s(block, layout.inside as i64);
        self.b.set_cold_block(foreign);
        self.b.ins().brif(is_foreign, foreign, &[], done, &[first.into()]);
        self.b.switch_to_block(foreign);
        let first = self.b.ins().load(clif::I64, trusted(), block, layout.outside as i32);
        self.b.ins().jump(done, &[first.into()]);
        self.b.switch_to_block(done);
        if let Some(known) = self.state.matches.get_mut(&context) {
            known.base = Some(base);
        }
        base
    }

    /// Address of the byte in which a bit of the original lies.
    pub(super) fn byte_at(&mut self, context: Value, bit: Value) -> Value {
        let base = self.bytes_of(context);
        let index = self.b.ins().ushr_imm_u(bit, 3);
        self.b.ins().iadd(base, index)
    }

    /// The bits from `start` on, 57 at least, as the upper ones of a word. Goes on if eight bytes are there before `end`, from the byte of `start` on.
    pub(super) fn word_at(&mut self, at: usize, context: Value, (start, end): (Value, Value)) -> Value {
        let byte = self.b.ins().band_imm_s(start, !7);
        let room = self.b.ins().isub(end, byte);
        let fits = self.b.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, room, 64);
        self.exit_unless(fits, at);
        let address = self.byte_at(context, start);
        let loaded = self.b.ins().load(clif::I64, bytes(), address, 0);
        let word = self.b.ins().bswap(loaded);
        let shift = self.b.ins().band_imm_u(start, 7);
        self.b.ins().ishl(word, shift)
    }

    pub(super) fn bs_match(&mut self, at: usize, o: &[Operand]) {
        let Some((commands, reading)) = commands::of(&self.view(), o[2]) else { return self.fail("commands of bs_match") };
        let context = self.get(o[1]);
        let Match { at: start, end, .. } = self.context(context);
        if reading == Reading::Bytes {
            // The tail must be whole bytes, too.
            let has_tail = commands.iter().any(|command| matches!(command, Command::Tail { .. }));
            let odd = if has_tail { self.b.ins().bor(start, end) } else { start };
            let is_at_byte = self.has_bits(odd, 7, 0);
            self.exit_unless(is_at_byte, at);
        }
        // Nothing collects from here on.
        let slices = commands.iter().filter(|command| command.is_slice()).count();
        if slices > 0 {
            self.make_room(at, slices as i64 * SLICE_WORDS);
        }
        let mut word = None;
        // Bits taken so far, and the number of them that the context knows of.
        let (mut taken, mut told) = (0, 0);
        for command in commands {
            match command {
                Command::AtLeast { .. } | Command::Exactly { .. } => {
                    if taken != told {
                        let position = self.b.ins().iadd_imm_s(start, taken as i64);
                        self.move_match(context, position);
                        told = taken;
                    }
                    let left = self.b.ins().isub(end, start);
                    self.ensure(left, taken, command, o[0]);
                }
                Command::Skip { .. } => {}
                Command::Slice { to, .. } | Command::Tail { to } => {
                    let from = self.b.ins().iadd_imm_s(start, taken as i64);
                    let size = match command {
                        Command::Slice { bits, .. } => self.word(bits),
                        _ => self.b.ins().isub(end, from),
                    };
                    let term = self.slice(context, from, size);
                    self.set(to, term);
                    self.failed = None;
                }
                Command::Integer { bits, signed, little, to } => {
                    let value = self.field(context, (start, end), reading, &mut word, taken, bits, little);
                    let value = if signed { self.extend_sign(value, bits) } else { value };
                    let term = self.b.ins().ishl_imm_u(value, i64::from(SMALL_SHIFT));
                    self.learn(term, Known::Small);
                    self.set(to, term);
                    // What fails from now on keeps the value.
                    self.failed = None;
                }
                Command::Equal { bits, value } => {
                    let field = self.field(context, (start, end), reading, &mut word, taken, bits, false);
                    let is = self.equals(field, value);
                    let (label, back) = (o[0], taken != told);
                    if back {
                        self.otherwise(is, |segment| {
                            let position = segment.b.ins().iadd_imm_s(start, taken as i64);
                            segment.move_match(context, position);
                            segment.jump(label);
                        });
                    } else {
                        self.check(is, label);
                    }
                }
            }
            taken += command.bits();
        }
        if taken != told {
            let position = self.b.ins().iadd_imm_s(start, taken as i64);
            self.move_match(context, position);
        }
    }

    /// Goes on if there are enough bits. `left`: bits from where the instruction began.
    fn ensure(&mut self, left: Value, taken: u64, command: Command, label: Operand) {
        match command {
            Command::AtLeast { bits, unit } => {
                let wanted = (taken + bits) as i64;
                if bits > 0 {
                    let is = self.b.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, left, wanted);
                    self.check(is, label);
                }
                if unit > 1 {
                    let rest = self.b.ins().iadd_imm_s(left, -wanted);
                    let is = self.has_bits(rest, unit - 1, 0);
                    self.check(is, label);
                }
            }
            Command::Exactly { bits } => {
                let is = self.b.ins().icmp_imm_s(IntCC::Equal, left, (taken + bits) as i64);
                self.check(is, label);
            }
            _ => {}
        }
    }

    /// The unsigned value of a field, `before` bits from where the instruction began. `span`: that place, and the end of the match.
    #[allow(clippy::too_many_arguments)]
    fn field(
        &mut self,
        context: Value,
        span: (Value, Value),
        reading: Reading,
        word: &mut Option<Value>,
        before: u64,
        bits: u64,
        little: bool,
    ) -> Value {
        let (start, end) = span;
        if reading == Reading::Bytes {
            let address = self.byte_at(context, start);
            return self.read_bytes(address, (before / 8) as i32, bits, little);
        }
        let all = match *word {
            Some(all) => all,
            // Nothing was changed yet.
            None => self.word_at(self.at, context, (start, end)),
        };
        *word = Some(all);
        let shifted = self.b.ins().ishl_imm_u(all, before as i64);
        self.b.ins().ushr_imm_u(shifted, 64 - bits as i64)
    }

    /// An unsigned integer of whole bytes.
    fn read_bytes(&mut self, address: Value, offset: i32, bits: u64, little: bool) -> Value {
        // Parts of 4, 2 and 1 bytes, the first ones first.
        let (mut done, mut value) = (0, None);
        for part in [32, 16, 8] {
            while bits - done >= part {
                let at = offset + (done / 8) as i32;
                let piece = match part {
                    32 => self.b.ins().uload32(bytes(), address, at),
                    16 => self.b.ins().uload16(clif::I64, bytes(), address, at),
                    _ => self.b.ins().uload8(clif::I64, bytes(), address, at),
                };
                let piece = if little { piece } else { self.reverse_bytes(piece, part) };
                value = Some(match value {
                    None => piece,
                    Some(before) if little => {
                        let high = self.b.ins().ishl_imm_u(piece, done as i64);
                        self.b.ins().bor(before, high)
                    }
                    Some(before) => {
                        let high = self.b.ins().ishl_imm_u(before, part as i64);
                        self.b.ins().bor(high, piece)
                    }
                });
                done += part;
            }
        }
        value.unwrap_or_else(|| self.word(0))
    }

    /// Reverses the bytes of the low `bits` bits.
    fn reverse_bytes(&mut self, value: Value, bits: u64) -> Value {
        if bits == 8 {
            return value;
        }
        let swapped = self.b.ins().bswap(value);
        self.b.ins().ushr_imm_u(swapped, 64 - bits as i64)
    }

    fn extend_sign(&mut self, value: Value, bits: u64) -> Value {
        let up = self.b.ins().ishl_imm_u(value, 64 - bits as i64);
        self.b.ins().sshr_imm_u(up, 64 - bits as i64)
    }

    /// The position of a match, from where it started.
    pub(super) fn get_position(&mut self, context: Operand, to: Operand) {
        let context = self.get(context);
        let Match { at, .. } = self.context(context);
        let start = self.boxed_word(context, START);
        let position = self.b.ins().isub(at, start);
        let term = self.b.ins().ishl_imm_u(position, i64::from(SMALL_SHIFT));
        self.learn(term, Known::Small);
        self.set(to, term);
    }

    pub(super) fn set_position(&mut self, context: Operand, position: Operand) {
        let (context, position) = (self.get(context), self.get(position));
        let Match { end, .. } = self.context(context);
        let start = self.boxed_word(context, START);
        let bits = self.b.ins().sshr_imm_u(position, i64::from(SMALL_SHIFT));
        let at = self.b.ins().iadd(start, bits);
        let is_inside = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, at, end);
        let at = self.b.ins().select(is_inside, at, end);
        self.move_match(context, at);
    }

    /// `bs_test_tail2`: the number of bits that are left.
    pub(super) fn test_tail(&mut self, o: &[Operand]) {
        let Operand::U(bits) = o[2] else { return self.fail("a number of bits") };
        let left = self.bits_left(o[1]);
        let wanted = self.word(bits);
        let is = self.b.ins().icmp(IntCC::Equal, left, wanted);
        self.check(is, o[0]);
    }

    /// `bs_test_unit`, for a power of two.
    pub(super) fn test_unit(&mut self, o: &[Operand]) {
        let Operand::U(unit) = o[2] else { return self.fail("a unit") };
        let left = self.bits_left(o[1]);
        let is = self.has_bits(left, unit - 1, 0);
        self.check(is, o[0]);
    }

    fn bits_left(&mut self, context: Operand) -> Value {
        let context = self.get(context);
        let Match { at, end, .. } = self.context(context);
        self.b.ins().isub(end, at)
    }

    /// `bs_start_match3` and `bs_start_match4`: a match goes on, or a bitstring gets one.
    pub(super) fn start_match(&mut self, at: usize, fail: Operand, source: Operand, to: Operand) {
        let source = self.get(source);
        let fails = matches!(fail, Operand::Label(label) if label != 0);
        self.need(at, fails.then_some(fail), |segment| segment.is_boxed(source));
        let header = self.boxed_word(source, 0);
        let h = self.heap_top();
        let done = self.b.create_block();
        let [found, top] = [clif::I64; 2].map(|kind| self.b.append_block_param(done, kind));
        let new = self.b.create_block();
        let is_match = self.is_kind(header, [Kind::MatchCtx; 2]);
        self.b.ins().brif(is_match, done, &[source.into(), h.into()], new, &[]);
        self.b.switch_to_block(new);
        self.make_room(at, CONTEXT_WORDS);
        // Of a part of a bitstring: where it begins, its size, the original. Others are their own original.
        let (on_heap, other, part, whole, built) =
            (self.b.create_block(), self.b.create_block(), self.b.create_block(), self.b.create_block(), self.b.create_block());
        let [start, size, original] = [clif::I64; 3].map(|kind| self.b.append_block_param(built, kind));
        let zero = self.word(0);
        let is_on_heap = self.is_kind(header, [Kind::HeapBits; 2]);
        self.b.ins().brif(is_on_heap, on_heap, &[], other, &[]);
        self.b.switch_to_block(on_heap);
        let bits = self.boxed_word(source, 1);
        self.b.ins().jump(built, &[zero.into(), bits.into(), source.into()]);
        self.b.switch_to_block(other);
        self.need(at, fails.then_some(fail), |segment| segment.is_kind(header, [Kind::BinRef, Kind::SubBits]));
        let is_part = self.is_kind(header, [Kind::SubBits; 2]);
        let bits = self.boxed_word(source, 2);
        self.b.ins().brif(is_part, part, &[], whole, &[]);
        self.b.switch_to_block(part);
        let (first, of) = (self.boxed_word(source, 1), self.boxed_word(source, 3));
        self.b.ins().jump(built, &[first.into(), bits.into(), of.into()]);
        self.b.switch_to_block(whole);
        self.b.ins().jump(built, &[zero.into(), bits.into(), source.into()]);
        self.b.switch_to_block(built);
        let header = self.word(Header::new(Kind::MatchCtx, CONTEXT_WORDS as usize - 1).raw());
        let end = self.b.ins().iadd(start, size);
        let context = self.build(&[header, start, start, end, original], TAG_BOXED);
        let after = self.heap_top();
        self.b.ins().jump(done, &[context.into(), after.into()]);
        self.b.switch_to_block(done);
        self.state.h = top;
        self.state.heap_bytes = 0;
        self.set(to, found);
    }

    /// Goes on if the condition holds; otherwise at the label, or, without one, in the first tier.
    fn need(&mut self, at: usize, label: Option<Operand>, condition: impl FnOnce(&mut Self) -> Value) {
        let condition = condition(self);
        match label {
            Some(label) => self.check(condition, label),
            None => self.exit_unless(condition, at),
        }
    }
}
