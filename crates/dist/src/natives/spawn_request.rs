//! `spawn_request` to another node, on which `spawn/2,4` and their like are built.

use crate::connection::Stage;
use crate::flags;
use crate::sending::{self, connection_to};
use crate::wire::Control;
use heddle_bifs::process::relations::{parse_monitor_options, reference_term};
use heddle_bifs::process::spawn::mfa_of;
use heddle_bifs::process::spawn_request::{refuse, reply_of, reply_when};
use heddle_natives::args;
use heddle_runtime::links::AliasMode;
use heddle_runtime::process::{NativeResult, Process};
use heddle_runtime::remote::Spawning;
use heddle_runtime::send::node_name;
use heddle_runtime::send_remote::{self, wire_reference};
use heddle_runtime::trace::seq;
use heddle_runtime::{Package, RefId, refs};
use heddle_term::ident::PidView;
use heddle_term::{Atom, Term, am};

heddle_runtime::natives! { TABLE:
    "erlang" => { "spawn_request_abandon"/1 => spawn_request_abandon }
    "erts_internal" => { "dist_spawn_request"/4 => dist_spawn_request }
}

/// What the options ask of this node; the others go to the other one.
struct Wanted {
    link: bool,
    monitor: Option<(AliasMode, Option<Package>)>,
    /// The options for the other node.
    others: Vec<Term>,
}

/// `(Node, {M, F, Args}, Options, spawn_opt | spawn_request)`. The reply comes as a message. The answer is the reference, for `spawn_opt` with
/// whether a monitor was asked for; or `badarg`.
fn dist_spawn_request(p: &mut Process, a: &[Term]) -> NativeResult {
    let named = |t: &&[Term]| t.len() == 3 && mfa_of(t[0], t[1], t[2]).is_some();
    let (Some(node), Some(call), Some(options)) = (a[0].as_atom(), a[1].as_tuple().filter(named), args::list(a[2])) else {
        return Ok(am::BADARG.into());
    };
    if node == node_name() {
        return Ok(am::BADARG.into());
    }
    let is_request = a[3].is_atom_of(Atom::new("spawn_request"));
    let wanted = match sort(&options, is_request) {
        Ok(wanted) => wanted,
        Err(at) if is_request => return Ok(refuse(p, &reply_of(&options[..at]), "badopt")),
        Err(_) => return Ok(am::BADARG.into()),
    };
    let reply = if is_request { reply_of(&options) } else { Default::default() };
    let alias = wanted.monitor.as_ref().map_or(AliasMode::None, |monitor| monitor.0);
    let is_monitored = wanted.monitor.is_some();
    let id = refs::fresh();
    let reference = reference_term(p, id, alias);
    let answer = if is_request { reference } else { p.heap.tuple(&[reference, Term::bool(is_monitored)]) };

    let connection = send_remote::connection(p, node).and_then(|_| connection_to(node, false));
    let can = connection.as_ref().map_or(Err("noconnection"), |connection| {
        // If it is not up, the request is refused when its turn comes.
        let can_spawn = connection.stage() == Stage::Pending || connection.can(flags::SPAWN);
        if can_spawn { Ok(()) } else { Err("notsup") }
    });
    let request = Spawning {
        connection: connection.as_ref().map_or(heddle_runtime::nodes::ConnectionId { node, number: 0 }, |connection| connection.id),
        link: wanted.link,
        monitor: wanted.monitor,
        tag: (!reply.tag.is_atom_of(am::SPAWN_REPLY)).then(|| Package::new(reply.tag)),
        tells_success: reply.success,
        tells_error: reply.error,
        abandoned: false,
    };
    let inner = p.relations.make();
    if alias != AliasMode::None {
        inner.aliases.insert(id, alias);
    }
    inner.remote().spawning.insert(id, request);
    let sent = can.and_then(|()| {
        let (Some(connection), Some(from), Some(group_leader)) = (&connection, PidView::of(p.pid_term()), PidView::of(p.group_leader))
        else {
            return Err("noconnection");
        };
        let (module, function) = (call[0].as_atom().unwrap_or(am::UNDEFINED), call[1].as_atom().unwrap_or(am::UNDEFINED));
        let arguments = call[2];
        let arity = args::length(arguments).unwrap_or(0) as i64;
        let options = p.heap.list(&wanted.others);
        let reference = wire_reference(id, alias, p.pid());
        let token = if seq::has_token(p) {
            let (reference, call) = (reference.to_term(&mut p.heap), p.heap.tuple(&[call[0], call[1], Term::small(arity)]));
            let request = [Atom::new("spawn_request").into(), reference, p.pid_term(), p.group_leader, call, options];
            let request = p.heap.tuple(&request);
            seq::spawn_sent(p, node, request, arguments).map(|token| token.term(&mut p.heap))
        } else {
            None
        };
        let control = Control::SpawnRequest { reference, from, group_leader, module, function, arity, options, token };
        if sending::control(connection, p.pid(), &control, Some(arguments)) { Ok(()) } else { Err("noconnection") }
    });
    if let Err(why) = sent {
        send_remote::spawn_refused(p, id, Atom::new(why));
    }
    sending::returns(p, node, answer)
}

/// Error: the place of the first wrong option.
fn sort(options: &[Term], is_request: bool) -> Result<Wanted, usize> {
    let mut wanted = Wanted { link: false, monitor: None, others: Vec::new() };
    for (at, &item) in options.iter().enumerate() {
        if item.is_atom_of(am::MONITOR) {
            wanted.monitor.get_or_insert((AliasMode::None, None));
            continue;
        }
        wanted.link |= item.is_atom_of(am::LINK);
        let Some((name, value)) = args::option(item) else {
            wanted.others.push(item);
            continue;
        };
        match name.name() {
            "reply" if is_request && reply_when(value).is_some() => {}
            "reply_tag" if is_request => {}
            "reply" | "reply_tag" => return Err(at),
            "monitor" => {
                let options = parse_monitor_options(value).ok_or(at)?;
                wanted.monitor = Some((options.alias.unwrap_or(AliasMode::None), options.tag.map(Package::new)));
            }
            _ => wanted.others.push(item),
        }
    }
    if wanted.monitor.is_some() {
        wanted.others.push(am::MONITOR.into());
    }
    Ok(wanted)
}

/// True if the request had no answer yet: then there will be none.
fn spawn_request_abandon(p: &mut Process, a: &[Term]) -> NativeResult {
    if !a[0].is_reference() {
        return Err(p.badarg());
    }
    let (Some(id), Some(inner)) = (RefId::of(a[0]), p.relations.get_mut()) else { return Ok(Term::bool(false)) };
    let request = inner.remote.as_mut().and_then(|remote| remote.spawning.get_mut(&id)).filter(|request| !request.abandoned);
    let Some(request) = request else { return Ok(Term::bool(false)) };
    request.abandoned = true;
    inner.aliases.remove(&id);
    Ok(Term::bool(true))
}
