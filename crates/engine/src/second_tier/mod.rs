//! The second tier as the engine sees it: which functions it compiles, when, and how its code gets into their cells.
//!
//! With `+jit N` the first cell of a function holds an operation that counts calls (`ops::calls::count_call`). After N of them the function is compiled by a
//! thread of its own (`worker`), while processes go on in the first tier. With `+jit eager` all functions are compiled when their module is loaded.

mod chaos;
pub mod counted;
mod dump;
pub mod figures;
mod jitdump;
mod perf;
mod reads;
mod residents;
pub mod stored;
mod tables;
mod worker;

pub use heddle_jit::Shown;
pub use tables::{Loaded, Tables};
pub use worker::request;

use figures::{COUNTS, thread_time};
use heddle_abi::settings::{CoverageMode, SETTINGS};
use heddle_beamfile::Verified;
use heddle_jit::{CodeMemory, Compiled, Compiler, Host, MapGet, Place, Source};
use heddle_runtime::code::{Function, Instance};
use heddle_runtime::process::{Process, STACK_SLACK_WORDS};
use heddle_runtime::trace::breakpoints;
use heddle_term::area::Fixed;
use heddle_term::{Atom, Term};
use residents::Installed;
use std::any::Any;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, Once, OnceLock, PoisonError};
use stored::StoredModule;

/// When functions are compiled.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    Off,
    Eager,
    /// After this many calls.
    After(u64),
}

/// `+jit` as a number.
const OFF: usize = 0;
const EAGER: usize = 1;

/// When functions of modules that are loaded now are compiled.
pub fn mode() -> Mode {
    // Coverage counts with operations of its own.
    match SETTINGS.jit.get() {
        _ if SETTINGS.coverage.get() != CoverageMode::None => Mode::Off,
        OFF => Mode::Off,
        EAGER => Mode::Eager,
        calls => Mode::After(calls as u64),
    }
}

/// What compiled code has to know. `None` before there are operations.
pub fn host() -> Option<Host> {
    let operations = OPERATIONS.get()?;
    Some(Host {
        floats: operations.floats as i32,
        pid: [operations.process as i32, Process::PID_AT[0] as i32, Process::PID_AT[1] as i32],
        slack_words: STACK_SLACK_WORDS,
        fixed: Fixed::now().place(),
        traced: breakpoints::COUNT.as_ptr() as usize,
        yield_at: operations.yield_at as usize,
        map_get: map_get as MapGet as usize,
        tells_lines: perf::is_on(),
    })
}

extern "C" fn map_get(map: Term, key: Term) -> Term {
    heddle_term::map::get(map, key).unwrap_or(Term::NONE)
}

/// What the second tier must know of the first.
pub struct Operations {
    /// Byte offset of the float registers in the register file.
    pub floats: usize,
    /// Byte offset of the pointer to the running process there.
    pub process: usize,
    /// It counts a call.
    pub count_call: u64,
    /// It notes that a function with machine code was entered.
    pub enter_watched: u64,
    /// It ends the slice at the function entry in its `ip`.
    pub yield_at: u64,
}

/// Set by `init`.
static OPERATIONS: OnceLock<Operations> = OnceLock::new();

/// Must be called after the flags were read, and before code is loaded.
pub fn init(operations: Operations) {
    heddle_jit::set_limit(SETTINGS.code_limit_bytes.get());
    let _ = OPERATIONS.set(operations);
}

/// There is no memory for more code. It is told once.
fn complain(error: &impl std::fmt::Display) {
    static TOLD: Once = Once::new();
    TOLD.call_once(|| heddle_runtime::exit::log_message("warning", &format!("No more functions are compiled: {error}")));
}

const LIMIT_REACHED: &str = "the limit for machine code is reached (+JMlimit)";

/// What a module keeps for the second tier, as long as its cells live.
pub struct Kept {
    /// To compile functions later.
    tables: Option<Tables>,
    /// Machine code of functions that was made before.
    stored: Option<StoredModule>,
    /// Machine code of all functions, if they were compiled when the module was loaded.
    _all: Option<CodeMemory>,
    /// Functions that were compiled one by one, by their entries.
    functions: Mutex<HashMap<u32, Installed>>,
}

impl Kept {
    fn of(kept: &(dyn Any + Send + Sync)) -> Option<&Kept> {
        kept.downcast_ref()
    }

    fn functions(&self) -> MutexGuard<'_, HashMap<u32, Installed>> {
        self.functions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A function with fewer than twice as many instructions is compiled after the number of calls that `+jit` gives.
const SMALL_INSTRS: u64 = 30;

/// Calls after which a function with this many instructions is compiled. Compiling takes time in proportion to them, and what a call gains does not
/// grow as much. (Own measurement: with the same number for all, `erlc lists.erl` compiles twice as long and is not faster.)
fn calls_of(calls: u64, instrs: u64) -> u64 {
    calls.saturating_mul((instrs / SMALL_INSTRS).max(1))
}

/// What `prepare` made.
#[derive(Default)]
pub struct Prepared {
    /// What the module keeps.
    machine_code: Option<Box<dyn Any + Send + Sync>>,
    /// Machine code that it has already.
    places: Vec<Place>,
}

impl Prepared {
    fn with(kept: Kept, places: Vec<Place>) -> Prepared {
        Prepared { machine_code: Some(Box::new(kept)), places }
    }

    /// Takes what the module keeps, and leaves what is told of it.
    pub fn take(&mut self) -> Option<Box<dyn Any + Send + Sync>> {
        self.machine_code.take()
    }

    /// Tells `perf` of the machine code of the module, and writes it where that is wanted.
    pub fn tell(self, instance: &Instance) {
        perf::tell(instance, &self.places);
        dump::write(instance);
    }
}

/// Prepares a module that was loaded with this mode, whose cells are complete, and that no process runs yet: compiles its functions, or lets their calls be counted.
pub fn prepare(mode: Mode, cells: &mut [u64], functions: &[Function], beam: &Verified, tables: Tables) -> Prepared {
    match mode {
        Mode::Off => Prepared::default(),
        Mode::Eager => match compile_all(cells, beam, &tables) {
            Some(Compiled { memory, places }) => {
                Prepared::with(Kept { tables: None, stored: None, _all: Some(memory), functions: Mutex::default() }, places)
            }
            None => Prepared::default(),
        },
        Mode::After(calls) => {
            worker::start();
            let stored = stored::is_there().then(|| stored::module(stored::of_module(&tables))).flatten();
            let has = |index: usize| stored.as_ref().is_some_and(|stored| stored.has(index));
            let fits: Vec<bool> = {
                let operation = |cell: u32| cells[cell as usize];
                let source = tables.source(beam, cells.as_ptr() as usize, &operation);
                let source = source.borrow();
                (0..functions.len()).map(|index| has(index) || tables.fits(index) && heddle_jit::unfit(&source, index).is_none()).collect()
            };
            let sizes = beam.code.functions.iter().map(|function| u64::from(function.end - function.entry));
            for (index, ((function, size), _)) in functions.iter().zip(sizes).zip(fits).enumerate().filter(|(_, (_, fits))| *fits) {
                let calls = if has(index) { calls.min(stored::CALLS) } else { calls_of(calls, size) };
                counted::count(cells, function.entry as usize, calls);
            }
            Prepared::with(Kept { tables: Some(tables), stored, _all: None, functions: Mutex::default() }, Vec::new())
        }
    }
}

/// What becomes of a function of a module that was loaded with [`Mode::After`], or why it is left to the first tier.
pub fn show(instance: &Instance, name: Atom, arity: u8) -> Result<Vec<Shown>, String> {
    let tables = instance.machine_code.as_deref().and_then(Kept::of).and_then(|kept| kept.tables.as_ref());
    let tables = tables.ok_or("the module was loaded without what the second tier needs (+jit N)")?;
    let index = instance.functions.iter().position(|function| function.name == name && function.arity == arity);
    let index = index.ok_or_else(|| format!("the module has no function {}/{arity}", name.name()))?;
    let host = host().ok_or("the engine has not started")?;
    let beam = tables.beam().map_err(|error| error.to_string())?;
    let operation = |cell: u32| instance.code[cell as usize];
    let source = tables.source(&beam, instance.code.as_ptr() as usize, &operation);
    Ok(show_at(&mut Compiler::new(host), tables, &source.borrow(), index)?)
}

/// The same for the function with this index.
fn show_at(compiler: &mut Compiler, tables: &Tables, source: &Source<'_>, index: usize) -> Result<Vec<Shown>, &'static str> {
    if !tables.fits(index) {
        return Err("the first tier writes registers between its instructions");
    }
    compiler.show(source, index)
}

fn compile_all(cells: &mut [u64], beam: &Verified, tables: &Tables) -> Option<Compiled> {
    let host = host()?;
    if heddle_jit::is_full() {
        complain(&LIMIT_REACHED);
        return None;
    }
    let before = thread_time();
    let mut compiler = Compiler::new(host);
    let compiled = {
        let operation = |cell: u32| cells[cell as usize];
        let source = tables.source(beam, cells.as_ptr() as usize, &operation);
        let source = source.borrow();
        for index in (0..beam.code.functions.len()).filter(|&index| tables.fits(index)) {
            compiler.add(&source, index);
        }
        compiler.link()
    };
    COUNTS.add(&compiler.counts, thread_time() - before);
    let compiled = match compiled {
        Ok(compiled) => compiled?,
        Err(error) => {
            complain(&error);
            return None;
        }
    };
    for place in &compiled.places {
        cells[place.cell as usize] = place.address as u64;
    }
    Some(compiled)
}
