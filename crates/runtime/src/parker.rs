//! Where a scheduler thread sleeps.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

#[derive(Default)]
pub struct Parker {
    thread: OnceLock<std::thread::Thread>,
    /// Set to wake; cleared by the sleeper.
    token: AtomicBool,
}

impl Parker {
    /// From here on `unpark` wakes the calling thread.
    pub fn belongs_to_me(&self) {
        let _ = self.thread.set(std::thread::current());
    }
    pub fn park(&self, timeout: Duration) {
        self.belongs_to_me();
        // SeqCst: pairs with `unpark`.
        if self.token.swap(false, Ordering::SeqCst) {
            return;
        }
        std::thread::park_timeout(timeout);
        self.token.store(false, Ordering::SeqCst);
    }
    pub fn unpark(&self) {
        self.token.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }
}
