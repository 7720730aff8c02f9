//! Signals of processes to other nodes: encoded by the process that sends, in its own slice, and queued.

use crate::connection::{Connection, Stage};
use crate::figures::Work;
use crate::outgoing::Outgoing;
use crate::wire::{Control, DistEncoder, Target as WireTarget};
use crate::{alive, flags, monitors, table};
use heddle_runtime::nodes::{ConnectionId, Destination, Nodes, Outbound, Sending, Target};
use heddle_runtime::process::{FLAG_ASYNC_DIST, FLAG_TASK, NativeResult, Process, Thrown};
use heddle_runtime::send;
use heddle_runtime::trace::token::Token;
use heddle_term::ident::PidView;
use heddle_term::{Atom, Term, node};
use std::cell::RefCell;
use std::sync::Arc;

pub struct Distribution;

thread_local! {
    /// The connection that this thread used last.
    static LAST: RefCell<Option<Arc<Connection>>> = const { RefCell::new(None) };
}

/// The connection to a node, up or being made.
pub fn connection_to(node: Atom, connect: bool) -> Option<Arc<Connection>> {
    let last = LAST.with_borrow(|last| last.as_ref().filter(|last| last.id.node == node && last.stage() != Stage::Ended).cloned());
    if last.is_some() {
        return last;
    }
    let found = find_or_make(node, connect)?;
    LAST.set(Some(found.clone()));
    Some(found)
}

fn find_or_make(name: Atom, connect: bool) -> Option<Arc<Connection>> {
    if !connect {
        return table::find(name)?.connection();
    }
    let kernel = alive::net_kernel()?;
    let (connection, is_new) = table::find_or_add(name).connection_or_new();
    if is_new {
        // `net_kernel` has it made, or ends it.
        let asked = send::build_message(kernel, |heap| {
            let handle = connection.handle(heap);
            heap.tuple(&[Atom::new("auto_connect").into(), name.into(), handle])
        });
        if !asked {
            connection.ended(Atom::new("net_kernel_terminated").into());
            return None;
        }
    }
    Some(connection)
}

/// The connection with this number, unless it has ended.
pub fn numbered(id: ConnectionId) -> Option<Arc<Connection>> {
    let last = LAST.with_borrow(|last| last.as_ref().filter(|last| last.id == id && last.stage() != Stage::Ended).cloned());
    last.or_else(|| table::find(id.node)?.numbered(id.number))
}

fn me(pid: u64) -> PidView {
    let (node, creation) = node::current();
    let number = (pid & ((1 << heddle_term::ident::PID_NUMBER_BITS) - 1)) as u32;
    PidView { node, creation, number, serial: (pid >> heddle_term::ident::PID_NUMBER_BITS) as u32 }
}

/// Encodes a message and queues it. Returns its bytes, or None if the connection has ended.
fn post(connection: &Connection, sender: u64, control: &Control, payload: Option<Term>) -> Option<usize> {
    let figures = &connection.figures;
    match figures.timed(Work::Encoding, || DistEncoder::encode(connection.framing(), control, payload)) {
        Ok(message) => {
            let bytes = message.len_bytes();
            figures.sent(bytes);
            connection.push(Outgoing { sender, message }).then_some(bytes)
        }
        Err(error) => {
            heddle_runtime::exit::log_message("error", &format!("A message to node {} is not sent: {error}", connection.id.node.name()));
            Some(0)
        }
    }
}

/// A signal of a process of this node, of an earlier life of it, or of no process.
pub fn signal(connection: &Connection, from: PidView, signal: &Outbound) -> bool {
    let sender = from.local().unwrap_or(u64::MAX);
    let has_payloads = connection.flags() & flags::EXIT_PAYLOAD != 0;
    let split = |reason: Term| if has_payloads { (None, Some(reason)) } else { (Some(reason), None) };
    let target = |target: Target| match target {
        Target::Pid(pid) => WireTarget::Pid(pid),
        Target::Name(name) => WireTarget::Name(name),
    };
    let (control, payload) = match *signal {
        Outbound::Link { to } => (Control::Link { from, to }, None),
        Outbound::Unlink { to, id } => (Control::Unlink { id, from, to }, None),
        Outbound::UnlinkAck { to, id } => (Control::UnlinkAck { id, from, to }, None),
        Outbound::Exit { to, reason, linked, .. } => {
            let (reason, payload) = split(reason);
            let control = match linked {
                true => Control::Exit { from, to, token: None, reason },
                false => Control::Exit2 { from, to, token: None, reason },
            };
            (control, payload)
        }
        Outbound::Monitor { target: to, reference } => (Control::Monitor { from, to: target(to), reference }, None),
        Outbound::Demonitor { target: to, reference } => (Control::Demonitor { from, to: target(to), reference }, None),
        Outbound::Down { name, watcher, reference, reason } => {
            if name.is_some() {
                connection.forget_named(reference);
            }
            let (reason, payload) = split(reason);
            let from = name.map_or(WireTarget::Pid(from), WireTarget::Name);
            (Control::MonitorExit { from, to: watcher, reference, reason }, payload)
        }
        Outbound::GroupLeader { leader, member } => (Control::GroupLeader { leader, to: member }, None),
    };
    post(connection, sender, &control, payload).is_some()
}

/// A control message of a process.
pub fn control(connection: &Connection, sender: u64, control: &Control, payload: Option<Term>) -> bool {
    post(connection, sender, control, payload).is_some()
}

impl Nodes for Distribution {
    fn send(&self, p: &mut Process, to: Destination, message: Term, _: Option<Box<Token>>, connect: bool) -> Sending {
        let Some(connection) = connection_to(to.node(), connect) else { return Sending::NoConnection };
        if p.flags & (FLAG_ASYNC_DIST | FLAG_TASK) == 0 && connection.is_busy_for(p.pid()) {
            return Sending::Busy;
        }
        let from = me(p.pid());
        let control = match to {
            Destination::Pid(to) => {
                let from = (connection.flags() & flags::SEND_SENDER != 0).then_some(from);
                Control::Send { from, to, token: None }
            }
            Destination::Name(to, _) => Control::SendName { from, to, token: None },
            Destination::Alias(alias) => Control::SendAlias { from, alias, token: None },
        };
        match post(&connection, p.pid(), &control, Some(message)) {
            Some(bytes) => {
                p.bump(bytes / 64);
                Sending::Ok
            }
            // It has just ended: what is sent to it is lost, as what was sent before.
            None => Sending::Ok,
        }
    }

    fn wait(&self, p: &mut Process, args: &[Term], node: Atom) -> Thrown {
        if let Some(connection) = table::find(node).and_then(|node| node.connection()) {
            connection.wait(p.pid());
        }
        match table::find(node).and_then(|node| node.connection()).is_some_and(|connection| connection.is_busy_for(p.pid())) {
            true => {
                p.again(args);
                Thrown::WaitAgain
            }
            false => p.again(args),
        }
    }

    fn connection(&self, node: Atom, connect: bool) -> Option<ConnectionId> {
        connection_to(node, connect).map(|connection| connection.id)
    }

    fn signal(&self, connection: ConnectionId, from: u64, what: &Outbound) -> bool {
        numbered(connection).is_some_and(|connection| signal(&connection, me(from), what))
    }

    fn relate(&self, connection: ConnectionId, pid: u64) -> bool {
        numbered(connection).is_some_and(|connection| connection.relate(pid))
    }

    fn unrelate(&self, connection: ConnectionId, pid: u64) {
        if let Some(connection) = numbered(connection) {
            connection.unrelate(pid);
        }
    }

    fn broken(&self, connection: ConnectionId, what: &str) {
        if let Some(connection) = numbered(connection) {
            connection.complain(what);
            connection.shut("killed");
        }
    }

    fn is_alive(&self) -> bool {
        alive::is_alive()
    }

    fn monitor_nodes(&self, p: &mut Process, options: Term, value: Term) -> NativeResult {
        monitors::set(p, options, value)
    }
}
