//! Moving terms; lists and tuples.

use super::state::Known;
use super::{Segment, trusted};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types as clif};
use heddle_beamfile::Operand;
use heddle_term::term::{TAG_BOXED, TAG_CONS};
use heddle_term::{Header, Kind};

/// The header of a tuple of this size.
pub(super) fn tuple_header(size: usize) -> u64 {
    Header::new(Kind::Tuple, size).raw()
}

impl Segment<'_, '_> {
    pub(super) fn move_term(&mut self, from: Operand, to: Operand) {
        let value = self.get(from);
        self.set(to, value);
    }

    pub(super) fn swap(&mut self, a: Operand, b: Operand) {
        let (first, second) = (self.get(a), self.get(b));
        self.set(a, second);
        self.set(b, first);
    }

    /// A word of a boxed term; 0 is the header.
    pub(super) fn boxed_word(&mut self, term: Value, word: i32) -> Value {
        self.b.ins().load(clif::I64, trusted(), term, word * 8 - TAG_BOXED as i32)
    }

    pub(super) fn get_list(&mut self, list: Operand, head: Option<Operand>, tail: Option<Operand>) {
        let list = self.get(list);
        let tag = TAG_CONS as i32;
        let first = head.map(|_| self.b.ins().load(clif::I64, trusted(), list, -tag));
        let rest = tail.map(|_| self.b.ins().load(clif::I64, trusted(), list, 8 - tag));
        for (to, value) in [(head, first), (tail, rest)] {
            if let (Some(to), Some(value)) = (to, value) {
                self.set(to, value);
            }
        }
    }

    pub(super) fn get_element(&mut self, tuple: Operand, index: Operand, to: Operand) {
        let tuple = self.get(tuple);
        let Some(index) = index.number().and_then(|index| i32::try_from(index).ok()) else { return self.fail("an index") };
        let value = self.boxed_word(tuple, 1 + index);
        self.set(to, value);
    }

    pub(super) fn set_element(&mut self, value: Operand, tuple: Operand, index: Operand) {
        let (value, tuple) = (self.get(value), self.get(tuple));
        let Some(index) = index.number().and_then(|index| i32::try_from(index).ok()) else { return self.fail("an index") };
        self.b.ins().store(trusted(), value, tuple, (1 + index) * 8 - TAG_BOXED as i32);
    }

    /// Writes words at the top of the heap, and returns their address with the tag.
    pub(super) fn build(&mut self, words: &[Value], tag: u64) -> Value {
        for (index, &word) in words.iter().enumerate() {
            self.b.ins().store(trusted(), word, self.state.h, self.state.heap_bytes + index as i32 * 8);
        }
        let term = self.b.ins().iadd_imm_s(self.state.h, i64::from(self.state.heap_bytes) + tag as i64);
        self.state.heap_bytes += words.len() as i32 * 8;
        term
    }

    /// Copies words from one address and offset to another, until `bytes` bytes are copied or more. `flags`: how words lie there.
    pub(super) fn copy_words(&mut self, flags: MemFlagsData, from: (Value, i32), to: (Value, i32), bytes: Value) {
        let (head, body, done) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        let index = self.b.append_block_param(head, clif::I64);
        let zero = self.word(0);
        self.b.ins().jump(head, &[zero.into()]);
        self.b.switch_to_block(head);
        let more = self.b.ins().icmp(IntCC::UnsignedLessThan, index, bytes);
        self.b.ins().brif(more, body, &[], done, &[]);
        self.b.switch_to_block(body);
        let source = self.b.ins().iadd(from.0, index);
        let word = self.b.ins().load(clif::I64, flags, source, from.1);
        let target = self.b.ins().iadd(to.0, index);
        self.b.ins().store(flags, word, target, to.1);
        let next = self.b.ins().iadd_imm_s(index, 8);
        self.b.ins().jump(head, &[next.into()]);
        self.b.switch_to_block(done);
    }

    pub(super) fn put_list(&mut self, head: Operand, tail: Operand, to: Operand) {
        let words = [self.get(head), self.get(tail)];
        let term = self.build(&words, TAG_CONS);
        self.learn(term, Known::Cons);
        self.set(to, term);
    }

    pub(super) fn put_tuple(&mut self, to: Operand, elements: &[Operand]) {
        let header = tuple_header(elements.len());
        let mut words = vec![self.word(header)];
        words.extend(elements.iter().map(|&element| self.get(element)).collect::<Vec<_>>());
        let term = self.build(&words, TAG_BOXED);
        self.learn(term, Known::TupleOf(header));
        self.set(to, term);
    }

    /// Copies a record with some elements replaced.
    pub(super) fn update_record(&mut self, size: Operand, record: Operand, to: Operand, updates: &[Operand]) {
        let Some(size) = size.number() else { return self.fail("the size of a record") };
        let record = self.get(record);
        let mut new = vec![None; size as usize + 1];
        for update in updates.chunks_exact(2) {
            let position = match update[0] {
                Operand::U(position) => position as usize,
                Operand::I(position) => position as usize,
                _ => return self.fail("the position of an update"),
            };
            new[position] = Some(self.get(update[1]));
        }
        let words: Vec<Value> = (0..).zip(new).map(|(word, new)| new.unwrap_or_else(|| self.boxed_word(record, word))).collect();
        let term = self.build(&words, TAG_BOXED);
        self.learn(term, Known::TupleOf(tuple_header(size as usize)));
        self.set(to, term);
    }
}
