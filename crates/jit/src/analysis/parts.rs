//! The segments of `bs_create_bin` that have a translation.

use super::commands::flags;
use super::function::FunctionView;
use super::sizes;
use heddle_beamfile::Operand;
use heddle_term::boxed::HEAP_BITS_MAX_BYTES;

/// Longer instructions are left to the first tier, which takes less memory for them.
const MAX_SEGMENTS: usize = 16;
const MAX_STRING_BYTES: u64 = 64;
/// Bits of fields that are put together in a word.
const WORD_BITS: u64 = 64;

/// The source of a field that a new bitstring begins with.
#[derive(Clone, Copy, Debug)]
pub struct Append {
    /// No other instruction has the source, so it may itself be made longer.
    pub private: bool,
    pub unit: u64,
    pub source: Operand,
}

#[derive(Clone, Debug)]
pub enum Part {
    /// Integers that fill bytes together: bits and source of each.
    Fields { fields: Vec<(u64, Operand)>, little: bool },
    /// Bytes of the module's strings.
    Text { offset: usize, bytes: usize },
}

/// What an instruction builds.
#[derive(Clone, Debug)]
pub struct Parts {
    pub append: Option<Append>,
    pub rest: Vec<Part>,
    /// Bits of `rest`: whole bytes.
    pub bits: u64,
}

/// One segment of the instruction.
enum Segment {
    Append(Append),
    Field { bits: u64, little: bool, source: Operand },
    Text { offset: usize, bytes: usize },
}

/// The parts of a `bs_create_bin` with these segments, or `None` if the first tier must do it.
pub fn of(view: &FunctionView<'_>, segments: Operand) -> Option<Parts> {
    let list = view.list(segments);
    if list.len() > 6 * MAX_SEGMENTS {
        return None;
    }
    let mut parts = Parts { append: None, rest: Vec::new(), bits: 0 };
    // Fields that do not fill bytes yet.
    let mut open: Vec<(u64, Operand)> = Vec::new();
    for (index, chunk) in list.chunks_exact(6).enumerate() {
        match segment(view, index, chunk)? {
            Segment::Append(append) => parts.append = Some(append),
            Segment::Field { bits, little, source } => {
                let before: u64 = open.iter().map(|field| field.0).sum();
                if little && (before > 0 || bits % 8 != 0) || before + bits > WORD_BITS {
                    return None;
                }
                open.push((bits, source));
                parts.bits += bits;
                if (before + bits).is_multiple_of(8) {
                    parts.rest.push(Part::Fields { fields: std::mem::take(&mut open), little });
                }
            }
            Segment::Text { offset, bytes } if open.is_empty() => {
                parts.rest.push(Part::Text { offset, bytes });
                parts.bits += bytes as u64 * 8;
            }
            Segment::Text { .. } => return None,
        }
    }
    let fits = parts.append.is_some() || parts.bits <= HEAP_BITS_MAX_BYTES as u64 * 8;
    (open.is_empty() && parts.bits > 0 && fits).then_some(parts)
}

fn segment(view: &FunctionView<'_>, index: usize, chunk: &[Operand]) -> Option<Segment> {
    let [name, _, unit, signs, source, size] = *chunk else { return None };
    let Operand::Atom(name) = name else { return None };
    let name = view.source.beam.atoms.get(name)?;
    let unit = number(unit)?;
    match name {
        "append" | "private_append" if index == 0 && sizes::is_all(view, size) && matches!(unit, 1 | 8) && source.reg().is_some() => {
            Some(Segment::Append(Append { private: name == "private_append", unit, source }))
        }
        "integer" => {
            let bits = number(size)?.checked_mul(unit).filter(|bits| (1..=WORD_BITS).contains(bits))?;
            let (_, little) = flags(view, signs)?;
            (source.reg().is_some() || matches!(source, Operand::I(value) if heddle_term::Term::try_small(value).is_some()))
                .then_some(Segment::Field { bits, little: little && bits > 8, source })
        }
        "string" => {
            let (offset, bytes) = (number(source)? as usize, number(size)?);
            (bytes <= MAX_STRING_BYTES).then_some(Segment::Text { offset, bytes: bytes as usize })
        }
        _ => None,
    }
}

/// A number that is no term.
fn number(operand: Operand) -> Option<u64> {
    match operand {
        Operand::U(number) => Some(number),
        Operand::I(number) => u64::try_from(number).ok(),
        _ => None,
    }
}
