//! The second tier as the engine sees it: which functions it compiles, when, and how its code gets into their cells.
//!
//! With `+jit N` the first cell of a function holds an operation that counts calls (`ops::counting`). After N of them the function is compiled by a
//! thread of its own (`worker`), while processes go on in the first tier. With `+jit eager` all functions are compiled when their module is loaded.

pub mod figures;
mod tables;
mod worker;

pub use tables::Tables;
pub use worker::request;

use crate::ctx::Ctx;
use crate::ops::calls::yield_at;
use crate::ops::counting;
use figures::COUNTS;
use heddle_abi::settings::{CoverageMode, SETTINGS};
use heddle_beamfile::Verified;
use heddle_jit::{CodeMemory, Compiler, Host};
use heddle_runtime::code::Function;
use heddle_runtime::process::STACK_SLACK_WORDS;
use std::any::Any;
use std::mem::offset_of;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

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

pub fn host() -> Host {
    const { assert!(offset_of!(Ctx, x) == 0) };
    Host { floats: offset_of!(Ctx, f) as i32, slack_words: STACK_SLACK_WORDS, breakpoint: crate::ops::tracing::breakpoint_operation(), yield_at: yield_at as *const () as usize }
}

/// What a module keeps for the second tier, as long as its cells live.
pub struct Kept {
    /// To compile functions later.
    tables: Option<Tables>,
    code: Mutex<Vec<CodeMemory>>,
}

impl Kept {
    fn of(kept: &(dyn Any + Send + Sync)) -> Option<&Kept> {
        kept.downcast_ref()
    }

    fn keep(&self, memory: CodeMemory) {
        self.code.lock().unwrap_or_else(PoisonError::into_inner).push(memory);
    }
}

/// Prepares a module whose cells are complete, and that no process runs yet: compiles its functions, or lets their calls be counted.
pub fn prepare(cells: &mut [u64], functions: &[Function], beam: &Verified, tables: Tables) -> Option<Box<dyn Any + Send + Sync>> {
    match mode() {
        Mode::Off => None,
        Mode::Eager => compile_all(cells, beam, &tables).map(|memory| Box::new(Kept { tables: None, code: Mutex::new(vec![memory]) }) as _),
        Mode::After(calls) => {
            let fits: Vec<bool> = {
                let operation = |cell: u32| cells[cell as usize];
                let source = tables.source(beam, cells.as_ptr() as usize, &operation);
                let source = source.borrow();
                (0..functions.len()).map(|index| tables.fits(index) && heddle_jit::unfit(&source, index).is_none()).collect()
            };
            for (function, _) in functions.iter().zip(fits).filter(|(_, fits)| *fits) {
                counting::count(cells, function.entry as usize, calls);
            }
            Some(Box::new(Kept { tables: Some(tables), code: Mutex::default() }))
        }
    }
}

fn compile_all(cells: &mut [u64], beam: &Verified, tables: &Tables) -> Option<CodeMemory> {
    let started = Instant::now();
    let mut compiler = Compiler::new(host());
    let compiled = {
        let operation = |cell: u32| cells[cell as usize];
        let source = tables.source(beam, cells.as_ptr() as usize, &operation);
        let source = source.borrow();
        for index in (0..beam.code.functions.len()).filter(|&index| tables.fits(index)) {
            compiler.add(&source, index);
        }
        compiler.link()
    };
    COUNTS.add(&compiler.counts, started.elapsed());
    let compiled = match compiled {
        Ok(compiled) => compiled?,
        Err(error) => {
            heddle_runtime::exit::log_message("warning", &format!("A module is not compiled: {error}"));
            return None;
        }
    };
    for &(cell, address) in &compiled.places {
        cells[cell as usize] = address as u64;
    }
    Some(compiled.memory)
}
