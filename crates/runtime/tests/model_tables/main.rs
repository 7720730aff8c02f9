//! Compares the tables of the whole node, of atoms and of exports, with maps; and tests several threads that use them while they grow. A
//! program of its own, because the tables keep all that is ever put there.

mod atoms;
mod exports;

use heddle_model::run;
use heddle_term::hash::narrow;
use std::sync::{Mutex, MutexGuard};

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// The bits of the names' hashes that are used: with 100,000 names, one of 40 has the hash of another. There are more hashes than names, or
/// all names would be in one chain.
const NAMES_MASK: u64 = (1 << 22) - 1;

fn begin() -> MutexGuard<'static, ()> {
    let guard = ONE_AT_A_TIME.lock().unwrap_or_else(|e| e.into_inner());
    narrow::set_names(NAMES_MASK);
    heddle_term::atom::set_limit(heddle_term::atom::MAX_LIMIT);
    // Making the first atom also makes those that exist from the start.
    let _ = heddle_term::Atom::new("nil");
    // Cells that the engine sets otherwise.
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
