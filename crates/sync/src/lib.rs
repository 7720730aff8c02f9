//! What threads share without locks: the structures under the schedulers, small enough to be checked by a model of the machine's
//! memory (loom, see `tests/` and `make loom`). Nothing here knows of processes.

pub mod alone;
pub mod barrier;
pub mod claim;
pub mod depot;
pub mod flagged_stack;
pub mod idle;
pub mod pile;
pub mod prefetch;
pub mod reader_lock;
pub mod ring;
pub mod sequential;
pub mod stack;
pub mod thread_slot;
pub mod turn;
pub mod word;

/// Atomics: the machine's, or those of the model.
pub(crate) mod atomic {
    #[cfg(loom)]
    pub use loom::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};
    #[cfg(not(loom))]
    pub use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};
}
