//! Multi-scheduling is blocked: one thread at a time runs processes. The first scheduler and the dirty threads then take turns, a
//! slice or a native each, in the order in which they ask. So what the blocking process needs a dirty thread for still gets done.
//! All other schedulers are offline, and private threads run nothing (`placement::block_private`). A dirty thread that was running
//! a native when the blocking began finishes that first, as in stock.

use crate::base::qsbr;
use crate::observe::wall_time;
use heddle_sync::turn::Turn;
use std::sync::atomic::{AtomicBool, Ordering};

static IS_ON: AtomicBool = AtomicBool::new(false);
static TURN: Turn = Turn::new();

/// Begins or ends the blocking for dirty threads and the first scheduler.
pub fn set(is_on: bool) {
    // Relaxed: a thread that sees the change late finishes what it does first.
    IS_ON.store(is_on, Ordering::Relaxed);
    crate::sched::share(0).set_takes_turns(is_on);
}

/// True if dirty threads are blocked as well.
pub fn is_on() -> bool {
    IS_ON.load(Ordering::Relaxed)
}

/// A turn. Dropping it ends the turn.
pub(crate) struct Mine(());

impl Drop for Mine {
    fn drop(&mut self) {
        TURN.give_back();
    }
}

/// Waits for the turn of scheduler thread `number`, if turns are taken. The scheduler is online, and counts as busy as long as it
/// need not wait.
#[cold]
pub(crate) fn for_scheduler(number: usize) -> Option<Mine> {
    if !is_on() {
        return None;
    }
    if !TURN.try_take() {
        wall_time::set_busy(number, false);
        qsbr::offline_for_long();
        TURN.take();
        qsbr::online();
        wall_time::set_busy(number, true);
    }
    Some(Mine(()))
}

/// Waits for the turn of a dirty thread that holds nothing, if turns are taken.
pub(crate) fn for_dirty() -> Option<Mine> {
    is_on().then(|| {
        TURN.take();
        Mine(())
    })
}
