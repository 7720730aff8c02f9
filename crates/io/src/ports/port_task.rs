//! The task that runs a port: its state, and what it has its driver do. Only the task touches this state, so there is no lock.

use super::channel::Channel;
use super::data::Data;
use super::driver::{After, Driver};
use super::flush::Unfinished;
use super::message::Delayed;
use super::poll::Interest;
use super::port::Port;
use crate::ports::tracing;
use heddle_runtime::links::Link;
use heddle_runtime::send::deliver;
use heddle_runtime::signal::{Signal, SignalBody};
use heddle_runtime::task::{Builder, Context, Definition, Owned, Task, TaskEvent, TaskNext, Value};
use heddle_runtime::trace::flags;
use heddle_runtime::{Package, proctab};
use heddle_term::{Atom, Heap, Term, am};
use std::any::Any;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The type of the task. It is not registered: only `open_port` starts such tasks.
pub static TYPE: Definition = Definition::new("port", |_| Err(Owned::atom(am::BADARG)));

pub struct PortTask {
    pub(super) port: Arc<Port>,
    driver: Box<dyn Driver>,
    /// The reason for which the port has closed. Processes know it already; the port only waits until what is outstanding is written.
    closing: Option<Owned>,
    /// Set while the VM halts: it ends when the last `Unfinished` is dropped.
    pub(super) unsent: Option<Unfinished>,
    /// The port was killed: what is outstanding is not written.
    discards: bool,
    /// The owner asked the port by a message to close, and gets `{Port, closed}`.
    tells_owner: bool,
    /// Messages that wait because the driver says that the port is busy.
    pub(super) delayed: VecDeque<Delayed>,
    /// The connection to another node that it carries.
    channel: Option<Arc<dyn Channel>>,
}

impl PortTask {
    pub fn new(port: Arc<Port>, driver: Box<dyn Driver>) -> PortTask {
        PortTask { port, driver, closing: None, unsent: None, discards: false, tells_owner: false, delayed: VecDeque::new(), channel: None }
    }

    /// Calls the driver, and does what it says about the port.
    fn drive(&mut self, context: &mut Context<'_>, f: impl FnOnce(&mut dyn Driver, &Arc<Port>, &mut Context<'_>) -> After) -> TaskNext {
        let after = f(&mut *self.driver, &self.port, context);
        self.then(after, context)
    }

    fn then(&mut self, after: After, context: &mut Context<'_>) -> TaskNext {
        let is_over = matches!(after, After::End(_)) || self.driver.outstanding() == 0;
        if let Some(reason) = self.closing.take_if(|_| is_over) {
            return TaskNext::Exit(reason);
        }
        match after {
            After::Continue => TaskNext::Wait,
            After::Close(reason) => self.close(reason, false, context),
            After::End(reason) => TaskNext::Exit(reason),
        }
    }

    /// Calls `f` with the port's driver, if it is one of type `D`.
    pub fn with<D: Driver>(
        &mut self,
        context: &mut Context<'_>,
        f: impl FnOnce(&mut D, &Arc<Port>, &mut Context<'_>) -> After,
    ) -> TaskNext {
        self.drive(context, |driver, port, context| {
            let any: &mut dyn Any = driver;
            any.downcast_mut::<D>().map_or(After::Continue, |driver| f(driver, port, context))
        })
    }

    /// The port carries a channel from now on. False if its driver cannot, or the port is closing.
    pub(super) fn carry(&mut self, channel: Arc<dyn Channel>) -> bool {
        let carries = self.closing.is_none() && self.driver.carry(channel.clone());
        if carries {
            self.channel = Some(channel);
        }
        carries
    }

    /// The channel may have packets to write.
    pub(super) fn pump(&mut self, context: &mut Context<'_>) -> TaskNext {
        self.drive(context, |driver, port, context| driver.pump(port, context))
    }

    pub(super) fn driver_bytes(&self) -> usize {
        size_of_val(&*self.driver)
    }

    /// Bytes that are queued for the driver.
    pub(super) fn queued(&self) -> usize {
        self.driver.queued()
    }

    /// The poller reports that a descriptor of the driver is ready.
    pub(super) fn ready(&mut self, interest: Interest, context: &mut Context<'_>) -> TaskNext {
        tracing::polled(self.port.term(), || self.drive(context, |driver, port, context| driver.ready(port, interest, context)))
    }

    /// Data from a process. False if the port takes no data any more.
    pub fn command_from(&mut self, from: Term, data: Data, context: &mut Context<'_>) -> (bool, TaskNext) {
        let port = self.port.clone();
        tracing::scheduled(port.term(), "command", || {
            tracing::received(port.term(), from, |heap| {
                let data = data.term(heap);
                heap.tuple(&[Atom::new("command").into(), data])
            });
            self.command(Some(from.payload()), data, context)
        })
    }

    /// Data for the driver, from a process or (None: the port is a tracer) from the runtime. False if the port takes no data any more.
    pub fn command(&mut self, from: Option<u64>, data: Data, context: &mut Context<'_>) -> (bool, TaskNext) {
        if self.closing.is_some() {
            return (false, TaskNext::Wait);
        }
        match self.driver.command_in_parts(&self.port, from, data, context) {
            Some(after) => (true, self.then(after, context)),
            None => (false, TaskNext::Wait),
        }
    }

    /// `port_control`: the reply, and true if it becomes a binary. None: the driver knows no such operation.
    pub fn control(&mut self, caller: u64, operation: u32, data: &[u8], context: &mut Context<'_>) -> (Option<(Vec<u8>, bool)>, TaskNext) {
        let (port, me) = (self.port.term(), Term::local_pid(caller));
        let named = |heap: &mut Heap, what: Term| heap.tuple(&[Atom::new("control").into(), what]);
        tracing::received(port, me, |heap| {
            let (operation, data) = (heap.unsigned(operation as u64), heap.binary(data));
            let what = heap.tuple(&[operation, data]);
            named(heap, what)
        });
        let mut reply: Option<(Vec<u8>, bool)> = None;
        let next = self.drive(context, |driver, port, context| {
            let (answer, after) = driver.control(port, caller, operation, data, context);
            reply = answer.map(|answer| (answer, driver.replies_in_binary()));
            after
        });
        if let Some((reply, _)) = &reply {
            tracing::sent_of(port, caller, |heap| {
                let reply = heap.binary(reply);
                let reply = named(heap, reply);
                heap.tuple(&[port, reply])
            });
        }
        (reply, next)
    }

    /// `port_call`; None: the driver knows no such operation.
    pub fn call(&mut self, caller: u64, operation: u32, data: &[u8], context: &mut Context<'_>) -> (Option<Vec<u8>>, TaskNext) {
        let (port, me) = (self.port.term(), Term::local_pid(caller));
        let named = |heap: &mut Heap, what: Term| heap.tuple(&[Atom::new("call").into(), what]);
        tracing::received(port, me, |heap| {
            let (operation, data) = (heap.unsigned(operation as u64), heap.binary(data));
            let what = heap.tuple(&[operation, data]);
            named(heap, what)
        });
        let mut reply: Option<Vec<u8>> = None;
        let next = self.drive(context, |driver, port, context| {
            let (answer, after) = driver.port_call(port, caller, operation, data, context);
            reply = answer;
            after
        });
        if let Some(reply) = &reply {
            tracing::sent_of(port, caller, |heap| {
                let reply = heap.binary(reply);
                let reply = named(heap, reply);
                heap.tuple(&[port, reply])
            });
        }
        (reply, next)
    }

    /// Sets the owner, for a message `{Owner, {connect, NewOwner}}`. `port_connect` also links the new owner.
    pub(super) fn set_owner(&self, owner: Term) {
        // Release: pairs with `Port::owner`.
        self.port.owner.store(owner.payload(), Ordering::Release);
    }

    /// `port_connect` by this process.
    pub(super) fn connect_by(&mut self, from: Term, owner: Term, context: &mut Context<'_>) -> (bool, TaskNext) {
        if self.closing.is_some() {
            return (false, TaskNext::Wait);
        }
        let port = self.port.term();
        tracing::event(port, flags::PORTS, "getting_linked", &[owner]);
        tracing::received(port, from, |heap| heap.tuple(&[Atom::new("connect").into(), owner]));
        let before = self.port.owner();
        self.set_owner(owner);
        // In stock a tracer sees this message, which is not sent.
        tracing::sent_of(port, before, |heap| heap.tuple(&[port, Atom::new("connected").into()]));
        context.relations().make().links.insert(owner, Link { active: true, unlinking: 0 });
        if let Some(to) = proctab::find(owner) {
            let _ = deliver(to, Signal::new(SignalBody::Link { from: port }));
        }
        (true, TaskNext::Wait)
    }

    /// A process closes the port: by `port_close`, or its owner by a message.
    pub fn close_by(&mut self, from: Term, tells_owner: bool, context: &mut Context<'_>) -> (bool, TaskNext) {
        if self.closing.is_some() {
            return (false, TaskNext::Wait);
        }
        tracing::received(self.port.term(), from, |_| Atom::new("close").into());
        (true, self.close(Owned::atom(am::NORMAL), tells_owner, context))
    }

    /// The port closes, for `reason`. Queued data still goes out, unless it is discarded. Until then the port exists, but no process is
    /// linked to it any more.
    pub fn close(&mut self, reason: Owned, tells_owner: bool, context: &mut Context<'_>) -> TaskNext {
        if self.closing.is_some() {
            return TaskNext::Wait;
        }
        self.tells_owner = tells_owner;
        if self.driver.outstanding() == 0 || self.discards {
            return TaskNext::Exit(reason);
        }
        self.driver.drain(&self.port, context);
        if self.driver.outstanding() == 0 {
            return TaskNext::Exit(reason);
        }
        context.sever(&reason);
        self.port.gate.close();
        self.closing = Some(reason);
        TaskNext::Wait
    }
}

impl Task for PortTask {
    fn setup(&mut self, context: &mut Context<'_>) -> TaskNext {
        self.drive(context, |driver, port, context| driver.start(port, context))
    }

    /// Ports receive requests; the only messages are those of monitors.
    fn handle_event(&mut self, event: TaskEvent<'_>, context: &mut Context<'_>) -> TaskNext {
        match event {
            TaskEvent::Message(message) => self.drive(context, |driver, port, context| driver.message(port, message, context)),
            TaskEvent::Ready(..) => TaskNext::Wait,
        }
    }

    fn handle_timeout(&mut self, context: &mut Context<'_>) -> TaskNext {
        tracing::event(self.port.term(), flags::RECEIVE, "receive", &[Atom::new("timeout").into()]);
        self.drive(context, |driver, port, context| driver.timeout(port, context))
    }

    /// An exit signal: of `exit/2`, or (`linked`) because a linked process ended. Only the normal end of a process that is not the owner leaves the
    /// port alone. A linked process that called `exit/2` is still linked, and gets an exit signal when the port ends.
    fn handle_exit(&mut self, from: Value<'_>, reason: Value<'_>, linked: bool, context: &mut Context<'_>) -> TaskNext {
        // SAFETY: compared at once.
        let from_owner = unsafe { from.term() } == Term::local_pid(self.port.owner());
        if linked && !from_owner && reason.is("normal") {
            return TaskNext::Wait;
        }
        if !reason.is("kill") {
            return self.close(reason.keep(), false, context);
        }
        self.discards = true;
        self.close(Owned::atom(am::KILLED), false, context)
    }

    fn handle_info<'b>(&self, build: &'b Builder) -> Value<'b> {
        build.fields(&[("name", build.binary(self.port.label.as_bytes())), ("queue_size", build.integer(self.queued() as i64))])
    }

    fn terminate(&mut self, reason: Value<'_>, context: &mut Context<'_>) {
        let (port, owner) = (self.port.term(), self.port.owner());
        self.driver.close(&self.port, self.discards);
        if let Some(channel) = self.channel.take() {
            // SAFETY: used before this returns.
            channel.ended(unsafe { reason.term() });
        }
        super::forget(self.port.id);
        self.port.gate.close();
        // SAFETY: used before this returns.
        tracing::event(port, flags::PORTS, "closed", &[unsafe { reason.term() }]);
        if let Some(name) = context.registered_name() {
            tracing::event(port, flags::PORTS, "unregister", &[name.into()]);
        }
        let closed: Term = Atom::new("closed").into();
        if self.tells_owner {
            // Before `tracing::forget`, which makes the port untraced. Tracers see the bare atom, as in stock.
            tracing::sent(port, owner, closed);
            // After the exit signals, as in stock.
            context.last_words(owner, Package::build(|heap| heap.tuple(&[port, closed])));
        }
        tracing::forget(port);
        // Last: this may end the VM.
        self.unsent = None;
    }
}
