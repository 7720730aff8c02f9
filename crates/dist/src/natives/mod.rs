//! What Erlang code asks of the distribution.

pub mod connections;
pub mod controllers;
pub mod figures;
pub mod nodes;
pub mod spawn_request;
