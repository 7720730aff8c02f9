//! What a peer sends: packets to messages, and these to the processes that they are for. Called by what carries the connection, one packet at a
//! time. Terms that come with a message are not decoded here: the receiver does that.

use crate::connection::Connection;
use crate::figures::{Figures, Work};
use crate::spawning;
use crate::wire::{Assembler, AtomBudget, Control, Framing, Limits, Payload, Spawned, Target, WireError};
use heddle_abi::settings::SETTINGS;
use heddle_runtime::nodes::Outbound;
use heddle_runtime::signal::remote::{Encoded, Inbound, Payload as Carried};
use heddle_runtime::trace::token::Token;
use heddle_runtime::{Package, RefId, names, proctab};
use heddle_term::ident::{PidView, RefView};
use heddle_term::{Atom, Heap, Term, am, node};
use std::sync::Arc;

/// What the messages of a connection have in common.
struct Common {
    budget: AtomBudget,
    figures: Arc<Figures>,
}

pub struct Incoming {
    assembler: Assembler,
    common: Arc<Common>,
    /// Where control messages are decoded.
    heap: Heap,
}

/// A payload that the receiver decodes.
struct Waiting {
    payload: Payload<'static>,
    common: Arc<Common>,
}

impl Encoded for Waiting {
    fn decode(&self, heap: &mut Heap) -> Result<Term, String> {
        let Common { budget, figures } = &*self.common;
        figures.timed(Work::Decoding, || self.payload.decode(heap, budget)).map_err(|error| error.to_string())
    }
}

impl Incoming {
    pub fn new(framing: Framing, figures: Arc<Figures>) -> Incoming {
        let limits = Limits { max_bytes: SETTINGS.fragments_mib.get() << 20, ..Limits::default() };
        let budget = AtomBudget::with_functions(SETTINGS.peer_atoms.get(), SETTINGS.peer_functions.get());
        Incoming { assembler: Assembler::new(framing, limits), common: Arc::new(Common { budget, figures }), heap: Heap::new() }
    }

    /// Does what the packet wants. Error: it breaks the protocol.
    pub fn packet(&mut self, connection: &Arc<Connection>, packet: &[u8]) -> Result<(), WireError> {
        let done = self.take(connection, packet);
        // Also what was decoded before an error was found.
        self.heap.clear();
        done
    }

    fn take(&mut self, connection: &Arc<Connection>, packet: &[u8]) -> Result<(), WireError> {
        let Some(message) = self.assembler.receive(packet, &self.common.budget)? else { return Ok(()) };
        self.common.figures.received(message.len_bytes());
        let (control, payload) = message.split(&mut self.heap, &self.common.budget)?;
        control.check_nodes(connection.id.node, node::name()).map_err(WireError::Control)?;
        let payload =
            payload.map(|payload| Carried::Encoded(Box::new(Waiting { payload: payload.into_owned(), common: self.common.clone() })));
        dispatch(connection, &control, payload)
    }
}

/// The local process that a pid of this node means; None if it is of an earlier life, or has ended.
fn local(pid: PidView) -> Option<u64> {
    pid.local()
}

/// The process that has the name; None if there is none, or if it is a port.
fn named(name: Atom) -> Option<u64> {
    names::whereis(name).filter(|id| id.is_local_pid()).map(|pid| pid.payload())
}

pub fn ref_id(reference: RefView) -> RefId {
    RefId::from_words([reference.words[0], reference.words[1], reference.words[2]])
}

/// The reference of this node; None if it is of an earlier life.
fn own_ref(reference: RefView) -> Option<RefId> {
    ((reference.node, reference.creation) == node::current()).then(|| ref_id(reference))
}

fn dispatch(connection: &Arc<Connection>, control: &Control, payload: Option<Carried>) -> Result<(), WireError> {
    match *control {
        Control::Send { from: _, to, token } => message(connection, local(to), None, payload, token),
        Control::SendName { from: _, to, token } => message(connection, named(to), None, payload, token),
        Control::SendAlias { from: _, alias, token } => {
            if let Some(id) = own_ref(alias).filter(|_| alias.count == 5) {
                let process = alias.words[3] as u64 | (alias.words[4] as u64) << 32;
                message(connection, Some(process), Some(id), payload, token);
            }
        }
        Control::Link { from, to } => {
            let refused = local(to).is_none_or(|pid| connection.deliver(pid, Inbound::Link { from }).is_err());
            if refused {
                answer(connection, to, &Outbound::Exit { to: from, reason: am::NOPROC.into(), linked: true, token: None });
            }
        }
        Control::Unlink { id, from, to } => {
            let refused = local(to).is_none_or(|pid| connection.deliver(pid, Inbound::Unlink { from, id }).is_err());
            if refused {
                answer(connection, to, &Outbound::UnlinkAck { to: from, id });
            }
        }
        Control::UnlinkAck { id, from, to } => to_process(connection, to, Inbound::UnlinkAck { from, id }),
        Control::Exit { from, to, reason, token } => exit(connection, from, to, carried(reason, payload), true, token),
        Control::Exit2 { from, to, reason, token } => exit(connection, from, to, carried(reason, payload), false, token),
        Control::GroupLeader { leader, to } => to_process(connection, to, Inbound::GroupLeader { leader }),
        Control::Monitor { from, to, reference } => monitor(connection, from, to, reference),
        Control::Demonitor { from: _, to, reference } => {
            let watched = match to {
                Target::Pid(pid) => local(pid),
                Target::Name(_) => connection.forget_named(reference),
            };
            if let Some(pid) = watched {
                let _ = connection.deliver(pid, Inbound::Demonitor { reference });
            }
        }
        Control::MonitorExit { from: _, to, reference, reason } => {
            if let (Some(reference), Some(reason)) = (own_ref(reference), carried(reason, payload)) {
                to_process(connection, to, Inbound::Down { reference, reason });
            }
        }
        Control::SpawnRequest { reference, from, group_leader, module, function, arity, options, token } => {
            let token = trace_token(token);
            let request = spawning::Request { reference, from, group_leader, module, function, arity, options, token };
            spawning::start(connection, &request, payload)?;
        }
        Control::SpawnReply { reference, to, flags, result, token } => {
            let result = match result {
                Spawned::Pid(pid) => Ok(pid),
                Spawned::Error(reason) => Err(reason),
            };
            if let Some(reference) = own_ref(reference) {
                spawned(connection, to, reference, flags, result, trace_token(token));
            }
        }
    }
    Ok(())
}

fn to_process(connection: &Connection, to: PidView, what: Inbound) {
    if let Some(pid) = local(to) {
        let _ = connection.deliver(pid, what);
    }
}

/// An answer in the name of a process that is not there.
fn answer(connection: &Connection, of: PidView, signal: &Outbound) {
    crate::sending::signal(connection, of, signal);
}

/// The token of sequential tracing. What is no token is as none.
fn trace_token(token: Option<Term>) -> Option<Box<Token>> {
    Token::of(token?).map(Box::new)
}

fn message(connection: &Connection, to: Option<u64>, alias: Option<RefId>, payload: Option<Carried>, token: Option<Term>) {
    if let (Some(to), Some(payload)) = (to, payload) {
        let _ = connection.deliver(to, Inbound::Message { alias, payload, token: trace_token(token) });
    }
}

/// The reason of an exit: in the control message, or the payload.
fn carried(reason: Option<Term>, payload: Option<Carried>) -> Option<Carried> {
    match reason {
        Some(reason) => Some(Carried::Package(Package::new(reason))),
        None => payload,
    }
}

fn exit(connection: &Connection, from: PidView, to: PidView, reason: Option<Carried>, linked: bool, token: Option<Term>) {
    if let Some(reason) = reason {
        to_process(connection, to, Inbound::Exit { from, reason, linked, token: trace_token(token) });
    }
}

fn monitor(connection: &Connection, from: PidView, to: Target, reference: RefView) {
    let (pid, name) = match to {
        Target::Pid(pid) => (local(pid), None),
        Target::Name(name) => (named(name), Some(name)),
    };
    if let Some(pid) = pid.filter(|&pid| proctab::lookup(pid).is_some()) {
        if name.is_some() {
            connection.remember_named(reference, pid);
        }
        if connection.deliver(pid, Inbound::Monitor { watcher: from, reference, name }).is_ok() {
            return;
        }
        connection.forget_named(reference);
    }
    let of = match to {
        Target::Pid(pid) => pid,
        Target::Name(_) => from,
    };
    answer(connection, of, &Outbound::Down { name, watcher: from, reference, reason: am::NOPROC.into() });
}

/// The answer to a request of this node.
fn spawned(connection: &Connection, to: PidView, reference: RefId, flags: u32, result: Result<PidView, Atom>, token: Option<Box<Token>>) {
    use crate::wire::{SPAWN_FLAG_LINK, SPAWN_FLAG_MONITOR};
    let (linked, monitored) = (flags & SPAWN_FLAG_LINK != 0, flags & SPAWN_FLAG_MONITOR != 0);
    let Some(pid) = local(to) else { return };
    if connection.deliver(pid, Inbound::SpawnReply { reference, result, linked, monitored, token }).is_err()
        && let Ok(new) = result
    {
        // The process that asked has ended.
        heddle_runtime::send_remote::disown(connection.id, pid, new, reference, linked, monitored);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_runtime::nodes::ConnectionId;

    #[test]
    fn nothing_is_left_of_a_control_message_that_is_wrong() {
        let connection = Arc::new(Connection::new(ConnectionId { node: Atom::new("peer@host"), number: 1 }));
        let framing = Framing { atom_cache: true, fragments: true };
        let mut incoming = Incoming::new(framing, Arc::default());
        // The sender is no pid; and a tuple of which nothing comes after a binary of 100 bytes.
        let no_pid = [&[131, 68, 0, 104, 4, 97, 6, 106, 106, 119, 1, b'x'][..], &[106]].concat();
        let too_short = [&[131, 68, 0, 104, 4, 97, 6, 109, 0, 0, 0, 100][..], &[7; 100]].concat();
        for packet in [no_pid, too_short] {
            assert!(incoming.packet(&connection, &packet).is_err());
            assert!(incoming.heap.fragments.is_null() && incoming.heap.fragment_words == 0);
        }
    }
}
