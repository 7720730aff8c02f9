//! `erlang:system_monitor`: one process is told of collections, slices, heaps and message queues that are out of the ordinary.
//!
//! Each limit is a number that nothing reaches while no process watches, so the places that check compare one number and go on.

use crate::Package;
use crate::base::qsbr;
use crate::process::Process;
use crate::process::proctab;
use crate::signal::send::message_to_pid;
use crate::trace::{events, flags, frames};
use heddle_term::{Atom, Heap, Term, am};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// The limits that were asked for; None: not watched.
#[derive(Clone, Copy, Default)]
pub struct MonitorLimits {
    pub long_gc_ms: Option<u64>,
    pub long_schedule_ms: Option<u64>,
    pub large_heap_words: Option<u64>,
    /// The length at which the queue counts as short again, and the one at which the watcher is told.
    pub long_queue: Option<(usize, usize)>,
    pub busy_port: bool,
    /// Heddle's own: a scheduler does not come back from a native (`watch`).
    pub stuck: bool,
    pub busy_dist_port: bool,
}

static CURRENT: Mutex<Option<(u64, MonitorLimits)>> = Mutex::new(None);
static LONG_GC_MS: AtomicU64 = AtomicU64::new(u64::MAX);
static LONG_SCHEDULE_MS: AtomicU64 = AtomicU64::new(u64::MAX);
static LARGE_HEAP_WORDS: AtomicU64 = AtomicU64::new(u64::MAX);
static LONG_QUEUE: AtomicUsize = AtomicUsize::new(usize::MAX);
static QUIET_QUEUE: AtomicUsize = AtomicUsize::new(0);
static BUSY_PORT: AtomicBool = AtomicBool::new(false);
static BUSY_DIST_PORT: AtomicBool = AtomicBool::new(false);
static STUCK: AtomicBool = AtomicBool::new(false);

/// The watching process and its limits, while it is alive.
pub fn current() -> Option<(u64, MonitorLimits)> {
    let found = *CURRENT.lock().unwrap();
    let gone = found.is_some_and(|(pid, _)| proctab::lookup(pid).is_none());
    if gone {
        set(None);
        return None;
    }
    found
}

pub fn set(new: Option<(u64, MonitorLimits)>) {
    let mut current = CURRENT.lock().unwrap();
    *current = new;
    let limits = new.map_or(MonitorLimits::default(), |(_, limits)| limits);
    // Relaxed: the limits need not hold from an exact event on.
    LONG_GC_MS.store(limits.long_gc_ms.unwrap_or(u64::MAX), Ordering::Relaxed);
    LONG_SCHEDULE_MS.store(limits.long_schedule_ms.unwrap_or(u64::MAX), Ordering::Relaxed);
    LARGE_HEAP_WORDS.store(limits.large_heap_words.unwrap_or(u64::MAX), Ordering::Relaxed);
    QUIET_QUEUE.store(limits.long_queue.map_or(0, |(quiet, _)| quiet), Ordering::Relaxed);
    BUSY_PORT.store(limits.busy_port, Ordering::Relaxed);
    BUSY_DIST_PORT.store(limits.busy_dist_port, Ordering::Relaxed);
    STUCK.store(limits.stuck, Ordering::Relaxed);
    LONG_QUEUE.store(limits.long_queue.map_or(usize::MAX, |(_, long)| long), Ordering::Relaxed);
}

/// Sends `{monitor, Pid, What, Info}` to the watcher, unless the process is the watcher itself.
fn tell(p: &Process, what: &str, info: impl FnOnce(&mut Heap) -> Term) {
    tell_of(p.pid(), p.pid_term(), what, info);
}

fn tell_of(pid: u64, subject: Term, what: &str, info: impl FnOnce(&mut Heap) -> Term) {
    let Some((watcher, _)) = current() else { return };
    if watcher == pid {
        return;
    }
    let message = Package::build(|heap| {
        let info = info(heap);
        heap.tuple(&[Atom::new("monitor").into(), subject, Atom::new(what).into(), info])
    });
    message_to_pid(watcher, message);
}

// ---- schedulers that do not come back ----

/// Sends `{monitor, Pid, heddle_stuck, Info}`, if the watcher wants to know of schedulers that do not come back. Called by the thread
/// that watches, which may have to wait until it may send at all.
#[cold]
pub(crate) fn is_stuck(pid: u64, info: impl FnOnce(&mut Heap) -> Term) {
    if STUCK.load(Ordering::Relaxed) {
        let _guard = qsbr::guard();
        tell_of(pid, crate::process::identity::term_of(pid), "heddle_stuck", info);
    }
}

/// The process is about to wait because the port is busy.
pub fn waits_for_port(p: &Process, port: Term) {
    if BUSY_PORT.load(Ordering::Relaxed) {
        tell(p, "busy_port", |_| port);
    }
}

/// The process is about to wait because a connection to another node is busy, which this port or process carries.
pub fn waits_for_node(p: &Process, carrier: Term) {
    if BUSY_DIST_PORT.load(Ordering::Relaxed) {
        tell(p, "busy_dist_port", |_| carrier);
    }
}

// ---- collections ----

#[inline]
pub(crate) fn watches_collections() -> bool {
    LONG_GC_MS.load(Ordering::Relaxed) != u64::MAX
}

/// A collection that took `took_ns` is over.
#[cold]
pub(crate) fn collected(p: &Process, took_ns: u64) {
    let ms = took_ns / 1_000_000;
    if ms >= LONG_GC_MS.load(Ordering::Relaxed) {
        tell(p, "long_gc", |heap| sizes(p, heap, Some(ms)));
    }
}

/// Checks the heap as a collection left it.
#[inline]
pub(crate) fn check_heap(p: &Process) {
    let limit = LARGE_HEAP_WORDS.load(Ordering::Relaxed);
    if limit != u64::MAX && (p.heap_words() + p.old_words()) as u64 > limit {
        tell(p, "large_heap", |heap| sizes(p, heap, None));
    }
}

fn sizes(p: &Process, heap: &mut Heap, timeout: Option<u64>) -> Term {
    let rows = [
        ("old_heap_block_size", p.old_words()),
        ("heap_block_size", p.heap_words()),
        ("mbuf_size", p.heap.fragment_words),
        ("stack_size", p.stack_words()),
        ("old_heap_size", p.old_used_words()),
        ("heap_size", p.used_words()),
    ];
    let first = timeout.map(|ms| ("timeout", ms as usize));
    let rows: Vec<Term> =
        first.into_iter().chain(rows).map(|(name, n)| heap.tuple(&[Atom::new(name).into(), Term::small(n as i64)])).collect();
    heap.list(&rows)
}

// ---- slices ----

#[inline]
pub(crate) fn watches_slices() -> bool {
    LONG_SCHEDULE_MS.load(Ordering::Relaxed) != u64::MAX
}

/// A slice that took `took_ns` is over; it began at the code address `from`.
#[cold]
pub(crate) fn ran(p: &Process, took_ns: u64, from: *const u64) {
    let ms = took_ns / 1_000_000;
    if ms < LONG_SCHEDULE_MS.load(Ordering::Relaxed) {
        return;
    }
    tell(p, "long_schedule", |heap| {
        let place = |heap: &mut Heap, ip| match crate::code::locate(ip) {
            Some(found) => frames::mfa_term(heap, found.mfa),
            None => am::UNDEFINED.into(),
        };
        let (from, to) = (place(heap, from), place(heap, p.ip));
        let rows = [("timeout", Term::small(ms as i64)), ("in", from), ("out", to)];
        let rows = rows.map(|(name, value)| heap.tuple(&[Atom::new(name).into(), value]));
        heap.list(&rows)
    });
}

// ---- message queues ----

/// A message was put in the queue.
#[inline(always)]
pub(crate) fn queued(p: &Process) {
    if p.messages.len() >= LONG_QUEUE.load(Ordering::Relaxed) {
        grew(p);
    }
}

#[cold]
#[inline(never)]
fn grew(p: &Process) {
    // Relaxed: only the process itself changes this flag.
    if p.shared().trace.fetch_or(flags::LONG_QUEUE, Ordering::Relaxed) & flags::LONG_QUEUE == 0 {
        tell(p, "long_message_queue", |_| Term::bool(true));
    }
}

/// A message is about to leave the queue of a process of which the watcher was told.
#[cold]
pub fn shrinks(p: &Process) {
    let is_watched = LONG_QUEUE.load(Ordering::Relaxed) != usize::MAX;
    if is_watched && p.messages.len() > QUIET_QUEUE.load(Ordering::Relaxed) + 1 {
        return;
    }
    // Relaxed: as above.
    p.shared().trace.fetch_and(!flags::LONG_QUEUE, Ordering::Relaxed);
    if is_watched && !events::on(p.shared(), flags::LONG_QUEUE) {
        tell(p, "long_message_queue", |_| Term::bool(false));
    }
}
