//! What natives of sockets return: `ok`, `{error, Reason}`, `{invalid, What}`, and the exceptions that they raise.

use heddle_runtime::process::{Process, Thrown};
use heddle_term::{Atom, Heap, Term, am, big, map};

pub fn atom(name: &str) -> Term {
    Atom::new(name).into()
}

pub fn ok() -> Term {
    am::OK.into()
}

/// `{ok, Value}`
pub fn ok_with(heap: &mut Heap, value: Term) -> Term {
    heap.tuple(&[am::OK.into(), value])
}

/// `{error, Reason}`
pub fn error(heap: &mut Heap, reason: Term) -> Term {
    heap.tuple(&[am::ERROR.into(), reason])
}

/// `{error, Posix}`
pub fn errno(heap: &mut Heap, code: i32) -> Term {
    error(heap, atom(crate::errno::name(code)))
}

/// The number of the error that the last system call of this thread left.
pub fn last_errno() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)
}

/// `{error, Posix}` of the last system call.
pub fn last_error(heap: &mut Heap) -> Term {
    errno(heap, last_errno())
}

/// `{error, closed}`
pub fn closed(heap: &mut Heap) -> Term {
    error(heap, atom("closed"))
}

/// `{invalid, What}`: the Erlang code puts what the caller gave in its place.
pub fn invalid(heap: &mut Heap, what: &str) -> Term {
    heap.tuple(&[atom("invalid"), atom(what)])
}

/// `{error, {invalid, What}}`
pub fn error_invalid(heap: &mut Heap, what: Term) -> Term {
    let reason = heap.tuple(&[atom("invalid"), what]);
    error(heap, reason)
}

/// Raises `{invalid, What}`.
pub fn raise_invalid(p: &mut Process, what: Term) -> Thrown {
    p.error_tuple(Atom::new("invalid"), what)
}

/// A map with atoms as keys.
pub fn map_of(heap: &mut Heap, pairs: &[(&str, Term)]) -> Term {
    let pairs: Vec<(Term, Term)> = pairs.iter().map(|&(name, value)| (atom(name), value)).collect();
    map::from_pairs(heap, &pairs)
}

/// The value of a key of a map; None too if `term` is no map.
pub fn field(term: Term, name: &str) -> Option<Term> {
    if term.is_map() { map::get(term, atom(name)) } else { None }
}

/// A C `int`.
pub fn int(term: Term) -> Option<i32> {
    big::to_i64(term).and_then(|n| i32::try_from(n).ok())
}

/// A C `unsigned int`.
pub fn unsigned(term: Term) -> Option<u32> {
    big::to_i64(term).and_then(|n| u32::try_from(n).ok())
}

/// The answer where a C integer is wanted and this term is none: `badarg`, or for an integer out of range
/// `{error, {invalid, {integer_range, Term}}}`.
pub fn not_in_range(p: &mut Process, term: Term) -> Result<Term, Thrown> {
    if !term.is_integer() {
        return Err(p.badarg());
    }
    Ok(out_of_range(&mut p.heap, term))
}

/// `{error, {invalid, {integer_range, Term}}}`
pub fn out_of_range(heap: &mut Heap, term: Term) -> Term {
    let what = heap.tuple(&[atom("integer_range"), term]);
    error_invalid(heap, what)
}

/// `{error, {invalid, state}}`
pub fn wrong_state(heap: &mut Heap) -> Term {
    error_invalid(heap, atom("state"))
}

/// Raises `{invalid, state}`.
pub fn raise_state(p: &mut Process) -> Thrown {
    raise_invalid(p, atom("state"))
}

/// Raises `{Tag, -1}`: the system does not tell when the descriptor is ready.
pub fn raise_select(p: &mut Process, tag: &str) -> Thrown {
    p.error_tuple(Atom::new(tag), Term::small(-1))
}
