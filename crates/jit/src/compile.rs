//! Compiles the functions of a module.

use crate::analysis::function::FunctionView;
use crate::analysis::liveness::Liveness;
use crate::analysis::roots;
use crate::code::frames;
use crate::code::memory::{CodeError, CodeMemory};
use crate::host::{Host, Source};
use crate::segment::{Plan, Unfit, translate};
use cranelift_codegen::binemit::Reloc;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_codegen::{Context, isa};
use cranelift_frontend::FunctionBuilderContext;
use heddle_abi::opcodes::Op;
use heddle_beamfile::Function;
use std::sync::OnceLock;

/// Functions with more instructions are left to the first tier: compiling them takes long (guessed).
const MAX_INSTRS: usize = 4000;

/// Segments begin at multiples of this many bytes.
const ALIGNMENT: usize = 16;

/// What was compiled, and how much.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub functions: usize,
    /// Functions that are left to the first tier.
    pub unfit: usize,
    pub segments: usize,
    /// Segments that have a native frame, since not all their values fit in registers.
    pub with_frame: usize,
}

/// The machine code of a module.
#[derive(Debug)]
pub struct Compiled {
    pub memory: CodeMemory,
    /// Cells, and the addresses of the code that takes the place of their operations.
    pub places: Vec<(u32, usize)>,
    pub counts: Counts,
}

/// A segment before it has an address.
struct Piece {
    cell: u32,
    code: Vec<u8>,
    /// Offset of its first instruction.
    start: usize,
    /// Offsets of words that get the address of the first instruction.
    own: Vec<usize>,
}

fn target() -> &'static OwnedTargetIsa {
    static TARGET: OnceLock<OwnedTargetIsa> = OnceLock::new();
    TARGET.get_or_init(|| {
        let mut flags = settings::builder();
        let verifier = if cfg!(debug_assertions) { "true" } else { "false" };
        for (name, value) in [
            ("opt_level", "speed"),
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
        for (name, is_there) in [
            ("has_sse3", std::is_x86_feature_detected!("sse3")),
            ("has_ssse3", std::is_x86_feature_detected!("ssse3")),
            ("has_sse41", std::is_x86_feature_detected!("sse4.1")),
            ("has_sse42", std::is_x86_feature_detected!("sse4.2")),
            ("has_popcnt", std::is_x86_feature_detected!("popcnt")),
            ("has_bmi1", std::is_x86_feature_detected!("bmi1")),
            ("has_bmi2", std::is_x86_feature_detected!("bmi2")),
            ("has_lzcnt", std::is_x86_feature_detected!("lzcnt")),
        ] {
            if is_there {
                builder.enable(name).expect("a feature that Cranelift knows");
            }
        }
        builder.finish(settings::Flags::new(flags)).expect("a complete target")
    })
}

/// Compiles all functions for which `wants` says true. Functions that do not fit are left to the first tier.
pub fn compile(source: &Source<'_>, host: Host, wants: impl Fn(usize, &Function) -> bool) -> Result<Option<Compiled>, CodeError> {
    let mut compiler = Compiler { context: Context::new(), builder: FunctionBuilderContext::new(), pieces: Vec::new(), counts: Counts::default() };
    for (index, function) in source.beam.code.functions.iter().enumerate() {
        if !wants(index, function) {
            continue;
        }
        let before = compiler.pieces.len();
        match compiler.function(source, host, index, function) {
            Ok(()) => compiler.counts.functions += 1,
            Err(Unfit(_)) => {
                compiler.pieces.truncate(before);
                compiler.counts.unfit += 1;
            }
        }
    }
    compiler.link()
}

struct Compiler {
    context: Context,
    builder: FunctionBuilderContext,
    pieces: Vec<Piece>,
    counts: Counts,
}

impl Compiler {
    fn function(&mut self, source: &Source<'_>, host: Host, index: usize, function: &Function) -> Result<(), Unfit> {
        let view = FunctionView { source, function };
        let instrs = &source.beam.code.instrs[view.instrs()];
        if instrs.len() > MAX_INSTRS {
            return Err(Unfit("it is too large"));
        }
        let is_special = |op: Op| matches!(op, Op::NifStart | Op::ExecutableLine | Op::OnLoad);
        if source.beam.raises_raw(index) || view.instrs().any(|at| source.beam.clears(at)) || instrs.iter().any(|instr| is_special(instr.op)) {
            return Err(Unfit("the first tier has operations between those of the instructions"));
        }
        // The first tier may have put an operation of its own at the entry.
        let entry = source.labels.get(function.entry_label as usize).copied();
        if view.entry().and_then(|at| view.cell(at)) != entry {
            return Err(Unfit("the entry is another operation"));
        }
        let live = Liveness::of(&view).ok_or(Unfit("it uses high registers"))?;
        let roots = roots::of(&view);
        let plan = Plan { view, host, roots, live };
        for &root in &plan.roots {
            self.segment(&plan, root)?;
        }
        Ok(())
    }

    fn segment(&mut self, plan: &Plan<'_>, root: usize) -> Result<(), Unfit> {
        let reach = roots::reach(&plan.view, &plan.roots, root);
        self.context.clear();
        let exits = translate(plan, root, reach, target().frontend_config(), &mut self.builder, &mut self.context.func)?;
        let compiled = self.context.compile(&**target(), &mut ControlPlane::default());
        let compiled = compiled.map_err(|_| Unfit("Cranelift refuses it"))?;
        let mut code = compiled.code_buffer().to_vec();
        let mut own = Vec::new();
        for reloc in compiled.buffer.relocs() {
            if reloc.kind != Reloc::Abs8 || reloc.addend != 0 {
                return Err(Unfit("an address of a kind that is not known"));
            }
            own.push(reloc.offset as usize);
        }
        let start = frames::remove(&mut code, exits);
        self.counts.segments += 1;
        self.counts.with_frame += usize::from(start == 0);
        let cell = plan.view.cell(root).ok_or(Unfit("a root inside of an operation"))?;
        self.pieces.push(Piece { cell, code, start, own });
        Ok(())
    }

    fn link(self) -> Result<Option<Compiled>, CodeError> {
        if self.pieces.is_empty() {
            return Ok(None);
        }
        let mut offsets = Vec::with_capacity(self.pieces.len());
        let mut end = 0usize;
        for piece in &self.pieces {
            offsets.push(end);
            end = (end + piece.code.len()).next_multiple_of(ALIGNMENT);
        }
        let memory = CodeMemory::with(end, |bytes, base| {
            for (piece, &offset) in self.pieces.iter().zip(&offsets) {
                bytes[offset..offset + piece.code.len()].copy_from_slice(&piece.code);
                let address = (base + offset + piece.start) as u64;
                for &at in &piece.own {
                    bytes[offset + at..offset + at + 8].copy_from_slice(&address.to_le_bytes());
                }
            }
        })?;
        let places = self.pieces.iter().zip(&offsets).map(|(piece, &offset)| (piece.cell, memory.base() + offset + piece.start));
        Ok(Some(Compiled { places: places.collect(), memory, counts: self.counts }))
    }
}
