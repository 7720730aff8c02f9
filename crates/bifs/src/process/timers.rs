//! `send_after`, `start_timer`, `cancel_timer` and `read_timer`.

use heddle_natives::args;
use heddle_runtime::process::{NativeResult, Process};
use heddle_runtime::{Package, RefId, time, timer_refs};
use heddle_term::{Atom, Term, am, big};

heddle_runtime::natives! { TABLE:
    "erlang" => {
        "send_after"/3 => send_after_3,
        "send_after"/4 => send_after_4,
        "start_timer"/3 => start_timer_3,
        "start_timer"/4 => start_timer_4,
        "cancel_timer"/1 => cancel_timer_1,
        "cancel_timer"/2 => cancel_timer_2,
        "read_timer"/1 => read_timer_1,
        "read_timer"/2 => read_timer_2,
    }
}

/// `system_info(end_time)` less its start, in ms (both are stock's).
const LAST_MS: i128 = (8_646_911_283_000_000_000 - time::START_NS as i128) / 1_000_000;

fn start(p: &mut Process, time: Term, dest: Term, message: Term, options: Term, wrap: bool) -> NativeResult {
    let mut absolute = false;
    let Some(options) = args::list(options) else { return Err(p.badarg()) };
    for option in options {
        match args::option(option) {
            Some((name, value)) if name.name() == "abs" => match args::boolean(value) {
                Some(b) => absolute = b,
                None => return Err(p.badarg_cause(Atom::new("badopt"))),
            },
            _ => return Err(p.badarg_cause(Atom::new("badopt"))),
        }
    }
    if !(dest.is_local_pid() || dest.is_atom()) || dest.is_atom_of(am::UNDEFINED) {
        return Err(p.badarg());
    }
    if !time.is_integer() {
        return Err(p.badarg());
    }
    let deadline = if absolute {
        // Absolute Erlang monotonic time in ms.
        match big::to_i64(time) {
            Some(ms) => {
                let start_ms = time::START_NS / 1_000_000;
                ms.saturating_sub(start_ms).max(0) as u64
            }
            None => return Err(p.badarg()),
        }
    } else {
        match big::to_i64(time).filter(|ms| *ms >= 0) {
            // A time beyond the end of Erlang time cannot be waited for.
            Some(ms) if (ms as i128) < LAST_MS => timer_refs::deadline_after(ms as u64),
            _ => return Err(p.badarg_cause(Atom::new("time"))),
        }
    };
    let (timer, id) = timer_refs::reserve();
    let reference = p.heap.reference(id.words());
    let package = if wrap {
        let tuple = p.heap.tuple(&[Atom::new("timeout").into(), reference, message]);
        Package::new(tuple)
    } else {
        Package::new(message)
    };
    timer_refs::start(timer, deadline, dest, package);
    Ok(reference)
}

fn send_after_3(p: &mut Process, a: &[Term]) -> NativeResult {
    start(p, a[0], a[1], a[2], Term::NIL, false)
}
fn send_after_4(p: &mut Process, a: &[Term]) -> NativeResult {
    start(p, a[0], a[1], a[2], a[3], false)
}
fn start_timer_3(p: &mut Process, a: &[Term]) -> NativeResult {
    start(p, a[0], a[1], a[2], Term::NIL, true)
}
fn start_timer_4(p: &mut Process, a: &[Term]) -> NativeResult {
    start(p, a[0], a[1], a[2], a[3], true)
}

fn left(ms: Option<u64>) -> Term {
    match ms {
        Some(ms) => Term::small(ms as i64),
        None => Term::bool(false),
    }
}

fn cancel_timer_1(p: &mut Process, a: &[Term]) -> NativeResult {
    match RefId::of(a[0]) {
        Some(id) => Ok(left(timer_refs::cancel(id))),
        None if a[0].is_reference() => Ok(Term::bool(false)),
        None => Err(p.badarg()),
    }
}

/// {async, info} of cancel_timer/2 and read_timer/2.
fn parse(options: Term) -> Option<(bool, bool)> {
    let (mut is_async, mut info) = (false, true);
    for option in args::list(options)? {
        let (name, value) = args::option(option)?;
        match name.name() {
            "async" => is_async = args::boolean(value)?,
            "info" => info = args::boolean(value)?,
            _ => return None,
        }
    }
    Some((is_async, info))
}

fn cancel_timer_2(p: &mut Process, a: &[Term]) -> NativeResult {
    if !a[0].is_reference() {
        return Err(p.badarg());
    }
    let Some((is_async, info)) = parse(a[1]) else { return Err(p.badarg_cause(Atom::new("badopt"))) };
    let result = left(RefId::of(a[0]).and_then(timer_refs::cancel));
    reply(p, a[0], result, is_async, info, "cancel_timer")
}

fn reply(p: &mut Process, reference: Term, result: Term, is_async: bool, info: bool, tag: &str) -> NativeResult {
    if is_async {
        if info {
            let message = p.heap.tuple(&[Atom::new(tag).into(), reference, result]);
            heddle_runtime::send::message_from(am::CLOCK_SERVICE.into(), p.pid(), Package::new(message));
        }
        return Ok(am::OK.into());
    }
    Ok(if info { result } else { am::OK.into() })
}

fn read_timer_1(p: &mut Process, a: &[Term]) -> NativeResult {
    match RefId::of(a[0]) {
        Some(id) => Ok(left(timer_refs::read(id))),
        None if a[0].is_reference() => Ok(Term::bool(false)),
        None => Err(p.badarg()),
    }
}

fn read_timer_2(p: &mut Process, a: &[Term]) -> NativeResult {
    if !a[0].is_reference() {
        return Err(p.badarg());
    }
    let Some((is_async, _)) = parse(a[1]) else { return Err(p.badarg_cause(Atom::new("badopt"))) };
    let result = left(RefId::of(a[0]).and_then(timer_refs::read));
    reply(p, a[0], result, is_async, true, "read_timer")
}
