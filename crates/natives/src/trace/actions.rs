//! Functions of match specifications that only mean something while a process is traced.

use crate::args;
use crate::ets::spec::functions::Action;
use heddle_runtime::process::Process;
use heddle_runtime::trace::{Session, flags, frames, tracees};
use heddle_runtime::{code, names, proctab};
use heddle_term::{Term, am};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// `system_flag(trace_control_word, _)`.
pub static CONTROL_WORD: AtomicU32 = AtomicU32::new(0);

/// None: as where a specification is only tried out.
pub fn act(action: Action, values: &[Term], p: &mut Process, session: &Arc<Session>) -> Option<Term> {
    Some(match action {
        Action::Caller => match frames::caller(p) {
            Some(found) => frames::mfa_term(&mut p.heap, found.mfa),
            None => am::UNDEFINED.into(),
        },
        Action::CallerLine => match frames::caller(p) {
            Some(found) => with_line(p, &found),
            None => am::UNDEFINED.into(),
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
    let depth = depth.unwrap_or(8).clamp(0, 100) as usize;
    let places: Vec<_> = frames::return_addresses(p).filter_map(|at| code::locate(at.wrapping_sub(1))).take(depth).collect();
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

fn set(pid: u64, session: &Arc<Session>, on: u32, off: u32, tracer: Option<Term>) -> Term {
    if let Some(shared) = proctab::lookup(pid) {
        tracees::change(&shared, session, on, off, tracer);
    }
    Term::bool(true)
}

fn process(term: Term) -> Option<u64> {
    let pid = match term.as_atom() {
        Some(name) => names::whereis(name)?,
        None => term,
    };
    pid.is_local_pid().then(|| pid.payload())
}

/// `{enable_trace, Flag}`, `{enable_trace, Process, Flag}`.
fn switch(p: &mut Process, session: &Arc<Session>, values: &[Term], on: bool) -> Term {
    let flag = values.last().and_then(|f| f.as_atom()).and_then(|f| flags::named(f.name()));
    let Some(flag) = flag else { return am::EXIT_UPPER.into() };
    let pid = if values.len() == 1 { Some(p.pid()) } else { process(values[0]) };
    let Some(pid) = pid else { return am::EXIT_UPPER.into() };
    // A tracer that has none takes that of the process that runs this.
    let tracer = match tracees::in_session(pid, session.id) {
        Some(_) => None,
        None => session.tracer.or_else(|| tracees::in_session(p.pid(), session.id).map(|t| t.tracer)),
    };
    if on { set(pid, session, flag, 0, tracer.filter(|t| *t != Term::local_pid(pid))) } else { set(pid, session, 0, flag, None) }
}

/// `{trace, Disable, Enable}`, `{trace, Process, Disable, Enable}`.
fn trace(p: &mut Process, session: &Arc<Session>, values: &[Term]) -> Term {
    let (pid, off, on) = match values {
        [off, on] => (Some(p.pid()), *off, *on),
        [who, off, on] => (process(*who), *off, *on),
        _ => return am::EXIT_UPPER.into(),
    };
    let Some(pid) = pid else { return Term::bool(false) };
    let (Some((off, _)), Some((on, tracer))) = (listed(off), listed(on)) else { return am::EXIT_UPPER.into() };
    let known = tracees::in_session(pid, session.id).map(|t| t.tracer);
    let mine = tracees::in_session(p.pid(), session.id).map(|t| t.tracer);
    let tracer = session.tracer.or(tracer).or(known).or(mine).filter(|t| *t != Term::local_pid(pid));
    set(pid, session, on, off & !on, tracer)
}

fn listed(list: Term) -> Option<(u32, Option<Term>)> {
    let (mut bits, mut tracer) = (0, None);
    for item in args::list(list)? {
        match item.as_atom() {
            Some(name) => bits |= flags::named(name.name())?,
            None => match item.as_tuple()? {
                [tag, pid] if tag.as_atom()?.name() == "tracer" && pid.is_local_pid() => tracer = Some(*pid),
                _ => return None,
            },
        }
    }
    Some((bits, tracer))
}
