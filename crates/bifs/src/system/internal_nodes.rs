//! What refers to other nodes (or to an earlier life of this one), as OTP's tests count it. No counters are kept: terms carry their
//! node's name, so this walks through tables, timers, and the links and monitors of processes. Heaps of processes are not walked.

use super::crash_dump;
use heddle_runtime::nodes::{Target, nodes};
use heddle_runtime::process::{NativeResult, Process};
use heddle_runtime::{proctab, sched, send, stop_world, timer_refs};
use heddle_term::boxed::Kind;
use heddle_term::ident::{PidView, PortView, RefView};
use heddle_term::{Atom, Heap, Term};
use std::collections::BTreeMap;

/// A node's name and creation.
type Node = (Atom, u32);

/// What refers to a node, what kind of references these are, and how many.
type Referrers = BTreeMap<(Referrer, &'static str), i64>;

#[derive(PartialEq, Eq, PartialOrd, Ord, Clone, Copy)]
enum Referrer {
    /// A part of the VM.
    System(&'static str),
    Process(u64),
    /// The carrier of a connection, a port.
    Port(u64),
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

/// Counts the links and monitors that a process has with other nodes: for a monitor on it, the process and the reference.
fn relations(q: &Process, found: &mut BTreeMap<Node, Referrers>) {
    let Some(remote) = q.relations.get().and_then(|inner| inner.remote.as_deref()) else { return };
    let mut add = |node: Atom, creation: u32, kind, count| {
        *found.entry((node, creation)).or_default().entry((Referrer::Process(q.pid()), kind)).or_default() += count;
    };
    remote.links.keys().for_each(|link| add(link.node, link.creation, "link", 1));
    remote.watchers.keys().for_each(|reference| add(reference.node, reference.creation, "monitor", 2));
    for monitoring in remote.monitoring.values() {
        if let Target::Pid(pid) = monitoring.target {
            add(pid.node, pid.creation, "monitor", 1);
        }
    }
}

/// How long the schedulers may take to stop, in ms.
const LONGEST_STOP_MS: u64 = 500;

/// The relations of all processes. The schedulers are stopped meanwhile; processes that do not stop are left out. None: another thread has
/// stopped them; call again later.
fn all_relations(p: &Process) -> Option<BTreeMap<Node, Referrers>> {
    let stopped = stop_world::stop_others_alone(LONGEST_STOP_MS)?;
    let found = crash_dump::in_window(|| {
        let mut found = BTreeMap::new();
        proctab::for_each(|q| {
            let state = q.state.load();
            if q.pid == p.pid() {
                relations(p, &mut found);
            } else if stopped && !state.is_running() && !state.is_dirty() && !state.is_exiting() {
                // SAFETY: it does not run: schedulers stand still, and no dirty thread has it.
                relations(unsafe { q.local() }, &mut found);
            }
        });
        found
    });
    stop_world::release_others();
    Some(found)
}

/// `{{node_references, [{Node, Count, [{Referrer, [{Type, Count}]}]}]}, {dist_references, Same}}`. A process from which this is called has
/// its own relations counted as well.
pub fn references(p: &mut Process) -> NativeResult {
    timer_refs::sweep();
    let Some(mut found) = all_relations(p) else { return Err(p.again(&[Atom::new("node_and_dist_references").into()])) };
    let mut add = |node: Node, part: &'static str, kind: &'static str| {
        *found.entry(node).or_default().entry((Referrer::System(part), kind)).or_default() += 1;
    };
    for table in heddle_ets::registry::all() {
        table.for_each(|object| for_each(object.tuple(), |node| add(node, "ets", "ets")));
    }
    sched::timers().for_each_message(|message| for_each(message, |node| add(node, "timer", "timer")));
    // This node is always there, and so are those with a connection.
    let own = send::node_name();
    add((own, heddle_term::node::creation()), "node", "system");
    let mut connected: BTreeMap<Atom, Referrers> = BTreeMap::new();
    connected.entry(own).or_default().insert((Referrer::System("node"), "system"), 1);
    for (node, carrier) in nodes().carriers() {
        if let Some((_, creation)) = nodes().shown_as(node.index().into()) {
            add((node, creation), "connection", "system");
        }
        let carrier = if carrier.is_port() { Referrer::Port(carrier.payload()) } else { Referrer::Process(carrier.payload()) };
        connected.entry(node).or_default().insert((carrier, "control"), 1);
    }
    let rows: Vec<Term> = found
        .into_iter()
        .map(|((node, creation), referrers)| {
            let node = p.heap.tuple(&[node.into(), Term::small(creation.into())]);
            row(&mut p.heap, node, referrers)
        })
        .collect();
    let rows_of_connections: Vec<Term> = connected.into_iter().map(|(node, referrers)| row(&mut p.heap, node.into(), referrers)).collect();
    let mut named = |name: &str, rows: &[Term]| {
        let rows = p.heap.list(rows);
        p.heap.tuple(&[Atom::new(name).into(), rows])
    };
    let all = [named("node_references", &rows), named("dist_references", &rows_of_connections)];
    Ok(p.heap.tuple(&all))
}

/// `{Node, Count, [{Referrer, [{Type, Count}]}]}`
fn row(heap: &mut Heap, node: Term, referrers: Referrers) -> Term {
    let atom = |name: &str| -> Term { Atom::new(name).into() };
    let count: i64 = referrers.values().sum();
    let mut by_referrer: BTreeMap<Referrer, Vec<Term>> = BTreeMap::new();
    for ((referrer, kind), count) in referrers {
        by_referrer.entry(referrer).or_default().push(heap.tuple(&[atom(kind), Term::small(count)]));
    }
    let mut rows = Vec::new();
    for (referrer, counts) in by_referrer {
        let referrer = match referrer {
            Referrer::System(part) => [atom("system"), atom(part)],
            Referrer::Process(pid) => [atom("process"), Term::local_pid(pid)],
            Referrer::Port(port) => [atom("port"), Term::local_port(port)],
        };
        let (referrer, counts) = (heap.tuple(&referrer), heap.list(&counts));
        rows.push(heap.tuple(&[referrer, counts]));
    }
    let rows = heap.list(&rows);
    heap.tuple(&[node, Term::small(count), rows])
}
