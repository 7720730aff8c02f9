//! What threads share without locks: the structures under the schedulers, small enough to be checked by a model of the machine's
//! memory (loom, see `tests/` and `make loom`). Nothing here knows of processes.

pub mod barrier;
pub mod idle;
pub mod ring;
pub mod stack;

/// Atomics: the machine's, or those of the model.
pub(crate) mod atomic {
    #[cfg(loom)]
    pub use loom::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};
    #[cfg(not(loom))]
    pub use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};
}
