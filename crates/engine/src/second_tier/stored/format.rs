//! The file of machine code. All numbers have their first byte least.
//!
//! First the header, then the index: the names of atoms, each with its length in 16 bits before it, and a row per module, by their keys. After the index
//! the code of functions, and for each module a row per function, by their indices.

/// Begins each file. The last byte is the version of the format.
const MAGIC: [u8; 8] = *b"HEDDLEM\x01";

pub const HEADER_BYTES: usize = 56;
pub const MODULE_BYTES: usize = 28;
pub const FUNCTION_BYTES: usize = 24;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The key of the VM.
    pub vm: u64,
    /// Bytes of the whole file.
    pub file_bytes: u64,
    pub index_bytes: u64,
    /// Check sum of the index.
    pub index_check: u64,
    /// Number of the first atom that has a name here.
    pub first_atom: u32,
    pub atoms: u32,
    pub modules: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleRow {
    pub key: u64,
    /// Offset of the rows of its functions.
    pub at: u64,
    /// Check sum of these rows.
    pub check: u64,
    pub functions: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionRow {
    pub index: u32,
    /// Bytes of its code.
    pub bytes: u32,
    /// Offset of its code.
    pub at: u64,
    /// Check sum of its code.
    pub check: u64,
}

/// Numbers, one after the other.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }
    fn long(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.bytes(8)?.try_into().ok()?))
    }
    fn word(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.bytes(4)?.try_into().ok()?))
    }
    fn short(&mut self) -> Option<u16> {
        Some(u16::from_le_bytes(self.bytes(2)?.try_into().ok()?))
    }
}

impl Header {
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        for number in [self.vm, self.file_bytes, self.index_bytes, self.index_check] {
            bytes.extend(number.to_le_bytes());
        }
        for number in [self.first_atom, self.atoms, self.modules, 0] {
            bytes.extend(number.to_le_bytes());
        }
        bytes
    }

    pub fn decode(bytes: &[u8]) -> Option<Header> {
        let mut rest = Reader(bytes.strip_prefix(&MAGIC)?);
        let [vm, file_bytes, index_bytes, index_check] = [rest.long()?, rest.long()?, rest.long()?, rest.long()?];
        let [first_atom, atoms, modules] = [rest.word()?, rest.word()?, rest.word()?];
        let header = Header { vm, file_bytes, index_bytes, index_check, first_atom, atoms, modules };
        (index_bytes <= file_bytes).then_some(header)
    }
}

impl ModuleRow {
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(MODULE_BYTES);
        for number in [self.key, self.at, self.check] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(self.functions.to_le_bytes());
        bytes
    }
}

impl FunctionRow {
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(FUNCTION_BYTES);
        bytes.extend(self.index.to_le_bytes());
        bytes.extend(self.bytes.to_le_bytes());
        bytes.extend(self.at.to_le_bytes());
        bytes.extend(self.check.to_le_bytes());
        bytes
    }
}

/// Names of atoms as they stand in the index.
pub fn names<'a>(names: impl Iterator<Item = &'a str>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for name in names {
        bytes.extend((name.len() as u16).to_le_bytes());
        bytes.extend(name.as_bytes());
    }
    bytes
}

/// The names of atoms, and the modules.
pub fn index<'a>(bytes: &'a [u8], header: &Header) -> Option<(Vec<&'a str>, Vec<ModuleRow>)> {
    let mut rest = Reader(bytes);
    let names = (0..header.atoms).map(|_| {
        let size = rest.short()?;
        str::from_utf8(rest.bytes(size.into())?).ok()
    });
    let names = names.collect::<Option<Vec<_>>>()?;
    let modules = (0..header.modules)
        .map(|_| Some(ModuleRow { key: rest.long()?, at: rest.long()?, check: rest.long()?, functions: rest.word()? }))
        .collect::<Option<Vec<_>>>()?;
    rest.0.is_empty().then_some((names, modules))
}

/// The functions of a module.
pub fn functions(bytes: &[u8]) -> Vec<FunctionRow> {
    let row = |bytes: &[u8]| {
        let mut rest = Reader(bytes);
        Some(FunctionRow { index: rest.word()?, bytes: rest.word()?, at: rest.long()?, check: rest.long()? })
    };
    bytes.chunks_exact(FUNCTION_BYTES).filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_rows_come_back() {
        let header = Header { vm: 1, file_bytes: 1000, index_bytes: 5, index_check: 3, first_atom: 4, atoms: 2, modules: 1 };
        assert_eq!(header.encode().len(), HEADER_BYTES);
        assert_eq!(Header::decode(&header.encode()), Some(header.clone()));
        let module = ModuleRow { key: u64::MAX, at: 7, check: 8, functions: 9 };
        assert_eq!(module.encode().len(), MODULE_BYTES);
        let bytes = [names(["", "größe"].into_iter()), module.encode()].concat();
        assert_eq!(index(&bytes, &header), Some((vec!["", "größe"], vec![module])));
        let function = FunctionRow { index: 3, bytes: 4, at: 5, check: 6 };
        assert_eq!(functions(&function.encode()), [function]);
    }

    #[test]
    fn a_header_of_another_version_or_with_an_index_beyond_the_end_is_refused() {
        let header = Header { vm: 1, file_bytes: 4, index_bytes: 5, index_check: 3, first_atom: 4, atoms: 2, modules: 1 };
        assert_eq!(Header::decode(&header.encode()), None);
        let mut bytes = Header { file_bytes: 5, ..header }.encode();
        assert!(Header::decode(&bytes).is_some());
        bytes[7] += 1;
        assert_eq!(Header::decode(&bytes), None);
    }
}
