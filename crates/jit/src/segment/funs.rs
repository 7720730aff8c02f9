//! Calls of funs. What is no fun of the module's own kind, or has another arity, is left to the first tier.

use super::{Segment, trusted};
use crate::symbol::Symbol;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types as clif};
use heddle_beamfile::Operand;
use heddle_term::boxed::ARITY_SHIFT;
use heddle_term::term::{IMMEDIATE_SHIFT, TAG_BOXED};
use heddle_term::{FunEntry, Header, Kind, Term};
use std::mem::offset_of;

/// The bits of a header that count its words.
const SIZE_MASK: u64 = (u32::MAX as u64) << ARITY_SHIFT;

/// Words of a fun before its free variables: header, entry, creator.
const FREE_AT: i32 = 3;

impl Segment<'_, '_> {
    pub(super) fn call_fun(&mut self, at: usize, arity: Operand, fun: Operand) -> bool {
        let Some(arity) = arity.number() else {
            self.fail("an arity");
            return false;
        };
        let fun = self.get(fun);
        let boxed = self.is_boxed(fun);
        self.exit_unless(boxed, at);
        let header = self.boxed_word(fun, 0);
        let wanted = Header::with_aux(Kind::Fun, 0, arity).raw();
        let kind = self.b.ins().band_imm_s(header, !SIZE_MASK as i64);
        let is = self.equals(kind, wanted);
        self.exit_unless(is, at);
        self.store_call_arguments(u64::from(arity));
        match self.view().fun_tail_call(at) {
            Some(slots) => self.move_stack(slots),
            None => self.push_continuation(at),
        }
        self.store_free_variables(fun, header, arity as i32);
        let entry = self.boxed_word(fun, 1);
        let ip = self.b.ins().load(clif::I64, trusted(), entry, offset_of!(FunEntry, entry) as i32);
        self.enter(ip);
        false
    }

    /// The pid of the running process.
    pub(super) fn own_pid(&mut self) -> Value {
        let [process, shared, number] = self.plan.host.pid;
        let process = self.b.ins().load(clif::I64, trusted(), self.c, process);
        let shared = self.b.ins().load(clif::I64, trusted(), process, shared);
        let number = self.b.ins().load(clif::I64, trusted(), shared, number);
        let number = self.b.ins().ishl_imm_u(number, i64::from(IMMEDIATE_SHIFT));
        self.b.ins().bor_imm_u(number, Term::local_pid(0).raw() as i64)
    }

    /// `make_fun3`: the words are there.
    pub(super) fn make_fun(&mut self, lambda: Operand, to: Operand, free: &[Operand]) {
        let index = lambda.number();
        let entry = index.and_then(|index| self.view().source.lambdas.get(index as usize));
        let (Some(index), Some(&entry)) = (index, entry) else { return self.fail("a fun that is nowhere") };
        let header = Header::with_aux(Kind::Fun, FREE_AT as usize - 1 + free.len(), u32::from(entry.arity));
        let mut words = vec![self.word(header.raw()), self.symbol(Symbol::Fun(index)), self.own_pid()];
        words.extend(free.iter().map(|&variable| self.get(variable)).collect::<Vec<_>>());
        let fun = self.build(&words, TAG_BOXED);
        self.set(to, fun);
    }

    /// `is_function(F, Arity)`. A fun of a name is left to the first tier.
    pub(super) fn is_function_of(&mut self, at: usize, o: &[Operand]) {
        let Operand::I(arity) = o[2] else { return self.fail("an arity") };
        let fun = self.get(o[1]);
        let boxed = self.is_boxed(fun);
        self.check(boxed, o[0]);
        let header = self.boxed_word(fun, 0);
        let is_name = self.is_kind(header, [Kind::ExportFun; 2]);
        let other = self.b.ins().icmp_imm_s(IntCC::Equal, is_name, 0);
        self.exit_unless(other, at);
        let kind = self.b.ins().band_imm_s(header, !SIZE_MASK as i64);
        let is = self.equals(kind, Header::with_aux(Kind::Fun, 0, arity as u32).raw());
        self.check(is, o[0]);
    }

    /// Puts the free variables into the X registers after the arguments, and then the fun: the code that stands for a module that is not loaded
    /// needs it.
    fn store_free_variables(&mut self, fun: Value, header: Value, arity: i32) {
        let words = self.b.ins().band_imm_u(header, SIZE_MASK as i64);
        let bytes = self.b.ins().ushr_imm_u(words, i64::from(ARITY_SHIFT) - 3);
        let bytes = self.b.ins().iadd_imm_s(bytes, -(i64::from(FREE_AT - 1) * 8));
        self.copy_words(trusted(), (fun, FREE_AT * 8 - TAG_BOXED as i32), (self.c, arity * 8), bytes);
        let to = self.b.ins().iadd(self.c, bytes);
        self.b.ins().store(trusted(), fun, to, arity * 8);
    }
}
