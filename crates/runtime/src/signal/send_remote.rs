//! What natives of a process do to processes of other nodes: link, unlink, monitor, demonitor, exit signals, group leaders.

use crate::RefId;
use crate::process::Process;
use crate::process::links::AliasMode;
use crate::process::nodes::{ConnectionId, Destination, Outbound, Sending, Signalled, Target, nodes};
use crate::process::remote::{RemoteLink, RemoteMonitoring, WatchedNode};
use crate::signal::Signal;
use crate::signal::package::Package;
use crate::signal::remote::{Inbound, Payload, RemoteSignal};
use crate::signal::send::Sent;
use crate::trace::token::Token;
use crate::trace::{events, flags, seq};
use heddle_term::ident::{PidView, RefView};
use heddle_term::{Atom, Term, am};

/// `Dest ! Message`.
#[cold]
pub(crate) fn send(p: &mut Process, to: Destination, message: Term, token: Option<Box<Token>>) -> Sent {
    match nodes().send(p, to, message, token, true) {
        Sending::Ok => Sent::Ok,
        Sending::NoConnection => Sent::NoConnection,
        Sending::Busy => Sent::Busy,
        Sending::Long => Sent::Long,
        Sending::TooLarge => Sent::TooLarge,
    }
}

/// A connection that never was: what is told of it is `noconnection`.
fn nowhere(node: Atom) -> ConnectionId {
    ConnectionId { node, number: 0 }
}

/// The connection to a node, of whose end the process will hear. A new one is made if there is none.
pub fn connection(p: &mut Process, node: Atom) -> Option<ConnectionId> {
    nodes().connection(node, true).filter(|&connection| joins(p, connection))
}

fn to_itself(p: &Process, connection: ConnectionId, what: Inbound) {
    p.shared().state.push_to_itself(Signal::remote(RemoteSignal { connection, what }));
}

/// `link/1`. If there is no connection, the process gets an exit signal with the reason `noconnection`.
pub fn link(p: &mut Process, to: PidView) {
    if events::on(p.shared(), flags::PROCS) {
        let other = to.to_term(&mut p.heap);
        events::of_process(p, flags::PROCS, "link", &[other]);
    }
    let found = connection(p, to.node);
    let link = RemoteLink { active: true, unlinking: 0, connection: found.unwrap_or(nowhere(to.node)) };
    let remote = p.relations.make().remote();
    if remote.links.get(&to).is_some_and(|known| known.active && known.connection == link.connection) {
        return;
    }
    remote.links.insert(to, link);
    if !found.is_some_and(|connection| nodes().signal(connection, p.pid(), &Outbound::Link { to }) == Signalled::Ok) {
        to_itself(p, link.connection, Inbound::Exit { from: to, reason: Payload::Atom(am::NOCONNECTION), linked: true, token: None });
    }
}

/// `unlink/1`: no exit signal over this link is seen after it returns.
pub fn unlink(p: &mut Process, other: PidView) {
    if events::on(p.shared(), flags::PROCS) {
        let other = other.to_term(&mut p.heap);
        events::of_process(p, flags::PROCS, "unlink", &[other]);
    }
    let pid = p.pid();
    let Some(inner) = p.relations.get_mut() else { return };
    let id = inner.last_unlink + 1;
    let Some(link) = inner.remote.as_mut().and_then(|remote| remote.links.get_mut(&other)) else { return };
    if !link.active {
        return;
    }
    (link.active, link.unlinking) = (false, id);
    inner.last_unlink = id;
    let is_sent = nodes().signal(link.connection, pid, &Outbound::Unlink { to: other, id }) == Signalled::Ok;
    if !is_sent && let Some(remote) = &mut inner.remote {
        remote.links.remove(&other);
    }
}

/// Starts to monitor a process of the node. The 'DOWN' for a node that cannot be reached comes as a signal to ourselves.
pub fn monitor(p: &mut Process, node: Atom, target: Target, reference: RefId, alias: AliasMode, tag: Option<Package>) {
    let found = connection(p, node);
    let pid = p.pid();
    let inner = p.relations.make();
    if alias != AliasMode::None {
        inner.aliases.insert(reference, alias);
    }
    let connection = found.unwrap_or(nowhere(node));
    inner.remote().monitoring.insert(reference, RemoteMonitoring { target, connection, alias, tag });
    let signal = Outbound::Monitor { target, reference: wire_reference(reference, alias, pid) };
    if !found.is_some_and(|connection| nodes().signal(connection, pid, &signal) == Signalled::Ok) {
        to_itself(p, connection, Inbound::Down { reference, reason: Payload::Atom(am::NOCONNECTION) });
    }
}

/// The node of the process that the process monitors by this reference, if it is another one.
pub fn monitored_node(p: &Process, reference: RefId) -> Option<Atom> {
    Some(p.relations.get()?.remote.as_ref()?.monitoring.get(&reference)?.connection.node)
}

/// `demonitor/1` of a monitor on a process of another node: true if it existed.
pub(crate) fn demonitor(p: &mut Process, reference: RefId) -> bool {
    let pid = p.pid();
    let Some(remote) = p.relations.get_mut().and_then(|inner| inner.remote.as_mut()) else { return false };
    let Some(monitoring) = remote.monitoring.remove(&reference) else { return false };
    let reference = wire_reference(reference, monitoring.alias, pid);
    nodes().signal(monitoring.connection, pid, &Outbound::Demonitor { target: monitoring.target, reference });
    true
}

/// `exit/2`. False if the reason is too large: nothing was sent.
pub fn exit(p: &mut Process, to: PidView, reason: Term) -> bool {
    let token = if seq::has_token(p) {
        let to = to.to_term(&mut p.heap);
        seq::exiting(p, to, reason)
    } else {
        None
    };
    let Some(connection) = nodes().connection(to.node, true) else { return true };
    nodes().signal(connection, p.pid(), &Outbound::Exit { to, reason, linked: false, token }) != Signalled::TooLarge
}

/// `group_leader/2` for a process of another node.
pub fn group_leader(p: &Process, leader: PidView, member: PidView) {
    if let Some(connection) = nodes().connection(member.node, true) {
        nodes().signal(connection, p.pid(), &Outbound::GroupLeader { leader, member });
    }
}

/// `monitor_node/2,3`. If there is no connection, `{nodedown, Node}` comes at once. `connect`: one is made if there is none.
pub fn monitor_node(p: &mut Process, node: Atom, on: bool, connect: bool) {
    if !on {
        if let Some(remote) = p.relations.get_mut().and_then(|inner| inner.remote.as_mut())
            && let Some(watched) = remote.nodes.get_mut(&node)
        {
            watched.times -= 1;
            if watched.times == 0 {
                remote.nodes.remove(&node);
            }
        }
        return;
    }
    let found = nodes().connection(node, connect).filter(|&connection| joins(p, connection));
    match found {
        Some(connection) => {
            let watched = p.relations.make().remote().nodes.entry(node).or_insert(WatchedNode { connection, times: 0 });
            watched.connection = connection;
            watched.times += 1;
        }
        None => p.shared().state.push_to_itself(Signal::message(nodedown(node))),
    }
}

/// Makes sure that the process hears of the end of the connection. False if it has ended.
pub(crate) fn joins(p: &mut Process, connection: ConnectionId) -> bool {
    let pid = p.pid();
    let remote = p.relations.make().remote();
    if remote.connections.contains(&connection) {
        return true;
    }
    let is_there = nodes().relate(connection, pid);
    if is_there {
        remote.connections.push(connection);
    }
    is_there
}

/// `{nodedown, Node}`
pub(crate) fn nodedown(node: Atom) -> Package {
    Package::build(|heap| heap.tuple(&[Atom::new("nodedown").into(), node.into()]))
}

/// The reference by which another node knows a monitor or request of this process.
pub fn wire_reference(reference: RefId, alias: AliasMode, pid: u64) -> RefView {
    let (node, creation) = heddle_term::node::current();
    let [low, middle, high] = reference.words();
    match alias {
        AliasMode::None => RefView { node, creation, count: 3, words: [low, middle, high, 0, 0] },
        _ => RefView { node, creation, count: 5, words: [low, middle, high, pid as u32, (pid >> 32) as u32] },
    }
}

/// A new process that no process waits for any more.
pub fn disown(connection: ConnectionId, from: u64, new: PidView, reference: RefId, is_linked: bool, is_monitored: bool) {
    if is_monitored {
        let [low, middle, high] = reference.words();
        let (node, creation) = heddle_term::node::current();
        let reference = RefView { node, creation, count: 3, words: [low, middle, high, 0, 0] };
        nodes().signal(connection, from, &Outbound::Demonitor { target: Target::Pid(new), reference });
    }
    if is_linked {
        let reason = Atom::new("abandoned").into();
        nodes().signal(connection, from, &Outbound::Exit { to: new, reason, linked: true, token: None });
    }
}

/// A `spawn_request` of the process cannot be sent: the process is answered why.
pub fn spawn_refused(p: &Process, reference: RefId, why: Atom) {
    to_itself(p, nowhere(why), Inbound::SpawnReply { reference, result: Err(why), linked: false, monitored: false, token: None });
}
