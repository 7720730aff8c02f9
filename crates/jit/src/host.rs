//! What compiled code has to know of the VM and of the module that is compiled.

use heddle_beamfile::BeamFile;
use heddle_term::{Atom, Export, FunEntry, Term};

/// Facts about the first tier. The X registers stand at the start of its register file.
#[derive(Clone, Copy, Debug)]
pub struct Host {
    /// Byte offset of the float registers in the register file.
    pub floats: i32,
    /// Byte offsets of the pointers to the number of the running process: in the register file, in the process, and of the number itself.
    pub pid: [i32; 3],
    /// Words of the stack that stay free between heap and stack.
    pub slack_words: usize,
    /// Where objects lie that the process must not change in place: the first address and the number of bytes.
    pub fixed: [usize; 2],
    /// Address of a word that is 0 while no function is traced.
    pub traced: usize,
    /// Address of the operation that ends the slice at the function entry in its `ip`.
    pub yield_at: usize,
    /// Address of a [`MapGet`].
    pub map_get: usize,
    /// It is told which code does which instruction.
    pub tells_lines: bool,
}

/// Returns the value of a key of a map, or `Term::NONE`. It makes no terms.
pub type MapGet = extern "C" fn(map: Term, key: Term) -> Term;

/// Where the things are that machine code of a module refers to.
#[derive(Clone, Copy)]
pub struct Addresses<'a> {
    pub host: Host,
    /// Address of the first cell.
    pub base: usize,
    /// The first tier's operation in a cell.
    pub operation: &'a dyn Fn(u32) -> u64,
    pub literals: &'a [Term],
    pub imports: &'a [&'static Export],
    pub lambdas: &'a [&'static FunEntry],
}

impl Addresses<'_> {
    /// The address of a cell.
    pub(crate) fn cell(&self, cell: u32) -> usize {
        self.base + cell as usize * 8
    }
}

/// A module, with what the loader of the first tier made of it.
pub struct Source<'a> {
    /// Verified, when it was loaded.
    pub beam: &'a BeamFile,
    /// Address of the first cell.
    pub base: usize,
    /// The first tier's operation in a cell.
    pub operation: &'a dyn Fn(u32) -> u64,
    /// For each instruction the offset of its first cell, or [`crate::MERGED`].
    pub starts: &'a [u32],
    /// For each label the offset of its first cell.
    pub labels: &'a [u32],
    /// Atoms by their index in the module; the first is not used.
    pub atoms: &'a [Atom],
    pub literals: &'a [Term],
    pub imports: &'a [&'static Export],
    pub lambdas: &'a [&'static FunEntry],
    /// For each import: true if a call is a jump to the entry of the export, and nothing else.
    pub is_function: &'a [bool],
    /// True if the function with this index is what its instructions say: the first tier does nothing between them.
    pub may_inline: &'a dyn Fn(usize) -> bool,
    /// True if the instruction must be left to the first tier.
    pub is_left: &'a dyn Fn(usize) -> bool,
}

impl<'a> Source<'a> {
    /// Where its things are.
    pub fn addresses(&self, host: Host) -> Addresses<'a> {
        let Source { base, operation, literals, imports, lambdas, .. } = *self;
        Addresses { host, base, operation, literals, imports, lambdas }
    }
}
