//! What each operand of each instruction may be and does: one table, read by the check of operands and by the data flow.

use heddle_abi::opcodes::Op;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Any term: register, atom, `[]`, integer, literal. Read.
    Src,
    /// Register holding a term. Read.
    Reg,
    /// Register. Written.
    Dst,
    /// X register. Written.
    DstX,
    /// Register, read and written.
    Swap,
    /// Stack slot of a catch tag.
    Slot,
    /// Float register. Read.
    Float,
    /// Float register. Written.
    FloatDst,
    /// Source of a float move: float register, register or literal. Read.
    FloatOrSrc,
    /// Destination of a float move.
    FloatOrDst,
    /// Label in the same function, where to go on failure.
    Fail,
    /// The same, or 0: raise an exception.
    FailOrRaise,
    /// Label in the same function; control goes there in a way of the instruction's own.
    Label,
    /// A label, or one of the atoms `no_fail` and `resume`.
    FailOrMode,
    /// Entry label of a function.
    Entry,
    /// Plain number.
    Num,
    /// Number of bits that is only compared with: however large.
    Bits,
    /// Term or plain number. Read.
    Size,
    /// Number of arguments.
    Arity,
    /// X registers in use; the instruction may collect garbage.
    Live,
    /// Heap need.
    Words,
    /// Index into the import table.
    Import,
    /// Index into the table of funs.
    Lambda,
    /// `safe`, `unsafe` or an index into the table of funs.
    FunTag,
    /// Index into the line table.
    Line,
    Atom,
    /// `update_record`'s hint.
    Hint,
    /// Terms. Read.
    Srcs,
    /// Pairs of terms. Read.
    SrcPairs,
    /// Stack slots. Written.
    Slots,
    /// Constant and label, alternating.
    Choices,
    /// Tuple size and label, alternating.
    ArityChoices,
    /// Key and destination register, alternating.
    KeysAndDsts,
    /// Position and term, alternating.
    Updates,
    /// Six operands per segment of a binary.
    Segments,
    /// Commands of `bs_match`.
    Commands,
}

/// The kinds of an instruction's operands, by position. Instructions that are not live have none.
pub fn kinds(op: Op) -> &'static [Kind] {
    TABLE[op as usize]
}

static TABLE: [&[Kind]; 256] = {
    let mut table: [&[Kind]; 256] = [&[]; 256];
    let mut row = 0;
    while row < ROWS.len() {
        table[ROWS[row].0 as usize] = ROWS[row].1;
        row += 1;
    }
    table
};

use Kind::*;

const TEST: &[Kind] = &[Fail, Src];
const COMPARE: &[Kind] = &[Fail, Src, Src];
const FLOAT2: &[Kind] = &[FailOrRaise, Float, Float, FloatDst];
const GET_SEGMENT: &[Kind] = &[Fail, Reg, Live, Size, Num, Num, Dst];
const GET_UTF: &[Kind] = &[Fail, Reg, Live, Num, Dst];
const SKIP_UTF: &[Kind] = &[Fail, Reg, Live, Num];
const PUT_SEGMENT: &[Kind] = &[FailOrRaise, Size, Num, Num, Src];
const PUT_UTF: &[Kind] = &[FailOrRaise, Num, Src];
const UTF_SIZE: &[Kind] = &[FailOrRaise, Src, Dst];
const BS_INIT: &[Kind] = &[FailOrRaise, Size, Words, Live, Num, Dst];
const PUT_MAP: &[Kind] = &[FailOrRaise, Src, Dst, Live, SrcPairs];

#[rustfmt::skip]
const ROWS: &[(Op, &[Kind])] = &[
    (Op::Label, &[Num]),
    (Op::FuncInfo, &[Atom, Atom, Arity]),
    (Op::Line, &[Line]),
    (Op::ExecutableLine, &[Line, Num]),
    // Calls.
    (Op::Call, &[Arity, Entry]),
    (Op::CallLast, &[Arity, Entry, Num]),
    (Op::CallOnly, &[Arity, Entry]),
    (Op::CallExt, &[Arity, Import]),
    (Op::CallExtLast, &[Arity, Import, Num]),
    (Op::CallExtOnly, &[Arity, Import]),
    (Op::CallFun, &[Arity]),
    (Op::CallFun2, &[FunTag, Arity, Src]),
    (Op::Apply, &[Arity]),
    (Op::ApplyLast, &[Arity, Num]),
    (Op::MakeFun3, &[Lambda, Dst, Srcs]),
    // Built-in functions.
    (Op::Bif0, &[Import, Dst]),
    (Op::Bif1, &[FailOrRaise, Import, Src, Dst]),
    (Op::Bif2, &[FailOrRaise, Import, Src, Src, Dst]),
    (Op::GcBif1, &[FailOrRaise, Live, Import, Src, Dst]),
    (Op::GcBif2, &[FailOrRaise, Live, Import, Src, Src, Dst]),
    (Op::GcBif3, &[FailOrRaise, Live, Import, Src, Src, Src, Dst]),
    // Stack and heap.
    (Op::Allocate, &[Num, Live]),
    (Op::AllocateHeap, &[Num, Words, Live]),
    (Op::TestHeap, &[Words, Live]),
    (Op::Deallocate, &[Num]),
    (Op::Trim, &[Num, Num]),
    (Op::InitYregs, &[Slots]),
    // Messages.
    (Op::LoopRec, &[Label, DstX]),
    (Op::LoopRecEnd, &[Label]),
    (Op::Wait, &[Label]),
    (Op::WaitTimeout, &[Label, Src]),
    (Op::RecvMarkerBind, &[Reg, Reg]),
    (Op::RecvMarkerClear, &[Reg]),
    (Op::RecvMarkerReserve, &[Dst]),
    (Op::RecvMarkerUse, &[Reg]),
    // Tests and choices.
    (Op::IsLt, COMPARE), (Op::IsGe, COMPARE), (Op::IsEq, COMPARE), (Op::IsNe, COMPARE),
    (Op::IsEqExact, COMPARE), (Op::IsNeExact, COMPARE), (Op::IsFunction2, COMPARE),
    (Op::IsInteger, TEST), (Op::IsFloat, TEST), (Op::IsNumber, TEST), (Op::IsAtom, TEST), (Op::IsPid, TEST),
    (Op::IsReference, TEST), (Op::IsPort, TEST), (Op::IsNil, TEST), (Op::IsBinary, TEST), (Op::IsList, TEST),
    (Op::IsNonemptyList, TEST), (Op::IsTuple, TEST), (Op::IsFunction, TEST), (Op::IsBoolean, TEST),
    (Op::IsBitstr, TEST), (Op::IsMap, TEST),
    (Op::TestArity, &[Fail, Src, Num]),
    (Op::IsTaggedTuple, &[Fail, Src, Num, Atom]),
    (Op::SelectVal, &[Src, Fail, Choices]),
    (Op::SelectTupleArity, &[Src, Fail, ArityChoices]),
    (Op::Jump, &[Fail]),
    // Moving and building terms.
    (Op::Move, &[Src, Dst]),
    (Op::Swap, &[Swap, Swap]),
    (Op::GetList, &[Reg, Dst, Dst]),
    (Op::GetHd, &[Reg, Dst]),
    (Op::GetTl, &[Reg, Dst]),
    (Op::GetTupleElement, &[Reg, Num, Dst]),
    (Op::SetTupleElement, &[Src, Reg, Num]),
    (Op::PutList, &[Src, Src, Dst]),
    (Op::PutTuple2, &[Dst, Srcs]),
    (Op::UpdateRecord, &[Hint, Num, Src, Dst, Updates]),
    (Op::PutMapAssoc, PUT_MAP),
    (Op::PutMapExact, PUT_MAP),
    (Op::HasMapFields, &[Fail, Src, Srcs]),
    (Op::GetMapElements, &[Fail, Src, KeysAndDsts]),
    // Exceptions.
    (Op::Catch, &[Slot, Label]),
    (Op::CatchEnd, &[Slot]),
    (Op::Try, &[Slot, Label]),
    (Op::TryEnd, &[Slot]),
    (Op::TryCase, &[Slot]),
    (Op::TryCaseEnd, &[Src]),
    (Op::Raise, &[Src, Src]),
    (Op::Badmatch, &[Src]),
    (Op::CaseEnd, &[Src]),
    (Op::Badrecord, &[Src]),
    // Floats.
    (Op::Fmove, &[FloatOrSrc, FloatOrDst]),
    (Op::Fconv, &[Src, FloatDst]),
    (Op::Fadd, FLOAT2), (Op::Fsub, FLOAT2), (Op::Fmul, FLOAT2), (Op::Fdiv, FLOAT2),
    (Op::Fnegate, &[FailOrRaise, Float, FloatDst]),
    // Matching binaries.
    (Op::BsStartMatch3, &[Fail, Src, Live, Dst]),
    (Op::BsStartMatch4, &[FailOrMode, Live, Src, Dst]),
    (Op::BsMatch, &[Fail, Reg, Commands]),
    (Op::BsGetTail, &[Reg, Dst, Live]),
    (Op::BsGetPosition, &[Reg, Dst, Live]),
    (Op::BsSetPosition, &[Reg, Src]),
    (Op::BsGetInteger2, GET_SEGMENT), (Op::BsGetFloat2, GET_SEGMENT), (Op::BsGetBinary2, GET_SEGMENT),
    (Op::BsSkipBits2, &[Fail, Reg, Size, Num, Num]),
    (Op::BsTestTail2, &[Fail, Reg, Bits]),
    (Op::BsTestUnit, &[Fail, Reg, Num]),
    (Op::BsMatchString, &[Fail, Reg, Num, Num]),
    (Op::BsGetUtf8, GET_UTF), (Op::BsGetUtf16, GET_UTF), (Op::BsGetUtf32, GET_UTF),
    (Op::BsSkipUtf8, SKIP_UTF), (Op::BsSkipUtf16, SKIP_UTF), (Op::BsSkipUtf32, SKIP_UTF),
    // Building binaries: in one go since OTP 25, piece by piece before.
    (Op::BsCreateBin, &[FailOrRaise, Words, Live, Num, Dst, Segments]),
    (Op::BsInit2, BS_INIT), (Op::BsInitBits, BS_INIT),
    (Op::BsAppend, &[FailOrRaise, Size, Words, Live, Num, Src, Num, Dst]),
    (Op::BsPrivateAppend, &[FailOrRaise, Size, Num, Src, Num, Dst]),
    (Op::BsAdd, &[FailOrRaise, Size, Size, Num, Dst]),
    (Op::BsPutInteger, PUT_SEGMENT), (Op::BsPutBinary, PUT_SEGMENT), (Op::BsPutFloat, PUT_SEGMENT),
    (Op::BsPutString, &[Num, Num]),
    (Op::BsUtf8Size, UTF_SIZE), (Op::BsUtf16Size, UTF_SIZE),
    (Op::BsPutUtf8, PUT_UTF), (Op::BsPutUtf16, PUT_UTF), (Op::BsPutUtf32, PUT_UTF),
];

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_abi::opcodes::{OPS, OpState};

    #[test]
    fn every_live_instruction_has_a_row_of_its_arity() {
        for info in &OPS {
            let wanted = if info.state == OpState::Live { usize::from(info.arity) } else { 0 };
            assert_eq!(kinds(info.op).len(), wanted, "{}", info.name);
            assert!(ROWS.iter().filter(|row| row.0 == info.op).count() <= 1, "{}", info.name);
        }
    }
}
