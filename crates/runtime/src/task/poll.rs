//! Readiness of descriptors, for tasks: hooks to the poller, which is in the crate that has ports.

use std::io;
use std::os::fd::RawFd;
use std::sync::{Arc, OnceLock};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Interest {
    Read,
    Write,
}

/// Called once, on any thread, in a reclamation window (`qsbr`).
pub type Handler = Arc<dyn Fn() + Send + Sync>;

pub struct Hooks {
    /// Calls the handler when the descriptor is ready.
    pub once: fn(RawFd, Interest, Handler) -> io::Result<()>,
    /// Forgets both interests in the descriptor. To be called before it is closed.
    pub forget: fn(RawFd),
}

pub static HOOKS: OnceLock<Hooks> = OnceLock::new();
