//! Natives: what Erlang code calls and Rust does. One file a noun; each has a table of its natives, collected in `TABLES`.

pub mod args;
pub mod data;
