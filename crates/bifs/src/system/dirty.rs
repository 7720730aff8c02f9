//! `erts_debug:dirty_cpu/2`, `dirty_io/2`, `dirty/3`: natives that run on the kind of scheduler they are asked to, for OTP's tests.

use heddle_natives::args;
use heddle_runtime::process::{NativeResult, Process, Thrown};
use heddle_runtime::{sched, send};
use heddle_term::{Atom, Term, am};
use std::time::Duration;

heddle_runtime::natives! { TABLE:
    "erts_debug" => {
        "dirty_cpu"/2 => dirty_cpu,
        "dirty_io"/2 => dirty_io,
        "dirty"/3 => dirty,
    }
}

/// The count with which `reschedule` ends in a failure.
const FAILS: usize = 1001;
/// Copies that `copy` makes.
const COPIES: usize = 1000;

fn dirty_cpu(p: &mut Process, a: &[Term]) -> NativeResult {
    on_dirty(p, "dirty_cpu", Thrown::DirtyCpu, a)
}

fn dirty_io(p: &mut Process, a: &[Term]) -> NativeResult {
    on_dirty(p, "dirty_io", Thrown::DirtyIo, a)
}

fn on_dirty(p: &mut Process, kind: &'static str, go: Thrown, a: &[Term]) -> NativeResult {
    if a[0].is_catch_marker() {
        reschedule(p, a)
    } else if sched::on_dirty_thread() {
        operate(p, kind, a)
    } else {
        Err(go)
    }
}

/// (normal | dirty_cpu | dirty_io, Operation, Argument)
fn dirty(p: &mut Process, a: &[Term]) -> NativeResult {
    if a[1].is_catch_marker() {
        return reschedule(p, a);
    }
    let kind = a[0].as_atom().map(|k| k.name());
    match kind {
        Some("normal") => operate(p, "normal", a),
        Some("dirty_cpu") if !sched::on_dirty_thread() => Err(Thrown::DirtyCpu),
        Some("dirty_io") if !sched::on_dirty_thread() => Err(Thrown::DirtyIo),
        Some(kind @ ("dirty_cpu" | "dirty_io")) => operate(p, kind, a),
        _ => Err(p.badarg()),
    }
}

fn tell(p: &mut Process, to: Term, what: &str) {
    let me = p.pid_term();
    let message = p.heap.tuple(&[Atom::new(what).into(), me]);
    send::send(p, to, message);
}

fn sleep(p: &mut Process, ms: usize) {
    heddle_runtime::dirty::detached(p, || std::thread::sleep(Duration::from_millis(ms as u64)));
}

/// `reschedule, N`: goes from one kind of scheduler to the next, N times. What is left stands in the place of the operation, as
/// an immediate that no program can make: so the native recognises its own further calls.
fn reschedule(p: &mut Process, a: &[Term]) -> NativeResult {
    let count = a[a.len() - 1];
    let left = a[a.len() - 2].payload() as usize;
    if left > 0 {
        return hop(p, a, count, left - 1);
    }
    if args::count(count) != Some(FAILS) {
        return Ok(am::OK.into());
    }
    let mut called = a.to_vec();
    called[a.len() - 2] = Atom::new("reschedule").into();
    let thrown = p.badarg();
    p.exception.args = p.heap.list(&called);
    Err(thrown)
}

/// Calls the native again on another kind of scheduler: CPU and I/O schedulers take turns with the normal ones.
fn hop(p: &mut Process, a: &[Term], count: Term, left: usize) -> NativeResult {
    let mut next = a.to_vec();
    next[a.len() - 2] = Term::catch_marker(left as u64);
    next[a.len() - 1] = count;
    let again = p.again(&next);
    Err(match (sched::on_dirty_thread(), left % 4 < 2) {
        (true, _) => again,
        (false, true) => Thrown::DirtyCpu,
        (false, false) => Thrown::DirtyIo,
    })
}

/// Does what the last two arguments say.
fn operate(p: &mut Process, scheduler: &'static str, a: &[Term]) -> NativeResult {
    let (operation, argument) = (a[a.len() - 2], a[a.len() - 1]);
    let Some(operation) = operation.as_atom() else { return Err(p.badarg()) };
    match operation.name() {
        "scheduler" if argument.is_atom_of(Atom::new("type")) => Ok(Atom::new(scheduler).into()),
        "wait" => match args::count(argument) {
            Some(ms) => {
                sleep(p, ms);
                Ok(am::OK.into())
            }
            None => Err(p.badarg()),
        },
        "reschedule" => match args::count(argument) {
            Some(n) => hop(p, a, argument, n),
            None => Err(p.badarg()),
        },
        "error" => match argument.as_atom() {
            Some(reason) => Err(p.error(reason)),
            None => Err(p.badarg()),
        },
        "copy" => {
            let copies: Vec<Term> = (0..COPIES).map(|_| p.heap.copy(argument)).collect();
            Ok(p.heap.list(&copies))
        }
        "alive_waitexiting" | "alive_waitexitingonly" if argument.is_pid() => {
            tell(p, argument, "alive");
            let me = p.proc_ref();
            heddle_runtime::dirty::detached(p, || {
                while !me.state.load().is_exiting() {
                    std::thread::sleep(Duration::from_millis(10));
                }
            });
            Ok(am::OK.into())
        }
        "ready_wait6_done" if argument.is_pid() => {
            tell(p, argument, "ready");
            sleep(p, 6000);
            tell(p, argument, "done");
            Ok(am::OK.into())
        }
        _ => Err(p.badarg()),
    }
}
