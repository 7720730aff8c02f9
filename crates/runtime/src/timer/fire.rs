//! Fires timers whose time has come.

use super::{Action, Handle, Wheels};
use crate::observe::msacc::{self, ThreadState};
use crate::process::{names, proctab};
use crate::signal::send;
use crate::signal::{Signal, SignalBody};
use heddle_term::am;

/// Maximum number of timers fired at a time, so that the processes of this scheduler do not wait for long (guessed: a millisecond or so).
const AT_ONCE: usize = 5000;

/// Fires what is due on the calling thread's wheel. Returns the ms until the next look, 0 if more is due.
pub(crate) fn due(wheels: &Wheels, limit_ms: u64) -> u64 {
    due_after(wheels, limit_ms, u64::MAX)
}

/// The same on a thread that has run no process since the tick `idle_since`.
pub(crate) fn due_after(wheels: &Wheels, limit_ms: u64, idle_since: u64) -> u64 {
    let wait = wheels.look_after(limit_ms, idle_since);
    if wait > 0 {
        return wait;
    }
    let before = msacc::enter(ThreadState::Aux);
    let mut left = AT_ONCE;
    while left > 0 && wheels.in_turn(|| wheels.next_due().map(|(handle, action)| fire(handle, action))).is_some() {
        left -= 1;
    }
    msacc::enter(before);
    wheels.until_next(limit_ms)
}

fn fire(handle: Handle, action: Action) {
    match action {
        Action::Receive { pid } => {
            if let Some(p) = proctab::lookup(pid) {
                let _ = send::deliver(p, Signal::new(SignalBody::Timeout(handle)));
            }
        }
        Action::Send { dest, message } => {
            let dest = match dest.as_atom() {
                Some(name) => match names::whereis(name) {
                    Some(id) => id,
                    None => return,
                },
                None => dest,
            };
            if dest.is_local_pid() {
                send::message_from(am::CLOCK_SERVICE.into(), dest.payload(), message);
            }
        }
        Action::Run(f) => f(),
    }
}
