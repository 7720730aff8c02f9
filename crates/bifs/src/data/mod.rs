//! Natives on data: they look at their arguments and at nothing else.

use heddle_runtime::natives::Native;

pub mod atomics;
mod atoms;
mod binary;
mod bytes;
pub mod display;
mod external;
mod floats;
mod hashes;
mod identifiers;
mod integers;
mod lists;
mod maps;
mod math;
mod md5;
mod operators;
pub mod packet;
pub mod persistent_term;
mod re;
mod search;
mod sizes;
mod tuples;
mod types;
mod unicode;
mod zlib;

pub const TABLES: &[&[Native]] = &[
    atomics::TABLE,
    atoms::TABLE,
    binary::TABLE,
    bytes::TABLE,
    display::TABLE,
    external::TABLE,
    floats::TABLE,
    hashes::TABLE,
    identifiers::TABLE,
    integers::TABLE,
    lists::TABLE,
    maps::TABLE,
    math::TABLE,
    operators::TABLE,
    packet::TABLE,
    persistent_term::TABLE,
    re::TABLE,
    search::TABLE,
    sizes::TABLE,
    tuples::TABLE,
    types::TABLE,
    unicode::TABLE,
    zlib::TABLE,
];
