//! What the loader made of a module, for the second tier.

use super::chaos::Chaos;
use heddle_abi::opcodes::Op;
use heddle_beamfile::messages::Messages;
use heddle_beamfile::{BeamError, BeamFile, Verified, container};
use heddle_jit::{Addresses, Host, Source};
use heddle_runtime::zeal;
use heddle_term::{Atom, Export, FunEntry, Term};
use std::hash::Hasher;

/// Chunks that are needed to read the code again.
const CHUNKS: [&[u8; 4]; 12] = [b"AtU8", b"Atom", b"Code", b"ImpT", b"ExpT", b"LocT", b"FunT", b"LitT", b"StrT", b"Line", b"Type", b"Attr"];

/// Instructions that collect first where every allocation does.
const ALLOCATE: [Op; 6] = [Op::Allocate, Op::AllocateHeap, Op::TestHeap, Op::BsStartMatch3, Op::BsStartMatch4, Op::BsCreateBin];

/// What the loader found and made.
pub struct Loaded {
    /// For each instruction the offset of its first cell; `heddle_jit::MERGED` for one that is part of an operation before it.
    pub starts: Vec<u32>,
    /// For each label the offset of its first cell.
    pub labels: Vec<u32>,
    pub atoms: Vec<Atom>,
    pub literals: Vec<Term>,
    pub imports: Vec<&'static Export>,
    pub lambdas: Vec<&'static FunEntry>,
    /// For each import: true if a call is a jump to its entry.
    pub is_function: Vec<bool>,
    pub messages: Messages,
}

pub struct Tables {
    /// The parts of the file that are needed to read the code again. Instructions take ten times as much memory when they are decoded.
    file: Box<[u8]>,
    starts: Box<[u32]>,
    labels: Box<[u32]>,
    atoms: Box<[Atom]>,
    literals: Box<[Term]>,
    imports: Box<[&'static Export]>,
    lambdas: Box<[&'static FunEntry]>,
    /// For each import: true if a call is a jump to its entry.
    is_function: Box<[bool]>,
    /// For each function: true if the first tier writes no register between its instructions.
    fits: Box<[bool]>,
    /// Instructions that build messages where they will be sent from.
    messages: Messages,
}

impl Tables {
    /// `bytes`: the file, of which `beam` was read.
    pub fn new(bytes: &[u8], beam: &Verified, loaded: Loaded) -> Tables {
        let Loaded { starts, labels, atoms, literals, imports, lambdas, is_function, messages } = loaded;
        Tables {
            file: container::unpack(bytes).and_then(|file| container::with_chunks(&file, &CHUNKS)).unwrap_or_default().into(),
            is_function: is_function.into(),
            fits: (0..beam.code.functions.len()).map(|index| fits(beam, index)).collect(),
            starts: starts.into(),
            labels: labels.into(),
            atoms: atoms.into(),
            literals: literals.into(),
            imports: imports.into(),
            lambdas: lambdas.into(),
            messages,
        }
    }

    /// True if the second tier may compile the function.
    pub fn fits(&self, index: usize) -> bool {
        self.fits.get(index).copied().unwrap_or(false)
    }

    /// Feeds all to the hasher that decides what becomes of the module's functions.
    pub fn feed(&self, hasher: &mut impl Hasher) {
        hasher.write(&self.file);
        let numbers =
            [self.starts.iter(), self.labels.iter()].into_iter().flatten().copied().chain(self.atoms.iter().map(|atom| atom.index()));
        numbers.for_each(|number| hasher.write_u32(number));
        self.is_function.iter().chain(&self.fits).for_each(|&is| hasher.write_u8(is.into()));
        hasher.write_usize(self.messages.count());
    }

    /// Where the things are that the module's code refers to.
    pub fn addresses<'a>(&'a self, host: Host, base: usize, operation: &'a dyn Fn(u32) -> u64) -> Addresses<'a> {
        Addresses { host, base, operation, literals: &self.literals, imports: &self.imports, lambdas: &self.lambdas }
    }

    /// Reads the code again. It was verified when it was loaded.
    pub fn beam(&self) -> Result<BeamFile, BeamError> {
        BeamFile::parse(&self.file)
    }

    /// `operation`: the first tier's operation in a cell.
    pub fn source<'a>(&'a self, beam: &'a BeamFile, base: usize, operation: &'a dyn Fn(u32) -> u64) -> ModuleSource<'a> {
        let collects_here = move |at: usize| zeal::gc() && ALLOCATE.contains(&beam.code.instrs[at].op);
        let may_inline = Box::new(|index: usize| self.fits(index));
        let chaos = Chaos::wanted();
        let left_at_random = move |at: usize| {
            let function = || beam.code.functions.partition_point(|function| function.entry as usize <= at);
            chaos.is_some_and(|chaos| chaos.leaves(self.atoms[1], function(), at))
        };
        let is_left = Box::new(move |at| self.messages.contains(at) || collects_here(at) || left_at_random(at));
        ModuleSource { tables: self, beam, base, operation, may_inline, is_left }
    }
}

/// False for a function in which the first tier writes registers before an instruction.
fn fits(beam: &Verified, index: usize) -> bool {
    let function = &beam.code.functions[index];
    !beam.raises_raw(index) && !beam.clears_in(function.entry as usize..function.end as usize)
}

/// A module as the second tier takes it.
pub struct ModuleSource<'a> {
    tables: &'a Tables,
    beam: &'a BeamFile,
    base: usize,
    operation: &'a dyn Fn(u32) -> u64,
    may_inline: Box<dyn Fn(usize) -> bool + 'a>,
    is_left: Box<dyn Fn(usize) -> bool + 'a>,
}

impl ModuleSource<'_> {
    pub fn borrow(&self) -> Source<'_> {
        let tables = self.tables;
        Source {
            beam: self.beam,
            base: self.base,
            operation: self.operation,
            starts: &tables.starts,
            labels: &tables.labels,
            atoms: &tables.atoms,
            literals: &tables.literals,
            imports: &tables.imports,
            lambdas: &tables.lambdas,
            is_function: &tables.is_function,
            may_inline: &*self.may_inline,
            is_left: &*self.is_left,
        }
    }
}
