//! Messages by way of the message area, without an engine.

use heddle_runtime::mode;
use heddle_runtime::process::{Process, SpawnOptions};
use heddle_runtime::{messages, proctab, qsbr};
use heddle_term::area::Region;
use heddle_term::copy::Keep;
use heddle_term::holding::{HoldingCopy, in_place};
use heddle_term::literal::{self, Area, Leaving};
use heddle_term::{Atom, Heap, Mfa, Term, area, list};
use std::sync::{Mutex, MutexGuard};

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Takes the calling thread online; no other test announces literals meanwhile. Returns a literal list, and its elements.
fn begin() -> (MutexGuard<'static, ()>, Term, Option<Area>, Vec<Term>) {
    let guard = ONE_AT_A_TIME.lock().unwrap_or_else(|e| e.into_inner());
    area::want(area::MIN_BYTES);
    qsbr::online();
    let mut heap = Heap::new();
    let numbers: Vec<Term> = (1..=100).map(Term::small).collect();
    let (literal, literals) = literal::keep(heap.list(&numbers));
    heap.clear();
    assert!(area::is_there() && literal::is_literal(literal));
    (guard, literal, literals, numbers)
}

fn process() -> Process {
    proctab::init(1024, 1024);
    let pid = proctab::reserve().unwrap();
    let mfa = Mfa { module: Atom::new("m"), function: Atom::new("f"), arity: 0 };
    let mut local = Process::blank(mfa, Term::local_pid(pid), pid, &SpawnOptions::default());
    mode::init_block(&mut local, 100);
    local
}

/// A literal may be announced as leaving while a message is measured, or right after that: what is copied is what was measured.
#[test]
fn a_small_message_is_copied_as_it_was_measured_when_literals_begin_to_leave() {
    let (_guard, literal, literals, numbers) = begin();
    let mut p = process();
    let message = p.heap.tuple(&[Term::small(1), literal]);
    let package = mode::pack_data(&mut p, message, |cost| {
        assert_eq!(cost.words, 3);
        literal::announce(Some(Box::new(Leaving::of(literals.as_slice()))));
        messages::Timed::NO
    });
    assert_eq!(package.words(), 3);
    let inside = package.term().as_tuple().unwrap()[1];
    assert_eq!(inside, literal, "what was measured was not what was copied");
    // From now on they are copied with it.
    let package = mode::pack_data(&mut p, message, |cost| {
        assert_eq!(cost.words, 3 + 200);
        messages::Timed::NO
    });
    let inside = package.term().as_tuple().unwrap()[1];
    assert!(!literal::is_literal(inside) && list::to_vec(inside).unwrap() == numbers);
    drop(package);
    drop(literal::announce(None));
    mode::abandon(&mut p);
    qsbr::offline();
}

/// The leaving may also be over while one is measured.
#[test]
fn what_is_not_in_place_is_copied_when_the_literals_that_left_are_gone() {
    let (_guard, literal, literals, _) = begin();
    let mut heap = Heap::new();
    let around = heap.tuple(&[Term::small(1), literal]);
    let (message, region) = HoldingCopy::of(around, Keep::shared()).to_region(0).unwrap();
    assert_eq!(in_place(message, Keep::shared()), Some(region));
    literal::announce(Some(Box::new(Leaving::of(literals.as_slice()))));
    let keep = Keep::shared();
    let over = literal::announce(None);
    assert_eq!(in_place(message, keep), None);
    let copy = HoldingCopy::of(message, keep);
    assert_eq!((copy.data_words(), copy.words()), (3 + 200, 3 + 200));
    let (copy, region_of_copy) = copy.to_region(0).unwrap();
    assert!(!literal::is_literal(copy.as_tuple().unwrap()[1]));
    // SAFETY: they are held, once each, and nothing refers to them any more.
    unsafe {
        Region::release(region, 1);
        Region::release(region_of_copy, 1);
    }
    drop(over);
    heap.clear();
    qsbr::offline();
}
