//! Work that runs inside another process: garbage collection and checks for old code.

use heddle_runtime::CollectionKind;
use heddle_runtime::activity::{self, Activity};
use heddle_runtime::level::Priority;
use heddle_runtime::literals::{self, Switched};
use heddle_runtime::mode;
use heddle_runtime::process::{FLAG_DETACHED, NativeResult, Process, Thrown};
use heddle_runtime::sched;
use heddle_runtime::signal::{Signal, SignalBody};
use heddle_runtime::{Package, gc, long_gc, send};
use heddle_term::{Atom, Term, am};

heddle_runtime::natives! { TABLE:
    "erts_internal" => {
        "request_system_task"/3 => request_system_task_3,
        "request_system_task"/4 => request_system_task_4,
        "check_dirty_process_code"/2 => check_dirty_process_code,
        "no_aux_work_threads"/0 => no_aux_work_threads,
        "release_literal_area_switch"/0 => release_area_switch,
    }
    "erts_literal_area_collector" => {
        "release_area_switch"/0 => release_area_switch,
        "send_copy_request"/3 => send_copy_request,
    }
}

/// (Pid, Priority, Request)
fn request_system_task_3(p: &mut Process, a: &[Term]) -> NativeResult {
    request(p, p.pid_term(), a[0], a[1], a[2])
}

/// (Requester, Pid, Priority, Request)
fn request_system_task_4(p: &mut Process, a: &[Term]) -> NativeResult {
    request(p, a[0], a[1], a[2], a[3])
}

/// `{garbage_collect, Id, major | minor}`, `{check_process_code, Id, Module}` or `{system_task_test, Id}`; the answer is `{Kind, Id,
/// Result}` to the requester.
fn request(p: &mut Process, requester: Term, target: Term, priority: Term, request: Term) -> NativeResult {
    if !requester.is_local_pid() || !target.is_local_pid() {
        return Err(p.badarg());
    }
    let (kind, id, argument) = match request.as_tuple() {
        Some(&[kind, id, argument]) => (kind, id, argument),
        Some(&[kind, id]) => (kind, id, am::UNDEFINED.into()),
        _ => return Err(p.badarg()),
    };
    let (Some(kind), Some(argument)) = (kind.as_atom(), argument.as_atom()) else { return Err(p.badarg()) };
    if !matches!((kind.name(), argument), ("system_task_test", am::UNDEFINED) | ("garbage_collect" | "check_process_code", _)) {
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
    let task = Task { requester: requester.payload(), target, kind, id: Package::new(id), argument, until: None };
    send::ask_as(priority, target.payload(), move |other| task.run(other));
    Ok(am::OK.into())
}

/// Reductions after which a process that is still in old code is said to use it. A runnable process may have entered the code when it was
/// the current one, and be about to leave it. So it is asked again, until it has had this many reductions. A process that stays in old
/// code uses it; one that goes in and out does not, whatever was loaded between two of its turns.
const TIME_TO_LEAVE: u64 = 4_000;

struct Task {
    requester: u64,
    /// The process that does it, a pid.
    target: Term,
    kind: Atom,
    id: Package,
    argument: Atom,
    /// Reductions of the process at which it has had time to leave old code, if that waits for it.
    until: Option<u64>,
}

impl Task {
    fn run(mut self, target: Option<&mut Process>) {
        let result = match (self.kind.name(), target) {
            (_, None) => Term::bool(false),
            ("system_task_test", _) => Term::bool(true),
            ("garbage_collect", Some(target)) if must_wait(target) => {
                later(target, move |target| self.run(target));
                return;
            }
            ("garbage_collect", Some(target)) if long_gc::holds_back(target) => {
                return long_gc::keep_back(target, move |target| self.run(target));
            }
            ("garbage_collect", Some(target)) => {
                // Inside signal handling every live term is in a root (nothing is in X registers), so this may collect.
                let kind = if self.argument.name() == "major" { CollectionKind::Major } else { CollectionKind::Asked };
                if is_put_off(target, kind) {
                    return long_gc::put_off_task(target, move |target| self.run(target));
                }
                if !mode::rests_since_major(target) {
                    gc::collect(target, &mut [], 0, kind);
                }
                Term::bool(true)
            }
            (_, Some(target)) => {
                let uses = sched::engine().uses_old_code(target, self.argument);
                if uses && activity::of(target) == Activity::Runnable && !target.shared().state.load().is_dirty() {
                    let until = *self.until.get_or_insert(target.reductions + TIME_TO_LEAVE);
                    if target.reductions < until {
                        let again = Signal::new(SignalBody::Call(Box::new(move |target| self.run(target))));
                        let _ = send::deliver(target.proc_ref(), again);
                        return;
                    }
                }
                Term::bool(uses)
            }
        };
        let answer = Package::build(|heap| {
            let id = heap.copy(self.id.term());
            heap.tuple(&[self.kind.into(), id, result])
        });
        send::message_from(self.target, self.requester, answer);
    }
}

/// True if the collection must be deferred: it would take too long here, or (shared heap) signals are being handled, and messages
/// already taken from the inbox are not roots yet.
fn is_put_off(p: &Process, kind: CollectionKind) -> bool {
    long_gc::is_long(p, kind) || mode::is_held()
}

/// True if no term of the process may move now: a native of it that runs on another thread may use its terms.
fn must_wait(p: &Process) -> bool {
    p.flags & FLAG_DETACHED != 0
}

/// Has the process handle the request when its native is back.
fn later(p: &mut Process, request: impl FnOnce(Option<&mut Process>) + Send + 'static) {
    p.shared().state.push_to_itself(Signal::new(SignalBody::Call(Box::new(request))));
}

/// Always false: processes on dirty threads are asked as others are, and answer when they are back.
fn check_dirty_process_code(_: &mut Process, _: &[Term]) -> NativeResult {
    Ok(Term::bool(false))
}

fn no_aux_work_threads(_: &mut Process, _: &[Term]) -> NativeResult {
    Ok(Term::small(heddle_runtime::sched::options().schedulers as i64 + 1))
}

/// Frees the literals that every process was asked for, and announces the next: true if there are any.
fn release_area_switch(p: &mut Process, _: &[Term]) -> NativeResult {
    match literals::switch() {
        Switched::Yes => Ok(Term::bool(true)),
        Switched::No => Ok(Term::bool(false)),
        Switched::NotYet => {
            literals::wake_at_progress(p.pid());
            p.again(&[]);
            Err(Thrown::WaitAgain)
        }
    }
}

/// (Pid, Area, How): the process copies what it has of the literals that are leaving, and the answer is
/// `{copy_literals, {Area, How, Pid}, ok}`.
fn send_copy_request(p: &mut Process, a: &[Term]) -> NativeResult {
    if !a[0].is_local_pid() {
        return Err(p.badarg());
    }
    let id = p.heap.tuple(&[a[1], a[2], a[0]]);
    copy_literals(p.pid(), Package::new(id), p.priority, a[0].payload());
    Ok(am::OK.into())
}

fn copy_literals(me: u64, id: Package, priority: Priority, pid: u64) {
    send::ask_as(priority, pid, move |other| copy_off(me, id, other));
}

fn copy_off(me: u64, id: Package, other: Option<&mut Process>) {
    if let Some(other) = other {
        if must_wait(other) {
            return later(other, move |other| copy_off(me, id, other));
        }
        if long_gc::holds_back(other) {
            return long_gc::keep_back(other, move |other| copy_off(me, id, other));
        }
        if is_put_off(other, CollectionKind::Major) {
            return long_gc::put_off_task(other, move |other| copy_off(me, id, other));
        }
        literals::copy_off(other);
    }
    send::build_message(me, |heap| {
        let id = heap.copy(id.term());
        heap.tuple(&[Atom::new("copy_literals").into(), id, am::OK.into()])
    });
}
