//! Instructions that move, build and take apart terms: what was wanted of their results is wanted of their sources.

use heddle_abi::opcodes::Op;

use super::Kind;
use super::known::Effect;
use super::want::{State, Want};
use crate::beam::BeamFile;
use crate::code::Instr;
use crate::operand::Operand;
use crate::types::ValueType;

/// What an instruction constructs, if it does. A fun without an environment is no construction: it is a literal.
pub(super) fn construction(beam: &BeamFile, instr: &Instr) -> Option<Kind> {
    Some(match instr.op {
        Op::PutTuple2 => Kind::Tuple,
        Op::PutList => Kind::Cons,
        Op::PutMapAssoc | Op::PutMapExact => Kind::Map,
        Op::UpdateRecord => Kind::Record,
        Op::BsCreateBin | Op::BsInit2 | Op::BsInitBits => Kind::Binary,
        Op::MakeFun3 => match beam.code.operands(instr)[2] {
            Operand::List(environment) if !beam.code.list(environment).is_empty() => Kind::Fun,
            _ => return None,
        },
        _ => return None,
    })
}

/// What became of an instruction.
pub(super) enum Step {
    /// It built an object with this want.
    Built(Want),
    Done,
    /// It is none of those known here.
    Other,
}

/// What an instruction is to a walk.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// It moves terms or takes them apart, or does nothing to registers.
    Data,
    /// It builds.
    Build,
    /// It may go elsewhere, or want something where nothing was wanted.
    Control,
}

#[inline]
pub(super) fn role(op: Op) -> Role {
    ROLES[op as usize]
}

static ROLES: [Role; 256] = {
    let mut table = [Role::Control; 256];
    let data = [
        Op::Line,
        Op::ExecutableLine,
        Op::TestHeap,
        Op::Allocate,
        Op::AllocateHeap,
        Op::Deallocate,
        Op::Trim,
        Op::Move,
        Op::Swap,
        Op::GetList,
        Op::GetHd,
        Op::GetTl,
        Op::GetTupleElement,
    ];
    let mut index = 0;
    while index < data.len() {
        table[data[index] as usize] = Role::Data;
        index += 1;
    }
    let build = [
        Op::PutTuple2,
        Op::PutList,
        Op::UpdateRecord,
        Op::MakeFun3,
        Op::PutMapAssoc,
        Op::PutMapExact,
        Op::BsCreateBin,
        Op::BsInit2,
        Op::BsInitBits,
    ];
    index = 0;
    while index < build.len() {
        table[build[index] as usize] = Role::Build;
        index += 1;
    }
    table
};

/// Nothing is built for values of these types.
const NOT_BUILT: u16 =
    ValueType::ATOM | ValueType::FLOAT | ValueType::INTEGER | ValueType::NIL | ValueType::PID | ValueType::PORT | ValueType::REFERENCE;

/// A source gets a want, unless the compiler proved that it holds nothing that was built.
#[inline]
fn give(beam: &BeamFile, state: &mut State, source: Operand, want: Want) {
    if want.is_nothing() {
        return;
    }
    if let Operand::Typed { type_index, .. } = source
        && beam.value_type(type_index).is_always(NOT_BUILT)
    {
        return;
    }
    state.give(source, want);
}

/// From the wants after an instruction to those before it.
#[inline(always)]
pub(super) fn data(beam: &BeamFile, state: &mut State, instr: &Instr) -> Step {
    let operands = beam.code.operands(instr);
    let list = |operand| if let Operand::List(list) = operand { beam.code.list(list) } else { &[] };
    let elements = |state: &mut State, elements: &[Operand], want: Want| {
        if !want.is_nothing() {
            elements.iter().for_each(|&element| give(beam, state, element, want.element()));
        }
    };
    match instr.op {
        Op::Line | Op::ExecutableLine | Op::TestHeap | Op::Deallocate => {}
        Op::Move => {
            let want = state.take(operands[1]);
            give(beam, state, operands[0], want);
        }
        Op::Swap => {
            let (first, second) = (state.take(operands[0]), state.take(operands[1]));
            state.give(operands[0], second);
            state.give(operands[1], first);
        }
        Op::GetList => {
            let (head, tail) = (state.take(operands[1]), state.take(operands[2]));
            state.give(operands[0], head.list_of().or(tail));
        }
        Op::GetHd => {
            let head = state.take(operands[1]);
            state.give(operands[0], head.list_of());
        }
        Op::GetTl => {
            let tail = state.take(operands[1]);
            state.give(operands[0], tail);
        }
        Op::GetTupleElement => state.forget(operands[2]),
        Op::PutList => {
            let want = state.take(operands[2]);
            give(beam, state, operands[0], want.element());
            give(beam, state, operands[1], want.tail());
            return Step::Built(want);
        }
        Op::PutTuple2 => {
            let want = state.take(operands[0]);
            elements(state, list(operands[1]), want);
            return Step::Built(want);
        }
        Op::MakeFun3 => {
            let want = state.take(operands[1]);
            elements(state, list(operands[2]), want);
            return Step::Built(want);
        }
        Op::UpdateRecord => {
            let want = state.take(operands[3]);
            list(operands[4]).iter().skip(1).step_by(2).for_each(|&value| give(beam, state, value, want.element()));
            state.give(operands[2], want.sharing());
            return Step::Built(want);
        }
        Op::PutMapAssoc | Op::PutMapExact if matches!(operands[0], Operand::Label(0)) => {
            let want = state.take(operands[2]);
            elements(state, list(operands[4]), want);
            state.give(operands[1], want.sharing());
            return Step::Built(want);
        }
        Op::BsCreateBin if matches!(operands[0], Operand::Label(0)) => return Step::Built(state.take(operands[4])),
        Op::BsInit2 | Op::BsInitBits if matches!(operands[0], Operand::Label(0)) => return Step::Built(state.take(operands[5])),
        Op::Allocate | Op::AllocateHeap => state.clear_y(),
        Op::Trim => state.trim(operands[0].number().unwrap_or(0) as usize),
        _ => return Step::Other,
    }
    Step::Done
}

/// What a known function with a result so wanted does with its arguments.
pub(super) fn effects(state: &mut State, effects: &[Effect], argument: impl Fn(u8) -> Operand, result: Want, sends: bool) {
    for &effect in effects {
        let (number, want) = match effect {
            Effect::Sends(number) if sends => (number, Want::WHOLE),
            Effect::Sends(_) => continue,
            Effect::Shares(number) => (number, result),
            Effect::Copies(number) => (number, result.sharing()),
            Effect::Holds(number) => (number, result.element()),
            Effect::Picks(number) => (number, result.list_of()),
            Effect::Returns(number) => (number, result.fun()),
            Effect::Collects(number) => (number, result.element().fun()),
        };
        state.give(argument(number), want);
    }
}

/// What was built for the reason of a call of `exit/1`, right before it: `built` gets the instructions.
pub(super) fn exit_reason(beam: &BeamFile, call: usize, mut built: impl FnMut(usize)) {
    let mut state = State::EMPTY;
    state.give_x(0, Want::WHOLE);
    for at in (0..call).rev() {
        match data(beam, &mut state, &beam.code.instrs[at]) {
            Step::Built(want) if want.is_message() && construction(beam, &beam.code.instrs[at]).is_some() => built(at),
            Step::Built(_) | Step::Done => {}
            Step::Other => return,
        }
    }
}
