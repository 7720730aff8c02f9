//! Arguments that the trace natives share: sessions, tracers, lists of flags.

use heddle_natives::args;
use heddle_runtime::process::{Process, Thrown};
use heddle_runtime::trace::sessions::{self, Handle, Session};
use heddle_runtime::trace::{Tracer, flags, tracer};
use heddle_term::{Atom, Term};
use std::sync::Arc;

/// A strong or weak handle: `{Reference, Weak}`, or `{Name, Number}`.
pub fn session(p: &mut Process, term: Term) -> Result<Arc<Session>, Thrown> {
    let found = match term.as_tuple() {
        Some(&[first, second]) => match args::resource::<Handle>(first) {
            Some(handle) => Some(handle.0.clone()),
            None => weak(first, second),
        },
        _ => None,
    };
    match found.filter(|s| s.is_alive()) {
        Some(session) => Ok(session),
        None => Err(p.badarg_cause(Atom::new("session"))),
    }
}

fn weak(name: Term, number: Term) -> Option<Arc<Session>> {
    let session = match number.as_small() {
        Some(id) => sessions::by_id(u64::try_from(id).ok()?)?,
        None if number.is_atom_of(Atom::new("default")) => sessions::legacy(),
        None => return None,
    };
    (session.name == name.as_atom()?).then_some(session)
}

/// The weak handle.
pub fn weak_term(p: &mut Process, session: &Session) -> Term {
    let number = if session.is_legacy() { Atom::new("default").into() } else { Term::small(session.id as i64) };
    p.heap.tuple(&[session.name.into(), number])
}

/// The tracer that a term names: a process or port that exists, or `{Module, State}`, where the library of the module is loaded.
pub fn tracer(term: Term) -> Option<Tracer> {
    match term.as_tuple() {
        Some(&[module, state]) => there(Tracer::of_module(module.as_atom()?, state)?),
        _ => there(Tracer::of_receiver(term)?),
    }
}

/// The tracer that a tuple names: `{Tag, Receiver}` or `{Tag, Module, State}`.
pub fn tagged_tracer(term: Term, tag: &str) -> Option<Tracer> {
    match *term.as_tuple()? {
        [t, receiver] if t.is_atom_of(Atom::new(tag)) => there(Tracer::of_receiver(receiver)?),
        [t, module, state] if t.is_atom_of(Atom::new(tag)) => there(Tracer::of_module(module.as_atom()?, state)?),
        _ => None,
    }
}

/// A tracer that is a process or port must exist.
fn there(tracer: Tracer) -> Option<Tracer> {
    match &tracer {
        Tracer::Receiver(id) if !tracer::exists(*id) => None,
        _ => Some(tracer),
    }
}

/// The flags of a list.
#[derive(Default)]
pub struct TraceFlags {
    pub bits: u32,
    pub tracer: Option<Tracer>,
    pub cpu_timestamp: bool,
}

/// `with_tracer`: a tracer may be named.
pub fn flags(p: &mut Process, list: Term, with_tracer: bool) -> Result<TraceFlags, Thrown> {
    match flag_list(list, with_tracer) {
        Some(flags) => Ok(flags),
        None => Err(p.badarg_cause(Atom::new("badopt"))),
    }
}

pub fn flag_list(list: Term, with_tracer: bool) -> Option<TraceFlags> {
    let mut flags = TraceFlags::default();
    for item in args::list(list)? {
        if let Some(name) = item.as_atom() {
            match flags::named(name.name()) {
                Some(bit) => flags.bits |= bit,
                None if name.name() == "cpu_timestamp" => flags.cpu_timestamp = true,
                None => return None,
            }
            continue;
        }
        flags.tracer = Some(tagged_tracer(item, "tracer").filter(|_| with_tracer)?);
    }
    Some(flags)
}
