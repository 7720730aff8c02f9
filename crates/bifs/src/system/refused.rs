//! Natives that refuse: what they stand for is not in Heddle (yet). Each raises `notsup`, or returns what stock returns for something that
//! is not supported.

use heddle_runtime::process::{NativeResult, Process};
use heddle_term::{Atom, Term, am};

heddle_runtime::natives! { TABLE:
    "erts_trace_cleaner" => {
        "check"/0 => nothing_to_clean,
        "send_trace_clean_signal"/1 => nothing_to_clean,
    }
    "erts_debug" => {
        // As stock with its JIT, which has no listing either.
        "disassemble"/1 => unsupported,
        "interpreter_size"/0 => zero,
    }
    // Drivers in shared libraries.
    "erl_ddll" => {
        "loaded_drivers"/0 => loaded_drivers,
        "try_load"/3 => try_load,
        "try_unload"/2 => notsup,
        "info"/2 => badarg,
        "format_error_int"/1 => format_error,
    }
}

fn notsup(p: &mut Process, _: &[Term]) -> NativeResult {
    Err(p.error(am::NOTSUP))
}

fn badarg(p: &mut Process, _: &[Term]) -> NativeResult {
    Err(p.badarg())
}

fn unsupported(_: &mut Process, _: &[Term]) -> NativeResult {
    Ok(Term::bool(false))
}

fn zero(_: &mut Process, _: &[Term]) -> NativeResult {
    Ok(Term::small(0))
}

fn nothing_to_clean(_: &mut Process, _: &[Term]) -> NativeResult {
    Ok(Term::bool(false))
}

/// Drivers that are built in are there already; others cannot come.
fn try_load(p: &mut Process, a: &[Term]) -> NativeResult {
    let is_one = |name: &[u8]| matches!(name, b"trace_file_drv" | b"trace_ip_drv");
    let built_in = match a[1].as_atom() {
        Some(name) => is_one(name.name().as_bytes()),
        None => heddle_term::list::iolist_to_vec(a[1]).is_ok_and(|name| is_one(&name)),
    };
    if built_in {
        return Ok(p.heap.tuple(&[am::OK.into(), Atom::new("already_loaded").into()]));
    }
    Ok(p.heap.tuple(&[am::ERROR.into(), Atom::new(NO_LIBRARIES).into()]))
}

/// The error with which stock says that the system has no shared libraries.
const NO_LIBRARIES: &str = "no_ddll_available";

fn format_error(p: &mut Process, a: &[Term]) -> NativeResult {
    match a[0].as_atom() {
        Some(name) if name.name() == NO_LIBRARIES => Ok(p.heap.string("DDLL functionality not available on this platform")),
        _ => Err(p.badarg()),
    }
}

fn loaded_drivers(p: &mut Process, _: &[Term]) -> NativeResult {
    Ok(p.heap.tuple(&[am::OK.into(), Term::NIL]))
}
