//! Compact terms: a three bit tag and a number in one or more bytes.

use crate::error::BeamError;
use crate::reader::Reader;

pub(crate) const TAG_U: u8 = 0;
pub(crate) const TAG_I: u8 = 1;
pub(crate) const TAG_ATOM: u8 = 2;
pub(crate) const TAG_X: u8 = 3;
pub(crate) const TAG_Y: u8 = 4;
pub(crate) const TAG_LABEL: u8 = 5;
pub(crate) const TAG_EXTENDED: u8 = 7;

/// The number of a compact term.
pub(crate) enum Number<'a> {
    /// Fits in 64 signed bits.
    Small(i64),
    /// Big endian two's complement, nine bytes or more.
    Large(&'a [u8]),
}

/// Reads tag and number.
#[inline]
pub(crate) fn term<'a>(reader: &mut Reader<'a>) -> Result<(u8, Number<'a>), BeamError> {
    let first = reader.u8()?;
    let tag = first & 7;
    if first & 8 == 0 {
        Ok((tag, Number::Small(i64::from(first >> 4))))
    } else if first & 16 == 0 {
        let low = reader.u8()?;
        Ok((tag, Number::Small(i64::from(first >> 5) << 8 | i64::from(low))))
    } else {
        long(reader, first).map(|number| (tag, number))
    }
}

#[cold]
fn long<'a>(reader: &mut Reader<'a>, first: u8) -> Result<Number<'a>, BeamError> {
    let size = match first >> 5 {
        7 => {
            // The size is a compact term itself, but one of few bytes: a number of 2^56 bytes fits in no file.
            let head = reader.u8()?;
            if head & 7 != TAG_U {
                return Err(reader.error("the size of a large number is not a plain number"));
            }
            let extra = match head & 0x18 {
                0x00 | 0x10 => usize::from(head >> 4),
                0x08 => usize::from(head >> 5) << 8 | usize::from(reader.u8()?),
                _ if head >> 5 == 7 => return Err(reader.error("a number is too large")),
                _ => {
                    let bytes = reader.bytes(usize::from(head >> 5) + 2)?;
                    match i64_from(bytes).try_into() {
                        Ok(extra) => extra,
                        Err(_) => return Err(reader.error("a number has a negative size")),
                    }
                }
            };
            extra.saturating_add(9)
        }
        few => usize::from(few) + 2,
    };
    let bytes = reader.bytes(size)?;
    if size <= 8 { Ok(Number::Small(i64_from(bytes))) } else { Ok(Number::Large(bytes)) }
}

/// At most eight bytes of two's complement.
fn i64_from(bytes: &[u8]) -> i64 {
    let sign = bytes.first().map_or(0, |&byte| i64::from(byte as i8) >> 7);
    bytes.iter().fold(sign, |number, &byte| number << 8 | i64::from(byte))
}

/// A compact `u` term of at most 64 bits.
#[inline]
pub(crate) fn unsigned(reader: &mut Reader<'_>) -> Result<u64, BeamError> {
    match term(reader)? {
        (TAG_U, number) => plain(reader, number),
        (tag, _) => Err(reader.error(format!("a plain number wanted, found tag {tag}"))),
    }
}

/// The number of a `u` term as 64 unsigned bits.
#[inline]
pub(crate) fn plain(reader: &Reader<'_>, number: Number<'_>) -> Result<u64, BeamError> {
    match number {
        Number::Small(small) => u64::try_from(small).map_err(|_| reader.error("a plain number is negative")),
        // Nine bytes with a leading zero: the top bit of the other eight is set.
        Number::Large([0, rest @ ..]) if rest.len() == 8 => Ok(i64_from(rest) as u64),
        // Sizes of segments that no bitstring has; they come through as another such size, so that the match fails at run time.
        Number::Large([first, ..]) if first & 0x80 == 0 => Ok(u64::MAX),
        Number::Large(_) => Err(reader.error("a plain number is negative")),
    }
}
