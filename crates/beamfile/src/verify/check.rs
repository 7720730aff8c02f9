//! Checks each operand by itself: its kind, indices into tables, the shape of lists. Also of code that is never reached, so
//! that the loader may rely on it everywhere.

use heddle_abi::opcodes::Op;

use super::kinds::{Kind, kinds};
use super::lists;
use crate::beam::BeamFile;
use crate::code::Instr;
use crate::functions::Function;
use crate::operand::{Operand, X_REGS};
use crate::tables::ARITY_MAX;

/// Far above any real size, and sums of a few cannot overflow 32 bits.
const NUMBER_MAX: u64 = 1 << 28;
const WORDS_MAX: u64 = 1 << 24;

pub(super) struct Checker<'a> {
    pub beam: &'a BeamFile,
    pub function: &'a Function,
    /// For each label the function it is the entry of, plus one.
    pub entries: &'a [u32],
}

impl Checker<'_> {
    pub fn instr(&self, instr: &Instr) -> Result<(), String> {
        let operands = self.beam.code.operands(instr);
        for (position, (&kind, &operand)) in kinds(instr.op).iter().zip(operands).enumerate() {
            if let Err(problem) = self.operand(kind, operand) {
                return Err(format!("operand {}: {problem}", position + 1));
            }
        }
        self.together(instr.op, operands)
    }

    #[inline]
    pub fn operand(&self, kind: Kind, operand: Operand) -> Result<(), String> {
        use Operand as O;
        let fits = match (kind, operand) {
            (Kind::Src | Kind::Size, O::Atom(_) | O::Nil | O::I(_) | O::Big(_) | O::Literal(_)) => true,
            (Kind::Src | Kind::Reg | Kind::Size | Kind::FloatOrSrc, O::X(_) | O::Y(_) | O::Typed { .. }) => true,
            (Kind::Dst | Kind::Swap | Kind::FloatOrDst, O::X(_) | O::Y(_)) => true,
            (Kind::DstX, O::X(_)) | (Kind::Slot, O::Y(_)) => true,
            (Kind::Float | Kind::FloatDst | Kind::FloatOrSrc | Kind::FloatOrDst, O::FR(_)) => true,
            (Kind::FloatOrSrc, O::Literal(_)) => true,
            (Kind::FailOrRaise, O::Label(0)) => true,
            (Kind::Fail | Kind::FailOrRaise | Kind::Label | Kind::FailOrMode, O::Label(label)) => return self.label(label),
            (Kind::FailOrMode, O::Atom(atom)) => matches!(self.beam.atoms.get(atom), Some("no_fail" | "resume")),
            (Kind::Entry, O::Label(label)) => return self.entry(label).map(drop),
            (Kind::Num | Kind::Size, O::U(number)) => number <= NUMBER_MAX,
            (Kind::Bits, O::U(_)) => true,
            (Kind::Arity, O::U(arity)) => arity <= u64::from(ARITY_MAX),
            (Kind::Live, O::U(live)) => live < u64::from(X_REGS),
            (Kind::Words, O::U(words)) => words < WORDS_MAX,
            (Kind::Words, O::Alloc(_)) => true,
            (Kind::Import, O::U(index)) => return self.index("import", index, self.beam.imports.len()),
            (Kind::Lambda | Kind::FunTag, O::U(index)) => return self.index("fun", index, self.beam.lambdas.len()),
            (Kind::FunTag, O::Atom(atom)) => matches!(self.beam.atoms.get(atom), Some("safe" | "unsafe")),
            // Without a line table the positions are unknown, whatever the index.
            (Kind::Line, O::U(_)) if self.beam.lines.items.is_empty() => true,
            (Kind::Line, O::U(index)) => return self.index("line item", index, self.beam.lines.items.len()),
            (Kind::Atom, O::Atom(_)) => true,
            (Kind::Hint, O::Atom(atom)) => matches!(self.beam.atoms.get(atom), Some("copy" | "reuse" | "inplace")),
            (_, O::List(list)) => return lists::check(self, kind, self.beam.code.list(list)),
            _ => false,
        };
        if fits { Ok(()) } else { Err(self.misfit(kind, operand)) }
    }

    #[cold]
    fn misfit(&self, kind: Kind, operand: Operand) -> String {
        match operand {
            Operand::Atom(atom) => format!("atom {:?} does not do as {kind:?}", self.beam.atoms.get(atom).unwrap_or("?")),
            _ => format!("{operand:?} does not do as {kind:?}"),
        }
    }

    fn index(&self, what: &str, index: u64, count: usize) -> Result<(), String> {
        if index < count as u64 { Ok(()) } else { Err(format!("{what} {index} does not exist, there are {count}")) }
    }

    pub fn label(&self, label: u32) -> Result<(), String> {
        match self.beam.code.labels.instr(label) {
            Some(instr) if (self.function.start..self.function.end).contains(&instr) => Ok(()),
            Some(_) => Err(format!("label {label} is in another function")),
            None => Err(format!("label {label} is not defined")),
        }
    }

    fn entry(&self, label: u32) -> Result<&Function, String> {
        let function = self.entries.get(label as usize).and_then(|&index| self.beam.code.functions.get((index as usize).wrapping_sub(1)));
        function.ok_or_else(|| format!("label {label} is not the entry of a function"))
    }

    /// What operands must fulfil together.
    fn together(&self, op: Op, operands: &[Operand]) -> Result<(), String> {
        let arity_of_import = |index: Operand| self.beam.imports[index.number().unwrap_or(0) as usize].arity;
        let same = |what: &str, given: u32, wanted: u32| match given == wanted {
            true => Ok(()),
            false => Err(format!("called with {given} arguments, but the {what} takes {wanted}")),
        };
        match (op, operands) {
            (Op::Call | Op::CallLast | Op::CallOnly, &[Operand::U(arity), Operand::Label(label), ..]) => {
                same("function", arity as u32, self.entry(label)?.arity)
            }
            (Op::CallExt | Op::CallExtLast | Op::CallExtOnly, &[Operand::U(arity), import, ..]) => {
                same("imported function", arity as u32, arity_of_import(import))
            }
            (Op::Bif0, &[import, ..]) => same("imported function", 0, arity_of_import(import)),
            (Op::Bif1, &[_, import, ..]) => same("imported function", 1, arity_of_import(import)),
            (Op::Bif2, &[_, import, ..]) => same("imported function", 2, arity_of_import(import)),
            (Op::GcBif1, &[_, _, import, ..]) => same("imported function", 1, arity_of_import(import)),
            (Op::GcBif2, &[_, _, import, ..]) => same("imported function", 2, arity_of_import(import)),
            (Op::GcBif3, &[_, _, import, ..]) => same("imported function", 3, arity_of_import(import)),
            (Op::MakeFun3, &[Operand::U(lambda), _, Operand::List(list)]) => {
                let wanted = self.beam.lambdas[lambda as usize].num_free;
                match list.len == wanted {
                    true => Ok(()),
                    false => Err(format!("{} free variables given, the fun has {wanted}", list.len)),
                }
            }
            (Op::BsMatchString, &[_, _, Operand::U(bits), Operand::U(offset)]) => self.string(offset, bits.div_ceil(8)),
            (Op::BsPutString, &[Operand::U(bytes), Operand::U(offset)]) => self.string(offset, bytes),
            (Op::UpdateRecord, &[_, Operand::U(size), _, _, Operand::List(list)]) => lists::positions(self.beam.code.list(list), size),
            _ => Ok(()),
        }
    }

    pub fn string(&self, offset: u64, bytes: u64) -> Result<(), String> {
        let size = self.beam.strings.len() as u64;
        match offset.checked_add(bytes) {
            Some(end) if end <= size => Ok(()),
            _ => Err(format!("{bytes} bytes at {offset} of StrT, which has {size}")),
        }
    }
}
