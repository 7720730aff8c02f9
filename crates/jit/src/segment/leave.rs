//! The ways out of a segment, and between its blocks.

use super::state::State;
use super::{Segment, Work, trusted};
use crate::symbol::Symbol;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types as clif};
use heddle_beamfile::Operand;

impl Segment<'_, '_> {
    /// Jumps to an operation, or to compiled code in its place. `ip`: the cell.
    pub(super) fn go(&mut self, code: Value, ip: Value) {
        let (h, s) = (self.heap_top(), self.stack_top());
        let arguments = [ip, self.c, h, s, self.state.r];
        self.b.ins().return_call_indirect(self.signature, code, &arguments);
        self.exits += 1;
    }

    /// Continues at the first tier's operation for the instruction.
    pub(super) fn exit(&mut self, at: usize) {
        if let Some(inline) = self.inline {
            return self.call_after_all(inline);
        }
        let view = self.view();
        let Some(cell) = view.cell(at) else { return self.fail("an exit inside of an operation") };
        self.store_needed(self.live(at));
        let code = self.symbol(Symbol::Operation(cell));
        let ip = self.symbol(Symbol::Cell(cell));
        self.go(code, ip);
    }

    /// Continues at a root, in whichever tier has it, or where no clause matched (`None`).
    pub(super) fn leave_to(&mut self, to: Option<usize>) {
        let view = self.view();
        let (needed, cell) = match to {
            Some(to) => (self.live(to), view.cell(to)),
            None => {
                let arguments = crate::analysis::effects::first(u64::from(view.function.arity));
                let label = view.source.beam.code.operands(view.instr(view.function.start as usize))[0].number().unwrap_or(0);
                (arguments, view.source.labels.get(label as usize).copied())
            }
        };
        let Some(cell) = cell else { return self.fail("a root inside of an operation") };
        self.store_needed(needed);
        let ip = self.symbol(Symbol::Cell(cell));
        let code = self.b.ins().load(clif::I64, trusted(), ip, 0);
        self.go(code, ip);
    }

    /// A block that goes on at a label with the state as it is now.
    pub(super) fn block_to(&mut self, label: Operand) -> Block {
        let view = self.view();
        let to = if let Operand::Label(label) = label { view.at_label(label) } else { None };
        let block = self.b.create_block();
        if to.is_none() {
            self.b.set_cold_block(block);
        }
        let state = self.state.clone();
        self.work.push(Work { block, to, state, inline: self.inline });
        block
    }

    /// Goes on in a new block if the condition holds, otherwise at the label. All checks of an instruction have the same label: they share a block,
    /// with the state that the first of them found.
    pub(super) fn check(&mut self, condition: Value, label: Operand) {
        let failed = match self.failed {
            Some(failed) => failed,
            None => self.block_to(label),
        };
        self.failed = Some(failed);
        self.go_on_if(condition, failed);
    }

    pub(super) fn go_on_if(&mut self, condition: Value, otherwise: Block) {
        let block = self.b.create_block();
        self.b.ins().brif(condition, block, &[], otherwise, &[]);
        self.b.switch_to_block(block);
    }

    pub(super) fn jump(&mut self, label: Operand) -> bool {
        let view = self.view();
        let to = if let Operand::Label(label) = label { view.at_label(label) } else { None };
        match to {
            _ if self.inline.is_some() => self.walk_inline(to),
            Some(to) if !self.plan.roots.contains(&to) => self.arrive(to),
            to => self.leave_to(to),
        }
        false
    }

    /// Goes on in a new block if the condition holds. Otherwise the first tier does the instruction.
    /// The checks of an instruction share an exit as long as it writes nothing.
    pub(super) fn exit_unless(&mut self, condition: Value, at: usize) {
        if let Some(exit) = self.exit {
            return self.go_on_if(condition, exit);
        }
        self.otherwise(condition, |segment| {
            segment.exit = segment.b.current_block();
            segment.exit(at);
        });
    }

    /// Goes on in a new block if the condition holds. Otherwise does what `cold` does, which must leave the segment.
    pub(super) fn otherwise(&mut self, condition: Value, cold: impl FnOnce(&mut Self)) {
        let (block, rare) = (self.b.create_block(), self.b.create_block());
        self.b.ins().brif(condition, block, &[], rare, &[]);
        self.b.set_cold_block(rare);
        let state: State = self.state.clone();
        self.b.switch_to_block(rare);
        cold(self);
        self.state = state;
        self.b.switch_to_block(block);
    }
}
