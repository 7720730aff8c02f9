//! Readiness of descriptors, for tasks: hooks to the sets of descriptors, which are in the crate that has ports.

use std::io;
use std::os::fd::RawFd;
use std::sync::OnceLock;

pub use crate::sched::polling::Handler;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Interest {
    Read,
    Write,
}

pub struct Hooks {
    /// Calls the handler when the descriptor is ready.
    pub once: fn(RawFd, Interest, Handler) -> io::Result<()>,
    /// Forgets both interests in the descriptor. To be called before it is closed.
    pub forget: fn(RawFd),
}

pub static HOOKS: OnceLock<Hooks> = OnceLock::new();
