//! Schedulers go online and offline, and are closed to all but the processes pinned to them.

use super::table::vm;
use super::{balance, home, placement};

/// Leaves a scheduler out (`is_closed`) where one is woken for what any scheduler may do, or takes it in again.
pub(crate) fn close(index: usize, is_closed: bool) {
    vm().idle.close(index, is_closed);
    vm().schedulers[index].unpark();
}
pub fn set_online(n: usize) -> usize {
    let old = home::swap_online(n);
    placement::online_changed();
    balance::reset();
    for scheduler in &vm().schedulers {
        scheduler.unpark();
    }
    old
}
