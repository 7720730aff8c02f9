//! Threads that read while another one puts, replaces, erases and has what left freed: each value is there as a whole or not at all.

use super::{key, native, process};
use heddle_model::Random;
use heddle_runtime::literals::{self, Switched};
use heddle_runtime::mode;
use heddle_runtime::qsbr;
use heddle_term::{Term, literal};
use std::sync::atomic::{AtomicBool, Ordering};

const READERS: u64 = 3;
const KEYS: u64 = 700;
const ROUNDS: u64 = 60_000;

/// A value: the key's number, then a number again and again.
fn is_whole(mut term: Term, n: u64) -> bool {
    if !term.is_cons() || term.head() != Term::small(n as i64) {
        return false;
    }
    term = term.tail();
    let first = term.is_cons().then(|| term.head());
    while term.is_cons() {
        if Some(term.head()) != first {
            return false;
        }
        term = term.tail();
    }
    term.is_nil()
}

pub fn run() {
    let done = AtomicBool::new(false);
    let reader = |me: u64| {
        qsbr::online();
        let (p, get) = (process(10 + me), native("get", 2));
        let (mut random, mut found) = (Random::new(me), 0);
        while !done.load(Ordering::Relaxed) {
            let n = random.below(KEYS);
            let args = [key(&mut p.heap, n), Term::NIL];
            let value = get(p, &args).unwrap_or(Term::NIL);
            if !value.is_nil() {
                assert!(literal::is_literal(value) && is_whole(value, n), "the value of {n} is another's");
                found += 1;
            }
            p.heap.clear();
            qsbr::quiescent();
        }
        qsbr::offline();
        found
    };
    qsbr::online();
    let (p, put, erase) = (process(1), native("put", 2), native("erase", 1));
    let mut random = Random::new(77);
    let found: u64 = std::thread::scope(|threads| {
        let readers: Vec<_> = (0..READERS).map(|me| threads.spawn(move || reader(me))).collect();
        for round in 0..ROUNDS {
            // Phases of many keys and of few: the table grows and shrinks.
            let many = round / 2000 % 2 == 0;
            let n = random.below(KEYS);
            let key = key(&mut p.heap, n);
            if random.chance(if many { 80 } else { 15 }) {
                let count = random.one(&[1, 3, 40]);
                let list = p.heap.small_list(std::iter::once(n as i64).chain(vec![round as i64; count]).collect::<Vec<_>>().into_iter());
                assert!(put(p, &[key, list]).is_ok());
            } else {
                assert!(erase(p, &[key]).is_ok());
            }
            if round % 16 == 0 && literals::switch() == Switched::Yes {
                literals::copy_off(p);
            }
            p.heap.clear();
            qsbr::quiescent();
        }
        done.store(true, Ordering::Relaxed);
        qsbr::offline();
        readers.into_iter().map(|reader| reader.join().expect("no panic")).sum()
    });
    assert!(found > 0, "readers never met a value");
    qsbr::online();
    for n in 0..KEYS {
        let key = key(&mut p.heap, n);
        assert!(erase(p, &[key]).is_ok());
    }
    while literals::switch() != Switched::No {
        qsbr::quiescent();
    }
    assert_eq!(literal::used_bytes(), 0);
    mode::abandon(p);
    qsbr::offline();
}
