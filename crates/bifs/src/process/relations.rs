//! Links, monitors, aliases, exit signals.

use super::spawn::MonitorOptions;
use heddle_natives::args;
use heddle_runtime::links::{AliasMode, MonitorKind, Monitoring};
use heddle_runtime::nodes::{self, Target as RemoteTarget};
use heddle_runtime::process::{NativeResult, Process};
use heddle_runtime::send::{self, Demonitored, node_name};
use heddle_runtime::send_remote;
use heddle_runtime::{Package, RefId, names, proctab, refs, task, time_offset};
use heddle_term::ident::{PidView, PortView, RefView};
use heddle_term::{Atom, Term, am};

heddle_runtime::natives! { TABLE:
    "erlang" => {
        "link"/1 => link,
        "unlink"/1 => unlink,
        "monitor"/2 => monitor_2,
        "monitor"/3 => monitor_3,
        "demonitor"/1 => demonitor_1,
        "demonitor"/2 => demonitor_2,
        "alias"/1 => alias,
        "unalias"/1 => unalias,
        "exit"/2 => exit_2,
        "exit_signal"/2 => exit_2,
        "make_ref"/0 => make_ref,
    }
}

pub fn reference_term(p: &mut Process, id: RefId, alias: AliasMode) -> Term {
    if alias == AliasMode::None { p.heap.reference(id.words()) } else { p.heap.alias_reference(id.words(), p.pid()) }
}

fn make_ref(p: &mut Process, _: &[Term]) -> NativeResult {
    Ok(p.heap.reference(refs::fresh().words()))
}

/// A port that has nothing else to do hears of its links at once, as in stock.
fn hears(port: Term) {
    if port.is_local_port() {
        drop(proctab::find(port).and_then(task::try_now));
    }
}

fn link(p: &mut Process, a: &[Term]) -> NativeResult {
    if a[0].is_local_pid() || a[0].is_local_port() {
        let is_linked = send::link(p, a[0]);
        hears(a[0]);
        return if is_linked { Ok(Term::bool(true)) } else { Err(p.error(am::NOPROC)) };
    }
    if let Some(other) = PidView::of(a[0]).filter(|view| view.node != node_name()) {
        send_remote::link(p, other);
        return nodes::nodes().returns(p, other.node, am::TRUE.into());
    }
    let is_of_this_node = a[0].is_pid() || PortView::of(a[0]).map(|view| view.node) == Some(node_name());
    match is_of_this_node {
        false => Err(p.badarg()),
        // Of an earlier life of this node.
        true if p.trap_exit => {
            send::build_message(p.pid(), |heap| {
                let from = heap.copy(a[0]);
                heap.tuple(&[am::EXIT_UPPER.into(), from, am::NOPROC.into()])
            });
            Ok(Term::bool(true))
        }
        true => Err(p.error(am::NOPROC)),
    }
}

fn unlink(p: &mut Process, a: &[Term]) -> NativeResult {
    if !(a[0].is_pid() || a[0].is_port()) {
        return Err(p.badarg());
    }
    if a[0].is_local_pid() || a[0].is_local_port() {
        send::unlink(p, a[0]);
        hears(a[0]);
    } else if let Some(other) = PidView::of(a[0]) {
        send_remote::unlink(p, other);
        return nodes::nodes().returns(p, other.node, am::TRUE.into());
    }
    Ok(Term::bool(true))
}

/// Options of monitor/3 and of the monitor option of spawn.
pub fn parse_monitor_options(list: Term) -> Option<MonitorOptions> {
    let mut options = MonitorOptions::default();
    for item in args::list(list)? {
        let (name, value) = args::option(item)?;
        match name.name() {
            "alias" => {
                options.alias = Some(match value.as_atom()?.name() {
                    "explicit_unalias" => AliasMode::Explicit,
                    "demonitor" => AliasMode::Demonitor,
                    "reply_demonitor" => AliasMode::ReplyDemonitor,
                    _ => return None,
                })
            }
            "tag" => options.tag = Some(value),
            _ => return None,
        }
    }
    Some(options)
}

fn monitor_2(p: &mut Process, a: &[Term]) -> NativeResult {
    start_monitor(p, a, MonitorOptions::default())
}

fn monitor_3(p: &mut Process, a: &[Term]) -> NativeResult {
    match parse_monitor_options(a[2]) {
        Some(options) => start_monitor(p, a, options),
        None => Err(p.badarg_cause(Atom::new("badopt"))),
    }
}

fn start_monitor(p: &mut Process, a: &[Term], options: MonitorOptions) -> NativeResult {
    let Some(kind) = a[0].as_atom() else { return Err(p.badarg_cause(Atom::new("badtype"))) };
    let alias = options.alias.unwrap_or(AliasMode::None);
    let id = refs::fresh();
    match kind.name() {
        "process" | "port" => {}
        "time_offset" if a[1].is_atom_of(am::CLOCK_SERVICE) => {
            let tag = options.tag.map(Package::new);
            let m = Monitoring { target: Term::NONE, name: None, alias, tag, kind: MonitorKind::TimeOffset };
            let inner = p.relations.make();
            inner.monitoring.insert(id, m);
            if alias != AliasMode::None {
                inner.aliases.insert(id, alias);
            }
            time_offset::watched_by(p.pid());
            return Ok(reference_term(p, id, alias));
        }
        "time_offset" => return Err(p.badarg()),
        _ => return Err(p.badarg_cause(Atom::new("badtype"))),
    }
    let is_port = kind.name() == "port";
    let (target, name) = match target(a[1], is_port) {
        Target::Id(term) => (term, None),
        Target::Name(name) => {
            let id = names::whereis(name).filter(|t| t.is_local_port() == is_port);
            (id.unwrap_or(Term::NONE), Some(name))
        }
        Target::Gone(reason) => {
            let me = p.pid();
            send::build_message(me, |heap| {
                let tag = options.tag.map_or(am::DOWN_UPPER.into(), |tag| heap.copy(tag));
                let reference = if alias == AliasMode::None { heap.reference(id.words()) } else { heap.alias_reference(id.words(), me) };
                let object = heap.copy(a[1]);
                heap.tuple(&[tag, reference, Atom::new(if is_port { "port" } else { "process" }).into(), object, reason.into()])
            });
            if alias == AliasMode::Explicit {
                p.relations.make().aliases.insert(id, alias);
            }
            return Ok(reference_term(p, id, alias));
        }
        Target::Remote(node, target) => {
            send_remote::monitor(p, node, target, id, alias, options.tag.map(Package::new));
            let reference = reference_term(p, id, alias);
            return nodes::nodes().returns(p, node, reference);
        }
        Target::Bad => return Err(p.badarg()),
    };
    let tag = options.tag.map(Package::new);
    let kind = if is_port { MonitorKind::Port } else { MonitorKind::Process };
    send::monitor(p, kind, target, name, id, alias, tag);
    Ok(reference_term(p, id, alias))
}

enum Target {
    Id(Term),
    Name(Atom),
    /// A process of another node.
    Remote(Atom, RemoteTarget),
    /// A process of an earlier life of this node: the reason for 'DOWN'.
    Gone(Atom),
    Bad,
}

fn target(term: Term, is_port: bool) -> Target {
    if term.is_local_pid() && !is_port || term.is_local_port() && is_port {
        return Target::Id(term);
    }
    if let Some(name) = term.as_atom() {
        return Target::Name(name);
    }
    match term.as_tuple() {
        Some([name, node]) => match (name.as_atom(), node.as_atom()) {
            (Some(name), Some(node)) if node == node_name() => Target::Name(name),
            // A node that has no name refuses the names of other nodes (callers go on without a monitor then).
            (Some(name), Some(node)) if !is_port && nodes::nodes().is_alive() => Target::Remote(node, RemoteTarget::Name(name)),
            _ => Target::Bad,
        },
        _ if term.is_pid() && !is_port => match PidView::of(term) {
            Some(view) if view.node != node_name() => Target::Remote(view.node, RemoteTarget::Pid(view)),
            _ => Target::Gone(am::NOPROC),
        },
        // Ports of other nodes cannot be monitored.
        _ if term.is_port() && is_port => match PortView::of(term) {
            Some(view) if view.node == node_name() => Target::Gone(am::NOPROC),
            _ => Target::Bad,
        },
        _ => Target::Bad,
    }
}

fn demonitor_1(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(id) = RefId::of(a[0]) else {
        return if is_old_reference(a[0]) { Ok(Term::bool(true)) } else { Err(p.badarg()) };
    };
    let node = send_remote::monitored_node(p, id);
    send::demonitor(p, id);
    match node {
        Some(node) => nodes::nodes().returns(p, node, am::TRUE.into()),
        None => Ok(am::TRUE.into()),
    }
}

/// True if the reference is of an earlier life of this node.
fn is_old_reference(term: Term) -> bool {
    RefView::of(term).is_some_and(|reference| reference.node == node_name())
}

fn demonitor_2(p: &mut Process, a: &[Term]) -> NativeResult {
    if !a[0].is_reference() {
        return Err(p.badarg());
    }
    let Some(options) = args::list(a[1]) else { return Err(p.badarg()) };
    let (mut flush, mut info) = (false, false);
    for option in options {
        match option.as_atom().map(|o| o.name()) {
            Some("flush") => flush = true,
            Some("info") => info = true,
            _ => return Err(p.badarg_cause(Atom::new("badopt"))),
        }
    }
    let Some(id) = RefId::of(a[0]) else {
        return if is_old_reference(a[0]) { Ok(Term::bool(!info)) } else { Err(p.badarg()) };
    };
    let node = send_remote::monitored_node(p, id);
    let ended = send::end_monitor(p, id);
    let (found, tells_often) = (ended != Demonitored::Nothing, ended == Demonitored::Often);
    if let Some(node) = node {
        return nodes::nodes().returns(p, node, Term::bool(!info || found));
    }
    let result = Term::bool(found || !info);
    if flush && (tells_often || !found) {
        // Messages may be there already: the Erlang side takes one out of the queue, or all.
        return Err(p.trap_to(am::ERTS_INTERNAL, Atom::new("flush_monitor_messages"), &[a[0], Term::bool(tells_often), result]));
    }
    Ok(result)
}

fn alias(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(options) = args::list(a[0]) else { return Err(p.badarg()) };
    let mut mode = AliasMode::Explicit;
    for option in options {
        mode = match option.as_atom().map(|o| o.name()) {
            Some("explicit_unalias") => AliasMode::Explicit,
            Some("reply") => AliasMode::Reply,
            _ => return Err(p.badarg_cause(Atom::new("badopt"))),
        };
    }
    let id = refs::fresh();
    p.relations.make().aliases.insert(id, mode);
    Ok(reference_term(p, id, mode))
}

fn unalias(p: &mut Process, a: &[Term]) -> NativeResult {
    if !a[0].is_reference() {
        return Err(p.badarg());
    }
    let removed = match (RefId::of(a[0]), p.relations.get_mut()) {
        (Some(id), Some(inner)) => inner.aliases.remove(&id).is_some(),
        _ => false,
    };
    Ok(Term::bool(removed))
}

fn exit_2(p: &mut Process, a: &[Term]) -> NativeResult {
    if a[0].is_local_pid() || a[0].is_local_port() {
        let to_self = a[0] == p.pid_term();
        send::exit_signal(p, a[0], a[1]);
        if to_self {
            // Signals that came before are handled before anything else happens here.
            if heddle_runtime::handle::drain(p) == heddle_runtime::handle::After::Exit {
                return Err(heddle_runtime::Thrown::ExitNow);
            }
        }
        return Ok(Term::bool(true));
    }
    if let Some(other) = PidView::of(a[0]).filter(|view| view.node != node_name()) {
        if !send_remote::exit(p, other, a[1]) {
            return Err(p.system_limit());
        }
        return nodes::nodes().returns(p, other.node, am::TRUE.into());
    }
    if a[0].is_pid() || a[0].is_port() {
        return Ok(Term::bool(true));
    }
    Err(p.badarg())
}
