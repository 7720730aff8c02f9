//! `AtU8`: the atoms of a module. Index 0 is not stored (an atom operand 0 means the empty list); atom 1 names the module.

use crate::compact;
use crate::error::{BeamError, ChunkId};
use crate::reader::Reader;

/// Index into a module's atom table, 1-based as in the file.
pub type AtomIndex = u32;

/// From ERTS: no atom is longer.
const ATOM_CHARS_MAX: usize = 255;
/// From ERTS: the atom table of a running VM can never hold more.
const ATOMS_MAX: usize = 1 << 20;

/// The text of a module's atoms, in one string.
#[derive(Clone, Debug, Default)]
pub struct AtomTable {
    text: String,
    /// Where atom `i` starts; atom `i` ends where `i + 1` starts. Entry 0 stands for the index that is not stored.
    starts: Vec<u32>,
}

impl AtomTable {
    pub(crate) fn parse(chunk: ChunkId, bytes: &[u8]) -> Result<AtomTable, BeamError> {
        let mut reader = Reader::new(chunk, bytes);
        // OTP 28 and later negate the count and write each length as a compact term.
        let stored = reader.u32()? as i32;
        let count = reader.check_count(stored.unsigned_abs() as usize, 1)?;
        if count == 0 || count > ATOMS_MAX {
            return Err(BeamError::chunk(chunk, 0, format!("{count} atoms; a module has 1 to {ATOMS_MAX}")));
        }
        let mut text = String::with_capacity(reader.remaining().saturating_sub(count));
        let mut starts = Vec::with_capacity(count + 2);
        starts.push(0);
        for index in 1..=count {
            starts.push(text.len() as u32);
            let size = if stored < 0 { compact::unsigned(&mut reader)? as usize } else { reader.u8()? as usize };
            let at = reader.clone();
            match std::str::from_utf8(reader.bytes(size)?) {
                Ok(atom) if size <= ATOM_CHARS_MAX || atom.chars().count() <= ATOM_CHARS_MAX => text.push_str(atom),
                Ok(_) => return Err(at.error(format!("atom {index} has more than {ATOM_CHARS_MAX} characters"))),
                Err(_) => return Err(at.error(format!("atom {index} is not UTF-8"))),
            }
        }
        starts.push(text.len() as u32);
        Ok(AtomTable { text, starts })
    }

    /// How many atoms there are; valid indices are `1..=count`.
    pub fn count(&self) -> u32 {
        self.starts.len().saturating_sub(2) as u32
    }

    pub fn get(&self, index: AtomIndex) -> Option<&str> {
        let index = index as usize;
        if index == 0 {
            return None;
        }
        self.text.get(*self.starts.get(index)? as usize..*self.starts.get(index + 1)? as usize)
    }

    /// All atoms in order, starting with atom 1.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (1..=self.count()).filter_map(|index| self.get(index))
    }

    pub(crate) fn check(&self, index: u32, reader: &Reader<'_>) -> Result<AtomIndex, BeamError> {
        if index == 0 || index > self.count() {
            return Err(reader.error(format!("atom {index} does not exist, the module has {}", self.count())));
        }
        Ok(index)
    }
}
