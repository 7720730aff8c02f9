//! Makes code from a verified file: `prepare` decodes literals, resolves imports and funs, and specialises instructions into cells. Running
//! code sees nothing of it until `publish` (see `code_natives`).

pub mod bits;
pub mod bits_chain;
pub mod bits_fields;
pub mod bits_old;
pub mod calls;
pub mod coverage;
pub mod emitter;
pub mod fuse;
mod fused;
pub mod guards;
pub mod instructions;
mod maps;
pub mod selects;

use crate::second_tier::{self, Loaded, Mode, Tables};
use emitter::Emitter;
use heddle_abi::opcodes::Op;
use heddle_beamfile::messages::{self, Messages};
use heddle_beamfile::{BeamError, Verified};
use heddle_runtime::code::Instance;
use heddle_runtime::code::nifs::Nifs;
use heddle_runtime::funs::{self, FunInfo};
use heddle_runtime::literal_areas::Literals;
use heddle_runtime::{exports, zeal};
use heddle_term::code_cell::Mfa;
use heddle_term::{Atom, Export, Heap, Term, am, etf, literal};
use std::sync::atomic::{AtomicBool, Ordering};

#[derive(Debug)]
pub enum LoadError {
    Beam(BeamError),
    /// A literal, attribute or compile-info term does not decode.
    Term {
        what: String,
        problem: String,
    },
    TooManyAtoms,
}

impl std::fmt::Display for LoadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            LoadError::Beam(error) => write!(f, "{error}"),
            LoadError::Term { what, problem } => write!(f, "{what}: {problem}"),
            LoadError::TooManyAtoms => write!(f, "an atom is longer than 255 characters, or the atom table is full"),
        }
    }
}

impl From<BeamError> for LoadError {
    fn from(error: BeamError) -> Self {
        LoadError::Beam(error)
    }
}

fn decode_literal(heap: &mut Heap, areas: &mut Literals, bytes: &[u8], what: impl Fn() -> String) -> Result<Term, LoadError> {
    if bytes.is_empty() {
        return Ok(Term::NIL);
    }
    let term = etf::decode_literal(heap, bytes).map_err(|e| LoadError::Term { what: what(), problem: format!("{e:?}") })?;
    let (kept, area) = literal::keep(term);
    areas.0.extend(area);
    heap.clear();
    *heap = Heap::new();
    Ok(kept)
}

static ANALYSE_MESSAGES: AtomicBool = AtomicBool::new(false);

/// Options for making code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoadOptions {
    /// Analyse which constructions will be sent. Operations can then be chosen by [`Emitter::builds_message`], and the code has
    /// [`Instance::message_sites`].
    pub analyse_messages: bool,
}

impl LoadOptions {
    /// Sets the options for all code that is loaded from now on.
    pub fn set(self) {
        // Relaxed: set before any code is loaded.
        ANALYSE_MESSAGES.store(self.analyse_messages, Ordering::Relaxed);
    }

    pub fn current() -> LoadOptions {
        // Relaxed: as above.
        LoadOptions { analyse_messages: ANALYSE_MESSAGES.load(Ordering::Relaxed) }
    }
}

const LOAD_NIF: Mfa = Mfa { module: am::ERLANG, function: am::LOAD_NIF, arity: 2 };

/// Makes code from the file's bytes. Code addresses are final, but no export points to them yet.
pub fn prepare(bytes: &[u8]) -> Result<Instance, LoadError> {
    prepare_with(bytes, LoadOptions::current())
}

pub fn prepare_with(bytes: &[u8], options: LoadOptions) -> Result<Instance, LoadError> {
    prepare_shown(bytes, options, |_| ())
}

/// As `prepare_with`. `show` sees the finished cells, in which labels have no addresses yet: for `examples/cells.rs`.
pub fn prepare_shown(bytes: &[u8], options: LoadOptions, show: impl FnOnce(&Emitter)) -> Result<Instance, LoadError> {
    // Once: it may change while the module is loaded.
    let tier = second_tier::mode();
    let beam = Verified::load(bytes)?;
    let mut atoms = Vec::with_capacity(beam.atoms.count() as usize + 1);
    atoms.push(Atom::from_index(0));
    for name in beam.atoms.iter() {
        atoms.push(Atom::try_new(name).map_err(|_| LoadError::TooManyAtoms)?);
    }
    let name = atoms[1];
    let mut heap = Heap::new();
    let mut literals = Vec::new();
    let mut areas = Literals::default();
    for (i, bytes) in beam.literals.iter().enumerate() {
        literals.push(decode_literal(&mut heap, &mut areas, bytes, || format!("literal {i}"))?);
    }
    let attributes = decode_literal(&mut heap, &mut areas, &beam.attributes, || "chunk Attr".into())?;
    let compile_info = decode_literal(&mut heap, &mut areas, &beam.compile_info, || "chunk CInf".into())?;
    let imports: Vec<&Export> = beam
        .imports
        .iter()
        .map(|i| exports::get(Mfa { module: atoms[i.module as usize], function: atoms[i.function as usize], arity: i.arity as u8 }))
        .collect();
    let all_nifs = imports.iter().any(|e| e.mfa == LOAD_NIF) && !beam.code.instrs.iter().any(|i| i.op == Op::NifStart);
    let md5 = beam.module_md5();
    let lambdas: Vec<_> = beam
        .lambdas
        .iter()
        .map(|l| {
            funs::get(&FunInfo {
                module: name,
                function: atoms[l.function as usize],
                arity: (l.arity - l.num_free) as u8,
                num_free: l.num_free,
                index: l.index,
                old_uniq: l.old_uniq,
                uniq: md5,
            })
        })
        .collect();
    let messages = if options.analyse_messages { messages::analyse(&beam) } else { Messages::default() };
    let mut emitter = Emitter {
        beam: &beam,
        clear_frames: false,
        atoms,
        literals,
        imports,
        lambdas,
        cells: Vec::with_capacity(beam.code.instrs.len() * 4),
        ops: Vec::with_capacity(beam.code.instrs.len()),
        starts: if tier == Mode::Off { Vec::new() } else { vec![heddle_jit::MERGED; beam.code.instrs.len()] },
        labels: vec![u32::MAX; beam.code.labels.limit() as usize],
        fixups: Vec::new(),
        functions: Vec::with_capacity(beam.code.functions.len()),
        lines: Vec::new(),
        nif_places: Vec::new(),
        all_nifs,
        counts_calls: matches!(tier, Mode::After(_)),
        on_load: None,
        areas,
        recorder: coverage::Recorder::new(&beam),
        next_message: messages.next(0).unwrap_or(usize::MAX),
        messages,
        at: 0,
        message_sites: Vec::new(),
    };
    emitter.all(name, zeal::gc())?;
    fuse::Code { cells: &mut emitter.cells, ops: &emitter.ops, fixups: &emitter.fixups, labels: &emitter.labels }.fuse();
    show(&emitter);
    let Emitter {
        cells,
        starts,
        labels,
        fixups,
        functions,
        lines,
        nif_places,
        lambdas,
        on_load,
        atoms,
        literals,
        imports,
        areas,
        recorder,
        messages,
        message_sites,
        ..
    } = emitter;
    let mut code = cells.into_boxed_slice();
    let base = code.as_mut_ptr();
    for (cell, label) in fixups {
        code[cell as usize] = base.wrapping_add(labels[label as usize] as usize) as u64;
    }
    let exported = beam
        .exports
        .iter()
        .map(|e| {
            let mfa = Mfa { module: name, function: atoms[e.function as usize], arity: e.arity as u8 };
            (exports::get(mfa), labels[e.label as usize])
        })
        .collect();
    let funs = lambdas.iter().zip(&beam.lambdas).map(|(entry, l)| (*entry, labels[l.label as usize])).collect();
    let is_function = |export: &&'static Export| Emitter::is_function(export);
    let tables = (tier != Mode::Off).then(|| {
        let is_function = imports.iter().map(is_function).collect();
        Tables::new(bytes, &beam, Loaded { starts, labels, atoms, literals, imports, lambdas, is_function, messages })
    });
    let mut prepared = tables.map(|tables| second_tier::prepare(tier, &mut code, &functions, &beam, tables)).unwrap_or_default();
    let mut file_names: Vec<String> = vec![format!("{}.erl", name.name())];
    file_names.extend(beam.lines.names.iter().cloned());
    let instance = Instance {
        name,
        md5,
        code,
        functions,
        exports: exported,
        funs,
        lines,
        file_names,
        attributes,
        compile_info,
        has_on_load: on_load.is_some(),
        on_load,
        literals: areas,
        coverage: recorder.coverage,
        message_sites,
        nifs: Nifs::of_places(nif_places),
        machine_code: prepared.take(),
    };
    prepared.tell(&instance);
    Ok(instance)
}
