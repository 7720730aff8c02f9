//! Tests of the wire format: rules on random messages, bytes of a stock node, and bytes that no node sends.

mod caches;
mod control;
mod fragments;
mod hostile;
mod messages;
#[path = "../../examples/fuzz_dist/mutation.rs"]
mod mutation;
mod random;
mod stock;
