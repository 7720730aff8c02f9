//! Functions that a NIF library implements: what the code of a module, the loader of libraries and the engine know of each other.
//!
//! A function that may become a NIF has a cell for the address of a `NifFunction` in its code, 0 while no library is loaded. So the
//! functions of a library are bound to one version of the module, and gone with it.

use crate::code::Instance;
use crate::process::{NativeResult, Process};
use heddle_term::{Atom, Term};
use std::any::Any;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

/// The threads on which a NIF runs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum NifThread {
    Scheduler,
    DirtyCpu,
    DirtyIo,
}

/// What the engine calls instead of the body of a function. The library owns it.
#[repr(C)]
pub struct NifFunction {
    /// Calls the C function. The arguments are registers; one more than the arity: see `code_of`. The last one says how many reductions are left of the slice.
    pub call: unsafe fn(&NifFunction, &mut Process, &[Term], i64) -> NativeResult,
    pub pointer: usize,
    /// The library, for `call`.
    pub library: *const (),
    pub thread: NifThread,
    pub name: Atom,
    pub arity: u8,
}

// SAFETY: it is never changed, and what it refers to belongs to the library, which all threads may use.
unsafe impl Send for NifFunction {}
// SAFETY: as above.
unsafe impl Sync for NifFunction {}

/// A function that may become a NIF.
#[derive(Clone, Copy)]
pub struct NifPlace {
    pub name: Atom,
    pub arity: u8,
    /// Offset of the cell for the address of its `NifFunction`.
    pub cell: u32,
}

/// A loaded library, as the module's version that loaded it knows it.
pub trait NifLibrary: Any + Send + Sync {
    /// Names and arities of its functions.
    fn functions(&self) -> Vec<(Atom, u8)>;
    /// True if a process at this cell will call a function of the library, though not in the code of the module (`enif_schedule_nif`).
    fn is_scheduled(&self, cell: *const u64) -> bool;
    /// Calls the function of the first of these names that the library has with this arity, as tracing does: outside of any process, but
    /// `enif_self` says the pid `for_pid`. The outer None: there is no such function any more; the inner one: it raised an exception. Of the
    /// result only an atom may be used.
    fn call_tracer(&self, names: [&str; 2], arguments: &[Term], for_pid: Option<u64>) -> Option<Option<Term>>;
    /// The version was purged: no process is in its code any more.
    fn purged(&self);
    fn as_any(&self) -> &dyn Any;
}

/// The NIFs of a version of a module.
#[derive(Default)]
pub struct Nifs {
    pub places: Vec<NifPlace>,
    library: Mutex<Option<Arc<dyn NifLibrary>>>,
}

impl Nifs {
    pub fn of_places(places: Vec<NifPlace>) -> Nifs {
        Nifs { places, library: Mutex::default() }
    }
    pub fn library(&self) -> Option<Arc<dyn NifLibrary>> {
        self.library.lock().unwrap().clone()
    }
    pub fn place(&self, name: Atom, arity: u8) -> Option<&NifPlace> {
        self.places.iter().find(|p| p.name == name && p.arity == arity)
    }
}

impl Instance {
    /// Binds the functions of a library to the module's code. `functions` belong to `library`.
    pub fn bind_nifs(&self, library: Arc<dyn NifLibrary>, functions: &[NifFunction]) {
        *self.nifs.library.lock().unwrap() = Some(library);
        for function in functions {
            let Some(place) = self.nifs.place(function.name, function.arity) else { continue };
            // SAFETY: the cell is one of this code; other threads read it as an atomic, too.
            let cell = unsafe { AtomicU64::from_ptr(self.code.as_ptr().wrapping_add(place.cell as usize) as *mut u64) };
            // Release: the engine, which reads it with Acquire, sees the function.
            cell.store(function as *const NifFunction as u64, Ordering::Release);
        }
    }

    /// The version's code is purged, or was never made current.
    pub fn unload_nifs(&self) {
        if let Some(library) = self.nifs.library() {
            library.purged();
        }
    }
}

/// The operations with which the code of a NIF begins.
pub struct NifOperations {
    pub func_info: u64,
    pub start: u64,
    pub again: u64,
}

/// Set by the engine at the start.
pub static OPERATIONS: OnceLock<NifOperations> = OnceLock::new();

/// Code that is nothing but a NIF that another one scheduled, with its function header. `function` must outlive it. After its arguments
/// it has one register more: `{Module, Function, Arguments}` of the call that the program made, which an exception shows.
pub fn code_of(module: Atom, function: &NifFunction) -> Box<[u64]> {
    let operations = OPERATIONS.get().expect("engine started");
    let arity = function.arity as u64 + 1;
    let (module, name) = (Term::atom(module).raw(), Term::atom(function.name).raw());
    let function = function as *const NifFunction as u64;
    Box::new([operations.func_info, module, name, arity, operations.start, function, arity, operations.again])
}

/// Offset of the entry of `code_of`.
pub const CODE_ENTRY: usize = 4;

/// Modules whose libraries were called, the first one last (`system_info(taints)`).
static TAINTS: Mutex<Vec<Atom>> = Mutex::new(Vec::new());

/// Code of a library of the module runs now.
pub fn taint(module: Atom) {
    let mut taints = TAINTS.lock().unwrap();
    if !taints.contains(&module) {
        taints.push(module);
    }
}

pub fn taints() -> Vec<Atom> {
    TAINTS.lock().unwrap().iter().rev().copied().collect()
}

/// True if call-backs of resources wait to be called. Set at the start, if there are libraries.
pub static CALLBACKS_ARE_DUE: OnceLock<fn() -> bool> = OnceLock::new();

/// Loads a library for the code that calls `load_nif/2`: file name and argument.
pub type LoadNif = fn(&mut Process, &Arc<Instance>, Term, Term) -> NativeResult;

/// Set at the start, if there is a loader of libraries.
pub static LOAD_NIF: OnceLock<LoadNif> = OnceLock::new();
