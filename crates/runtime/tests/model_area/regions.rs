//! Compares regions of the area with blocks that have counts. Thresholds: a word of the map of beginnings stands for 1,024 bytes, so
//! there are regions of about 1, 2 and 3 times as much; 8 regions are noted without an allocation; a copy lists at most 16.

use heddle_memory::MemoryKind;
use heddle_model::{Picker, Random, Subject};
use heddle_term::area::{self, NewRegion, REFERENCE_WORDS, Region, Seen};
use heddle_term::{Term, boxed::Header, boxed::Kind};
use std::collections::BTreeMap;

struct Block {
    region: *mut Region,
    /// Data words, without references.
    words: usize,
    /// Holds of the test.
    holds: usize,
    /// Regions that can be reached, by number.
    inner: Vec<u64>,
    /// How many live regions have it in `inner`.
    by_others: usize,
}

/// Words of the header of a region.
const HEADER_WORDS: u64 = (size_of::<Region>() / 8) as u64;
const MAP_WORD: u64 = 128;
/// Maximum live regions: with more a check takes long.
const MAX_LIVE: usize = 200;

pub struct Regions {
    /// All regions that are held: by the test, or by another region that is not freed before them.
    live: BTreeMap<u64, Block>,
    /// The regions that the test holds.
    held: Picker<u64>,
    next: u64,
    /// Bytes that failed sequences left in the area.
    before_bytes: usize,
}

#[derive(Clone, Copy, Debug)]
pub enum Operation {
    /// Its words, how many other regions it refers to, and which.
    Make(u64, u64, u64),
    Hold(u64, usize),
    Release(u64, usize),
    /// Notes these regions in order, and closes.
    Note(u64, u64),
}

/// The contents of word `at` of region `number`: a small integer.
fn filling(number: u64, at: usize) -> u64 {
    Term::small((number * 10_007 + at as u64) as i64).raw()
}

impl Regions {
    /// If nothing holds the region any more, it is freed, and holds none of those that it referred to.
    fn forget(&mut self, number: u64) {
        let block = &self.live[&number];
        if block.holds > 0 || block.by_others > 0 {
            return;
        }
        let block = self.live.remove(&number).expect("just seen");
        for inner in block.inner {
            self.live.get_mut(&inner).expect("it was referred to").by_others -= 1;
            self.forget(inner);
        }
    }

    /// The contents are what was written, and each address leads to the region.
    fn look(&self, number: u64, step: usize) {
        let block = &self.live[&number];
        // SAFETY: the region is held.
        unsafe {
            let start = block.region.add(1).cast::<u64>();
            for at in (0..block.words).step_by(step).chain(block.words.checked_sub(1)) {
                let word = start.add(at);
                assert_eq!(Region::of(Term::cons(word)), block.region, "word {at} of {}", block.words);
                assert!(at == 0 || *word == filling(number, at), "word {at} of {number} was overwritten");
            }
        }
    }
}

impl Subject for Regions {
    type Operation = Operation;
    const THRESHOLDS: &'static [u64] =
        &[1, 8, 16, MAP_WORD - HEADER_WORDS, MAP_WORD, 2 * MAP_WORD - HEADER_WORDS, 3 * MAP_WORD, 10 * MAP_WORD];

    fn new() -> Self {
        Regions { live: BTreeMap::new(), held: Picker::new(), next: 0, before_bytes: heddle_memory::sum(MemoryKind::Message) }
    }

    fn operation(random: &mut Random) -> Operation {
        match random.below(10) {
            0 => Operation::Note(random.bits(), random.below(20)),
            1..3 => Operation::Hold(random.bits(), 1 + random.below(3) as usize),
            _ if random.grows() => Operation::Make(1 + random.key(), random.below(5).saturating_sub(2) * random.below(5), random.bits()),
            _ => Operation::Release(random.bits(), 1 + random.below(2) as usize),
        }
    }

    fn step(&mut self, operation: &Operation) {
        match *operation {
            Operation::Make(_, _, which) if self.live.len() > MAX_LIVE => self.step(&Operation::Release(which, 3)),
            Operation::Make(words, refers, which) => {
                let (number, words) = (self.next, words as usize);
                self.next += 1;
                let mut inner: Vec<u64> = Vec::new();
                for i in 0..refers {
                    let Some(other) = self.held.pick(which.wrapping_add(i * 7)) else { break };
                    // It lists all regions that can be reached.
                    let reached = [&[other][..], &self.live[&other].inner].concat();
                    inner.extend(reached.into_iter().filter(|n| !inner.contains(n)).collect::<Vec<_>>());
                }
                inner.truncate(16);
                // A list that was cut off would not lead to all regions: this region then refers to nothing.
                if inner.iter().any(|n| self.live[n].inner.iter().any(|n| !inner.contains(n))) {
                    inner.clear();
                }
                let all = words + inner.len() * REFERENCE_WORDS;
                let mut new = NewRegion::new(all).expect("the area has room");
                let start = new.start();
                // SAFETY: the region has that many words, and those it refers to are held.
                unsafe {
                    for at in 0..words {
                        *start.add(at) = filling(number, at);
                    }
                    for (i, n) in inner.iter().enumerate() {
                        let region = self.live[n].region;
                        Region::hold(region, 1);
                        area::refer(start.add(words + i * REFERENCE_WORDS), region, 1, new.off_heap());
                    }
                    *start = Header::new(Kind::Tuple, words - 1).raw();
                }
                let region = new.close(all, false);
                for n in &inner {
                    self.live.get_mut(n).expect("it is held").by_others += 1;
                }
                self.live.insert(number, Block { region, words, holds: 1, inner, by_others: 0 });
                self.held.insert(number);
                self.look(number, 1);
            }
            Operation::Hold(which, times) => {
                let Some(number) = self.held.pick(which) else { return };
                let block = self.live.get_mut(&number).expect("just seen");
                // SAFETY: it is held.
                unsafe { Region::hold(block.region, times) };
                block.holds += times;
            }
            Operation::Release(which, times) => {
                let Some(number) = self.held.pick(which) else { return };
                let block = self.live.get_mut(&number).expect("just seen");
                let times = times.min(block.holds);
                block.holds -= times;
                // SAFETY: the holds are the test's.
                unsafe { Region::release(block.region, times) };
                if block.holds == 0 {
                    self.held.remove(number);
                    self.forget(number);
                }
            }
            Operation::Note(which, count) => {
                let mut seen = Seen::default();
                let (mut expected, mut noted): (Vec<*mut Region>, Vec<u64>) = (Vec::new(), Vec::new());
                for i in 0..count {
                    let Some(number) = self.held.pick(which.wrapping_add(i * 3)) else { return };
                    let block = &self.live[&number];
                    // SAFETY: it is held.
                    unsafe {
                        let word = block.region.add(1).cast::<u64>().add(which as usize % block.words);
                        seen.note(Term::cons(word));
                    }
                    if !expected.contains(&block.region) {
                        expected.push(block.region);
                        noted.push(number);
                    }
                    assert_eq!(seen.len(), expected.len());
                    assert!(seen.get(block.region).is_some_and(|what| what.is_null()));
                }
                seen.close();
                let reached = noted.iter().flat_map(|n| self.live[n].inner.iter()).map(|n| self.live[n].region);
                expected.extend(reached.collect::<Vec<_>>());
                expected.sort();
                expected.dedup();
                let mut all: Vec<*mut Region> = seen.regions().collect();
                all.sort();
                assert_eq!(all, expected);
            }
        }
    }

    fn check(&mut self) {
        let numbers: Vec<u64> = self.live.keys().copied().collect();
        for &number in &numbers {
            self.look(number, 61);
            let block = &self.live[&number];
            // SAFETY: it is held.
            let is_alone = unsafe { Region::is_held_alone(block.region, block.holds + block.by_others) };
            assert!(is_alone, "{number} has holders that the model does not know");
        }
    }

    fn end(&mut self) {
        for block in self.live.values() {
            if block.holds > 0 {
                // SAFETY: the holds are the test's.
                unsafe { Region::release(block.region, block.holds) };
            }
        }
        self.live.clear();
        self.held = Picker::new();
        assert_eq!(heddle_memory::sum(MemoryKind::Message), self.before_bytes);
    }
}
