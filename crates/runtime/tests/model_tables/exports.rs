//! Compares exports with a map of what is loaded. Thresholds: the index has 16,384 slots at first, and grows to four times the number of
//! exports when it is half full.

use heddle_model::{Random, Subject};
use heddle_runtime::exports;
use heddle_term::{Atom, Export, Mfa};
use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// All exports that were named so far: they are never freed.
static NAMED: Mutex<BTreeMap<(u64, u64), &'static Export>> = Mutex::new(BTreeMap::new());
static ROUND: AtomicU64 = AtomicU64::new(0);
/// After that modules repeat.
const MAX_ROUND: u64 = 48;

pub struct Cells {
    round: u64,
    /// Number to the address of its code.
    loaded: BTreeMap<u64, usize>,
}

#[derive(Clone, Copy, Debug)]
pub enum Operation {
    Name(u64),
    Find(u64),
    /// A version of a module: its first function and their number; all its other functions are removed.
    Load(u64, u64, usize),
    /// The module's functions are removed.
    Delete(u64),
}

/// Functions of one module.
const MODULE: u64 = 40;

fn mfa(round: u64, n: u64) -> Mfa {
    let module = Atom::new(&format!("x{round}_{}", n / MODULE));
    Mfa { module, function: Atom::new(&format!("f{}", n % MODULE / 4)), arity: (n % 4) as u8 }
}

fn stub(export: &Export) -> *mut u64 {
    export.stub.as_ptr() as *mut u64
}

impl Cells {
    fn named(&self, n: u64) -> &'static Export {
        let export = exports::get(mfa(self.round, n));
        let known = *NAMED.lock().unwrap_or_else(|e| e.into_inner()).entry((self.round, n)).or_insert(export);
        assert!(std::ptr::eq(export, known) && export.mfa == mfa(self.round, n));
        export
    }

    fn look(&self, n: u64, export: &'static Export) {
        let code = self.loaded.get(&n).map(|&code| code as *mut u64);
        assert_eq!(exports::is_loaded(export), code.is_some());
        assert_eq!(export.entry.load(Ordering::Relaxed), code.unwrap_or(stub(export)));
    }

    fn delete(&mut self, module: u64) {
        let named = NAMED.lock().unwrap_or_else(|e| e.into_inner());
        let all = named.range((self.round, module * MODULE)..(self.round, (module + 1) * MODULE));
        all.for_each(|(_, export)| exports::unload(export));
        drop(named);
        self.loaded.retain(|n, _| n / MODULE != module);
    }
}

impl Subject for Cells {
    type Operation = Operation;
    const THRESHOLDS: &'static [u64] = &[1, 40, 300, 2000];

    fn new() -> Self {
        Cells { round: ROUND.fetch_add(1, Ordering::Relaxed) % MAX_ROUND, loaded: BTreeMap::new() }
    }

    fn operation(random: &mut Random) -> Operation {
        match random.below(1500) {
            0 => Operation::Delete(random.key() / MODULE),
            1 => Operation::Load(random.key(), 1 + random.below(MODULE), 8 * (1 + random.below(1000)) as usize),
            _ if random.grows() => Operation::Name(random.key()),
            _ => Operation::Find(random.key()),
        }
    }

    fn step(&mut self, operation: &Operation) {
        match *operation {
            Operation::Name(n) => self.look(n, self.named(n)),
            Operation::Find(n) => {
                let found = exports::find(mfa(self.round, n));
                let known = NAMED.lock().unwrap_or_else(|e| e.into_inner()).get(&(self.round, n)).copied();
                assert_eq!(found.map(|e| e as *const Export), known.map(|e| e as *const Export));
                found.into_iter().for_each(|export| self.look(n, export));
            }
            Operation::Load(first, count, code) => {
                self.delete(first / MODULE);
                for n in (first..first + count).filter(|n| n / MODULE == first / MODULE) {
                    // As the loader does.
                    let export = self.named(n);
                    export.loaded.store(code as *mut u64, Ordering::Release);
                    export.entry.store(code as *mut u64, Ordering::Release);
                    self.loaded.insert(n, code);
                }
            }
            Operation::Delete(module) => self.delete(module),
        }
    }

    fn end(&mut self) {
        let modules: Vec<u64> = self.loaded.keys().map(|n| n / MODULE).collect();
        modules.into_iter().for_each(|module| self.delete(module));
        if self.round.is_multiple_of(8) {
            exports::check();
        }
    }
}

/// All threads name the same functions, and functions of their own; each function has one cell.
pub fn by_several_threads() {
    const THREADS: u64 = 4;
    const FUNCTIONS: u64 = 30_000;
    let before = exports::check();
    let found: Vec<HashMap<u64, usize>> = std::thread::scope(|threads| {
        let all: Vec<_> = (0..THREADS)
            .map(|thread| {
                threads.spawn(move || {
                    let mut random = Random::new(thread);
                    let mut numbers: Vec<u64> = (0..FUNCTIONS).chain((thread + 1) * FUNCTIONS..(thread + 1) * FUNCTIONS + 5000).collect();
                    for at in (1..numbers.len()).rev() {
                        numbers.swap(at, random.below(at as u64 + 1) as usize);
                    }
                    let one = |n: u64| {
                        let export = exports::get(mfa(1_000_000, n));
                        assert!(export.mfa == mfa(1_000_000, n) && export.entry.load(Ordering::Acquire) == stub(export));
                        assert!(exports::find(export.mfa).is_some_and(|found| std::ptr::eq(found, export)));
                        (n, export as *const Export as usize)
                    };
                    numbers.into_iter().map(one).collect()
                })
            })
            .collect();
        all.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    for (n, export) in found[0].iter().filter(|(n, _)| **n < FUNCTIONS) {
        assert!(found[1..].iter().all(|other| other.get(n) == Some(export)), "{n}");
    }
    assert_eq!(exports::check() - before, (FUNCTIONS + THREADS * 5000) as usize);
}
