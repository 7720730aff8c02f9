//! The terminal: the natives of the module `prim_tty`.

pub mod capabilities;
pub mod modes;
pub mod natives;
pub mod parameters;
pub mod terminfo;

use std::sync::OnceLock;

/// Called when the terminal is in use: from then on its signals (the window changed, the job continues) reach `natives::signal`.
/// The part of the VM that handles signals of the operating system sets it at the start.
pub static WATCH_SIGNALS: OnceLock<fn()> = OnceLock::new();
