//! `call_time` and `call_memory`: the time or memory that each process spends in a function, without the metered functions that it calls.
//!
//! A process is in one metered function at a time, per session and meter: the one called last. Calling another stops its clock, and the
//! return through a frame on the stack starts it again. All of this is stored in the process; only the sums are shared.

use crate::base::time;
use crate::heap::mode;
use crate::process::Process;
use crate::trace::meter::{Current, Meter, MeterKind};
use crate::trace::{events, flags};
use heddle_term::code_cell::Mfa;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Words that the process has allocated so far, up to a constant between collections.
pub(crate) fn words(p: &Process) -> u64 {
    (p.used_words() + p.heap.fragment_words + mode::made_words(p)) as u64
}

fn reading(p: &Process, what: MeterKind) -> u64 {
    match what {
        MeterKind::Time => time::monotonic_ns() as u64,
        MeterKind::Memory => words(p),
    }
}

/// True if some clock of the process runs.
#[inline(always)]
pub fn on(p: &Process) -> bool {
    events::on(p.shared(), flags::METERED)
}

fn mark(p: &Process, on: bool) {
    // Relaxed: only the process itself reads this flag.
    let _ = if on {
        p.shared().trace.fetch_or(flags::METERED, Ordering::Relaxed)
    } else {
        p.shared().trace.fetch_and(!flags::METERED, Ordering::Relaxed)
    };
}

/// `p` calls a metered function. `again`: its frame is on top already (a tail call).
pub(crate) fn called(p: &mut Process, session: u64, what: MeterKind, meter: &Arc<Meter>, mfa: Mfa, again: bool) {
    let pid = p.pid();
    let now = reading(p, what);
    // Words that a process starts with count for its first function.
    let is_first = what == MeterKind::Memory && p.stack_words() == 1 && p.minor_count == 0 && p.first_call() == mfa;
    meter.add(pid, 1, 0);
    let all = &mut p.rare().meters;
    let at = all.iter().position(|c| c.session == session && c.what == what).unwrap_or_else(|| {
        all.push(Current { session, what, meter: None, since: now, outer: Vec::new() });
        all.len() - 1
    });
    let current = &mut all[at];
    let is_outermost = current.meter.is_none() && current.outer.is_empty();
    if let Some(before) = &current.meter {
        before.add(pid, 0, now.wrapping_sub(current.since));
    }
    let before = current.meter.replace(meter.clone());
    if !again {
        current.outer.push(before);
    }
    current.since = if is_first && is_outermost { 0 } else { now };
    mark(p, true);
}

/// A metered function was left.
pub(crate) fn left(p: &mut Process, session: u64, what: MeterKind) {
    let pid = p.pid();
    let now = reading(p, what);
    let all = &mut p.rare().meters;
    if let Some(at) = all.iter().position(|c| c.session == session && c.what == what) {
        let current = &mut all[at];
        if let Some(meter) = &current.meter {
            meter.add(pid, 0, now.wrapping_sub(current.since));
        }
        current.meter = current.outer.pop().flatten();
        current.since = now;
        if current.outer.is_empty() {
            all.swap_remove(at);
        }
    }
    let none = all.is_empty();
    mark(p, !none);
}

/// Stops the clocks of a process that is switched out (`on` false) or about to collect, or starts them again (`on` true).
#[cold]
pub(crate) fn pause(p: &mut Process, what: MeterKind, on: bool) {
    let pid = p.pid();
    let now = reading(p, what);
    for current in p.rare().meters.iter_mut().filter(|c| c.what == what) {
        if let (false, Some(meter)) = (on, &current.meter) {
            meter.add(pid, 0, now.wrapping_sub(current.since));
        }
        current.since = now;
    }
}

/// Adds what the running clocks have measured so far to the sums.
pub fn flush(p: &mut Process) {
    if on(p) {
        pause(p, MeterKind::Time, false);
        pause(p, MeterKind::Memory, false);
    }
}

/// A message of `words` words came into the heap (`taken` false) or was taken out of the queue. Its words count when it is taken out.
#[cold]
pub fn message(p: &mut Process, words: usize, taken: bool) {
    for current in p.rare().meters.iter_mut().filter(|c| c.what == MeterKind::Memory) {
        current.since = if taken { current.since.wrapping_sub(words as u64) } else { current.since.wrapping_add(words as u64) };
    }
}
