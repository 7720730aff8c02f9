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

/// Instructions looked at per instruction of the function, before we give up. Ours; OTP's own code stays below 5.
const ROUNDS_MAX: usize = 200;

/// The next thing to look at.
pub(super) enum Next {
    Following,
    Nothing,
}

struct Block<const W: usize> {
    state: Option<State<W>>,
    dirty: bool,
}

pub(super) struct Flow<'a, const W: usize> {
    pub beam: &'a BeamFile,
    pub function: &'a Function,
    pub tags: &'a mut TagSets,
    /// For each label its number among the labels of its function.
    ordinals: &'a [u32],
    /// One per label, in order.
    blocks: Vec<Block<W>>,
    lowest_dirty: usize,
    /// An exception may be raised while slots of the frame hold anything.
    pub raises_raw: bool,
}

/// What went wrong, and at which instruction of the module.
pub(super) type Fault = (usize, String);

impl<'a, const W: usize> Flow<'a, W> {
    /// Answers whether the function may raise an exception while slots of its frame hold anything.
    pub fn run(beam: &'a BeamFile, function: &'a Function, scratch: &'a mut Scratch) -> Result<bool, Fault> {
        let Scratch { ordinals, starts, tags, .. } = scratch;
        let blocks = starts.iter().map(|_| Block::<W> { state: None, dirty: false }).collect();
        let mut flow = Flow { beam, function, tags, ordinals, blocks, lowest_dirty: usize::MAX, raises_raw: false };
        let entry = function.entry as usize;
        flow.branch(function.entry_label, &State::at_entry(function.arity)).map_err(|problem| (entry, problem))?;
        let size = (function.end - function.start) as usize;
        let mut budget = size.saturating_mul(ROUNDS_MAX);
        let mut next = flow.lowest_dirty;
        while next < starts.len() {
            flow.lowest_dirty = usize::MAX;
            if std::mem::take(&mut flow.blocks[next].dirty) {
                flow.block(starts[next] as usize, next, &mut budget)?;
            }
            next = flow.lowest_dirty.min(next + 1);
        }
        Ok(flow.raises_raw)
    }

    fn block(&mut self, start: usize, ordinal: usize, budget: &mut usize) -> Result<(), Fault> {
        let Some(mut state) = self.blocks[ordinal].state else {
            return Ok(());
        };
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
        let changed = match &mut block.state {
            None => {
                block.state = Some(*state);
                true
            }
            Some(known) => merge(self.tags, known, state).map_err(|problem| format!("at label {label}, {problem}"))?,
        };
        if changed {
            block.dirty = true;
            self.lowest_dirty = self.lowest_dirty.min(ordinal);
        }
        Ok(())
    }

    /// The first instruction at a label that does something.
    pub fn first_instr(&self, label: u32) -> Option<&'a Instr> {
        let code = &self.beam.code;
        let start = code.labels.instr(label)? as usize;
        code.instrs[start..].iter().find(|instr| !matches!(instr.op, Op::Label | Op::Line | Op::ExecutableLine))
    }
}

/// Leaves in `known` what holds in both; true if that is less than before.
fn merge<const W: usize>(tags: &mut TagSets, known: &mut State<W>, other: &State<W>) -> Result<bool, String> {
    let mut changed = known.x.intersect(&other.x);
    if known.frame != other.frame {
        let slots = known.slots().min(other.slots());
        if known.tags != TagsId::NONE || other.tags != TagsId::NONE {
            return Err("ways with different frames meet, and a catch tag is in one of them".into());
        }
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
