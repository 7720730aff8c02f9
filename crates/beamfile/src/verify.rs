//! Proves that code cannot leave the rails the VM relies on, before any of it is loaded.
//!
//! For each function: operands are of the kinds their instruction takes and point into existing tables; jumps stay inside the
//! function, calls go to entries of the right arity; control never runs past the end. Then, following all ways through the
//! function: registers are read only when they hold a term, the frame has the same size on all ways to a label and is gone at
//! return and tail calls, stack slots are inside the frame and hold terms whenever the stack may be walked, catch tags nest.
//!
//! What the VM must guard itself:
//!
//! * Types are not proved: that `get_list` meets a cons, or a bit string instruction a match context; nor that a `test_heap` asked
//!   for as much as is used.
//! * [`BeamFile::never_returns`] calls raise where they stand; their frame operand means nothing, there may be no frame.
//! * `try_case` may be reached by jumping or falling into it: compilers put it after calls that, given their arguments, always
//!   raise. It must not take the exception from X registers that such a way leaves unset, but from a place that always holds
//!   terms. `catch_end` finds x0 set on all ways, by a value or by the VM when it caught an exception.
//! * An exception goes to the catch tag in the lowest slot. The handlers are [`Op::Catch`]'s and [`Op::Try`]'s labels; when the
//!   handler starts, no X register holds anything.
//! * `wait_timeout` whose label leads to itself runs again with the timer set: it must not read its time then.
//! * When a test, a BIF or a bit string instruction with a failure label fails, X registers from `live` on are lost: it may collect
//!   first. `bs_match` is the exception: a command that fails keeps all that earlier commands left.
//! * Sources of an instruction that may collect are proved to lie below its `live`, so the roots are just x0 to x(live - 1) and the
//!   frame; Y registers all hold something then. `bs_match` has taken bits only after it ensured them.
//! * `receive`: `loop_rec`, `loop_rec_end`, `wait` and `wait_timeout` keep no X registers.
//! * See [`Verified::raises_raw`] for slots that were never written, [`Verified::clears`] for results of BIFs that failed.

mod check;
mod effects;
mod flow;
mod frames;
pub(crate) mod kinds;
pub(crate) mod lists;
mod state;
mod tags;

use heddle_abi::opcodes::Op;

use self::check::Checker;
use self::flow::{Flow, Found};
use self::tags::TagSets;
use crate::beam::BeamFile;
use crate::code::function_name;
use crate::error::{BeamError, ChunkId};
use crate::functions::Function;
use crate::operand::{Operand, Reg};

/// A file whose code passed verification. Only [`Verified::new`] makes one.
#[derive(Clone, Debug)]
pub struct Verified {
    beam: BeamFile,
    facts: Facts,
}

/// What verification found out about the functions.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    raises_raw: Vec<bool>,
    /// Ascending.
    clears: Vec<u32>,
}

impl Verified {
    pub fn new(beam: BeamFile) -> Result<Verified, BeamError> {
        let facts = verify(&beam)?;
        Ok(Verified { beam, facts })
    }

    /// Parses and verifies.
    pub fn load(bytes: &[u8]) -> Result<Verified, BeamError> {
        Verified::new(BeamFile::parse(bytes)?)
    }

    pub fn into_inner(self) -> BeamFile {
        self.beam
    }

    /// True if the function with this index may raise an exception (in a BIF of a body) while slots of its frame were never
    /// written. There are no catch tags in the frame then, but a VM that searches the stack for them must either clear
    /// the slots when it allocates frames of this function, or skip the frame. Everywhere else slots hold terms or catch tags
    /// whenever the stack can be walked.
    pub fn raises_raw(&self, function: usize) -> bool {
        self.facts.raises_raw.get(function).copied().unwrap_or(true)
    }

    /// True if the VM must put a term into the destination of the instruction with this index before it runs it: the
    /// instruction (a BIF) may fail, and the code at its label reads the destination nevertheless.
    pub fn clears(&self, instr: usize) -> bool {
        !self.facts.clears.is_empty() && self.is_cleared(instr)
    }

    /// True if `clears` is for some of these instructions.
    pub fn clears_in(&self, instrs: std::ops::Range<usize>) -> bool {
        let at = self.facts.clears.partition_point(|&at| (at as usize) < instrs.start);
        self.facts.clears.get(at).is_some_and(|&at| (at as usize) < instrs.end)
    }

    fn is_cleared(&self, instr: usize) -> bool {
        self.facts.clears.binary_search(&(instr as u32)).is_ok()
    }
}

impl std::ops::Deref for Verified {
    type Target = BeamFile;

    fn deref(&self) -> &BeamFile {
        &self.beam
    }
}

/// Verifies all functions and the tables that name them.
pub fn verify(beam: &BeamFile) -> Result<Facts, BeamError> {
    let code = &beam.code;
    let mut entries = vec![0; code.labels.limit() as usize];
    for (index, function) in code.functions.iter().enumerate() {
        entries[function.entry_label as usize] = index as u32 + 1;
    }
    let entry_arity = |label: u32| {
        let index = entries.get(label as usize).map_or(0, |&index| index as usize);
        code.functions.get(index.wrapping_sub(1)).map(|function: &Function| function.arity)
    };
    for (index, export) in beam.exports.iter().enumerate() {
        if entry_arity(export.label) != Some(export.arity) {
            return Err(bad_reference(beam, *b"ExpT", 4 + 12 * index, export.function, export.arity, export.label));
        }
    }
    for (index, lambda) in beam.lambdas.iter().enumerate() {
        if entry_arity(lambda.label) != Some(lambda.arity) {
            return Err(bad_reference(beam, *b"FunT", 4 + 24 * index, lambda.function, lambda.arity, lambda.label));
        }
    }
    let ordinals = vec![0; entries.len()];
    let mut scratch = Scratch { entries, ordinals, starts: Vec::new(), tags: TagSets::new() };
    let mut facts = Facts::default();
    for function in &code.functions {
        let found = scratch.function(beam, function)?;
        facts.raises_raw.push(found.raises_raw);
        facts.clears.extend(found.clears);
    }
    Ok(facts)
}

fn bad_reference(beam: &BeamFile, chunk: [u8; 4], offset: usize, function: u32, arity: u32, label: u32) -> BeamError {
    let name = function_name(&beam.atoms, function, arity);
    BeamError::chunk(ChunkId(chunk), offset, format!("{name}: label {label} is not the entry of a function of that arity"))
}

/// What functions share, and memory that one function after the other uses.
struct Scratch {
    /// For each label the function it is the entry of, plus one.
    entries: Vec<u32>,
    /// For each label its number among the labels of its function.
    ordinals: Vec<u32>,
    /// Indices of the function's labels.
    starts: Vec<u32>,
    tags: TagSets,
}

impl Scratch {
    fn function(&mut self, beam: &BeamFile, function: &Function) -> Result<Found, BeamError> {
        let code = &beam.code;
        let checker = Checker { beam, function, entries: &self.entries };
        let at = |index: usize, problem| code.error(&beam.atoms, Some(function), &code.instrs[index], problem);
        self.starts.clear();
        self.tags.clear();
        let mut highest = 0;
        for index in function.start as usize..function.end as usize {
            let instr = &code.instrs[index];
            checker.instr(instr).map_err(|problem| at(index, problem))?;
            let operands = code.operands(instr);
            if instr.op == Op::Label {
                self.ordinals[operands[0].number().unwrap_or(0) as usize] = self.starts.len() as u32;
                self.starts.push(index as u32);
            }
            highest = operands.iter().fold(highest, |highest, &operand| highest.max(reach(beam, operand)));
        }
        let flow = match highest {
            0..64 => Flow::<1>::run(beam, function, self),
            _ => Flow::<WIDE>::run(beam, function, self),
        };
        flow.map_err(|(index, problem)| at(index, problem))
    }
}

/// Enough words for all registers, and for arguments of `apply`.
const WIDE: usize = 17;

/// The highest register an operand may mean. Plain numbers count as well: they may be arities, live registers, frame sizes.
fn reach(beam: &BeamFile, operand: Operand) -> u32 {
    match (operand.reg(), operand) {
        (Some(Reg::X(number) | Reg::Y(number)), _) | (None, Operand::FR(number)) => number.into(),
        (None, Operand::U(number)) if number <= 1024 => number as u32 + 2,
        (None, Operand::List(list)) => beam.code.list(list).iter().map(|&element| reach(beam, element)).max().unwrap_or(0),
        _ => 0,
    }
}
