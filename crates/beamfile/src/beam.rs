//! A parsed module: every table the loader needs, owned, inert.

use heddle_abi::opcodes::Op;

use crate::atoms::AtomTable;
use crate::code::{self, Code};
use crate::container::{self, Chunk};
use crate::error::{BeamError, ChunkId};
use crate::lines::LineTable;
use crate::literals::LiteralTable;
use crate::tables::{self, FunctionRef, Import, Lambda};
use crate::types::{self, ValueType};
use crate::{checksum, operand::Operand};

/// Everything a module file says that matters for running it.
#[derive(Clone, Debug, Default)]
pub struct BeamFile {
    pub atoms: AtomTable,
    pub imports: Vec<Import>,
    pub exports: Vec<FunctionRef>,
    /// For debuggers only; empty when the file has no `LocT`.
    pub locals: Vec<FunctionRef>,
    pub lambdas: Vec<Lambda>,
    pub literals: LiteralTable,
    /// `StrT`.
    pub strings: Vec<u8>,
    pub lines: LineTable,
    /// Empty when the file has no type table, or one of a version we do not know.
    pub types: Vec<ValueType>,
    pub code: Code,
    /// External term; empty when missing.
    pub attributes: Vec<u8>,
    /// External term; empty when missing.
    pub compile_info: Vec<u8>,
    /// External term; empty when missing.
    pub meta: Vec<u8>,
    /// All chunks, known or not, as ranges of the file (after [`container::unpack`]).
    pub chunks: Vec<Chunk>,
    md5: [u8; 16],
}

impl BeamFile {
    /// Reads a file. What comes back is well formed, but its code is not verified yet.
    pub fn parse(bytes: &[u8]) -> Result<BeamFile, BeamError> {
        let file = container::unpack(bytes)?;
        let chunks = container::chunks(&file)?;
        let optional = |id: &[u8; 4]| container::find(&file, &chunks, id).map(|data| (ChunkId(*id), data));
        let required = |id: &[u8; 4]| optional(id).ok_or(BeamError::MissingChunk { chunk: ChunkId(*id) });
        let raw = |id: &[u8; 4]| optional(id).map(|(_, data)| data.to_vec()).unwrap_or_default();
        let (id, data) = required(b"AtU8")?;
        let atoms = AtomTable::parse(id, data)?;
        let (id, data) = required(b"ImpT")?;
        let imports = tables::imports(id, data, &atoms)?;
        let (id, data) = required(b"ExpT")?;
        let exports = tables::functions(id, data, &atoms)?;
        let locals = optional(b"LocT").map(|(id, data)| tables::functions(id, data, &atoms)).transpose()?.unwrap_or_default();
        let lambdas = optional(b"FunT").map(|(id, data)| tables::lambdas(id, data, &atoms)).transpose()?.unwrap_or_default();
        let literals = optional(b"LitT").map(|(id, data)| LiteralTable::parse(id, data)).transpose()?.unwrap_or_default();
        let lines = optional(b"Line").map(|(id, data)| LineTable::parse(id, data)).transpose()?.unwrap_or_default();
        let types = optional(b"Type").map(|(id, data)| types::parse(id, data)).transpose()?.flatten();
        let (id, data) = required(b"Code")?;
        let code = code::parse(id, data, &atoms, literals.count(), types.as_ref().map(|types| types.len() as u32))?;
        Ok(BeamFile {
            atoms,
            imports,
            exports,
            locals,
            lambdas,
            literals,
            strings: raw(b"StrT"),
            lines,
            types: types.unwrap_or_default(),
            code,
            attributes: raw(b"Attr"),
            compile_info: raw(b"CInf"),
            meta: raw(b"Meta"),
            md5: checksum::module_md5(&file, &chunks),
            chunks,
        })
    }

    /// The module's name.
    pub fn module(&self) -> &str {
        self.atoms.get(1).unwrap_or_default()
    }

    /// The checksum that `module_info(md5)` answers.
    pub fn module_md5(&self) -> [u8; 16] {
        self.md5
    }

    /// What is known of a typed register.
    #[inline]
    pub fn value_type(&self, type_index: u32) -> ValueType {
        self.types.get(type_index as usize).copied().unwrap_or(ValueType::ANY)
    }

    /// `on_load` stands in at most one function: its index.
    pub fn on_load(&self) -> Option<usize> {
        self.code.functions.iter().position(|function| self.code.body(function).iter().any(|instr| instr.op == Op::OnLoad))
    }

    /// True if a call to this import raises, whatever its arguments. Compilers rely on it: what follows such a call need not make
    /// sense, its frame operand least of all, and it may lack a frame to return to.
    pub fn never_returns(&self, import: u32) -> bool {
        let Some(import) = self.imports.get(import as usize) else {
            return false;
        };
        let name = (self.atoms.get(import.module), self.atoms.get(import.function), import.arity);
        matches!(name, (Some("erlang"), Some("error"), 1..=3) | (Some("erlang"), Some("exit" | "throw"), 1))
    }

    /// Large integers as bytes, see [`Code::big`].
    pub fn big(&self, operand: Operand) -> Option<&[u8]> {
        match operand {
            Operand::Big(big) => Some(self.code.big(big)),
            _ => None,
        }
    }
}
