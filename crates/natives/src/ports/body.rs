//! The task that a port is: its state, and what it does. Only the task touches it, so there is no lock.

use super::flush::Unsent;
use super::output::Output;
use super::poll::{self, Interest};
use super::port::Port;
use super::ram_file::RamFile;
use super::trace_file::TraceFile;
use crate::inet::resolver::Resolver;
use crate::inet::{self, Tcp};
use crate::trace::ports;
use heddle_runtime::links::Link;
use heddle_runtime::send::deliver;
use heddle_runtime::signal::{Body as Signals, Signal};
use heddle_runtime::task::{Builder, Context, Definition, Event, Next, Owned, Task, Value};
use heddle_runtime::trace::flags;
use heddle_runtime::{Package, proctab};
use heddle_term::{Atom, Term, am};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Not registered: `open_port` starts these.
pub static TYPE: Definition = Definition::new("port", |_| Err(Owned::atom(am::BADARG)));

pub enum Driver {
    /// A file in memory.
    Ram(RamFile),
    /// Takes trace messages.
    TraceFile(TraceFile),
    /// A stream socket.
    Tcp(Box<Tcp>),
    /// Names of hosts.
    Resolver(Box<Resolver>),
}

pub struct Body {
    pub(super) port: Arc<Port>,
    /// The driver, where the port is neither a program nor descriptors.
    pub(super) driver: Option<Driver>,
    pub(super) input: Option<OwnedFd>,
    pub(super) buffer: Vec<u8>,
    pub(super) input_ended: bool,
    /// It only has output: as in stock it is not told when its program ends, and ends when output fails.
    pub(super) is_output_only: bool,
    /// `eof` was sent, or there never was any input.
    pub(super) end_told: bool,
    /// The program ended with this status, not reported yet because input is left.
    pub(super) status: Option<i32>,
    pub(super) output: Output,
    /// It closed for this reason, as others know; only what is queued still goes out.
    pub(super) closing: Option<Owned>,
    /// The machine halts when it has ended.
    pub(super) unsent: Option<Unsent>,
    /// It was killed: what is queued does not go out.
    discards: bool,
    /// The owner asked it to close by a message.
    tells_owner: bool,
}

impl Body {
    pub fn new(port: Arc<Port>, driver: Option<Driver>, input: Option<OwnedFd>, output: Option<OwnedFd>) -> Body {
        Body {
            port,
            driver,
            buffer: Vec::new(),
            input_ended: input.is_none(),
            is_output_only: input.is_none(),
            end_told: input.is_none(),
            input,
            status: None,
            output: Output::new(output),
            closing: None,
            unsent: None,
            discards: false,
            tells_owner: false,
        }
    }

    /// The poller says so.
    pub(super) fn ready(&mut self, interest: Interest, context: &mut Context<'_>) -> Next {
        if let Some(Driver::Tcp(_)) = self.driver {
            return self.with_tcp(context, |tcp, port| tcp.ready(port, interest));
        }
        match interest {
            Interest::Read => self.readable(context),
            Interest::Write => self.writable(),
        }
    }

    /// Does something with the socket, which may end the port.
    pub fn with_tcp(&mut self, context: &mut Context<'_>, f: impl FnOnce(&mut Tcp, &Arc<Port>)) -> Next {
        let Some(Driver::Tcp(tcp)) = &mut self.driver else { return Next::Wait };
        f(tcp, &self.port);
        let ended = tcp.ends_port.take();
        let Some(reason) = ended else { return Next::Wait };
        if reason == am::NORMAL {
            inet::unlink_owner(&self.port, context);
        }
        Next::Exit(Owned::atom(reason))
    }

    /// An operation of the driver could not be done: the port ends.
    pub(super) fn fail(error: &std::io::Error) -> Next {
        let name = crate::errno::name(error.raw_os_error().unwrap_or(libc::EIO));
        Next::Exit(Owned::atom(Atom::new(name)))
    }

    /// `port_control`; None: the driver knows no such operation.
    pub fn control(&mut self, caller: u64, operation: u32, data: &[u8], context: &mut Context<'_>) -> (Option<Vec<u8>>, Next) {
        match &mut self.driver {
            Some(Driver::Tcp(_)) => {
                let mut reply = None;
                let next = self.with_tcp(context, |tcp, port| reply = Some(tcp.control(port, caller, operation, data)));
                (reply, next)
            }
            Some(Driver::TraceFile(file)) if operation == 'f' as u32 => match file.flush() {
                Ok(()) => (Some(vec![0]), Next::Wait),
                Err(error) => (Some(vec![0]), Body::fail(&error)),
            },
            _ => (None, Next::Wait),
        }
    }

    /// By a message; `port_connect` links it as well.
    pub(super) fn set_owner(&self, owner: Term) {
        // Release: pairs with `Port::owner`.
        self.port.owner.store(owner.payload(), Ordering::Release);
    }

    /// `port_connect` by this process.
    pub(super) fn connect_by(&mut self, from: Term, owner: Term, context: &mut Context<'_>) -> (bool, Next) {
        if self.closing.is_some() {
            return (false, Next::Wait);
        }
        let port = self.port.term();
        ports::received(port, from, |heap| heap.tuple(&[Atom::new("connect").into(), owner]));
        self.set_owner(owner);
        context.relations().make().links.insert(owner, Link { active: true, unlinking: 0 });
        if let Some(to) = proctab::find(owner) {
            let _ = deliver(to, Signal::new(Signals::Link { from: port }));
        }
        (true, Next::Wait)
    }

    /// The port closes, for `reason`. Queued data still goes out, unless it is discarded. Until then the port exists, but no process is
    /// linked to it any more.
    pub fn close(&mut self, reason: Owned, tells_owner: bool, context: &mut Context<'_>) -> Next {
        if self.closing.is_some() {
            return Next::Wait;
        }
        self.tells_owner = tells_owner;
        if self.output.is_empty() || self.discards {
            return Next::Exit(reason);
        }
        if let Some(input) = self.input.take() {
            poll::forget(input.as_raw_fd());
        }
        context.sever(&reason);
        self.port.gate.close();
        self.closing = Some(reason);
        Next::Wait
    }

    /// A set of trace files that changes by the clock.
    pub(super) fn change_files_by_time(&self, context: &mut Context<'_>) {
        if let Some(Driver::TraceFile(file)) = &self.driver
            && let Some(ms) = file.period_ms()
        {
            context.set_timer(Duration::from_millis(ms));
        }
    }
}

impl Task for Body {
    fn setup(&mut self, context: &mut Context<'_>) -> Next {
        self.change_files_by_time(context);
        self.await_input();
        Next::Wait
    }

    /// A port gets no messages, only requests.
    fn handle_event(&mut self, _: Event<'_>, _: &mut Context<'_>) -> Next {
        Next::Wait
    }

    fn handle_timeout(&mut self, context: &mut Context<'_>) -> Next {
        let Some(Driver::TraceFile(file)) = &mut self.driver else { return Next::Wait };
        match file.next_file() {
            Ok(()) => {
                self.change_files_by_time(context);
                Next::Wait
            }
            Err(error) => Body::fail(&error),
        }
    }

    /// An exit signal: of `exit/2`, or (`linked`) because a process ended. Only the normal end of a process that is not the owner leaves
    /// the port alone. A linked process that called `exit/2` is still linked, and gets an exit signal when the port ends.
    fn handle_exit(&mut self, from: Value<'_>, reason: Value<'_>, linked: bool, context: &mut Context<'_>) -> Next {
        // SAFETY: compared at once.
        let from_owner = unsafe { from.term() } == Term::local_pid(self.port.owner());
        if linked && !from_owner && reason.is("normal") {
            return Next::Wait;
        }
        if !reason.is("kill") {
            return self.close(reason.keep(), false, context);
        }
        self.discards = true;
        self.close(Owned::atom(am::KILLED), false, context)
    }

    fn handle_info<'b>(&self, build: &'b Builder) -> Value<'b> {
        build.fields(&[("name", build.binary(self.port.label.as_bytes())), ("queue_size", build.integer(self.output.bytes() as i64))])
    }

    fn terminate(&mut self, reason: Value<'_>, context: &mut Context<'_>) {
        let (port, owner) = (self.port.term(), self.port.owner());
        for fd in [self.input.take(), self.output.take()].into_iter().flatten() {
            poll::forget(fd.as_raw_fd());
        }
        match &mut self.driver {
            Some(Driver::TraceFile(file)) => {
                let _ = file.flush();
            }
            Some(Driver::Tcp(tcp)) => tcp.close(&self.port, self.discards),
            _ => {}
        }
        super::forget(self.port.id);
        self.port.gate.close();
        // SAFETY: used before this returns.
        ports::event(port, flags::PORTS, "closed", &[unsafe { reason.term() }]);
        let closed: Term = Atom::new("closed").into();
        if self.tells_owner {
            // Before `ports::forget`, which makes the port untraced. Tracers see the bare atom, as in stock.
            ports::sent(port, owner, closed);
            // After the exit signals, as in stock.
            context.last_words(owner, Package::build(|heap| heap.tuple(&[port, closed])));
        }
        ports::forget(port);
        // Last: this may end the VM.
        self.unsent = None;
    }
}
