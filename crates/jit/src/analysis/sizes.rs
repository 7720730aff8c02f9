//! Sizes of fields that a match takes.

use super::function::FunctionView;
use heddle_beamfile::Operand;

/// True if compiled code knows a field with this size and unit.
pub fn knows(view: &FunctionView<'_>, size: Operand, unit: Operand) -> bool {
    let Operand::U(unit) = unit else { return false };
    if is_all(view, size) {
        matches!(unit, 1 | 8)
    } else {
        (size.reg().is_some() || matches!(size, Operand::I(0..))) && (1..=256).contains(&unit)
    }
}

/// True for the size of a field that takes all that is left.
pub fn is_all(view: &FunctionView<'_>, size: Operand) -> bool {
    matches!(size, Operand::Atom(atom) if view.source.beam.atoms.get(atom) == Some("all"))
}
