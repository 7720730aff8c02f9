//! Processes that another node asks for, and requests of this node.
//!
//! The argument list of a request may be large. So it goes to the new process as its first message, undecoded, and the process starts in
//! `erts_internal:dist_spawn_init/1`, which takes it from there (as ERTS does).

use crate::connection::Connection;
use crate::sending;
use crate::wire::{Control, SPAWN_FLAG_LINK, SPAWN_FLAG_MONITOR, Spawned, WireError};
use heddle_bifs::process::spawn::parse_options;
use heddle_runtime::process::{DIST_SPAWN_INIT, FLAG_SPAWNED_BY_NODE};
use heddle_runtime::remote::{RemoteLink, RemoteWatcher};
use heddle_runtime::signal::Signal;
use heddle_runtime::signal::remote::{Inbound, Payload, RemoteSignal};
use heddle_runtime::trace::token::Token;
use heddle_runtime::trace::{events, seq};
use heddle_runtime::{Package, sched, spawn};
use heddle_term::code_cell::Mfa;
use heddle_term::ident::{PidView, RefView};
use heddle_term::{Atom, Heap, Term, am};

pub struct Request {
    pub reference: RefView,
    pub from: PidView,
    pub group_leader: PidView,
    pub module: Atom,
    pub function: Atom,
    pub arity: i64,
    /// A list.
    pub options: Term,
    /// The trace token of the argument list.
    pub token: Option<Box<Token>>,
}

/// Starts the process, and answers. Malformed requests are errors of the peer.
pub fn start(connection: &Connection, request: &Request, arguments: Option<Payload>) -> Result<(), WireError> {
    let Some(arguments) = arguments else { return Ok(()) };
    let (from, reference) = (request.from, request.reference);
    let Some(options) = parse_options(request.options, false) else {
        refuse(connection, request, Atom::new("badopt"));
        return Ok(());
    };
    let mut heap = Heap::new();
    let named = heap.tuple(&[request.module.into(), request.function.into(), Term::small(request.arity)]);
    let list = heap.list(&[named]);
    let Some(child) = spawn::create(DIST_SPAWN_INIT, list, None, &options.options) else {
        heap.clear();
        refuse(connection, request, am::SYSTEM_LIMIT);
        return Ok(());
    };
    let pid = child.pid_term();
    // SAFETY: not published yet: the creator is its owner.
    let local = unsafe { child.local() };
    local.group_leader = request.group_leader.to_term(&mut local.heap);
    // No function has more arguments than that: the process fails when it calls it.
    let arity = u8::try_from(request.arity).unwrap_or(u8::MAX);
    local.initial_call = Mfa { module: request.module, function: request.function, arity };
    local.flags |= FLAG_SPAWNED_BY_NODE;
    let remote = local.relations.make().remote();
    remote.parent = Some(from);
    let mut flags = 0;
    if options.link || options.monitor.is_some() {
        // The connection cannot have ended without the process hearing of it: if it has, it tells itself below.
        let is_there = connection.relate(pid.payload());
        if is_there {
            remote.connections.push(connection.id);
        }
        if options.link {
            flags |= SPAWN_FLAG_LINK;
            remote.links.insert(from, RemoteLink { active: true, unlinking: 0, connection: connection.id });
        }
        if options.monitor.is_some() {
            flags |= SPAWN_FLAG_MONITOR;
            remote.watchers.insert(reference, RemoteWatcher { watcher: from, name: None, connection: connection.id });
        }
        if !is_there {
            let gone = RemoteSignal { connection: connection.id, what: Inbound::Disconnected };
            child.state.push_to_itself(Signal::remote(gone));
        }
    }
    let first = RemoteSignal {
        connection: connection.id,
        what: Inbound::Message { alias: None, payload: arguments, token: request.token.clone() },
    };
    child.state.push_to_itself(Signal::remote(first));
    child.state.push_to_itself(Signal::message(Package::immediate(am::DIST_SPAWN_INIT.into())));
    let token = request.token.as_ref().and_then(|token| {
        let (told, reply) = told(&mut heap, request, am::OK, pid);
        seq::spawn_received(local, pid, token, told, reply)
    });
    let token = token.map(|token| token.term(&mut heap));
    if let Some(new) = PidView::of(pid) {
        // Before the process runs, so before all that it sends itself.
        let reply = Control::SpawnReply { reference, to: from, flags, result: Spawned::Pid(new), token };
        sending::control(connection, pid.payload(), &reply, None);
    }
    events::spawn_from_node(from, &child, list, options.link);
    sched::start_process(child);
    heap.clear();
    Ok(())
}

/// What sequential tracing tells of the request and the answer.
fn told(heap: &mut Heap, request: &Request, kind: Atom, result: Term) -> (Term, Term) {
    let (reference, from) = (request.reference.to_term(heap), request.from.to_term(heap));
    let group_leader = request.group_leader.to_term(heap);
    let call = heap.tuple(&[request.module.into(), request.function.into(), Term::small(request.arity)]);
    let asked = heap.tuple(&[Atom::new("spawn_request").into(), reference, from, group_leader, call, request.options]);
    let reply = heap.tuple(&[am::SPAWN_REPLY.into(), reference, kind.into(), result]);
    (asked, reply)
}

fn refuse(connection: &Connection, request: &Request, why: Atom) {
    let mut heap = Heap::new();
    let token = request.token.as_ref().map(|token| {
        let (asked, reply) = told(&mut heap, request, am::ERROR, why.into());
        seq::spawn_refused(token, asked, reply).term(&mut heap)
    });
    let (reference, to) = (request.reference, request.from);
    let reply = Control::SpawnReply { reference, to, flags: 0, result: Spawned::Error(why), token };
    sending::control(connection, u64::MAX, &reply, None);
    heap.clear();
}
