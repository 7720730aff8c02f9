//! Calls, frames and catch tags.

use heddle_abi::opcodes::Op;

use super::flow::{Flow, Next};
use super::state::{Frame, Set, State};
use super::tags::TagsId;
use crate::operand::Y_REGS;

impl<const W: usize> Flow<'_, W> {
    /// An exception may be raised here.
    pub(super) fn raise(&mut self, state: &State<W>) -> Result<(), String> {
        if !state.is_initialised() {
            self.found.raises_raw = true;
        }
        if state.tags == TagsId::NONE {
            return Ok(());
        }
        let mut position = 0;
        while let Some(&tag) = self.tags.get(state.tags).get(position) {
            let tags = self.tags.caught(state.tags, tag)?;
            // `catch_end` finds either the value or the exception in x0, `try_case` looks elsewhere.
            let is_catch = self.first_instr(tag.handler).is_some_and(|instr| instr.op == Op::CatchEnd);
            let caught = State { x: Set::first(is_catch.into()), f: Set::EMPTY, tags, building: false, ..*state };
            self.branch(tag.handler, &caught)?;
            position += 1;
            let next = self.tags.get(state.tags).get(position);
            if tag.certain && next.is_none_or(|next| next.slot != tag.slot) {
                break;
            }
        }
        Ok(())
    }

    pub(super) fn like_call(&mut self, state: &mut State<W>, arguments: u32, results: u32) -> Result<Next, String> {
        self.has_x(state, arguments)?;
        self.frame_is_initialised(state)?;
        self.raise(state)?;
        self.forget_x(state);
        state.x = Set::first(results);
        Ok(Next::Following)
    }

    pub(super) fn call(&mut self, state: &mut State<W>, arguments: u32) -> Result<Next, String> {
        if !matches!(state.frame, Frame::Slots(_)) {
            return Err(format!("a call needs a frame to return to ({:?})", state.frame));
        }
        self.like_call(state, arguments, 1)
    }

    /// Leaves the function, with a frame to give up or without one.
    pub(super) fn tail_call(&mut self, state: &mut State<W>, arguments: u32, frame: Option<u32>) -> Result<Next, String> {
        self.has_x(state, arguments)?;
        match frame {
            Some(size) => self.leave_frame(state, size)?,
            None if state.frame != Frame::None => return Err(format!("the frame is still there ({:?})", state.frame)),
            None => {}
        }
        Ok(Next::Nothing)
    }

    pub(super) fn allocate(&mut self, state: &mut State<W>, size: u32, live: u32) -> Result<Next, String> {
        if state.frame != Frame::None {
            return Err(format!("there is a frame already ({:?})", state.frame));
        }
        if size > u32::from(Y_REGS) {
            return Err(format!("a frame of {size}, the largest is {Y_REGS}"));
        }
        self.collect(state, live)?;
        state.frame = Frame::Slots(size);
        state.y = Set::EMPTY;
        Ok(Next::Following)
    }

    pub(super) fn leave_frame(&mut self, state: &mut State<W>, size: u32) -> Result<(), String> {
        if state.frame != Frame::Slots(size) {
            return Err(format!("a frame of {size} is given up, but it is {:?}", state.frame));
        }
        if state.tags != TagsId::NONE {
            return Err("a catch tag is still in the frame".into());
        }
        state.frame = Frame::None;
        state.y = Set::EMPTY;
        Ok(())
    }

    pub(super) fn trim(&mut self, state: &mut State<W>, count: u32, remaining: u32) -> Result<Next, String> {
        if state.frame != Frame::Slots(count.saturating_add(remaining)) {
            return Err(format!("{count} slots are cut and {remaining} remain, but the frame is {:?}", state.frame));
        }
        state.tags = self.tags.shift_down(state.tags, count)?;
        state.frame = Frame::Slots(remaining);
        state.y.shift_down(count);
        Ok(Next::Following)
    }

    pub(super) fn enter_catch(&mut self, state: &mut State<W>, op: Op, slot: u32, handler: u32) -> Result<Next, String> {
        self.slot_in_frame(state, slot as u16)?;
        let end = if op == Op::Try { Op::TryCase } else { Op::CatchEnd };
        if self.first_instr(handler).is_none_or(|instr| instr.op != end) {
            return Err(format!("the handler at label {handler} does not start with {}", end.name()));
        }
        if let Some(inner) = self.tags.get(state.tags).iter().find(|tag| tag.slot < slot) {
            return Err(format!("y{slot} is above the catch tag in y{}, which would hide it", inner.slot));
        }
        state.tags = self.tags.put(state.tags, slot, handler)?;
        state.y.insert(slot);
        Ok(Next::Following)
    }

    pub(super) fn leave_catch(&mut self, state: &mut State<W>, slot: u32) -> Result<Next, String> {
        state.tags = self.tags.take(state.tags, slot)?;
        Ok(Next::Following)
    }
}
