//! `seq_trace`: the token of the running process, and the system tracer.

use super::arguments;
use heddle_natives::args;
use heddle_runtime::process::{NativeResult, Process, Thrown};
use heddle_runtime::trace::seq;
use heddle_runtime::{Package, handle, proctab, send};
use heddle_term::{Term, am, order};

heddle_runtime::natives! { TABLE:
    "erlang" => {
        "seq_trace"/2 => seq_trace,
        "seq_trace_info"/1 => seq_trace_info,
        "seq_trace_print"/1 => seq_trace_print_1,
        "seq_trace_print"/2 => seq_trace_print_2,
    }
}

fn seq_trace(p: &mut Process, a: &[Term]) -> NativeResult {
    match set(p, a[0], a[1]) {
        Some(old) => Ok(old),
        None => Err(p.badarg()),
    }
}

/// Sets a component of the token. Returns what it was. Also what `{set_seq_token, _, _}` of a match specification does.
pub fn set(p: &mut Process, component: Term, value: Term) -> Option<Term> {
    let name = component.as_atom()?.name();
    if let (Some(bit), Some(on)) = (seq::named(name), args::boolean(value)) {
        let token = seq::token_to_change(p);
        let was = token.flags & bit != 0;
        token.flags = if on { token.flags | bit } else { token.flags & !bit };
        return Some(Term::bool(was));
    }
    match name {
        "label" => {
            let old = std::mem::replace(&mut seq::token_to_change(p).label, Package::new(value));
            Some(p.heap.copy(old.term()))
        }
        "serial" => {
            let &[previous, serial] = value.as_tuple()? else { return None };
            let (previous, serial) = (previous.as_small()?, serial.as_small()?);
            let token = seq::token_to_change(p);
            let (old_previous, old) = (token.previous, token.serial);
            (token.previous, token.serial) = (previous, serial);
            let state = &mut p.rare().seq;
            (state.clock, state.previous) = (serial, previous);
            Some(p.heap.tuple(&[Term::small(old_previous), Term::small(old)]))
        }
        "sequential_trace_token" if value.is_nil() => {
            let old = seq::whole(p);
            if seq::has_token(p) {
                seq::set_token(p, None);
            }
            Some(old)
        }
        _ => None,
    }
}

fn seq_trace_info(p: &mut Process, a: &[Term]) -> NativeResult {
    seq::component(p, a[0]).ok_or_else(|| p.badarg())
}

fn print(p: &mut Process, message: Term) -> Term {
    seq::update_serial(p);
    if let Some(token) = seq::token(p) {
        seq::tell(token, seq::PRINT, Term::NIL, message, Some(p));
    }
    Term::bool(true)
}

fn seq_trace_print_1(p: &mut Process, a: &[Term]) -> NativeResult {
    Ok(if seq::has_token(p) { print(p, a[0]) } else { Term::bool(false) })
}

fn seq_trace_print_2(p: &mut Process, a: &[Term]) -> NativeResult {
    let is_label = seq::token(p).is_some_and(|token| order::exact_eq(a[0], token.label.term()));
    Ok(if is_label { print(p, a[1]) } else { Term::bool(false) })
}

/// `system_flag(sequential_tracer, _)`: the old one, or `false`.
pub fn set_tracer(p: &mut Process, new: Term) -> Result<Term, Thrown> {
    let new = match arguments::tracer(new) {
        None if !new.is_atom_of(am::FALSE) => return Err(p.badarg()),
        new => new,
    };
    if new.as_ref().is_some_and(|tracer| !tracer.is_there(am::UNDEFINED.into())) {
        return Err(p.badarg());
    }
    Ok(seq::set_tracer(new).map_or(Term::bool(false), |old| old.term(&mut p.heap)))
}

/// `system_flag(reset_seq_trace, true)`. The other processes do it by a signal, so after all that was sent to them before, and before what
/// is sent to them after.
pub fn reset_all(p: &mut Process) -> NativeResult {
    let mut all = Vec::new();
    proctab::for_each(|other| all.push(other.pid));
    for pid in all {
        if pid != p.pid() {
            send::call_in(pid, |other| other.into_iter().for_each(seq::reset));
        }
    }
    // Messages that the process sent to itself must be reset as well.
    if handle::drain(p) == handle::After::Exit {
        return Err(Thrown::ExitNow);
    }
    seq::reset(p);
    p.bump(1000);
    Ok(Term::bool(true))
}

/// The system tracer, or `false`.
pub fn tracer(p: &mut Process) -> Term {
    seq::tracer().map_or(Term::bool(false), |tracer| tracer.term(&mut p.heap))
}
