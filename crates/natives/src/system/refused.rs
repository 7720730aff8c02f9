//! Natives that exist to say no: what they stand for is not in this machine (yet), and they say so by name instead of
//! pretending. Each raises `notsup`, or gives the answer with which stock itself says "not supported".

use heddle_runtime::process::{NativeResult, Process};
use heddle_term::{Atom, Term, am};

heddle_runtime::natives! { TABLE:
    // Sockets come with a later issue; boot takes the refusal and goes on without.
    "prim_socket" => {
        "nif_supports"/0 => notsup,
        "nif_supports"/1 => notsup,
    }
    "erts_trace_cleaner" => {
        "check"/0 => nothing_to_clean,
        "send_trace_clean_signal"/1 => nothing_to_clean,
    }
    // Native coverage: the answers of an emulator without it.
    "code" => {
        "coverage_support"/0 => unsupported,
        "get_coverage_mode"/0 => none,
        "get_coverage_mode"/1 => badarg,
        "get_coverage"/2 => badarg,
        "reset_coverage"/1 => badarg,
        "set_coverage_mode"/1 => badarg,
    }
    // Drivers in shared libraries.
    "erl_ddll" => {
        "loaded_drivers"/0 => loaded_drivers,
        "try_load"/3 => notsup,
        "try_unload"/2 => notsup,
        "info"/2 => badarg,
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

fn none(_: &mut Process, _: &[Term]) -> NativeResult {
    Ok(Atom::new("none").into())
}

fn nothing_to_clean(_: &mut Process, _: &[Term]) -> NativeResult {
    Ok(Term::bool(false))
}

fn loaded_drivers(p: &mut Process, _: &[Term]) -> NativeResult {
    Ok(p.heap.tuple(&[am::OK.into(), Term::NIL]))
}
