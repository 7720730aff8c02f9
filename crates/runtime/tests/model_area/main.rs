//! Compares the message area with plain models: regions by themselves, and processes that build, send, keep and collect. A program of
//! its own, because the area must be asked for before the first literal is made.

mod processes;
mod regions;
#[path = "../running/mod.rs"]
mod running;
mod stacks;

use heddle_model::run;
use heddle_runtime::{proctab, qsbr, zeal};
use heddle_term::{Heap, area, literal};
use std::sync::{Mutex, MutexGuard};

/// Both models count all memory of the area at their ends, so they run one at a time.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn begin() -> MutexGuard<'static, ()> {
    let guard = ONE_AT_A_TIME.lock().unwrap_or_else(|e| e.into_inner());
    area::want(area::MIN_BYTES);
    let mut heap = Heap::new();
    let text = heap.string("a");
    let _ = literal::make_literal(text);
    heap.clear();
    assert!(area::is_there());
    proctab::init(1 << 16, 1024);
    // Freed memory is overwritten, and each heap is verified after its collections.
    zeal::set("gc").expect("a mode");
    guard
}

#[test]
fn regions_behave_like_blocks_with_counts() {
    let _guard = begin();
    run::<regions::Regions>();
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
