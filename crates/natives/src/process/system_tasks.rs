//! Work that runs inside another process: garbage collection and checks for old code.

use heddle_runtime::process::{FLAG_DETACHED, NativeResult, Priority, Process};
use heddle_runtime::{Package, gc, send};
use heddle_term::{Atom, Term, am};

heddle_runtime::natives! { TABLE:
    "erts_internal" => {
        "request_system_task"/3 => request_system_task_3,
        "request_system_task"/4 => request_system_task_4,
        "check_dirty_process_code"/2 => check_dirty_process_code,
        "no_aux_work_threads"/0 => no_aux_work_threads,
        "release_literal_area_switch"/0 => nothing_to_release,
    }
    "erts_literal_area_collector" => {
        "release_area_switch"/0 => nothing_to_release,
        "send_copy_request"/3 => send_copy_request,
    }
}

/// Set by the engine: does the process use old code of the module?
pub static USES_OLD_CODE: std::sync::OnceLock<fn(&Process, Atom) -> bool> = std::sync::OnceLock::new();

/// (Pid, Priority, Request)
fn request_system_task_3(p: &mut Process, a: &[Term]) -> NativeResult {
    request(p, p.pid_term(), a[0], a[1], a[2])
}

/// (Requester, Pid, Priority, Request)
fn request_system_task_4(p: &mut Process, a: &[Term]) -> NativeResult {
    request(p, a[0], a[1], a[2], a[3])
}

/// `{garbage_collect, Id, major | minor}` or `{check_process_code, Id, Module}`; the answer is `{Kind, Id, Result}` to the requester.
fn request(p: &mut Process, requester: Term, target: Term, priority: Term, request: Term) -> NativeResult {
    if !requester.is_local_pid() || !target.is_local_pid() {
        return Err(p.badarg());
    }
    let Some(&[kind, id, argument]) = request.as_tuple() else { return Err(p.badarg()) };
    let (Some(kind), Some(argument)) = (kind.as_atom(), argument.as_atom()) else { return Err(p.badarg()) };
    if !matches!(kind.name(), "garbage_collect" | "check_process_code" | "copy_literals") {
        return Err(p.badarg());
    }
    let priority = match priority.as_atom().map(|a| a.name()) {
        Some("max") => Priority::Max,
        Some("high") => Priority::High,
        Some("normal") => Priority::Normal,
        Some("low") => Priority::Low,
        Some("inherit") => p.priority,
        _ => return Err(p.badarg()),
    };
    let id = Package::new(id);
    let requester = requester.payload();
    send::ask_as(priority, target.payload(), move |other| {
        let result = match (kind.name(), other) {
            (_, None) => Term::bool(false),
            // Collected when its native is back.
            ("garbage_collect", Some(other)) if other.flags & FLAG_DETACHED != 0 => {
                other.need_major |= argument.name() == "major";
                Term::bool(true)
            }
            ("garbage_collect", Some(other)) => {
                // Inside signal handling every live term is in a root (nothing is in X registers), so this may collect.
                if argument.name() == "major" {
                    gc::collect(other, &mut [], 0, gc::Kind::Major);
                } else {
                    gc::collect(other, &mut [], 0, gc::Kind::Automatic);
                }
                Term::bool(true)
            }
            ("check_process_code", Some(other)) => Term::bool(USES_OLD_CODE.get().is_some_and(|uses| uses(other, argument))),
            (_, Some(_)) => Term::bool(true),
        };
        send::build_message(requester, |heap| {
            let id = heap.copy(id.term());
            heap.tuple(&[kind.into(), id, result])
        });
    });
    Ok(am::OK.into())
}

/// Processes on dirty threads are asked like others; they answer when they are back.
fn check_dirty_process_code(_: &mut Process, _: &[Term]) -> NativeResult {
    Ok(Term::bool(false))
}

fn no_aux_work_threads(_: &mut Process, _: &[Term]) -> NativeResult {
    Ok(Term::small(heddle_runtime::sched::options().schedulers as i64 + 1))
}

/// Literals of purged modules keep their memory: see term::literal.
fn nothing_to_release(_: &mut Process, _: &[Term]) -> NativeResult {
    Ok(Term::bool(false))
}

/// (Pid, Id, GcAllowed): nothing needs to be copied.
fn send_copy_request(p: &mut Process, a: &[Term]) -> NativeResult {
    let me = p.pid_term();
    let kind = Atom::new("copy_literals");
    let message = p.heap.tuple(&[kind.into(), a[1], am::OK.into()]);
    send::send(p, me, message);
    Ok(am::OK.into())
}
