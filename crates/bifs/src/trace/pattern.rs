//! `trace_pattern`: which functions and messages are traced.

use super::arguments;
use super::matching::Compiled;
use super::process::note_new;
use heddle_natives::args;
use heddle_natives::spec::{Program, Unfit};
use heddle_runtime::Package;
use heddle_runtime::process::{NativeResult, Process, Thrown};
use heddle_runtime::trace::breakpoints;
use heddle_runtime::trace::request::{CallChange, Counting, PatternRequest};
use heddle_runtime::trace::sessions::{self, EventSpec, Session};
use heddle_runtime::trace::{Spec, Tracer};
use heddle_term::{Atom, Term};
use std::sync::Arc;

heddle_runtime::natives! { TABLE:
    "erts_internal" => {
        "trace_pattern"/3 => trace_pattern_3,
        "trace_pattern"/4 => trace_pattern_4,
    }
}

fn trace_pattern_3(p: &mut Process, a: &[Term]) -> NativeResult {
    change(p, &sessions::legacy(), a)
}

fn trace_pattern_4(p: &mut Process, a: &[Term]) -> NativeResult {
    let session = arguments::session(p, a[0])?;
    change(p, &session, &a[1..])
}

/// The second argument.
enum What {
    On(Option<Arc<Spec>>),
    Off,
    Pause,
    Restart,
}

fn what(p: &mut Process, term: Term) -> Result<What, Thrown> {
    match term.as_atom().map(|a| a.name()) {
        Some("true") => return Ok(What::On(None)),
        Some("false") => return Ok(What::Off),
        Some("pause") => return Ok(What::Pause),
        Some("restart") => return Ok(What::Restart),
        _ => {}
    }
    if term.is_nil() {
        return Ok(What::On(None));
    }
    match Program::for_trace(term) {
        Ok(program) => Ok(What::On(Some(Arc::new(Spec { source: Package::new(term), program: Box::new(Compiled(program)) })))),
        Err(Unfit::TooDeep) => Err(p.system_limit()),
        Err(Unfit::Wrong) => Err(p.badarg_cause(Atom::new("match_spec"))),
    }
}

#[derive(Default)]
struct PatternFlags {
    global: bool,
    local: bool,
    meta: Option<Tracer>,
    count: bool,
    time: bool,
    memory: bool,
}

impl PatternFlags {
    fn counts(&self) -> bool {
        self.count || self.time || self.memory
    }
}

fn flags(p: &mut Process, session: &Session, list: Term) -> Result<PatternFlags, Thrown> {
    let bad = |p: &mut Process| Err(p.badarg_cause(Atom::new("badopt")));
    let Some(items) = args::list(list) else { return bad(p) };
    let mut flags = PatternFlags::default();
    for item in items {
        match item.as_atom().map(|a| a.name()) {
            Some("global") => flags.global = true,
            Some("local") => flags.local = true,
            Some("meta") => flags.meta = Some(session.tracer.clone().unwrap_or(Tracer::Receiver(p.pid_term()))),
            Some("call_count") => flags.count = true,
            Some("call_time") => flags.time = true,
            Some("call_memory") => flags.memory = true,
            // A session's own tracer is the only one.
            _ if session.tracer.is_some() => return bad(p),
            _ => match arguments::tagged_tracer(item, "meta") {
                Some(tracer) => flags.meta = Some(tracer),
                None => return bad(p),
            },
        }
    }
    if flags.global && (flags.local || flags.meta.is_some() || flags.counts()) {
        return bad(p);
    }
    flags.global = !(flags.local || flags.meta.is_some() || flags.counts());
    Ok(flags)
}

fn counting_off() -> PatternRequest {
    let off = Some(Counting::Off);
    PatternRequest { count: off, time: off, memory: off, ..PatternRequest::default() }
}

fn counting(flags: &PatternFlags, change: Counting) -> PatternRequest {
    PatternRequest {
        count: flags.count.then_some(change),
        time: flags.time.then_some(change),
        memory: flags.memory.then_some(change),
        ..PatternRequest::default()
    }
}

fn change(p: &mut Process, session: &Arc<Session>, a: &[Term]) -> NativeResult {
    let what = what(p, a[1])?;
    if let Some(event) = a[0].as_atom()
        && matches!(event.name(), "send" | "receive")
    {
        return event_spec(p, session, event, what, a[2]);
    }
    let flags = flags(p, session, a[2])?;
    let has_spec = matches!(what, What::On(Some(_)));
    if has_spec && !flags.global && !flags.local && flags.meta.is_none() {
        return Err(p.badarg_cause(Atom::new("call_count")));
    }
    let request = match what {
        What::On(spec) => PatternRequest {
            call: match (flags.global, flags.local) {
                (true, _) => Some(CallChange::Global(spec.clone())),
                (_, true) => Some(CallChange::Local(spec.clone())),
                _ => None,
            },
            meta: flags.meta.clone().map(|tracer| Some((tracer, spec))),
            count: flags.count.then_some(Counting::Start),
            time: flags.time.then_some(Counting::Start),
            memory: flags.memory.then_some(Counting::Start),
        },
        What::Off => PatternRequest {
            call: match (flags.global, flags.local) {
                (true, _) => Some(CallChange::NotGlobal),
                (_, true) => Some(CallChange::NotLocal),
                _ => None,
            },
            meta: flags.meta.as_ref().map(|_| None),
            count: flags.count.then_some(Counting::Off),
            time: flags.time.then_some(Counting::Off),
            memory: flags.memory.then_some(Counting::Off),
        },
        What::Pause | What::Restart if !flags.counts() || flags.local || flags.meta.is_some() => return Err(p.badarg()),
        What::Pause => counting(&flags, Counting::Pause),
        What::Restart => counting(&flags, Counting::Restart),
    };
    if a[0].is_atom_of(Atom::new("on_load")) {
        let clears = matches!(request.call, Some(CallChange::NotGlobal | CallChange::NotLocal));
        session.settings.lock().unwrap().on_load = (!clears).then_some(request);
        note_new();
        return Ok(Term::small(0));
    }
    let Some((module, function, arity)) = mfa(a[0]) else { return Err(p.badarg()) };
    let targets = breakpoints::targets(module, function, arity, flags.global);
    if matches!(request.call, Some(CallChange::Global(_))) {
        // Functions that are not exported lose what they had.
        let all = breakpoints::targets(module, function, arity, false);
        let nothing = PatternRequest { call: Some(CallChange::NotLocal), meta: Some(None), ..counting_off() };
        breakpoints::change(session, &breakpoints::traced_in(&all, session.id), &nothing);
    }
    breakpoints::change(session, &targets, &request);
    // Other processes run before the caller goes on, as they do in stock while it waits for all schedulers to see the new code.
    p.bump(targets.len().max(4000));
    Ok(Term::small(targets.len() as i64))
}

/// `{M, F, A}` where `'_'` stands for any, from the right only.
#[allow(clippy::type_complexity)]
pub(super) fn mfa(term: Term) -> Option<(Option<Atom>, Option<Atom>, Option<u8>)> {
    let Some(&[m, f, a]) = term.as_tuple() else { return None };
    let any = |t: Term| t.is_atom_of(Atom::new("_"));
    let (module, function) = (m.as_atom()?, f.as_atom()?);
    if any(m) {
        return (any(f) && any(a)).then_some((None, None, None));
    }
    if any(f) {
        return any(a).then_some((Some(module), None, None));
    }
    if any(a) {
        return Some((Some(module), Some(function), None));
    }
    match a.as_small() {
        Some(n @ 0..=255) => Some((Some(module), Some(function), Some(n as u8))),
        _ => None,
    }
}

fn event_spec(p: &mut Process, session: &Session, event: Atom, what: What, flags: Term) -> NativeResult {
    if !flags.is_nil() {
        return Err(p.badarg_cause(Atom::new("badopt")));
    }
    let spec = match what {
        What::On(None) => EventSpec::All,
        What::On(Some(spec)) if !spec.program.is_for_messages(event.name() == "receive") => {
            return Err(p.badarg_cause(Atom::new("match_spec")));
        }
        What::On(Some(spec)) => EventSpec::Matching(spec),
        What::Off => EventSpec::None,
        _ => return Err(p.badarg()),
    };
    let mut settings = session.settings.lock().unwrap();
    let place = if event.name() == "send" { &mut settings.send } else { &mut settings.receive };
    let before = std::mem::replace(place, spec);
    drop(settings);
    drop(before);
    Ok(Term::small(1))
}
