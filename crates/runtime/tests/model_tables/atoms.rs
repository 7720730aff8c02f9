//! Compares atoms with a map of names. Thresholds: names of 255 characters, which may have four times as many bytes; entries are in
//! chunks of 4,096; the index has 32,768 slots at first, and doubles when it is half full; the limit (`+t`).

use heddle_model::{Random, Subject};
use heddle_term::Atom;
use heddle_term::atom::{self, AtomError, MAX_CHARACTERS};
use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// The names made so far: atoms are never freed.
static MADE: Mutex<Option<HashMap<String, Atom>>> = Mutex::new(None);

/// Sequences that use the same names, so that old ones are looked up as often as new ones are made.
const ROUNDS: u64 = 8;
static ROUND: AtomicU64 = AtomicU64::new(0);
/// After that names repeat: atoms are never removed, and each check looks at all.
const MAX_ROUND: u64 = 60 * ROUNDS;

pub struct Names {
    round: u64,
}

#[derive(Clone, Copy, Debug)]
pub enum Operation {
    Make(u64),
    Existing(u64),
    /// A name with this many characters, each of which takes this many bytes, and a number.
    Long(usize, usize, u64),
    /// With a limit this far above the number of atoms.
    Limit(u64, usize),
}

fn name(round: u64, n: u64) -> String {
    format!("m{}_{n}", round / ROUNDS % (MAX_ROUND / ROUNDS))
}

fn long(characters: usize, bytes: usize, n: u64) -> String {
    let filling = ["a", "å", "€", "😀"][bytes - 1];
    let number = n.to_string();
    filling.repeat(characters - number.len()) + &number
}

impl Names {
    fn make(&self, name: String) {
        let mut made = MADE.lock().unwrap_or_else(|e| e.into_inner());
        let made = made.get_or_insert_default();
        let before = (atom::count(), atom::name_bytes());
        assert_eq!(Atom::existing(&name), made.get(&name).copied());
        let result = Atom::try_new(&name);
        if name.chars().count() > MAX_CHARACTERS {
            assert_eq!(result, Err(AtomError::TooLong));
            return;
        }
        let made_now = result.expect("there is room");
        assert_eq!(made_now.name(), name);
        match made.get(&name) {
            Some(&known) => {
                assert_eq!(made_now, known);
                assert_eq!((atom::count(), atom::name_bytes()), before);
            }
            None => {
                assert_eq!(made_now.index() as usize, before.0);
                assert_eq!((atom::count(), atom::name_bytes()), (before.0 + 1, before.1 + name.len()));
                made.insert(name, made_now);
            }
        }
    }
}

impl Subject for Names {
    type Operation = Operation;
    const THRESHOLDS: &'static [u64] = &[1, 100, 1000, 4096];

    fn new() -> Self {
        Names { round: ROUND.fetch_add(1, Ordering::Relaxed) }
    }

    fn operation(random: &mut Random) -> Operation {
        match random.below(100) {
            0 => Operation::Long(random.one(&[20, 254, 255, 256, 300]), 1 + random.below(4) as usize, random.below(50)),
            1 => Operation::Limit(random.key(), random.below(3) as usize),
            _ if random.grows() => Operation::Make(random.key()),
            _ => Operation::Existing(random.key()),
        }
    }

    fn step(&mut self, operation: &Operation) {
        match *operation {
            Operation::Make(n) => self.make(name(self.round, n)),
            Operation::Existing(n) => {
                let name = name(self.round, n);
                let made = MADE.lock().unwrap_or_else(|e| e.into_inner());
                assert_eq!(Atom::existing(&name), made.as_ref().and_then(|made| made.get(&name).copied()));
            }
            Operation::Long(characters, bytes, n) => self.make(long(characters, bytes, n)),
            Operation::Limit(n, above) => {
                atom::set_limit(atom::count() + above);
                let limit = atom::limit();
                for i in 0..4 {
                    let name = name(self.round, n + i);
                    if atom::count() < limit || Atom::existing(&name).is_some() {
                        self.make(name);
                    } else {
                        assert_eq!(Atom::try_new(&name), Err(AtomError::TableFull));
                    }
                }
                atom::set_limit(atom::MAX_LIMIT);
            }
        }
    }

    fn end(&mut self) {
        if self.round.is_multiple_of(if self.round < MAX_ROUND { ROUNDS } else { 16 * ROUNDS }) {
            atom::check();
        }
    }
}

/// All threads make the same names, and names of their own, in different orders; each name is one atom.
pub fn by_several_threads() {
    const THREADS: u64 = 4;
    const NAMES: u64 = 40_000;
    let before = atom::count();
    let names = |thread: u64| {
        let mut random = Random::new(thread);
        let mut all: Vec<String> = (0..NAMES).map(|n| format!("shared_{n}")).collect();
        all.extend((0..NAMES / 4).map(|n| format!("own_{thread}_{n}")));
        for at in (1..all.len()).rev() {
            all.swap(at, random.below(at as u64 + 1) as usize);
        }
        all
    };
    let found: Vec<HashMap<String, Atom>> = std::thread::scope(|threads| {
        let all: Vec<_> = (0..THREADS)
            .map(|thread| {
                threads.spawn(move || {
                    let one = |name: String| {
                        let atom = Atom::try_new(&name).expect("there is room");
                        assert!(atom.name() == name && Atom::existing(&name) == Some(atom));
                        (name, atom)
                    };
                    names(thread).into_iter().map(one).collect()
                })
            })
            .collect();
        all.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    for (name, atom) in &found[0] {
        assert!(found[1..].iter().all(|other| name.starts_with("own") || other.get(name) == Some(atom)), "{name}");
    }
    assert_eq!(atom::count() - before, (NAMES + THREADS * (NAMES / 4)) as usize);
    atom::check();
}
