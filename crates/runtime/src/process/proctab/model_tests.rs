//! A process table against a map. Thresholds: the table is full; identity numbers wrap around the table, and around their whole range;
//! numbers are set to jump.

use super::{LARGEST, Numbers, Table};
use crate::heap::mode;
use crate::model_tests::processes::make;
use crate::process::{self, ProcRef};
use heddle_model::{Random, Subject, run};
use heddle_sync::word::Number;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

const LIMIT: usize = 64;

struct Identities {
    table: Table,
    numbers: Numbers,
    /// By identity: None while it is only reserved.
    model: BTreeMap<u64, Option<ProcRef>>,
    /// Some identities that are not in use any more.
    over: Vec<u64>,
}

#[derive(Clone, Copy, Debug)]
enum Operation {
    Reserve,
    Publish(u64),
    GiveBack(u64),
    Lookup(u64),
    Next,
    /// Sets the next number.
    Jump(u64),
}

impl Identities {
    fn nth(&self, which: u64) -> Option<u64> {
        self.model.keys().copied().nth(which as usize % self.model.len().max(1))
    }

    fn lookup(&self, id: u64) {
        let found = self.table.lookup(id, |_| ());
        assert_eq!(found.map(ProcRef::as_ptr), self.model.get(&id).copied().flatten().map(ProcRef::as_ptr));
    }

    fn give_back(&mut self, id: u64) {
        if let Some(Some(p)) = self.model.remove(&id) {
            // SAFETY: only this test has the process.
            unsafe {
                mode::abandon(p.local());
                process::deallocate(p);
            }
        }
        self.table.slot(id).store(std::ptr::null_mut(), Ordering::Release);
        self.numbers.count.sub(1, Ordering::Relaxed);
        self.over.push(id);
        self.over.drain(..self.over.len().saturating_sub(100));
    }
}

impl Subject for Identities {
    type Operation = Operation;
    const THRESHOLDS: &'static [u64] = &[1, 16, LIMIT as u64 - 1, LIMIT as u64];

    fn new() -> Self {
        Identities { table: Table::new(LIMIT), numbers: Numbers::from(0), model: BTreeMap::new(), over: Vec::new() }
    }

    fn operation(random: &mut Random) -> Operation {
        match random.below(100) {
            0 => Operation::Jump(random.one(&[0, 63, 64, 1 << 20, LARGEST - 3, LARGEST])),
            1..6 => Operation::Next,
            6..16 => Operation::Lookup(random.bits()),
            16..30 => Operation::Publish(random.bits()),
            _ if random.grows() => Operation::Reserve,
            _ => Operation::GiveBack(random.bits()),
        }
    }

    fn step(&mut self, operation: &Operation) {
        match *operation {
            Operation::Reserve => {
                let expected = (self.model.len() < LIMIT).then(|| self.table.next(&self.numbers));
                let id = self.table.reserve(&self.numbers);
                assert_eq!(id, expected);
                if let Some(id) = id {
                    assert!(id <= LARGEST && self.model.insert(id, None).is_none());
                    self.lookup(id);
                }
            }
            Operation::Publish(which) => {
                let Some(id) = self.nth(which).filter(|id| self.model[id].is_none()) else { return };
                let p = make(id);
                self.table.slot(id).store(p.as_ptr(), Ordering::Release);
                self.model.insert(id, Some(p));
            }
            Operation::GiveBack(which) => {
                if let Some(id) = self.nth(which) {
                    self.give_back(id);
                }
            }
            Operation::Lookup(which) => {
                self.nth(which).into_iter().for_each(|id| self.lookup(id));
                // Identities that were in use before, and ones that never were.
                self.over.get(which as usize % self.over.len().max(1)).into_iter().for_each(|&id| self.lookup(id));
                self.lookup(which & LARGEST);
            }
            Operation::Next => {
                let next = self.table.next(&self.numbers);
                assert!(self.model.len() == LIMIT || self.model.keys().all(|id| id % LIMIT as u64 != next % LIMIT as u64));
            }
            Operation::Jump(number) => self.numbers.set_next(number),
        }
        assert_eq!(self.numbers.count.load(Ordering::Relaxed), self.model.len());
    }

    fn check(&mut self) {
        self.model.keys().copied().collect::<Vec<_>>().into_iter().for_each(|id| self.lookup(id));
        let mut met = Vec::new();
        self.table.for_each(&self.numbers, |p| met.push(p.pid));
        met.sort();
        assert_eq!(met, self.model.iter().filter(|(_, p)| p.is_some()).map(|(&id, _)| id).collect::<Vec<_>>());
    }

    fn end(&mut self) {
        while let Some(id) = self.nth(0) {
            self.give_back(id);
        }
    }
}

#[test]
fn identities_behave_like_a_map() {
    let _guard = crate::base::qsbr::guard();
    run::<Identities>();
}
