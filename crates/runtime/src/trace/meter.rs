//! Sums of a metered function, and what a process stores about the metered functions that it is in: see `meters`.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum MeterKind {
    Time,
    Memory,
}

/// Per process: calls, and nanoseconds or words.
#[derive(Default)]
pub struct Meter {
    pub paused: AtomicBool,
    pub rows: Mutex<HashMap<u64, (u64, u64), foldhash::fast::FixedState>>,
}

impl Meter {
    pub(super) fn add(&self, pid: u64, calls: u64, amount: u64) {
        if self.paused.load(Ordering::Relaxed) || (calls == 0 && amount == 0) {
            return;
        }
        let mut rows = self.rows.lock().unwrap();
        if calls == 0 && !rows.contains_key(&pid) {
            // The meter was restarted since the call.
            return;
        }
        let row = rows.entry(pid).or_default();
        row.0 += calls;
        row.1 += amount;
    }
}

/// The metered function that a process is in, for one session and meter.
pub struct Current {
    pub(super) session: u64,
    pub(super) what: MeterKind,
    pub(super) meter: Option<Arc<Meter>>,
    pub(super) since: u64,
    /// The meters of the callers that wait for it to return, the innermost last.
    pub(super) outer: Vec<Option<Arc<Meter>>>,
}
