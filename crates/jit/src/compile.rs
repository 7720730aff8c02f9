//! Compiles the functions of a module.

use crate::analysis::fit::unfit;
use crate::analysis::function::FunctionView;
use crate::analysis::left::{self, Left};
use crate::analysis::liveness::Liveness;
use crate::analysis::roots;
use crate::code::frames;
use crate::code::memory::{CodeError, CodeMemory};
use crate::host::{Addresses, Host, Source};
use crate::listing::{self, Shown};
use crate::segment::{Plan, Unfit, translate};
use crate::stored;
use crate::symbol::Symbol;
use cranelift_codegen::binemit::Reloc;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::entity::PrimaryMap;
use cranelift_codegen::ir::{ExternalName, UserExternalName, UserExternalNameRef};
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_codegen::{Context, FinalizedMachReloc, FinalizedRelocTarget, isa};
use cranelift_frontend::FunctionBuilderContext;
use heddle_beamfile::Function;
use std::collections::HashMap;
use std::sync::OnceLock;

/// Segments begin at multiples of this many bytes.
const ALIGNMENT: usize = 16;

/// What was compiled, and how much.
#[derive(Debug, Default)]
pub struct Counts {
    pub functions: usize,
    /// Functions that are left to the first tier.
    pub unfit: usize,
    pub segments: usize,
    /// Segments that have a native frame, since not all their values fit in registers.
    pub with_frame: usize,
    /// Places where compiled functions leave what they do to the first tier.
    pub left: HashMap<Left, usize>,
}

/// Machine code that has an address.
#[derive(Debug)]
pub struct Compiled {
    pub memory: CodeMemory,
    /// What takes the place of operations. The entry of a function comes after its other places.
    pub places: Vec<Place>,
}

/// A segment that takes the place of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Offset of the cell.
    pub cell: u32,
    pub address: usize,
    pub bytes: usize,
    /// Offsets in bytes from which on it does an instruction, with the cell of that: if `Host::tells_lines` asks for it.
    pub lines: Vec<(usize, u32)>,
}

/// A segment before it has an address.
#[derive(Debug, PartialEq)]
pub struct Piece {
    pub cell: u32,
    pub code: Vec<u8>,
    /// Offset of its first instruction.
    pub start: usize,
    /// Offsets of code, each with the cell of the instruction that it does.
    pub lines: Vec<(usize, u32)>,
    /// Offsets of words of eight bytes that are filled in.
    pub words: Vec<(usize, Symbol)>,
}

/// How much Cranelift does for the code.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effort {
    /// Instructions are chosen, and registers. That takes half of the time, and does for most code.
    Little,
    /// Code is simplified before: it pays in loops, and where there are divisions by constants.
    Full,
}

fn target(effort: Effort) -> &'static OwnedTargetIsa {
    static LITTLE: OnceLock<OwnedTargetIsa> = OnceLock::new();
    static FULL: OnceLock<OwnedTargetIsa> = OnceLock::new();
    match effort {
        Effort::Little => LITTLE.get_or_init(|| new_target("none")),
        Effort::Full => FULL.get_or_init(|| new_target("speed")),
    }
}

/// What compiled code makes use of where the processor has it, by Cranelift's names.
const FEATURES: [&str; 8] = ["has_sse3", "has_ssse3", "has_sse41", "has_sse42", "has_popcnt", "has_bmi1", "has_bmi2", "has_lzcnt"];

/// True for each feature of the processor that compiled code makes use of and that is there.
pub fn features() -> [bool; FEATURES.len()] {
    [
        std::is_x86_feature_detected!("sse3"),
        std::is_x86_feature_detected!("ssse3"),
        std::is_x86_feature_detected!("sse4.1"),
        std::is_x86_feature_detected!("sse4.2"),
        std::is_x86_feature_detected!("popcnt"),
        std::is_x86_feature_detected!("bmi1"),
        std::is_x86_feature_detected!("bmi2"),
        std::is_x86_feature_detected!("lzcnt"),
    ]
}

fn new_target(level: &str) -> OwnedTargetIsa {
    let mut flags = settings::builder();
    let verifier = if cfg!(debug_assertions) { "true" } else { "false" };
    for (name, value) in [
        ("opt_level", level),
        ("enable_verifier", verifier),
        ("enable_probestack", "false"),
        ("unwind_info", "false"),
        ("is_pic", "false"),
        // Its tail calls need them; `frames` removes them.
        ("preserve_frame_pointers", "true"),
    ] {
        flags.set(name, value).expect("a setting of Cranelift");
    }
    let mut builder = isa::lookup_by_name("x86_64-unknown-linux-gnu").expect("the one target that is built in");
    for (name, is_there) in FEATURES.iter().zip(features()) {
        if is_there {
            builder.enable(name).expect("a feature that Cranelift knows");
        }
    }
    builder.finish(settings::Flags::new(flags)).expect("a complete target")
}

/// Compiles functions of modules, one after the other.
pub struct Compiler {
    host: Host,
    context: Context,
    builder: FunctionBuilderContext,
    pieces: Vec<Piece>,
    pub counts: Counts,
    /// What is compiled is kept in a file.
    stores: bool,
    /// What was compiled, if that is wanted.
    shown: Option<Vec<Shown>>,
}

impl Compiler {
    pub fn new(host: Host) -> Compiler {
        let counts = Counts::default();
        let (context, builder) = (Context::new(), FunctionBuilderContext::new());
        Compiler { host, context, builder, pieces: Vec::new(), counts, stores: false, shown: None }
    }

    /// One for code that is kept in a file (`store`).
    pub fn for_file(host: Host) -> Compiler {
        Compiler { stores: true, ..Compiler::new(Host { tells_lines: true, ..host }) }
    }

    /// Compiles the function with this index. Returns false if it is left to the first tier.
    pub fn add(&mut self, source: &Source<'_>, index: usize) -> bool {
        let before = self.pieces.len();
        let result = match (unfit(source, index), source.beam.code.functions.get(index)) {
            (None, Some(function)) => self.function(source, function),
            (why, _) => Err(Unfit(why.unwrap_or("there is no such function"))),
        };
        match result {
            Ok(()) => self.counts.functions += 1,
            Err(Unfit(_)) => {
                self.pieces.truncate(before);
                self.counts.unfit += 1;
            }
        }
        result.is_ok()
    }

    /// Compiles the function with this index for nothing but to show it, or tells why it is left to the first tier.
    pub fn show(&mut self, source: &Source<'_>, index: usize) -> Result<Vec<Shown>, &'static str> {
        let Some(function) = source.beam.code.functions.get(index) else { return Err("there is no such function") };
        if let Some(why) = unfit(source, index) {
            return Err(why);
        }
        self.shown = Some(Vec::new());
        let result = self.function(source, function);
        self.pieces.clear();
        let shown = self.shown.take().unwrap_or_default();
        result.map(|()| shown).map_err(|Unfit(why)| why)
    }

    fn function(&mut self, source: &Source<'_>, function: &Function) -> Result<(), Unfit> {
        let view = FunctionView { source, function };
        let live = Liveness::of(&view).ok_or(Unfit("it uses high registers"))?;
        let roots = roots::of(&view);
        let addresses = (!self.stores).then(|| source.addresses(self.host));
        let plan = Plan { view, host: self.host, roots, live, addresses };
        // The entry last: what is installed before is only reached from it.
        for &root in plan.roots.iter().rev() {
            self.segment(&plan, root)?;
        }
        for at in left::places(&plan.view) {
            *self.counts.left.entry(left::what(&plan.view, at)).or_default() += 1;
        }
        Ok(())
    }

    fn segment(&mut self, plan: &Plan<'_>, root: usize) -> Result<(), Unfit> {
        let reach = roots::reach(&plan.view, &plan.roots, root);
        self.context.clear();
        let pays = |&at: &usize| plan.view.is_loop(at) || plan.view.divides(at) || plan.view.calls_itself(at);
        let target = &**target(if reach.instrs.iter().any(pays) { Effort::Full } else { Effort::Little });
        let in_segment = self.shown.is_some().then(|| reach.instrs.clone());
        let exits = translate(plan, root, reach, target.frontend_config(), &mut self.builder, &mut self.context.func)?;
        let show = in_segment.map(|instrs| {
            let mut instrs: Vec<usize> = instrs.into_iter().collect();
            instrs.sort_unstable();
            let instrs = instrs.into_iter().map(|at| (at, listing::instruction(&plan.view, at))).collect();
            (instrs, self.context.func.display().to_string())
        });
        self.context.set_disasm(show.is_some());
        let is_compiled = self.context.compile(target, &mut ControlPlane::default()).is_ok();
        let compiled = self.context.compiled_code().filter(|_| is_compiled).ok_or(Unfit("Cranelift refuses it"))?;
        let text = compiled.vcode.clone();
        let mut code = compiled.code_buffer().to_vec();
        let symbols = self.context.func.params.user_named_funcs();
        let words: Option<Vec<_>> =
            compiled.buffer.relocs().iter().map(|reloc| Some((reloc.offset as usize, symbol(reloc, symbols)?))).collect();
        let words = words.ok_or(Unfit("it has addresses that are not known"))?;
        let srclocs = compiled.buffer.get_srclocs_sorted().iter();
        let lines = srclocs.filter_map(|place| Some((place.start as usize, plan.view.cell(place.loc.bits() as usize)?))).collect();
        let start = exits.map_or(0, |exits| frames::remove(&mut code, exits));
        self.counts.segments += 1;
        self.counts.with_frame += usize::from(start == 0);
        let cell = plan.view.cell(root).ok_or(Unfit("a root inside of an operation"))?;
        if let (Some((instrs, clif)), Some(all)) = (show, &mut self.shown) {
            all.push(Shown { cell, instrs, clif, code: text.unwrap_or_default(), bytes: code.len(), has_frame: start == 0 });
        }
        self.pieces.push(Piece { cell, code, start, lines, words });
        Ok(())
    }

    /// Puts what was added where it can run. Returns `None` if that is nothing.
    pub fn link(&mut self) -> Result<Option<Compiled>, CodeError> {
        link(std::mem::take(&mut self.pieces), |_| None)
    }

    /// What was added, as bytes for [`restore`]. Only for a compiler that was made by `for_file`.
    pub fn store(&mut self) -> Vec<u8> {
        stored::encode(&std::mem::take(&mut self.pieces))
    }
}

/// Puts what [`Compiler::store`] returned where it can run. Returns `None` if the bytes are not that.
pub fn restore(bytes: &[u8], at: &Addresses<'_>) -> Result<Option<Compiled>, CodeError> {
    stored::decode(bytes).map_or(Ok(None), |pieces| link(pieces, |symbol| symbol.value(at)))
}

/// `value`: the word that a symbol stands for. Code that is compiled where it runs has no symbols.
fn link(pieces: Vec<Piece>, value: impl Fn(Symbol) -> Option<u64>) -> Result<Option<Compiled>, CodeError> {
    let mut offsets = Vec::with_capacity(pieces.len());
    let mut end = 0usize;
    for piece in &pieces {
        offsets.push(end);
        end = (end + piece.code.len()).next_multiple_of(ALIGNMENT);
    }
    let words =
        pieces.iter().zip(&offsets).flat_map(|(piece, &offset)| piece.words.iter().map(move |&(within, symbol)| (offset + within, symbol)));
    let words: Option<Vec<(usize, u64)>> = words.map(|(offset, symbol)| Some((offset, value(symbol)?))).collect();
    let Some(words) = words.filter(|_| !pieces.is_empty()) else { return Ok(None) };
    let memory = CodeMemory::with(end, |bytes| {
        for (piece, &offset) in pieces.iter().zip(&offsets) {
            bytes[offset..offset + piece.code.len()].copy_from_slice(&piece.code);
        }
        for (offset, word) in words {
            bytes[offset..offset + 8].copy_from_slice(&word.to_le_bytes());
        }
    })?;
    let places = pieces.into_iter().zip(&offsets).map(|(piece, &offset)| Place {
        cell: piece.cell,
        address: memory.base() + offset + piece.start,
        bytes: piece.code.len() - piece.start,
        lines: piece.lines.into_iter().map(|(at, cell)| (at.saturating_sub(piece.start), cell)).collect(),
    });
    Ok(Some(Compiled { places: places.collect(), memory }))
}

/// What a word of the code stands for.
fn symbol(reloc: &FinalizedMachReloc, names: &PrimaryMap<UserExternalNameRef, UserExternalName>) -> Option<Symbol> {
    match (reloc.kind, &reloc.target) {
        (Reloc::Abs8, FinalizedRelocTarget::ExternalName(ExternalName::User(name))) if reloc.addend == 0 => {
            let name = names.get(*name)?;
            Symbol::of(name.namespace, name.index)
        }
        _ => None,
    }
}
