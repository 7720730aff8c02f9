//! Suspending other processes.

use heddle_natives::args;
use heddle_runtime::process::suspending::Suspending;
use heddle_runtime::process::{NativeResult, Process};
use heddle_runtime::{Package, send};
use heddle_term::{Atom, Term, am};

heddle_runtime::natives! { TABLE:
    "erts_internal" => { "suspend_process"/2 => suspend_process }
    "erlang" => { "resume_process"/1 => resume_process }
}

/// (Pid, Options): true, false (unless_suspending and it was), badarg, or a reference whose message brings the answer.
fn suspend_process(p: &mut Process, a: &[Term]) -> NativeResult {
    let (mut unless, mut is_async, mut reply) = (false, false, None);
    let Some(options) = args::list(a[1]) else { return Ok(am::BADARG.into()) };
    for option in options {
        match option.as_atom().map(|o| o.name()) {
            Some("unless_suspending") => unless = true,
            Some("asynchronous") => is_async = true,
            _ => match args::option(option) {
                Some((name, value)) if name.name() == "asynchronous" => {
                    is_async = true;
                    reply = Some(Package::new(value));
                }
                _ => return Ok(Atom::new("badopt").into()),
            },
        }
    }
    if !a[0].is_local_pid() || a[0] == p.pid_term() {
        return Ok(am::BADARG.into());
    }
    let target = a[0].payload();
    let suspending = &mut p.rare().suspending;
    let entry = suspending.iter().position(|s| s.pid == target);
    if unless && let Some(i) = entry {
        return Ok(if is_async || suspending[i].is_done() { Term::bool(false) } else { when_suspended(p, target) });
    }
    if heddle_runtime::proctab::lookup(target).is_none() {
        return Ok(am::BADARG.into());
    }
    let suspending = &mut p.rare().suspending;
    let done = match entry {
        Some(i) => {
            suspending[i].count += 1;
            suspending[i].done()
        }
        None => {
            suspending.push(Suspending::once(target));
            suspending[suspending.len() - 1].done()
        }
    };
    let me = p.pid();
    let (reference, id) = send::fresh_reference(&mut p.heap);
    send::ask(p, target, move |other| {
        let alive = other.is_some();
        if let Some(other) = other {
            other.suspend_count += 1;
            other.shared().state.set_suspended(true);
            done();
        }
        if let Some(value) = reply {
            let answer = Package::build(|heap| {
                let value = heap.copy(value.term());
                let state = Atom::new(if alive { "suspended" } else { "exited" });
                heap.tuple(&[value, state.into()])
            });
            send::message_from(Term::local_pid(target), me, answer);
        } else if !is_async {
            send::build_message(me, |heap| {
                let reference = heap.reference(id.words());
                let result = if alive { Term::bool(true) } else { Term::atom(am::BADARG) };
                heap.tuple(&[reference, result])
            });
        }
    });
    Ok(if is_async { Term::bool(true) } else { reference })
}

/// Asks a process that is about to be suspended for the answer false, which comes when it is.
fn when_suspended(p: &mut Process, target: u64) -> Term {
    let me = p.pid();
    let (reference, id) = send::fresh_reference(&mut p.heap);
    send::ask(p, target, move |_| {
        send::build_message(me, |heap| {
            let reference = heap.reference(id.words());
            heap.tuple(&[reference, Term::bool(false)])
        });
    });
    reference
}

fn resume_process(p: &mut Process, a: &[Term]) -> NativeResult {
    if !a[0].is_local_pid() {
        return Err(p.badarg());
    }
    let target = a[0].payload();
    let suspending = &mut p.rare().suspending;
    let Some(i) = suspending.iter().position(|s| s.pid == target) else { return Err(p.badarg()) };
    suspending[i].count -= 1;
    if suspending[i].count == 0 {
        suspending.swap_remove(i);
    }
    send::call_in(target, |other| {
        if let Some(other) = other {
            send::resume(other, 1);
        }
    });
    Ok(Term::bool(true))
}
