//! The difference between Erlang system time and Erlang monotonic time, and when it may change: the time warp modes (`+C`).
//!
//! Without time warp the offset stays as it is at start. With a single warp it is preliminary until it is finalized, and correct
//! from then on. With multiple warps it follows the system's clock: the clock is read once a minute, and the offset is changed if
//! the clock has leapt by more than `LEAP_NS`. Processes that monitor the offset are told of each change.

use crate::base::time;
use crate::process::Process;
use crate::process::links::{AliasMode, MonitorKind};
use crate::process::proctab;
use crate::sched;
use crate::signal::package::Package;
use crate::signal::send;
use heddle_abi::settings::{SETTINGS, Warp};
use heddle_term::{Atom, Term, am};
use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// With a single warp: the offset was finalized. AcqRel in `finalize`, of which one call does it; Acquire in `state`.
static IS_FINAL: AtomicBool = AtomicBool::new(false);
/// Processes that monitor the offset, and some that did.
static WATCHERS: Mutex<Watchers> = Mutex::new(Watchers { pids: None, prune_at: MIN_PRUNE_AT });

struct Watchers {
    pids: Option<HashSet<u64>>,
    /// Ended processes are taken out when the set has this size.
    prune_at: usize,
}
const MIN_PRUNE_AT: usize = 64;

const LOOK_EVERY_MS: u64 = 60_000;
/// Smaller differences come from reading two clocks one after the other. (A guess; ERTS uses a tenth of this.)
const LEAP_NS: i64 = 1_000_000;

pub fn mode() -> Warp {
    SETTINGS.time_warp.get()
}

/// `final`, `preliminary` or `volatile`.
pub fn state() -> &'static str {
    match mode() {
        Warp::Multi => "volatile",
        Warp::Single if !IS_FINAL.load(Ordering::Acquire) => "preliminary",
        _ => "final",
    }
}

/// `system_flag(time_offset, finalize)`: the state before.
pub fn finalize() -> &'static str {
    let before = state();
    // If several processes try at the same time, one does it.
    if before == "preliminary" {
        if IS_FINAL.swap(true, Ordering::AcqRel) {
            return "final";
        }
        change(measured_ns());
    }
    before
}

/// With multiple time warps: the offset follows the system's clock from now on. With time correction the clock is read every minute; without
/// it, a thread that reads the time notices that the clock went back.
pub fn watch_clock() {
    if mode() == Warp::Multi && !time::is_corrected() {
        let _ = time::FOLLOW_LEAP_BACK.set(change);
    } else if mode() == Warp::Multi {
        sched::after(LOOK_EVERY_MS, || {
            follow(measured_ns());
            watch_clock();
        });
    }
}

/// The offset by the clocks now. They are not read at the same moment, so the result is that of the fastest of a few tries.
fn measured_ns() -> i64 {
    let tries = (0..8).map(|_| {
        let before = time::monotonic_ns();
        let system = time::os_system_ns();
        let took = time::monotonic_ns() - before;
        (took, system - before - took / 2)
    });
    tries.min().map_or(0, |(_, offset)| offset)
}

/// Changes the offset to this one, if it differs by a leap.
fn follow(offset_ns: i64) {
    if (offset_ns - time::offset_ns()).abs() > LEAP_NS {
        change(offset_ns);
    }
}

/// Changes the offset, in whole microseconds as in ERTS, and tells the processes that monitor it.
fn change(offset_ns: i64) {
    let offset_ns = offset_ns.div_euclid(1000) * 1000;
    time::set_offset_ns(offset_ns);
    let watchers: Vec<u64> = WATCHERS.lock().unwrap().pids.iter().flatten().copied().collect();
    let _guard = crate::base::qsbr::guard();
    for pid in watchers {
        send::call_in(pid, move |p| {
            if !p.is_some_and(|p| tell(p, offset_ns))
                && let Some(pids) = &mut WATCHERS.lock().unwrap().pids
            {
                pids.remove(&pid);
            }
        });
    }
}

/// The process monitors the offset from now on.
pub fn watched_by(pid: u64) {
    let mut watchers = WATCHERS.lock().unwrap();
    let prune_at = watchers.prune_at;
    let pids = watchers.pids.get_or_insert_default();
    pids.insert(pid);
    if pids.len() >= prune_at {
        pids.retain(|&pid| proctab::lookup(pid).is_some());
        watchers.prune_at = (pids.len() * 2).max(MIN_PRUNE_AT);
    }
}

/// Puts a message for each of its monitors of the offset into the process's queue. Returns true if there are any.
fn tell(p: &mut Process, offset_ns: i64) -> bool {
    let pid = p.pid();
    let Some(inner) = p.relations.get_mut() else { return false };
    let mut messages = Vec::new();
    for (reference, m) in inner.monitoring.iter().filter(|(_, m)| m.kind == MonitorKind::TimeOffset) {
        messages.push(Package::build(|heap| {
            let tag: Term = m.tag.as_ref().map_or(Atom::new("CHANGE").into(), |tag| heap.copy(tag.term()));
            let reference = match m.alias {
                AliasMode::None => heap.reference(reference.words()),
                _ => heap.alias_reference(reference.words(), pid),
            };
            let offset = heap.integer(offset_ns);
            heap.tuple(&[tag, reference, am::TIME_OFFSET.into(), am::CLOCK_SERVICE.into(), offset])
        }));
    }
    let found = !messages.is_empty();
    messages.into_iter().for_each(|message| send::to_own_queue(p, am::CLOCK_SERVICE.into(), message));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RefId;
    use crate::process::links::Monitoring;
    use crate::process::{self, SpawnOptions};
    use heddle_term::Mfa;

    #[test]
    fn the_offset_follows_leaps_only() {
        time::init();
        let start = time::offset_ns();
        assert!((measured_ns() - start).abs() < LEAP_NS);
        follow(start + LEAP_NS / 2);
        assert_eq!(time::offset_ns(), start);
        follow(start + 3_600_000_000_123);
        assert_eq!(time::offset_ns(), (start + 3_600_000_000_123).div_euclid(1000) * 1000);
        follow(measured_ns());
        assert!((time::offset_ns() - start).abs() < LEAP_NS);
    }

    #[test]
    fn a_process_has_the_messages_in_its_queue_at_once() {
        let mfa = Mfa { module: Atom::new("m"), function: Atom::new("f"), arity: 0 };
        let shared = process::allocate(7, Process::blank(mfa, Term::local_pid(7), 7, &SpawnOptions::default()));
        // SAFETY: this thread made it, and runs it alone.
        let p = unsafe { shared.local() };
        let kinds = [MonitorKind::TimeOffset, MonitorKind::Port, MonitorKind::TimeOffset];
        for (n, kind) in (0..).zip(kinds) {
            let monitoring = Monitoring { target: Term::NONE, name: None, alias: AliasMode::None, tag: None, kind };
            p.relations.make().monitoring.insert(RefId::from_words([n, 0, 0]), monitoring);
        }
        assert!(tell(p, 5));
        assert_eq!(p.messages.len(), 2);
        p.messages.clear();
        // SAFETY: it is in no table.
        unsafe { process::deallocate(shared) };
    }
}
