//! What threads share without locks: the structures under the schedulers, small enough to be checked by a model of the machine's
//! memory (loom, see `tests/` and `make loom`). Nothing here knows of processes.

pub mod idle;
pub mod ring;
pub mod stack;

/// Atomics: the machine's, or those of the model.
pub(crate) mod atomic {
    #[cfg(loom)]
    pub use loom::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering, fence};
    #[cfg(not(loom))]
    pub use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering, fence};
}

/// On a line of the cache (two, as they are fetched) of its own: what one thread writes often is not to slow down others.
#[derive(Default)]
#[repr(align(128))]
pub struct Apart<T>(pub T);

impl<T> std::ops::Deref for Apart<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.0
    }
}
