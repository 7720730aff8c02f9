//! Registered names.

use heddle_runtime::process::{NativeResult, Process};
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
    if a[1].is_local_port() {
        if !crate::ports::exists(a[1]) || !names::register(name, a[1]) {
            return Err(p.badarg());
        }
        crate::ports::set_name(a[1], Some(name));
        return Ok(Term::bool(true));
    }
    if !a[1].is_local_pid() {
        return Err(p.badarg());
    }
    let Some(target) = proctab::lookup(a[1].payload()) else { return Err(p.badarg_cause(Atom::new("notalive"))) };
    // One name a process: claim its name field first.
    if target.name.compare_exchange(0, name.index() + 1, Ordering::AcqRel, Ordering::Acquire).is_err() {
        return Err(p.badarg_cause(Atom::new("registered_name")));
    }
    if !names::register(name, a[1]) {
        target.name.store(0, Ordering::Release);
        return Err(p.badarg());
    }
    if proctab::lookup(a[1].payload()).is_none() {
        // It ended in between and may have missed the name.
        names::unregister(name, Some(a[1]));
        return Err(p.badarg());
    }
    if events::on(&target, trace::flags::PROCS) {
        events::event(&target, trace::flags::PROCS, "register", &[name.into()]);
    }
    Ok(Term::bool(true))
}

fn unregister(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(name) = a[0].as_atom() else { return Err(p.badarg()) };
    match names::unregister(name, None) {
        Some(id) => {
            if id.is_local_port() {
                crate::ports::set_name(id, None);
            } else if let Some(target) = proctab::lookup(id.payload()) {
                target.name.store(0, Ordering::Release);
                if events::on(&target, trace::flags::PROCS) {
                    events::event(&target, trace::flags::PROCS, "unregister", &[name.into()]);
                }
            }
            Ok(Term::bool(true))
        }
        None => Err(p.badarg()),
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
