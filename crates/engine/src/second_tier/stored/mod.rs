//! Machine code that was made before, in a file: a function that has some needs no compiling.
//!
//! `heddle precompile` makes the file for the modules of libraries. A function takes its code from it after few calls, which costs microseconds. What differs
//! from one run to the next is filled in (`heddle_jit::restore`), but for the numbers of atoms, which are part of instructions. So the file has the
//! names of all atoms up to the last one that its code knows, and the VM keeps the numbers for them.

mod format;
mod key;
pub mod make;

use format::{FunctionRow, Header, ModuleRow};
use heddle_term::atom;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::OnceLock;

pub use key::of_module;

/// Calls after which a function takes its code from the file (guessed: less, and what a start calls once or twice would take memory).
pub const CALLS: u64 = 20;

/// The file, as long as the VM runs.
struct Store {
    file: File,
    modules: Vec<ModuleRow>,
}

static STORE: OnceLock<Store> = OnceLock::new();

/// Why a file is not used.
#[derive(Debug)]
pub enum Problem {
    Io(io::Error),
    /// It is no such file, or a part of it is missing or damaged.
    Damaged,
    /// Another Heddle made it, or another computer.
    Foreign,
    /// Its atoms cannot have their numbers.
    Atoms,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Problem::Io(error) => write!(f, "{error}"),
            Problem::Damaged => write!(f, "it is damaged, or not a file of heddle precompile"),
            Problem::Foreign => write!(f, "it was made by another build of Heddle, or for another processor"),
            Problem::Atoms => write!(f, "the numbers of its atoms are taken"),
        }
    }
}

impl From<io::Error> for Problem {
    fn from(error: io::Error) -> Problem {
        Problem::Io(error)
    }
}

/// Uses the machine code in this file from now on. Must be called before there are atoms other than the predefined ones.
pub fn open(path: &Path) -> Result<(), Problem> {
    let file = File::open(path)?;
    let mut bytes = [0; format::HEADER_BYTES];
    file.read_exact_at(&mut bytes, 0).map_err(cut)?;
    let header = Header::decode(&bytes).ok_or(Problem::Damaged)?;
    if Some(header.vm) != key::of_vm() {
        return Err(Problem::Foreign);
    }
    if file.metadata()?.len() != header.file_bytes {
        return Err(Problem::Damaged);
    }
    let mut index = vec![0; header.index_bytes as usize];
    file.read_exact_at(&mut index, format::HEADER_BYTES as u64).map_err(cut)?;
    if key::of_bytes(&index) != header.index_check {
        return Err(Problem::Damaged);
    }
    let index: &'static [u8] = Box::leak(index.into_boxed_slice());
    let (names, modules) = format::index(index, &header).ok_or(Problem::Damaged)?;
    if !atom::reserve(header.first_atom as usize, &names) {
        return Err(Problem::Atoms);
    }
    let _ = STORE.set(Store { file, modules });
    Ok(())
}

fn cut(error: io::Error) -> Problem {
    if error.kind() == io::ErrorKind::UnexpectedEof { Problem::Damaged } else { Problem::Io(error) }
}

/// Where the code of the functions of a module stands in the file.
pub struct StoredModule(Vec<FunctionRow>);

/// What the file has of the module with this key.
pub fn module(key: u64) -> Option<StoredModule> {
    let store = STORE.get()?;
    let row = store.modules.get(store.modules.binary_search_by_key(&key, |row| row.key).ok()?)?;
    let bytes = store.read(row.at, row.functions as usize * format::FUNCTION_BYTES, row.check)?;
    Some(StoredModule(format::functions(&bytes)))
}

/// True if a file is used.
pub fn is_there() -> bool {
    STORE.get().is_some()
}

impl StoredModule {
    fn row(&self, index: usize) -> Option<&FunctionRow> {
        self.0.get(self.0.binary_search_by_key(&(index as u32), |row| row.index).ok()?)
    }

    /// True if the file has code for the function with this index.
    pub fn has(&self, index: usize) -> bool {
        self.row(index).is_some()
    }

    /// The code, for `heddle_jit::restore`.
    pub fn code(&self, index: usize) -> Option<Vec<u8>> {
        let row = self.row(index)?;
        STORE.get()?.read(row.at, row.bytes as usize, row.check)
    }
}

impl Store {
    /// `None` if the bytes are not those that were written.
    fn read(&self, at: u64, bytes: usize, check: u64) -> Option<Vec<u8>> {
        let mut read = vec![0; bytes];
        self.file.read_exact_at(&mut read, at).ok()?;
        (key::of_bytes(&read) == check).then_some(read)
    }
}
