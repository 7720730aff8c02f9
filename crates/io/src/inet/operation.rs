//! Operations of sockets: how they are asked for, their time limits, and what they do to the port.

use super::caller::Caller;
use super::deadline::Deadline;
use super::reason::Reply;
use super::socket::Socket;
use crate::ports::driver::{After, Driver};
use crate::ports::port::Port;
use heddle_runtime::send::call_in;
use heddle_runtime::task::{Context, Owned};
use heddle_term::{Term, am};
use std::sync::Arc;

/// The number that `prim_inet` adds to each operation.
const MAGIC: u32 = 0x03f1_a300;
/// The time of an operation without a limit.
pub const FOREVER: u32 = u32::MAX;

/// What both sorts of sockets do.
pub trait Inet: Driver + Sized {
    fn socket(&mut self) -> &mut Socket;

    /// Fails the operations whose deadline is this time or earlier. Returns the earliest deadline of the others.
    fn expire(&mut self, port: &Arc<Port>, now: Deadline) -> Deadline;

    fn request(&mut self, port: &Arc<Port>, caller: u64, operation: u32, data: &[u8]) -> Reply;

    /// `port_control`: the reply is `[1 | Reply]` or `[0 | Reason]`.
    fn answer(&mut self, port: &Arc<Port>, caller: u64, operation: u32, data: &[u8]) -> Vec<u8> {
        let (code, mut answer) = match self.request(port, caller, operation.wrapping_sub(MAGIC), data) {
            Ok(reply) => (1, reply),
            Err(reason) => (0, reason.as_bytes().to_vec()),
        };
        answer.insert(0, code);
        answer
    }

    /// Called after everything that the socket does: it may set the timer, and end the port.
    fn after(&mut self, port: &Port, context: &mut Context<'_>) -> After {
        self.socket().timer.update(context);
        let Some(reason) = self.socket().ends_port.take() else { return After::Continue };
        if reason == am::NORMAL {
            unlink_owner(port, context);
        }
        After::End(Owned::atom(reason))
    }

    /// The timer has fired.
    fn time_passed(&mut self, port: &Arc<Port>, context: &mut Context<'_>) -> After {
        self.socket().timer.fired();
        let next = self.expire(port, Deadline::now());
        self.socket().timer.want(next);
        self.after(port, context)
    }

    /// Makes the reference of an operation. The operation fails after `time` ms, unless it is answered before.
    fn call(&mut self, pid: u64, time: u32) -> Caller {
        let socket = self.socket();
        let deadline = if time == FOREVER { Deadline::NEVER } else { Deadline::after(time as u64) };
        socket.timer.want(deadline);
        Caller { pid, reference: socket.next_reference(), deadline }
    }
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
