//! Runs a task on a scheduler: chooses the next call-back (`RunTask` in P. Hedqvist, "A Parallel and Multithreaded Erlang Implementation",
//! 1998, section 5.2.4), ends the task, and reports its state.
//!
//! Signals come first, then readiness of descriptors, messages, the timeout, and idle work. The choice is made anew after each call-back.

use super::context::Context;
use super::guard::call_back;
use super::value::{Builder, Owned, Value};
use super::{Definition, Task, TaskEvent, TaskNext};
use crate::base::memory_mode;
use crate::lifecycle::exit;
use crate::lifecycle::handle::{self, After};
use crate::process::host::{Interest, host};
use crate::process::{ExceptionClass, FLAG_ENDS, FLAG_TASK, Outcome, Process};
use crate::sched::private_threads;
use crate::signal::{Signal, SignalBody};
use crate::timer::ReceivePhase;
use crate::trace::system_monitor;
use crate::trace::{events, flags, seq};
use crate::{Package, sched};
use heddle_term::Atom;
use std::collections::VecDeque;
use std::os::fd::RawFd;

#[derive(Clone, Copy, PartialEq, Eq)]
enum TaskState {
    /// Not set up yet.
    Setup,
    Waits,
    Idle,
}

/// The part of a task that other processes do not have.
pub struct Running {
    /// The user's state; None after a panic.
    body: Option<Box<dyn Task>>,
    state: TaskState,
    /// The reason to end, after a panic of a call-back that could not return one.
    failed: Option<Owned>,
    inner: TaskCell,
}

/// The part that the context of a call-back needs.
pub(crate) struct TaskCell {
    pub(super) definition: &'static Definition,
    /// Descriptors that the task watches.
    pub(super) watched: Vec<(RawFd, Interest)>,
    /// Watched descriptors that are ready and not reported yet.
    ready: VecDeque<(RawFd, Interest)>,
}

impl TaskCell {
    pub(super) fn unwatch(&mut self, fd: RawFd) {
        let before = self.watched.len();
        self.watched.retain(|watched| watched.0 != fd);
        self.ready.retain(|ready| ready.0 != fd);
        if self.watched.len() < before {
            host().forget_descriptor(fd);
        }
    }
}

impl Running {
    pub(super) fn new(definition: &'static Definition, body: Box<dyn Task>) -> Box<Running> {
        let inner = TaskCell { definition, watched: Vec::new(), ready: VecDeque::new() };
        Box::new(Running { body: Some(body), state: TaskState::Setup, failed: None, inner })
    }

    /// The task of a process, while none of its call-backs runs.
    fn of(p: &mut Process) -> Option<&mut Running> {
        p.rare().task.as_mut()?.downcast_mut()
    }

    /// As `of`, taken out of the process to run a call-back.
    pub(super) fn take(p: &mut Process) -> Option<Box<Running>> {
        p.rare().task.take()?.downcast().ok()
    }

    pub(super) fn has_panicked(&self) -> bool {
        self.body.is_none()
    }

    /// The poller reports a ready descriptor. Called between call-backs.
    pub(super) fn ready(p: &mut Process, fd: RawFd, interest: Interest) {
        let Some(task) = Running::of(p) else { return };
        let watched = &mut task.inner.watched;
        if let Some(at) = watched.iter().position(|watched| *watched == (fd, interest)) {
            watched.swap_remove(at);
            task.inner.ready.push_back((fd, interest));
        }
    }

    /// Runs a call-back that a signal brings, between others. `setup` comes before it.
    pub(super) fn request(
        &mut self,
        p: &mut Process,
        call: impl FnOnce(&mut dyn Task, &mut Context<'_>) -> TaskNext,
    ) -> Result<i64, Owned> {
        let setup = if self.state == TaskState::Setup { self.call(p, 0, |task, context| task.setup(context))? } else { 0 };
        Ok(setup + self.call(p, 0, call)?)
    }

    /// Calls one call-back and notes what the task does next. Returns the reductions used, or the reason of the task's end.
    fn call(&mut self, p: &mut Process, left: i64, call: impl FnOnce(&mut dyn Task, &mut Context<'_>) -> TaskNext) -> Result<i64, Owned> {
        let Some(body) = self.body.as_deref_mut() else { return Err(Owned::atom(heddle_term::am::UNDEFINED)) };
        let mut context = Context::new(p, &mut self.inner, left);
        let result = call_back(|| call(body, &mut context));
        let used = 1 + context.done();
        match result {
            Ok(TaskNext::Exit(reason)) => return Err(reason),
            Ok(TaskNext::Wait) => self.state = TaskState::Waits,
            Ok(TaskNext::Idle) => self.state = TaskState::Idle,
            Err(text) => {
                self.abandon();
                return Err(panic_reason(self.inner.definition, &text));
            }
        }
        Ok(used)
    }

    /// Frees the state after a panic. Nothing else may be done with it, as it may be inconsistent.
    fn abandon(&mut self) {
        let body = self.body.take();
        if call_back(|| drop(body)).is_err() {
            // The drop panicked as well. The first panic is the one reported.
        }
    }

    /// Does the next thing that the task must do. None if there is nothing.
    fn step(&mut self, p: &mut Process, left: i64) -> Option<Result<i64, Owned>> {
        if let Some(reason) = self.failed.take() {
            return Some(Err(reason));
        }
        if self.state == TaskState::Setup {
            return Some(self.call(p, left, |task, context| task.setup(context)));
        }
        if let Some((fd, interest)) = self.inner.ready.pop_front() {
            return Some(self.call(p, left, |task, context| task.handle_event(TaskEvent::Ready(fd, interest), context)));
        }
        if let Some(signal) = next_message(p) {
            let term = signal.body.message_term();
            // While a call-back on a private thread blocks, the shared heap may be collected, and the message that it has is not a root any
            // more.
            let is_bare = matches!(&signal.body, SignalBody::Message { data, .. } if data.is_bare());
            let may_move = memory_mode::sends_pointers() && is_bare && private_threads::current().is_some();
            let kept = may_move.then(|| Package::new(term));
            // The message is in the signal's memory, in that of `kept`, or in the process' heap:
            // SAFETY: nothing there moves or is freed before the call-back has returned.
            let message = unsafe { Value::new(kept.as_ref().map_or(term, Package::term)) };
            return Some(self.call(p, left, |task, context| task.handle_event(TaskEvent::Message(message), context)));
        }
        if p.timer.phase == ReceivePhase::Fired {
            sched::cancel_receive_timer(p);
            return Some(self.call(p, left, |task, context| task.handle_timeout(context)));
        }
        (self.state == TaskState::Idle).then(|| self.call(p, left, |task, context| task.idle(context)))
    }
}

/// `{task_panic, Type, Text}`
pub(super) fn panic_reason(definition: &Definition, text: &str) -> Owned {
    Owned::build(|b| b.tuple(&[b.name("task_panic"), b.name(definition.name), b.binary(text.as_bytes())]))
}

/// Takes the first message out of the queue.
fn next_message(p: &mut Process) -> Option<Box<Signal>> {
    p.messages.restart();
    if p.messages.is_empty() {
        return None;
    }
    if events::on(p.shared(), flags::TOKEN | flags::LONG_QUEUE) | p.messages.has_token() {
        seq::follow(p);
        if events::on(p.shared(), flags::LONG_QUEUE) {
            system_monitor::shrinks(p);
        }
    }
    p.messages.take()
}

/// Runs the task `p` until its slice is over, it waits or ends. Also returns the reductions left. Called by the engine's operation at which
/// all tasks stand.
pub fn slice(p: &mut Process, reductions: i64) -> (Outcome, i64) {
    let mut left = reductions;
    loop {
        if p.shared().state.has_signals() && handle::drain(p) == After::Exit {
            return (Outcome::Exit, left);
        }
        left -= std::mem::take(&mut p.extra_reductions) as i64;
        if p.suspend_count > 0 {
            return (Outcome::Suspended, left);
        }
        if left <= 0 {
            return (Outcome::Yield, left);
        }
        let mut task = Running::take(p).expect("a task");
        let step = task.step(p, left);
        let has_panicked = task.has_panicked();
        p.rare().task = Some(task);
        match step {
            Some(Ok(used)) => left -= used,
            Some(Err(reason)) => {
                fails(p, reason, has_panicked);
                return (Outcome::Exit, left);
            }
            None => {
                p.shared().state.clear_active();
                if !p.shared().state.has_signals() {
                    return (Outcome::Wait, left);
                }
            }
        }
    }
}

/// Prepares the end of the task, for this reason.
pub(super) fn fails(p: &mut Process, reason: Owned, has_panicked: bool) {
    p.exit_reason = reason.package().unpack(&mut p.heap);
    if has_panicked {
        exit::log_uncaught(p, ExceptionClass::Error);
    }
}

/// Ends a task whose `exit_reason` is set: runs `terminate`, and frees its state.
pub fn terminate(p: &mut Process) {
    p.flags &= !(FLAG_TASK | FLAG_ENDS);
    let Some(mut task) = Running::take(p) else { return };
    if let Some(mut body) = task.body.take() {
        // SAFETY: a root of the process, which is not collected meanwhile.
        let reason = unsafe { Value::new(p.exit_reason) }.keep();
        let mut context = Context::new(p, &mut task.inner, 0);
        let told = call_back(|| body.terminate(reason.value(), &mut context));
        task.body = Some(body);
        if let Err(text) = told {
            exit::log_of(p, "error", &format!("Task {} panicked in terminate: {text}", task.inner.definition.name));
        }
    }
    while let Some(&(fd, _)) = task.inner.watched.last() {
        task.inner.unwatch(fd);
    }
    let body = task.body.take();
    if let Err(text) = call_back(|| drop(body)) {
        exit::log_of(p, "error", &format!("Task {} panicked when it was freed: {text}", task.inner.definition.name));
    }
}

/// True if a task has nothing to do. None if the process is not a task.
pub fn is_waiting(p: &Process) -> Option<bool> {
    let task = p.rare_if_any()?.task.as_ref()?.downcast_ref::<Running>()?;
    let waits = task.state == TaskState::Waits && task.failed.is_none() && task.inner.ready.is_empty();
    Some(waits && p.messages.is_empty() && p.timer.phase != ReceivePhase::Fired)
}

/// Type and information of a process that is a task: `#{type, level, info}`. Called between call-backs.
pub fn info(p: &mut Process) -> Option<Owned> {
    let level = p.shared().state.load().level();
    let mut task = Running::take(p)?;
    let definition = task.inner.definition;
    let build = |body: Option<&dyn Task>| {
        Owned::build(|b: &Builder| {
            let info = body.map_or(b.atom(heddle_term::am::UNDEFINED), |body| body.handle_info(b));
            let level = b.integer(level.number() as i64);
            b.fields(&[("type", b.atom(Atom::new(definition.name))), ("level", level), ("info", info)])
        })
    };
    let told = call_back(|| build(task.body.as_deref()));
    let told = told.unwrap_or_else(|text| {
        // It ends in its next slice.
        task.abandon();
        task.failed = Some(panic_reason(definition, &text));
        build(None)
    });
    p.rare().task = Some(task);
    Some(told)
}
