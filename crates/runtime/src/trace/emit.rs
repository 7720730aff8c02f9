//! Trace messages: `{trace, Tracee, Tag, ...}`, or `trace_ts` with a time at the end.

use crate::base::time;
use crate::process::host::host;
use crate::process::proctab;
use crate::sched;
use crate::signal::package::Package;
use crate::signal::send::message_to_pid;
use crate::trace::tracer::{Tracer, TracerModule, Wish};
use crate::trace::{Traced, flags, tracees};
use heddle_term::{Atom, Heap, Term, etf, map};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

/// True if the tracer of this process is there and wants the event, which never is so if it is the process itself. If the tracer is gone,
/// the trace ends.
pub(crate) fn check(tracee: u64, t: &Traced, wanted: u32, tag: Atom) -> bool {
    let wish = if t.session.is_alive() { t.tracer.wish(Term::local_pid(tracee), wanted, tag) } else { Wish::Remove };
    if wish == Wish::Remove
        && let Some(shared) = proctab::lookup(tracee)
    {
        tracees::drop_tracer(&shared, &t.session);
    }
    wish == Wish::Trace
}

/// As `check`, of a tracer that is only asked if it still traces the process.
pub(crate) fn is_traced(tracee: u64, t: &Traced) -> bool {
    let is_there = t.tracer.is_there(Term::local_pid(tracee));
    if !is_there && let Some(shared) = proctab::lookup(tracee) {
        tracees::drop_tracer(&shared, &t.session);
    }
    is_there
}

/// An event of a process or port, as its tracers get it. The terms are copied.
#[derive(Clone, Copy)]
pub struct Event<'a> {
    pub tracee: Term,
    /// The trace flags to which it belongs.
    pub wanted: u32,
    /// The tag, what it is about, and perhaps one term more.
    pub parts: &'a [Term],
    /// What a match specification says of it.
    pub verdict: Option<Term>,
}

impl<'a> Event<'a> {
    pub fn new(tracee: Term, wanted: u32, parts: &'a [Term]) -> Event<'a> {
        Event { tracee, wanted, parts, verdict: None }
    }

    pub(crate) fn with(self, verdict: Option<&Package>) -> Event<'a> {
        Event { verdict: verdict.map(Package::term), ..self }
    }
}

/// Sends `{trace, Tracee, Parts...}`, or calls the function of a tracer module.
pub fn emit(t: &Traced, event: &Event) {
    message(&t.tracer, t.flags, event);
}

/// As `emit`, with tracer and trace flags given: functions with a tracer of their own (`meta`) always send a time.
pub(crate) fn message(tracer: &Tracer, how: u32, event: &Event) {
    match tracer {
        Tracer::Receiver(receiver) => to_receiver(*receiver, how, event),
        Tracer::Module(module) => to_module(module, how, event),
    }
}

/// The options of `erl_tracer:trace/5`.
pub(super) fn options(heap: &mut Heap, how: u32, extra: Option<Term>, verdict: Option<Term>) -> Term {
    let scheduler = (how & flags::SCHEDULER_ID != 0).then(|| Term::small(sched::current_id() as i64));
    let timestamp = match how {
        // Relaxed: the flag counts from some event on.
        _ if how & flags::TIMESTAMP != 0 && CPU_TIMESTAMPS.load(Ordering::Relaxed) => Some("cpu_timestamp"),
        _ if how & flags::TIMESTAMP != 0 => Some("timestamp"),
        _ if how & flags::STRICT_MONOTONIC != 0 => Some("strict_monotonic"),
        _ if how & flags::MONOTONIC != 0 => Some("monotonic"),
        _ => None,
    };
    let timestamp = timestamp.map(|name| Atom::new(name).into());
    let all = [("extra", extra), ("match_spec_result", verdict), ("scheduler_id", scheduler), ("timestamp", timestamp)];
    let there: Vec<(Term, Term)> = all.into_iter().filter_map(|(name, value)| Some((Atom::new(name).into(), value?))).collect();
    map::from_pairs(heap, &there)
}

fn to_module(module: &TracerModule, how: u32, event: &Event) {
    let mut heap = Heap::new();
    let options = options(&mut heap, how, event.parts.get(2).copied(), event.verdict);
    module.trace(event.wanted, event.parts[0], event.tracee, event.parts[1], options);
    heap.clear();
}

fn to_receiver(tracer: Term, how: u32, event: &Event) {
    let mut heap = Heap::new();
    let (tracee, parts, extra) = (event.tracee, event.parts, event.verdict);
    let mut all = Vec::with_capacity(parts.len() + 5);
    let stamped = how & flags::TIMESTAMPS != 0;
    all.push(Atom::new(if stamped { "trace_ts" } else { "trace" }).into());
    all.push(tracee);
    all.extend_from_slice(parts);
    all.extend(extra);
    if how & flags::SCHEDULER_ID != 0 {
        all.push(Term::small(sched::current_id() as i64));
    }
    if stamped {
        all.push(timestamp(&mut heap, how));
    }
    let term = heap.tuple(&all);
    deliver(tracer, term);
    heap.clear();
}

/// Sends a copy of the message: to a process as a term, to a port as bytes.
pub fn deliver(tracer: Term, message: Term) {
    if tracer.is_local_port() {
        let bytes = etf::encode(message, &etf::EncodeOptions::default());
        host().output_to_port(tracer, bytes);
    } else {
        message_to_pid(tracer.payload(), Package::new(message));
    }
}

/// The flag `cpu_timestamp`, which applies to everything that is traced.
pub static CPU_TIMESTAMPS: AtomicBool = AtomicBool::new(false);
static LAST_NOW: AtomicI64 = AtomicI64::new(0);

pub fn timestamp(heap: &mut Heap, how: u32) -> Term {
    if how & flags::TIMESTAMP != 0 && CPU_TIMESTAMPS.load(Ordering::Relaxed) {
        let us = time::cpu_ns() / 1000;
        let parts = [us / 1_000_000_000_000, us / 1_000_000 % 1_000_000, us % 1_000_000].map(Term::small);
        return heap.tuple(&parts);
    }
    if how & flags::TIMESTAMP != 0 {
        // Each is later than the one before, as with erlang:now/0.
        let us = time::system_ns() / 1000;
        let last = LAST_NOW.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(us.max(last + 1))).unwrap_or(us);
        let us = us.max(last + 1);
        let parts = [us / 1_000_000_000_000, us / 1_000_000 % 1_000_000, us % 1_000_000].map(Term::small);
        return heap.tuple(&parts);
    }
    let ns = heap.integer(time::monotonic_ns());
    if how & flags::STRICT_MONOTONIC != 0 {
        let unique = heap.integer(crate::base::refs::unique_monotonic() as i64);
        return heap.tuple(&[ns, unique]);
    }
    ns
}
