//! Messages by way of the message area, without an engine.

use heddle_runtime::process::{Process, SpawnOptions};
use heddle_runtime::{Package, gc, messages, proctab, qsbr};
use heddle_term::literal::{self, Leaving};
use heddle_term::{Atom, Heap, Mfa, Term, area, list};

fn process() -> Process {
    proctab::init(1024);
    let pid = proctab::reserve().unwrap();
    let mfa = Mfa { module: Atom::new("m"), function: Atom::new("f"), arity: 0 };
    let mut local = Process::blank(mfa, Term::local_pid(pid), pid, &SpawnOptions::default());
    gc::init_block(&mut local, 100);
    local
}

/// A literal may be announced as leaving while a message is measured, or right behind that: what is copied is what was measured.
#[test]
fn a_small_message_is_copied_as_it_was_measured_when_literals_begin_to_leave() {
    area::want(area::LEAST_BYTES);
    qsbr::online();
    let mut heap = Heap::new();
    let numbers: Vec<Term> = (1..=100).map(Term::small).collect();
    let (literal, literals) = literal::keep(heap.list(&numbers));
    heap.clear();
    let mut p = process();
    assert!(area::is_there() && literal::is_literal(literal));
    let message = p.heap.tuple(&[Term::small(1), literal]);
    let package = Package::message(&mut p, message, |cost| {
        assert_eq!(cost.words, 3);
        literal::announce(Some(Box::new(Leaving::of(literals.as_slice()))));
        messages::Timed::NO
    });
    assert_eq!(package.words(), 3);
    let inside = package.term().as_tuple().unwrap()[1];
    assert_eq!(inside, literal, "what was measured was not what was copied");
    // From now on they are copied with it.
    let package = Package::message(&mut p, message, |cost| {
        assert_eq!(cost.words, 3 + 200);
        messages::Timed::NO
    });
    let inside = package.term().as_tuple().unwrap()[1];
    assert!(!literal::is_literal(inside) && list::to_vec(inside).unwrap() == numbers);
    drop(package);
    drop(literal::announce(None));
    gc::free_all(&mut p);
    qsbr::offline();
}
