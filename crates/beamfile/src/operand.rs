//! Operands of instructions, 16 bytes each, in one arena per module.

use crate::compact::{self, Number};
use crate::error::BeamError;
use crate::reader::Reader;

/// There are this many X registers, and as many float registers. From ERTS.
pub const X_REGS: u16 = 1024;
/// No frame is larger. Ours; the largest in OTP has a tenth of it.
pub const Y_REGS: u16 = 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reg {
    X(u16),
    Y(u16),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A plain number: arity, size, index, live registers.
    U(u64),
    /// An integer term.
    I(i64),
    /// An integer term of more than 64 bits, see [`crate::Code::big`].
    Big(Bytes),
    /// An atom of the module's table, never 0.
    Atom(u32),
    /// The empty list.
    Nil,
    X(u16),
    Y(u16),
    FR(u16),
    /// 0: no label, raise instead of jumping.
    Label(u32),
    Literal(u32),
    /// A register with what the compiler knows of its value.
    Typed {
        reg: Reg,
        type_index: u32,
    },
    Alloc(Alloc),
    /// The elements are in the arena, see [`crate::Code::list`].
    List(List),
}

/// A range of the arena of large integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bytes {
    pub(crate) start: u32,
    pub(crate) len: u32,
}

/// A range of the arena of operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct List {
    pub(crate) start: u32,
    pub(crate) len: u32,
}

/// What an instruction is about to allocate on the heap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Alloc {
    pub words: u32,
    pub floats: u32,
    pub funs: u32,
}

const _: () = assert!(size_of::<Operand>() == 16);

impl Operand {
    /// The register, with or without a type.
    #[inline]
    pub fn reg(self) -> Option<Reg> {
        match self {
            Operand::X(x) => Some(Reg::X(x)),
            Operand::Y(y) => Some(Reg::Y(y)),
            Operand::Typed { reg, .. } => Some(reg),
            _ => None,
        }
    }

    /// The plain number as an index or count; `None` for other operands and absurd numbers.
    #[inline]
    pub fn number(self) -> Option<u32> {
        match self {
            Operand::U(number) => u32::try_from(number).ok(),
            _ => None,
        }
    }
}

impl Operand {
    /// Heap words that an allocation operand asks for. A float takes two words; a fun takes header, entry and creator beside its free variables, which the
    /// compiler counts in `words`.
    pub fn heap_words(self) -> u64 {
        match self {
            Operand::U(words) => words,
            Operand::Alloc(alloc) => u64::from(alloc.words) + 2 * u64::from(alloc.floats) + 3 * u64::from(alloc.funs),
            _ => 0,
        }
    }
}

/// What the decoder checks operands against.
pub(crate) struct Limits {
    pub atoms: u32,
    pub labels: u32,
    pub literals: u32,
    /// `None`: no usable type table, indices mean nothing.
    pub types: Option<u32>,
}

pub(crate) struct OperandDecoder<'a> {
    pub limits: Limits,
    pub operands: Vec<Operand>,
    pub bigs: Vec<u8>,
    pub reader: Reader<'a>,
}

impl OperandDecoder<'_> {
    /// Appends `count` operands to the arena, and the elements of their lists after them.
    #[inline]
    pub fn decode(&mut self, count: usize) -> Result<(), BeamError> {
        let first = self.operands.len();
        for position in 0..count {
            let operand = self.simple()?;
            self.operands.push(operand);
            if matches!(operand, Operand::List(_)) {
                return self.lists(first, position, count);
            }
        }
        Ok(())
    }

    /// The rest of an instruction from its first list on: the list at `position` has no elements yet.
    fn lists(&mut self, first: usize, position: usize, count: usize) -> Result<(), BeamError> {
        self.operands.resize(first + count, Operand::Nil);
        for position in position..count {
            let index = first + position;
            let operand = match self.operands[index] {
                list @ Operand::List(_) => list,
                _ => self.simple()?,
            };
            let Operand::List(list) = operand else {
                self.operands[index] = operand;
                continue;
            };
            let start = self.operands.len() as u32;
            self.operands[index] = Operand::List(List { start, ..list });
            for _ in 0..list.len {
                let element = self.simple()?;
                if matches!(element, Operand::List(_)) {
                    return Err(self.reader.error("a list inside a list"));
                }
                self.operands.push(element);
            }
        }
        Ok(())
    }

    /// One operand; a list comes without its elements.
    #[inline]
    fn simple(&mut self) -> Result<Operand, BeamError> {
        let (tag, number) = compact::term(&mut self.reader)?;
        match (tag, number) {
            (compact::TAG_X, Number::Small(x)) if (0..i64::from(X_REGS)).contains(&x) => Ok(Operand::X(x as u16)),
            (compact::TAG_Y, Number::Small(y)) if (0..i64::from(Y_REGS)).contains(&y) => Ok(Operand::Y(y as u16)),
            (compact::TAG_U, number) => compact::plain(&self.reader, number).map(Operand::U),
            (compact::TAG_I, Number::Small(small)) => Ok(Operand::I(small)),
            (compact::TAG_I, Number::Large(bytes)) => self.big(bytes),
            (compact::TAG_ATOM, Number::Small(0)) => Ok(Operand::Nil),
            (compact::TAG_ATOM, Number::Small(atom)) if (0..=i64::from(self.limits.atoms)).contains(&atom) => {
                Ok(Operand::Atom(atom as u32))
            }
            (compact::TAG_LABEL, Number::Small(label)) if (0..i64::from(self.limits.labels)).contains(&label) => {
                Ok(Operand::Label(label as u32))
            }
            (compact::TAG_EXTENDED, Number::Small(kind)) => self.extended(kind),
            (tag, number) => Err(self.bad(tag, number)),
        }
    }

    #[cold]
    fn bad(&self, tag: u8, number: Number<'_>) -> BeamError {
        let number = match number {
            Number::Small(number) => number.to_string(),
            Number::Large(bytes) => format!("of {} bytes", bytes.len()),
        };
        self.reader.error(match tag {
            compact::TAG_X => format!("X register {number}, there are {X_REGS}"),
            compact::TAG_Y => format!("Y register {number}, there are {Y_REGS}"),
            compact::TAG_ATOM => format!("atom {number} does not exist, the module has {}", self.limits.atoms),
            compact::TAG_LABEL => format!("label {number} is not below the announced {}", self.limits.labels),
            _ => format!("operand tag {tag} is not in use"),
        })
    }

    fn big(&mut self, bytes: &[u8]) -> Result<Operand, BeamError> {
        let start = self.bigs.len() as u32;
        self.bigs.extend_from_slice(bytes);
        Ok(Operand::Big(Bytes { start, len: bytes.len() as u32 }))
    }

    fn extended(&mut self, kind: i64) -> Result<Operand, BeamError> {
        match kind {
            1 => {
                let len = self.count(1)?;
                Ok(Operand::List(List { start: 0, len }))
            }
            2 => match compact::unsigned(&mut self.reader)? {
                fr if fr < u64::from(X_REGS) => Ok(Operand::FR(fr as u16)),
                fr => Err(self.reader.error(format!("float register {fr}, there are {X_REGS}"))),
            },
            3 => self.alloc(),
            4 => match compact::unsigned(&mut self.reader)? {
                literal if literal < u64::from(self.limits.literals) => Ok(Operand::Literal(literal as u32)),
                literal => Err(self.reader.error(format!("literal {literal} does not exist, the module has {}", self.limits.literals))),
            },
            5 => {
                let Some(reg) = self.simple_register()? else {
                    return Err(self.reader.error("a typed operand is not a register"));
                };
                let index = compact::unsigned(&mut self.reader)?;
                match self.limits.types {
                    Some(count) if index >= u64::from(count) => {
                        Err(self.reader.error(format!("type {index} does not exist, the module has {count}")))
                    }
                    _ => Ok(Operand::Typed { reg, type_index: index.min(u64::from(u32::MAX)) as u32 }),
                }
            }
            _ => Err(self.reader.error(format!("extended operand {kind} is not in use"))),
        }
    }

    fn simple_register(&mut self) -> Result<Option<Reg>, BeamError> {
        let reg = match compact::term(&mut self.reader)? {
            (compact::TAG_X, Number::Small(x)) if (0..i64::from(X_REGS)).contains(&x) => Reg::X(x as u16),
            (compact::TAG_Y, Number::Small(y)) if (0..i64::from(Y_REGS)).contains(&y) => Reg::Y(y as u16),
            _ => return Ok(None),
        };
        Ok(Some(reg))
    }

    fn alloc(&mut self) -> Result<Operand, BeamError> {
        let mut alloc = Alloc::default();
        for _ in 0..self.count(2)? {
            let kind = compact::unsigned(&mut self.reader)?;
            let number = compact::unsigned(&mut self.reader)?;
            let sum = match kind {
                0 => &mut alloc.words,
                1 => &mut alloc.floats,
                2 => &mut alloc.funs,
                _ => return Err(self.reader.error(format!("allocation kind {kind} is not in use"))),
            };
            // As many as fit in 24 bits: far above what an instruction may need, and sums cannot overflow.
            match u64::from(*sum).checked_add(number) {
                Some(total) if total < 1 << 24 => *sum = total as u32,
                _ => return Err(self.reader.error(format!("an allocation of {number} is too large"))),
            }
        }
        Ok(Operand::Alloc(alloc))
    }

    fn count(&mut self, entry_bytes: usize) -> Result<u32, BeamError> {
        let count = compact::unsigned(&mut self.reader)?;
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        self.reader.check_count(count, entry_bytes).map(|count| count as u32)
    }
}
