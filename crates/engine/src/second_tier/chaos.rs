//! `+JMchaos`: compiled code leaves to the first tier instructions that it knows, at random. What it must keep for the first tier, and what it may
//! not believe afterwards, shows at instructions where that is rare otherwise.
//!
//! What is left depends on the seed, the module and the place alone: not on the order in which functions are compiled. Each instruction belongs to one
//! of many groups, and only those of the first FUEL groups are left. So a failure can be traced to one group by halving (`tools/bisect-chaos`).

use heddle_abi::settings::{CHAOS_GROUPS, SETTINGS};
use heddle_term::Atom;
use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

/// What `+JMchaos` says.
#[derive(Clone, Copy)]
pub struct Chaos {
    seed: u64,
    /// Groups of which the instructions are left.
    groups: u64,
}

/// One of this number of instructions is left. Each function has one of the four numbers: with 2 its segments are short, with 60 long (guessed).
const RARITIES: [u64; 4] = [2, 6, 20, 60];

impl Chaos {
    pub fn wanted() -> Option<Chaos> {
        let flag = SETTINGS.chaos.get() as u64;
        (flag != 0).then_some(Chaos { seed: flag >> 32, groups: flag & u64::from(u32::MAX) })
    }

    /// True if the instruction at this index of the module is left. `function`: the index of its function.
    pub fn leaves(self, module: Atom, function: usize, at: usize) -> bool {
        let Some(group) = self.group(module.name().as_bytes(), function, at) else { return false };
        if self.groups < CHAOS_GROUPS as u64 && group == self.groups - 1 {
            tell(module, at);
        }
        true
    }

    /// The group of the instruction, if it is left.
    fn group(self, module: &[u8], function: usize, at: usize) -> Option<u64> {
        let name = module.iter().fold(self.seed, |hash, &byte| mixed(hash ^ u64::from(byte)));
        let of_function = mixed(name ^ function as u64);
        let rarity = RARITIES[(of_function % RARITIES.len() as u64) as usize];
        let of_place = mixed(of_function ^ at as u64);
        let group = (of_place >> 32) % CHAOS_GROUPS as u64;
        (of_place.is_multiple_of(rarity) && group < self.groups).then_some(group)
    }
}

/// The last step of splitmix64: each bit depends on all bits.
fn mixed(word: u64) -> u64 {
    let word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

/// Tells that the instruction is left, once.
#[cold]
fn tell(module: Atom, at: usize) {
    static TOLD: Mutex<Option<HashSet<(Atom, usize)>>> = Mutex::new(None);
    let mut told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
    if told.get_or_insert_default().insert((module, at)) {
        heddle_term::complain!("+JMchaos: instruction {at} of {} is left to the interpreter\n", module.name());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(seed: u64, groups: u64) -> Vec<(usize, usize)> {
        let chaos = Chaos { seed, groups };
        let all = (0..200).flat_map(|function| (0..100).map(move |at| (function, function * 100 + at)));
        all.filter(|&(function, at)| chaos.group(b"lists", function, at).is_some()).collect()
    }

    #[test]
    fn less_fuel_leaves_a_part_of_the_same_instructions() {
        let all = left(1, CHAOS_GROUPS as u64);
        assert!((2_000..6_000).contains(&all.len()), "{}", all.len());
        let half = left(1, CHAOS_GROUPS as u64 / 2);
        assert!(half.iter().all(|place| all.contains(place)));
        assert!((all.len() / 3..all.len() * 2 / 3).contains(&half.len()), "{} of {}", half.len(), all.len());
        assert_eq!(left(1, 0), []);
        assert_ne!(left(2, CHAOS_GROUPS as u64), all);
    }
}
