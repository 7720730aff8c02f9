//! Persistent terms, through their natives, against a map; with processes that keep what they got while it is replaced, and the collector of
//! literals. A program of its own: there is one table, and nothing else makes literals. Thresholds: the table has 256 slots at first; it is
//! replaced when every other slot is or was used, and, if larger, when less than a quarter is.

mod threads;

use heddle_bifs::data;
use heddle_model::{Random, Subject, run};
use heddle_runtime::CollectionKind;
use heddle_runtime::literals::Switched;
use heddle_runtime::mode;
use heddle_runtime::process::{self, NativeFn, Process, SpawnOptions};
use heddle_runtime::{gc, literals, qsbr};
use heddle_term::hash::narrow;
use heddle_term::{Atom, Heap, Mfa, Term, literal, map};
use std::collections::BTreeMap;
use std::sync::Mutex;

/// What is stored: a list from the first number on, with that many elements.
type Value = (i64, usize);

struct Terms<const MASK: u64> {
    p: &'static mut Process,
    model: BTreeMap<u64, Value>,
    /// What the process got and keeps, by place.
    kept: BTreeMap<u64, Value>,
    next: i64,
}

#[derive(Clone, Copy, Debug)]
enum Operation {
    Put(u64, usize),
    /// What is there already, or the same value again.
    PutAgain(u64),
    Erase(u64),
    Get(u64),
    /// To that place.
    Keep(u64, u64),
    All,
    EraseAll,
    /// Literals that left are freed.
    Free,
    Collect,
}

fn native(name: &str, arity: u8) -> NativeFn {
    let all = data::TABLES.iter().flat_map(|table| table.iter());
    let modules = ["persistent_term", "erts_internal"];
    all.filter(|n| modules.contains(&n.module)).find(|n| n.function == name && n.arity == arity).expect("a native").run
}

/// In no table: others do not know it.
fn process(number: u64) -> &'static mut Process {
    let mfa = Mfa { module: Atom::new("m"), function: Atom::new("f"), arity: 0 };
    let mut local = Process::blank(mfa, Term::local_pid(number), number, &SpawnOptions::default());
    mode::init_block(&mut local, 100);
    let p = process::allocate(number, local);
    // SAFETY: the calling thread made it, and runs it alone.
    unsafe { p.local() }
}

/// Integers, floats that are equal to some of them but not the same, and tuples.
fn key(heap: &mut Heap, n: u64) -> Term {
    match n % 3 {
        0 => Term::small(n as i64),
        1 => heap.float((n - 1) as f64),
        _ => heap.tuple(&[Term::small(n as i64)]),
    }
}

fn key_words(n: u64) -> usize {
    [0, 2, 2][n as usize % 3]
}

/// Of `{Key, Value}`.
fn words(n: u64, value: Value) -> usize {
    3 + key_words(n) + 2 * value.1
}

fn list(heap: &mut Heap, (from, count): Value) -> Term {
    heap.small_list((from..from + count as i64).collect::<Vec<_>>().into_iter())
}

fn is(mut term: Term, (from, count): Value) -> bool {
    for n in from..from + count as i64 {
        if !term.is_cons() || term.head() != Term::small(n) {
            return false;
        }
        term = term.tail();
    }
    term.is_nil()
}

impl<const MASK: u64> Terms<MASK> {
    fn call(&mut self, name: &str, args: &[Term]) -> Term {
        let result = native(name, args.len() as u8)(self.p, args);
        result.unwrap_or_else(|_| panic!("{name} raises"))
    }

    fn key(&mut self, n: u64) -> Term {
        key(&mut self.p.heap, n)
    }

    fn get(&mut self, n: u64) -> Option<Term> {
        let key = self.key(n);
        let none = Term::atom(Atom::new("none"));
        Some(self.call("get", &[key, none])).filter(|&found| found != none)
    }

    /// As the process of OTP's module does.
    fn free(&mut self) {
        let mut asked = 0;
        loop {
            match literals::switch() {
                Switched::Yes => literals::copy_off(self.p),
                Switched::NotYet => qsbr::quiescent(),
                Switched::No => return,
            }
            asked += 1;
            assert!(asked < 1000, "it never ends");
        }
    }

    fn words(&self) -> usize {
        self.model.iter().map(|(&n, &value)| words(n, value)).sum()
    }
}

impl<const MASK: u64> Subject for Terms<MASK> {
    type Operation = Operation;
    const THRESHOLDS: &'static [u64] = &[1, 16, 63, 64, 127, 128, 129, 256, 512];

    fn new() -> Self {
        let mut new = Terms { p: process(1), model: BTreeMap::new(), kept: BTreeMap::new(), next: 0 };
        // With the hashes that they were put there by: what a failed sequence left goes.
        new.call("erase_persistent_terms", &[]);
        narrow::set(MASK);
        new
    }

    fn operation(random: &mut Random) -> Operation {
        match random.below(200) {
            0 => Operation::EraseAll,
            1 => Operation::All,
            2..4 => Operation::Free,
            4..6 => Operation::Collect,
            6..20 => Operation::Keep(random.key(), random.below(20)),
            20..40 => Operation::Get(random.key()),
            40..50 => Operation::PutAgain(random.key()),
            _ if random.grows() => Operation::Put(random.key(), random.one(&[0, 1, 2, 10, 300])),
            _ => Operation::Erase(random.key()),
        }
    }

    fn step(&mut self, operation: &Operation) {
        match *operation {
            Operation::Put(n, count) => {
                let value = (self.next, count);
                self.next = (self.next + 1) % 100_000;
                let args = [self.key(n), list(&mut self.p.heap, value)];
                self.call("put", &args);
                self.model.insert(n, value);
            }
            Operation::PutAgain(n) => {
                let Some(found) = self.get(n) else { return };
                let before = literal::used_bytes();
                let copy = list(&mut self.p.heap, self.model[&n]);
                for value in [found, copy] {
                    let args = [self.key(n), value];
                    self.call("put", &args);
                }
                assert_eq!(literal::used_bytes(), before, "a value that is there is stored once more");
            }
            Operation::Erase(n) => {
                let args = [self.key(n)];
                assert_eq!(self.call("erase", &args), Term::bool(self.model.remove(&n).is_some()));
            }
            Operation::Get(n) => {
                let (found, expected) = (self.get(n), self.model.get(&n).copied());
                assert_eq!(found.is_some(), expected.is_some());
                assert!(
                    found.zip(expected).is_none_or(|(found, value)| is(found, value) && (found.is_nil() || literal::is_literal(found)))
                );
            }
            Operation::Keep(n, place) => {
                if let Some(found) = self.get(n) {
                    let around = self.p.heap.tuple(&[found]);
                    self.p.dictionary.put(Term::small(place as i64), around);
                    self.kept.insert(place, self.model[&n]);
                }
            }
            Operation::All => {
                let mut all = self.call("get", &[]);
                let mut met = 0;
                while all.is_cons() {
                    let pair = all.head().as_tuple().expect("a pair");
                    let n = self.model.keys().copied().find(|&n| heddle_term::order::exact_eq(pair[0], key(&mut self.p.heap, n)));
                    assert!(is(pair[1], self.model[&n.expect("a key that is there")]));
                    (all, met) = (all.tail(), met + 1);
                }
                assert_eq!(met, self.model.len());
            }
            Operation::EraseAll => {
                self.call("erase_persistent_terms", &[]);
                self.model.clear();
            }
            Operation::Free => {
                self.free();
                assert_eq!(literal::used_bytes(), self.words() * 8, "bytes of literals");
            }
            Operation::Collect => {
                gc::collect(self.p, &mut [], 0, CollectionKind::Major);
            }
        }
        // Room is made outside of natives.
        if self.p.heap.fragment_words > 20_000 {
            gc::collect(self.p, &mut [], 0, CollectionKind::Automatic);
        }
    }

    fn check(&mut self) {
        for (&place, &value) in &self.kept {
            let around = self.p.dictionary.get(Term::small(place as i64)).expect("it was kept");
            assert!(is(around.slot(0), value), "what place {place} keeps has changed");
        }
        let model = self.model.clone();
        for (&n, &value) in &model {
            assert!(self.get(n).is_some_and(|found| is(found, value)), "key {n}");
        }
        let info = self.call("info", &[]);
        let figure = |name: &str| map::get(info, Term::atom(Atom::new(name))).expect("a figure").small_value() as usize;
        assert_eq!(figure("count"), self.model.len());
        let slots = data::persistent_term::slots();
        assert_eq!(figure("memory"), (self.words() + slots) * 8);
        literal::check();
        // Else a search would not end.
        assert!(slots == 0 || slots > 2 * self.model.len().saturating_sub(1));
    }

    fn end(&mut self) {
        self.call("erase_persistent_terms", &[]);
        self.model.clear();
        self.free();
        assert_eq!(literal::used_bytes(), 0);
        self.p.dictionary.clear();
        mode::abandon(self.p);
        // SAFETY: nothing refers to it any more.
        unsafe { process::deallocate(self.p.proc_ref()) };
    }
}

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn model<const MASK: u64>() {
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(|e| e.into_inner());
    qsbr::online();
    run::<Terms<MASK>>();
    qsbr::offline();
}

#[test]
fn persistent_terms_behave_like_a_map() {
    model::<{ u64::MAX }>();
}

#[test]
fn persistent_terms_whose_hashes_collide_behave_like_a_map() {
    model::<0x1f>();
}

#[test]
fn readers_find_whole_values_while_another_thread_writes() {
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(|e| e.into_inner());
    threads::run();
}
