//! The beginning of a callee, translated in place of its call, as far as it has no frame.
//!
//! Small functions that only test or compute something, and the ends of recursions that branch (half of their calls), cost less than the call and the
//! return. The end of a recursion over a list is not worth it: it is one call of many.
//! So the callee's instructions are translated with the caller's state up to a return, after which the caller goes on in the same segment. At anything
//! else (a frame, a call, an exit) the function is called after all, with the arguments as they were: nothing that was done until then can be
//! seen.

use super::state::{Held, State};
use super::{Segment, Work};
use crate::analysis::fit::unfit;
use crate::analysis::function::FunctionView;
use crate::analysis::known::knows;
use crate::analysis::roots;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, types as clif};
use heddle_abi::opcodes::Op;
use heddle_beamfile::Operand;
use std::collections::BTreeSet;

/// Instructions of a callee that are translated at most, on all ways together (guessed).
const INSTRS: usize = 24;
/// A return must be reached after at most this many (guessed).
const WAY_INSTRS: usize = 10;
/// Calls of a segment that are inlined at most: what follows a call is translated again (guessed).
const CALLS: usize = 3;

/// A call whose callee is translated in place.
pub struct Inline<'a> {
    pub view: FunctionView<'a>,
    /// Where the function is called after all.
    call: Block,
    /// Where the caller goes on: with X0 and the top of the heap.
    after: Block,
    /// Instructions that may still be translated.
    left: usize,
}

/// True for instructions that do nothing that can be seen before the function returns.
fn is_pure(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        Move | Swap
            | GetList
            | GetHd
            | GetTl
            | GetTupleElement
            | Jump
            | SelectVal
            | SelectTupleArity
            | IsEqExact
            | IsNeExact
            | IsEq
            | IsNe
            | IsLt
            | IsGe
            | TestArity
            | IsTaggedTuple
            | IsInteger
            | IsFloat
            | IsNumber
            | IsAtom
            | IsNil
            | IsList
            | IsNonemptyList
            | IsTuple
            | IsBoolean
            | IsMap
            | IsFunction
            | IsBinary
            | IsBitstr
            | GcBif1
            | GcBif2
            | Bif1
            | Bif2
            | Return
    )
}

fn may_be_inlined(view: &FunctionView<'_>, at: usize) -> bool {
    is_pure(view.instr(at).op) && knows(view, at)
}

/// True if a return is reached from `at` by few instructions that may be inlined.
fn returns_soon(view: &FunctionView<'_>, at: usize, left: usize) -> bool {
    if left == 0 || !may_be_inlined(view, at) {
        return false;
    }
    if view.instr(at).op == Op::Return {
        return true;
    }
    let successors = view.successors(at);
    successors.next.into_iter().chain(successors.jumps.into_iter().flatten()).any(|to| returns_soon(view, to, left - 1))
}

/// True if all ways from the entry end in a return, after few instructions that may be inlined.
fn is_small(view: &FunctionView<'_>, entry: usize) -> bool {
    let mut seen = BTreeSet::from([entry]);
    let mut work = vec![entry];
    while let Some(at) = work.pop() {
        if seen.len() > INSTRS || !may_be_inlined(view, at) {
            return false;
        }
        let successors = view.successors(at);
        let next = successors.next.filter(|_| view.instr(at).op != Op::Return);
        work.extend(next.into_iter().chain(successors.jumps.into_iter().flatten()).filter(|&to| seen.insert(to)));
    }
    true
}

/// True if the function calls itself in several places that are no tail calls.
fn branches(view: &FunctionView<'_>) -> bool {
    let is_own = |&at: &usize| view.instr(at).op == Op::Call && view.operands(at)[1] == Operand::Label(view.function.entry_label);
    view.instrs().filter(is_own).nth(1).is_some()
}

/// True if it pays to inline the callee.
fn pays(caller: &FunctionView<'_>, callee: &FunctionView<'_>, entry: usize) -> bool {
    let is_own = caller.function.entry == callee.function.entry;
    if is_own { branches(caller) && returns_soon(callee, entry, WAY_INSTRS) } else { is_small(callee, entry) }
}

impl<'a> Segment<'a, '_> {
    /// Translates the callee in place, if that may pay. Returns false if it is a call as any other.
    pub(super) fn call_inline(&mut self, at: usize, o: &[Operand]) -> bool {
        if self.inline.is_some() || self.inlines.len() >= CALLS {
            return false;
        }
        let Some(view) = self.callee(o[1]) else { return false };
        let caller = self.view();
        let Some(entry) = view.entry().filter(|&entry| pays(&caller, &view, entry)) else { return false };
        let Some(next) = caller.after_group(at) else { return false };
        let (call, body, after) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        if !self.state.is_untraced {
            let is_free = self.is_nothing_traced();
            self.go_on_if(is_free, call);
            self.state.is_untraced = true;
        }
        let before = self.state.clone();
        // The call costs a reduction and may not be the last one: where that yields, it is a call.
        let has_time = self.b.ins().icmp_imm_s(IntCC::SignedGreaterThan, self.state.r, 1);
        self.b.ins().brif(has_time, body, &[], call, &[]);
        let inline = self.inlines.len();
        self.inlines.push(Inline { view, call, after, left: INSTRS });

        // The call.
        self.b.switch_to_block(call);
        self.call_in_frame(at, o);

        // The callee.
        let mut callee = before.clone();
        callee.f.clear();
        self.work.push(Work { block: body, to: Some(entry), state: callee, inline: Some(inline) });

        // The caller goes on.
        let [x0, h] = [clif::I64; 2].map(|kind| self.b.append_block_param(after, kind));
        self.b.switch_to_block(after);
        let State { s, stack_bytes, r, is_untraced, y, known, matches, .. } = before;
        let r = self.b.ins().iadd_imm_s(r, -1);
        self.state = State { stack_bytes, is_untraced, y, known, matches, ..State::new(h, s, r) };
        self.state.x[0] = Some(Held { value: x0, is_new: true });
        let more = roots::reach(&self.plan.view, &self.plan.roots, next);
        for (target, ways) in more.targets {
            *self.reach.targets.entry(target).or_default() += ways;
        }
        self.walk(next);
        true
    }

    /// The function of the module that a label is the entry of.
    fn callee(&self, label: Operand) -> Option<FunctionView<'a>> {
        let source = self.plan.view.source;
        let Operand::Label(label) = label else { return None };
        let at = source.beam.code.labels.instr(label)?;
        let functions = &source.beam.code.functions;
        let index = functions.partition_point(|function| function.entry < at);
        let function = functions.get(index).filter(|function| function.entry == at)?;
        if unfit(source, index).is_some() || !(source.may_inline)(index) {
            return None;
        }
        Some(FunctionView { source, function })
    }

    /// Translates instructions of the callee until control leaves the block.
    pub(super) fn walk_inline(&mut self, to: Option<usize>) {
        let Some(inline) = self.inline else { return self.fail("nothing is inlined") };
        let view = self.view();
        let mut at = to;
        while let Some(next) = at {
            if self.inlines[inline].left == 0 || !may_be_inlined(&view, next) {
                break;
            }
            self.inlines[inline].left -= 1;
            if view.instr(next).op == Op::Return {
                let (x0, h, after) = (self.get_x(0), self.heap_top(), self.inlines[inline].after);
                self.b.ins().jump(after, &[x0.into(), h.into()]);
                return;
            }
            if !self.instruction(next) {
                return;
            }
            at = view.real(next + 1);
        }
        self.call_after_all(inline);
    }

    /// Calls the function, since it cannot go on here.
    pub(super) fn call_after_all(&mut self, inline: usize) {
        let call = self.inlines[inline].call;
        self.b.ins().jump(call, &[]);
    }
}
