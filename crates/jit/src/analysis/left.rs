//! What a compiled function leaves to the first tier.

use super::function::FunctionView;
use super::known::knows;
use heddle_abi::opcodes::Op;
use heddle_term::Mfa;

/// What is left at a place.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Left {
    /// An instruction.
    Operation(Op),
    /// A call of a native.
    Native(Mfa),
}

/// The instructions that the first tier does.
pub fn places<'a>(view: &'a FunctionView<'a>) -> impl Iterator<Item = usize> + 'a {
    let does_something = |&at: &usize| !matches!(view.instr(at).op, Op::Label | Op::Line);
    view.instrs().filter(does_something).filter(|&at| view.cell(at).is_some() && !knows(view, at))
}

pub fn what(view: &FunctionView<'_>, at: usize) -> Left {
    let import = match view.instr(at).op {
        Op::Bif0 => Some(0),
        Op::CallExt | Op::CallExtLast | Op::CallExtOnly | Op::Bif1 | Op::Bif2 => Some(1),
        Op::GcBif1 | Op::GcBif2 | Op::GcBif3 => Some(2),
        _ => None,
    };
    let native = import.and_then(|position| view.operands(at)[position].number());
    match native.and_then(|number| view.source.imports.get(number as usize)) {
        Some(export) => Left::Native(export.mfa),
        None => Left::Operation(view.instr(at).op),
    }
}
