//! Functions that are left to the first tier.

use super::function::FunctionView;
use crate::host::Source;
use heddle_abi::opcodes::Op;

/// Functions with more instructions are left to the first tier: compiling them takes long (guessed).
const MAX_INSTRS: usize = 4000;

/// Why a function is left to the first tier, if that can be said without compiling it. The caller answers for what only the verifier finds:
/// instructions before which the first tier writes registers (`Verified::raises_raw`, `Verified::clears`).
pub fn unfit(source: &Source<'_>, index: usize) -> Option<&'static str> {
    let function = source.beam.code.functions.get(index)?;
    let view = FunctionView { source, function };
    let instrs = &source.beam.code.instrs[view.instrs()];
    if instrs.len() > MAX_INSTRS {
        return Some("it is too large");
    }
    if instrs.iter().any(|instr| matches!(instr.op, Op::NifStart | Op::ExecutableLine | Op::OnLoad)) {
        return Some("the first tier has operations between those of the instructions");
    }
    // The first tier may have put an operation of its own at the entry.
    let entry = source.labels.get(function.entry_label as usize).copied();
    if view.entry().and_then(|at| view.cell(at)) != entry {
        return Some("its entry is another operation: a native has its place, or a NIF may");
    }
    None
}
