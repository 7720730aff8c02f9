//! Why an argument of a native of Heddle's own modules is wrong: a `badarg` whose `error_info` has the cause `{Argument, Cause}`, and the
//! text for it.

use crate::args;
use heddle_runtime::process::{NativeResult, Process, Thrown};
use heddle_term::{Atom, Term, am, map};

/// {Argument, Cause}
pub fn cause(p: &mut Process, argument: usize, cause: &str) -> Term {
    p.heap.tuple(&[Term::small(argument as i64), Atom::new(cause).into()])
}

pub fn wrong(p: &mut Process, argument: usize, what: &str) -> Thrown {
    let cause = cause(p, argument, what);
    p.badarg_cause(cause)
}

/// A module's `format_error(Reason, StackTrace)`: the words, by cause.
pub fn describe(p: &mut Process, a: &[Term], words: &[(&str, &str)]) -> NativeResult {
    let Some(info) = info(a[1]) else { return Ok(map::empty()) };
    let cause = map::get(info, am::CAUSE.into()).and_then(|cause| cause.as_tuple());
    let Some(&[argument, what]) = cause else { return Ok(map::empty()) };
    let text = words.iter().find(|(name, _)| what.is_atom_of(Atom::new(name))).map_or("", |(_, text)| text);
    let text = p.heap.string(text);
    Ok(map::from_pairs(&mut p.heap, &[(argument, text)]))
}

/// The `error_info` of the first entry of a stack trace.
fn info(trace: Term) -> Option<Term> {
    let first = args::list(trace)?.into_iter().next()?;
    let &[_, _, _, info] = first.as_tuple()? else { return None };
    let infos = args::list(info)?;
    infos.into_iter().filter_map(args::option).find(|(name, _)| *name == am::ERROR_INFO).map(|(_, value)| value)
}
