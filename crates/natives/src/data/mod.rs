//! Natives on data: they look at their arguments and at nothing else.

use heddle_runtime::natives::Native;

mod atomics;
mod atoms;
mod external;
mod integers;
mod lists;
mod long;
mod maps;
mod operators;
mod persistent_term;
mod tuples;
mod types;
mod unicode;

pub const TABLES: &[&[Native]] = &[
    atomics::TABLE,
    atoms::TABLE,
    external::TABLE,
    integers::TABLE,
    lists::TABLE,
    maps::TABLE,
    operators::TABLE,
    persistent_term::TABLE,
    tuples::TABLE,
    types::TABLE,
    unicode::TABLE,
];
