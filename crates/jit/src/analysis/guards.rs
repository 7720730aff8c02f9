//! Guard functions that have a translation.

use super::function::FunctionView;
use heddle_abi::opcodes::Op;
use heddle_beamfile::Operand;

/// Operators with a translation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operator {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    And,
    Or,
    Xor,
    Left,
    Right,
}

impl Operator {
    pub fn of(name: &str) -> Option<Operator> {
        Some(match name {
            "+" => Operator::Add,
            "-" => Operator::Sub,
            "*" => Operator::Mul,
            "div" => Operator::Div,
            "rem" => Operator::Rem,
            "band" => Operator::And,
            "bor" => Operator::Or,
            "bxor" => Operator::Xor,
            "bsl" => Operator::Left,
            "bsr" => Operator::Right,
            _ => return None,
        })
    }
}

/// The parts of a call of a guard function: name, arguments, destination.
pub fn parts<'a>(view: &FunctionView<'a>, at: usize) -> Option<(&'static str, &'a [Operand], Operand)> {
    let o = view.operands(at);
    let (import, arguments, to) = match view.instr(at).op {
        Op::Bif1 => (o[1], &o[2..3], o[3]),
        Op::Bif2 => (o[1], &o[2..4], o[4]),
        Op::GcBif1 => (o[2], &o[3..4], o[4]),
        _ => (o[2], &o[3..5], o[5]),
    };
    Some((view.of_erlang(import)?, arguments, to))
}

/// True if compiled code does the guard itself.
pub fn knows(view: &FunctionView<'_>, at: usize) -> bool {
    let Some((name, arguments, _)) = parts(view, at) else { return false };
    match arguments.len() {
        1 => matches!(
            name,
            "-" | "hd" | "tl" | "tuple_size" | "map_size" | "byte_size" | "not" | "is_atom" | "is_list" | "is_tuple" | "is_integer"
        ),
        _ => {
            Operator::of(name).is_some()
                || matches!(name, "=:=" | "=/=" | "==" | "/=" | "<" | ">=" | ">" | "=<" | "and" | "or")
                || matches!(name, "element" | "map_get" | "is_map_key")
        }
    }
}
