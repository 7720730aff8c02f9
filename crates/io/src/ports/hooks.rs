//! What the runtime does with ports beyond what it does with every process: messages to ports, and the bytes of tracers that are ports.

use super::find;
use super::message::{Delayed, PortMessage, parse};
use super::port::Port;
use super::port_task::PortTask;
use crate::ports::tracing;
use heddle_runtime::process::{FLAG_AT_PORT, Process, Thrown};
use heddle_runtime::send::{call_in, send_exit};
use heddle_runtime::task::{self, Context, TaskNext};
use heddle_runtime::trace::flags;
use heddle_runtime::{proctab, system_monitor};
use heddle_term::{Atom, Term, am};
use std::sync::Arc;

/// Sends a message like `Port ! {Owner, {command, Data}}`. If anything in it is wrong, the port's owner gets an exit signal `badsig`, as in
/// stock. Returns false if the port is busy and the sender must wait.
pub fn send(p: &mut Process, port: Term, message: Term, wait: bool) -> bool {
    p.flags &= !FLAG_AT_PORT;
    let Some(port) = find(port) else { return true };
    if wait && port.gate.is_shut() && is_command(message) {
        return false;
    }
    let request = parse(message, port.takes_parts);
    let bytes = match &request {
        Some((_, PortMessage::Command(data))) => data.bytes.len(),
        _ => 0,
    };
    p.bump(bytes / 200);
    let from = p.pid_term();
    let request = move |task: &mut PortTask, context: &mut Context<'_>| task.message_in_turn(Delayed { from, request }, context);
    let Some(task) = proctab::lookup(port.identity()) else { return true };
    if let Some(mut entered) = task::try_now(task) {
        if let Some(task) = entered.process() {
            task::call(task, request);
        }
        return true;
    }
    port.gate.sent(bytes);
    call_in(port.identity(), move |task| {
        port.gate.arrived(bytes);
        if let Some(task) = task {
            task::call(task, request);
        }
    });
    true
}

fn is_command(message: Term) -> bool {
    let what = message.as_tuple().and_then(|message| message.get(1)?.as_tuple());
    what.is_some_and(|what| what.first().is_some_and(|kind| kind.is_atom_of(Atom::new("command"))))
}

impl PortTask {
    /// Does what a message asks for. While the driver says that the port is busy, commands that were on their way already wait, and so does what
    /// comes after them from the same sender.
    fn message_in_turn(&mut self, message: Delayed, context: &mut Context<'_>) -> TaskNext {
        let is_command = matches!(message.request, Some((_, PortMessage::Command(_))));
        if self.port.gate.is_held() && (is_command || self.delayed.iter().any(|earlier| earlier.from == message.from)) {
            self.delayed.push_back(message);
            return TaskNext::Wait;
        }
        self.message_now(message, context)
    }

    /// The port is not busy any more: does what waited.
    pub(super) fn catch_up(&mut self, context: &mut Context<'_>) -> TaskNext {
        while !self.port.gate.is_held()
            && let Some(message) = self.delayed.pop_front()
        {
            let next = self.message_now(message, context);
            if matches!(next, TaskNext::Exit(_)) {
                return next;
            }
        }
        TaskNext::Wait
    }

    fn message_now(&mut self, message: Delayed, context: &mut Context<'_>) -> TaskNext {
        let Delayed { from, request } = message;
        let (taken, next) = request.map_or((false, TaskNext::Wait), |(owner, request)| self.message(from, owner, request, context));
        if !taken {
            send_exit(self.port.term(), Term::local_pid(self.port.owner()), am::BADSIG.into(), false);
        }
        next
    }

    /// False if the message does not name the owner as its sender, or if the port takes no data any more.
    fn message(&mut self, from: Term, owner: Term, request: PortMessage, context: &mut Context<'_>) -> (bool, TaskNext) {
        if owner != Term::local_pid(self.port.owner()) {
            return (false, TaskNext::Wait);
        }
        match request {
            PortMessage::Command(data) => self.command_from(from, data, context),
            // A sender is not told that the port was closing already.
            PortMessage::Close => (true, self.close_by(from, true, context).1),
            PortMessage::Connect(to) => {
                tracing::received(self.port.term(), from, |heap| heap.tuple(&[Atom::new("connect").into(), to]));
                self.set_owner(to);
                self.port.tell(owner.payload(), |_| Atom::new("connected").into());
                (true, TaskNext::Wait)
            }
        }
    }
}

/// Makes a native that found the port busy wait: it did nothing yet, and is called again with these arguments when the port may take more.
pub fn wait_for(p: &mut Process, args: &[Term], port: &Arc<Port>) -> Thrown {
    system_monitor::waits_for_port(p, port.term());
    p.flags |= FLAG_AT_PORT;
    port.gate.wait(p.pid());
    p.again(args);
    Thrown::WaitAgain
}

pub fn output(port: Term, bytes: Vec<u8>) {
    if let Some(port) = find(port) {
        port.request(move |task, context| task.command(None, bytes.into(), context).1);
    }
}

pub fn linked(port: Term, from: Term, on: bool) {
    tracing::event(port, flags::PORTS, if on { "getting_linked" } else { "getting_unlinked" }, &[from]);
}
