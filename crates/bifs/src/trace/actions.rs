//! Functions of match specifications that only mean something while a process is traced.

use super::arguments;
use heddle_natives::args;
use heddle_natives::spec::CONTROL_WORD;
use heddle_natives::spec::eval::Actions;
use heddle_natives::spec::functions::Action;
use heddle_runtime::process::{ProcRef, Process};
use heddle_runtime::trace::{Session, Tracer, flags, frames, tracees};
use heddle_runtime::{code, names, proctab, stack};
use heddle_term::{Term, am};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The actions of a program that runs for this session.
pub struct InSession<'a>(pub &'a Arc<Session>);

impl Actions for InSession<'_> {
    fn act(&self, action: Action, values: &[Term], p: &mut Process) -> Option<Term> {
        act(action, values, p, self.0)
    }
}

/// Returns None for actions that do here what they do where a specification is only tried out.
fn act(action: Action, values: &[Term], p: &mut Process, session: &Arc<Session>) -> Option<Term> {
    Some(match action {
        Action::Caller => match frames::caller(p) {
            Some(found) => frames::mfa_term(&mut p.heap, found.mfa),
            None => am::UNDEFINED.into(),
        },
        Action::CallerLine => match frames::caller(p) {
            Some(found) => with_line(p, &found),
            None => am::UNDEFINED.into(),
        },
        Action::ProcessDump => p.heap.binary(crate::process::dump::whole(p).as_bytes()),
        Action::SetSeqToken => match super::seq::set(p, values[0], values[1]) {
            Some(_) => Term::bool(true),
            None => am::EXIT_UPPER.into(),
        },
        Action::Stack => stack(p, values.first().and_then(|n| n.as_small())),
        Action::GetControlWord => Term::small(CONTROL_WORD.load(Ordering::Relaxed) as i64),
        Action::SetControlWord => match values[0].as_small().and_then(|n| u32::try_from(n).ok()) {
            Some(word) => Term::small(CONTROL_WORD.swap(word, Ordering::Relaxed) as i64),
            None => am::EXIT_UPPER.into(),
        },
        Action::Silent => match args::boolean(values[0]) {
            Some(true) => set(p.pid(), session, flags::SILENT, 0, None),
            Some(false) => set(p.pid(), session, 0, flags::SILENT, None),
            None => am::EXIT_UPPER.into(),
        },
        Action::Enable => switch(p, session, values, true),
        Action::Disable => switch(p, session, values, false),
        Action::Trace => trace(p, session, values),
        _ => return None,
    })
}

fn with_line(p: &mut Process, found: &code::Location) -> Term {
    let line = found.instance.line_at(found.offset).map(|(file, line)| (file.to_string(), line));
    let place = match line {
        Some((file, line)) => {
            let file = p.heap.string(&file);
            p.heap.tuple(&[file, Term::small(line as i64)])
        }
        None => am::UNDEFINED.into(),
    };
    let mfa = found.mfa;
    p.heap.tuple(&[mfa.module.into(), mfa.function.into(), Term::small(mfa.arity as i64), place])
}

/// The callers, as in a stack trace.
fn stack(p: &mut Process, depth: Option<i64>) -> Term {
    let deepest = stack::BACKTRACE_DEPTH.load(Ordering::Relaxed) as i64;
    let depth = depth.unwrap_or(deepest).clamp(0, deepest) as usize;
    let places: Vec<_> = stack::callers(p).filter_map(|at| code::locate(at.wrapping_sub(1))).take(depth).collect();
    let mut rows = Vec::new();
    for found in &places {
        let location = match found.instance.line_at(found.offset) {
            Some((file, line)) => {
                let file = p.heap.string(file);
                let file = p.heap.tuple(&[am::FILE.into(), file]);
                let line = p.heap.tuple(&[am::LINE.into(), Term::small(line as i64)]);
                p.heap.list(&[file, line])
            }
            None => Term::NIL,
        };
        let mfa = found.mfa;
        rows.push(p.heap.tuple(&[mfa.module.into(), mfa.function.into(), Term::small(mfa.arity as i64), location]));
    }
    p.heap.list(&rows)
}

fn set(pid: u64, session: &Arc<Session>, on: u32, off: u32, tracer: Option<Tracer>) -> Term {
    if let Some(shared) = proctab::lookup(pid) {
        tracees::change(&shared, session, on, off, tracer);
    }
    Term::bool(true)
}

fn process(term: Term) -> Option<ProcRef> {
    let pid = match term.as_atom() {
        Some(name) => names::whereis(name)?,
        None => term,
    };
    proctab::lookup(pid.is_local_pid().then(|| pid.payload())?)
}

/// `{enable_trace, Flag}`, `{enable_trace, Process, Flag}`, and the same with `disable_trace`.
fn switch(p: &mut Process, session: &Arc<Session>, values: &[Term], on: bool) -> Term {
    let flag = values.last().and_then(|f| f.as_atom()).and_then(|f| flags::named(f.name()));
    let Some(flag) = flag else { return am::EXIT_UPPER.into() };
    let (set, clear) = if on { (flag, 0) } else { (0, flag) };
    if values.len() == 1 {
        // Only if there is a tracer.
        if let Some(tracer) = tracer_of(p, session) {
            tracees::change(&p.proc_ref(), session, set, clear, Some(tracer));
        }
        return Term::bool(true);
    }
    let Some(tracee) = process(values[0]) else { return am::EXIT_UPPER.into() };
    replace(tracee, session, tracer_of(p, session), set, clear);
    Term::bool(true)
}

/// The tracer that the running process has in the session, or could have. A process that runs a match specification can pass it on to
/// other processes.
fn tracer_of(p: &Process, session: &Arc<Session>) -> Option<Tracer> {
    session.tracer.clone().or_else(|| tracees::in_session(p.pid(), session.id).map(|t| t.tracer))
}

/// Sets the tracer of the tracee; None ends its tracing. True if that changed anything.
fn replace(tracee: ProcRef, session: &Arc<Session>, tracer: Option<Tracer>, on: u32, off: u32) -> bool {
    let before = tracees::in_session(tracee.pid, session.id);
    match tracer {
        None => {
            tracees::change(&tracee, session, 0, flags::ALL, None);
            before.is_some()
        }
        Some(_) if before.is_none() && on == 0 => false,
        Some(tracer) => {
            tracees::change(&tracee, session, on, off & !on, Some(tracer));
            let after = tracees::in_session(tracee.pid, session.id);
            after.map(|t| (t.flags, t.tracer)) != before.map(|t| (t.flags, t.tracer))
        }
    }
}

/// `{trace, Disable, Enable}`, `{trace, Process, Disable, Enable}`.
fn trace(p: &mut Process, session: &Arc<Session>, values: &[Term]) -> Term {
    let (tracee, off, on) = match values {
        [off, on] => (Some(p.proc_ref()), *off, *on),
        [who, off, on] => (process(*who), *off, *on),
        _ => return am::EXIT_UPPER.into(),
    };
    let own = session.tracer.is_none();
    let (Some(off), Some(on), Some(tracee)) = (arguments::flag_list(off, own), arguments::flag_list(on, own), tracee) else {
        return am::EXIT_UPPER.into();
    };
    if off.cpu_timestamp || on.cpu_timestamp {
        return am::EXIT_UPPER.into();
    }
    let tracer = on.tracer.or(off.tracer).or_else(|| tracer_of(p, session));
    if tracer.as_ref().is_some_and(|tracer| !tracer.is_there(Term::local_pid(tracee.pid))) {
        return am::EXIT_UPPER.into();
    }
    Term::bool(replace(tracee, session, tracer, on.bits, off.bits))
}
