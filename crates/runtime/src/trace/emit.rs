//! Trace messages: `{trace, Tracee, Tag, ...}`, or `trace_ts` with a time at the end.

use crate::base::time;
use crate::process::host::host;
use crate::process::proctab;
use crate::sched;
use crate::signal::package::Package;
use crate::signal::send::message_to_pid;
use crate::trace::{Traced, flags, tracees};
use heddle_term::{Atom, Heap, Term, etf};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

/// True if there is such a process or port.
pub fn is_there(tracer: Term) -> bool {
    (tracer.is_local_pid() || tracer.is_local_port()) && proctab::find(tracer).is_some()
}

/// True if the tracer of this tracee is there, and is not the tracee. If it is gone, the trace ends.
pub(crate) fn check(tracee: u64, t: &Traced) -> bool {
    if is_there(t.tracer) {
        return t.tracer != Term::local_pid(tracee);
    }
    if let Some(shared) = proctab::lookup(tracee) {
        tracees::drop_tracer(&shared, &t.session);
    }
    false
}

/// Sends `{trace, Tracee, Parts...}`, with `extra` after the parts. The terms are copied.
pub fn emit(tracee: Term, t: &Traced, parts: &[Term], extra: Option<Term>) {
    message(tracee, t.tracer, t.flags, parts, extra);
}

/// As `emit`, with tracer and timestamp flags given: functions with a tracer of their own (`meta`) always send a time.
pub(crate) fn message(tracee: Term, tracer: Term, how: u32, parts: &[Term], extra: Option<Term>) {
    let mut heap = Heap::new();
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
pub(crate) fn deliver(tracer: Term, message: Term) {
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

pub(crate) fn timestamp(heap: &mut Heap, how: u32) -> Term {
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
