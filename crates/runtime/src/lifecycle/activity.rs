//! What a process does, as its status says it. The question is a signal that the process (or a thread for it) handles, so the state
//! word only says that some thread has the process just now. What counts is what the process did before (`Stand`), and whether it
//! has a reason to go on.

use crate::process::{FLAG_HIBERNATES, Process, Stand};
use crate::sched::dirty;
use crate::task;
use crate::timer::ReceivePhase;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Activity {
    Running,
    Runnable,
    Waiting,
    Suspended,
}

/// For the owner of the process, or a thread that handles its signals.
pub fn of(p: &Process) -> Activity {
    let is_dirty = p.shared().state.load().is_dirty();
    // A native on a dirty thread goes on, suspended or not.
    if is_dirty && dirty::is_running(p.pid()) {
        return Activity::Running;
    }
    if p.suspend_count > 0 {
        return Activity::Suspended;
    }
    if is_dirty {
        return Activity::Runnable;
    }
    if p.stand == Stand::Runs {
        return Activity::Running;
    }
    if waits(p) { Activity::Waiting } else { Activity::Runnable }
}

/// True if the process goes on waiting unless something else arrives. It is not in its slice.
fn waits(p: &Process) -> bool {
    if let Some(waits) = task::is_waiting(p) {
        return waits;
    }
    if p.flags & FLAG_HIBERNATES != 0 {
        return p.messages.is_empty();
    }
    // A native that waits has its arguments saved, and knows what it waits for. `receive` has nothing saved, and goes on if there
    // is a message that it has not looked at.
    p.stand == Stand::Waits && (!p.saved.is_empty() || p.messages.is_at_end() && p.timer.phase != ReceivePhase::Fired)
}
