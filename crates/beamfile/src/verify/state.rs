//! What is known before an instruction: which registers certainly hold a term, and what the frame looks like.

use super::tags::TagsId;

/// A set of small numbers; `W` words of 64 bits. Nearly all functions do with one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Set<const W: usize>([u64; W]);

impl<const W: usize> Set<W> {
    pub const EMPTY: Set<W> = Set([0; W]);

    /// `{0, ..., count - 1}`
    #[inline]
    pub fn first(count: u32) -> Set<W> {
        let mut set = Set::EMPTY;
        for (index, word) in set.0.iter_mut().enumerate() {
            *word = match (count as usize).saturating_sub(index * 64) {
                0 => 0,
                bits @ 1..64 => (1 << bits) - 1,
                _ => u64::MAX,
            };
        }
        set
    }

    #[inline]
    pub fn contains(&self, number: u32) -> bool {
        self.0.get(number as usize / 64).is_some_and(|word| word >> (number % 64) & 1 != 0)
    }

    #[inline]
    pub fn insert(&mut self, number: u32) {
        if let Some(word) = self.0.get_mut(number as usize / 64) {
            *word |= 1 << (number % 64);
        }
    }

    /// Keeps what is also in the other set; true if that lost something.
    #[inline]
    pub fn intersect(&mut self, other: &Set<W>) -> bool {
        let mut changed = false;
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            changed |= *word & !other != 0;
            *word &= other;
        }
        changed
    }

    #[inline]
    pub fn contains_all(&self, other: &Set<W>) -> bool {
        self.0.iter().zip(&other.0).all(|(word, other)| other & !word == 0)
    }

    /// The smallest number of `{0, ..., count - 1}` that is missing.
    pub fn first_missing(&self, count: u32) -> Option<u32> {
        (0..count).find(|&number| !self.contains(number))
    }

    /// Takes `by` from each number and drops those below zero.
    pub fn shift_down(&mut self, by: u32) {
        let (words, bits) = (by as usize / 64, by % 64);
        for index in 0..W {
            let low = self.0.get(index + words).copied().unwrap_or(0);
            let high = self.0.get(index + words + 1).copied().unwrap_or(0);
            self.0[index] = if bits == 0 { low } else { low >> bits | high << (64 - bits) };
        }
    }
}

/// The part of the stack that belongs to the function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Frame {
    None,
    /// A frame of that many Y registers.
    Slots(u32),
    /// Ways with different frames met. Only raising an exception is possible from here.
    Mixed {
        /// These exist in all of them.
        slots: u32,
        /// All slots of all of them hold a value.
        initialised: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct State<const W: usize> {
    /// X registers that hold a term.
    pub x: Set<W>,
    /// Y registers that hold a term or a catch tag.
    pub y: Set<W>,
    /// Float registers that hold a number.
    pub f: Set<W>,
    pub frame: Frame,
    /// Catch tags in Y registers.
    pub tags: TagsId,
    /// A binary is being built, with `bs_put_...` instructions to come.
    pub building: bool,
}

impl<const W: usize> State<W> {
    pub fn at_entry(arity: u32) -> State<W> {
        State { x: Set::first(arity), y: Set::EMPTY, f: Set::EMPTY, frame: Frame::None, tags: TagsId::NONE, building: false }
    }

    #[inline]
    pub fn slots(&self) -> u32 {
        match self.frame {
            Frame::None => 0,
            Frame::Slots(slots) | Frame::Mixed { slots, .. } => slots,
        }
    }

    /// A walk over the stack sees only terms and catch tags.
    #[inline]
    pub fn is_initialised(&self) -> bool {
        match self.frame {
            Frame::None => true,
            Frame::Slots(size) => self.y.contains_all(&Set::first(size)),
            Frame::Mixed { initialised, .. } => initialised,
        }
    }

    /// After something that leaves only `x0..x(live - 1)`.
    #[inline]
    pub fn keep_x(&mut self, live: u32) {
        self.x.intersect(&Set::first(live));
    }
}
