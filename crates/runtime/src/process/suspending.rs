//! What a process knows of the processes that it suspended (`erlang:suspend_process`).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A process that the owner of this suspended.
pub struct Suspending {
    pub pid: u64,
    /// How often.
    pub count: u32,
    is_done: Arc<AtomicBool>,
}

impl Suspending {
    /// Not suspended yet.
    pub fn new(pid: u64) -> Suspending {
        Suspending { pid, count: 0, is_done: Arc::default() }
    }

    /// True if the other process stands still.
    pub fn is_done(&self) -> bool {
        // Acquire: pairs with the store of `done`.
        self.is_done.load(Ordering::Acquire)
    }

    /// To be called in the other process when it stands still.
    pub fn done(&self) -> impl FnOnce() + Send + 'static {
        let is_done = self.is_done.clone();
        // Release: a process that reads it also sees the state of the other one.
        move || is_done.store(true, Ordering::Release)
    }
}
