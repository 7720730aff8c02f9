//! What `erts_debug:get_internal_state/1` returns on links and monitors to processes of other nodes, of a process and of a node, in the form that
//! OTP's tests expect.

use heddle_runtime::Package;
use heddle_runtime::nodes::{ConnectionId, Target};
use heddle_runtime::process::Process;
use heddle_runtime::remote::RemoteRelations;
use heddle_runtime::send;
use heddle_runtime::send_remote::wire_reference;
use heddle_term::ident::PidView;
use heddle_term::{Atom, Heap, Term};
use std::hash::BuildHasher;
use std::sync::{Arc, Mutex};

fn atom(name: &str) -> Term {
    Atom::new(name).into()
}

fn remote(p: &Process) -> Option<&RemoteRelations> {
    p.relations.get()?.remote.as_deref()
}

/// A number by which the link is known in the list of its process and in that of the node.
fn link_id(pid: u64, other: PidView) -> Term {
    Term::small((foldhash::fast::FixedState::default().hash_one((pid, other)) >> 8) as i64)
}

fn link(heap: &mut Heap, with: Term, active: bool, id: Term) -> Term {
    heap.tuple(&[atom("erl_link"), atom("dist_process"), with, atom(if active { "linked" } else { "unlinking" }), id])
}

fn monitor(heap: &mut Heap, is_origin: bool, reference: Term, other: Term, name: Option<Atom>) -> Term {
    let side = atom(if is_origin { "origin" } else { "target" });
    heap.tuple(&[atom("erl_monitor"), atom("dist_process"), side, reference, other, name.map_or(Term::NIL, Term::from)])
}

/// Rows of the process's own list.
pub fn of_process(p: &Process, links: bool, heap: &mut Heap) -> Vec<Term> {
    let Some(remote) = remote(p) else { return Vec::new() };
    let mut rows = Vec::new();
    if links {
        for (&other, known) in &remote.links {
            let with = other.to_term(heap);
            rows.push(link(heap, with, known.active, link_id(p.pid(), other)));
        }
        return rows;
    }
    for (&reference, known) in &remote.monitoring {
        let reference = wire_reference(reference, known.alias, p.pid()).to_term(heap);
        let (other, name) = match known.target {
            Target::Pid(pid) => (pid.to_term(heap), None),
            Target::Name(name) => (known.connection.node.into(), Some(name)),
        };
        rows.push(monitor(heap, true, reference, other, name));
    }
    for (reference, known) in &remote.watchers {
        let (reference, watcher) = (reference.to_term(heap), known.watcher.to_term(heap));
        rows.push(monitor(heap, false, reference, watcher, known.name));
    }
    for (&node, known) in &remote.nodes {
        let times = Term::small(known.times as i64);
        rows.push(heap.tuple(&[atom("erl_monitor"), atom("node"), atom("origin"), Term::NIL, node.into(), times]));
    }
    rows
}

/// Rows of the connection's list: the process on this side of each relation.
fn of_connection(p: &Process, connection: ConnectionId, links: bool, heap: &mut Heap) -> Vec<Term> {
    let Some(remote) = remote(p) else { return Vec::new() };
    let (me, mut rows) = (p.pid_term(), Vec::new());
    if links {
        for (&other, _) in remote.links.iter().filter(|(_, known)| known.active && known.connection == connection) {
            rows.push(link(heap, me, true, link_id(p.pid(), other)));
        }
        return rows;
    }
    for (&reference, known) in remote.monitoring.iter().filter(|(_, known)| known.connection == connection) {
        let name = match known.target {
            Target::Pid(_) => None,
            Target::Name(name) => Some(name),
        };
        let reference = wire_reference(reference, known.alias, p.pid()).to_term(heap);
        rows.push(monitor(heap, false, reference, me, name));
    }
    for (reference, known) in remote.watchers.iter().filter(|(_, known)| known.connection == connection) {
        let reference = reference.to_term(heap);
        rows.push(monitor(heap, true, reference, me, known.name));
    }
    for _ in remote.nodes.values().filter(|known| known.connection == connection) {
        rows.push(heap.tuple(&[atom("erl_monitor"), atom("node"), atom("target"), Term::NIL, me, Term::NIL]));
    }
    rows
}

/// What the processes have answered so far, and how many have not.
struct Answers {
    rows: Vec<Package>,
    left: usize,
}

/// Asks the processes that have relations over the connection. The caller gets `{Reference, Rows}`; the result is what it has to wait for.
pub fn ask(p: &mut Process, connection: ConnectionId, processes: &[u64], links: bool) -> Term {
    let (reference, id) = send::fresh_reference(&mut p.heap);
    let me = p.pid();
    // One more than there are processes: that of the loop below, so that the answer comes after all were asked.
    let answers = Arc::new(Mutex::new(Answers { rows: Vec::new(), left: processes.len() + 1 }));
    let answer = move |answers: &Mutex<Answers>, rows: Option<Package>| {
        let mut answers = answers.lock().unwrap();
        answers.rows.extend(rows);
        answers.left -= 1;
        if answers.left > 0 {
            return;
        }
        send::build_message(me, |heap| {
            let mut all = Term::NIL;
            for row in answers.rows.iter().flat_map(|rows| heddle_natives::args::list(rows.term())).flatten() {
                let row = heap.copy(row);
                all = heap.cons(row, all);
            }
            let reference = heap.reference(id.words());
            heap.tuple(&[reference, all])
        });
    };
    let rows_of = move |process: &Process| {
        Package::build(|heap| {
            let rows = of_connection(process, connection, links, heap);
            heap.list(&rows)
        })
    };
    for &pid in processes {
        if pid == me {
            answer(&answers, Some(rows_of(p)));
            continue;
        }
        let answers = answers.clone();
        send::ask(p, pid, move |process| answer(&answers, process.map(|process| rows_of(process))));
    }
    answer(&answers, None);
    reference
}
