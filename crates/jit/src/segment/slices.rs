//! Fields of a match whose sizes are known at run time only, and parts of bitstrings.

use super::bits::{ORIGINAL, bytes};
use super::state::{Known, Match};
use super::{Segment, trusted};
use crate::analysis::sizes;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Type, Value, types as clif};
use heddle_beamfile::Operand;
use heddle_term::boxed::HEAP_BITS_MAX_BYTES;
use heddle_term::term::{SMALL_SHIFT, TAG_BOXED};
use heddle_term::{Header, Kind};

/// Words that a slice takes at most: header, size, and the bytes.
pub(super) const SLICE_WORDS: i64 = 2 + HEAP_BITS_MAX_BYTES as i64 / 8;
/// Words of a part that refers to its original: header, start, size, original.
pub(super) const SUB_WORDS: usize = 4;
/// Larger sizes are left to the first tier.
const MAX_SIZE: i64 = 1 << 40;
/// An integer of at most as many bits is in a word from any bit on, and small.
const MAX_INTEGER_BITS: i64 = 56;

impl Segment<'_, '_> {
    /// `size` bits of a match's original, from bit `from` on, both whole bytes. Small ones are copied: a part would keep all of the original alive.
    /// There are `SLICE_WORDS` words for it.
    pub(super) fn slice(&mut self, context: Value, from: Value, size: Value) -> Value {
        let original = self.boxed_word(context, ORIGINAL);
        let h = self.heap_top();
        let source = self.byte_at(context, from);
        let (part, copy, done) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        let [term, top] = [clif::I64; 2].map(|kind| self.b.append_block_param(done, kind));
        let is_large = self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThan, size, HEAP_BITS_MAX_BYTES as i64 * 8);
        self.b.ins().brif(is_large, part, &[], copy, &[]);

        self.b.switch_to_block(part);
        let large = self.build_part(from, size, original);
        self.state.heap_bytes = 0;
        let after = self.b.ins().iadd_imm_s(h, SUB_WORDS as i64 * 8);
        self.b.ins().jump(done, &[large.into(), after.into()]);

        self.b.switch_to_block(copy);
        let up = self.b.ins().iadd_imm_s(size, 63);
        let words = self.b.ins().ushr_imm_u(up, 6);
        let count = self.b.ins().ishl_imm_u(words, 3);
        let last = self.b.ins().iadd(h, count);
        // The bytes after the last one; of an empty bitstring this is the word that the size takes.
        let zero = self.word(0);
        self.b.ins().store(trusted(), zero, last, 8);
        let more = self.b.ins().ishl_imm_u(words, 8);
        let header = self.b.ins().iadd_imm_s(more, Header::new(Kind::HeapBits, 1).raw() as i64);
        self.b.ins().store(trusted(), header, h, 0);
        self.b.ins().store(trusted(), size, h, 8);
        let target = self.b.ins().iadd_imm_s(h, 16);
        let length = self.b.ins().ushr_imm_u(size, 3);
        self.copy_few(source, target, length);
        let small = self.b.ins().iadd_imm_s(h, TAG_BOXED as i64);
        let after = self.b.ins().iadd_imm_s(last, 16);
        self.b.ins().jump(done, &[small.into(), after.into()]);

        self.b.switch_to_block(done);
        self.state.h = top;
        self.state.heap_bytes = 0;
        term
    }

    /// A part of a bitstring, which refers to its original. The words are there.
    pub(super) fn build_part(&mut self, start: Value, size: Value, original: Value) -> Value {
        let header = self.word(Header::new(Kind::SubBits, SUB_WORDS - 1).raw());
        self.build(&[header, start, size, original], TAG_BOXED)
    }

    /// Copies few bytes. None outside of the two ranges is read or written.
    fn copy_few(&mut self, from: Value, to: Value, count: Value) {
        let done = self.b.create_block();
        let (words, less) = (self.b.create_block(), self.b.create_block());
        let has_word = self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, count, 8);
        self.b.ins().brif(has_word, words, &[], less, &[]);
        // Words, and then the last eight bytes.
        self.b.switch_to_block(words);
        let rest = self.b.ins().iadd_imm_s(count, -8);
        self.copy_words(bytes(), (from, 0), (to, 0), rest);
        self.copy_piece(clif::I64, from, to, rest);
        self.b.ins().jump(done, &[]);
        // The first and the last half, which overlap.
        self.b.switch_to_block(less);
        let less = self.copy_ends(clif::I32, 4, (from, to, count), done);
        self.b.switch_to_block(less);
        let less = self.copy_ends(clif::I16, 2, (from, to, count), done);
        self.b.switch_to_block(less);
        let one = self.b.create_block();
        self.b.ins().brif(count, one, &[], done, &[]);
        self.b.switch_to_block(one);
        let zero = self.word(0);
        self.copy_piece(clif::I8, from, to, zero);
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(done);
    }

    /// If there are as many bytes as a piece has, copies the first and the last piece. Returns the block for fewer bytes.
    fn copy_ends(&mut self, piece: Type, size: i64, (from, to, count): (Value, Value, Value), done: Block) -> Block {
        let (copy, less) = (self.b.create_block(), self.b.create_block());
        let is_enough = self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, count, size);
        self.b.ins().brif(is_enough, copy, &[], less, &[]);
        self.b.switch_to_block(copy);
        let last = self.b.ins().iadd_imm_s(count, -size);
        let zero = self.word(0);
        self.copy_piece(piece, from, to, zero);
        self.copy_piece(piece, from, to, last);
        self.b.ins().jump(done, &[]);
        less
    }

    fn copy_piece(&mut self, piece: Type, from: Value, to: Value, at: Value) {
        let source = self.b.ins().iadd(from, at);
        let value = self.b.ins().load(piece, bytes(), source, 0);
        let target = self.b.ins().iadd(to, at);
        self.b.ins().store(bytes(), value, target, 0);
    }

    /// The bits of a field, which are there. Otherwise the match fails. Sizes that are no small integers are left to the first tier.
    fn field_size(&mut self, at: usize, left: Value, size: Operand, unit: Operand, label: Operand) -> Value {
        let Operand::U(unit) = unit else {
            self.fail("a unit");
            return left;
        };
        if sizes::is_all(&self.view(), size) {
            if unit > 1 {
                let whole = self.has_bits(left, unit - 1, 0);
                self.check(whole, label);
            }
            return left;
        }
        let bits = match self.small_constant(size) {
            Some(size) if size <= MAX_SIZE => self.word(size as u64 * unit),
            _ => {
                let size = self.get(size);
                self.need_smalls(at, &[size]);
                // Negative ones are large unsigned ones.
                let simple = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThanOrEqual, size, MAX_SIZE << SMALL_SHIFT);
                self.exit_unless(simple, at);
                let size = self.b.ins().ushr_imm_u(size, i64::from(SMALL_SHIFT));
                self.b.ins().imul_imm_s(size, unit as i64)
            }
        };
        let fits = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, bits, left);
        self.check(fits, label);
        bits
    }

    /// `bs_skip_bits2`
    pub(super) fn skip_bits(&mut self, at: usize, o: &[Operand]) {
        let context = self.get(o[1]);
        let Match { at: position, end, .. } = self.context(context);
        let left = self.b.ins().isub(end, position);
        let bits = self.field_size(at, left, o[2], o[3], o[0]);
        let after = self.b.ins().iadd(position, bits);
        self.move_match(context, after);
    }

    /// `bs_get_binary2`
    pub(super) fn get_binary(&mut self, at: usize, o: &[Operand]) {
        let context = self.get(o[1]);
        let Match { at: position, end, .. } = self.context(context);
        let left = self.b.ins().isub(end, position);
        let bits = self.field_size(at, left, o[3], o[4], o[0]);
        let odd = self.b.ins().bor(position, bits);
        let whole = self.has_bits(odd, 7, 0);
        self.exit_unless(whole, at);
        self.make_room(at, SLICE_WORDS);
        let term = self.slice(context, position, bits);
        let after = self.b.ins().iadd(position, bits);
        self.move_match(context, after);
        self.set(o[6], term);
    }

    /// `bs_get_integer2` with a size in a register: an unsigned integer that is small, in a word that can be read as a whole.
    pub(super) fn get_integer(&mut self, at: usize, o: &[Operand]) {
        let context = self.get(o[1]);
        let Match { at: position, end, .. } = self.context(context);
        let left = self.b.ins().isub(end, position);
        let bits = self.field_size(at, left, o[3], o[4], o[0]);
        let less = self.b.ins().iadd_imm_s(bits, -1);
        let is_small = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, less, MAX_INTEGER_BITS);
        self.exit_unless(is_small, at);
        let word = self.word_at(at, context, (position, end));
        // 64 less the bits, as shifts count.
        let back = self.b.ins().ineg(bits);
        let value = self.b.ins().ushr(word, back);
        let term = self.b.ins().ishl_imm_u(value, i64::from(SMALL_SHIFT));
        let after = self.b.ins().iadd(position, bits);
        self.move_match(context, after);
        self.learn(term, Known::Small);
        self.set(o[6], term);
    }

    /// `bs_get_tail`
    pub(super) fn get_tail(&mut self, at: usize, context: Operand, to: Operand) {
        let context = self.get(context);
        let Match { at: position, end, .. } = self.context(context);
        let odd = self.b.ins().bor(position, end);
        let whole = self.has_bits(odd, 7, 0);
        self.exit_unless(whole, at);
        self.make_room(at, SLICE_WORDS);
        let left = self.b.ins().isub(end, position);
        let term = self.slice(context, position, left);
        self.set(to, term);
    }

    /// `bs_get_utf8` and `bs_skip_utf8`, of a character of one byte. The first tier does all else.
    pub(super) fn get_utf8(&mut self, at: usize, context: Operand, to: Option<Operand>) {
        let context = self.get(context);
        let Match { at: position, end, .. } = self.context(context);
        let whole = self.has_bits(position, 7, 0);
        self.exit_unless(whole, at);
        let left = self.b.ins().isub(end, position);
        let is_there = self.b.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, left, 8);
        self.exit_unless(is_there, at);
        let address = self.byte_at(context, position);
        let byte = self.b.ins().uload8(clif::I64, bytes(), address, 0);
        let is_one = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, byte, 0x80);
        self.exit_unless(is_one, at);
        let after = self.b.ins().iadd_imm_s(position, 8);
        self.move_match(context, after);
        if let Some(to) = to {
            let term = self.b.ins().ishl_imm_u(byte, i64::from(SMALL_SHIFT));
            self.learn(term, Known::Small);
            self.set(to, term);
        }
    }
}
