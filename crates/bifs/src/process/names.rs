//! Registered names.

use heddle_runtime::process::{NativeResult, ProcRef, Process};
use heddle_runtime::trace::{self, events};
use heddle_runtime::{names, proctab};
use heddle_term::{Atom, Term, am};
use std::sync::atomic::Ordering;

heddle_runtime::natives! { TABLE:
    "erlang" => {
        "register"/2 => register,
        "unregister"/1 => unregister,
        "whereis"/1 => whereis,
        "registered"/0 => registered,
    }
}

fn register(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(name) = a[0].as_atom() else { return Err(p.badarg()) };
    if name == am::UNDEFINED {
        return Err(p.badarg());
    }
    if !a[1].is_local_pid() && !a[1].is_local_port() {
        return Err(p.badarg());
    }
    let Some(target) = proctab::find(a[1]) else { return Err(p.badarg_cause(Atom::new("notalive"))) };
    // A process has one name: claim its name field first.
    if target.name.compare_exchange(0, name.index() + 1, Ordering::AcqRel, Ordering::Acquire).is_err() {
        return Err(p.badarg_cause(Atom::new("registered_name")));
    }
    if !names::register(name, a[1]) {
        target.name.store(0, Ordering::Release);
        return Err(p.badarg());
    }
    if proctab::find(a[1]).is_none() {
        // The process ended in between, and may have missed the name.
        names::unregister(name, Some(a[1]));
        return Err(p.badarg());
    }
    tell(target, "register", name);
    Ok(Term::bool(true))
}

fn unregister(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(name) = a[0].as_atom() else { return Err(p.badarg()) };
    match names::unregister(name, None) {
        Some(id) => {
            if let Some(target) = proctab::find(id) {
                target.name.store(0, Ordering::Release);
                tell(target, "unregister", name);
            }
            Ok(Term::bool(true))
        }
        None => Err(p.badarg()),
    }
}

/// Reports the event to the tracers of a process or port.
fn tell(target: ProcRef, event: &str, name: Atom) {
    if target.is_port() {
        heddle_io::ports::tracing::event(target.pid_term(), trace::flags::PORTS, event, &[name.into()]);
    } else if events::on(&target, trace::flags::PROCS) {
        events::event(&target, trace::flags::PROCS, event, &[name.into()]);
    }
}

fn whereis(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(name) = a[0].as_atom() else { return Err(p.badarg()) };
    Ok(names::whereis(name).unwrap_or(am::UNDEFINED.into()))
}

fn registered(p: &mut Process, _: &[Term]) -> NativeResult {
    let all: Vec<Term> = names::all().into_iter().map(Term::atom).collect();
    Ok(p.heap.list(&all))
}
