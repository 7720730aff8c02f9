//! Natives on data: they look at their arguments and at nothing else.

use heddle_runtime::natives::Native;

mod atoms;
mod integers;
mod lists;
mod maps;
mod operators;
mod tuples;
mod types;

pub const TABLES: &[&[Native]] =
    &[atoms::TABLE, integers::TABLE, lists::TABLE, maps::TABLE, operators::TABLE, tuples::TABLE, types::TABLE];
