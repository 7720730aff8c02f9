//! Calls and returns. A call costs one reduction; when none are left the process yields at the callee's entry.

use super::state::{Held, State};
use super::{Segment, trusted};
use crate::analysis::effects::first;
use crate::symbol::{HostWord, Symbol};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value, types as clif};
use heddle_beamfile::Operand;
use heddle_term::Export;
use heddle_term::term::TAG_CONTINUATION;
use std::mem::offset_of;

/// A loop keeps at most this many arguments in machine registers (guessed: more do not fit).
const LOOP_ARGUMENTS: u16 = 8;

impl Segment<'_, '_> {
    pub(super) fn call(&mut self, at: usize, o: &[Operand]) -> bool {
        if self.call_inline(at, o) {
            return false;
        }
        self.call_in_frame(at, o);
        false
    }

    /// Calls a function of the module, which comes back.
    pub(super) fn call_in_frame(&mut self, at: usize, o: &[Operand]) {
        if self.loop_head.is_some() && self.view().calls_itself(at) {
            self.push_continuation(at);
            return self.turn();
        }
        self.store_arguments(o[0]);
        self.push_continuation(at);
        self.enter_label(o[1]);
    }

    pub(super) fn call_last(&mut self, at: usize, o: &[Operand]) -> bool {
        if let Some(&slots) = o.get(2) {
            self.move_stack(slots);
        }
        if self.loop_head.is_some() && self.view().is_loop(at) {
            self.turn();
            return false;
        }
        self.store_arguments(o[0]);
        self.enter_label(o[1]);
        false
    }

    pub(super) fn call_external(&mut self, at: usize, o: &[Operand]) -> bool {
        self.store_arguments(o[0]);
        self.push_continuation(at);
        self.enter_export(o[1]);
        false
    }

    pub(super) fn call_external_last(&mut self, o: &[Operand]) -> bool {
        if let Some(&slots) = o.get(2) {
            self.move_stack(slots);
        }
        self.store_arguments(o[0]);
        self.enter_export(o[1]);
        false
    }

    pub(super) fn ret(&mut self) -> bool {
        self.store_needed(first(1));
        let offset = self.state.stack_bytes;
        let word = self.b.ins().load(clif::I64, trusted(), self.state.s, offset);
        self.state.stack_bytes += 8;
        let ip = self.b.ins().iadd_imm_s(word, -(TAG_CONTINUATION as i64));
        let code = self.b.ins().load(clif::I64, trusted(), ip, 0);
        self.go(code, ip);
        false
    }

    pub(super) fn store_arguments(&mut self, arity: Operand) {
        self.store_call_arguments(u64::from(arity.number().unwrap_or(0)));
    }

    pub(super) fn store_call_arguments(&mut self, arity: u64) {
        self.state.f.clear();
        self.store_needed(first(arity));
    }

    pub(super) fn push_continuation(&mut self, at: usize) {
        let view = self.view();
        let Some(cell) = view.after_group(at).and_then(|next| view.cell(next)) else { return self.fail("a call at the end") };
        let continuation = self.symbol(Symbol::Continuation(cell));
        self.state.stack_bytes -= 8;
        let offset = self.state.stack_bytes;
        self.b.ins().store(trusted(), continuation, self.state.s, offset);
    }

    pub(super) fn enter_label(&mut self, label: Operand) {
        let view = self.view();
        let cell = if let Operand::Label(label) = label { view.source.labels.get(label as usize) } else { None };
        let Some(&cell) = cell else { return self.fail("a call of nothing") };
        let ip = self.symbol(Symbol::Cell(cell));
        self.enter(ip);
    }

    fn enter_export(&mut self, import: Operand) {
        let Some(import) = import.number() else { return self.fail("a call of nothing") };
        let address = self.symbol(Symbol::Export(import));
        let ip = self.b.ins().load(clif::I64, trusted(), address, offset_of!(Export, entry) as i32);
        self.enter(ip);
    }

    /// Continues at a function's entry, for one reduction, or yields there.
    pub(super) fn enter(&mut self, ip: Value) {
        self.take_reduction(|segment| segment.yield_at(ip));
        let code = self.b.ins().load(clif::I64, trusted(), ip, 0);
        self.go(code, ip);
    }

    fn take_reduction(&mut self, none_left: impl FnOnce(&mut Self)) {
        self.state.r = self.b.ins().iadd_imm_s(self.state.r, -1);
        let goes_on = self.b.ins().icmp_imm_s(IntCC::SignedGreaterThan, self.state.r, 0);
        self.otherwise(goes_on, none_left);
    }

    fn yield_at(&mut self, ip: Value) {
        let code = self.symbol(Symbol::Host(HostWord::YieldAt));
        self.go(code, ip);
    }

    // ---- a function that calls itself in tail position ----

    fn loop_arguments(&self) -> u16 {
        self.view().function.arity.min(u32::from(LOOP_ARGUMENTS)) as u16
    }

    /// Begins a loop: its first arguments are parameters of the block.
    pub(super) fn begin_loop(&mut self) {
        let count = self.loop_arguments();
        let arguments: Vec<BlockArg> = (0..count).map(|x| self.get_x(x).into()).collect();
        let block = self.b.create_block();
        let (h, s, r) = (self.state.h, self.state.s, self.state.r);
        let all: Vec<BlockArg> = [h.into(), s.into(), r.into()].into_iter().chain(arguments).collect();
        self.b.ins().jump(block, &all);
        let [h, s, r] = [clif::I64; 3].map(|kind| self.b.append_block_param(block, kind));
        self.b.switch_to_block(block);
        self.state = State::new(h, s, r);
        for x in 0..count {
            let value = self.b.append_block_param(block, clif::I64);
            self.state.x[x as usize] = Some(Held { value, is_new: true });
        }
        self.loop_head = Some(block);
    }

    /// Goes to the head of the loop, unless a function is traced.
    fn turn(&mut self) {
        let view = self.view();
        let count = self.loop_arguments();
        let arity = u64::from(view.function.arity);
        self.state.f.clear();
        let arguments: Vec<BlockArg> = (0..count).map(|x| self.get_x(x).into()).collect();
        let Some(cell) = view.entry().and_then(|entry| view.cell(entry)) else { return self.fail("an entry without a cell") };
        let ip = self.symbol(Symbol::Cell(cell));
        self.take_reduction(|segment| {
            segment.store_needed(first(arity));
            segment.yield_at(ip);
        });
        // Arguments that are not parameters of the loop.
        self.store_needed(first(arity) & !first(u64::from(count)));
        let is_free = self.is_nothing_traced();
        self.otherwise(is_free, |segment| {
            segment.store_needed(first(arity));
            let code = segment.b.ins().load(clif::I64, trusted(), ip, 0);
            segment.go(code, ip);
        });
        let (h, s, r) = (self.heap_top(), self.stack_top(), self.state.r);
        let all: Vec<BlockArg> = [h.into(), s.into(), r.into()].into_iter().chain(arguments).collect();
        let Some(block) = self.loop_head else { return self.fail("no loop") };
        self.b.ins().jump(block, &all);
    }

    /// True if no function has a breakpoint.
    pub(super) fn is_nothing_traced(&mut self) -> Value {
        let address = self.symbol(Symbol::Host(HostWord::Traced));
        let count = self.b.ins().load(clif::I64, trusted(), address, 0);
        self.b.ins().icmp_imm_s(IntCC::Equal, count, 0)
    }
}
