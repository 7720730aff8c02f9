//! Makes the file of machine code.

use super::super::{Kept, host};
use super::format::{self, FunctionRow, HEADER_BYTES, Header, ModuleRow};
use super::key;
use heddle_jit::{Compiler, Host};
use heddle_runtime::code::Instance;
use heddle_term::{Atom, am, atom};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A recursion over the instructions of a function may be deep.
const STACK_BYTES: usize = 16 << 20;

/// What was made.
#[derive(Debug, Default)]
pub struct Made {
    pub bytes: Vec<u8>,
    pub functions: usize,
}

struct Module {
    key: u64,
    /// Indices of functions, and their code.
    functions: Vec<(u32, Vec<u8>)>,
}

/// The file for these modules, which were loaded with [`super::super::Mode::After`]. `threads`: that compile. `tell` gets the number of modules that are
/// done. Fails with the reason.
pub fn make(modules: &[Instance], threads: usize, tell: &(impl Fn(usize) + Sync)) -> Result<Made, String> {
    let vm = key::of_vm().ok_or("this program has no build id, by which it would know its code")?;
    let host = host().ok_or("the engine has not started")?;
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        // Relaxed: each number is given out once.
        while let Some(instance) = modules.get(next.fetch_add(1, Ordering::Relaxed)) {
            let module = compile(instance, host);
            let mut done = done.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            done.push(module);
            tell(done.len());
        }
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads.max(1))
            .map(|_| std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work))
            .collect::<Result<_, _>>()
            .map_err(|error| format!("no thread to compile: {error}"))?;
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a thread that compiles has stopped".to_owned()))
    })?;
    let mut all: Vec<Module> = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner).into_iter().flatten().collect();
    all.sort_by_key(|module| module.key);
    all.dedup_by_key(|module| module.key);
    Ok(file(vm, &all))
}

fn compile(instance: &Instance, host: Host) -> Option<Module> {
    let tables = instance.machine_code.as_deref().and_then(Kept::of)?.tables.as_ref()?;
    let beam = tables.beam().ok()?;
    let operation = |at: u32| instance.code[at as usize];
    let source = tables.source(&beam, instance.code.as_ptr() as usize, &operation);
    let source = source.borrow();
    let mut compiler = Compiler::for_file(host);
    let mut functions = Vec::new();
    for index in (0..instance.functions.len()).filter(|&index| tables.fits(index)) {
        if compiler.add(&source, index) {
            functions.push((index as u32, compiler.store()));
        }
    }
    Some(Module { key: key::of_module(tables), functions })
}

fn file(vm: u64, modules: &[Module]) -> Made {
    let first_atom = am::names().count();
    let numbers = first_atom as u32..atom::count() as u32;
    let names = format::names(numbers.clone().map(|number| Atom::from_index(number).name()));
    let index_bytes = names.len() + modules.len() * format::MODULE_BYTES;
    let mut at = (HEADER_BYTES + index_bytes) as u64;
    let (mut body, mut index) = (Vec::new(), names);
    let mut count = 0;
    for module in modules {
        let mut rows = Vec::new();
        for (function, code) in &module.functions {
            rows.extend(FunctionRow { index: *function, bytes: code.len() as u32, at, check: key::of_bytes(code) }.encode());
            body.extend_from_slice(code);
            at += code.len() as u64;
        }
        index.extend(ModuleRow { key: module.key, at, check: key::of_bytes(&rows), functions: module.functions.len() as u32 }.encode());
        at += rows.len() as u64;
        body.extend(rows);
        count += module.functions.len();
    }
    let header = Header {
        vm,
        file_bytes: at,
        index_bytes: index.len() as u64,
        index_check: key::of_bytes(&index),
        first_atom: first_atom as u32,
        atoms: numbers.len() as u32,
        modules: modules.len() as u32,
    };
    Made { bytes: [header.encode(), index, body].concat(), functions: count }
}
