//! `LitT`: constants in the external term format. Only their places are found here; another crate decodes them.

use crate::container::inflate;
use crate::error::{BeamError, ChunkId};
use crate::reader::Reader;

/// The constants of a module, each in external format with its version byte.
#[derive(Clone, Debug, Default)]
pub struct LiteralTable {
    bytes: Vec<u8>,
    ranges: Vec<(u32, u32)>,
}

impl LiteralTable {
    pub(crate) fn parse(chunk: ChunkId, stored: &[u8]) -> Result<LiteralTable, BeamError> {
        let mut reader = Reader::new(chunk, stored);
        let size = reader.u32()? as usize;
        // OTP 28 and later store the table as it is and write size 0.
        let bytes = match size {
            0 => reader.rest().to_vec(),
            _ => inflate(reader.rest(), size).map_err(|problem| BeamError::chunk(chunk, 4, problem))?,
        };
        let mut reader = Reader::new(chunk, &bytes);
        let count = reader.count(4)?;
        let mut ranges = Vec::with_capacity(count);
        for _ in 0..count {
            let size = reader.u32()?;
            let start = reader.pos() as u32;
            reader.bytes(size as usize)?;
            ranges.push((start, start + size));
        }
        Ok(LiteralTable { bytes, ranges })
    }

    pub fn count(&self) -> u32 {
        self.ranges.len() as u32
    }

    pub fn get(&self, index: u32) -> Option<&[u8]> {
        let &(start, end) = self.ranges.get(index as usize)?;
        self.bytes.get(start as usize..end as usize)
    }

    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.count()).filter_map(|index| self.get(index))
    }
}
