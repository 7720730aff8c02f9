//! Spans: parts of pieces that must be scanned, which collector threads pass to each other.

use super::charged::Charged;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Whole objects that were copied and not scanned.
pub(super) struct Span {
    pub from: *mut u64,
    pub to: *mut u64,
    /// The process charge for what the span leads to. It stays where it is until all is copied. Null: no process is charged.
    pub charged: *const Charged,
}

impl Span {
    pub(crate) fn words(&self) -> usize {
        (self.to as usize - self.from as usize) / 8
    }
}

// SAFETY: one thread at a time has the span, and scans it.
unsafe impl Send for Span {}

/// The spans that were given away. A lock is fast enough: spans are given only while some thread has nothing to do.
#[derive(Default)]
pub(super) struct Spans {
    state: Mutex<SpanState>,
    /// Copy of `SpanState::hungry`, for threads that only want a hint.
    hungry: AtomicUsize,
}

#[derive(Default)]
struct SpanState {
    list: Vec<Span>,
    threads: usize,
    /// Number of threads that have nothing to do. When all have nothing to do no thread can give more.
    hungry: usize,
    is_over: bool,
}

impl Spans {
    /// The calling thread joins. Returns false if the collection is already over.
    pub(crate) fn join(&self) -> bool {
        let mut state = self.state.lock().unwrap();
        state.threads += !state.is_over as usize;
        !state.is_over
    }

    #[inline]
    pub(crate) fn are_hungry(&self) -> bool {
        // Relaxed: a hint.
        self.hungry.load(Ordering::Relaxed) != 0
    }

    /// True if all threads but the caller have nothing to do, and there is at least one. That stays true until the caller gives something:
    /// a thread without work has found that all roots are taken, and so will a thread that joins later.
    pub(crate) fn is_alone(&self) -> bool {
        let state = self.state.lock().unwrap();
        state.hungry > 0 && state.hungry + 1 == state.threads && state.list.is_empty()
    }

    pub(crate) fn give(&self, span: Span) {
        self.state.lock().unwrap().list.push(span);
    }

    /// Returns a span of another thread. Waits while there is none; None when no thread has anything left.
    pub(crate) fn take(&self) -> Option<Span> {
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

    /// A span stands for a number n: the thread that takes it gives spans for the two halves of n - 1. All are taken once.
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
