//! One segment of a bitstring under construction: its size, its value, its errors.

use super::append::MAX_BITS;
use super::floats::write_float;
use super::integers::write_term;
use super::utf::{Utf, is_code_point, size_of_utf, write_utf};
use heddle_runtime::process::{Exception, Process};
use heddle_term::bits::{BitsView, copy_bits};
use heddle_term::{Atom, Kind, Term, am, big, map};

/// Segment types, as numbers in cells.
pub const INTEGER: u64 = 0;
pub const FLOAT: u64 = 1;
pub const BINARY: u64 = 2;
pub const APPEND: u64 = 3;
pub const STRING: u64 = 4;
pub const UTF8: u64 = 5;
pub const UTF16: u64 = 6;
pub const UTF32: u64 = 7;

/// Size operand of a segment that takes its whole source.
pub const ALL: Term = Term::NONE;

#[derive(Clone, Copy)]
pub struct Segment {
    pub kind: u64,
    pub flags: u64,
    pub unit: u64,
    pub number: u64,
    pub source: Term,
    pub size: Term,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wrong {
    Type,
    Size,
    Limit,
    Unit,
    Short,
    NoFloat,
    Invalid,
}

pub fn utf_kind(kind: u64) -> Utf {
    match kind {
        UTF8 => Utf::Utf8,
        UTF16 => Utf::Utf16,
        _ => Utf::Utf32,
    }
}

/// A size operand times its unit.
#[inline]
pub fn sized(size: Term, unit: u64) -> Result<u64, Wrong> {
    let Some(value) = size.as_small() else {
        return Err(if size.is_kind(Kind::PosBig) { Wrong::Limit } else { Wrong::Size });
    };
    if value < 0 {
        return Err(Wrong::Size);
    }
    match (value as u64).checked_mul(unit) {
        Some(bits) if bits <= MAX_BITS => Ok(bits),
        _ => Err(Wrong::Limit),
    }
}

impl Segment {
    /// Bits that the segment will take. If several segments are wrong, an exception names the one whose error is found first: some errors
    /// are found here, others in `write`.
    #[inline]
    pub fn bits(&self) -> Result<u64, Wrong> {
        match self.kind {
            INTEGER | FLOAT => sized(self.size, self.unit),
            BINARY | APPEND if self.size == ALL => match BitsView::of(self.source) {
                // The first segment is checked when all sizes are known.
                None if self.kind == APPEND => Ok(0),
                None => Err(Wrong::Type),
                Some(view) => Ok(view.size_bits),
            },
            BINARY | APPEND => sized(self.size, self.unit),
            STRING => Ok(self.size.raw() * 8),
            // Of these only UTF-16 is checked when it is written.
            UTF16 => Ok(size_of_utf(Utf::Utf16, self.source.as_small().map_or(u64::MAX, |value| value as u64))),
            kind => match self.source.as_small() {
                Some(value) if is_code_point(value as u64) => Ok(size_of_utf(utf_kind(kind), value as u64)),
                _ => Err(Wrong::Type),
            },
        }
    }

    /// True if a whole source of that size is not a multiple of the unit.
    pub fn splits(&self, bits: u64) -> bool {
        self.unit > 1 && !bits.is_multiple_of(self.unit)
    }

    /// Writes the segment's `bits` at bit `at`. Not for strings.
    ///
    /// # Safety
    /// There is room for what `bits()` said.
    #[inline]
    pub unsafe fn write(&self, base: *mut u8, at: u64, bits: u64) -> Result<(), Wrong> {
        let source = self.source;
        // SAFETY: there is room for what `bits()` said.
        unsafe {
            match self.kind {
                INTEGER => {
                    if !source.is_integer() {
                        return Err(Wrong::Type);
                    }
                    write_term(base, at, bits, source, self.flags);
                }
                FLOAT => {
                    if !matches!(bits, 16 | 32 | 64) {
                        return Err(Wrong::Invalid);
                    }
                    let value = match source.as_float() {
                        Some(value) => value,
                        None if !source.is_integer() => return Err(Wrong::Type),
                        None => big::to_f64(source).ok_or(Wrong::NoFloat)?,
                    };
                    write_float(base, at, bits, value, self.flags);
                }
                BINARY | APPEND => {
                    let view = BitsView::of(source).ok_or(Wrong::Type)?;
                    if self.size == ALL && self.splits(view.size_bits) {
                        return Err(Wrong::Unit);
                    }
                    if view.size_bits < bits {
                        return Err(Wrong::Short);
                    }
                    copy_bits(view.base, view.offset_bits, base, at, bits);
                }
                kind => match source.as_small() {
                    Some(value) if is_code_point(value as u64) => {
                        write_utf(utf_kind(kind), base, at, value as u32, self.flags);
                    }
                    _ => return Err(Wrong::Type),
                },
            }
        }
        Ok(())
    }

    /// Sets the exception, with the explanation that `erl_erts_errors:format_bs_fail/2` reads.
    #[cold]
    pub fn explain(&self, p: &mut Process, wrong: Wrong) {
        let kind = match self.kind {
            INTEGER => "integer",
            FLOAT => "float",
            UTF8 => "utf8",
            UTF16 => "utf16",
            UTF32 => "utf32",
            STRING => "string",
            _ => "binary",
        };
        let (what, value) = match wrong {
            Wrong::Type => ("type", self.source),
            Wrong::Size | Wrong::Limit => ("size", if self.size == ALL { Term::atom(Atom::new("all")) } else { self.size }),
            Wrong::Unit => ("unit", self.source),
            Wrong::Short => ("short", self.source),
            Wrong::NoFloat => ("no_float", self.source),
            Wrong::Invalid => ("invalid", self.size),
        };
        let heap = &mut p.heap;
        let cause = heap.tuple(&[Term::small(self.number as i64), Term::atom(Atom::new(kind)), Term::atom(Atom::new(what)), value]);
        let mut info = map::put(heap, map::empty(), am::CAUSE.into(), cause);
        info = map::put(heap, info, Term::atom(Atom::new("function")), Term::atom(Atom::new("format_bs_fail")));
        info = map::put(heap, info, am::MODULE.into(), am::ERL_ERTS_ERRORS.into());
        let pair = heap.tuple(&[am::ERROR_INFO.into(), info]);
        let info = heap.list(&[pair]);
        p.exception = Exception { reason: reason(wrong), info, ..Exception::NONE };
    }
}

pub fn reason(wrong: Wrong) -> Term {
    if wrong == Wrong::Limit { am::SYSTEM_LIMIT.into() } else { am::BADARG.into() }
}
