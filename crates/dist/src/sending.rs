//! Signals of processes to other nodes: encoded by the process that sends, in its own slice, and queued.

use crate::connection::{Connection, Stage};
use crate::figures::Work;
use crate::incoming::ref_id;
use crate::node::Node;
use crate::outgoing::{Needs, Outgoing};
use crate::wire::{Control, DistEncoder, Target as WireTarget, WireError};
use crate::{alive, flags, monitors, table};
use heddle_runtime::nodes::{ConnectionId, Destination, KnownNode, NodeUp, Nodes, Outbound, Sending, Signalled, Target};
use heddle_runtime::process::{FLAG_ASYNC_DIST, FLAG_AT_PORT, FLAG_TASK, NativeResult, Process, Thrown};
use heddle_runtime::trace::token::Token;
use heddle_runtime::{sched, send, system_monitor};
use heddle_term::ident::PidView;
use heddle_term::{Atom, Heap, Term, am};
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

/// What the peer must be able to do.
fn needs(control: &Control) -> Needs {
    match control {
        Control::SendAlias { .. } => Needs::Aliases,
        Control::SpawnRequest { reference, .. } => Needs::Spawning(ref_id(*reference)),
        _ => Needs::Nothing,
    }
}

/// Bytes that a normal scheduler encodes at one go, besides large binaries: less than a millisecond.
const SHORT_BYTES: usize = 512 << 10;

/// What came of a message.
enum Posted {
    /// It is queued, with this many bytes.
    Queued(usize),
    /// It is too long for a normal scheduler.
    Long,
    /// The connection has ended.
    Ended,
    /// It has a part that is too large for the external format.
    TooLarge,
}

/// Encodes a message and queues it. `most_bytes`: a longer one is left.
fn post(connection: &Connection, sender: u64, control: &Control, payload: Option<Term>, most_bytes: usize) -> Posted {
    let figures = &connection.figures;
    match figures.timed(Work::Encoding, || DistEncoder::encode_short(connection.framing(), control, payload, most_bytes)) {
        Ok(Some(message)) => {
            let bytes = message.len_bytes();
            figures.sent(bytes);
            match connection.push(Outgoing { sender, needs: needs(control), message }) {
                true => Posted::Queued(bytes),
                false => Posted::Ended,
            }
        }
        Ok(None) => Posted::Long,
        Err(WireError::TooLarge) => Posted::TooLarge,
        Err(error) => {
            heddle_runtime::exit::log_message("error", &format!("A message to node {} is not sent: {error}", connection.id.node.name()));
            Posted::Queued(0)
        }
    }
}

/// A signal of a process of this node, of an earlier life of it, or of no process.
pub fn signal(connection: &Connection, from: PidView, signal: &Outbound) -> Signalled {
    let sender = from.local().unwrap_or(u64::MAX);
    let has_payloads = connection.can(flags::EXIT_PAYLOAD);
    let split = |reason: Term| if has_payloads { (None, Some(reason)) } else { (Some(reason), None) };
    let target = |target: Target| match target {
        Target::Pid(pid) => WireTarget::Pid(pid),
        Target::Name(name) => WireTarget::Name(name),
    };
    // Of trace tokens.
    let mut scratch = Heap::new();
    let (control, payload) = match *signal {
        Outbound::Link { to } => (Control::Link { from, to }, None),
        Outbound::Unlink { to, id } => (Control::Unlink { id, from, to }, None),
        Outbound::UnlinkAck { to, id } => (Control::UnlinkAck { id, from, to }, None),
        Outbound::Exit { to, reason, linked, ref token } => {
            let (reason, payload) = split(reason);
            let token = token.as_ref().map(|token| token.term(&mut scratch));
            let control = match linked {
                true => Control::Exit { from, to, token, reason },
                false => Control::Exit2 { from, to, token, reason },
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
    let posted = post(connection, sender, &control, payload, usize::MAX);
    scratch.clear();
    match posted {
        Posted::Queued(_) => Signalled::Ok,
        Posted::TooLarge => {
            if !matches!(signal, Outbound::Exit { linked: false, .. }) {
                connection.blame("the reason of an exit is too large for it");
            }
            Signalled::TooLarge
        }
        Posted::Long | Posted::Ended => Signalled::Ended,
    }
}

/// A control message of a process.
pub fn control(connection: &Connection, sender: u64, control: &Control, payload: Option<Term>) -> bool {
    matches!(post(connection, sender, control, payload, usize::MAX), Posted::Queued(_))
}

// ---- busy connections ----

/// True if the process must not send over the connection now.
fn must_wait(p: &Process, connection: &Connection) -> bool {
    p.flags & (FLAG_ASYNC_DIST | FLAG_TASK) == 0 && connection.is_busy_for(p.pid())
}

fn living(node: Atom) -> Option<Arc<Connection>> {
    table::find(node)?.connection().filter(|connection| connection.stage() != Stage::Ended)
}

/// True if the connection to the node has too much to send for the process to go on.
pub fn is_busy(p: &Process, node: Atom) -> bool {
    living(node).is_some_and(|connection| connection.is_busy_for(p.pid()))
}

/// The native is called again with these arguments, when the connection to the node is not busy any more.
pub fn again(p: &mut Process, args: &[Term], node: Atom) -> Thrown {
    let Some(connection) = living(node) else { return p.again(args) };
    tell(p, &connection);
    p.flags |= FLAG_AT_PORT;
    connection.wait(p.pid());
    match connection.is_busy_for(p.pid()) {
        true => {
            p.again(args);
            Thrown::WaitAgain
        }
        false => p.again(args),
    }
}

fn tell(p: &Process, connection: &Connection) {
    if let Some(carrier) = connection.carrier_term() {
        system_monitor::waits_for_node(p, carrier);
    }
}

/// The result of a native that has sent a signal to the node: at once, or when the connection is not busy any more.
pub fn returns(p: &mut Process, node: Atom, result: Term) -> NativeResult {
    match connection_to(node, false).filter(|connection| must_wait(p, connection)) {
        // A process that waits stands in stock's function.
        Some(_) => Err(p.trap_to(am::ERLANG, Atom::new("bif_return_trap"), &[result, node.into()])),
        None => Ok(result),
    }
}

impl Nodes for Distribution {
    fn send(&self, p: &mut Process, to: Destination, message: Term, token: Option<Box<Token>>, connect: bool) -> Sending {
        // Also where there is no connection any more: the next message must be traced.
        p.flags &= !FLAG_AT_PORT;
        let Some(connection) = connection_to(to.node(), connect) else { return Sending::NoConnection };
        // On a dirty thread it was found too long when it could be sent.
        let is_short = p.flags & FLAG_TASK == 0 && !sched::on_dirty_thread();
        if is_short && must_wait(p, &connection) {
            return Sending::Busy;
        }
        let from = PidView::of_local(p.pid());
        // Of the trace token.
        let mut scratch = Heap::new();
        let token = token.map(|token| token.term(&mut scratch));
        let control = match to {
            Destination::Pid(to) => {
                let from = connection.can(flags::SEND_SENDER).then_some(from);
                Control::Send { from, to, token }
            }
            Destination::Name(to, _) => Control::SendName { from, to, token },
            Destination::Alias(alias) => Control::SendAlias { from, alias, token },
        };
        let posted = post(&connection, p.pid(), &control, Some(message), if is_short { SHORT_BYTES } else { usize::MAX });
        scratch.clear();
        match posted {
            Posted::Queued(bytes) => {
                p.bump(bytes / 64);
                Sending::Ok
            }
            Posted::Long => {
                // What tells of the message has been told.
                p.flags |= FLAG_AT_PORT;
                Sending::Long
            }
            Posted::TooLarge => Sending::TooLarge,
            // It has just ended: what is sent to it is lost, as what was sent before.
            Posted::Ended => Sending::Ok,
        }
    }

    fn wait(&self, p: &mut Process, args: &[Term], node: Atom) -> Thrown {
        again(p, args, node)
    }

    fn connection(&self, node: Atom, connect: bool) -> Option<ConnectionId> {
        connection_to(node, connect).map(|connection| connection.id)
    }

    fn signal(&self, connection: ConnectionId, from: u64, what: &Outbound) -> Signalled {
        numbered(connection).map_or(Signalled::Ended, |connection| signal(&connection, PidView::of_local(from), what))
    }

    fn returns(&self, p: &mut Process, node: Atom, result: Term) -> NativeResult {
        returns(p, node, result)
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
            connection.blame(what);
        }
    }

    fn is_alive(&self) -> bool {
        alive::may_connect()
    }

    fn shown_as(&self, number: u64) -> Option<(Atom, u32)> {
        let node = table::all().into_iter().find(|node| node.name.index() as u64 == number)?;
        let connection = node.connection().filter(|connection| connection.stage() == Stage::Up)?;
        Some((node.name, connection.creation()))
    }

    fn known(&self) -> Vec<KnownNode> {
        let shown = |connection: Arc<Connection>| NodeUp {
            is_visible: connection.is_visible(),
            creation: connection.creation(),
            carrier: connection.carrier_term(),
        };
        let up = |node: &Node| node.connection().filter(|connection| connection.stage() == Stage::Up).map(shown);
        table::all().iter().map(|node| KnownNode { name: node.name, up: up(node) }).collect()
    }

    fn monitor_nodes(&self, p: &mut Process, options: Term, value: Term) -> NativeResult {
        monitors::set(p, options, value)
    }
}
