//! What a process does with signals from other nodes, and what it tells other nodes when it ends. Runs in the receiver.

use crate::RefId;
use crate::lifecycle::handle::{After, append, append_in_heap, in_heap};
use crate::process::links::AliasMode;
use crate::process::nodes::{ConnectionId, Outbound, Target, nodes};
use crate::process::remote::{RemoteLink, RemoteMonitoring, RemoteRelations, RemoteWatcher};
use crate::process::{FLAG_TASK, Process, links::Relations};
use crate::signal::package::Package;
use crate::signal::remote::{Inbound, Payload, RemoteSignal};
use crate::signal::send::demonitor;
use crate::signal::send_remote::{disown, joins, nodedown, wire_reference};
use crate::signal::{Signal, undecoded};
use crate::trace::token::Token;
use crate::trace::{events, flags, seq, system_monitor};
use heddle_term::ident::PidView;
use heddle_term::{Atom, Heap, Term, am};

/// Handles a signal of another node.
pub(crate) fn handle(p: &mut Process, signal: RemoteSignal) -> After {
    let connection = signal.connection;
    match signal.what {
        Inbound::Message { alias, payload, token } => {
            if let Some(alias) = alias
                && !takes_alias(p, alias)
            {
                return After::Continue;
            }
            message(p, connection, payload, token);
        }
        Inbound::Link { from } => linked(p, from, connection),
        Inbound::Unlink { from, id } => {
            if let Some(remote) = relations(&mut p.relations)
                && remote.links.get(&from).is_some_and(|link| link.active)
            {
                remote.links.remove(&from);
                traced(p, "getting_unlinked", from);
            }
            nodes().signal(connection, p.pid(), &Outbound::UnlinkAck { to: from, id });
        }
        Inbound::UnlinkAck { from, id } => {
            if let Some(remote) = relations(&mut p.relations)
                && remote.links.get(&from).is_some_and(|link| !link.active && link.unlinking == id)
            {
                remote.links.remove(&from);
            }
        }
        Inbound::Exit { from, reason, linked, token } => return exit(p, connection, from, &reason, linked, token),
        Inbound::Monitor { watcher, reference, name } => {
            let is_related = joins(p, connection);
            if is_related {
                let watcher = RemoteWatcher { watcher, name, connection };
                p.relations.make().remote().watchers.insert(reference, watcher);
            }
        }
        Inbound::Demonitor { reference } => {
            if let Some(remote) = relations(&mut p.relations) {
                remote.watchers.remove(&reference);
            }
        }
        Inbound::Down { reference, reason } => {
            if let Some(reason) = decoded(connection, &reason) {
                down(p, reference, &reason);
            }
        }
        Inbound::GroupLeader { leader } => p.group_leader = in_heap(p, |heap| leader.to_term(heap)),
        Inbound::SpawnReply { reference, result, linked, monitored, token } => {
            spawned(p, connection, Answer { reference, result, linked, monitored, token });
        }
        Inbound::Disconnected => return disconnected(p, connection),
    }
    After::Continue
}

fn relations(relations: &mut Relations) -> Option<&mut RemoteRelations> {
    relations.get_mut()?.remote.as_deref_mut()
}

/// The message is decoded into the heap, where the process reads it, unless its messages must be elsewhere.
fn message(p: &mut Process, connection: ConnectionId, payload: Payload, token: Option<Box<Token>>) {
    let sender = sender(connection);
    if events::on(p.shared(), flags::RECEIVE) {
        let Some(data) = decoded(connection, &payload) else { return };
        events::receive(p, sender, data.term());
        p.messages.append(Signal::message_with(sender, data, token));
        return system_monitor::queued(p);
    }
    let payload = match payload {
        Payload::Encoded(encoded) if undecoded::waits(p) && token.is_none() => {
            append(p, Signal::message(Package::immediate(Term::NIL)));
            return undecoded::is_latest(p, connection, encoded);
        }
        payload => payload,
    };
    let is_elsewhere = p.flags & FLAG_TASK != 0 || p.off_heap_messages || token.is_some();
    if let (Payload::Encoded(encoded), false) = (&payload, is_elsewhere) {
        let mut done = Ok(());
        let message = in_heap(p, |heap| {
            encoded.decode(heap).unwrap_or_else(|what| {
                done = Err(what);
                Term::NIL
            })
        });
        return match done {
            Ok(()) => append_in_heap(p, sender, message),
            Err(what) => nodes().broken(connection, &what),
        };
    }
    if let Some(data) = decoded(connection, &payload) {
        append(p, Signal::message_with(sender, data, token));
    }
}

/// What traces tell of the sender of what comes over a connection.
fn sender(connection: ConnectionId) -> Term {
    connection.node.into()
}

/// The payload's term. Malformed payloads end the connection.
fn decoded(connection: ConnectionId, payload: &Payload) -> Option<Package> {
    payload.unpack().map_err(|what| nodes().broken(connection, &what)).ok()
}

/// True if the alias is active. One that takes a single message is not any more then.
fn takes_alias(p: &mut Process, alias: RefId) -> bool {
    let Some(inner) = p.relations.get_mut() else { return false };
    let Some(mode) = inner.aliases.get(&alias).copied() else { return false };
    if matches!(mode, AliasMode::ReplyDemonitor | AliasMode::Reply) {
        inner.aliases.remove(&alias);
        if mode == AliasMode::ReplyDemonitor {
            demonitor(p, alias);
        }
    }
    true
}

fn linked(p: &mut Process, from: PidView, connection: ConnectionId) {
    traced(p, "getting_linked", from);
    let is_there = joins(p, connection);
    let remote = p.relations.make().remote();
    remote.links.entry(from).or_insert(RemoteLink { active: true, unlinking: 0, connection });
    if !is_there {
        // The connection has ended meanwhile.
        let gone = RemoteSignal { connection, what: Inbound::Disconnected };
        p.shared().state.push_to_itself(Signal::remote(gone));
    }
}

fn traced(p: &mut Process, what: &str, other: PidView) {
    if events::on(p.shared(), flags::PROCS) {
        let other = in_heap(p, |heap| other.to_term(heap));
        events::of_process(p, flags::PROCS, what, &[other]);
    }
}

/// An exit signal of `from`.
fn exit(p: &mut Process, connection: ConnectionId, from: PidView, reason: &Payload, linked: bool, token: Option<Box<Token>>) -> After {
    let Some(reason) = decoded(connection, reason) else { return After::Continue };
    if linked {
        // Only an active link carries the signal. One that is being removed stays until that is acknowledged.
        let Some(remote) = relations(&mut p.relations) else { return After::Continue };
        if !remote.links.get(&from).is_some_and(|link| link.active) {
            return After::Continue;
        }
        remote.links.remove(&from);
        let is_fatal = !p.trap_exit && !reason.term().is_atom_of(am::NORMAL);
        if !is_fatal {
            traced(p, "getting_unlinked", from);
        }
    } else if reason.term().is_atom_of(am::KILL) {
        p.exit_reason = am::KILLED.into();
        return After::Exit;
    }
    if p.trap_exit {
        let message = Package::build(|heap| {
            let (from, reason) = (from.to_term(heap), heap.copy(reason.term()));
            heap.tuple(&[am::EXIT_UPPER.into(), from, reason])
        });
        append(p, Signal::message_with(sender(connection), message, token));
        return After::Continue;
    }
    if reason.term().is_atom_of(am::NORMAL) {
        return After::Continue;
    }
    p.exit_reason = in_heap(p, |heap| reason.unpack(heap));
    After::Exit
}

/// A process that this one monitors ended.
fn down(p: &mut Process, reference: RefId, reason: &Package) {
    let Some(inner) = p.relations.get_mut() else { return };
    let Some(monitoring) = inner.remote.as_mut().and_then(|remote| remote.monitoring.remove(&reference)) else { return };
    if matches!(monitoring.alias, AliasMode::Demonitor | AliasMode::ReplyDemonitor) {
        inner.aliases.remove(&reference);
    }
    let message = down_message(p.pid(), reference, &monitoring, reason.term());
    append(p, Signal::message_of(sender(monitoring.connection), message));
}

fn down_message(pid: u64, reference: RefId, monitoring: &RemoteMonitoring, reason: Term) -> Package {
    Package::build(|heap| {
        let tag = monitoring.tag.as_ref().map_or(am::DOWN_UPPER.into(), |tag| heap.copy(tag.term()));
        let reference = reference_term(heap, reference, monitoring.alias, pid);
        let object = match monitoring.target {
            Target::Pid(pid) => pid.to_term(heap),
            Target::Name(name) => heap.tuple(&[name.into(), monitoring.connection.node.into()]),
        };
        let reason = heap.copy(reason);
        heap.tuple(&[tag, reference, am::PROCESS.into(), object, reason])
    })
}

fn reference_term(heap: &mut Heap, reference: RefId, alias: AliasMode, pid: u64) -> Term {
    match alias {
        AliasMode::None => heap.reference(reference.words()),
        _ => heap.alias_reference(reference.words(), pid),
    }
}

/// The answer to a `spawn_request`.
struct Answer {
    reference: RefId,
    result: Result<PidView, Atom>,
    linked: bool,
    monitored: bool,
    token: Option<Box<Token>>,
}

fn spawned(p: &mut Process, connection: ConnectionId, answer: Answer) {
    let pid = p.pid();
    let Answer { reference, result, linked: is_linked, monitored: is_monitored, token } = answer;
    let request = relations(&mut p.relations).and_then(|remote| remote.spawning.remove(&reference));
    let Some(request) = request.filter(|request| !request.abandoned) else {
        if let Ok(new) = result {
            disown(connection, pid, new, reference, is_linked, is_monitored);
        }
        return;
    };
    if let (Ok(new), true) = (result, is_linked) {
        traced(p, "link", new);
    }
    let alias = request.monitor.as_ref().map_or(AliasMode::None, |monitor| monitor.0);
    let is_told = if result.is_ok() { request.tells_success } else { request.tells_error };
    if is_told {
        let message = Package::build(|heap| {
            let tag = request.tag.as_ref().map_or(am::SPAWN_REPLY.into(), |tag| heap.copy(tag.term()));
            let reference = reference_term(heap, reference, alias, pid);
            let (kind, value) = match result {
                Ok(new) => (am::OK, new.to_term(heap)),
                Err(reason) => (am::ERROR, reason.into()),
            };
            heap.tuple(&[tag, reference, kind.into(), value])
        });
        let sender = sender(connection);
        append(p, if token.is_some() { Signal::message_with(sender, message, token) } else { Signal::message_of(sender, message) });
    }
    let inner = p.relations.make();
    let Ok(new) = result else {
        inner.aliases.remove(&reference);
        return;
    };
    let remote = inner.remote();
    if is_linked {
        remote.links.insert(new, RemoteLink { active: true, unlinking: 0, connection });
    }
    if let Some((alias, tag)) = request.monitor.filter(|_| is_monitored) {
        remote.monitoring.insert(reference, RemoteMonitoring { target: Target::Pid(new), connection, alias, tag });
    }
}

/// The connection is gone, and all relations over it with it. In the order in which stock tells of them.
fn disconnected(p: &mut Process, connection: ConnectionId) -> After {
    let pid = p.pid();
    let Some(inner) = p.relations.get_mut() else { return After::Continue };
    let Some(remote) = inner.remote.as_deref_mut() else { return After::Continue };
    remote.connections.retain(|&known| known != connection);
    remote.watchers.retain(|_, watcher| watcher.connection != connection);
    let links: Vec<_> = remote.links.extract_if(|_, link| link.connection == connection).collect();
    let monitors: Vec<_> = remote.monitoring.extract_if(|_, monitoring| monitoring.connection == connection).collect();
    let requests: Vec<_> = remote.spawning.extract_if(|_, request| request.connection == connection).collect();
    let watched: Vec<_> = remote.nodes.extract_if(|_, node| node.connection == connection).collect();
    // A peer may have made very many of the first two.
    remote.watchers.shrink_to(2 * remote.watchers.len());
    remote.links.shrink_to(2 * remote.links.len());
    for (reference, monitoring) in &monitors {
        if matches!(monitoring.alias, AliasMode::Demonitor | AliasMode::ReplyDemonitor) {
            inner.aliases.remove(reference);
        }
    }
    for (other, link) in links {
        if link.active {
            // As if the signal had come over the link.
            p.relations.make().remote().links.insert(other, link);
            if exit(p, connection, other, &Payload::Atom(am::NOCONNECTION), true, None) == After::Exit {
                return After::Exit;
            }
        }
    }
    for (node, watched) in watched {
        for _ in 0..watched.times {
            append(p, Signal::message(nodedown(node)));
        }
    }
    for (reference, monitoring) in monitors {
        append(p, Signal::message_of(sender(connection), down_message(pid, reference, &monitoring, am::NOCONNECTION.into())));
    }
    for (reference, request) in requests {
        // As an answer that came.
        p.relations.make().remote().spawning.insert(reference, request);
        let result = Err(am::NOCONNECTION);
        spawned(p, connection, Answer { reference, result, linked: false, monitored: false, token: None });
    }
    After::Continue
}

/// The process ends: tells the processes of other nodes.
pub(crate) fn ended(p: &mut Process, remote: RemoteRelations, reason: Term) {
    let pid = p.pid();
    for (to, link) in remote.links {
        if link.active {
            let token = if seq::has_token(p) { exit_token(p, to, reason) } else { None };
            nodes().signal(link.connection, pid, &Outbound::Exit { to, reason, linked: true, token });
        }
    }
    for (reference, watcher) in remote.watchers {
        let RemoteWatcher { watcher, name, connection } = watcher;
        nodes().signal(connection, pid, &Outbound::Down { name, watcher, reference, reason });
    }
    for (reference, monitoring) in remote.monitoring {
        let reference = wire_reference(reference, monitoring.alias, pid);
        nodes().signal(monitoring.connection, pid, &Outbound::Demonitor { target: monitoring.target, reference });
    }
    for connection in remote.connections {
        nodes().unrelate(connection, pid);
    }
}

fn exit_token(p: &mut Process, to: PidView, reason: Term) -> Option<Box<Token>> {
    let mut heap = Heap::new();
    let to = to.to_term(&mut heap);
    let token = seq::exiting(p, to, reason);
    heap.clear();
    token
}

/// How a process answers that is ending, or has ended.
pub(crate) fn answer_for_dead(pid: u64, signal: RemoteSignal) {
    let connection = signal.connection;
    match signal.what {
        Inbound::Link { from } => {
            nodes().signal(connection, pid, &Outbound::Exit { to: from, reason: am::NOPROC.into(), linked: true, token: None });
        }
        Inbound::Monitor { watcher, reference, name } => {
            nodes().signal(connection, pid, &Outbound::Down { name, watcher, reference, reason: am::NOPROC.into() });
        }
        Inbound::Unlink { from, id } => {
            nodes().signal(connection, pid, &Outbound::UnlinkAck { to: from, id });
        }
        Inbound::SpawnReply { reference, result: Ok(new), linked, monitored, .. } => {
            disown(connection, pid, new, reference, linked, monitored);
        }
        _ => {}
    }
}
