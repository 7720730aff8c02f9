//! What makes, changes and ends a process: spawning, the signals that it handles, its exit.

pub mod activity;
pub mod exit;
pub mod handle;
pub(crate) mod remote;
pub mod spawn;
