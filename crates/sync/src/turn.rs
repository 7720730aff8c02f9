//! A turn that one thread has at a time, taken in the order of asking.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};

pub struct Turn {
    tickets: Mutex<Tickets>,
    next: Condvar,
    /// Threads that wait for it.
    waiting: AtomicUsize,
}

struct Tickets {
    next: u64,
    /// Whose turn it is; `next` if no thread has it.
    serving: u64,
}

impl Turn {
    pub const fn new() -> Turn {
        Turn { tickets: Mutex::new(Tickets { next: 0, serving: 0 }), next: Condvar::new(), waiting: AtomicUsize::new(0) }
    }

    /// Takes it if no thread has it. The caller does not have it.
    pub fn try_take(&self) -> bool {
        let mut tickets = self.tickets.lock().unwrap();
        let is_free = tickets.serving == tickets.next;
        tickets.next += is_free as u64;
        is_free
    }

    /// Waits for it. The caller does not have it.
    #[cold]
    pub fn take(&self) {
        let mut tickets = self.tickets.lock().unwrap();
        let mine = tickets.next;
        tickets.next += 1;
        self.waiting.fetch_add(1, Ordering::Relaxed);
        while tickets.serving != mine {
            tickets = self.next.wait(tickets).unwrap();
        }
        self.waiting.fetch_sub(1, Ordering::Relaxed);
    }

    /// By the thread that has it.
    pub fn give_back(&self) {
        self.tickets.lock().unwrap().serving += 1;
        self.next.notify_all();
    }

    /// True if others wait for it.
    #[inline(always)]
    pub fn is_wanted(&self) -> bool {
        // Relaxed: a thread that is not seen now is seen the next time.
        self.waiting.load(Ordering::Relaxed) > 0
    }
}

impl Default for Turn {
    fn default() -> Turn {
        Turn::new()
    }
}

#[cfg(test)]
mod tests {
    use super::Turn;
    use std::sync::Mutex;

    #[test]
    fn one_has_it_and_the_others_follow_in_order() {
        let (turn, order) = (&Turn::new(), &Mutex::new(Vec::new()));
        assert!(turn.try_take());
        assert!(!turn.try_take());
        std::thread::scope(|scope| {
            for number in 0..4 {
                scope.spawn(move || {
                    turn.take();
                    order.lock().unwrap().push(number);
                    turn.give_back();
                });
                while turn.waiting.load(std::sync::atomic::Ordering::Relaxed) <= number {
                    std::thread::yield_now();
                }
            }
            assert!(turn.is_wanted() && order.lock().unwrap().is_empty());
            turn.give_back();
        });
        assert_eq!(*order.lock().unwrap(), [0, 1, 2, 3]);
        assert!(!turn.is_wanted() && turn.try_take());
    }
}
