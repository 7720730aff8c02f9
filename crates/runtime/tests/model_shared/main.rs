//! Compares processes that build, send, keep and collect with trees: with the shared heap. A program of its own, because the kind of
//! heap must be chosen before the first literal is made.

#[path = "../model_area/processes.rs"]
mod processes;
#[path = "../running/mod.rs"]
mod running;
#[path = "../model_area/stacks.rs"]
mod stacks;

use heddle_model::run;
use heddle_runtime::{proctab, qsbr, shared, zeal};
use heddle_term::{Heap, literal};
use std::sync::{Mutex, MutexGuard};

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn begin() -> MutexGuard<'static, ()> {
    let guard = ONE_AT_A_TIME.lock().unwrap_or_else(|e| e.into_inner());
    shared::want();
    proctab::init(1 << 16, 1024);
    let mut heap = Heap::new();
    let text = heap.string("a");
    let _ = literal::make_literal(text);
    heap.clear();
    assert!(heddle_term::young::is_on());
    // Freed memory is overwritten, and each heap is verified after its collections.
    zeal::set("gc").expect("a mode");
    guard
}

#[test]
fn processes_keep_what_they_built_and_were_sent() {
    let _guard = begin();
    qsbr::online();
    run::<processes::Processes>();
    qsbr::offline();
}

#[test]
fn a_stack_behaves_like_a_list_of_frames() {
    let _guard = begin();
    qsbr::online();
    run::<stacks::Stacks>();
    qsbr::offline();
}
