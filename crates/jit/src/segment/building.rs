//! Building of bitstrings. All is checked before anything is changed: what this does not know, the first tier does from the beginning.

use super::bits::bytes;
use super::slices::SUB_WORDS;
use super::{Segment, trusted};
use crate::analysis::parts::{self, Append, Part, Parts};
use crate::symbol::{HostWord, Symbol};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types as clif};
use heddle_beamfile::Operand;
use heddle_term::refbin::RefBin;
use heddle_term::term::{SMALL_SHIFT, TAG_BOXED};
use heddle_term::{Header, Kind};

/// Words of a reference to a block. The last one is its address.
const REF_WORDS: usize = 4;
/// Words of a bitstring on the heap before its bytes: header and size.
const HEAP_BITS_WORDS: usize = 2;

/// Where bytes are written: an address, and the distance from it in bytes.
#[derive(Clone, Copy)]
struct Place {
    base: Value,
    offset: i32,
}

/// The room in a block after the bitstring that is made longer.
struct Room {
    source: Value,
    start: Value,
    size: Value,
    owner: Value,
    block: Value,
    /// Bits of the block that are used.
    end: Value,
}

impl Segment<'_, '_> {
    pub(super) fn create_bin(&mut self, at: usize, o: &[Operand]) {
        let Some(Parts { append, rest, bits }) = parts::of(&self.view(), o[5]) else { return self.fail("segments") };
        let values = self.field_values(at, &rest);
        let room = append.map(|append| self.room_after(at, append, bits));
        let (term, place) = match (append, room) {
            (Some(append), Some(room)) => {
                let new_words = if append.private { 0 } else { SUB_WORDS as u64 };
                self.make_room(at, (o[1].heap_words() + new_words) as i64);
                self.extend(append, &room, bits)
            }
            _ => {
                let words = HEAP_BITS_WORDS as u64 + bits.div_ceil(64);
                self.make_room(at, (o[1].heap_words() + words) as i64);
                self.new_bits(bits, words)
            }
        };
        self.write_parts(&rest, &values, place);
        self.set(o[4], term);
    }

    /// The values of all fields, which must be small integers.
    fn field_values(&mut self, at: usize, rest: &[Part]) -> Vec<Value> {
        let fields = rest.iter().flat_map(|part| if let Part::Fields { fields, .. } = part { &fields[..] } else { &[] });
        let values: Vec<Value> = fields.map(|&(_, source)| self.get(source)).collect();
        self.need_smalls(at, &values);
        values
    }

    /// A new bitstring on the heap.
    fn new_bits(&mut self, bits: u64, words: u64) -> (Value, Place) {
        let (base, offset) = (self.state.h, self.state.heap_bytes);
        let header = self.word(Header::new(Kind::HeapBits, words as usize - 1).raw());
        let size = self.word(bits);
        self.b.ins().store(trusted(), header, base, offset);
        self.b.ins().store(trusted(), size, base, offset + 8);
        if !bits.is_multiple_of(64) {
            // The bytes after the last one.
            let zero = self.word(0);
            self.b.ins().store(trusted(), zero, base, offset + (words as i32 - 1) * 8);
        }
        let term = self.b.ins().iadd_imm_s(base, i64::from(offset) + TAG_BOXED as i64);
        self.state.heap_bytes += words as i32 * 8;
        (term, Place { base, offset: offset + HEAP_BITS_WORDS as i32 * 8 })
    }

    /// Goes on if the source is the newest part of a block that this process alone has, and that has room for as many bits.
    fn room_after(&mut self, at: usize, append: Append, bits: u64) -> Room {
        let layout = RefBin::LAYOUT;
        let source = self.get(append.source);
        let boxed = self.is_boxed(source);
        self.exit_unless(boxed, at);
        let header = self.boxed_word(source, 0);
        let is_part = self.equals(header, Header::new(Kind::SubBits, SUB_WORDS - 1).raw());
        self.exit_unless(is_part, at);
        let [start, size, owner] = [1, 2, 3].map(|word| self.boxed_word(source, word));
        let header = self.boxed_word(owner, 0);
        let is_block = self.equals(header, Header::new(Kind::BinRef, REF_WORDS - 1).raw());
        self.exit_unless(is_block, at);
        let first = self.symbol(Symbol::Host(HostWord::FixedStart));
        let distance = self.b.ins().isub(owner, first);
        let count = self.symbol(Symbol::Host(HostWord::FixedBytes));
        let may_change = self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, distance, count);
        self.exit_unless(may_change, at);
        let end = self.b.ins().iadd(start, size);
        let odd = if append.unit == 8 { self.b.ins().bor(end, size) } else { end };
        let whole = self.has_bits(odd, 7, 0);
        self.exit_unless(whole, at);
        let block = self.boxed_word(owner, REF_WORDS as i32 - 1);
        let count = self.b.ins().load(clif::I64, trusted(), block, layout.refcount as i32);
        let is_alone = self.b.ins().icmp_imm_s(IntCC::Equal, count, 1);
        self.exit_unless(is_alone, at);
        let used = self.b.ins().load(clif::I64, trusted(), block, layout.used_bits as i32);
        let is_newest = self.b.ins().icmp(IntCC::Equal, used, end);
        self.exit_unless(is_newest, at);
        let capacity = self.b.ins().load(clif::I64, trusted(), block, layout.capacity as i32);
        let capacity = self.b.ins().ishl_imm_u(capacity, i64::from(64 - layout.capacity_mask.count_ones()));
        let capacity = self.b.ins().ushr_imm_u(capacity, i64::from(64 - layout.capacity_mask.count_ones()) - 3);
        let wanted = self.b.ins().iadd_imm_s(end, bits as i64);
        let fits = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, wanted, capacity);
        self.exit_unless(fits, at);
        Room { source, start, size, owner, block, end }
    }

    /// Takes the room.
    fn extend(&mut self, append: Append, room: &Room, bits: u64) -> (Value, Place) {
        let used = self.b.ins().iadd_imm_s(room.end, bits as i64);
        self.b.ins().store(trusted(), used, room.block, RefBin::LAYOUT.used_bits as i32);
        let size = self.b.ins().iadd_imm_s(room.size, bits as i64);
        let term = if append.private {
            self.b.ins().store(trusted(), size, room.source, 2 * 8 - TAG_BOXED as i32);
            room.source
        } else {
            self.build_part(room.start, size, room.owner)
        };
        let index = self.b.ins().ushr_imm_u(room.end, 3);
        let base = self.b.ins().iadd(room.block, index);
        (term, Place { base, offset: RefBin::LAYOUT.inside as i32 })
    }

    fn write_parts(&mut self, rest: &[Part], values: &[Value], mut place: Place) {
        let mut values = values.iter();
        for part in rest {
            match part {
                Part::Fields { fields, little } => {
                    let bits: u64 = fields.iter().map(|field| field.0).sum();
                    let mut word: Option<Value> = None;
                    for (&(bits, _), &value) in fields.iter().zip(&mut values) {
                        let value = self.b.ins().sshr_imm_u(value, i64::from(SMALL_SHIFT));
                        word = Some(match word {
                            None => value,
                            Some(before) => {
                                let before = self.b.ins().ishl_imm_u(before, bits as i64);
                                let value = self.b.ins().band_imm_u(value, (u64::MAX >> (64 - bits)) as i64);
                                self.b.ins().bor(before, value)
                            }
                        });
                    }
                    if let Some(word) = word {
                        self.write_bytes(word, bits as i32 / 8, *little, place);
                    }
                    place.offset += bits as i32 / 8;
                }
                &Part::Text { offset, bytes } => {
                    self.write_text(offset, bytes, place);
                    place.offset += bytes as i32;
                }
            }
        }
    }

    /// Writes the low bytes of a word.
    fn write_bytes(&mut self, word: Value, count: i32, little: bool, place: Place) {
        let mut done = 0;
        for part in [8, 4, 2, 1] {
            while count - done >= part {
                let shift = i64::from(if little { done } else { count - done - part }) * 8;
                let piece = if shift == 0 { word } else { self.b.ins().ushr_imm_u(word, shift) };
                let narrow = match part {
                    8 => None,
                    4 => Some(clif::I32),
                    2 => Some(clif::I16),
                    _ => Some(clif::I8),
                };
                let piece = narrow.map_or(piece, |kind| self.b.ins().ireduce(kind, piece));
                let piece = if little || part == 1 { piece } else { self.b.ins().bswap(piece) };
                self.b.ins().store(bytes(), piece, place.base, place.offset + done);
                done += part;
            }
        }
    }

    /// Writes some of the module's strings.
    fn write_text(&mut self, offset: usize, count: usize, place: Place) {
        let beam = self.view().source.beam;
        let Some(text) = beam.strings.get(offset..offset + count) else { return self.fail("a string that is nowhere") };
        let mut at = place;
        for chunk in text.chunks(8) {
            let word = chunk.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
            let word = self.word(word);
            self.write_bytes(word, chunk.len() as i32, true, at);
            at.offset += chunk.len() as i32;
        }
    }
}
