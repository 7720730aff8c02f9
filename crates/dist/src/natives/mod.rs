//! What Erlang code asks of the distribution.

pub mod busy;
pub mod connections;
pub mod controllers;
pub mod figures;
pub mod internal_states;
pub mod nodes;
pub mod spawn_request;
