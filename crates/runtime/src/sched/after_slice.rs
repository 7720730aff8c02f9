//! What waits until the process that runs has ended its slice, on the same scheduler: so what many calls of a process ask for is done once. What
//! a scheduler does between slices, as when it hears of packets, counts to the next slice, or ends when there is no other process to run.

use super::table::current_index;
use std::cell::{Cell, RefCell};

type Deferred = Box<dyn FnOnce()>;

thread_local! {
    static WAITING: RefCell<Vec<Deferred>> = const { RefCell::new(Vec::new()) };
    /// True if something waits.
    static HAS_ANY: Cell<bool> = const { Cell::new(false) };
}

/// Calls `f` after the slice; at once on a thread that is no scheduler.
pub fn after_slice(f: impl FnOnce() + 'static) {
    if current_index().is_none() {
        return f();
    }
    WAITING.with_borrow_mut(|waiting| waiting.push(Box::new(f)));
    HAS_ANY.set(true);
}

/// Called by a scheduler after each slice, and when it has nothing to run. True if something waited.
#[inline(always)]
pub(super) fn run() -> bool {
    let has_any = HAS_ANY.get();
    if has_any {
        run_all();
    }
    has_any
}

#[cold]
#[inline(never)]
fn run_all() {
    HAS_ANY.set(false);
    for deferred in WAITING.take() {
        deferred();
    }
}
