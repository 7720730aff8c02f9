//! Timers of the running process, and functions that run on a scheduler later.

use super::table::vm;
use crate::base::time;
use crate::process::Process;
use crate::timer::Action;

/// Arms the receive timer of the running process.
#[inline]
pub fn set_receive_timer(p: &mut Process, ms: u64) {
    let pid = p.pid();
    p.timer.set(|| &vm().wheels, pid, ms);
}

#[inline]
pub fn cancel_receive_timer(p: &mut Process) {
    p.timer.cancel(|| &vm().wheels);
}

/// Runs `f` on a scheduler after `ms` milliseconds.
pub fn after(ms: u64, f: impl FnOnce() + Send + 'static) {
    let wheels = &vm().wheels;
    wheels.set(wheels.reserve(), time::ticks_ms() + ms + 1, Action::Run(Box::new(f)));
}
