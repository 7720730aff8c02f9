//! `Type`: what the compiler proved about the value in a register. Promises only; an instruction means the same without them.

use crate::error::{BeamError, ChunkId};
use crate::reader::Reader;

/// What a typed register can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueType {
    /// One bit per kind of term, see the constants.
    pub kinds: u16,
    pub min: Option<i64>,
    pub max: Option<i64>,
    /// Of a bit string: its size is a multiple of this; 1 when nothing is known.
    pub unit: u16,
}

impl ValueType {
    pub const ATOM: u16 = 1 << 0;
    pub const BITSTRING: u16 = 1 << 1;
    pub const CONS: u16 = 1 << 2;
    pub const FLOAT: u16 = 1 << 3;
    pub const FUN: u16 = 1 << 4;
    pub const INTEGER: u16 = 1 << 5;
    pub const MAP: u16 = 1 << 6;
    pub const NIL: u16 = 1 << 7;
    pub const PID: u16 = 1 << 8;
    pub const PORT: u16 = 1 << 9;
    pub const REFERENCE: u16 = 1 << 10;
    pub const TUPLE: u16 = 1 << 11;
    /// Since OTP 29; version 3 tables never say that a value may be one, so `ANY` includes it.
    pub const NATIVE_RECORD: u16 = 1 << 12;

    pub const ANY: ValueType = ValueType { kinds: 0x1fff, min: None, max: None, unit: 1 };

    /// Every value it can hold is of one of these kinds.
    #[inline]
    pub fn is_always(&self, kinds: u16) -> bool {
        self.kinds & !kinds == 0
    }
}

/// `None` when the table has a version we do not know: then every type is `ANY`.
pub(crate) fn parse(chunk: ChunkId, bytes: &[u8]) -> Result<Option<Vec<ValueType>>, BeamError> {
    let mut reader = Reader::new(chunk, bytes);
    let version = reader.u32()?;
    let (any, shift) = match version {
        3 => (0x0fffu16, 12),
        4 => (0x1fff, 13),
        _ => return Ok(None),
    };
    let count = reader.count(2)?;
    let mut types = Vec::with_capacity(count);
    for index in 0..count {
        let bits = reader.u16()?;
        let (has_min, has_max, has_unit) = (bits >> shift & 1 != 0, bits >> shift & 2 != 0, bits >> shift & 4 != 0);
        let kinds = bits & any;
        if (has_min || has_max) && kinds & (ValueType::INTEGER | ValueType::FLOAT) == 0 {
            return Err(reader.error(format!("type {index} has bounds but is no number")));
        }
        if has_unit && kinds & ValueType::BITSTRING == 0 {
            return Err(reader.error(format!("type {index} has a unit but is no bit string")));
        }
        let min = if has_min { Some(reader.i64()?) } else { None };
        let max = if has_max { Some(reader.i64()?) } else { None };
        let unit = if has_unit { u16::from(reader.u8()?) + 1 } else { 1 };
        if index == 0 && bits != any {
            return Err(reader.error("type 0 must be `any`"));
        }
        let kinds = if kinds == any { ValueType::ANY.kinds } else { kinds };
        types.push(ValueType { kinds, min, max, unit });
    }
    if types.is_empty() {
        return Err(reader.error("type 0 must be `any`, but the table is empty"));
    }
    Ok(Some(types))
}
