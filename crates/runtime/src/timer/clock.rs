//! The clock of timers in tests: the real one, or one that the test moves.

use std::cell::Cell;

thread_local! {
    static NOW_MS: Cell<Option<u64>> = const { Cell::new(None) };
}

pub(crate) fn ticks_ms() -> u64 {
    NOW_MS.get().unwrap_or_else(crate::base::time::ticks_ms)
}

/// From now on it is `now` for the calling thread.
pub(crate) fn set(now: u64) {
    NOW_MS.set(Some(now));
}
