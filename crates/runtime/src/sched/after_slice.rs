//! What waits until the process that runs has ended its slice, on the same scheduler: so what many calls of a process ask for is done once.

use super::table::{current_index, vm};
use std::cell::{Cell, RefCell};
use std::sync::atomic::Ordering;

type Deferred = Box<dyn FnOnce()>;

thread_local! {
    static WAITING: RefCell<Vec<Deferred>> = const { RefCell::new(Vec::new()) };
    /// True if something waits.
    static HAS_ANY: Cell<bool> = const { Cell::new(false) };
}

/// Calls `f` when the process that the calling thread runs has ended its slice; at once on a thread that is no scheduler in a slice.
pub fn after_slice(f: impl FnOnce() + 'static) {
    // Relaxed: the thread's own figure.
    let is_in_slice = current_index().is_some_and(|index| vm().schedulers[index].current.load(Ordering::Relaxed) != 0);
    if !is_in_slice {
        return f();
    }
    WAITING.with_borrow_mut(|waiting| waiting.push(Box::new(f)));
    HAS_ANY.set(true);
}

/// Called by a scheduler after each slice.
#[inline(always)]
pub(super) fn run() {
    if HAS_ANY.get() {
        run_all();
    }
}

#[cold]
#[inline(never)]
fn run_all() {
    HAS_ANY.set(false);
    for deferred in WAITING.take() {
        deferred();
    }
}
