//! `erlang:trace/3` and `trace:process/4`: flags on processes.

use super::arguments;
use heddle_io::ports::tracing;
use heddle_natives::args;
use heddle_runtime::process::{NativeResult, ProcRef, Process};
use heddle_runtime::trace::sessions::{self, Session};
use heddle_runtime::trace::{Tracer, emit, flags, frames, tracees};
use heddle_runtime::{Package, exit, proctab, send};
use heddle_term::{Atom, Term};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

heddle_runtime::natives! { TABLE:
    "erts_internal" => {
        "trace"/3 => trace_3,
        "trace"/4 => trace_4,
    }
    "erlang" => { "trace_delivered"/1 => trace_delivered }
}

fn trace_3(p: &mut Process, a: &[Term]) -> NativeResult {
    change(p, &sessions::legacy(), a)
}

fn trace_4(p: &mut Process, a: &[Term]) -> NativeResult {
    let session = arguments::session(p, a[0])?;
    change(p, &session, &a[1..])
}

/// The group of processes and ports that an atom like `new_processes` names.
#[derive(Default)]
struct Targets {
    processes: bool,
    ports: bool,
    existing: bool,
    new: bool,
}

fn targets(name: &str) -> Option<Targets> {
    let (processes, ports) = match name {
        "all" | "existing" | "new" => (true, true),
        "processes" | "existing_processes" | "new_processes" => (true, false),
        "ports" | "existing_ports" | "new_ports" => (false, true),
        _ => return None,
    };
    Some(Targets { processes, ports, existing: !name.starts_with("new"), new: !name.starts_with("existing") })
}

fn change(p: &mut Process, session: &Arc<Session>, a: &[Term]) -> NativeResult {
    let how = arguments::flags(p, a[2], session.tracer.is_none())?;
    let Some(on) = args::boolean(a[1]) else { return Err(p.badarg()) };
    let flags = how.bits;
    let tracer = session.tracer.clone().or(how.tracer).unwrap_or(Tracer::Receiver(p.pid_term()));
    if a[0].is_local_pid() || a[0].is_local_port() {
        if how.cpu_timestamp {
            return Err(p.badarg());
        }
        let done = if a[0].is_local_port() {
            heddle_io::ports::exists(a[0]).then(|| set_port(a[0].payload(), session, on, flags, &tracer))
        } else {
            proctab::lookup(a[0].payload()).map(|target| set(target, session, on, flags, &tracer))
        };
        if done == Some(false) {
            exit::log_of(p, "error", "** can only have one tracer per process\n");
        }
        return if done == Some(true) { Ok(Term::small(1)) } else { Err(p.badarg()) };
    }
    let Some(name) = a[0].as_atom() else { return Err(p.badarg()) };
    let Some(targets) = targets(name.name()) else { return Err(p.badarg()) };
    if how.cpu_timestamp {
        if name.name() != "all" {
            return Err(p.badarg());
        }
        emit::CPU_TIMESTAMPS.store(on, Ordering::Relaxed);
    }
    let mut count = 0;
    // Flags that both have count for both, unless one kind is named.
    let shared = flags & flags::MODIFIERS != 0;
    if targets.existing && targets.processes && (shared || flags & flags::OF_PROCESSES != 0) {
        proctab::for_each(|target| {
            count += (!target.state.load().is_exiting() && set(target, session, on, flags, &tracer)) as i64;
        });
    }
    if targets.existing && targets.ports && (shared || flags & flags::OF_PORTS != 0) {
        for id in heddle_io::ports::all() {
            count += set_port(id, session, on, flags, &tracer) as i64;
        }
    }
    if targets.new {
        let mut settings = session.settings.lock().unwrap();
        if targets.processes {
            change_new(&mut settings.new_processes, on, flags & flags::OF_PROCESSES, &tracer);
        }
        if targets.ports {
            change_new(&mut settings.new_ports, on, flags & flags::OF_PORTS, &tracer);
        }
        drop(settings);
        note_new();
    }
    p.bump(count as usize);
    Ok(Term::small(count))
}

fn change_new(place: &mut Option<(u32, Tracer)>, on: bool, flags: u32, tracer: &Tracer) {
    if flags == 0 {
        return;
    }
    let (had, before) = place.take().unwrap_or_else(|| (0, tracer.clone()));
    let flags = if on { had | flags } else { had & !flags };
    *place = (flags != 0).then(|| (flags, if on { tracer.clone() } else { before }));
}

fn set_port(id: u64, session: &Arc<Session>, on: bool, flags: u32, tracer: &Tracer) -> bool {
    if on { tracing::change(id, session, flags, 0, tracer) } else { tracing::change(id, session, 0, flags, tracer) }
}

/// Keeps `ANY_NEW` true while any session traces new processes or ports.
pub fn note_new() {
    let any = sessions::all().iter().any(|s| {
        let settings = s.settings.lock().unwrap();
        settings.new_processes.is_some() || settings.new_ports.is_some() || settings.on_load.is_some()
    });
    sessions::ANY_NEW.store(any, Ordering::Release);
}

/// False if another tracer traces the process in this session. A process may be its own tracer: it gets no messages, but its calls are
/// timed.
fn set(target: ProcRef, session: &Arc<Session>, on: bool, flags: u32, tracer: &Tracer) -> bool {
    if !on {
        tracees::change(&target, session, 0, flags, None);
        return true;
    }
    if let Some(t) = tracees::in_session(target.pid, session.id)
        && t.tracer != *tracer
        && t.tracer.is_there(Term::local_pid(target.pid))
    {
        return false;
    }
    tracees::change(&target, session, flags, 0, Some(tracer.clone()));
    true
}

/// Sends the message of `trace_delivered` when the last tracee has let go of it.
struct Delivered {
    asker: u64,
    message: Mutex<Package>,
}

impl Drop for Delivered {
    fn drop(&mut self) {
        let message = std::mem::replace(self.message.get_mut().unwrap(), Package::immediate(Term::NIL));
        send::call_in(self.asker, move |asker| {
            if let Some(asker) = asker {
                frames::tell_self(asker, message);
            }
        });
    }
}

/// A tracee sends its trace messages itself, at the event: those of events before this call are with their tracers. Only those of signals
/// that it has not handled are not, so each tracee is sent one more signal.
fn trace_delivered(p: &mut Process, a: &[Term]) -> NativeResult {
    if !(a[0].is_local_pid() || a[0].is_atom_of(Atom::new("all"))) {
        return Err(p.badarg());
    }
    let (reference, _) = send::fresh_reference(&mut p.heap);
    let message = p.heap.tuple(&[Atom::new("trace_delivered").into(), a[0], reference]);
    let delivered = Arc::new(Delivered { asker: p.pid(), message: Mutex::new(Package::new(message)) });
    let mut tell = |tracee: ProcRef| {
        // Relaxed: tracing that another thread turns on meanwhile is not meant.
        if tracee.pid != delivered.asker && tracee.trace.load(Ordering::Relaxed) != 0 {
            let delivered = delivered.clone();
            send::call_in(tracee.pid, move |_| drop(delivered));
        }
    };
    if a[0].is_local_pid() {
        proctab::find(a[0]).into_iter().for_each(&mut tell);
    } else {
        proctab::for_each(&mut tell);
    }
    Ok(reference)
}
