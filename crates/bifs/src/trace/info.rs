//! `trace_info`: what is traced.

use super::arguments;
use heddle_io::ports::tracing;
use heddle_runtime::process::{NativeResult, Process, Thrown};
use heddle_runtime::proctab;
use heddle_runtime::trace::breakpoints::{self, BreakpointSetting, Target};
use heddle_runtime::trace::sessions::{self, EventSpec, Session};
use heddle_runtime::trace::{Spec, Tracer, flags, meters, tracees};
use heddle_term::code_cell::Mfa;
use heddle_term::{Atom, Term, am};
use std::sync::Arc;
use std::sync::atomic::Ordering;

heddle_runtime::natives! { TABLE:
    "erlang" => { "trace_info"/2 => trace_info_2 }
    "erts_internal" => { "trace_info"/3 => trace_info_3 }
}

fn trace_info_2(p: &mut Process, a: &[Term]) -> NativeResult {
    of(p, &sessions::legacy(), a[0], a[1])
}

fn trace_info_3(p: &mut Process, a: &[Term]) -> NativeResult {
    if a[0].is_atom_of(Atom::new("any")) && a[2].is_atom_of(Atom::new("session")) {
        return sessions_of(p, a[1]);
    }
    let session = arguments::session(p, a[0])?;
    of(p, &session, a[1], a[2])
}

fn bad_item(p: &mut Process) -> Thrown {
    p.badarg()
}

fn bad_subject(p: &mut Process) -> Thrown {
    p.badarg_cause(Atom::new("badopt"))
}

fn of(p: &mut Process, session: &Arc<Session>, subject: Term, item: Term) -> NativeResult {
    let Some(key) = item.as_atom() else { return Err(bad_item(p)) };
    if subject.is_local_pid() {
        return process(p, session, subject, key);
    }
    if subject.is_local_port() {
        if !heddle_io::ports::exists(subject) {
            return Ok(am::UNDEFINED.into());
        }
        let traced = tracing::of(subject.payload()).into_iter().find(|t| t.session.id == session.id && t.tracer.is_there(subject));
        return flags_or_tracer(p, key, traced.map(|t| (t.flags, t.tracer)));
    }
    if let Some(name) = subject.as_atom() {
        return match name.name() {
            "new" | "new_processes" => {
                let new = session.settings.lock().unwrap().new_processes.clone();
                flags_or_tracer(p, key, new.filter(|(_, tracer)| tracer.is_there(am::UNDEFINED.into())))
            }
            "new_ports" => {
                let new = session.settings.lock().unwrap().new_ports.clone();
                flags_or_tracer(p, key, new.filter(|(_, tracer)| tracer.is_there(am::UNDEFINED.into())))
            }
            "send" | "receive" => event(p, session, name, key),
            "on_load" => on_load(p, session, key),
            _ => Err(bad_subject(p)),
        };
    }
    match mfa(subject) {
        Some(mfa) => function(p, session, mfa, key),
        None => Err(bad_subject(p)),
    }
}

fn mfa(term: Term) -> Option<Mfa> {
    match term.as_tuple() {
        Some(&[m, f, a]) => Some(Mfa { module: m.as_atom()?, function: f.as_atom()?, arity: u8::try_from(a.as_small()?).ok()? }),
        _ => None,
    }
}

fn answer(p: &mut Process, key: Atom, value: Term) -> NativeResult {
    Ok(p.heap.tuple(&[key.into(), value]))
}

fn process(p: &mut Process, session: &Arc<Session>, pid: Term, key: Atom) -> NativeResult {
    if !matches!(key.name(), "flags" | "tracer") {
        return Err(bad_item(p));
    }
    if proctab::lookup(pid.payload()).is_none_or(|q| q.state.load().is_exiting()) {
        return Ok(am::UNDEFINED.into());
    }
    let traced = tracees::in_session(pid.payload(), session.id);
    // A tracer that is gone traces nothing.
    let traced = traced.filter(|t| t.tracer.is_there(pid));
    flags_or_tracer(p, key, traced.map(|t| (t.flags, t.tracer)))
}

fn flags_or_tracer(p: &mut Process, key: Atom, traced: Option<(u32, Tracer)>) -> NativeResult {
    let value = match key.name() {
        "flags" => {
            let bits = traced.as_ref().map_or(0, |t| t.0);
            let names: Vec<Term> = flags::NAMES.iter().filter(|(_, bit)| bits & bit != 0).map(|(n, _)| Atom::new(n).into()).collect();
            p.heap.list(&names)
        }
        "tracer" => traced.map_or(Term::NIL, |t| t.1.term(&mut p.heap)),
        _ => return Err(bad_item(p)),
    };
    answer(p, key, value)
}

fn event(p: &mut Process, session: &Session, name: Atom, key: Atom) -> NativeResult {
    if key.name() != "match_spec" {
        return Err(bad_item(p));
    }
    let spec = {
        let settings = session.settings.lock().unwrap();
        if name.name() == "send" { settings.send.clone() } else { settings.receive.clone() }
    };
    let value = match &spec {
        EventSpec::All => Term::bool(true),
        EventSpec::None => Term::bool(false),
        EventSpec::Matching(spec) => p.heap.copy(spec.source.term()),
    };
    answer(p, key, value)
}

/// What modules loaded later get, shown as the setting of a function.
fn on_load(p: &mut Process, session: &Arc<Session>, key: Atom) -> NativeResult {
    use heddle_runtime::trace::request::CallChange;
    let request = session.settings.lock().unwrap().on_load.clone();
    let setting = request.map(|r| BreakpointSetting {
        session: session.clone(),
        call: match r.call {
            Some(CallChange::Local(spec)) => Some((true, spec)),
            Some(CallChange::Global(spec)) => Some((false, spec)),
            _ => None,
        },
        meta: r.meta.flatten().map(|(tracer, spec)| (Some(tracer), spec)),
        count: (r.count == Some(heddle_runtime::trace::request::Counting::Start)).then(Default::default),
        time: (r.time == Some(heddle_runtime::trace::request::Counting::Start)).then(Default::default),
        memory: (r.memory == Some(heddle_runtime::trace::request::Counting::Start)).then(Default::default),
    });
    let on = match key.name() {
        "call_count" => Some(setting.as_ref().is_some_and(|s| s.count.is_some())),
        "call_time" => Some(setting.as_ref().is_some_and(|s| s.time.is_some())),
        "call_memory" => Some(setting.as_ref().is_some_and(|s| s.memory.is_some())),
        _ => None,
    };
    if let Some(on) = on {
        return answer(p, key, Term::bool(on));
    }
    items(p, setting, key, &["traced", "match_spec", "meta", "meta_match_spec", "call_count"])
}

fn function(p: &mut Process, session: &Arc<Session>, mfa: Mfa, key: Atom) -> NativeResult {
    let Some(target) = breakpoints::find(mfa) else { return answer(p, key, am::UNDEFINED.into()) };
    let setting = breakpoints::setting(&target, session.id);
    items(p, setting, key, ITEMS)
}

const ITEMS: &[&str] = &["traced", "match_spec", "meta", "meta_match_spec", "call_memory", "call_time", "call_count"];

/// `all`: what the item `all` lists.
fn items(p: &mut Process, setting: Option<BreakpointSetting>, key: Atom, all: &[&str]) -> NativeResult {
    // For a function that is not traced, stock does not look at the item.
    let Some(setting) = setting else { return answer(p, key, Term::bool(false)) };
    if key.name() == "all" {
        let mut rows = Vec::new();
        for name in all {
            let value = value(p, &setting, name).unwrap_or(Term::bool(false));
            rows.push(p.heap.tuple(&[Atom::new(name).into(), value]));
        }
        let list = p.heap.list(&rows);
        return answer(p, key, list);
    }
    match value(p, &setting, key.name()) {
        Some(value) => answer(p, key, value),
        None => Err(bad_item(p)),
    }
}

fn source(p: &mut Process, spec: Option<&Arc<Spec>>) -> Term {
    spec.map_or(Term::NIL, |s| p.heap.copy(s.source.term()))
}

fn value(p: &mut Process, s: &BreakpointSetting, item: &str) -> Option<Term> {
    let no = Term::bool(false);
    Some(match item {
        "traced" => match &s.call {
            Some((true, _)) => Atom::new("local").into(),
            Some((false, _)) => Atom::new("global").into(),
            None => no,
        },
        "match_spec" => match &s.call {
            Some((_, spec)) => source(p, spec.as_ref()),
            None => no,
        },
        "meta" => match &s.meta {
            // A tracer that is gone is still named until an event would have been sent to it.
            Some((tracer, _)) => tracer.as_ref().map_or(Term::NIL, |t| t.term(&mut p.heap)),
            None => no,
        },
        "meta_match_spec" => match &s.meta {
            Some((_, spec)) => source(p, spec.as_ref()),
            None => no,
        },
        "call_count" => match &s.count {
            Some(counter) => p.heap.unsigned(counter.calls.load(Ordering::Relaxed)),
            None => no,
        },
        "call_time" => match &s.time {
            Some(meter) => rows(p, meter, |ns| [ns / 1_000_000_000, ns / 1000 % 1_000_000].to_vec()),
            None => no,
        },
        "call_memory" => match &s.memory {
            Some(meter) => rows(p, meter, |words| vec![words]),
            None => no,
        },
        _ => return None,
    })
}

/// `[{Pid, Calls, Amount...}]`, by process.
fn rows(p: &mut Process, meter: &heddle_runtime::trace::meter::Meter, amounts: impl Fn(u64) -> Vec<u64>) -> Term {
    meters::flush(p);
    let mut rows: Vec<_> = meter.rows.lock().unwrap().iter().map(|(&pid, &(calls, amount))| (pid, calls, amount)).collect();
    rows.sort_unstable();
    let rows: Vec<Term> = rows
        .into_iter()
        .map(|(pid, calls, amount)| {
            let figures = std::iter::once(calls).chain(amounts(amount)).map(|n| Term::small(n as i64));
            p.heap.tuple(&std::iter::once(Term::local_pid(pid)).chain(figures).collect::<Vec<_>>())
        })
        .collect();
    p.heap.list(&rows)
}

/// The sessions in which something is traced of the subject, as `trace:session_info/1` shows them.
fn sessions_of(p: &mut Process, subject: Term) -> NativeResult {
    let mut found: Vec<Arc<Session>> = Vec::new();
    if subject.is_atom_of(Atom::new("any")) {
        found = sessions::all();
    } else if subject.is_local_pid() {
        if proctab::lookup(subject.payload()).is_none() {
            return Ok(am::UNDEFINED.into());
        }
        found.extend(tracees::of(subject.payload(), u32::MAX).into_iter().map(|t| t.session));
    } else if subject.is_local_port() {
        if !heddle_io::ports::exists(subject) {
            return Ok(am::UNDEFINED.into());
        }
        found.extend(tracing::of(subject.payload()).into_iter().map(|t| t.session));
    } else if let Some(name) = subject.as_atom() {
        for session in sessions::all() {
            let settings = session.settings.lock().unwrap();
            let has = match name.name() {
                "new" | "new_processes" => settings.new_processes.is_some(),
                "new_ports" => settings.new_ports.is_some(),
                "send" => !matches!(settings.send, EventSpec::All),
                "receive" => !matches!(settings.receive, EventSpec::All),
                "on_load" => settings.on_load.is_some(),
                _ => return Err(p.badarg()),
            };
            drop(settings);
            if has {
                found.push(session);
            }
        }
    } else if let Some(mfa) = mfa(subject) {
        let target: Option<Target> = breakpoints::find(mfa);
        let Some(target) = target else { return Ok(am::UNDEFINED.into()) };
        found = breakpoints::sessions_of(&target);
    } else {
        return Err(p.badarg());
    }
    let handles: Vec<Term> = found.iter().map(|s| arguments::weak_term(p, s)).collect();
    let list = p.heap.list(&handles);
    Ok(p.heap.tuple(&[Atom::new("session").into(), list]))
}
