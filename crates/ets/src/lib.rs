//! Built-in term storage.
//!
//! A `table` keeps its objects (`object`) in a `hash_store`, which consists of `chains` that `outlines` helps to prefetch, or in a
//! `tree_store`. `registry` finds tables by name and by reference, `access` by a native's argument. `plan` tells which objects a match
//! specification (`heddle_natives::spec`) needs, and `scan` visits them piece by piece. The other files are natives.

pub mod access;
mod chains;
pub mod chunks;
pub mod create;
pub mod fix;
pub mod hash_store;
pub mod info;
pub mod object;
pub mod objects;
mod outlines;
pub mod owner;
pub mod plan;
pub mod reap;
pub mod registry;
pub mod scan;
pub mod select;
pub mod table;
pub mod tree_order;
pub mod tree_segment;
pub mod tree_store;
pub mod update;
pub mod walk;

#[cfg(test)]
mod model_tests;
#[cfg(test)]
mod tests;

pub use registry::find_magic;

use heddle_runtime::natives::Native;
use heddle_term::{Term, am};
use std::sync::atomic::{AtomicBool, Ordering};

pub const TABLES: &[&[Native]] =
    &[chunks::TABLE, create::TABLE, fix::TABLE, info::TABLE, objects::TABLE, owner::TABLE, select::TABLE, update::TABLE, walk::TABLE];

/// Makes the natives of this crate callable. Called once at start-up.
pub fn register() {
    heddle_runtime::exit::add_hook(owner::at_exit);
    TABLES.iter().copied().for_each(heddle_runtime::natives::register);
}

/// How many tables there are.
pub fn count() -> usize {
    registry::count()
}

/// Words of all tables, without their objects.
pub fn own_words() -> usize {
    registry::all().iter().map(|t| t.own_words()).sum()
}

/// For tests: sets (`{Table, Boolean}`) a switch of how an ordered table for concurrent writers splits.
pub fn pieces(argument: Term, switch: impl Fn(&tree_store::TreeStore) -> &AtomicBool) -> Option<Term> {
    let Some(&[table, on]) = argument.as_tuple() else { return None };
    let (Some(table), Some(on)) = (access::find(&table), heddle_natives::args::boolean(on)) else { return None };
    match &table.store {
        table::Store::Tree(store) if store.pieces().is_some() => {
            switch(store).store(on, Ordering::Relaxed);
            Some(am::OK.into())
        }
        _ => None,
    }
}
