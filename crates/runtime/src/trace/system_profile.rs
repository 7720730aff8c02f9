//! `erlang:system_profile`: one process or port is told which processes, ports and schedulers become active and inactive.

use crate::process::{ProcRef, Process};
use crate::trace::{emit, events, flags, tracer};
use heddle_term::{Atom, Heap, Term};
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};

pub const PROCESSES: u32 = 1;
pub const PORTS: u32 = 2;
pub const SCHEDULERS: u32 = 4;
pub const EXCLUSIVE: u32 = 8;

#[derive(Clone, Copy)]
pub struct Profile {
    /// Pid or port; an immediate.
    pub profiler: Term,
    pub what: u32,
    /// A flag of `trace::flags`.
    pub timestamp: u32,
}

// SAFETY: the profiler is an immediate.
unsafe impl Send for Profile {}

static CURRENT: Mutex<Option<Profile>> = Mutex::new(None);
static WHAT: AtomicU32 = AtomicU32::new(0);
static ACTIVE: AtomicI64 = AtomicI64::new(0);

/// True if a profiler wants to be told of such events.
#[inline(always)]
pub fn on(what: u32) -> bool {
    // Relaxed: counts from some event on.
    WHAT.load(Ordering::Relaxed) & what != 0
}

pub fn current() -> Option<Profile> {
    let found = *CURRENT.lock().unwrap();
    if found.is_some_and(|profile| !tracer::exists(profile.profiler)) {
        set(None, 0);
        return None;
    }
    found
}

/// `active`: schedulers that are busy now.
pub fn set(new: Option<Profile>, active: usize) {
    let mut current = CURRENT.lock().unwrap();
    *current = new;
    ACTIVE.store(active as i64, Ordering::Relaxed);
    WHAT.store(new.map_or(0, |profile| profile.what), Ordering::Relaxed);
}

fn tell(subject: Term, parts: impl FnOnce(&mut Heap) -> Vec<Term>) {
    let Some(profile) = current() else { return };
    if profile.profiler == subject {
        return;
    }
    let mut heap = Heap::new();
    let mut all = vec![Atom::new("profile").into()];
    all.extend(parts(&mut heap));
    all.push(emit::timestamp(&mut heap, profile.timestamp));
    let message = heap.tuple(&all);
    emit::deliver(profile.profiler, message);
    heap.clear();
}

fn state(active: bool) -> Term {
    Atom::new(if active { "active" } else { "inactive" }).into()
}

/// # Safety
/// The caller owns the process: it runs it, or made it runnable and has not queued it yet.
#[cold]
// SAFETY: the scheduler calls it for the process that it runs, and a waker for one that it has not queued yet.
pub(crate) unsafe fn process(p: ProcRef, active: bool) {
    if p.is_port() {
        // Its operations are told of one by one, see `port`.
        return;
    }
    // SAFETY: the caller owns the process.
    let local: &Process = unsafe { p.local() };
    tell(p.pid_term(), |heap| {
        let place = if p.state.load().is_exiting() { Term::small(0) } else { events::place(local, heap) };
        vec![p.pid_term(), state(active), place]
    });
}

/// A process that has ended, whether or not others know it yet: it is nowhere.
#[cold]
pub(crate) fn ended(p: ProcRef) {
    if p.is_port() {
        return;
    }
    tell(p.pid_term(), |_| vec![p.pid_term(), state(false), Term::small(0)]);
}

#[cold]
pub fn port(port: Term, active: bool) {
    let _guard = crate::base::qsbr::guard();
    tell(port, |_| vec![port, state(active), Term::small(0)]);
}

/// The scheduler of this number, from 1 on.
#[cold]
pub(crate) fn scheduler(number: usize, active: bool) {
    let step = if active { 1 } else { -1 };
    let count = ACTIVE.fetch_add(step, Ordering::Relaxed) + step;
    let _guard = crate::base::qsbr::guard();
    tell(Term::NIL, |_| vec![Atom::new("scheduler").into(), Term::small(number as i64), state(active), Term::small(count)]);
}

/// A flag that says how times are told.
pub fn timestamp_named(name: &str) -> Option<u32> {
    flags::named(name).filter(|bit| bit & flags::TIMESTAMPS != 0 && bit.count_ones() == 1)
}
