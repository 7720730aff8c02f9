//! The node's own name, and what is known of others: nothing yet, since there is no distribution.

use heddle_natives::args;
use heddle_runtime::process::{NativeResult, Process};
use heddle_runtime::send::node_name;
use heddle_term::{Atom, Term, am};

heddle_runtime::natives! { TABLE:
    "erlang" => {
        "node"/0 => node_0,
        "node"/1 => node_1,
        "nodes"/0 => nodes_0,
        "nodes"/1 => nodes_1,
        "nodes"/2 => nodes_2,
        "monitor_node"/2 => monitor_node_2,
        "monitor_node"/3 => monitor_node_3,
    }
    "net_kernel" => { "dflag_unicode_io"/1 => dflag_unicode_io }
    "erts_internal" => {
        "get_creation"/0 => get_creation,
    }
}

fn node_0(_: &mut Process, _: &[Term]) -> NativeResult {
    Ok(node_name().into())
}

fn node_1(p: &mut Process, a: &[Term]) -> NativeResult {
    use heddle_term::Kind;
    let t = a[0];
    if t.is_local_pid() || t.is_local_port() || matches!(t.kind(), Some(Kind::Ref | Kind::MagicRef)) {
        return Ok(node_name().into());
    }
    match t.kind() {
        Some(Kind::ExtPid | Kind::ExtPort | Kind::ExtRef) => Ok(t.slot(0)),
        _ => Err(p.badarg()),
    }
}

fn nodes_0(_: &mut Process, _: &[Term]) -> NativeResult {
    Ok(Term::NIL)
}

/// The kinds of nodes that an argument names. None if one is unknown.
fn kinds(term: Term) -> Option<Vec<Atom>> {
    let list = if term.is_list() { args::list(term)? } else { vec![term] };
    let known = ["visible", "hidden", "connected", "this", "known"];
    list.into_iter().map(|t| t.as_atom().filter(|a| known.contains(&a.name()))).collect()
}

fn nodes_1(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(kinds) = kinds(a[0]) else { return Err(p.badarg()) };
    if kinds.iter().any(|k| matches!(k.name(), "this" | "known")) {
        return Ok(p.heap.list(&[node_name().into()]));
    }
    Ok(Term::NIL)
}

fn nodes_2(p: &mut Process, a: &[Term]) -> NativeResult {
    if kinds(a[0]).is_none() || !a[1].is_map() {
        return Err(p.badarg());
    }
    let names = nodes_1(p, a)?;
    if names.is_nil() {
        return Ok(Term::NIL);
    }
    let info = heddle_term::map::empty();
    let pair = p.heap.tuple(&[node_name().into(), info]);
    Ok(p.heap.list(&[pair]))
}

fn monitor_node_2(p: &mut Process, a: &[Term]) -> NativeResult {
    monitor_node_3(p, &[a[0], a[1], Term::NIL])
}

/// Every other node is down, so {nodedown, Node} is sent at once.
fn monitor_node_3(p: &mut Process, a: &[Term]) -> NativeResult {
    let (Some(node), Some(on)) = (a[0].as_atom(), args::boolean(a[1])) else { return Err(p.badarg()) };
    if on && node != node_name() {
        if node_name() == am::NONODE_NOHOST {
            return Err(p.error(Atom::new("notalive")));
        }
        let message = p.heap.tuple(&[Atom::new("nodedown").into(), node.into()]);
        let me = p.pid_term();
        heddle_runtime::send::send(p, me, message);
    }
    Ok(Term::bool(true))
}

/// process_flag(monitor_nodes | {monitor_nodes, Options}, Bool): no node ever comes or goes.
pub fn monitor_nodes(p: &mut Process, options: Term, value: Term) -> NativeResult {
    let Some(on) = args::boolean(value) else { return Err(p.badarg()) };
    if !(options.is_list() || options.is_map()) {
        return Err(p.badarg());
    }
    let asked = &mut p.rare().asked_for_nodes;
    // The result is the count before.
    let old = std::mem::replace(asked, if on { *asked + 1 } else { 0 });
    Ok(Term::small(old as i64))
}

/// True if the node of this pid takes Unicode in I/O requests. Every node since R13 does.
fn dflag_unicode_io(p: &mut Process, a: &[Term]) -> NativeResult {
    if a[0].is_pid() { Ok(Term::bool(true)) } else { Err(p.badarg()) }
}

fn get_creation(_: &mut Process, _: &[Term]) -> NativeResult {
    Ok(Term::small(heddle_term::node::creation() as i64))
}
