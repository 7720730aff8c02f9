//! Where a scheduler thread sleeps: in the operating system's wait of its thread, or in a wait of the caller's that can be interrupted.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

#[derive(Default)]
pub(crate) struct Parker {
    thread: OnceLock<std::thread::Thread>,
    /// Set to wake; cleared by the sleeper.
    /// SeqCst with `is_elsewhere`: `unpark` sets this and then reads that, `park_in` sets that and then takes this.
    token: AtomicBool,
    /// The thread is in `park_in`, or about to be.
    /// SeqCst with `token`, see there.
    is_elsewhere: AtomicBool,
}

impl Parker {
    /// From here on `unpark` wakes the calling thread.
    pub(crate) fn belongs_to_me(&self) {
        let _ = self.thread.set(std::thread::current());
    }
    pub(crate) fn park(&self, timeout: Duration) {
        self.belongs_to_me();
        // SeqCst: pairs with `unpark`.
        if self.token.swap(false, Ordering::SeqCst) {
            return;
        }
        std::thread::park_timeout(timeout);
        self.token.store(false, Ordering::SeqCst);
    }
    /// Sleeps in `wait`, which must return soon after `unpark` calls its `interrupt`, also where that comes first.
    pub(crate) fn park_in(&self, wait: impl FnOnce()) {
        // SeqCst: pairs with `unpark`, which sets the token and then looks where the thread is.
        self.is_elsewhere.store(true, Ordering::SeqCst);
        if !self.token.swap(false, Ordering::SeqCst) {
            wait();
        }
        self.is_elsewhere.store(false, Ordering::SeqCst);
        self.token.store(false, Ordering::SeqCst);
    }
    pub(crate) fn unpark(&self, interrupt: impl FnOnce()) {
        self.token.store(true, Ordering::SeqCst);
        if self.is_elsewhere.load(Ordering::SeqCst) {
            return interrupt();
        }
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Parker;
    use std::sync::mpsc;
    use std::time::Duration;

    /// Far more than a wake-up takes.
    const LONG: Duration = Duration::from_secs(20);

    #[test]
    fn a_wake_up_before_the_wait_leaves_it_out() {
        let parker = Parker::default();
        parker.unpark(|| panic!("the thread does not wait elsewhere"));
        parker.park_in(|| panic!("it waited"));
    }

    #[test]
    fn a_wake_up_interrupts_a_wait_elsewhere_and_only_that() {
        let parker = Parker::default();
        for _ in 0..1000 {
            let (ring, bell) = mpsc::channel::<()>();
            let (begins, has_begun) = mpsc::channel::<()>();
            std::thread::scope(|scope| {
                let parker = &parker;
                scope.spawn(move || {
                    has_begun.recv().unwrap();
                    parker.unpark(|| ring.send(()).unwrap());
                });
                parker.park_in(|| {
                    begins.send(()).unwrap();
                    bell.recv_timeout(LONG).expect("it was interrupted");
                });
            });
        }
        parker.unpark(|| panic!("the thread does not wait elsewhere any more"));
    }
}
