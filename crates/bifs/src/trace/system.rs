//! `system_monitor` and `system_profile`.

use heddle_natives::args;
use heddle_runtime::process::{NativeResult, Process};
use heddle_runtime::system_monitor::{self, MonitorLimits};
use heddle_runtime::system_profile::{self, EXCLUSIVE, PORTS, PROCESSES, Profile, SCHEDULERS};
use heddle_runtime::trace::{flags, tracer};
use heddle_runtime::{proctab, sched};
use heddle_term::{Atom, Term, am};

heddle_runtime::natives! { TABLE:
    "erlang" => {
        "system_monitor"/0 => system_monitor_0,
        "system_monitor"/1 => system_monitor_1,
        "system_monitor"/2 => system_monitor_2,
        "system_profile"/0 => system_profile_0,
        "system_profile"/2 => system_profile_2,
    }
}

fn atom(name: &str) -> Term {
    Atom::new(name).into()
}

// ---- system_monitor ----

/// The smallest heap that may be called large.
const SMALLEST_LARGE_HEAP: u64 = 16 << 10;

fn limits(options: Term) -> Option<MonitorLimits> {
    let mut limits = MonitorLimits::default();
    for item in args::list(options)? {
        match item.as_atom().map(|a| a.name()) {
            Some("busy_port") => limits.busy_port = true,
            Some("busy_dist_port") => limits.busy_dist_port = true,
            // Heddle's own option.
            Some("heddle_stuck") => limits.stuck = true,
            Some(_) => return None,
            None => {
                let (name, value) = args::option(item)?;
                let number = || if value.is_integer() { heddle_term::big::to_u64(value) } else { None };
                match name.name() {
                    "long_gc" => limits.long_gc_ms = Some(number()?.max(1)),
                    "long_schedule" => limits.long_schedule_ms = Some(number()?.max(1)),
                    "large_heap" => limits.large_heap_words = Some(number()?.max(SMALLEST_LARGE_HEAP)),
                    "long_message_queue" => match value.as_tuple() {
                        Some(&[quiet, long]) => {
                            let (quiet, long) = (args::count(quiet)?, args::count(long)?);
                            if quiet >= long {
                                return None;
                            }
                            limits.long_queue = Some((quiet, long));
                        }
                        _ => return None,
                    },
                    _ => return None,
                }
            }
        }
    }
    Some(limits)
}

/// `{Pid, Options}` or `undefined`.
fn current_monitor(p: &mut Process) -> Term {
    let Some((pid, limits)) = system_monitor::current() else { return am::UNDEFINED.into() };
    let mut items = Vec::new();
    if limits.stuck {
        items.push(atom("heddle_stuck"));
    }
    if limits.busy_dist_port {
        items.push(atom("busy_dist_port"));
    }
    if limits.busy_port {
        items.push(atom("busy_port"));
    }
    for (name, value) in
        [("large_heap", limits.large_heap_words), ("long_schedule", limits.long_schedule_ms), ("long_gc", limits.long_gc_ms)]
    {
        if let Some(value) = value {
            let value = p.heap.unsigned(value);
            items.push(p.heap.tuple(&[atom(name), value]));
        }
    }
    if let Some((quiet, long)) = limits.long_queue {
        let both = p.heap.tuple(&[Term::small(quiet as i64), Term::small(long as i64)]);
        items.push(p.heap.tuple(&[atom("long_message_queue"), both]));
    }
    let items = p.heap.list(&items);
    p.heap.tuple(&[Term::local_pid(pid), items])
}

fn set_monitor(p: &mut Process, watcher: Term, options: Term) -> NativeResult {
    if watcher.is_atom_of(am::UNDEFINED) || options.is_nil() {
        let before = current_monitor(p);
        system_monitor::set(None);
        return Ok(before);
    }
    let is_there = watcher.is_local_pid() && proctab::lookup(watcher.payload()).is_some();
    match limits(options) {
        Some(limits) if is_there => {
            let before = current_monitor(p);
            system_monitor::set(Some((watcher.payload(), limits)));
            Ok(before)
        }
        _ => Err(p.badarg()),
    }
}

fn system_monitor_0(p: &mut Process, _: &[Term]) -> NativeResult {
    Ok(current_monitor(p))
}

fn system_monitor_1(p: &mut Process, a: &[Term]) -> NativeResult {
    if a[0].is_atom_of(am::UNDEFINED) {
        return set_monitor(p, a[0], Term::NIL);
    }
    match a[0].as_tuple() {
        Some(&[watcher, options]) => set_monitor(p, watcher, options),
        _ => Err(p.badarg()),
    }
}

fn system_monitor_2(p: &mut Process, a: &[Term]) -> NativeResult {
    set_monitor(p, a[0], a[1])
}

// ---- system_profile ----

/// What can be profiled, in the order in which stock lists it.
const WHAT: &[(&str, u32)] =
    &[("exclusive", EXCLUSIVE), ("scheduler", SCHEDULERS), ("runnable_procs", PROCESSES), ("runnable_ports", PORTS)];

fn current_profile(p: &mut Process) -> Term {
    let Some(profile) = system_profile::current() else { return am::UNDEFINED.into() };
    let names: Vec<Term> = WHAT.iter().filter(|(_, bit)| profile.what & bit != 0).map(|(name, _)| atom(name)).collect();
    let names = p.heap.list(&names);
    p.heap.tuple(&[profile.profiler, names])
}

fn system_profile_0(p: &mut Process, _: &[Term]) -> NativeResult {
    Ok(current_profile(p))
}

fn system_profile_2(p: &mut Process, a: &[Term]) -> NativeResult {
    if a[0].is_atom_of(am::UNDEFINED) || a[1].is_nil() {
        let before = current_profile(p);
        system_profile::set(None, 0);
        return Ok(before);
    }
    let Some(items) = args::list(a[1]) else { return Err(p.badarg()) };
    if !tracer::exists(a[0]) {
        return Err(p.badarg());
    }
    let mut profile = Profile { profiler: a[0], what: 0, timestamp: flags::TIMESTAMP };
    for item in items {
        let name = item.as_atom().map_or("", |name| name.name());
        if let Some((_, bit)) = WHAT.iter().find(|(n, _)| *n == name) {
            profile.what |= bit;
        } else if let Some(timestamp) = system_profile::timestamp_named(name) {
            profile.timestamp = timestamp;
        } else {
            return Err(p.badarg());
        }
    }
    let before = current_profile(p);
    system_profile::set(Some(profile), sched::busy_schedulers());
    Ok(before)
}
