//! The module table: per module a current and an old version, with what is needed to find a function by code address.
//! Changes are made under one mutex; calls go through exports and never look here.

pub mod coverage;
pub mod exports;
pub mod foreign;
pub mod funs;
pub mod literal_areas;
pub mod natives;
pub mod nifs;
pub mod places;

use crate::code::literal_areas::Literals;
use crate::observe::locks::LockClass;
use foldhash::fast::FixedState;
use heddle_term::code_cell::{FunEntry, Mfa};
use heddle_term::{Atom, Export, Term};
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};

/// One loaded version of a module. Its code block is freed when the last `Arc` goes (after purge, plus a quiescent state).
pub struct Instance {
    pub name: Atom,
    pub md5: [u8; 16],
    /// Code cells; never moved.
    pub code: Box<[u64]>,
    /// Sorted by `start`.
    pub functions: Vec<Function>,
    /// Exports in file order, with the offset of their code.
    pub exports: Vec<(&'static Export, u32)>,
    pub funs: Vec<(&'static FunEntry, u32)>,
    /// Sorted by code offset; from the `line` instructions.
    pub lines: Vec<LineEntry>,
    pub file_names: Vec<String>,
    /// `module_info` data as literals: attributes, compile info.
    pub attributes: Term,
    pub compile_info: Term,
    pub has_on_load: bool,
    /// Offset of the on_load function's code.
    pub on_load: Option<u32>,
    pub literals: Literals,
    pub coverage: crate::code::coverage::Coverage,
    /// Ascending offsets of operations that build what is judged to be sent; empty if that analysis is off.
    pub message_sites: Vec<u32>,
    pub nifs: nifs::Nifs,
    /// Machine code that cells refer to.
    pub machine_code: Option<Box<dyn std::any::Any + Send + Sync>>,
}

impl Instance {
    /// A module of these cells without functions, exports and what a beam file says besides.
    pub fn bare(name: Atom, code: Box<[u64]>) -> Instance {
        Instance {
            name,
            md5: [0; 16],
            code,
            functions: Vec::new(),
            exports: Vec::new(),
            funs: Vec::new(),
            lines: Vec::new(),
            file_names: Vec::new(),
            attributes: Term::NIL,
            compile_info: Term::NIL,
            has_on_load: false,
            on_load: None,
            literals: Literals::default(),
            coverage: Default::default(),
            message_sites: Vec::new(),
            nifs: nifs::Nifs::default(),
            machine_code: None,
        }
    }
}

#[derive(Clone, Copy)]
pub struct Function {
    /// Offset of the first cell (that of func_info, before the entry).
    pub start: u32,
    pub entry: u32,
    pub name: Atom,
    pub arity: u8,
}

#[derive(Clone, Copy)]
pub struct LineEntry {
    pub offset: u32,
    pub file: u16,
    pub line: u32,
}

#[derive(Default)]
pub struct Module {
    pub current: Option<Arc<Instance>>,
    pub old: Option<Arc<Instance>>,
    /// Loaded, but its on_load function has not succeeded yet.
    pub pending: Option<Arc<Instance>>,
    /// The old version, while a version whose on_load function failed is purged in its place.
    pub old_meanwhile: Option<Arc<Instance>>,
    /// A version was loaded at some time: there is something that may be deleted, also again.
    pub was_loaded: bool,
}

static MODULES: Mutex<Option<HashMap<Atom, Module, FixedState>>> = Mutex::new(None);
/// Start address of each code block to its instance.
static RANGES: RwLock<BTreeMap<usize, Arc<Instance>>> = RwLock::new(BTreeMap::new());
/// Counts the changes of `RANGES`. It is incremented before a change can be seen: Release under the lock of `RANGES`, Acquire in `version`.
static CHANGES: AtomicU64 = AtomicU64::new(0);

/// Runs `f` on the module's entry (made if need be), under the table's lock.
pub fn with_module<R>(name: Atom, f: impl FnOnce(&mut Module) -> R) -> R {
    let mut modules = LockClass::Modules.lock(&MODULES);
    f(modules.get_or_insert_with(HashMap::default).entry(name).or_default())
}

pub fn with_all<R>(f: impl FnOnce(&mut HashMap<Atom, Module, FixedState>) -> R) -> R {
    f(LockClass::Modules.lock(&MODULES).get_or_insert_with(HashMap::default))
}

pub fn current(name: Atom) -> Option<Arc<Instance>> {
    with_module(name, |m| m.current.clone())
}

pub fn add_range(instance: &Arc<Instance>) {
    let mut ranges = LockClass::CodeRanges.write(&RANGES);
    CHANGES.fetch_add(1, Ordering::Release);
    ranges.insert(instance.code.as_ptr() as usize, instance.clone());
}

pub fn remove_range(instance: &Arc<Instance>) {
    let mut ranges = LockClass::CodeRanges.write(&RANGES);
    CHANGES.fetch_add(1, Ordering::Release);
    ranges.remove(&(instance.code.as_ptr() as usize));
}

impl Instance {
    pub fn contains(&self, cell: *const u64) -> bool {
        let start = self.code.as_ptr() as usize;
        (cell as usize).wrapping_sub(start) < self.code.len() * 8
    }
    pub fn function_at(&self, offset: u32) -> Option<&Function> {
        let i = self.functions.partition_point(|f| f.start <= offset);
        i.checked_sub(1).map(|i| &self.functions[i])
    }
    /// File name and line of the last `line` instruction at or before `offset`, in the same function.
    pub fn line_at(&self, offset: u32) -> Option<(&str, u32)> {
        let function = self.function_at(offset)?;
        let i = self.lines.partition_point(|l| l.offset <= offset).checked_sub(1)?;
        let entry = self.lines[i];
        if entry.offset < function.start || entry.line == 0 {
            return None;
        }
        Some((self.file_names.get(entry.file as usize)?, entry.line))
    }
}

pub struct Location {
    pub mfa: Mfa,
    pub instance: Arc<Instance>,
    pub offset: u32,
}

/// While this number stays the same, `locate` returns the same for the same address.
pub(crate) fn version() -> u64 {
    CHANGES.load(Ordering::Acquire)
}

/// The function at a code address. For a return address pass the address minus one cell, which belongs to the call.
pub fn locate(cell: *const u64) -> Option<Location> {
    let ranges = LockClass::CodeRanges.read(&RANGES);
    let (_, instance) = ranges.range(..=cell as usize).next_back()?;
    if !instance.contains(cell) {
        return None;
    }
    let offset = ((cell as usize - instance.code.as_ptr() as usize) / 8) as u32;
    let f = instance.function_at(offset)?;
    Some(Location { mfa: Mfa { module: instance.name, function: f.name, arity: f.arity }, instance: instance.clone(), offset })
}
