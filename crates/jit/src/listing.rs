//! What a segment is made of, as text.

use crate::analysis::function::FunctionView;
use heddle_beamfile::{Operand, Reg};

/// A segment with what it was made from.
#[derive(Clone, Debug)]
pub struct Shown {
    /// Offset of the cell that it takes the place of.
    pub cell: u32,
    /// The instructions of the compiler that it does, in file order, each with its index in the module.
    pub instrs: Vec<(usize, String)>,
    /// Cranelift's intermediate code.
    pub clif: String,
    /// Machine instructions, as Cranelift writes them.
    pub code: String,
    pub bytes: usize,
    /// True if it has a native frame, since not all values fit in registers.
    pub has_frame: bool,
}

/// An instruction with its operands.
pub fn instruction(view: &FunctionView<'_>, at: usize) -> String {
    let operands: Vec<String> = view.operands(at).iter().map(|&operand| shown(view, operand)).collect();
    format!("{} {}", view.instr(at).op.name(), operands.join(", ")).trim_end().to_owned()
}

fn shown(view: &FunctionView<'_>, operand: Operand) -> String {
    match operand {
        Operand::U(number) => number.to_string(),
        Operand::I(number) => format!("{number}"),
        Operand::Big(_) => "a large integer".into(),
        Operand::Atom(index) => format!("'{}'", view.source.beam.atoms.get(index).unwrap_or("?")),
        Operand::Nil => "[]".into(),
        Operand::X(_) | Operand::Y(_) | Operand::Typed { .. } => match operand.reg() {
            Some(Reg::X(x)) => format!("x{x}"),
            Some(Reg::Y(y)) => format!("y{y}"),
            None => String::new(),
        },
        Operand::FR(f) => format!("fr{f}"),
        Operand::Label(label) => format!("label {label}"),
        Operand::Literal(index) => format!("literal {index}"),
        Operand::Alloc(alloc) => format!("{} words, {} floats, {} funs", alloc.words, alloc.floats, alloc.funs),
        Operand::List(_) => {
            let elements: Vec<String> = view.list(operand).iter().map(|&element| shown(view, element)).collect();
            format!("[{}]", elements.join(", "))
        }
    }
}
