//! Sending, and natives that control the running process.

use heddle_io::ports::{self, hooks::wait_for};
use heddle_natives::args;
use heddle_runtime::CollectionKind;
use heddle_runtime::long_gc;
use heddle_runtime::nodes::{Destination, nodes};
use heddle_runtime::process::{Exception, ExceptionClass, FLAG_ASKED, FLAG_AT_PORT, NativeResult, Process, Thrown};
use heddle_runtime::send::{self, Sent};
use heddle_runtime::send_remote;
use heddle_term::ident::PidView;
use heddle_term::{Term, am};

heddle_runtime::natives! { TABLE:
    "erlang" => {
        "!"/2 => bang,
        "send"/2 => send_2,
        "send"/3 => send_3,
        "error"/1 => error_1,
        "error"/2 => error_2,
        "error"/3 => error_3,
        "exit"/1 => exit_1,
        "throw"/1 => throw_1,
        "nif_error"/1 => error_1,
        "nif_error"/2 => error_2,
        "self"/0 => self_0,
        "bump_reductions"/1 => bump_reductions,
        "group_leader"/0 => group_leader,
        "is_process_alive"/1 => is_process_alive_1,
        "dt_spread_tag"/1 => dt_spread_tag,
        "dt_restore_tag"/1 => dt_restore_tag,
        "dt_put_tag"/1 => dt_undefined,
        "dt_get_tag"/0 => dt_undefined,
        "dt_get_tag_data"/0 => dt_undefined,
        "dt_append_vm_tag_data"/1 => dt_same,
        "dt_prepend_vm_tag_data"/1 => dt_same,
    }
    "erts_internal" => {
        "group_leader"/2 => set_group_leader,
        "group_leader"/3 => set_group_leader_3,
        "is_process_alive"/2 => is_process_alive_2,
        "is_system_process"/1 => is_system_process,
        "is_process_executing_dirty"/1 => is_process_executing_dirty,
        "dirty_process_handle_signals"/1 => dirty_process_handle_signals,
        "garbage_collect"/1 => garbage_collect,
    }
}

fn bang(p: &mut Process, a: &[Term]) -> NativeResult {
    match send::send(p, a[0], a[1]) {
        Sent::Ok | Sent::NoConnection => Ok(a[1]),
        Sent::BadArg => {
            p.flags &= !FLAG_AT_PORT;
            Err(p.badarg())
        }
        Sent::Busy => busy(p, a),
        Sent::Long => Err(Thrown::DirtyCpu),
        Sent::TooLarge => Err(p.system_limit()),
    }
}

/// The port, or the connection to another node, is busy: the native is called again when it takes data.
fn busy(p: &mut Process, a: &[Term]) -> NativeResult {
    if let Some(to) = Destination::of(a[0]) {
        return Err(nodes().wait(p, a, to.node()));
    }
    let dest = match a[0].as_tuple() {
        Some(&[name, _]) => name,
        _ => a[0],
    };
    Err(match ports::find(dest) {
        Some(port) => wait_for(p, a, &port),
        // The process has just ended.
        None => {
            p.flags &= !FLAG_AT_PORT;
            p.again(a)
        }
    })
}

fn send_2(p: &mut Process, a: &[Term]) -> NativeResult {
    bang(p, a)
}

fn send_3(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(options) = args::list(a[2]) else { return Err(p.badarg()) };
    let (mut noconnect, mut nosuspend) = (false, false);
    for option in options {
        match option.as_atom().map(|o| o.name()) {
            Some("noconnect") => noconnect = true,
            Some("nosuspend") => nosuspend = true,
            _ => return Err(p.badarg_cause(heddle_term::Atom::new("badopt"))),
        }
    }
    if noconnect
        && let Some(to) = Destination::of(a[0])
        && nodes().connection(to.node(), false).is_none()
    {
        return Ok(heddle_term::Atom::new("noconnect").into());
    }
    match send::send(p, a[0], a[1]) {
        Sent::Ok => Ok(am::OK.into()),
        Sent::NoConnection => Ok(am::OK.into()),
        Sent::BadArg => {
            p.flags &= !FLAG_AT_PORT;
            Err(p.badarg())
        }
        Sent::Busy if nosuspend => Ok(heddle_term::Atom::new("nosuspend").into()),
        Sent::Busy => busy(p, a),
        Sent::Long => Err(Thrown::DirtyCpu),
        Sent::TooLarge => Err(p.system_limit()),
    }
}

fn error_1(p: &mut Process, a: &[Term]) -> NativeResult {
    Err(p.raise(ExceptionClass::Error, a[0]))
}

fn error_2(p: &mut Process, a: &[Term]) -> NativeResult {
    error_with(p, a[0], a[1], Term::NIL)
}

fn error_3(p: &mut Process, a: &[Term]) -> NativeResult {
    let mut info = Term::NIL;
    // Options of another shape are ignored: the program's error is raised anyway.
    for option in args::list(a[2]).unwrap_or_default() {
        if let Some((am::ERROR_INFO, value)) = args::option(option)
            && value.is_map()
        {
            let pair = p.heap.tuple(&[am::ERROR_INFO.into(), value]);
            info = p.heap.list(&[pair]);
        }
    }
    error_with(p, a[0], a[1], info)
}

fn error_with(p: &mut Process, reason: Term, arguments: Term, info: Term) -> NativeResult {
    // `none` is the default of error/2,3: no argument list.
    let args = if arguments.is_list() { arguments } else { Term::NONE };
    p.exception = Exception { class: ExceptionClass::Error, reason, args, info, ..Exception::NONE };
    Err(Thrown::Exception)
}

fn exit_1(p: &mut Process, a: &[Term]) -> NativeResult {
    Err(p.raise(ExceptionClass::Exit, a[0]))
}

fn throw_1(p: &mut Process, a: &[Term]) -> NativeResult {
    Err(p.raise(ExceptionClass::Throw, a[0]))
}

fn self_0(p: &mut Process, _: &[Term]) -> NativeResult {
    Ok(p.pid_term())
}

fn bump_reductions(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(n) = args::count(a[0]).or_else(|| heddle_term::big::to_u64(a[0]).map(|_| 4000)) else { return Err(p.badarg()) };
    p.bump(n.min(4000));
    Ok(Term::bool(true))
}

fn group_leader(p: &mut Process, _: &[Term]) -> NativeResult {
    Ok(p.group_leader)
}

/// (New leader, process): `true` or `badarg`; `false` when it takes a signal (the caller then calls the form with a reference).
fn set_group_leader(p: &mut Process, a: &[Term]) -> NativeResult {
    let (leader, target) = (a[0], a[1]);
    if !leader.is_pid() || !target.is_pid() {
        return Ok(am::BADARG.into());
    }
    if target == p.pid_term() {
        p.group_leader = leader;
        return Ok(Term::bool(true));
    }
    if let (Some(leader), Some(member)) = (PidView::of(leader), PidView::of(target).filter(|view| view.node != send::node_name())) {
        send_remote::group_leader(p, leader, member);
        return nodes().returns(p, member.node, am::TRUE.into());
    }
    if !target.is_local_pid() || heddle_runtime::proctab::lookup(target.payload()).is_none() {
        return Ok(am::BADARG.into());
    }
    Ok(Term::bool(false))
}

/// (New leader, process, reference): the answer comes as {Reference, true | badarg}.
fn set_group_leader_3(p: &mut Process, a: &[Term]) -> NativeResult {
    let (leader, target) = (a[0], a[1]);
    let Some(id) = heddle_runtime::RefId::of(a[2]).filter(|_| leader.is_pid() && target.is_local_pid()) else { return Err(p.badarg()) };
    let me = p.pid();
    let leader = heddle_runtime::Package::new(leader);
    send::ask(p, target.payload(), move |other| {
        let ok = other.is_some();
        if let Some(other) = other {
            other.group_leader = leader.unpack(&mut other.heap);
        }
        send::build_message(me, |heap| {
            let reference = heap.reference(id.words());
            let result = if ok { Term::bool(true) } else { Term::atom(am::BADARG) };
            heap.tuple(&[reference, result])
        });
    });
    Ok(am::OK.into())
}

fn is_process_alive_1(p: &mut Process, a: &[Term]) -> NativeResult {
    if a[0] == p.pid_term() {
        return Ok(Term::bool(true));
    }
    if !a[0].is_local_pid() {
        return Err(p.badarg());
    }
    match heddle_runtime::proctab::lookup(a[0].payload()) {
        None => return Ok(Term::bool(false)),
        Some(other) if other.has_heard_all() => return Ok(Term::bool(true)),
        Some(_) => {}
    }
    // The answer must come after the signals sent before: ask the process and wait.
    Err(p.trap_to(am::ERTS_INTERNAL, heddle_term::Atom::new("is_process_alive"), &[a[0]]))
}

/// The process itself answers `{Reference, Boolean}`, after all signals that were sent to it before.
fn is_process_alive_2(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(id) = heddle_runtime::RefId::of(a[1]).filter(|_| a[0].is_local_pid()) else { return Err(p.badarg()) };
    let me = p.pid();
    let target = a[0].payload();
    let answer = move |alive: bool| {
        send::build_message(me, |heap| {
            let reference = heap.reference(id.words());
            heap.tuple(&[reference, Term::bool(alive)])
        });
    };
    if target == me {
        answer(true);
    } else {
        send::ask(p, target, move |other| answer(other.is_some()));
    }
    Ok(am::OK.into())
}

/// The first processes of a node, made by the VM at the start or by `spawn_system_process`, are its system processes; their pids tell.
const SYSTEM_PROCESSES: u64 = 9;

fn is_system_process(p: &mut Process, a: &[Term]) -> NativeResult {
    if !a[0].is_local_pid() {
        return Err(p.badarg());
    }
    Ok(Term::bool(a[0].payload() < SYSTEM_PROCESSES))
}

fn is_process_executing_dirty(p: &mut Process, a: &[Term]) -> NativeResult {
    if !a[0].is_local_pid() {
        return Err(p.badarg());
    }
    let dirty = heddle_runtime::proctab::lookup(a[0].payload()).is_some_and(|q| q.state.load().is_dirty());
    Ok(Term::bool(dirty))
}

/// Does nothing: a process that runs a dirty native handles its signals itself when it is back.
fn dirty_process_handle_signals(p: &mut Process, a: &[Term]) -> NativeResult {
    if !a[0].is_local_pid() {
        return Err(p.badarg());
    }
    Ok(heddle_term::Atom::new("normal").into())
}

/// Asks for a collection of the calling process. The engine does it when the native returns.
fn garbage_collect(p: &mut Process, a: &[Term]) -> NativeResult {
    let kind = match a[0].as_atom().map(|m| m.name()) {
        Some("major") => CollectionKind::Major,
        Some("minor") => CollectionKind::Asked,
        _ => return Err(p.badarg()),
    };
    if long_gc::is_long(p, kind) {
        return Err(Thrown::DirtyCpu);
    }
    p.need_major |= kind == CollectionKind::Major;
    p.flags |= FLAG_ASKED;
    p.request_collection();
    Ok(Term::bool(true))
}

// ---- dynamic trace tags: there are no probes in this build, as in a stock emulator without them ----

fn dt_spread_tag(_: &mut Process, _: &[Term]) -> NativeResult {
    Ok(Term::bool(true))
}
fn dt_restore_tag(_: &mut Process, _: &[Term]) -> NativeResult {
    Ok(Term::bool(true))
}
fn dt_undefined(_: &mut Process, _: &[Term]) -> NativeResult {
    Ok(am::UNDEFINED.into())
}
fn dt_same(_: &mut Process, a: &[Term]) -> NativeResult {
    Ok(a[0])
}
