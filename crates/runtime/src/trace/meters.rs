//! `call_time` and `call_memory`: what each process spends in a function, without the metered functions that it calls.
//!
//! A process is in one metered function at a time, per session and meter: the one called last. Calling another stops its clock;
//! a frame on the stack starts it again.

use crate::process::Process;
use crate::time;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex};

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum What {
    Time,
    Memory,
}

/// Per process: calls, and nanoseconds or words.
#[derive(Default)]
pub struct Meter {
    pub paused: AtomicBool,
    pub rows: Mutex<HashMap<u64, (u64, u64)>>,
}

impl Meter {
    fn add(&self, pid: u64, calls: u64, amount: u64) {
        if self.paused.load(Ordering::Relaxed) {
            return;
        }
        let mut rows = self.rows.lock().unwrap();
        let row = rows.entry(pid).or_default();
        row.0 += calls;
        row.1 += amount;
    }
}

struct Current {
    meter: Option<Arc<Meter>>,
    since: u64,
    /// Those that wait for it to return, the innermost last.
    outer: Vec<Option<Arc<Meter>>>,
}

type Key = (u64, u64, What);
static RUNNING: LazyLock<Mutex<HashMap<Key, Current>>> = LazyLock::new(Default::default);
/// Entries in `RUNNING`: processes that are not metered need not look.
pub static METERED: AtomicUsize = AtomicUsize::new(0);

/// Words that the process has allocated so far, up to a constant between collections.
fn words(p: &Process) -> u64 {
    (p.used_words() + p.heap.fragment_words) as u64
}

fn reading(p: &Process, what: What) -> u64 {
    match what {
        What::Time => time::monotonic_ns() as u64,
        What::Memory => words(p),
    }
}

/// `p` calls a metered function. `again`: its frame is on top already (a tail call).
pub fn called(p: &Process, session: u64, what: What, meter: &Arc<Meter>, again: bool) {
    let pid = p.pid();
    let mut running = RUNNING.lock().unwrap();
    let now = reading(p, what);
    meter.add(pid, 1, 0);
    let current = running.entry((pid, session, what)).or_insert(Current { meter: None, since: now, outer: Vec::new() });
    if let Some(before) = &current.meter {
        before.add(pid, 0, now.wrapping_sub(current.since));
    }
    let before = current.meter.replace(meter.clone());
    if !again {
        current.outer.push(before);
    }
    current.since = now;
    METERED.store(running.len(), Ordering::Relaxed);
}

/// A metered function was left.
pub fn left(p: &Process, session: u64, what: What) {
    let pid = p.pid();
    let mut running = RUNNING.lock().unwrap();
    let now = reading(p, what);
    if let Some(current) = running.get_mut(&(pid, session, what)) {
        if let Some(meter) = &current.meter {
            meter.add(pid, 0, now.wrapping_sub(current.since));
        }
        current.meter = current.outer.pop().flatten();
        current.since = now;
        if current.outer.is_empty() {
            running.remove(&(pid, session, what));
        }
    }
    METERED.store(running.len(), Ordering::Relaxed);
}

/// Stops the clocks of a process that is switched out (`on` false), or about to collect; starts them again.
#[cold]
pub fn pause(p: &Process, what: What, on: bool) {
    let pid = p.pid();
    let mut running = RUNNING.lock().unwrap();
    let now = reading(p, what);
    for ((owner, _, kind), current) in running.iter_mut() {
        if *owner == pid && *kind == what {
            if let (false, Some(meter)) = (on, &current.meter) {
                meter.add(pid, 0, now.wrapping_sub(current.since));
            }
            current.since = now;
        }
    }
}

/// What is running now counts up to now.
pub fn settle(p: &Process) {
    pause(p, What::Time, false);
    pause(p, What::Memory, false);
}

pub fn forget_process(pid: u64) {
    if METERED.load(Ordering::Relaxed) != 0 {
        let mut running = RUNNING.lock().unwrap();
        running.retain(|(owner, _, _), _| *owner != pid);
        METERED.store(running.len(), Ordering::Relaxed);
    }
}
