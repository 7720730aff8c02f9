//! `statistics(scheduler_wall_time)`: how long each scheduler thread has worked, and for how long that was counted. A thread says
//! when it goes from work to looking for work, and back. The clock is read only while the counting is on.

use crate::base::time::monotonic_ns;
use crate::observe::record;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};

#[derive(Default)]
struct Account {
    /// SeqCst with `ON`, see `changes`.
    busy: AtomicBool,
    times: Mutex<Times>,
}

#[derive(Default)]
struct Times {
    counted_from: u64,
    worked: u64,
    /// When the work under way began, if the thread works.
    busy_from: Option<u64>,
}

/// Normal schedulers, then dirty ones for CPU and for I/O.
static ACCOUNTS: OnceLock<Vec<Account>> = OnceLock::new();
/// SeqCst with `busy`, see `changes`.
static ON: AtomicBool = AtomicBool::new(false);

fn now() -> u64 {
    monotonic_ns() as u64
}

pub fn init(threads: usize) {
    let _ = ACCOUNTS.set((0..threads).map(|_| Account::default()).collect());
}

/// The calling thread, which has the number `thread`, begins or ends its work.
#[inline]
pub(crate) fn set_busy(thread: usize, busy: bool) {
    if heddle_memory::COUNTED {
        changes(thread, busy);
    }
}

/// Not inlined: the loop of schedulers is large, and needs its registers for what it does for each process.
#[inline(never)]
fn changes(thread: usize, busy: bool) {
    record::event(if busy { record::RecordedEvent::Busy } else { record::RecordedEvent::Idle });
    let Some(account) = ACCOUNTS.get().and_then(|all| all.get(thread)) else { return };
    // SeqCst: the thread that switches the counting on writes `ON` first and reads `busy` then, so one of the two sees the other's
    // write.
    account.busy.store(busy, Ordering::SeqCst);
    if ON.load(Ordering::SeqCst) {
        account.times.lock().unwrap().change(busy);
    }
}

impl Times {
    fn change(&mut self, busy: bool) {
        if busy {
            self.busy_from.get_or_insert_with(now);
        } else if let Some(from) = self.busy_from.take() {
            self.worked += now() - from;
        }
    }
}

/// Begins to count at zero, or ends the counting. Returns true if it was on before.
pub fn switch(on: bool) -> bool {
    let before = ON.swap(on, Ordering::SeqCst);
    if on && !before {
        for account in ACCOUNTS.get().into_iter().flatten() {
            let mut times = account.times.lock().unwrap();
            let now = now();
            let busy = account.busy.load(Ordering::SeqCst);
            *times = Times { counted_from: now, worked: 0, busy_from: busy.then_some(now) };
        }
    }
    before
}

/// Nanoseconds that each thread worked and that were counted; None while the counting is off.
pub fn figures() -> Option<Vec<(u64, u64)>> {
    if !ON.load(Ordering::SeqCst) {
        return None;
    }
    let figures = ACCOUNTS.get().into_iter().flatten().map(|account| {
        let times = account.times.lock().unwrap();
        let now = now();
        (times.worked + times.busy_from.map_or(0, |from| now - from), now - times.counted_from)
    });
    Some(figures.collect())
}
