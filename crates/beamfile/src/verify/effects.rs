//! What each instruction needs and leaves behind.

use heddle_abi::opcodes::Op;

use super::flow::{Flow, Next};
use super::kinds::{Kind, kinds};
use super::lists;
use super::state::{Frame, Set, State};
use crate::code::Instr;
use crate::operand::{Operand, Reg};

impl<const W: usize> Flow<'_, W> {
    pub(super) fn step(&mut self, state: &mut State<W>, instr: &Instr) -> Result<Next, String> {
        let beam = self.beam;
        let operands = beam.code.operands(instr);
        let number = |position: usize| operands[position].number().unwrap_or(0);
        let label = |position: usize| if let Operand::Label(label) = operands[position] { label } else { 0 };
        let slot = |position: usize| if let Operand::Y(y) = operands[position] { u32::from(y) } else { 0 };
        for (&kind, &operand) in kinds(instr.op).iter().zip(operands) {
            self.reads(state, kind, operand)?;
        }
        match instr.op {
            Op::CallExt | Op::CallExtLast | Op::CallExtOnly if beam.never_returns(number(1)) => {
                self.has_x(state, number(0))?;
                self.raise(state)?;
                Ok(Next::Nothing)
            }
            Op::Call | Op::CallExt => self.call(state, number(0)),
            Op::CallFun => self.call(state, number(0) + 1),
            Op::CallFun2 => self.call(state, number(1)),
            Op::Apply => self.call(state, number(0) + 2),
            Op::CallLast | Op::CallExtLast => self.tail_call(state, number(0), Some(number(2))),
            Op::CallOnly | Op::CallExtOnly => self.tail_call(state, number(0), None),
            Op::ApplyLast => self.tail_call(state, number(0) + 2, Some(number(1))),
            Op::Return => self.tail_call(state, 1, None),
            Op::FuncInfo => self.tail_call(state, self.function.arity, None),
            Op::Send => self.like_call(state, 2, 1),
            Op::RawRaise => self.like_call(state, 3, 1),
            Op::BuildStacktrace | Op::BsInitWritable => self.like_call(state, 1, 1),
            Op::Badmatch | Op::CaseEnd | Op::Badrecord | Op::IfEnd | Op::TryCaseEnd | Op::Raise => {
                self.raise(state)?;
                Ok(Next::Nothing)
            }
            Op::IntCodeEnd => Ok(Next::Nothing),
            Op::Jump => {
                self.branch(label(0), state)?;
                Ok(Next::Nothing)
            }
            Op::SelectVal | Op::SelectTupleArity => self.select(state, label(1), operands[2]),
            Op::Allocate => self.allocate(state, number(0), number(1)),
            Op::AllocateHeap => self.allocate(state, number(0), number(2)),
            Op::Deallocate => {
                self.leave_frame(state, number(0))?;
                Ok(Next::Following)
            }
            Op::Trim => self.trim(state, number(0), number(1)),
            Op::Catch | Op::Try => self.enter_catch(state, instr.op, slot(0), label(1)),
            Op::TryEnd => self.leave_catch(state, slot(0)),
            Op::CatchEnd => {
                self.has_x(state, 1)?;
                state.x = Set::first(1);
                self.leave_catch(state, slot(0))
            }
            Op::TryCase => {
                state.x = Set::first(3);
                self.leave_catch(state, slot(0))
            }
            Op::LoopRec => {
                self.frame_is_initialised(state)?;
                self.forget_x(state);
                self.branch(label(0), state)?;
                self.write(state, operands[1])?;
                Ok(Next::Following)
            }
            Op::LoopRecEnd | Op::Wait => {
                self.frame_is_initialised(state)?;
                self.forget_x(state);
                self.branch(label(0), state)?;
                Ok(Next::Nothing)
            }
            Op::WaitTimeout => {
                // A receive without clauses comes back here when a message wakes it. The timer is set by then, and its time,
                // which may have been in an X register, is not looked at again.
                let waits_for_itself = self.first_after_jumps(label(0)).is_some_and(|first| std::ptr::eq(first, instr));
                self.raise(state)?;
                self.frame_is_initialised(state)?;
                self.forget_x(state);
                if !waits_for_itself {
                    self.branch(label(0), state)?;
                }
                Ok(Next::Following)
            }
            Op::BsMatch => self.bs_match(state, label(0), operands[1], operands[2]),
            Op::BsPutInteger | Op::BsPutBinary | Op::BsPutFloat | Op::BsPutString | Op::BsPutUtf8 | Op::BsPutUtf16 | Op::BsPutUtf32
                if !state.building =>
            {
                Err("no binary is being built on some way here".into())
            }
            _ => self.plain(state, instr),
        }
    }

    /// Instructions that the table of kinds describes completely.
    fn plain(&mut self, state: &mut State<W>, instr: &Instr) -> Result<Next, String> {
        let operands = self.beam.code.operands(instr);
        let kinds = kinds(instr.op);
        let mut fail = None;
        let mut raises = instr.op == Op::Fconv;
        let mut collects = false;
        for (&kind, &operand) in kinds.iter().zip(operands) {
            match (kind, operand) {
                (Kind::Live, Operand::U(live)) => {
                    self.collect(state, live as u32)?;
                    collects = true;
                }
                (Kind::FailOrRaise, Operand::Label(0)) => raises = true,
                (Kind::Fail | Kind::FailOrRaise | Kind::FailOrMode, Operand::Label(label)) => fail = Some(label),
                _ => {}
            }
        }
        // `bs_start_match*` may start on a register above `live` (a literal just moved there): the engine keeps it.
        if collects && !matches!(instr.op, Op::BsStartMatch3 | Op::BsStartMatch4) {
            // Sources are roots as well: they lie below `live`.
            for (&kind, &operand) in kinds.iter().zip(operands) {
                self.reads(state, kind, operand)?;
            }
        }
        if raises {
            self.raise(state)?;
        }
        if let Some(label) = fail {
            match self.unset_result(state, instr) {
                Some(dst) => {
                    self.found.clears.push(self.at as u32);
                    let mut failed = *state;
                    self.write(&mut failed, dst)?;
                    self.branch(label, &failed)?;
                }
                None => self.branch(label, state)?,
            }
        }
        for (&kind, &operand) in kinds.iter().zip(operands) {
            match (kind, operand) {
                (Kind::Dst | Kind::DstX | Kind::FloatDst | Kind::FloatOrDst, operand) => self.write(state, operand)?,
                (Kind::Slots, Operand::List(list)) => {
                    for &slot in self.beam.code.list(list) {
                        self.write(state, slot)?;
                    }
                }
                (Kind::KeysAndDsts, Operand::List(list)) => {
                    for &dst in self.beam.code.list(list).iter().skip(1).step_by(2) {
                        self.write(state, dst)?;
                    }
                }
                _ => {}
            }
        }
        if matches!(instr.op, Op::BsInit2 | Op::BsInitBits | Op::BsAppend | Op::BsPrivateAppend) {
            state.building = true;
        }
        Ok(Next::Following)
    }

    /// The destination of a BIF, if it has no value yet and should have one even if the BIF fails.
    fn unset_result(&self, state: &State<W>, instr: &Instr) -> Option<Operand> {
        let bif = matches!(instr.op, Op::Bif0 | Op::Bif1 | Op::Bif2 | Op::GcBif1 | Op::GcBif2 | Op::GcBif3);
        let dst = *self.beam.code.operands(instr).last()?;
        (self.lenient && bif && self.read(state, dst).is_err()).then_some(dst)
    }

    #[inline]
    fn reads(&self, state: &State<W>, kind: Kind, operand: Operand) -> Result<(), String> {
        let every = |operand, skip: usize, step: usize| match operand {
            Operand::List(list) => {
                self.beam.code.list(list).iter().skip(skip).step_by(step).try_for_each(|&element| self.read(state, element))
            }
            _ => Ok(()),
        };
        match kind {
            Kind::Src | Kind::Reg | Kind::Swap | Kind::Size | Kind::Float | Kind::FloatOrSrc => self.read(state, operand),
            Kind::Srcs | Kind::SrcPairs => every(operand, 0, 1),
            Kind::KeysAndDsts => every(operand, 0, 2),
            Kind::Updates => every(operand, 1, 2),
            Kind::Segments => every(operand, 4, 6).and_then(|()| every(operand, 5, 6)),
            _ => Ok(()),
        }
    }

    #[inline]
    pub(super) fn read(&self, state: &State<W>, operand: Operand) -> Result<(), String> {
        let set = match (operand.reg(), operand) {
            (Some(Reg::X(x)), _) => state.x.contains(x.into()),
            (Some(Reg::Y(y)), _) => self.slot_in_frame(state, y).map(|()| state.y.contains(y.into()))?,
            (None, Operand::FR(f)) => state.f.contains(f.into()),
            _ => true,
        };
        if set { Ok(()) } else { Err(format!("{operand:?} has no value on some way here")) }
    }

    #[inline]
    pub(super) fn write(&self, state: &mut State<W>, operand: Operand) -> Result<(), String> {
        match operand {
            Operand::X(x) => state.x.insert(x.into()),
            Operand::Y(y) => {
                self.slot_in_frame(state, y)?;
                state.y.insert(y.into());
            }
            Operand::FR(f) => state.f.insert(f.into()),
            _ => {}
        }
        Ok(())
    }

    /// The slot exists and is no catch tag.
    #[inline]
    pub(super) fn slot_in_frame(&self, state: &State<W>, y: u16) -> Result<(), String> {
        if u32::from(y) >= state.slots() {
            return Err(format!("y{y} is outside of the frame ({:?})", state.frame));
        }
        if self.tags.may_hold(state.tags, y.into()) {
            return Err(format!("y{y} holds a catch tag"));
        }
        Ok(())
    }

    pub(super) fn has_x(&self, state: &State<W>, count: u32) -> Result<(), String> {
        match state.x.first_missing(if state.x.contains_all(&Set::first(count)) && count <= 64 * W as u32 { 0 } else { count }) {
            None => Ok(()),
            Some(x) => Err(format!("x{x} has no value on some way here, but x0 to x{} are used", count - 1)),
        }
    }

    pub(super) fn frame_is_initialised(&self, state: &State<W>) -> Result<(), String> {
        if state.is_initialised() {
            return Ok(());
        }
        let missing = if let Frame::Slots(size) = state.frame { state.y.first_missing(size) } else { None };
        let which = missing.map_or("a Y register".to_owned(), |y| format!("y{y}"));
        Err(format!("{which} has no value on some way here, and the stack may be walked"))
    }

    /// Garbage may be collected, with the first `live` X registers as roots.
    pub(super) fn collect(&self, state: &mut State<W>, live: u32) -> Result<(), String> {
        self.has_x(state, live)?;
        self.frame_is_initialised(state)?;
        state.keep_x(live);
        state.building = false;
        Ok(())
    }

    pub(super) fn forget_x(&self, state: &mut State<W>) {
        state.x = Set::EMPTY;
        state.f = Set::EMPTY;
        state.building = false;
    }

    fn select(&mut self, state: &mut State<W>, fail: u32, choices: Operand) -> Result<Next, String> {
        self.branch(fail, state)?;
        if let Operand::List(list) = choices {
            for choice in self.beam.code.list(list).iter().skip(1).step_by(2) {
                if let Operand::Label(label) = *choice {
                    self.branch(label, state)?;
                }
            }
        }
        Ok(Next::Nothing)
    }

    /// Commands that may fail do so with what the earlier ones left of the registers. Those that take bits never fail: the bits
    /// are there.
    fn bs_match(&mut self, state: &mut State<W>, fail: u32, context: Operand, commands: Operand) -> Result<Next, String> {
        let beam = self.beam;
        let mut rest = if let Operand::List(list) = commands { beam.code.list(list) } else { &[] };
        while let Some(&first) = rest.first() {
            let name = if let Operand::Atom(atom) = first { beam.atoms.get(atom) } else { None };
            let (command, size) = lists::command(name, rest)?;
            if command.may_fail {
                self.branch(fail, state)?;
            }
            if let Some(live) = command.live {
                self.collect(state, live)?;
                self.read(state, context)?;
            }
            if let Some(dst) = command.dst {
                self.write(state, dst)?;
            }
            rest = &rest[size..];
        }
        Ok(Next::Following)
    }
}
