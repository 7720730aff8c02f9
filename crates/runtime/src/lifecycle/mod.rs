//! What makes, changes and ends a process: spawning, the signals that it handles, its exit.

pub mod activity;
pub mod exit;
pub mod handle;
pub mod spawn;
