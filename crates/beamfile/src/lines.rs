//! `Line`: what `line` instructions point into, for stack traces.

use crate::compact::{self, Number, TAG_ATOM, TAG_I};
use crate::error::{BeamError, ChunkId};
use crate::reader::Reader;

/// A place in a source file. `line` 0 means unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Location {
    /// 0 is the module's name plus `.erl`; others are `names[file - 1]`.
    pub file: u32,
    pub line: u32,
}

#[derive(Clone, Debug, Default)]
pub struct LineTable {
    /// Indexed by the operand of `line`; item 0 is "unknown".
    pub items: Vec<Location>,
    pub names: Vec<String>,
    /// There are `executable_line` instructions.
    pub has_executable: bool,
    /// Compiled to be counted whatever the VM's mode.
    pub is_forced: bool,
}

/// Bits of the flags.
const EXECUTABLE: u32 = 1;
const FORCED: u32 = 2;

impl LineTable {
    pub(crate) fn parse(chunk: ChunkId, bytes: &[u8]) -> Result<LineTable, BeamError> {
        let mut reader = Reader::new(chunk, bytes);
        let version = reader.u32()?;
        if version != 0 {
            // As ERTS does: positions of a version we do not know are not worth refusing the module.
            return Ok(LineTable::default());
        }
        let flags = reader.u32()?;
        let _instructions = reader.u32()?;
        let count = reader.u32()? as usize;
        let name_count = reader.u32()? as usize;
        reader.check_count(count, 1)?;
        reader.check_count(name_count, 2)?;
        let mut items = Vec::with_capacity(count + 1);
        items.push(Location::default());
        let mut file = 0;
        while items.len() <= count {
            match compact::term(&mut reader)? {
                (TAG_ATOM, Number::Small(index)) if (0..=name_count as i64).contains(&index) => file = index as u32,
                (TAG_I, Number::Small(line)) if (0..=i64::from(u32::MAX)).contains(&line) => {
                    items.push(Location { file, line: line as u32 })
                }
                _ => return Err(reader.error("neither a line nor the number of a file name")),
            }
        }
        let mut names = Vec::with_capacity(name_count);
        for _ in 0..name_count {
            let size = reader.u16()?.into();
            let name = std::str::from_utf8(reader.bytes(size)?).map_err(|_| reader.error("a file name is not UTF-8"))?;
            names.push(name.to_owned());
        }
        Ok(LineTable { items, names, has_executable: flags & EXECUTABLE != 0, is_forced: flags & FORCED != 0 })
    }
}
