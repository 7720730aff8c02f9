//! One visit to a function: from its last instruction to its first, against the direction of control.
//!
//! Code mostly stands in the order in which it runs, so what holds at the labels that an instruction may go to is known when
//! the walk comes to it. Where it jumps back (and not to wait for a message, which ends all wants) the walk is done again until the
//! labels agree.

use heddle_abi::opcodes::Op;

use super::flow::Flow;
use super::sites::Target;
use super::steps::{self, Role, Step};
use super::want::{State, Want};
use crate::code::Instr;
use crate::operand::Operand;
use crate::verify::kinds::{Kind, kinds};

/// Walks of one visit. Ours; OTP 27's own code needs one.
const WALKS_MAX: usize = 8;

impl Flow<'_> {
    pub(super) fn visit(&mut self, index: u32) {
        let beam = self.beam;
        let function = &beam.code.functions[index as usize];
        for number in 1..=WALKS_MAX {
            let mut walk = Walk { flow: self, function: index, state: State::EMPTY, again: false };
            let first = function.entry as usize;
            for (ahead, instr) in beam.code.instrs[first..function.end as usize].iter().enumerate().rev() {
                match steps::role(instr.op) {
                    Role::Control => walk.step(first + ahead, instr),
                    Role::Data if !walk.state.is_live() => {}
                    Role::Build if !walk.state.is_live() && !walk.may_want(instr) => {}
                    Role::Data | Role::Build => walk.data(first + ahead, instr),
                }
            }
            let Walk { state, again, .. } = walk;
            if !again || number == WALKS_MAX {
                return self.learn(index, &state);
            }
        }
    }
}

struct Walk<'f, 'a> {
    flow: &'f mut Flow<'a>,
    function: u32,
    /// After the instruction that is looked at, then before it.
    state: State,
    /// A label that a jump went back to, before the walk came to it, has more wants now than it had then.
    again: bool,
}

impl Walk<'_, '_> {
    /// Of an instruction that builds, where nothing is wanted.
    #[inline]
    fn may_want(&self, instr: &Instr) -> bool {
        match instr.op {
            Op::PutTuple2 => !self.flow.sites.patterns.is_empty(),
            Op::PutList | Op::UpdateRecord => false,
            // Funs want of their environment; others may have a label to go to.
            _ => true,
        }
    }

    #[inline(always)]
    fn data(&mut self, at: usize, instr: &Instr) {
        match steps::data(self.flow.beam, &mut self.state, instr) {
            Step::Built(want) => self.built(at, instr, want),
            Step::Done => {}
            Step::Other => self.plain(at, instr),
        }
    }

    #[inline]
    fn step(&mut self, at: usize, instr: &Instr) {
        let operands = self.flow.beam.code.operands(instr);
        match instr.op {
            Op::Label => self.label(operands[0]),
            Op::Call => {
                let result = self.state.take_result();
                self.call(operands, result);
            }
            Op::CallLast | Op::CallOnly => {
                let result = self.tail();
                self.call(operands, result);
            }
            Op::CallExt => {
                let result = self.state.take_result();
                self.call_ext(at, operands, result);
            }
            Op::CallExtLast | Op::CallExtOnly => {
                let result = self.tail();
                self.call_ext(at, operands, result);
            }
            Op::CallFun => {
                let result = self.state.take_result();
                self.state.give_x(operands[0].number().unwrap_or(0) as usize, result.fun());
            }
            Op::CallFun2 => self.call_fun(operands),
            Op::Send => {
                let result = self.state.take_result();
                let want = if self.sends(at) { Want::WHOLE } else { Want::NOTHING };
                self.state.give_x(1, want.or(result));
            }
            Op::Return => {
                let result = self.tail();
                self.state.give_x(0, result);
            }
            Op::Jump => {
                self.state.clear();
                self.branch(operands[0]);
            }
            Op::SelectVal => self.select(operands, true),
            Op::SelectTupleArity => self.select(operands, false),
            // A function that waits keeps what it has: that is no message.
            Op::LoopRec | Op::LoopRecEnd | Op::Wait | Op::WaitTimeout => self.state.clear(),
            Op::Badmatch | Op::CaseEnd | Op::IfEnd | Op::Badrecord | Op::Raise | Op::RawRaise | Op::TryCaseEnd | Op::FuncInfo => {
                self.state.clear();
            }
            Op::ApplyLast | Op::IntCodeEnd => self.state.clear(),
            Op::Apply | Op::BuildStacktrace | Op::BsInitWritable | Op::TryCase => self.state.keep_x(0),
            Op::CatchEnd => self.state.keep_x(1),
            Op::Catch | Op::Try => {
                if let Operand::Label(label) = operands[1] {
                    self.flow.labels.join_frame(label, &mut self.state);
                }
            }
            Op::Bif1 | Op::Bif2 => self.bif(operands, 1),
            Op::GcBif1 | Op::GcBif2 | Op::GcBif3 => self.bif(operands, 2),
            Op::BsMatch => {
                if let Operand::List(list) = operands[2] {
                    // Of the commands only destinations are registers.
                    self.flow.beam.code.list(list).iter().for_each(|&operand| self.state.forget(operand));
                }
                self.branch(operands[0]);
            }
            Op::IsNil
            | Op::IsAtom
            | Op::IsBoolean
            | Op::IsInteger
            | Op::IsNumber
            | Op::IsFloat
            | Op::IsPid
            | Op::IsPort
            | Op::IsReference => {
                self.is_not_built(operands[0], operands[1]);
            }
            // Tests that tell nothing of what they look at.
            Op::IsTuple
            | Op::TestArity
            | Op::IsTaggedTuple
            | Op::IsList
            | Op::IsMap
            | Op::IsBinary
            | Op::IsBitstr
            | Op::IsFunction
            | Op::IsFunction2
            | Op::IsLt
            | Op::IsGe
            | Op::IsEq
            | Op::IsNe
            | Op::IsNeExact => self.branch(operands[0]),
            Op::IsNonemptyList => self.is_list_cell(operands[0], operands[1]),
            Op::IsEqExact if operands[2].reg().is_none() => self.is_not_built(operands[0], operands[1]),
            _ => self.plain(at, instr),
        }
    }

    /// Instructions of which the table of kinds says enough.
    fn plain(&mut self, at: usize, instr: &Instr) {
        let code = &self.flow.beam.code;
        let operands = code.operands(instr);
        let mut want = Want::NOTHING;
        for (&kind, &operand) in kinds(instr.op).iter().zip(operands) {
            match (kind, operand) {
                (Kind::Dst | Kind::DstX | Kind::FloatOrDst, operand) => want = self.state.take(operand),
                (Kind::Slots | Kind::KeysAndDsts, Operand::List(list)) => {
                    let (skip, step) = if kind == Kind::Slots { (0, 1) } else { (1, 2) };
                    code.list(list).iter().skip(skip).step_by(step).for_each(|&operand| self.state.forget(operand));
                }
                _ => {}
            }
        }
        self.judge(at, instr, want);
        for (&kind, &operand) in kinds(instr.op).iter().zip(operands) {
            if matches!(kind, Kind::Fail | Kind::FailOrRaise | Kind::FailOrMode) {
                self.branch(operand);
            }
        }
    }

    /// The result of a call that is the function's own.
    #[inline]
    fn tail(&mut self) -> Want {
        self.state.clear();
        self.flow.summaries[self.function as usize].demanded.returned()
    }

    #[inline]
    fn label(&mut self, label: Operand) {
        let label = label.number().unwrap_or(0);
        self.again |= self.flow.labels.meet(label, &mut self.state);
    }

    /// Control may go there.
    #[inline]
    fn branch(&mut self, label: Operand) {
        let Operand::Label(label @ 1..) = label else { return };
        self.flow.labels.join(label, &mut self.state);
    }

    /// After a test that succeeds the value is none that was built: an atom, or equal to a constant.
    #[inline]
    fn is_not_built(&mut self, fail: Operand, value: Operand) {
        self.state.forget(value);
        self.branch(fail);
    }

    /// After a test that fails right before `return`, the end of a loop over a list returns `[]` from the register where it
    /// found it. In the eyes of the walk that would be the list.
    fn is_list_cell(&mut self, fail: Operand, value: Operand) {
        let code = &self.flow.beam.code;
        let target = if let Operand::Label(label) = fail { code.labels.instr(label) } else { None };
        let wanted = self.state.take(value);
        self.branch(fail);
        if target.is_some_and(|target| code.instrs[target as usize + 1].op == Op::Return) {
            self.state.forget(value);
        }
        self.state.give(value, wanted);
    }

    fn select(&mut self, operands: &[Operand], is_value: bool) {
        self.state.clear();
        if let Operand::List(list) = operands[2] {
            for &label in self.flow.beam.code.list(list).iter().skip(1).step_by(2) {
                self.branch(label);
            }
        }
        match is_value {
            true => self.is_not_built(operands[1], operands[0]),
            false => self.branch(operands[1]),
        }
    }

    #[inline]
    fn judge(&mut self, at: usize, instr: &Instr, want: Want) {
        if want.is_message() && steps::construction(self.flow.beam, instr).is_some() {
            self.flow.messages.insert(at);
        }
    }

    #[inline]
    fn sends(&self, at: usize) -> bool {
        self.flow.only.is_none_or(|only| only as usize == at)
    }

    fn built(&mut self, at: usize, instr: &Instr, want: Want) {
        self.judge(at, instr, want);
        match instr.op {
            Op::MakeFun3 => self.environment(instr, want),
            Op::PutTuple2 if self.sends(at) => {
                if let Some(reply) = self.flow.sites.reply(self.flow.beam, instr, self.function) {
                    self.state.give(reply, Want::WHOLE);
                }
            }
            _ => {}
        }
    }

    #[inline]
    fn call(&mut self, operands: &[Operand], result: Want) {
        if let Some(callee) = self.flow.graph.entry(operands[1]) {
            self.local(callee, operands[0], result);
        }
    }

    #[inline]
    fn local(&mut self, callee: u32, arity: Operand, result: Want) {
        if self.flow.wants_nothing(callee, result) {
            return;
        }
        for x in 0..arity.number().unwrap_or(0) as usize {
            self.state.give_x(x, self.flow.argument(callee, x, result));
        }
        self.flow.demand(callee, result.demand(), self.function);
    }

    fn call_ext(&mut self, at: usize, operands: &[Operand], result: Want) {
        match self.flow.sites.target(operands[1]) {
            Target::Unknown => {}
            Target::Local(callee) => self.local(callee, operands[0], result),
            Target::Raises | Target::Exits => self.state.clear(),
            Target::Known(effects) => {
                let sends = self.sends(at);
                steps::effects(&mut self.state, effects, |x| Operand::X(x.into()), result, sends);
            }
        }
    }

    fn call_fun(&mut self, operands: &[Operand]) {
        let result = self.state.take_result();
        if let Some(callee) = self.flow.graph.lambda(self.flow.beam, operands[0]) {
            self.local(callee, operands[1], result);
        }
        self.state.give(operands[2], result.fun());
    }

    /// A function that makes a fun is taken to call it: what its function does with the environment is done with it.
    fn environment(&mut self, instr: &Instr, want: Want) {
        let beam = self.flow.beam;
        let operands = beam.code.operands(instr);
        let (Some(function), Operand::List(list)) = (self.flow.graph.lambda(beam, operands[0]), operands[2]) else { return };
        let result = want.result();
        let free = beam.code.list(list);
        let first = (beam.code.functions[function as usize].arity as usize).saturating_sub(free.len());
        for (number, &variable) in free.iter().enumerate() {
            self.state.give(variable, self.flow.argument(function, first + number, result));
        }
        self.flow.demand(function, result.demand(), self.function);
    }

    /// A BIF with a destination; its sources follow `before` operands and the import's number.
    fn bif(&mut self, operands: &[Operand], before: usize) {
        let [rest @ .., dst] = operands else { return };
        let result = self.state.take(*dst);
        self.branch(operands[0]);
        if result.is_nothing() {
            return;
        }
        if let Target::Known(effects) = self.flow.sites.target(operands[before]) {
            steps::effects(
                &mut self.state,
                effects,
                |number| rest.get(before + 1 + usize::from(number)).copied().unwrap_or(Operand::Nil),
                result,
                false,
            );
        }
    }
}
