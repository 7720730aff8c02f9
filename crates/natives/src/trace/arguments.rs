//! Arguments that the trace natives share: sessions, tracers, lists of flags.

use crate::args;
use heddle_runtime::process::{Process, Thrown};
use heddle_runtime::proctab;
use heddle_runtime::trace::flags;
use heddle_runtime::trace::sessions::{self, Handle, Session};
use heddle_term::{Atom, Term, am};
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

/// A process that takes trace messages. Ports and tracer modules are not there yet: `notsup`.
pub fn tracer(p: &mut Process, term: Term) -> Result<Term, Thrown> {
    if term.is_local_pid() {
        return match proctab::lookup(term.payload()) {
            Some(_) => Ok(term),
            None => Err(p.badarg()),
        };
    }
    let other = term.is_local_port() || matches!(term.as_tuple(), Some([module, _]) if module.is_atom());
    Err(if other { p.error(am::NOTSUP) } else { p.badarg() })
}

/// Flags, and the tracer if one is named.
pub fn flags(p: &mut Process, list: Term) -> Result<(u32, Option<Term>), Thrown> {
    let bad = |p: &mut Process| Err(p.badarg_cause(Atom::new("badopt")));
    let Some(items) = args::list(list) else { return bad(p) };
    let (mut bits, mut named) = (0, None);
    for item in items {
        if let Some(name) = item.as_atom() {
            match flags::named(name.name()) {
                Some(bit) => bits |= bit,
                None if name.name() == "cpu_timestamp" => return Err(p.error(am::NOTSUP)),
                None => return bad(p),
            }
            continue;
        }
        match item.as_tuple() {
            Some(&[tag, pid]) if tag.is_atom_of(Atom::new("tracer")) && (pid.is_local_pid() || pid.is_local_port()) => {
                named = Some(pid);
            }
            Some(&[tag, module, _]) if tag.is_atom_of(Atom::new("tracer")) && module.is_atom() => return Err(p.error(am::NOTSUP)),
            _ => return bad(p),
        }
    }
    Ok((bits, named))
}
