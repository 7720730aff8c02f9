//! What `erts_debug:get_internal_state/1` returns on links, monitors, identities and descriptors, in the form that OTP's tests expect.

use super::remote_tables;
use heddle_io::ports;
use heddle_runtime::links::MonitorKind;
use heddle_runtime::process::{NativeResult, Process};
use heddle_runtime::{proctab, send};
use heddle_term::{Atom, Heap, Term, am};

fn atom(name: &str) -> Term {
    Atom::new(name).into()
}

/// `next_pid` and `next_port`; None for another key.
pub fn next_identity(key: &str) -> Option<u64> {
    match key {
        "next_pid" => Some(proctab::next()),
        "next_port" => Some(proctab::next_port()),
        _ => None,
    }
}

pub fn set_next_identity(key: &str, to: u64) -> Option<u64> {
    match key {
        "next_pid" => Some(proctab::set_next(to)),
        "next_port" => Some(proctab::set_next_port(to)),
        _ => None,
    }
}

/// `{Errors, Descriptors, SelectedByDrivers, SelectedByNifs}`: what the poller knows, all of it for ports.
pub fn check_io(p: &mut Process) -> Term {
    let (_, known) = ports::poll::counts();
    let known = Term::small(known as i64);
    p.heap.tuple(&[Term::small(0), known, known, Term::small(0)])
}

/// `{process_status, Pid}`
pub fn status(pid: u64) -> Term {
    let Some(p) = proctab::lookup(pid) else { return am::UNDEFINED.into() };
    let state = p.state.load();
    atom(if state.is_exiting() {
        "exiting"
    } else if state.is_running() || state.is_dirty() {
        "running"
    } else if state.is_active() {
        "runnable"
    } else {
        "waiting"
    })
}

/// `{link_list, What}` and `{monitor_list, What}` of a pid or port.
pub fn relations(p: &mut Process, links: bool, of: Term) -> NativeResult {
    if !of.is_local_pid() && !of.is_local_port() {
        return Err(p.badarg());
    }
    if of == p.pid_term() {
        let mut heap = Heap::new();
        let rows = rows(p, links, &mut heap);
        let rows = p.heap.copy(rows);
        heap.clear();
        return Ok(rows);
    }
    let (reference, asked) = send::fresh_reference(&mut p.heap);
    let me = p.pid();
    let Some(id) = proctab::find(of).map(|of| of.pid) else { return Ok(am::UNDEFINED.into()) };
    send::ask(p, id, move |other| {
        send::build_message(me, |heap| {
            let rows = other.map_or(am::UNDEFINED.into(), |other| rows(other, links, heap));
            let reference = heap.reference(asked.words());
            heap.tuple(&[reference, rows])
        });
    });
    Err(p.await_result(reference))
}

fn link(heap: &mut Heap, kind: &str, other: Term, active: bool) -> Term {
    heap.tuple(&[atom("erl_link"), atom(kind), other, atom(if active { "linked" } else { "unlinking" }), Term::NIL])
}

fn rows(p: &mut Process, links: bool, heap: &mut Heap) -> Term {
    let Some(inner) = p.relations.get() else { return Term::NIL };
    let mut rows: Vec<Term> = if links {
        let links = inner.links.iter();
        let kind = |other: Term| if other.is_local_port() || p.shared().is_port() { "port" } else { "process" };
        links.map(|(&other, l)| link(heap, kind(other), other, l.active)).collect()
    } else {
        let mut rows = Vec::new();
        for (id, m) in &inner.monitoring {
            let kind = match m.kind {
                MonitorKind::Process => "process",
                MonitorKind::Port => "port",
                MonitorKind::TimeOffset => "time_offset",
            };
            let reference = heap.reference(id.words());
            let name = m.name.map_or(Term::NIL, Term::from);
            let target = if m.target.is_none() { am::UNDEFINED.into() } else { m.target };
            rows.push(heap.tuple(&[atom("erl_monitor"), atom(kind), atom("origin"), reference, target, name]));
        }
        for (id, w) in &inner.watchers {
            let reference = heap.reference(id.words());
            let name = w.name.map_or(Term::NIL, Term::from);
            rows.push(heap.tuple(&[atom("erl_monitor"), atom("process"), atom("target"), reference, w.watcher, name]));
        }
        rows
    };
    rows.extend(remote_tables::of_process(p, links, heap));
    heap.list(&rows)
}
