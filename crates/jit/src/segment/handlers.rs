//! Marks of exception handlers on the stack.

use super::Segment;
use crate::symbol::Symbol;
use cranelift_codegen::ir::InstBuilder;
use cranelift_codegen::ir::condcodes::IntCC;
use heddle_beamfile::Operand;
use heddle_term::Term;

impl Segment<'_, '_> {
    /// `try` and `catch`: the slot holds the address of the handler.
    pub(super) fn mark(&mut self, slot: Operand, handler: Operand) {
        let view = self.view();
        let cell = if let Operand::Label(label) = handler { view.source.labels.get(label as usize) } else { None };
        let Some(&cell) = cell else { return self.fail("a handler that is nowhere") };
        let mark = self.symbol(Symbol::Handler(cell));
        self.set(slot, mark);
    }

    pub(super) fn unmark(&mut self, slot: Operand) {
        let nil = self.word(Term::NIL.raw());
        self.set(slot, nil);
    }

    /// `catch_end`: with an exception the first tier goes on.
    pub(super) fn catch_end(&mut self, at: usize, slot: Operand) {
        let value = self.get_x(0);
        let none = self.word(Term::NONE.raw());
        let is_value = self.b.ins().icmp(IntCC::NotEqual, value, none);
        self.exit_unless(is_value, at);
        self.unmark(slot);
    }

    /// `try_case`: class, reason and trace move down by one register.
    pub(super) fn try_case(&mut self, slot: Operand) {
        self.unmark(slot);
        for x in 0..3 {
            let value = self.get_x(x + 1);
            self.set(Operand::X(x), value);
        }
    }
}
