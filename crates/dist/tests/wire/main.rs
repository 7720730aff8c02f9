//! Tests of the wire format: rules on random messages, bytes of a stock node, and bytes that no node sends.

mod caches;
mod control;
mod fragments;
mod hostile;
mod messages;
mod random;
mod stock;
