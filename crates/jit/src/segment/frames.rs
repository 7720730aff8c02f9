//! Stack frames and heap checks.

use super::Segment;
use cranelift_codegen::ir::InstBuilder;
use cranelift_codegen::ir::condcodes::IntCC;
use heddle_beamfile::Operand;
use heddle_term::Term;

impl Segment<'_, '_> {
    /// Goes on if there are as many words between heap and stack, otherwise the first tier collects.
    pub(super) fn make_room(&mut self, at: usize, words: i64) {
        let state = &self.state;
        let bytes = (words + self.plan.host.slack_words as i64) * 8 - i64::from(state.stack_bytes) + i64::from(state.heap_bytes);
        let (s, h) = (state.s, state.h);
        let room = self.b.ins().isub(s, h);
        let fits = self.b.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, room, bytes);
        self.exit_unless(fits, at);
    }

    pub(super) fn allocate(&mut self, at: usize, slots: Operand, heap: Option<Operand>) {
        let slots = i64::from(slots.number().unwrap_or(0));
        self.make_room(at, slots + heap.map_or(0, |heap| heap.heap_words() as i64));
        self.state.stack_bytes -= slots as i32 * 8;
        let top = self.state.stack_bytes;
        self.state.y.retain(|&offset, _| offset >= top + slots as i32 * 8);
    }

    pub(super) fn test_heap(&mut self, at: usize, heap: Operand) {
        self.make_room(at, heap.heap_words() as i64);
    }

    /// Removes words from the stack.
    pub(super) fn move_stack(&mut self, slots: Operand) {
        self.state.stack_bytes += slots.number().unwrap_or(0) as i32 * 8;
        let top = self.state.stack_bytes;
        self.state.y.retain(|&offset, _| offset >= top);
    }

    pub(super) fn init_slots(&mut self, slots: &[Operand]) {
        let nil = self.word(Term::NIL.raw());
        for &slot in slots {
            self.set(slot, nil);
        }
    }
}
