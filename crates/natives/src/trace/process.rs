//! `erlang:trace/3` and `trace:process/4`: flags on processes.

use super::{arguments, ports};
use crate::args;
use heddle_runtime::process::{NativeResult, ProcRef, Process};
use heddle_runtime::trace::sessions::{self, Session};
use heddle_runtime::trace::{frames, tracees};
use heddle_runtime::{Package, proctab, send};
use heddle_term::{Atom, Term, am};
use std::sync::Arc;
use std::sync::atomic::Ordering;

heddle_runtime::natives! { TABLE:
    "erts_internal" => {
        "trace"/3 => trace_3,
        "trace"/4 => trace_4,
    }
    "erlang" => { "trace_delivered"/1 => trace_delivered }
}

fn trace_3(p: &mut Process, a: &[Term]) -> NativeResult {
    change(p, &sessions::legacy(), a)
}

fn trace_4(p: &mut Process, a: &[Term]) -> NativeResult {
    let session = arguments::session(p, a[0])?;
    change(p, &session, &a[1..])
}

/// Processes that a specification names.
struct Whom {
    existing: bool,
    new: bool,
}

fn change(p: &mut Process, session: &Arc<Session>, a: &[Term]) -> NativeResult {
    let Some(on) = args::boolean(a[1]) else { return Err(p.badarg()) };
    let (flags, named) = arguments::flags(p, a[2])?;
    if named.is_some() && session.tracer.is_some() {
        return Err(p.badarg_cause(Atom::new("badopt")));
    }
    let tracer = session.tracer.or(named).unwrap_or(p.pid_term());
    if on && session.tracer.is_none() {
        arguments::tracer(p, tracer)?;
    }
    if a[0].is_local_pid() {
        let Some(target) = proctab::lookup(a[0].payload()) else { return Err(p.badarg()) };
        // A process may ask to be traced by itself: it gets no messages, but its calls are timed.
        if !set(target, session, on, flags, tracer, true) {
            return Err(p.badarg());
        }
        return Ok(Term::small(1));
    }
    let port_spec = a[0].is_local_port() || matches!(a[0].as_atom().map(|n| n.name()), Some("ports" | "new_ports" | "existing_ports"));
    if port_spec {
        return on_ports(p, session, a[0], on, flags, tracer);
    }
    let whom = match a[0].as_atom().map(|n| n.name()) {
        Some("all" | "processes") => Whom { existing: true, new: true },
        Some("existing" | "existing_processes") => Whom { existing: true, new: false },
        Some("new" | "new_processes") => Whom { existing: false, new: true },
        _ => return Err(p.badarg()),
    };
    let mut count = 0;
    if whom.existing {
        proctab::for_each(|target| {
            if !target.state.load().is_exiting() && set(target, session, on, flags, tracer, false) {
                count += 1;
            }
        });
    }
    if whom.new {
        let mut settings = session.settings.lock().unwrap();
        let (had, before) = settings.new_processes.unwrap_or((0, tracer));
        let flags = if on { had | flags } else { had & !flags };
        settings.new_processes = (flags != 0).then_some((flags, if on { tracer } else { before }));
        drop(settings);
        note_new();
    }
    Ok(Term::small(count))
}

fn on_ports(p: &mut Process, session: &Arc<Session>, whom: Term, on: bool, flags: u32, tracer: Term) -> NativeResult {
    if on && flags & !ports::SUPPORTED != 0 {
        return Err(p.error(am::NOTSUP));
    }
    let (set, clear) = if on { (flags, 0) } else { (0, flags) };
    if whom.is_local_port() {
        if !crate::ports::exists(whom) || !ports::change(whom.payload(), session, set, clear, tracer) {
            return Err(p.badarg());
        }
        return Ok(Term::small(1));
    }
    let name = whom.as_atom().map_or("", |n| n.name());
    let mut count = 0;
    if name != "new_ports" {
        for id in crate::ports::all() {
            count += ports::change(id, session, set, clear, tracer) as i64;
        }
    }
    if name != "existing_ports" {
        let mut settings = session.settings.lock().unwrap();
        let (had, before) = settings.new_ports.unwrap_or((0, tracer));
        let flags = (had | set) & !clear;
        settings.new_ports = (flags != 0).then_some((flags, if on { tracer } else { before }));
        drop(settings);
        note_new();
    }
    Ok(Term::small(count))
}

/// Keeps `ANY_NEW` true while any session wants to hear of what is new.
pub fn note_new() {
    let any = sessions::all().iter().any(|s| {
        let settings = s.settings.lock().unwrap();
        settings.new_processes.is_some() || settings.new_ports.is_some() || settings.on_load.is_some()
    });
    sessions::ANY_NEW.store(any, Ordering::Release);
}

/// False where it may not be: the tracer itself, or somebody else traces it.
fn set(target: ProcRef, session: &Arc<Session>, on: bool, flags: u32, tracer: Term, by_itself: bool) -> bool {
    if !on {
        tracees::change(&target, session, 0, flags, None);
        return true;
    }
    if tracer == target.pid_term() && !by_itself {
        return false;
    }
    if let Some(t) = tracees::in_session(target.pid, session.id)
        && t.tracer != tracer
        && proctab::lookup(t.tracer.payload()).is_some()
    {
        return false;
    }
    tracees::change(&target, session, flags, 0, Some(tracer));
    true
}

/// A tracee sends its trace messages itself, at the event: those of events before this call are with their tracers.
fn trace_delivered(p: &mut Process, a: &[Term]) -> NativeResult {
    if !(a[0].is_local_pid() || a[0].is_atom_of(Atom::new("all"))) {
        return Err(p.badarg());
    }
    let (reference, _) = send::fresh_reference(&mut p.heap);
    let message = p.heap.tuple(&[Atom::new("trace_delivered").into(), a[0], reference]);
    frames::tell_self(p, Package::new(message));
    Ok(reference)
}
