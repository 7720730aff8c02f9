//! The handle of a timer, and its Erlang reference.
//!
//! The highest bit of their three words (18, 32 and 32 bits) marks references of timers. They say where the timer is: 43 bits of
//! generation, 28 of the index with the mark of nodes from outside, 10 of the wheel. A place never has the same generation again, so each
//! reference is new. A reference that was made up, or whose timer is over, names nothing.

use super::slab::{NODES, OUTSIDE};
use crate::base::refs::{OF_TIMER, RefId};
use heddle_sync::claim::GENERATIONS;
use std::num::NonZeroU64;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Handle {
    pub(super) generation: NonZeroU64,
    pub(super) index: u32,
    /// The wheel whose slab has it, if it is not from outside.
    pub(super) wheel: u16,
}

const INDEX_BITS: u32 = (OUTSIDE as u64 | (NODES as u64 - 1)).count_ones();
const LOW_BITS: u32 = 18;
const MIDDLE_BITS: u32 = GENERATIONS.ilog2() - LOW_BITS;
const INDEX_LOW_BITS: u32 = 32 - MIDDLE_BITS;
const WHEEL_SHIFT: u32 = INDEX_BITS - INDEX_LOW_BITS;
/// Numbers of wheels are below this.
pub(crate) const WHEELS: usize = 1 << (31 - WHEEL_SHIFT);
const _: () = assert!(WHEELS >= 1024);

const fn low(bits: u32) -> u64 {
    (1 << bits) - 1
}

impl Handle {
    pub(super) fn is_outside(self) -> bool {
        self.index & OUTSIDE != 0
    }

    pub(crate) fn reference(self) -> RefId {
        let (generation, index) = (self.generation.get(), self.index as u64);
        let middle = generation >> LOW_BITS | (index & low(INDEX_LOW_BITS)) << MIDDLE_BITS;
        let top = index >> INDEX_LOW_BITS | (self.wheel as u64) << WHEEL_SHIFT | OF_TIMER;
        RefId(generation & low(LOW_BITS) | middle << 32, top)
    }

    pub(crate) fn of(reference: RefId) -> Option<Handle> {
        let RefId(words, top) = reference;
        if top & OF_TIMER == 0 || top >> 32 != 0 || words as u32 as u64 >> LOW_BITS != 0 {
            return None;
        }
        let middle = words >> 32;
        Some(Handle {
            generation: NonZeroU64::new(words & low(LOW_BITS) | (middle & low(MIDDLE_BITS)) << LOW_BITS)?,
            index: (middle >> MIDDLE_BITS | (top & low(WHEEL_SHIFT)) << INDEX_LOW_BITS) as u32,
            wheel: ((top & !OF_TIMER) >> WHEEL_SHIFT) as u16,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_says_all_of_its_handle() {
        for generation in [1, 0x3ffff, 0x40000, GENERATIONS - 1] {
            for index in [0, 127, 128, NODES as u32 - 1, OUTSIDE, OUTSIDE | 12345] {
                for wheel in [0, 1, 1023] {
                    let handle = Handle { generation: NonZeroU64::new(generation).unwrap(), index, wheel };
                    let words = handle.reference().words();
                    let read_back = RefId::from_words(words);
                    assert_eq!(Handle::of(read_back), Some(handle));
                }
            }
        }
    }

    #[test]
    fn references_of_other_things_name_no_timer() {
        assert_eq!(Handle::of(RefId(0, OF_TIMER)), None);
        assert_eq!(Handle::of(crate::base::refs::fresh()), None);
        assert_eq!(Handle::of(RefId(1 << 20, OF_TIMER)), None);
    }
}
