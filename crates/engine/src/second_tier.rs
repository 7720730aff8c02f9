//! Hands modules to the second tier, and puts its code in their cells.

use crate::ctx::Ctx;
use crate::loader::emitter::Emitter;
use crate::ops::calls::yield_at;
use heddle_abi::settings::{CoverageMode, Jit, SETTINGS};
use heddle_jit::{Counts, Host, Source};
use heddle_runtime::process::STACK_SLACK_WORDS;
use heddle_runtime::zeal;
use heddle_abi::opcodes::Op;
use heddle_term::{Atom, Export, Term};
use std::any::Any;
use std::mem::offset_of;
use std::sync::Mutex;

/// The machine code of a module, which lives as long as its cells.
pub type MachineCode = Box<dyn Any + Send + Sync>;

/// What the second tier compiled since the start.
static COUNTS: Mutex<Counts> = Mutex::new(Counts { functions: 0, unfit: 0, segments: 0, with_frame: 0 });

/// Tables of a module, for the second tier.
pub struct Tables<'a> {
    pub beam: &'a heddle_beamfile::Verified,
    pub starts: &'a [u32],
    pub labels: &'a [u32],
    pub atoms: &'a [Atom],
    pub literals: &'a [Term],
    pub imports: &'a [&'static Export],
    /// True if the operation of the instruction builds a message where it will be sent from.
    pub builds_message: &'a dyn Fn(usize) -> bool,
}

/// True if modules that are loaded now are compiled.
pub fn is_on() -> bool {
    SETTINGS.jit.get() == Jit::Eager && SETTINGS.coverage.get() == CoverageMode::None
}

/// Compiles a module whose cells are complete and that no process runs yet, and puts the code in the cells.
pub fn compile(cells: &mut [u64], tables: &Tables<'_>) -> Option<MachineCode> {
    const { assert!(offset_of!(Ctx, x) == 0) };
    let host = Host { floats: offset_of!(Ctx, f) as i32, slack_words: STACK_SLACK_WORDS, yield_at: yield_at as *const () as usize };
    let is_function: Vec<bool> = tables.imports.iter().map(|export| Emitter::is_function(export)).collect();
    let collects_here = |at: usize| {
        let op = tables.beam.code.instrs[at].op;
        zeal::gc() && matches!(op, Op::Allocate | Op::AllocateHeap | Op::TestHeap)
    };
    let compiled = {
        let source = Source {
            beam: tables.beam,
            cells,
            starts: tables.starts,
            labels: tables.labels,
            atoms: tables.atoms,
            literals: tables.literals,
            imports: tables.imports,
            is_function: &is_function,
            is_left: &|at| (tables.builds_message)(at) || collects_here(at),
        };
        heddle_jit::compile(&source, host, |_, _| true)
    };
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
    if let Ok(mut counts) = COUNTS.lock() {
        counts.functions += compiled.counts.functions;
        counts.unfit += compiled.counts.unfit;
        counts.segments += compiled.counts.segments;
        counts.with_frame += compiled.counts.with_frame;
    }
    Some(Box::new(compiled.memory))
}
