//! The shared heap without an engine: processes that allocate, retire blocks, end, and are collected by one thread or two.

use heddle_runtime::gc::{self, Kind};
use heddle_runtime::process::{self, ProcRef, Process, SpawnOptions};
use heddle_runtime::signal::Signal;
use heddle_runtime::{Package, exit, handle, messages, proctab, qsbr, shared};
use heddle_term::refbin::RefBin;
use heddle_term::{Atom, Heap, Mfa, Term, list, literal, young};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// The calling thread is inside; nobody else makes processes.
fn begin() -> MutexGuard<'static, ()> {
    let guard = ONE_AT_A_TIME.lock().unwrap_or_else(|e| e.into_inner());
    young::want();
    proctab::init(1024);
    // Makes the ranges.
    let mut heap = Heap::new();
    let text = heap.string("a");
    assert!(literal::is_literal(literal::make_literal(text)));
    heap.clear();
    assert!(shared::is_on());
    qsbr::online();
    guard
}

/// A process in the table that the calling thread runs, as far as others see.
fn process() -> ProcRef {
    let pid = proctab::reserve().unwrap();
    let mfa = Mfa { module: Atom::new("m"), function: Atom::new("f"), arity: 0 };
    let mut local = Process::blank(mfa, Term::local_pid(pid), pid, &SpawnOptions::default());
    gc::init_block(&mut local, 0);
    let p = process::allocate(pid, local);
    proctab::publish(p);
    let _ = p.state.wake();
    let _ = p.state.start_running();
    p
}

fn end(p: ProcRef) {
    proctab::remove(p);
    // SAFETY: this thread made it, and runs it alone.
    unsafe {
        gc::free_all(p.local());
        process::deallocate(p);
    }
}

/// As compiled code does: room first, then the words. `kept` is what is live in registers.
fn cons(p: &mut Process, kept: &mut [Term], head: i64) {
    if p.free_words() < 2 {
        gc::collect(p, kept, 2, Kind::Automatic);
    }
    kept[0] = p.heap.cons(Term::small(head), kept[0]);
    p.sync_limit();
}

fn count_down(p: &mut Process, n: i64) -> Term {
    let mut kept = [Term::NIL];
    (1..=n).for_each(|i| cons(p, &mut kept, i));
    kept[0]
}

fn is_list_to(list: Term, n: i64) -> bool {
    list::to_vec(list).is_some_and(|all| all.iter().map(|t| t.small_value()).eq((1..=n).rev()))
}

#[test]
fn what_is_live_stays_and_what_died_goes() {
    let _guard = begin();
    let (p, q) = (process(), process());
    // SAFETY: this thread made them, and runs them alone.
    let (here, there) = unsafe { (p.local(), q.local()) };
    let list = count_down(here, 300_000);
    here.dictionary.put(Atom::new("list").into(), list);
    // The other one refers to the same, and to something of its own.
    let own = count_down(there, 1000);
    let both = there.heap.tuple(&[here.dictionary.get(Atom::new("list").into()).unwrap(), own]);
    there.dictionary.put(Atom::new("both").into(), both);
    gc::collect(here, &mut [], 0, Kind::Major);
    let live = shared::old_words().0;
    assert!((602_000..640_000).contains(&live), "{live}");
    assert!(is_list_to(here.dictionary.get(Atom::new("list").into()).unwrap(), 300_000));
    // Who has it last keeps it.
    end(p);
    gc::collect(there, &mut [], 0, Kind::Major);
    let both = there.dictionary.get(Atom::new("both").into()).unwrap();
    assert!(is_list_to(both.slot(0), 300_000) && is_list_to(both.slot(1), 1000));
    assert!(shared::old_words().0 >= 602_000);
    there.dictionary.clear();
    gc::collect(there, &mut [], 0, Kind::Major);
    let left = shared::old_words().0;
    assert!(left + 600_000 < live, "{left}");
    end(q);
    qsbr::offline();
}

#[test]
fn binaries_are_given_up_with_the_last_term_that_refers_to_them() {
    let _guard = begin();
    let (p, q) = (process(), process());
    // SAFETY: this thread made them, and runs them alone.
    let (here, there) = unsafe { (p.local(), q.local()) };
    let binary = here.heap.binary(&[1; 10_000]);
    let block = binary.word(2) as *mut RefBin;
    // SAFETY: the process holds it.
    unsafe { RefBin::retain(block) };
    // SAFETY: held above.
    let holders = || unsafe { RefBin::refcount(block) };
    there.dictionary.put(Atom::new("b").into(), binary);
    end(p);
    gc::collect(there, &mut [], 0, Kind::Asked);
    assert_eq!(holders(), 2);
    there.dictionary.clear();
    // It is old: a minor collection does not find that it died.
    gc::collect(there, &mut [], 0, Kind::Asked);
    assert_eq!(holders(), 2);
    gc::collect(there, &mut [], 0, Kind::Major);
    assert_eq!(holders(), 1);
    // SAFETY: our own hold, the last.
    unsafe { RefBin::release(block) };
    end(q);
    qsbr::offline();
}

/// In a major collection all that a slot refers to moves, so a slot that is visited twice would leave a copy of a copy.
#[test]
fn a_message_that_came_since_the_last_collection_moves_once_in_a_major_one() {
    let _guard = begin();
    let (p, q) = (process(), process());
    // SAFETY: this thread made them, and runs them alone.
    let (from, to) = unsafe { (p.local(), q.local()) };
    gc::collect(from, &mut [], 0, Kind::Major);
    let before = shared::old_words().0;
    let list = count_down(from, 1000);
    // Two are in the queue; one is still to be taken from the inbox.
    for n in 0..3 {
        let message = from.heap.tuple(&[Term::small(n), list]);
        let signal = Signal::message_from(Term::NONE, Package::of_process(from, message, messages::to_myself));
        if n < 2 { to.messages.append(signal) } else { assert!(q.inbox.push(signal).is_ok()) }
    }
    gc::collect(from, &mut [], 0, Kind::Major);
    assert_eq!(shared::old_words().0 - before, 2 * 1000 + 3 * 3);
    assert!(handle::drain(to) == handle::After::Continue);
    for n in 0..3 {
        let message = to.messages.peek(&mut to.heap, &mut to.held_words).unwrap();
        assert!(message.slot(0) == Term::small(n) && is_list_to(message.slot(1), 1000));
        to.messages.remove();
    }
    end(p);
    end(q);
    qsbr::offline();
}

/// A scheduler handles the signal that ends it, while a dirty thread has it or is to get it.
#[test]
fn who_left_the_table_before_its_native_ended_is_collected_like_others() {
    let _guard = begin();
    // (The end of process 0 is that of the machine.)
    let (first, p, q) = (process(), process(), process());
    // SAFETY: this thread made them, and runs them alone.
    let (here, there) = unsafe { (p.local(), q.local()) };
    let list = count_down(here, 1000);
    let binary = here.heap.binary(&[1; 10_000]);
    let block = binary.word(2) as *mut RefBin;
    // SAFETY: the process holds it.
    unsafe { RefBin::retain(block) };
    // SAFETY: held above.
    let holders = || unsafe { RefBin::refcount(block) };
    here.dictionary.put(Atom::new("list").into(), list);
    there.dictionary.put(Atom::new("b").into(), binary);
    here.exit_reason = Atom::new("killed").into();
    exit::depart(here);
    assert!(proctab::lookup(p.pid).is_none());
    for kind in [Kind::Asked, Kind::Major, Kind::Asked, Kind::Major] {
        gc::collect(there, &mut [], 0, kind);
        assert!(is_list_to(here.dictionary.get(Atom::new("list").into()).unwrap(), 1000));
        assert_eq!(holders(), 2);
    }
    let live = shared::old_words().0;
    exit::finish(here);
    gc::collect(there, &mut [], 0, Kind::Major);
    assert!(shared::old_words().0 + 2000 <= live);
    assert_eq!(holders(), 2);
    there.dictionary.clear();
    gc::collect(there, &mut [], 0, Kind::Major);
    assert_eq!(holders(), 1);
    // SAFETY: our own hold, the last.
    unsafe { RefBin::release(block) };
    end(q);
    end(first);
    qsbr::offline();
}

/// Two threads allocate, each in a process of its own, and come in when the other one wants a collection.
#[test]
fn who_wants_a_collection_waits_for_the_others_and_they_for_it() {
    let _guard = begin();
    qsbr::offline();
    static ENDS: AtomicBool = AtomicBool::new(false);
    let work = |n: i64| {
        qsbr::online();
        let p = process();
        // SAFETY: this thread made it, and runs it alone.
        let local = unsafe { p.local() };
        for round in 0..200 {
            let list = count_down(local, n);
            assert!(is_list_to(list, n), "round {round}");
            let mut kept = [list];
            if round % 20 == 0 {
                gc::collect(local, &mut kept, 0, Kind::Major);
            } else if round % 3 == 0 {
                gc::collect(local, &mut kept, 0, Kind::Asked);
            }
            assert!(is_list_to(kept[0], n), "round {round}");
        }
        end(p);
        qsbr::offline();
    };
    let before = shared::collections();
    std::thread::scope(|scope| {
        // One that is outside most of the time: nobody waits for it.
        scope.spawn(|| {
            while !ENDS.load(Ordering::Relaxed) {
                qsbr::online();
                qsbr::offline();
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
        });
        let both = [20_000, 777].map(|n| scope.spawn(move || work(n)));
        both.into_iter().for_each(|thread| thread.join().unwrap());
        ENDS.store(true, Ordering::Relaxed);
    });
    assert!(shared::collections() - before >= 70);
}
