//! What will become of the values in registers, on the ways that follow: a byte for each register.

use crate::operand::{Operand, Reg};

/// Three bits say what of a value will be sent. Three more say the same of the way through the function's result: if that is
/// sent, by any caller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Want(u8);

const SENT: u8 = 0b00_0111;
const RETURNED: u8 = 0b11_1000;
const RETURNED_SHIFT: u8 = 3;
const EACH_WHOLE: u8 = 0b00_1001;

impl Want {
    pub const NOTHING: Want = Want(0);
    /// The value itself, with all that it refers to.
    pub const WHOLE: Want = Want(0b001);
    /// What it refers to at once, whole, but not itself: it will be copied. Of a list that means all its elements.
    #[cfg(test)]
    pub const CONTENT: Want = Want(0b010);
    /// The value is a fun: what it returns, whole.
    #[cfg(test)]
    pub const RESULT: Want = Want(0b100);

    #[inline]
    pub fn is_nothing(self) -> bool {
        self.0 == 0
    }

    /// An object with this want is built where messages are.
    #[inline]
    pub fn is_message(self) -> bool {
        self.0 & EACH_WHOLE != 0
    }

    /// Of an element of an object with this want.
    #[inline]
    pub fn element(self) -> Want {
        Want((self.0 | self.0 >> 1) & EACH_WHOLE)
    }

    /// Of the tail of a list cell with this want.
    #[inline]
    pub fn tail(self) -> Want {
        Want(self.0 & (EACH_WHOLE | EACH_WHOLE << 1))
    }

    /// Of an object whose elements an object with this want shares.
    #[inline]
    pub fn sharing(self) -> Want {
        Want(self.element().0 << 1)
    }

    /// Of a list from which a value with this want was taken.
    #[inline]
    pub fn list_of(self) -> Want {
        Want((self.0 & EACH_WHOLE) << 1)
    }

    /// Of a fun that returned a value with this want.
    #[inline]
    pub fn fun(self) -> Want {
        Want((self.0 & EACH_WHOLE) << 2)
    }

    /// Of what this fun returns.
    #[inline]
    pub fn result(self) -> Want {
        Want(self.0 >> 2 & EACH_WHOLE)
    }

    /// Of the argument of a call, from what the function does with it, if the result of the call has the want `result`.
    #[inline]
    pub fn of_argument(self, result: Want) -> Want {
        let mut want = self.0 & SENT;
        if result.0 & SENT != 0 {
            want |= self.0 >> RETURNED_SHIFT;
        }
        if result.0 & RETURNED != 0 {
            want |= self.0 & RETURNED;
        }
        Want(want)
    }

    /// The want of the called function's result, whatever the caller's result is for.
    #[inline]
    pub fn demand(self) -> Want {
        Want((self.0 | self.0 >> RETURNED_SHIFT) & SENT)
    }

    /// Of the value that a function returns whose result callers demand so.
    #[inline]
    pub fn returned(self) -> Want {
        Want(self.0 << RETURNED_SHIFT & RETURNED)
    }

    #[inline]
    pub fn or(self, other: Want) -> Want {
        Want(self.0 | other.0)
    }

    /// What is in `other` and was not here.
    #[inline]
    pub fn news(self, other: Want) -> Want {
        Want(other.0 & !self.0)
    }

    /// True if it matters to callers that do not send the function's result.
    #[inline]
    pub fn is_sent(self) -> bool {
        self.0 & SENT != 0
    }
}

/// X registers from this on, and Y registers, are not followed. In OTP 27 one register operand in 20,000 is such.
pub(super) const REGISTERS: usize = 32;

/// Wants by register: those of X registers, then those of Y registers.
pub(super) type Bytes = [u8; 2 * REGISTERS];

#[derive(Clone, Copy, Debug)]
pub(super) struct State {
    bytes: Bytes,
    /// There may be a want. Most of the code has none, so this saves most of the work.
    live: bool,
}

#[inline]
fn place(reg: Reg) -> Option<usize> {
    match reg {
        Reg::X(x) if usize::from(x) < REGISTERS => Some(x.into()),
        Reg::Y(y) if usize::from(y) < REGISTERS => Some(REGISTERS + usize::from(y)),
        _ => None,
    }
}

impl State {
    pub const EMPTY: State = State { bytes: [0; 2 * REGISTERS], live: false };

    #[inline]
    pub fn is_live(&self) -> bool {
        self.live
    }

    #[inline]
    pub fn clear(&mut self) {
        if self.live {
            *self = State::EMPTY;
        }
    }

    /// The register gets a value here: its want, and none before.
    #[inline]
    pub fn take(&mut self, operand: Operand) -> Want {
        match operand.reg().and_then(place) {
            Some(place) if self.live => Want(std::mem::take(&mut self.bytes[place])),
            _ => Want::NOTHING,
        }
    }

    #[inline]
    pub fn forget(&mut self, operand: Operand) {
        self.take(operand);
    }

    #[inline]
    pub fn give(&mut self, operand: Operand, want: Want) {
        if let Some(place) = operand.reg().and_then(place) {
            self.bytes[place] |= want.0;
            self.live |= want.0 != 0;
        }
    }

    #[inline]
    pub fn give_x(&mut self, x: usize, want: Want) {
        if x < REGISTERS {
            self.bytes[x] |= want.0;
            self.live |= want.0 != 0;
        }
    }

    /// By an instruction that keeps no X registers and leaves a value in the first.
    #[inline]
    pub fn take_result(&mut self) -> Want {
        let want = Want(self.bytes[0]);
        self.keep_x(0);
        want
    }

    /// Of X registers, the first of them only.
    #[inline]
    pub fn keep_x(&mut self, count: usize) {
        if self.live {
            self.bytes[count..REGISTERS].fill(0);
        }
    }

    /// The frame is made here.
    #[inline]
    pub fn clear_y(&mut self) {
        if self.live {
            self.bytes[REGISTERS..].fill(0);
        }
    }

    /// The first `count` slots of the frame are given up here: those after them move down.
    pub fn trim(&mut self, count: usize) {
        if self.live {
            let slots = &mut self.bytes[REGISTERS..];
            let count = count.min(REGISTERS);
            slots.copy_within(..REGISTERS - count, count);
            slots[..count].fill(0);
        }
    }

    #[inline]
    pub fn x(&self, x: usize) -> Want {
        Want(self.bytes.get(x).copied().unwrap_or(0))
    }
}

/// The wants at the labels of a module.
pub(super) struct Labels {
    /// For each label [`UNMET`], [`NO_WANTS`], or where its wants are, plus [`FIRST`].
    slots: Vec<u32>,
    wants: Vec<Bytes>,
    /// Labels that were jumped to before they were met: the jump goes back.
    behind: Vec<u32>,
}

/// No walk came to the label yet.
const UNMET: u32 = 0;
const NO_WANTS: u32 = 1;
const FIRST: u32 = 2;

impl Labels {
    pub fn new(limit: u32) -> Labels {
        Labels { slots: vec![UNMET; limit as usize], wants: Vec::with_capacity(limit as usize / 4), behind: Vec::with_capacity(16) }
    }

    /// Control may go to the label from here.
    #[inline]
    pub fn join(&mut self, label: u32, state: &mut State) {
        match self.slots[label as usize] {
            UNMET => self.behind.push(label),
            NO_WANTS => {}
            slot => {
                or(&mut state.bytes, &self.wants[(slot - FIRST) as usize]);
                state.live = true;
            }
        }
    }

    /// The label is where an exception is caught: only the frame is left there.
    pub fn join_frame(&self, label: u32, state: &mut State) {
        let slot = self.slots[label as usize];
        if slot >= FIRST {
            let wants = &self.wants[(slot - FIRST) as usize];
            state.bytes[REGISTERS..].iter_mut().zip(&wants[REGISTERS..]).for_each(|(here, there)| *here |= there);
            state.live = true;
        }
    }

    /// The label stands here: both have the wants of both. True if a jump comes back to it, and it has more than before.
    #[inline]
    pub fn meet(&mut self, label: u32, state: &mut State) -> bool {
        let slot = self.slots[label as usize];
        if !state.live && slot <= NO_WANTS {
            self.slots[label as usize] = NO_WANTS;
            return false;
        }
        self.meet_live(label, state) && self.behind.contains(&label)
    }

    fn meet_live(&mut self, label: u32, state: &mut State) -> bool {
        let slot = &mut self.slots[label as usize];
        match *slot {
            UNMET | NO_WANTS => {
                state.live = state.bytes != State::EMPTY.bytes;
                *slot = NO_WANTS;
                if state.live {
                    *slot = self.wants.len() as u32 + FIRST;
                    self.wants.push(state.bytes);
                }
                state.live
            }
            slot => {
                let wants = &mut self.wants[(slot - FIRST) as usize];
                or(&mut state.bytes, wants);
                state.live = true;
                let changed = state.bytes != *wants;
                *wants = state.bytes;
                changed
            }
        }
    }
}

#[inline]
fn or(here: &mut Bytes, there: &Bytes) {
    here.iter_mut().zip(there).for_each(|(here, there)| *here |= there);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wants_of_parts() {
        assert_eq!(Want::WHOLE.element(), Want::WHOLE);
        assert_eq!(Want::CONTENT.element(), Want::WHOLE);
        assert_eq!(Want::RESULT.element(), Want::NOTHING);
        assert_eq!(Want::WHOLE.or(Want::RESULT).tail(), Want::WHOLE);
        assert_eq!(Want::CONTENT.tail(), Want::CONTENT);
        assert_eq!(Want::WHOLE.sharing(), Want::CONTENT);
        assert_eq!(Want::CONTENT.sharing(), Want::CONTENT);
        assert_eq!(Want::WHOLE.list_of(), Want::CONTENT);
        assert_eq!(Want::CONTENT.list_of(), Want::NOTHING);
        assert_eq!(Want::WHOLE.fun(), Want::RESULT);
        assert_eq!(Want::RESULT.result(), Want::WHOLE);
        let returned = Want::WHOLE.returned();
        assert!(returned.is_message() && !returned.is_sent());
        assert_eq!(returned.fun().result(), returned);
    }

    #[test]
    fn wants_through_a_call() {
        let returned = Want::CONTENT.returned();
        assert_eq!(returned.of_argument(Want::NOTHING), Want::NOTHING);
        assert_eq!(returned.of_argument(Want::WHOLE), Want::CONTENT);
        assert_eq!(returned.of_argument(Want::WHOLE.returned()), returned);
        assert_eq!(Want::WHOLE.of_argument(Want::NOTHING), Want::WHOLE);
        assert_eq!(Want::WHOLE.returned().demand(), Want::WHOLE);
        assert_eq!(Want::WHOLE.or(Want::CONTENT.returned()).demand(), Want::WHOLE.or(Want::CONTENT));
    }

    #[test]
    fn registers() {
        let mut state = State::EMPTY;
        state.give(Operand::Y(2), Want::WHOLE);
        state.trim(3);
        assert_eq!(state.take(Operand::Y(2)), Want::NOTHING);
        assert_eq!(state.take(Operand::Y(5)), Want::WHOLE);
        assert_eq!(state.bytes, State::EMPTY.bytes);
        state.give(Operand::Y(31), Want::WHOLE);
        state.give(Operand::Y(32), Want::WHOLE);
        state.give(Operand::X(1000), Want::WHOLE);
        assert_eq!(state.take(Operand::X(1000)), Want::NOTHING);
        state.trim(1000);
        assert_eq!(state.bytes, State::EMPTY.bytes);
    }
}
