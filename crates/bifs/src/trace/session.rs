//! Trace sessions as terms: `{Reference, {Name, Number}}`.

use super::arguments;
use heddle_natives::args;
use heddle_runtime::process::{NativeResult, Process};
use heddle_runtime::refs;
use heddle_runtime::trace::sessions::{Handle, Session};
use heddle_term::{Atom, Term, am};
use std::sync::Arc;

heddle_runtime::natives! { TABLE:
    "erts_internal" => {
        "trace_session_create"/3 => create,
        "trace_session_destroy"/1 => destroy,
    }
}

fn create(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(name) = a[0].as_atom() else { return Err(p.badarg()) };
    if !a[2].is_nil() {
        return Err(p.badarg_cause(Atom::new("badopt")));
    }
    let tracer = match arguments::tracer(a[1]) {
        None if !a[1].is_atom_of(am::UNDEFINED) => return Err(p.badarg()),
        tracer => tracer,
    };
    let session = Session::create(name, tracer);
    let weak = arguments::weak_term(p, &session);
    let handle = p.heap.magic_reference(refs::fresh().words(), Arc::new(Handle(session)));
    Ok(p.heap.tuple(&[handle, weak]))
}

fn destroy(p: &mut Process, a: &[Term]) -> NativeResult {
    let handle = match a[0].as_tuple() {
        Some(&[first, _]) => args::resource::<Handle>(first).map(|h| h.0.clone()),
        _ => None,
    };
    let session = match handle {
        Some(session) => session,
        None => arguments::session(p, a[0])?,
    };
    if session.is_legacy() {
        return Err(p.badarg());
    }
    let destroyed = session.destroy();
    super::process::note_new();
    Ok(Term::bool(destroyed))
}
