//! The tables of the whole node, of atoms and of exports, against maps; and by several threads, while they grow. A program of its own: the
//! tables have all that is ever put there.

mod atoms;
mod exports;

use heddle_model::run;
use heddle_term::hash::narrow;
use std::sync::{Mutex, MutexGuard};

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Of the hashes of names: one of 40 has another's, once there are 100,000. Wider than there are names at most, or all would be one chain.
const NAMES_MASK: u64 = (1 << 22) - 1;

fn begin() -> MutexGuard<'static, ()> {
    let guard = ONE_AT_A_TIME.lock().unwrap_or_else(|e| e.into_inner());
    narrow::set_names(NAMES_MASK);
    heddle_term::atom::set_limit(heddle_term::atom::MAX_LIMIT);
    // With the first one come those that are there from the start.
    let _ = heddle_term::Atom::new("nil");
    // Cells that the engine would set.
    heddle_runtime::exports::set_undefined_handlers(8, 16, 24);
    guard
}

#[test]
fn atoms_behave_like_a_map_of_names() {
    let _guard = begin();
    run::<atoms::Names>();
}

#[test]
fn several_threads_agree_on_atoms_while_the_table_grows() {
    let _guard = begin();
    atoms::by_several_threads();
}

#[test]
fn exports_behave_like_a_map() {
    let _guard = begin();
    run::<exports::Cells>();
}

#[test]
fn several_threads_agree_on_exports_while_the_table_grows() {
    let _guard = begin();
    exports::by_several_threads();
}
