//! The growing code of one module: cells, the places that need label addresses, line entries.

use crate::ctx::{OpFn, encode_x, encode_y, reg_offset};
use heddle_beamfile::messages::Messages;
use heddle_beamfile::{Operand, Reg, Verified};
use heddle_runtime::code::nifs::NifPlace;
use heddle_runtime::code::{Function, LineEntry};
use heddle_term::{Atom, Export, FunEntry, Term};

/// Where a specialised operation finds an operand, with the cell for it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum OperandPlace {
    X(u64),
    Y(u64),
    K(u64),
}

pub struct Emitter<'a> {
    pub beam: &'a Verified,
    /// Frames of the current function are cleared when made, as it may raise with slots never written.
    pub clear_frames: bool,
    pub atoms: Vec<Atom>,
    pub literals: Vec<Term>,
    pub imports: Vec<&'static Export>,
    pub lambdas: Vec<&'static FunEntry>,
    pub cells: Vec<u64>,
    /// Offsets of the operations among the cells, for `fuse`.
    pub ops: Vec<u32>,
    /// For each instruction the offset of its first cell; `heddle_jit::MERGED` for one that is part of an operation before it. Empty
    /// without the second tier.
    pub starts: Vec<u32>,
    /// Offset of each label's code; u32::MAX until it is placed.
    pub labels: Vec<u32>,
    /// Cells that get the address of a label.
    pub fixups: Vec<(u32, u32)>,
    pub functions: Vec<Function>,
    pub lines: Vec<LineEntry>,
    /// Functions that may become NIFs.
    pub nif_places: Vec<NifPlace>,
    /// True for code without `nif_start` of a module that loads a library: each of its functions may become a NIF.
    pub all_nifs: bool,
    /// Functions have the cells in which calls are counted for the second tier.
    pub counts_calls: bool,
    pub on_load: Option<u32>,
    /// Memory of the literals: those of the file, and large integers in operands.
    pub areas: heddle_runtime::literal_areas::Literals,
    pub recorder: super::coverage::Recorder,
    /// The constructions that will be sent, if the analysis was requested.
    pub messages: Messages,
    /// The next of `messages` is at or after this instruction; `usize::MAX`: there are no more.
    pub next_message: usize,
    /// Index of the instruction that is made into cells now.
    pub at: usize,
    /// Offsets of operations that build messages, see `Instance::message_sites`.
    pub message_sites: Vec<u32>,
}

impl Emitter<'_> {
    pub fn op(&mut self, op: OpFn) {
        self.ops.push(self.cells.len() as u32);
        self.cells.push(op as usize as u64);
    }
    /// An operation that only the one before it continues at, when its fast path does not apply.
    pub fn slow_op(&mut self, op: OpFn) {
        self.cells.push(op as usize as u64);
    }
    pub fn cell(&mut self, value: u64) {
        self.cells.push(value);
    }
    /// A label operand: its address, or 0 for label 0.
    pub fn label(&mut self, label: u32) {
        if label != 0 {
            self.fixups.push((self.cells.len() as u32, label));
        }
        self.cells.push(0);
    }
    pub fn label_of(operand: Operand) -> u32 {
        match operand {
            Operand::Label(label) => label,
            _ => 0,
        }
    }

    /// The constant that an operand stands for, unless it is a register.
    pub fn constant(&mut self, operand: Operand) -> Option<Term> {
        Some(match operand {
            Operand::I(value) => match Term::try_small(value) {
                Some(term) => term,
                None => self.keep(|heap| heap.integer(value)),
            },
            Operand::Big(bytes) => {
                let bytes = self.beam.code.big(bytes).to_vec();
                self.keep(|heap| heddle_term::big::from_bytes(heap, &bytes, true, true))
            }
            Operand::Atom(index) => Term::atom(self.atoms[index as usize]),
            Operand::Nil => Term::NIL,
            Operand::Literal(index) => self.literals[index as usize],
            // Sizes and similar numbers in the place of a term.
            Operand::U(value) => Term::small(value as i64),
            _ => return None,
        })
    }

    /// Keeps the term that `build` makes as a literal of the module.
    pub fn keep(&mut self, build: impl FnOnce(&mut heddle_term::Heap) -> Term) -> Term {
        let mut heap = heddle_term::Heap::new();
        let term = build(&mut heap);
        let (literal, area) = heddle_term::literal::keep(term);
        heap.clear();
        self.areas.0.extend(area);
        literal
    }

    /// Cell for an operation that decodes its operands when it runs.
    pub fn encode(&mut self, operand: Operand) -> u64 {
        match operand.reg() {
            Some(Reg::X(n)) => encode_x(n),
            Some(Reg::Y(n)) => encode_y(n),
            None => self.constant(operand).unwrap_or(Term::NIL).raw(),
        }
    }
    pub fn any(&mut self, operand: Operand) {
        let cell = self.encode(operand);
        self.cells.push(cell);
    }

    pub fn place(&mut self, operand: Operand) -> OperandPlace {
        match operand.reg() {
            Some(Reg::X(n)) => OperandPlace::X(reg_offset(n)),
            Some(Reg::Y(n)) => OperandPlace::Y(reg_offset(n)),
            None => OperandPlace::K(self.constant(operand).unwrap_or(Term::NIL).raw()),
        }
    }
    pub fn number(operand: Operand) -> u64 {
        match operand {
            Operand::U(value) => value,
            Operand::I(value) => value as u64,
            Operand::Alloc(alloc) => alloc.words as u64 + 2 * alloc.floats as u64,
            _ => 0,
        }
    }

    /// True if the instruction `ahead` places after the current one (0: the current one) is judged to build a message.
    pub fn builds_message(&self, ahead: usize) -> bool {
        self.messages.contains(self.at + ahead)
    }

    /// Notes that `instrs` instructions became the operation at `offset`.
    #[cold]
    pub fn note_message(&mut self, offset: u32, instrs: usize) {
        let behind = self.at + instrs;
        if self.messages.next(self.at).is_some_and(|instr| instr < behind) {
            self.message_sites.push(offset);
        }
        self.next_message = self.messages.next(behind).unwrap_or(usize::MAX);
    }

    pub fn offset(&self) -> u32 {
        self.cells.len() as u32
    }
}

impl OperandPlace {
    pub fn cell(self) -> u64 {
        match self {
            OperandPlace::X(cell) | OperandPlace::Y(cell) | OperandPlace::K(cell) => cell,
        }
    }
}

/// Picks the variant of an operation for a source operand: `source!(place, S => op::<S>)`.
#[macro_export]
macro_rules! source {
    ($place:expr, $S:ident => $body:expr) => {
        match $place {
            $crate::loader::emitter::OperandPlace::X(_) => {
                type $S = $crate::ctx::X;
                $body
            }
            $crate::loader::emitter::OperandPlace::Y(_) => {
                type $S = $crate::ctx::Y;
                $body
            }
            $crate::loader::emitter::OperandPlace::K(_) => {
                type $S = $crate::ctx::K;
                $body
            }
        }
    };
}

/// As `source!`, for operands that can only be registers.
#[macro_export]
macro_rules! register {
    ($place:expr, $S:ident => $body:expr) => {
        match $place {
            $crate::loader::emitter::OperandPlace::Y(_) => {
                type $S = $crate::ctx::Y;
                $body
            }
            _ => {
                type $S = $crate::ctx::X;
                $body
            }
        }
    };
}
