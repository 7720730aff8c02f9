//! Calls. A call of a native becomes an operation that calls it in place. A few functions of module erlang are operations of their own.

use crate::loader::emitter::Emitter;
use crate::ops::{calls, control, frames, funs, natives};
use heddle_abi::opcodes::Op;
use heddle_beamfile::{Instr, Operand};
use heddle_term::{Atom, Export, Term, am};
use std::sync::atomic::Ordering;

/// How a call leaves the caller's frame.
#[derive(Clone, Copy)]
enum Leave {
    /// A call that returns to the caller.
    No,
    /// A tail call that removes a frame of this size first.
    Frame(u64),
}

/// Functions of module erlang that are operations.
#[derive(Clone, Copy)]
enum Special {
    ApplyList,
    ApplyFun,
    Yield,
    Hibernate,
    LoadNif,
    CallOnLoad,
    Raise,
}

impl Special {
    fn of(export: &Export) -> Option<Special> {
        let mfa = export.mfa;
        if mfa.module != am::ERLANG {
            return None;
        }
        Some(match (mfa.function, mfa.arity) {
            (am::APPLY, 3) => Special::ApplyList,
            (am::APPLY, 2) => Special::ApplyFun,
            (am::YIELD, 0) => Special::Yield,
            (am::HIBERNATE, 3) => Special::Hibernate,
            (am::LOAD_NIF, 2) => Special::LoadNif,
            (am::CALL_ON_LOAD_FUNCTION, 1) => Special::CallOnLoad,
            (am::RAISE, 3) => Special::Raise,
            _ => return None,
        })
    }
}

impl Emitter<'_> {
    pub fn call(&mut self, module: Atom, op: Op, o: &[Operand]) {
        match op {
            Op::Call => {
                self.op(calls::call);
                self.label(Emitter::label_of(o[1]));
            }
            Op::CallLast => {
                self.op(calls::call_last);
                self.cell(Emitter::number(o[2]));
                self.label(Emitter::label_of(o[1]));
            }
            Op::CallOnly => {
                self.op(calls::call_only);
                self.label(Emitter::label_of(o[1]));
            }
            Op::CallExt => self.call_ext(module, o[1], Leave::No),
            Op::CallExtLast => self.call_ext(module, o[1], Leave::Frame(Emitter::number(o[2]))),
            Op::CallExtOnly => self.call_ext(module, o[1], Leave::Frame(0)),
            Op::Return => self.op(calls::ret),
            Op::Apply => {
                self.op(calls::apply);
                self.cell(Emitter::number(o[0]));
            }
            _ => {
                self.op(calls::apply_last);
                self.cell(Emitter::number(o[0]));
                self.cell(Emitter::number(o[1]));
            }
        }
    }

    fn call_ext(&mut self, module: Atom, import: Operand, leave: Leave) {
        let export = self.imports[Emitter::number(import) as usize];
        if self.special(module, export, leave) {
            return;
        }
        let native = export.native.load(Ordering::Acquire);
        if native != 0 {
            // Errors show the caller's frame, so the frame goes after the call.
            self.op(natives::call_native);
            self.cell(native as u64);
            self.cell(export.mfa.arity as u64);
            self.cell(export as *const Export as u64);
            self.leave(leave);
            return;
        }
        match leave {
            Leave::No => self.op(calls::call_ext),
            Leave::Frame(0) => self.op(calls::call_ext_only),
            Leave::Frame(n) => {
                self.op(calls::call_ext_last);
                self.cell(n);
            }
        }
        self.cell(export as *const Export as u64);
    }

    fn leave(&mut self, leave: Leave) {
        match leave {
            Leave::No => {}
            Leave::Frame(0) => self.op(calls::ret),
            Leave::Frame(n) => {
                self.op(frames::deallocate_return);
                self.cell(n);
            }
        }
    }

    /// True if a call of the export jumps to its entry: it is neither a native nor an operation.
    pub fn is_function(export: &Export) -> bool {
        Special::of(export).is_none() && export.native.load(Ordering::Acquire) == 0
    }

    /// Emits a call of a function that is an operation. Returns false for other functions.
    fn special(&mut self, module: Atom, export: &Export, leave: Leave) -> bool {
        let Some(special) = Special::of(export) else { return false };
        match (special, leave) {
            (Special::ApplyList, Leave::No) => self.op(calls::call_apply_list),
            (Special::ApplyList, Leave::Frame(n)) => {
                self.op(calls::call_apply_list_last);
                self.cell(n);
            }
            (Special::ApplyFun, Leave::No) => self.op(funs::call_apply_fun),
            (Special::ApplyFun, Leave::Frame(n)) => {
                self.op(funs::call_apply_fun_last);
                self.cell(n);
            }
            (Special::Yield, _) => {
                self.op(calls::yield_now);
                self.leave(leave);
            }
            (Special::Hibernate, _) => self.op(control::hibernate),
            (Special::LoadNif, _) => {
                self.op(control::load_nif);
                self.cell(Term::atom(module).raw());
                self.leave(leave);
            }
            (Special::CallOnLoad, _) => {
                self.op(control::call_on_load);
                self.leave(leave);
            }
            (Special::Raise, _) => {
                // This is not a native call: the operation raises in place.
                self.op(control::raise_3);
                self.leave(leave);
            }
        }
        true
    }

    /// Emits `call_fun` and `call_fun2`, merged with a frame removal and return after them: the compiler leaves it to the loader to make
    /// tail calls of these.
    pub fn call_fun(&mut self, rest: &[Instr]) -> usize {
        let code = &self.beam.code;
        let o = code.operands(&rest[0]);
        let (arity, fun) = match rest[0].op {
            Op::CallFun => (Emitter::number(o[0]), None),
            _ => (Emitter::number(o[1]), Some(o[2])),
        };
        let frame = match rest {
            [_, d, r, ..] if d.op == Op::Deallocate && r.op == Op::Return => Some(Emitter::number(code.operands(d)[0])),
            _ => None,
        };
        match (fun, frame) {
            (None, None) => self.op(funs::call_fun),
            (None, Some(_)) => self.op(funs::call_fun_last),
            (Some(_), None) => self.op(funs::call_fun2),
            (Some(_), Some(_)) => self.op(funs::call_fun2_last),
        }
        self.cell(arity);
        if let Some(fun) = fun {
            self.any(fun);
        }
        if let Some(size) = frame {
            self.cell(size);
        }
        if frame.is_some() { 3 } else { 1 }
    }
}
