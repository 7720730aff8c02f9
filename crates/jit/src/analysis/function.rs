//! A function as compiled code sees it: instructions by their index in the module, without labels and line numbers.

use super::commands;
use crate::host::Source;
use crate::{MERGED, X_LIMIT};
use heddle_abi::opcodes::Op;
use heddle_beamfile::{Function, Instr, Operand};
use heddle_term::am;

#[derive(Clone, Copy)]
pub struct FunctionView<'a> {
    pub source: &'a Source<'a>,
    pub function: &'a Function,
}

/// Where control goes from an instruction.
#[derive(Default, Debug)]
pub struct Successors {
    /// Instructions that it jumps to. `None` for the place where no clause matched, which is outside of the body.
    pub jumps: Vec<Option<usize>>,
    /// The instruction after it, if control goes on there.
    pub next: Option<usize>,
}

impl<'a> FunctionView<'a> {
    pub fn instr(&self, at: usize) -> &'a Instr {
        &self.source.beam.code.instrs[at]
    }

    pub fn operands(&self, at: usize) -> &'a [Operand] {
        self.source.beam.code.operands(self.instr(at))
    }

    pub fn list(&self, operand: Operand) -> &'a [Operand] {
        if let Operand::List(list) = operand { self.source.beam.code.list(list) } else { &[] }
    }

    pub fn instrs(&self) -> std::ops::Range<usize> {
        self.function.entry as usize..self.function.end as usize
    }

    /// The first instruction from `at` on that does something.
    pub fn real(&self, at: usize) -> Option<usize> {
        (at..self.function.end as usize).find(|&at| !matches!(self.instr(at).op, Op::Label | Op::Line))
    }

    pub fn entry(&self) -> Option<usize> {
        self.real(self.function.entry as usize)
    }

    /// The instruction at a label, or `None` if the label is outside of the body.
    pub fn at_label(&self, label: u32) -> Option<usize> {
        let at = self.source.beam.code.labels.instr(label)? as usize;
        if self.instrs().contains(&at) { self.real(at) } else { None }
    }

    /// The offset of the cell of an instruction.
    pub fn cell(&self, at: usize) -> Option<u32> {
        self.source.starts.get(at).copied().filter(|&cell| cell != MERGED)
    }

    /// The instruction after those that the first tier does together with the one at `at`.
    pub fn after_group(&self, at: usize) -> Option<usize> {
        let next = (at + 1..self.function.end as usize).find(|&next| self.cell(next).is_some())?;
        self.real(next)
    }

    /// True if control never goes on after the instruction.
    pub fn ends(&self, at: usize) -> bool {
        use Op::*;
        match self.instr(at).op {
            CallLast | CallOnly | CallExtLast | CallExtOnly | ApplyLast | Return | Badmatch | CaseEnd | IfEnd | TryCaseEnd | Badrecord
            | Raise | Jump | SelectVal | SelectTupleArity | LoopRecEnd | Wait | FuncInfo | IntCodeEnd => true,
            CallExt => self.operands(at)[1].number().is_some_and(|import| self.source.beam.never_returns(import)),
            _ => false,
        }
    }

    /// For a call of a fun that the first tier makes a tail call: the frame that it removes.
    pub fn fun_tail_call(&self, at: usize) -> Option<Operand> {
        let is_one = at + 2 < self.function.end as usize && self.instr(at + 1).op == Op::Deallocate && self.cell(at + 1).is_none();
        is_one.then(|| self.operands(at + 1)[0])
    }

    /// True if the instruction is a call that comes back to the function.
    pub fn returns_here(&self, at: usize) -> bool {
        match self.instr(at).op {
            Op::Call | Op::CallExt => !self.ends(at),
            Op::CallFun | Op::CallFun2 => self.fun_tail_call(at).is_none(),
            _ => false,
        }
    }

    /// All labels of an instruction. Those where exceptions are handled are not reached from it.
    pub fn labels(&self, at: usize) -> Vec<u32> {
        let operands = self.operands(at);
        let is_call = matches!(self.instr(at).op, Op::Call | Op::CallLast | Op::CallOnly);
        let mut labels = Vec::new();
        for &operand in if is_call { &[] } else { operands } {
            match operand {
                Operand::Label(label) if label != 0 => labels.push(label),
                Operand::List(_) => {
                    let inner = self.list(operand).iter();
                    labels.extend(inner.filter_map(|&element| if let Operand::Label(label) = element { Some(label) } else { None }));
                }
                _ => {}
            }
        }
        labels
    }

    pub fn successors(&self, at: usize) -> Successors {
        let mut jumps: Vec<Option<usize>> = self.labels(at).into_iter().map(|label| self.at_label(label)).collect();
        if self.instr(at).op == Op::BsMatch {
            // Each command that fails goes there on a way of its own, with what the commands before it have written.
            let ways =
                commands::of(self, self.operands(at)[2]).map_or(1, |(all, _)| all.iter().filter(|command| command.may_fail()).count());
            jumps = jumps.iter().cycle().take(jumps.len() * ways).copied().collect();
        }
        let next = if self.ends(at) { None } else { self.real(at + 1) };
        Successors { jumps, next }
    }

    /// The name of a function of module erlang that an import stands for.
    pub fn of_erlang(&self, import: Operand) -> Option<&'static str> {
        let mfa = self.source.imports.get(import.number()? as usize)?.mfa;
        (mfa.module == am::ERLANG).then(|| mfa.function.name())
    }

    /// True if a call of the import jumps to its entry.
    pub fn is_function(&self, import: Operand) -> bool {
        import.number().and_then(|import| self.source.is_function.get(import as usize)).copied().unwrap_or(false)
    }

    /// True if the instruction divides integers.
    pub fn divides(&self, at: usize) -> bool {
        self.instr(at).op == Op::GcBif2 && matches!(self.of_erlang(self.operands(at)[2]), Some("div" | "rem"))
    }

    /// True if the instruction calls the function itself, and the call comes back.
    pub fn calls_itself(&self, at: usize) -> bool {
        self.instr(at).op == Op::Call
            && self.operands(at)[1] == Operand::Label(self.function.entry_label)
            && self.function.arity <= u32::from(X_LIMIT)
    }

    /// True if the instruction calls the function itself in tail position, with arguments that may stay in machine registers.
    pub fn is_loop(&self, at: usize) -> bool {
        let o = self.operands(at);
        matches!(self.instr(at).op, Op::CallOnly | Op::CallLast)
            && o[1] == Operand::Label(self.function.entry_label)
            && self.function.arity <= u32::from(X_LIMIT)
    }
}
