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
        // One that is under way is waited for.
        let waits = !is_async && !suspending[i].is_done();
        return Ok(if waits { send::ask_for(p, target, |_| Term::bool(false)) } else { Term::bool(false) });
    }
    if heddle_runtime::proctab::lookup(target).is_none() {
        return Ok(am::BADARG.into());
    }
    let suspending = &mut p.rare().suspending;
    let index = entry.unwrap_or_else(|| {
        suspending.push(Suspending::new(target));
        suspending.len() - 1
    });
    suspending[index].count += 1;
    let done = suspending[index].done();
    // True if the other process stands still now; false if it has ended.
    let suspend = move |other: Option<&mut Process>| {
        let Some(other) = other else { return false };
        other.suspend_count += 1;
        other.shared().state.set_suspended(true);
        done();
        true
    };
    if !is_async {
        return Ok(send::ask_for(p, target, |other| if suspend(other) { Term::bool(true) } else { am::BADARG.into() }));
    }
    let me = p.pid();
    send::ask(p, target, move |other| {
        let state = Atom::new(if suspend(other) { "suspended" } else { "exited" });
        if let Some(value) = reply {
            let answer = Package::build(|heap| {
                let value = heap.copy(value.term());
                heap.tuple(&[value, state.into()])
            });
            send::message_from(Term::local_pid(target), me, answer);
        }
    });
    Ok(Term::bool(true))
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
