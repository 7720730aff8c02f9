//! Reports what happens to a process to its tracers. Callers test `ProcShared::trace` first.

use crate::code;
use crate::process::{DIST_SPAWN_INIT, ProcShared, Process, Stand};
use crate::trace::emit::Event;
use crate::trace::frames::mfa_term;
use crate::trace::sessions::EventSpec;
use crate::trace::{Traced, emit, flags, spec, tracees};
use heddle_term::code_cell::Mfa;
use heddle_term::ident::PidView;
use heddle_term::{Atom, Heap, Term, am};
use std::sync::atomic::Ordering;

/// True if any of the flags is set. Callers test this before anything else.
#[inline(always)]
pub fn on(shared: &ProcShared, wanted: u32) -> bool {
    // Relaxed: flags set by another thread take effect at some later event.
    shared.trace.load(Ordering::Relaxed) & wanted != 0
}

/// `process_flag(sensitive, _)`. Returns the previous value.
pub fn set_sensitive(p: &mut Process, on: bool) -> Term {
    let shared = p.shared();
    // Relaxed: only a hint to other threads. An event that they report now may count as before the change.
    let _ = if on {
        shared.trace.fetch_or(flags::SENSITIVE, Ordering::Relaxed)
    } else {
        shared.trace.fetch_and(!flags::SENSITIVE, Ordering::Relaxed)
    };
    Term::bool(std::mem::replace(&mut p.sensitive, on))
}

fn receivers(shared: &ProcShared, wanted: u32, tag: Atom) -> impl Iterator<Item = Traced> + use<> {
    let pid = shared.pid;
    tracees::of(pid, wanted).into_iter().filter(move |t| emit::check(pid, t, wanted, tag))
}

/// Reports an event that needs no match specification: `{trace, Pid, Tag, Parts...}`.
#[cold]
pub fn event(shared: &ProcShared, wanted: u32, tag: &str, parts: &[Term]) {
    if on(shared, flags::SENSITIVE) {
        return;
    }
    let tag = Atom::new(tag);
    let mut all = vec![tag.into()];
    all.extend_from_slice(parts);
    for t in receivers(shared, wanted, tag) {
        emit::emit(&t, &Event::new(Term::local_pid(shared.pid), wanted, &all));
    }
}

/// As `event`, unless the process is sensitive.
#[cold]
pub fn of_process(p: &Process, wanted: u32, tag: &str, parts: &[Term]) {
    if !p.sensitive {
        event(p.shared(), wanted, tag, parts);
    }
}

/// Applies a session's `send` or `receive` pattern. None if the event must not be reported, else the message of the specification, if any.
fn judge(p: &mut Process, t: &Traced, which: EventSpec, terms: &[Term]) -> Option<Option<crate::Package>> {
    match which {
        EventSpec::All => Some(None),
        EventSpec::None => None,
        EventSpec::Matching(program) => {
            let verdict = spec::run(p, Some(&program), &t.session, terms);
            // The specification's actions may have silenced the process.
            let silent = tracees::flags_in(p.pid(), t.session.id).is_some_and(|now| now & flags::SILENT != 0);
            (verdict.matched && verdict.tell && !silent).then_some(verdict.message)
        }
    }
}

/// `p` sends a message. `to` is the destination that the program named, `receiver` the process that gets it (NONE if there is none).
#[cold]
pub fn send(p: &mut Process, to: Term, receiver: Term, message: Term) {
    if p.sensitive {
        return;
    }
    let me = p.pid_term();
    let gone = receiver.is_none();
    let tag = Atom::new(if gone { "send_to_non_existing_process" } else { "send" });
    for t in tracees::of(p.pid(), flags::SEND) {
        let which = t.session.settings.lock().unwrap().send.clone();
        if let Some(verdict) = judge(p, &t, which, &[to, message])
            && emit::check(p.pid(), &t, flags::SEND, tag)
        {
            emit::emit(&t, &Event::new(me, flags::SEND, &[tag.into(), message, to]).with(verdict.as_ref()));
        }
    }
}

/// A process on a dirty thread sends a message. No match specification runs there, as other threads may look at the process: a session
/// that has one for sends gets no such event.
#[cold]
pub fn sent_on_dirty_thread(shared: &ProcShared, to: Term, message: Term) {
    if on(shared, flags::SENSITIVE) {
        return;
    }
    let tag = Atom::new("send");
    for t in receivers(shared, flags::SEND, tag) {
        if matches!(t.session.settings.lock().unwrap().send, EventSpec::All) {
            emit::emit(&t, &Event::new(Term::local_pid(shared.pid), flags::SEND, &[tag.into(), message, to]));
        }
    }
}

/// A message arrives in `p`'s queue. `from` is a process of this node; or, where the sender is not known, that process' node, a port, or
/// what sends in the place of a process (`clock_service`); or NONE: the VM. A match specification sees node and sender.
#[cold]
pub fn receive(p: &mut Process, from: Term, message: Term) {
    if p.sensitive {
        return;
    }
    let me = p.pid_term();
    let (node, from) = match from {
        _ if from.is_none() => (Atom::new("system").into(), am::UNDEFINED.into()),
        _ if from.is_pid() => (crate::signal::send::node_name().into(), from),
        _ => (from, am::UNDEFINED.into()),
    };
    let tag = Atom::new("receive");
    for t in tracees::of(p.pid(), flags::RECEIVE) {
        let which = t.session.settings.lock().unwrap().receive.clone();
        if let Some(verdict) = judge(p, &t, which, &[node, from, message])
            && emit::check(p.pid(), &t, flags::RECEIVE, tag)
        {
            emit::emit(&t, &Event::new(me, flags::RECEIVE, &[tag.into(), message]).with(verdict.as_ref()));
        }
    }
}

/// The parent spawned the child: reports that for both, and the link if there is one.
#[cold]
pub fn spawn(p: &Process, child: &ProcShared, mfa: Mfa, arguments: Term, link: bool) {
    tracees::inherit_at_spawn(p.shared(), child);
    let mut heap = Heap::new();
    let what = heap.tuple(&[mfa.module.into(), mfa.function.into(), arguments]);
    let (me, other) = (p.pid_term(), Term::local_pid(child.pid));
    if on(p.shared(), flags::PROCS) {
        of_process(p, flags::PROCS, "spawn", &[other, what]);
    }
    if link {
        if on(p.shared(), flags::PROCS) {
            of_process(p, flags::PROCS, "link", &[other]);
        }
        if on(p.shared(), flags::ON_LINK | flags::ON_FIRST_LINK) {
            tracees::inherit_at_link(p.shared(), child);
        }
    }
    if on(child, flags::PROCS) {
        event(child, flags::PROCS, "spawned", &[me, what]);
        if link {
            event(child, flags::PROCS, "getting_linked", &[me]);
        }
    }
    heap.clear();
}

/// A process of another node spawned the child, which starts with these arguments: reports that for the child.
pub fn spawn_from_node(parent: PidView, child: &ProcShared, arguments: Term, link: bool) {
    tracees::begin_new(child);
    if on(child, flags::PROCS) {
        let mut heap = Heap::new();
        let parent = parent.to_term(&mut heap);
        let what = heap.tuple(&[DIST_SPAWN_INIT.module.into(), DIST_SPAWN_INIT.function.into(), arguments]);
        event(child, flags::PROCS, "spawned", &[parent, what]);
        if link {
            event(child, flags::PROCS, "getting_linked", &[parent]);
        }
        heap.clear();
    }
}

/// The function `{M, F, A}` at which a process stands that does not run.
pub(crate) fn place(p: &Process, heap: &mut Heap) -> Term {
    if p.stand == Stand::Starting {
        return mfa_term(heap, p.first_call());
    }
    match code::locate(p.ip).map(|l| l.mfa).or_else(|| native_at(p.ip)) {
        Some(mfa) => mfa_term(heap, mfa),
        None => Term::small(0),
    }
}

/// The native whose entry is at `ip` (after a function header outside of all modules).
fn native_at(ip: *const u64) -> Option<Mfa> {
    // SAFETY: outside modules, processes only stand at entries with a header of four cells.
    unsafe {
        let module = Term::from_raw(*ip.sub(3)).as_atom()?;
        let function = Term::from_raw(*ip.sub(2)).as_atom()?;
        Some(Mfa { module, function, arity: *ip.sub(1) as u8 })
    }
}

/// `in` or `out`.
#[cold]
pub(crate) fn scheduled(p: &Process, tag: &str) {
    let mut heap = Heap::new();
    let place = place(p, &mut heap);
    of_process(p, flags::RUNNING | flags::RUNNING_PROCS, tag, &[place]);
    heap.clear();
}

/// The process has ended and is switched out for the last time.
#[cold]
pub(crate) fn scheduled_out_dead(p: &Process) {
    if p.sensitive {
        return;
    }
    let tag = Atom::new("out_exited");
    for t in receivers(p.shared(), flags::EXITING, tag) {
        emit::emit(&t, &Event::new(p.pid_term(), flags::EXITING, &[tag.into(), Term::small(0)]));
    }
}

/// A collection begins or ends. `words`: the words needed, or reclaimed.
#[cold]
pub(crate) fn collection(p: &Process, tag: &str, words: usize) {
    let mut heap = Heap::new();
    let rows = [("wordsize", words)].into_iter().chain(p.heap_figures());
    let rows: Vec<Term> = rows.map(|(name, n)| heap.tuple(&[Atom::new(name).into(), Term::small(n as i64)])).collect();
    let list = heap.list(&rows);
    of_process(p, flags::COLLECTIONS, tag, &[list]);
    heap.clear();
}
