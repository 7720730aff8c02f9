//! The operations that a call-back can use.

use super::guard::vm;
use super::run::{self, Running};
use super::value::{Builder, Owned, Pid, Value};
use crate::base::level::Level;
use crate::base::memory_mode;
use crate::base::refs;
use crate::base::refs::RefId;
use crate::lifecycle::exit;
use crate::process::Process;
use crate::process::host::{Interest, host};
use crate::process::links::{AliasMode, MonitorKind, Relations};
use crate::process::names;
use crate::sched::private_threads;
use crate::signal::send::{self, Sent};
use crate::trace::{events, flags};
use crate::{Package, sched};
use heddle_term::{Atom, Heap, Term};
use std::io;
use std::os::fd::RawFd;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// A monitor that a task started.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Monitor(pub(super) RefId);

/// The destination of a message.
pub enum To<'m> {
    Pid(Pid),
    Name(Atom),
    /// Any destination that `!` accepts: an alias, a port, `{Name, Node}`.
    Value(Value<'m>),
}

impl From<Pid> for To<'_> {
    fn from(pid: Pid) -> Self {
        To::Pid(pid)
    }
}
impl From<Atom> for To<'_> {
    fn from(name: Atom) -> Self {
        To::Name(name)
    }
}
impl<'m> From<Value<'m>> for To<'m> {
    fn from(value: Value<'m>) -> Self {
        To::Value(value)
    }
}

impl To<'_> {
    fn term(self) -> Term {
        match self {
            To::Pid(pid) => Term::local_pid(pid.0),
            To::Name(name) => name.into(),
            To::Value(value) => value.raw(),
        }
    }
}

/// Sends to a task from any thread, at any time. Such a message has no sender.
#[derive(Clone, Debug)]
pub struct Sender(u64);

impl Sender {
    /// Returns false if the task is gone.
    pub fn send(&self, message: Owned) -> bool {
        send::message_to_pid(self.0, message.package())
    }
}

/// The task, as its running call-back sees it.
pub struct Context<'a> {
    process: &'a mut Process,
    task: &'a mut run::TaskCell,
    left: i64,
    work: i64,
}

impl<'a> Context<'a> {
    pub(super) fn new(process: &'a mut Process, task: &'a mut run::TaskCell, left: i64) -> Context<'a> {
        Context { process, task, left, work: 0 }
    }
    pub(super) fn done(&self) -> i64 {
        self.work
    }

    pub fn me(&self) -> Pid {
        Pid(self.process.pid())
    }
    /// The process that started the task.
    pub fn parent(&self) -> Pid {
        Pid(self.process.parent)
    }
    /// The name of its type.
    pub fn name(&self) -> &'static str {
        self.task.definition.name
    }

    // ---- work ----

    /// Counts work: 1 is about that of a function call in Erlang, 1 µs at most. A call-back counts as 1 by itself.
    pub fn work(&mut self, reductions: usize) {
        self.work = self.work.saturating_add(reductions.min(1 << 30) as i64);
    }
    /// The reductions that are left of the slice. A call-back with more work than that returns `TaskNext::Idle` and does the rest later.
    pub fn budget(&self) -> usize {
        (self.left - self.work).max(0) as usize
    }
    /// Runs something that may block, in a task that has a thread of its own (in another task it holds up a scheduler). Work that waits for
    /// all threads, such as freeing retired memory, does not wait for this one meanwhile.
    pub fn blocking<R>(&mut self, f: impl FnOnce() -> R) -> R {
        // The runtime's code must not be unwound, so the panic is caught here and resumed in the call-back.
        let result = private_threads::out_of_sight(|| catch_unwind(AssertUnwindSafe(f)));
        result.unwrap_or_else(|payload| resume_unwind(payload))
    }
    pub fn level(&self) -> Level {
        self.process.shared().state.load().level()
    }
    /// Takes effect from the next slice on. Returns false if the type may not have this level.
    pub fn set_level(&mut self, level: Level) -> bool {
        let may = self.task.definition.may_have(level);
        if may {
            self.process.priority = level.class();
            self.process.shared().state.set_level(level);
        }
        may
    }

    // ---- messages ----

    /// `To ! Message`.
    pub fn send<'m>(&mut self, to: impl Into<To<'m>>, message: Value<'_>) -> Sent {
        let to = to.into().term();
        vm(|| {
            // The message may lie in memory that is freed before it is received. So it is always copied, to memory of its own.
            let heap = memory_mode::sends_pointers().then(|| std::mem::replace(&mut self.process.heap, Heap::new()));
            let sent = send::send(self.process, to, message.raw());
            if let Some(heap) = heap {
                std::mem::replace(&mut self.process.heap, heap).clear();
            }
            sent
        })
    }
    /// `To ! Message`, with a message made for it.
    pub fn tell<'m>(&mut self, to: impl Into<To<'m>>, build: impl for<'b> FnOnce(&'b Builder) -> Value<'b>) -> Sent {
        let builder = Builder::default();
        let message = build(&builder);
        self.send(to, message)
    }
    /// A sender for other threads.
    pub fn sender(&self) -> Sender {
        Sender(self.process.pid())
    }

    // ---- time ----

    /// Sets the one timer of the task. `handle_timeout` is called when the time (in whole milliseconds, rounded up; at least one, at most
    /// 49 days) has passed, unless the timer is set again or cancelled before.
    pub fn set_timer(&mut self, time: Duration) {
        let ms = time.as_nanos().div_ceil(1_000_000).clamp(1, u32::MAX as u128) as u64;
        vm(|| {
            sched::cancel_receive_timer(self.process);
            sched::set_receive_timer(self.process, ms);
        });
    }
    pub fn cancel_timer(&mut self) {
        vm(|| sched::cancel_receive_timer(self.process));
    }

    // ---- relations ----

    pub fn link(&mut self, other: Pid) {
        // If the other is gone the task gets an exit signal.
        let _ = vm(|| send::link(self.process, Term::local_pid(other.0)));
    }
    pub fn unlink(&mut self, other: Pid) {
        vm(|| send::unlink(self.process, Term::local_pid(other.0)));
    }
    /// When the other ends, the task gets the message `{'DOWN', Reference, process, Pid, Reason}`.
    pub fn monitor(&mut self, other: Pid) -> Monitor {
        let id = refs::fresh();
        vm(|| send::monitor(self.process, MonitorKind::Process, Term::local_pid(other.0), None, id, AliasMode::None, None));
        Monitor(id)
    }
    /// As `monitor`, with a reference that the caller chose.
    pub fn monitor_as(&mut self, id: RefId, other: Term) {
        vm(|| send::monitor(self.process, MonitorKind::Process, other, None, id, AliasMode::None, None));
    }
    /// Removes the monitor with this reference. Returns false if it is not there any more.
    pub fn demonitor_as(&mut self, id: RefId) -> bool {
        vm(|| send::demonitor(self.process, id))
    }
    /// Ends the link with the process or port, if there is one.
    pub fn unlink_from(&mut self, other: Term) {
        vm(|| send::unlink(self.process, other));
    }
    /// Returns false if the monitor is not there any more. A 'DOWN' that has arrived already is still handled.
    pub fn demonitor(&mut self, monitor: Monitor) -> bool {
        vm(|| send::demonitor(self.process, monitor.0))
    }
    /// As `exit/2`.
    pub fn exit(&mut self, other: Pid, reason: Value<'_>) {
        vm(|| send::exit_signal(self.process, Term::local_pid(other.0), reason.raw()));
    }
    /// If on, exit signals arrive as messages `{'EXIT', From, Reason}` instead of ending the task.
    pub fn trap_exits(&mut self, on: bool) {
        self.process.trap_exit = on;
    }
    /// Returns false if the name is taken or is `undefined`, or if the task has one.
    pub fn register(&mut self, name: Atom) -> bool {
        let shared = self.process.proc_ref();
        vm(|| {
            let mine = name != heddle_term::am::UNDEFINED
                && shared.name.compare_exchange(0, name.index() + 1, Ordering::AcqRel, Ordering::Acquire).is_ok();
            if mine && !names::register(name, shared.pid_term()) {
                shared.name.store(0, Ordering::Release);
                return false;
            }
            if mine && events::on(&shared, flags::PROCS) {
                events::event(&shared, flags::PROCS, "register", &[name.into()]);
            }
            mine
        })
    }

    // ---- for ports ----

    /// The links and monitors of the task.
    pub fn relations(&mut self) -> &mut Relations {
        &mut self.process.relations
    }
    /// Ends the task for all others, with this reason: its name goes, links and monitors fire. It lives on, and ends later.
    pub fn sever(&mut self, reason: &Owned) {
        vm(|| exit::sever(self.process, reason.value().raw()));
    }
    pub fn registered_name(&self) -> Option<Atom> {
        let name = self.process.shared().name.load(Ordering::Acquire);
        (name != 0).then(|| Atom::from_index(name - 1))
    }
    /// In `terminate`: sends a message after the exit signals.
    pub fn last_words(&mut self, to: u64, message: Package) {
        self.process.rare().last_words = Some((to, message));
    }

    // ---- descriptors ----

    /// Reports once, as `TaskEvent::Ready`, when the descriptor is ready. The task still owns it and must close it, after `unwatch`. At the
    /// task's end all watches end before its state is dropped. Not for descriptors that ports have.
    pub fn watch(&mut self, fd: RawFd, interest: Interest) -> io::Result<()> {
        let pid = self.process.pid();
        vm(|| {
            self.task.watched.retain(|watched| *watched != (fd, interest));
            self.task.watched.push((fd, interest));
            let ready = Arc::new(move || {
                send::call_in(pid, move |task| {
                    if let Some(task) = task {
                        Running::ready(task, fd, interest);
                    }
                });
            });
            let result = host().watch_descriptor(fd, interest, ready);
            if result.is_err() {
                self.task.watched.retain(|watched| *watched != (fd, interest));
            }
            result
        })
    }
    /// Forgets both interests in a descriptor, and that it is ready.
    pub fn unwatch(&mut self, fd: RawFd) {
        vm(|| self.task.unwatch(fd));
    }
}
