//! The operations, by theme. `ctx` says what an operation may keep across what.

pub mod arith;
pub mod bifs;
pub mod bits;
pub mod booleans;
pub mod calls;
pub mod control;
pub mod coverage;
pub mod data;
pub mod direct;
pub mod errors;
pub mod floats;
pub mod frames;
pub mod funs;
pub mod maps;
pub mod natives;
pub mod nifs;
pub mod receive;
pub mod tasks;
pub mod tests;
pub mod tracing;
