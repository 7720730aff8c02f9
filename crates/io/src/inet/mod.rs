//! The driver `tcp_inet`: stream sockets, as `prim_inet` speaks to them (and so `gen_tcp` and `inet` above it). Requests come as
//! `port_control` with an operation and bytes, and data to send as `port_command`. An operation that takes time is answered by a message
//! `{inet_async, Port, Reference, Result}`. UDP, SCTP and the `socket` module are not there.
//!
//! A socket is a port whose driver is a `Tcp`. The port's task does all of its work, so its messages are in the order of the bytes.

pub(crate) mod address;
mod connection;
mod input;
mod options;
mod output;
pub mod resolver;
mod tcp;

use crate::ports::driver::{DriverEntry, DriverName};
use crate::ports::port::Port;
use heddle_runtime::send::{build_message, call_in};
use heddle_runtime::task::Context;
use heddle_term::{Atom, Heap, Term, am};
use std::sync::{Arc, Weak};

use tcp::Tcp;

const NAME: &str = "tcp_inet";

pub const ENTRY: DriverEntry = DriverEntry {
    is_meant: |name| matches!(name, DriverName::Command(command) if *command == NAME.as_bytes()),
    open: |_, _| Ok(Box::new(Tcp::default())),
};

/// Calls `f` with the socket after `ms` milliseconds, if the socket still exists.
fn later(port: Weak<Port>, ms: u64, f: impl FnOnce(&mut Tcp, &Arc<Port>) + Send + 'static) {
    heddle_runtime::sched::after(ms, move || {
        if let Some(port) = port.upgrade() {
            port.request(move |task, context| {
                task.with::<Tcp>(context, |tcp, port, context| {
                    f(tcp, port);
                    tcp.after(port, context)
                })
            });
        }
    });
}

/// Removes the link between port and owner: the owner has been told that the connection ended, and must not get an exit signal as well.
fn unlink_owner(port: &Port, context: &mut Context<'_>) {
    let (term, owner) = (port.term(), port.owner());
    if let Some(inner) = context.relations().get_mut() {
        inner.links.remove(&Term::local_pid(owner));
    }
    call_in(owner, move |owner| {
        if let Some(inner) = owner.and_then(|owner| owner.relations.get_mut()) {
            inner.links.remove(&term);
        }
    });
}

/// The error part of `{error, Reason}`.
type Reason = &'static str;

fn last_error() -> Reason {
    name_of(&std::io::Error::last_os_error())
}

fn name_of(error: &std::io::Error) -> Reason {
    crate::errno::name(error.raw_os_error().unwrap_or(libc::EIO))
}

/// A process that waits for the result of an operation.
#[derive(Clone, Copy)]
struct Caller {
    pid: u64,
    reference: u16,
}

impl Caller {
    /// `{inet_async, Port, Reference, Result}`; false when the caller is gone.
    fn tell(self, port: &Port, result: impl FnOnce(&mut Heap) -> Term) -> bool {
        build_message(self.pid, |heap| {
            let result = result(heap);
            heap.tuple(&[Atom::new("inet_async").into(), port.term(), Term::small(self.reference as i64), result])
        })
    }
    fn ok(self, port: &Port) -> bool {
        self.tell(port, |_| am::OK.into())
    }
    fn fail(self, port: &Port, reason: Reason) -> bool {
        self.tell(port, |heap| error(heap, reason))
    }
}

fn error(heap: &mut Heap, reason: Reason) -> Term {
    heap.tuple(&[am::ERROR.into(), Atom::new(reason).into()])
}
