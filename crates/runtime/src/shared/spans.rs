//! What collector threads leave to each other: parts of pieces that are to be scanned.

use super::charged::Charged;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Whole objects, copied and not scanned.
pub(super) struct Span {
    pub from: *mut u64,
    pub to: *mut u64,
    /// Who is charged with what it leads to. It stays where it is until all is copied. Null: nobody.
    pub charged: *const Charged,
}

impl Span {
    pub fn words(&self) -> usize {
        (self.to as usize - self.from as usize) / 8
    }
}

// SAFETY: it is one thread's at a time, which scans it.
unsafe impl Send for Span {}

/// A lock is good enough: something is given only while somebody has nothing to do.
#[derive(Default)]
pub(super) struct Spans {
    state: Mutex<State>,
    /// As in the state, for who only wants a hint.
    hungry: AtomicUsize,
}

#[derive(Default)]
struct State {
    list: Vec<Span>,
    threads: usize,
    /// Threads that have nothing to do. When all are here nobody can give more.
    hungry: usize,
    is_over: bool,
}

impl Spans {
    /// The calling thread takes part; false: it is too late.
    pub fn join(&self) -> bool {
        let mut state = self.state.lock().unwrap();
        state.threads += !state.is_over as usize;
        !state.is_over
    }

    #[inline]
    pub fn are_hungry(&self) -> bool {
        // Relaxed: a hint.
        self.hungry.load(Ordering::Relaxed) != 0
    }

    /// Whether all but the calling thread, and at least one, have nothing to do. So it stays until it gives them something: who has
    /// nothing to do has found that all roots are taken, and so will who comes later.
    pub fn is_alone(&self) -> bool {
        let state = self.state.lock().unwrap();
        state.hungry > 0 && state.hungry + 1 == state.threads && state.list.is_empty()
    }

    pub fn give(&self, span: Span) {
        self.state.lock().unwrap().list.push(span);
    }

    /// Something of others; None when no thread that takes part has anything left.
    pub fn take(&self) -> Option<Span> {
        let mut state = self.state.lock().unwrap();
        state.hungry += 1;
        loop {
            // Relaxed: see `are_hungry`.
            self.hungry.store(state.hungry, Ordering::Relaxed);
            if let Some(span) = state.list.pop() {
                state.hungry -= 1;
                self.hungry.store(state.hungry, Ordering::Relaxed);
                return Some(span);
            }
            state.is_over |= state.hungry == state.threads;
            if state.is_over {
                return None;
            }
            drop(state);
            std::thread::yield_now();
            state = self.state.lock().unwrap();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A span stands for a number: who takes one of n gives those of n / 2 and n - 1 - n / 2, and all are taken once.
    #[test]
    fn all_that_is_given_is_taken_and_then_all_end() {
        let spans = Spans::default();
        let taken = AtomicUsize::new(0);
        let span = |n: usize| Span { from: std::ptr::null_mut(), to: std::ptr::without_provenance_mut(n), charged: std::ptr::null() };
        assert!(spans.join());
        spans.give(span(100_000));
        let work = || {
            while let Some(found) = spans.take() {
                taken.fetch_add(1, Ordering::Relaxed);
                let rest = found.to.addr() - 1;
                [rest / 2, rest - rest / 2].into_iter().filter(|&n| n > 0).for_each(|n| spans.give(span(n)));
            }
        };
        std::thread::scope(|scope| {
            (0..3).for_each(|_| {
                _ = scope.spawn(|| {
                    if spans.join() {
                        work()
                    }
                })
            });
            work();
        });
        assert_eq!(taken.load(Ordering::Relaxed), 100_000);
        assert!(!spans.join());
    }
}
