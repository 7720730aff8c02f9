//! Natives on data: they look at their arguments and at nothing else.

use heddle_runtime::natives::Native;

mod atomics;
mod atoms;
mod binary;
mod bytes;
mod external;
mod floats;
mod integers;
mod lists;
mod long;
mod maps;
mod operators;
mod persistent_term;
mod search;
mod tuples;
mod types;
mod unicode;

pub const TABLES: &[&[Native]] = &[
    atomics::TABLE,
    atoms::TABLE,
    binary::TABLE,
    bytes::TABLE,
    external::TABLE,
    floats::TABLE,
    integers::TABLE,
    lists::TABLE,
    maps::TABLE,
    operators::TABLE,
    persistent_term::TABLE,
    search::TABLE,
    tuples::TABLE,
    types::TABLE,
    unicode::TABLE,
];
