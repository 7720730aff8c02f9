//! Instructions that have a translation.

use super::function::FunctionView;
use super::{commands, guards, parts, sizes};
use crate::X_LIMIT;
use heddle_abi::opcodes::Op;
use heddle_beamfile::Operand;
use heddle_term::Term;

/// Records with more elements are copied by the first tier.
const MAX_RECORD: u64 = 32;

/// True if compiled code does the instruction itself, and those that the first tier does together with it. Otherwise the first tier does it.
pub fn knows(view: &FunctionView<'_>, at: usize) -> bool {
    let is_merged = |&at: &usize| at < view.function.end as usize && view.cell(at).is_none();
    let merged = (at + 1..).take_while(is_merged).filter(|&at| !matches!(view.instr(at).op, Op::Label | Op::Line));
    knows_alone(view, at) && merged.into_iter().all(|at| knows_alone(view, at))
}

fn knows_alone(view: &FunctionView<'_>, at: usize) -> bool {
    let o = view.operands(at);
    if (view.source.is_left)(at) {
        return false;
    }
    match view.instr(at).op {
        Op::Move
        | Op::Swap
        | Op::GetList
        | Op::GetHd
        | Op::GetTl
        | Op::PutList
        | Op::GetTupleElement
        | Op::SetTupleElement
        | Op::PutTuple2 => has_known_constants(view, o),
        Op::Allocate | Op::AllocateHeap | Op::TestHeap | Op::Deallocate | Op::Trim | Op::InitYregs | Op::Jump => true,
        Op::UpdateRecord => matches!(o[1], Operand::U(size) if size <= MAX_RECORD) && has_known_constants(view, o),
        Op::SelectVal => view.list(o[2]).iter().all(|&element| is_constant(element) || !is_term(element)),
        Op::SelectTupleArity | Op::TestArity | Op::IsTaggedTuple => true,
        Op::IsEqExact | Op::IsNeExact | Op::IsEq | Op::IsNe | Op::IsLt | Op::IsGe => has_known_constants(view, o),
        Op::IsInteger
        | Op::IsFloat
        | Op::IsNumber
        | Op::IsAtom
        | Op::IsNil
        | Op::IsList
        | Op::IsNonemptyList
        | Op::IsTuple
        | Op::IsBoolean
        | Op::IsMap
        | Op::IsFunction
        | Op::IsBinary
        | Op::IsBitstr => has_known_constants(view, o),
        Op::Call | Op::CallLast | Op::CallOnly | Op::Return => true,
        Op::Try | Op::Catch | Op::TryEnd | Op::CatchEnd | Op::TryCase => true,
        Op::CallFun => matches!(o[0], Operand::U(arity) if arity < u64::from(X_LIMIT)),
        Op::CallFun2 => matches!(o[1], Operand::U(arity) if arity < u64::from(X_LIMIT)) && o[2].reg().is_some(),
        Op::CallExt | Op::CallExtLast | Op::CallExtOnly => view.is_function(o[1]),
        Op::GcBif1 | Op::GcBif2 | Op::Bif1 | Op::Bif2 => has_known_constants(view, o) && guards::knows(view, at),
        Op::MakeFun3 => view.list(o[2]).iter().all(|&variable| is_known(variable)),
        Op::Bif0 => view.of_erlang(o[0]) == Some("self"),
        Op::PutMapAssoc | Op::PutMapExact => {
            o[1].reg().is_some()
                && view.list(o[4]).iter().step_by(2).all(|&key| is_constant(key))
                && view.list(o[4]).iter().skip(1).step_by(2).all(|&value| is_known(value))
        }
        Op::IsFunction2 => o[1].reg().is_some() && matches!(o[2], Operand::I(0..=255)),
        Op::GetMapElements => o[1].reg().is_some() && view.list(o[2]).iter().step_by(2).all(|&key| is_known(key)),
        Op::HasMapFields => o[1].reg().is_some() && view.list(o[2]).iter().all(|&key| is_known(key)),
        Op::BsStartMatch3 => o[1].reg().is_some(),
        Op::BsStartMatch4 => o[2].reg().is_some(),
        Op::BsMatch => commands::of(view, o[2]).is_some(),
        Op::BsCreateBin => parts::of(view, o[5]).is_some(),
        Op::BsGetPosition | Op::BsTestTail2 | Op::BsGetTail | Op::BsGetUtf8 | Op::BsSkipUtf8 => true,
        Op::BsSkipBits2 => sizes::knows(view, o[2], o[3]),
        Op::BsGetBinary2 => sizes::knows(view, o[3], o[4]),
        Op::BsGetInteger2 => o[3].reg().is_some() && matches!((o[4], o[5]), (Operand::U(1..=256), Operand::U(0))),
        Op::BsSetPosition => has_known_constants(view, o),
        Op::BsTestUnit => matches!(o[2], Operand::U(unit) if unit.is_power_of_two()),
        Op::Fmove => !matches!((o[0], o[1]), (Operand::Literal(_), Operand::X(_) | Operand::Y(_))),
        Op::Fconv | Op::Fadd | Op::Fsub | Op::Fmul | Op::Fdiv | Op::Fnegate => true,
        _ => false,
    }
}

/// A constant that needs no memory.
pub fn is_constant(operand: Operand) -> bool {
    match operand {
        Operand::I(value) => Term::try_small(value).is_some(),
        Operand::Atom(_) | Operand::Nil => true,
        _ => false,
    }
}

fn is_term(operand: Operand) -> bool {
    matches!(operand, Operand::I(_) | Operand::Big(_) | Operand::Atom(_) | Operand::Nil | Operand::Literal(_))
}

fn has_known_constants(view: &FunctionView<'_>, operands: &[Operand]) -> bool {
    operands.iter().all(|&operand| match operand {
        Operand::List(_) => view.list(operand).iter().all(|&element| is_known(element)),
        operand => is_known(operand),
    })
}

/// False for large integers: the first tier keeps those of operands where compiled code does not find them.
fn is_known(operand: Operand) -> bool {
    !is_term(operand) || is_constant(operand) || matches!(operand, Operand::Literal(_))
}
