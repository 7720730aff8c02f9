//! Times at which operations fail. A port has one timer, which is set for the earliest of them, and left as it is when an operation is
//! answered: so an operation with a limit mostly sets no timer.

use heddle_runtime::task::Context;
use heddle_runtime::time;
use std::time::Duration;

/// A time in milliseconds of the VM's clock. The last value is never.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Deadline(u64);

impl Deadline {
    pub const NEVER: Deadline = Deadline(u64::MAX);

    pub fn after(ms: u64) -> Deadline {
        // One more, since a part of the present millisecond has passed already.
        Deadline(time::ticks_ms() + ms + 1)
    }
    pub fn now() -> Deadline {
        Deadline(time::ticks_ms())
    }
}

/// The one timer of a socket's port.
pub struct Timer {
    /// The time for which it is set.
    set: Deadline,
    /// The earliest of the deadlines that came since.
    wanted: Deadline,
}

impl Default for Timer {
    fn default() -> Timer {
        Timer { set: Deadline::NEVER, wanted: Deadline::NEVER }
    }
}

impl Timer {
    /// An operation has this deadline.
    pub fn want(&mut self, deadline: Deadline) {
        self.wanted = self.wanted.min(deadline);
    }

    /// Called when the timer has fired.
    pub fn fired(&mut self) {
        self.set = Deadline::NEVER;
    }

    /// Sets the timer, if it is not set for a time that is early enough.
    pub fn update(&mut self, context: &mut Context<'_>) {
        let wanted = std::mem::replace(&mut self.wanted, Deadline::NEVER);
        if wanted < self.set {
            self.set = wanted;
            context.set_timer(Duration::from_millis(wanted.0.saturating_sub(Deadline::now().0)));
        }
    }
}
