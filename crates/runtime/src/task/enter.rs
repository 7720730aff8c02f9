//! Call-backs that signals bring: requests to a task, and exit signals to a port.

use super::context::Context;
use super::run::{Running, fails};
use super::value::Value;
use super::{Task, TaskNext};
use crate::heap::mode;
use crate::heap::private::long_gc;
use crate::heap::shared::safepoint;
use crate::lifecycle::handle::{self, After};
use crate::observe::msacc;
use crate::process::proctab;
use crate::process::{FLAG_ENDS, Outcome, ProcRef, Process};
use crate::sched;
use crate::signal::send;
use heddle_term::Term;
use std::any::Any;

/// Runs one more call-back in the task `p`, between two of its own (in a `SignalBody::Call`, say). What it returns decides what the task does
/// next. Does nothing in a task of another type.
pub fn call<T: Task>(p: &mut Process, f: impl FnOnce(&mut T, &mut Context<'_>) -> TaskNext) {
    within(p, |body, context| {
        let any: &mut dyn Any = body;
        any.downcast_mut::<T>().map_or(TaskNext::Wait, |body| f(body, context))
    });
}

/// Runs a call-back in the task with the identity `to`: now if no thread has the task, otherwise in a signal. Does nothing if the task is gone.
pub fn call_soon<T: Task>(to: u64, f: impl FnOnce(&mut T, &mut Context<'_>) -> TaskNext + Send + 'static) {
    let Some(task) = proctab::lookup(to) else { return };
    let request = move |task: Option<&mut Process>| {
        if let Some(task) = task {
            call(task, f);
        }
    };
    match try_now(task) {
        Some(mut entered) => request(entered.process()),
        None => send::call_in(to, request),
    }
}

/// The port `p` gets an exit signal.
pub fn exit_signal(p: &mut Process, from: Term, reason: Term, linked: bool) {
    // SAFETY: `from` is immediate; the reason belongs to the caller, which waits.
    let (from, reason) = unsafe { (Value::new(from), Value::new(reason)) };
    within(p, |body, context| body.handle_exit(from, reason, linked, context));
}

/// Sets FLAG_ENDS if the task must end.
fn within(p: &mut Process, f: impl FnOnce(&mut dyn Task, &mut Context<'_>) -> TaskNext) {
    let Some(mut task) = Running::take(p) else { return };
    let before = p.shared().is_port().then(|| msacc::enter(msacc::ThreadState::Port));
    let result = task.request(p, f);
    if let Some(state) = before {
        msacc::enter(state);
    }
    let has_panicked = task.has_panicked();
    p.rare().task = Some(task);
    match result {
        Ok(used) => p.bump(used as usize),
        Err(reason) => {
            fails(p, reason, has_panicked);
            p.flags |= FLAG_ENDS;
        }
    }
}

/// A task that the calling thread has taken, outside of the task's own turn, to run a request in it. `Drop` lets go of it, and ends the
/// task if the request did.
pub struct Entered {
    task: ProcRef,
    /// A signal that was sent before has ended it.
    has_ended: bool,
    /// The caller is in the middle of a native, so nothing of it may move.
    _hold: safepoint::Hold,
}

/// Takes a task that no thread has, also from its run queue, after it has handled its signals. None: the caller must ask by a signal, as
/// always on threads that are not schedulers. No thread waits here, so no two threads can wait for each other.
pub fn try_now(task: ProcRef) -> Option<Entered> {
    if sched::current_index().is_none() || !task.state.start_at_once() {
        return None;
    }
    // SAFETY: no thread had it, and it is RUNNING now: this thread owns it.
    let local = unsafe { task.local() };
    mode::remember(&task);
    let hold = safepoint::hold();
    let has_ended = handle::drain(local) == After::Exit;
    Some(Entered { task, has_ended, _hold: hold })
}

impl Entered {
    /// The task's process. None if it is ending.
    pub fn process(&mut self) -> Option<&mut Process> {
        // SAFETY: this thread owns it, and the result borrows `self`.
        (!self.has_ended).then(|| unsafe { self.task.local() })
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        // SAFETY: this thread still owns it; the reference of `process` is gone.
        let local = unsafe { self.task.local() };
        let outcome = if self.has_ended || local.flags & FLAG_ENDS != 0 {
            Outcome::Exit
        } else if super::is_waiting(local) == Some(true) && !long_gc::is_due(local) {
            Outcome::Wait
        } else {
            Outcome::Yield
        };
        local.reductions += std::mem::take(&mut local.extra_reductions) as u64;
        sched::switch_out(self.task, local, outcome);
    }
}
