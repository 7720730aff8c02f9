//! Terms of other nodes (or of an earlier life of this one) in tables and timers, as OTP's tests count them. No counters
//! are kept: terms carry their node's name, so this walks through tables and timers. Heaps of processes are not walked.

use heddle_runtime::process::Process;
use heddle_runtime::{sched, send, timer_refs};
use heddle_term::boxed::Kind;
use heddle_term::ident::{PidView, PortView, RefView};
use heddle_term::{Atom, Term};
use std::collections::BTreeMap;

/// A node's name and creation.
type Node = (Atom, u32);

#[derive(Default)]
struct Found {
    tables: i64,
    timers: i64,
}

fn node_of(term: Term) -> Option<Node> {
    match term.kind()? {
        Kind::ExtPid => PidView::of(term).map(|view| (view.node, view.creation)),
        Kind::ExtPort => PortView::of(term).map(|view| (view.node, view.creation)),
        Kind::ExtRef => RefView::of(term).map(|view| (view.node, view.creation)),
        _ => None,
    }
}

/// Calls `f` for every term of another node inside `root`.
fn for_each(root: Term, mut f: impl FnMut(Node)) {
    let mut todo = vec![root];
    while let Some(term) = todo.pop() {
        if term.is_cons() {
            todo.extend([term.head(), term.tail()]);
        } else if let Some(node) = node_of(term) {
            f(node);
        } else if let Some(kind) = term.kind()
            && matches!(kind, Kind::Tuple | Kind::FlatMap | Kind::HashMap | Kind::HashNode | Kind::Fun)
        {
            todo.extend((kind.raw_words()..term.header().arity()).map(|i| term.slot(i)));
        }
    }
}

/// `{{node_references, [{Node, Count, [{Referrer, [{Type, Count}]}]}]}, {dist_references, Same}}`
pub fn references(p: &mut Process) -> Term {
    timer_refs::sweep();
    let mut found: BTreeMap<(&str, u32), Found> = BTreeMap::new();
    for table in heddle_ets::registry::all() {
        table.for_each(|object| for_each(object.tuple(), |(name, creation)| found.entry((name.name(), creation)).or_default().tables += 1));
    }
    sched::timers().for_each_message(|message| {
        for_each(message, |(name, creation)| found.entry((name.name(), creation)).or_default().timers += 1);
    });
    let atom = |name: &str| -> Term { Atom::new(name).into() };
    let mut rows = Vec::new();
    for ((name, creation), found) in found {
        let node = p.heap.tuple(&[atom(name), Term::small(creation as i64)]);
        let mut referrers = Vec::new();
        for (kind, count) in [("ets", found.tables), ("timer", found.timers)] {
            if count > 0 {
                let by = p.heap.tuple(&[atom(kind), Term::small(count)]);
                let by = p.heap.list(&[by]);
                let who = p.heap.tuple(&[atom("system"), atom(kind)]);
                referrers.push(p.heap.tuple(&[who, by]));
            }
        }
        let referrers = p.heap.list(&referrers);
        rows.push(p.heap.tuple(&[node, Term::small(found.tables + found.timers), referrers]));
    }
    // This node is always there.
    let system = p.heap.tuple(&[atom("system"), Term::small(1)]);
    let system = p.heap.list(&[system]);
    let who = p.heap.tuple(&[atom("system"), atom("node")]);
    let who = p.heap.tuple(&[who, system]);
    let who = p.heap.list(&[who]);
    let own = p.heap.tuple(&[send::node_name().into(), Term::small(heddle_term::node::creation() as i64)]);
    rows.push(p.heap.tuple(&[own, Term::small(1), who]));
    let nodes = p.heap.list(&rows);
    let dist = p.heap.tuple(&[send::node_name().into(), Term::small(1), who]);
    let dist = p.heap.list(&[dist]);
    let nodes = p.heap.tuple(&[atom("node_references"), nodes]);
    let dist = p.heap.tuple(&[atom("dist_references"), dist]);
    p.heap.tuple(&[nodes, dist])
}
