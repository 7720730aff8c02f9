//! Follows control through one function until nothing new is learnt.
//!
//! A block starts at each label. The state at a label is what holds on all ways that lead there; blocks run again, lowest
//! first, as long as that shrinks. Loops mostly need one more round, so there is a budget against code made to be slow.

use heddle_abi::opcodes::Op;

use super::Scratch;
use super::state::{Frame, State};
use super::tags::{TagSets, TagsId};
use crate::beam::BeamFile;
use crate::code::Instr;
use crate::functions::Function;
use crate::operand::Operand;

/// Instructions looked at per instruction of the function, before we give up. Ours; OTP's own code stays below 5.
const ROUNDS_MAX: usize = 200;

/// The next thing to look at.
pub(super) enum Next {
    Following,
    Nothing,
}

/// A code end that raises may be shared by ways with different frames or catch tags. They are told apart where there is a
/// tag, because the frame and the other tags are still there in the handler.
const VARIANTS_MAX: usize = 32;

struct Variant<const W: usize> {
    state: State<W>,
    dirty: bool,
}

type Block<const W: usize> = Vec<Variant<W>>;

pub(super) struct Flow<'a, const W: usize> {
    pub beam: &'a BeamFile,
    pub function: &'a Function,
    pub tags: &'a mut TagSets,
    /// For each label its number among the labels of its function.
    ordinals: &'a [u32],
    /// One per label, in order.
    blocks: Vec<Block<W>>,
    lowest_dirty: usize,
    pub found: Found,
    /// Number of the instruction that is looked at.
    pub at: usize,
    /// A failing BIF leaves something in its destination: see [`Found::clears`].
    pub lenient: bool,
}

/// What is learnt about a function besides that it is sound.
#[derive(Default)]
pub(super) struct Found {
    /// An exception may be raised while slots of the frame hold anything.
    pub raises_raw: bool,
    /// Instructions whose destination must be given a value before them, ascending.
    pub clears: Vec<u32>,
}

/// What went wrong, and at which instruction of the module.
pub(super) type Fault = (usize, String);

impl<'a, const W: usize> Flow<'a, W> {
    /// The compiler leaves failure labels on BIFs that it has proved cannot fail, and relies on that proof after the label.
    /// The proof is not in the file; so a function that is sound but for such a destination is accepted, and the loader gives
    /// the destination a value first.
    pub fn run(beam: &'a BeamFile, function: &'a Function, scratch: &'a mut Scratch) -> Result<Found, Fault> {
        let fault = match Self::run_once(beam, function, scratch, false) {
            Ok(found) => return Ok(found),
            Err(fault) => fault,
        };
        scratch.tags.clear();
        match Self::run_once(beam, function, scratch, true) {
            Ok(mut found) => {
                found.clears.sort_unstable();
                found.clears.dedup();
                Ok(found)
            }
            Err(_) => Err(fault),
        }
    }

    fn run_once(beam: &'a BeamFile, function: &'a Function, scratch: &mut Scratch, lenient: bool) -> Result<Found, Fault> {
        let Scratch { ordinals, starts, tags, .. } = scratch;
        let blocks = starts.iter().map(|_| Block::<W>::new()).collect();
        let mut flow = Flow { beam, function, tags, ordinals, blocks, lowest_dirty: usize::MAX, found: Found::default(), at: 0, lenient };
        let entry = function.entry as usize;
        flow.branch(function.entry_label, &State::at_entry(function.arity)).map_err(|problem| (entry, problem))?;
        let size = (function.end - function.start) as usize;
        let mut budget = size.saturating_mul(ROUNDS_MAX);
        let mut next = flow.lowest_dirty;
        while next < starts.len() {
            flow.lowest_dirty = usize::MAX;
            let dirty = flow.blocks[next].iter_mut().find(|variant| variant.dirty);
            let ran = dirty.map(|variant| {
                variant.dirty = false;
                variant.state
            });
            match ran {
                Some(state) => {
                    flow.block(starts[next] as usize, state, &mut budget)?;
                    next = flow.lowest_dirty.min(next);
                }
                None => next = flow.lowest_dirty.min(next + 1),
            }
        }
        Ok(flow.found)
    }

    fn block(&mut self, start: usize, mut state: State<W>, budget: &mut usize) -> Result<(), Fault> {
        let code = &self.beam.code;
        for index in start + 1..self.function.end as usize {
            let instr = &code.instrs[index];
            *budget = budget.checked_sub(1).ok_or_else(|| (index, String::from("the function's control flow is too tangled to verify")))?;
            match instr.op {
                Op::Label => {
                    let label = code.operands(instr)[0].number().unwrap_or(0);
                    return self.branch(label, &state).map_err(|problem| (index, problem));
                }
                Op::Line | Op::ExecutableLine => continue,
                _ => {}
            }
            self.at = index;
            match self.step(&mut state, instr).map_err(|problem| (index, problem))? {
                Next::Following => {}
                Next::Nothing => return Ok(()),
            }
        }
        let last = self.function.end as usize - 1;
        Err((last, "control runs past the end of the function".into()))
    }

    /// Control may go to a label with this state.
    pub fn branch(&mut self, label: u32, state: &State<W>) -> Result<(), String> {
        let ordinal = self.ordinals[label as usize] as usize;
        let Some(block) = self.blocks.get_mut(ordinal) else {
            return Err(format!("label {label} is in another function"));
        };
        let untagged = |known: &State<W>| known.tags == TagsId::NONE && state.tags == TagsId::NONE;
        let same_frame = |known: &State<W>| known.frame == state.frame;
        let position = block
            .iter()
            .position(|variant| same_frame(&variant.state) && variant.state.tags == state.tags)
            .or_else(|| block.iter().position(|variant| untagged(&variant.state)))
            .or_else(|| block.iter().position(|variant| block.len() == VARIANTS_MAX && same_frame(&variant.state)));
        match position {
            Some(position) => {
                let variant = &mut block[position];
                if !merge(self.tags, &mut variant.state, state).map_err(|problem| format!("at label {label}, {problem}"))? {
                    return Ok(());
                }
                variant.dirty = true;
            }
            None if block.len() < VARIANTS_MAX => block.push(Variant { state: *state, dirty: true }),
            None => return Err(format!("at label {label}, more than {VARIANTS_MAX} different frames meet")),
        }
        self.lowest_dirty = self.lowest_dirty.min(ordinal);
        Ok(())
    }

    /// The first instruction at a label that does something.
    pub fn first_instr(&self, label: u32) -> Option<&'a Instr> {
        let code = &self.beam.code;
        let start = code.labels.instr(label)? as usize;
        code.instrs[start..].iter().find(|instr| !matches!(instr.op, Op::Label | Op::Line | Op::ExecutableLine))
    }

    /// The same, following jumps (a few: a ring of them leads nowhere).
    pub fn first_after_jumps(&self, label: u32) -> Option<&'a Instr> {
        let mut instr = self.first_instr(label)?;
        for _ in 0..8 {
            match (instr.op, self.beam.code.operands(instr).first()) {
                (Op::Jump, Some(&Operand::Label(next))) => instr = self.first_instr(next)?,
                _ => break,
            }
        }
        Some(instr)
    }
}

/// Leaves in `known` what holds in both; true if that is less than before.
fn merge<const W: usize>(tags: &mut TagSets, known: &mut State<W>, other: &State<W>) -> Result<bool, String> {
    let mut changed = known.x.intersect(&other.x);
    if known.frame != other.frame {
        // `branch` lets none with a tag come here.
        let slots = known.slots().min(other.slots());
        let mixed = Frame::Mixed { slots, initialised: known.is_initialised() && other.is_initialised() };
        changed |= known.frame != mixed;
        known.frame = mixed;
    }
    changed |= known.y.intersect(&other.y);
    changed |= known.f.intersect(&other.f);
    let merged = tags.merge(known.tags, other.tags)?;
    changed |= merged != known.tags;
    known.tags = merged;
    changed |= known.building & !other.building;
    known.building &= other.building;
    Ok(changed)
}
