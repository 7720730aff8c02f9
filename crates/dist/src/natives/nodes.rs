//! The node's own name, and what is known of others.

use crate::connection::{Connection, Stage};
use crate::{alive, table};
use heddle_natives::args;
use heddle_runtime::process::{NativeResult, Process};
use heddle_runtime::send::node_name;
use heddle_runtime::send_remote;
use heddle_term::ident::{PidView, PortView, RefView};
use heddle_term::{Atom, Term, am, map, node};
use std::sync::Arc;

heddle_runtime::natives! { TABLE:
    "erlang" => {
        "node"/0 => node_0,
        "node"/1 => node_1,
        "nodes"/0 => nodes_0,
        "nodes"/1 => nodes_1,
        "nodes"/2 => nodes_2,
        "setnode"/2 => setnode,
        "monitor_node"/2 => monitor_node_2,
        "monitor_node"/3 => monitor_node_3,
    }
    "net_kernel" => { "dflag_unicode_io"/1 => dflag_unicode_io }
    "erts_internal" => { "get_creation"/0 => get_creation }
}

fn node_0(_: &mut Process, _: &[Term]) -> NativeResult {
    Ok(node_name().into())
}

fn node_1(p: &mut Process, a: &[Term]) -> NativeResult {
    let node = PidView::of(a[0])
        .map(|pid| pid.node)
        .or_else(|| PortView::of(a[0]).map(|port| port.node))
        .or_else(|| RefView::of(a[0]).map(|reference| reference.node));
    node.map(Term::from).ok_or_else(|| p.badarg())
}

/// A name and the creation that tells this life of the node from earlier ones.
fn setnode(p: &mut Process, a: &[Term]) -> NativeResult {
    let name = a[0].as_atom().filter(|&name| is_node_name(name) && name != am::NONODE_NOHOST);
    let creation = args::count(a[1]).and_then(|creation| u32::try_from(creation).ok());
    match (name, creation) {
        (Some(name), Some(creation)) if alive::begin(name, creation) => Ok(Term::bool(true)),
        _ => Err(p.badarg()),
    }
}

/// `Name@Host`, neither of them empty.
pub fn is_node_name(name: Atom) -> bool {
    name.name().split_once('@').is_some_and(|(name, host)| !name.is_empty() && !host.is_empty() && !host.contains('@'))
}

/// The kinds of nodes that an argument names.
#[derive(Default)]
struct Kinds {
    visible: bool,
    hidden: bool,
    this: bool,
    unconnected: bool,
}

impl Kinds {
    fn parse(term: Term) -> Option<Kinds> {
        let list = if term.is_list() { args::list(term)? } else { vec![term] };
        let mut kinds = Kinds::default();
        for kind in list {
            match kind.as_atom()?.name() {
                "visible" => kinds.visible = true,
                "hidden" => kinds.hidden = true,
                "this" => kinds.this = true,
                "connected" => (kinds.visible, kinds.hidden) = (true, true),
                "known" => (kinds.visible, kinds.hidden, kinds.this, kinds.unconnected) = (true, true, true, true),
                _ => return None,
            }
        }
        Some(kinds)
    }

    /// The nodes of these kinds: name, kind, number of the connection.
    fn nodes(&self) -> Vec<(Atom, &'static str, Option<u32>)> {
        let mut found = Vec::new();
        for node in table::all() {
            let connection: Option<Arc<Connection>> = node.connection().filter(|connection| connection.stage() == Stage::Up);
            match connection {
                Some(connection) if connection.is_visible() && self.visible => {
                    found.push((node.name, "visible", Some(connection.id.number)))
                }
                Some(connection) if !connection.is_visible() && self.hidden => {
                    found.push((node.name, "hidden", Some(connection.id.number)))
                }
                None if self.unconnected => found.push((node.name, "known", None)),
                _ => {}
            }
        }
        if self.this {
            found.push((node_name(), "this", None));
        }
        found
    }
}

fn nodes_0(p: &mut Process, _: &[Term]) -> NativeResult {
    let names = Kinds { visible: true, ..Kinds::default() }.nodes();
    Ok(list_of(p, &names))
}

fn nodes_1(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(kinds) = Kinds::parse(a[0]) else { return Err(p.badarg()) };
    Ok(list_of(p, &kinds.nodes()))
}

fn list_of(p: &mut Process, nodes: &[(Atom, &'static str, Option<u32>)]) -> Term {
    let names: Vec<Term> = nodes.iter().map(|node| node.0.into()).collect();
    p.heap.list(&names)
}

/// `[{Node, #{connection_id => Number, node_type => Kind}}]`, with the keys that the options ask for.
fn nodes_2(p: &mut Process, a: &[Term]) -> NativeResult {
    let (Some(kinds), true) = (Kinds::parse(a[0]), a[1].is_map()) else { return Err(p.badarg()) };
    let (mut numbers, mut types) = (false, false);
    for (key, value) in map::MapIter::new(a[1]) {
        let wanted = match key.as_atom().map(|key| key.name()) {
            Some("connection_id") => &mut numbers,
            Some("node_type") => &mut types,
            _ => return Err(p.badarg()),
        };
        let Some(on) = args::boolean(value) else { return Err(p.badarg()) };
        *wanted = on;
    }
    let mut rows = Vec::new();
    for (name, kind, number) in kinds.nodes() {
        let mut pairs: Vec<(Term, Term)> = Vec::new();
        if numbers {
            pairs.push((Atom::new("connection_id").into(), number.map_or(am::UNDEFINED.into(), |number| Term::small(number as i64))));
        }
        if types {
            pairs.push((Atom::new("node_type").into(), Atom::new(kind).into()));
        }
        let info = map::from_pairs(&mut p.heap, &pairs);
        rows.push(p.heap.tuple(&[name.into(), info]));
    }
    Ok(p.heap.list(&rows))
}

fn monitor_node_2(p: &mut Process, a: &[Term]) -> NativeResult {
    monitor_node_3(p, &[a[0], a[1], Term::NIL])
}

fn monitor_node_3(p: &mut Process, a: &[Term]) -> NativeResult {
    let passive = Atom::new("allow_passive_connect");
    let Some(options) = args::list(a[2]).filter(|options| options.iter().all(|option| option.is_atom_of(passive))) else {
        return Err(p.badarg_cause(Atom::new("badopt")));
    };
    let (Some(node), Some(on)) = (a[0].as_atom(), args::boolean(a[1])) else { return Err(p.badarg()) };
    if node != am::NONODE_NOHOST && !alive::may_connect() {
        return Err(p.error(Atom::new("notalive")));
    }
    if node == node_name() {
        return Ok(Term::bool(true));
    }
    let may_connect = options.is_empty();
    if on && !may_connect && !is_up(node) {
        // The Erlang side waits for a connection that the other node makes.
        return Err(p.trap_to(am::ERLANG, Atom::new("dmonitor_node"), &[a[0], a[1], a[2]]));
    }
    send_remote::monitor_node(p, node, on, may_connect);
    Ok(Term::bool(true))
}

fn is_up(name: Atom) -> bool {
    table::find(name).and_then(|node| node.connection()).is_some_and(|connection| connection.stage() == Stage::Up)
}

/// True if the node of this pid takes Unicode in I/O requests. Every node since R13 does.
fn dflag_unicode_io(p: &mut Process, a: &[Term]) -> NativeResult {
    if a[0].is_pid() { Ok(Term::bool(true)) } else { Err(p.badarg()) }
}

fn get_creation(_: &mut Process, _: &[Term]) -> NativeResult {
    Ok(match node::creation() {
        0 => am::UNDEFINED.into(),
        creation => Term::small(creation as i64),
    })
}
