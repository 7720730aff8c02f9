//! The shared heap without an engine: processes that allocate, retire blocks, end, and are collected by one thread or two, or alone.

mod running;

use heddle_runtime::CollectionKind;
use heddle_runtime::gc;
use heddle_runtime::links::Link;
use heddle_runtime::mode;
use heddle_runtime::process::{NativeFn, ProcRef, Process, SpawnOptions};
use heddle_runtime::signal::Signal;
use heddle_runtime::{Package, exit, handle, messages, proctab, qsbr, shared, spawn};
use heddle_term::refbin::RefBin;
use heddle_term::{Atom, Heap, Mfa, Term, list, literal};
use running::end;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Takes the calling thread online; no other test makes processes meanwhile.
fn begin() -> MutexGuard<'static, ()> {
    let guard = ONE_AT_A_TIME.lock().unwrap_or_else(|e| e.into_inner());
    shared::want();
    proctab::init(1024, 1024);
    // Makes the ranges.
    let mut heap = Heap::new();
    let text = heap.string("a");
    assert!(literal::is_literal(literal::make_literal(text)));
    heap.clear();
    assert!(heddle_term::young::is_on());
    qsbr::online();
    guard
}

fn process() -> ProcRef {
    running::process(0)
}

/// Runs `test` with one process that this thread runs.
fn alone(test: impl FnOnce(&mut Process)) {
    let _guard = begin();
    let p = process();
    // SAFETY: this thread made it, and runs it alone.
    test(unsafe { p.local() });
    end(p);
    qsbr::offline();
}

/// As compiled code does: first makes room, then writes the words. `kept` are the live registers.
fn cons(p: &mut Process, kept: &mut [Term], head: i64) {
    if p.free_words() < 2 {
        gc::collect(p, kept, 2, CollectionKind::Automatic);
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
    // The other process refers to the same list, and to one of its own.
    let own = count_down(there, 1000);
    let both = there.heap.tuple(&[here.dictionary.get(Atom::new("list").into()).unwrap(), own]);
    there.dictionary.put(Atom::new("both").into(), both);
    gc::collect(here, &mut [], 0, CollectionKind::Major);
    let live = shared::old_words().0;
    assert!((602_000..640_000).contains(&live), "{live}");
    assert!(is_list_to(here.dictionary.get(Atom::new("list").into()).unwrap(), 300_000));
    // The other process still refers to it.
    end(p);
    gc::collect(there, &mut [], 0, CollectionKind::Major);
    let both = there.dictionary.get(Atom::new("both").into()).unwrap();
    assert!(is_list_to(both.slot(0), 300_000) && is_list_to(both.slot(1), 1000));
    assert!(shared::old_words().0 >= 602_000);
    there.dictionary.clear();
    gc::collect(there, &mut [], 0, CollectionKind::Major);
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
    gc::collect(there, &mut [], 0, CollectionKind::Asked);
    assert_eq!(holders(), 2);
    there.dictionary.clear();
    // It is old: a minor collection does not find that it died.
    gc::collect(there, &mut [], 0, CollectionKind::Asked);
    assert_eq!(holders(), 2);
    gc::collect(there, &mut [], 0, CollectionKind::Major);
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
    gc::collect(from, &mut [], 0, CollectionKind::Major);
    let before = shared::old_words().0;
    let list = count_down(from, 1000);
    // Two are in the queue; one is still to be taken from the inbox.
    for n in 0..3 {
        let message = from.heap.tuple(&[Term::small(n), list]);
        let signal = Signal::message_from(Term::NONE, mode::pack_data(from, message, messages::to_myself));
        if n < 2 { to.messages.append(signal) } else { assert!(q.state.push(signal).is_ok()) }
    }
    gc::collect(from, &mut [], 0, CollectionKind::Major);
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

/// A scheduler handles the signal that ends the process, while a dirty thread has it or will get it.
#[test]
fn a_process_that_left_the_table_before_its_native_ended_is_collected_like_others() {
    let _guard = begin();
    // (The VM ends with process 0.)
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
    for kind in [CollectionKind::Asked, CollectionKind::Major, CollectionKind::Asked, CollectionKind::Major] {
        gc::collect(there, &mut [], 0, kind);
        assert!(is_list_to(here.dictionary.get(Atom::new("list").into()).unwrap(), 1000));
        assert_eq!(holders(), 2);
    }
    let live = shared::old_words().0;
    exit::finish(here);
    gc::collect(there, &mut [], 0, CollectionKind::Major);
    assert!(shared::old_words().0 + 2000 <= live);
    assert_eq!(holders(), 2);
    there.dictionary.clear();
    gc::collect(there, &mut [], 0, CollectionKind::Major);
    assert_eq!(holders(), 1);
    // SAFETY: our own hold, the last.
    unsafe { RefBin::release(block) };
    end(q);
    end(first);
    qsbr::offline();
}

/// Makes list cells that die at once.
fn churn(p: &mut Process, kept: &mut [Term], conses: i64) {
    for i in 0..conses {
        if p.free_words() < 2 {
            gc::collect(p, kept, 2, CollectionKind::Automatic);
        }
        p.heap.cons(Term::small(i), Term::NIL);
        p.sync_limit();
    }
}

/// Words that the process has in addition to its block.
fn retired(p: &Process) -> usize {
    shared::retired_words_of(p)
}

#[test]
fn a_process_that_sends_nothing_is_collected_alone() {
    alone(|here| {
        gc::collect(here, &mut [], 0, CollectionKind::Major);
        let before = shared::collections();
        // What survives many collections, in a register, in the dictionary, and a binary.
        let mut kept = [Term::NIL];
        (1..=100).for_each(|i| cons(here, &mut kept, i));
        here.dictionary.put(Atom::new("list").into(), kept[0]);
        churn(here, &mut kept, 10_000);
        // In the block.
        gc::collect(here, &mut kept, 20, CollectionKind::Automatic);
        let retired_before = retired(here);
        let [live, dead] = [3, 7].map(|byte| here.heap.binary(&[byte; 1000]).word(2) as *mut RefBin);
        // SAFETY: the process holds both.
        unsafe { [live, dead].into_iter().for_each(|block| RefBin::retain(block)) };
        let binary = here.heap.off_heap.head;
        // The first that was made is the last of the list.
        // SAFETY: a list of two.
        let first = Term::boxed(unsafe { *binary.add(1) } as *mut u64);
        assert_eq!(first.word(2) as *mut RefBin, live);
        here.dictionary.put(Atom::new("binary").into(), first);
        assert!(here.heap.fragments.is_null());
        churn(here, &mut kept, 100_000);
        assert_eq!(shared::collections(), before);
        assert_eq!(retired(here), retired_before);
        assert!(here.heap_words() <= 2000, "{}", here.heap_words());
        assert!(is_list_to(kept[0], 100) && is_list_to(here.dictionary.get(Atom::new("list").into()).unwrap(), 100));
        // SAFETY: held above.
        unsafe {
            assert_eq!([live, dead].map(|block| RefBin::refcount(block)), [2, 1]);
            [live, dead].into_iter().for_each(|block| RefBin::release(block));
        }
    });
}

/// A message is the sender's own term, in its block.
#[test]
fn a_block_that_a_message_refers_to_is_collected_with_the_world_stopped() {
    let _guard = begin();
    let (p, q) = (process(), process());
    // SAFETY: this thread made them, and runs them alone.
    let (from, to) = unsafe { (p.local(), q.local()) };
    // In a block of some size, which follows the small first ones.
    churn(from, &mut [], 1000);
    let list = count_down(from, 20);
    let signal = Signal::message_from(Term::NONE, mode::pack_data(from, list, messages::to_myself));
    assert!(q.state.push(signal).is_ok());
    let before = retired(from);
    let sent_in = from.heap_words();
    // Several blocks full.
    churn(from, &mut [], 10_000);
    // That block was retired, and the ones after it were collected alone.
    assert!((before + 20..=before + 2 * sent_in + 100).contains(&retired(from)), "{before} {sent_in} {}", retired(from));
    assert!(handle::drain(to) == handle::After::Continue);
    let message = to.messages.peek(&mut to.heap, &mut to.held_words).unwrap();
    assert!(is_list_to(message, 20));
    to.messages.remove();
    end(p);
    end(q);
    qsbr::offline();
}

/// A message with memory of its own (from ports, timers) is copied to the receiver's block when it is looked at, and stays in the queue.
#[test]
fn a_block_with_queued_messages_is_collected_with_the_world_stopped() {
    alone(|here| {
        churn(here, &mut [], 1000);
        gc::collect(here, &mut [], 60, CollectionKind::Automatic);
        here.messages.append(Signal::message_from(
            Term::NONE,
            Package::build(|heap| {
                let all: Vec<Term> = (1..=20).rev().map(Term::small).collect();
                heap.list(&all)
            }),
        ));
        let message = here.messages.peek(&mut here.heap, &mut here.held_words).unwrap();
        assert!(is_list_to(message, 20) && here.heap.fragments.is_null());
        churn(here, &mut [], 10_000);
        let message = here.messages.peek(&mut here.heap, &mut here.held_words).unwrap();
        assert!(is_list_to(message, 20));
        here.messages.remove();
    });
}

/// If a block is full, natives build in fragments, and refer from there into the block.
#[test]
fn a_block_with_fragments_is_collected_with_the_world_stopped() {
    alone(|here| {
        churn(here, &mut [], 1000);
        let list = count_down(here, 20);
        let beside = here.heap.tuple(&vec![list; 10_000]);
        assert!(!here.heap.fragments.is_null());
        here.dictionary.put(Atom::new("beside").into(), beside);
        for kind in [CollectionKind::Automatic, CollectionKind::Asked, CollectionKind::Automatic] {
            churn(here, &mut [], 10_000);
            gc::collect(here, &mut [], 0, kind);
            let beside = here.dictionary.get(Atom::new("beside").into()).unwrap();
            assert!((0..10_000).all(|i| beside.slot(i) == beside.slot(0)) && is_list_to(beside.slot(0), 20));
        }
    });
}

#[test]
fn a_process_that_ran_since_the_last_major_collection_does_not_rest() {
    alone(|here| {
        assert!(!shared::rests_since_major(here));
        gc::collect(here, &mut [], 0, CollectionKind::Major);
        assert!(shared::rests_since_major(here));
        gc::collect(here, &mut [], 0, CollectionKind::Asked);
        assert!(shared::rests_since_major(here));
        here.reductions += 1;
        assert!(!shared::rests_since_major(here));
        gc::collect(here, &mut [], 0, CollectionKind::Asked);
        assert!(!shared::rests_since_major(here));
        gc::collect(here, &mut [], 0, CollectionKind::Major);
        assert!(shared::rests_since_major(here));
    });
}

#[test]
fn old_heap_size_is_what_the_process_was_the_first_to_refer_to() {
    alone(|here| {
        let list = count_down(here, 1000);
        here.dictionary.put(Atom::new("list").into(), list);
        gc::collect(here, &mut [], 0, CollectionKind::Asked);
        let figure = |p: &Process, name| p.heap_figures().into_iter().find(|figure| figure.0 == name).unwrap().1;
        assert_eq!((figure(here, "old_heap_size"), figure(here, "heap_size")), (2000, 0));
    });
}

/// The blocks of all working processes together are no larger than the nursery, however many there are.
#[test]
fn with_many_working_processes_blocks_stay_small() {
    let _guard = begin();
    let all: Vec<ProcRef> = (0..500).map(|_| process()).collect();
    // SAFETY: this thread made them, and runs them alone.
    let locals: Vec<&mut Process> = all.iter().map(|p| unsafe { p.local() }).collect();
    let most = |locals: &[&mut Process]| locals.iter().map(|p| p.heap_words()).max().unwrap();
    let mut locals = locals;
    for _ in 0..3 {
        for local in &mut locals {
            // What lives fills the blocks, so they grow.
            let _ = count_down(local, 400);
        }
        gc::collect(locals[0], &mut [], 0, CollectionKind::Asked);
    }
    let _ = count_down(locals[0], 400);
    assert!(most(&locals) <= 400, "{}", most(&locals));
    all.iter().skip(1).for_each(|&p| end(p));
    gc::collect(locals[0], &mut [], 0, CollectionKind::Asked);
    gc::collect(locals[0], &mut [], 0, CollectionKind::Asked);
    let _ = count_down(locals[0], 20_000);
    assert!(locals[0].heap_words() >= 1000, "{}", locals[0].heap_words());
    end(all[0]);
    qsbr::offline();
}

/// A process that is told of an end gets the reason's own term, wherever the collector moved it meanwhile; and the term outlives the
/// block of the process that ended.
#[test]
fn the_reason_of_an_end_is_not_copied() {
    let _guard = begin();
    for collects_before in [None, Some(CollectionKind::Asked), Some(CollectionKind::Major)] {
        // In this order: the VM ends with its first process.
        let (q, p) = (process(), process());
        // SAFETY: this thread made them, and runs them alone.
        let (from, to) = unsafe { (p.local(), q.local()) };
        to.trap_exit = true;
        for (one, other) in [(&mut *from, to.pid_term()), (&mut *to, p.pid_term())] {
            one.relations.make().links.insert(other, Link { active: true, unlinking: 0 });
        }
        let reason = count_down(from, 20);
        from.exit_reason = reason;
        exit::finish(from);
        if let Some(kind) = collects_before {
            gc::collect(to, &mut [], 0, kind);
        }
        assert!(handle::drain(to) == handle::After::Continue);
        let message = to.messages.peek(&mut to.heap, &mut to.held_words).unwrap();
        assert_eq!(message.slot(0), Atom::new("EXIT").into());
        assert!(is_list_to(message.slot(2), 20));
        assert_eq!(message.slot(2) == reason, collects_before.is_none(), "a copy, or not moved");
        for kind in [CollectionKind::Asked, CollectionKind::Major] {
            gc::collect(to, &mut [], 0, kind);
            let message = to.messages.peek(&mut to.heap, &mut to.held_words).unwrap();
            assert!(is_list_to(message.slot(2), 20));
        }
        to.messages.remove();
        end(q);
    }
    qsbr::offline();
}

/// A native on a dirty thread has its arguments, and the terms it makes, in memory of its own, which is freed when it returns.
#[test]
fn a_process_spawned_by_a_native_outside_has_copies_of_its_arguments() {
    let _guard = begin();
    let word = Box::leak(Box::new(0u64)) as *const u64;
    let _ = spawn::ENTRY_POINTS.set(spawn::EntryPoints { apply: word, exit: word, task: word });
    let (first, p) = (process(), process());
    // SAFETY: this thread made it, and runs it alone.
    let here = unsafe { p.local() };
    static CHILD: Mutex<Option<ProcRef>> = Mutex::new(None);
    let native: NativeFn = |p, args| {
        let made = p.heap.list(&[args[0], Term::small(1)]);
        let mfa = Mfa { module: Atom::new("m"), function: Atom::new("f"), arity: 2 };
        *CHILD.lock().unwrap() = spawn::create(mfa, made, Some(p), &SpawnOptions::default());
        Ok(made)
    };
    let mut args = [count_down(here, 100)];
    let result = shared::safe_region::run(here, native, &mut args).unwrap();
    let child = CHILD.lock().unwrap().take().unwrap();
    shared::remember(&child);
    proctab::publish(child);
    let _ = child.state.wake();
    let _ = child.state.start_running();
    for kind in [CollectionKind::Asked, CollectionKind::Major] {
        let mut kept = [result, args[0]];
        gc::collect(here, &mut kept, 0, kind);
        args[0] = kept[1];
        // SAFETY: no thread runs it; its arguments are on its stack.
        let arguments = unsafe { Term::from_raw(*child.local().stop) };
        assert!(is_list_to(list::to_vec(arguments).unwrap()[0], 100));
        assert!(is_list_to(args[0], 100));
    }
    end(child);
    end(p);
    end(first);
    qsbr::offline();
}

/// Two threads allocate, each in a process of its own, and stop when the other one wants a collection.
#[test]
fn a_thread_that_wants_a_collection_waits_for_the_others_and_they_for_it() {
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
                gc::collect(local, &mut kept, 0, CollectionKind::Major);
            } else if round % 3 == 0 {
                gc::collect(local, &mut kept, 0, CollectionKind::Asked);
            }
            assert!(is_list_to(kept[0], n), "round {round}");
        }
        end(p);
        qsbr::offline();
    };
    let before = shared::collections();
    std::thread::scope(|scope| {
        // A thread that is offline most of the time: no collection waits for it.
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
