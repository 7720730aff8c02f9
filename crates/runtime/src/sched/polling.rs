//! Descriptors that idle schedulers wait for themselves, as in ERTS: a packet wakes the thread that will run its port and its
//! receiver, and no second thread in between.
//!
//! At most one scheduler, an active one, waits in the set of descriptors; the others sleep in their parkers. Schedulers with work look
//! at the set after `LOOK_REDUCTIONS`, and before they search for work at others. Where all of them are held (by long natives, say),
//! the poll thread of `io` looks in their place: it does so every `BACKUP_EVERY` while no scheduler waits in the set (`backup::look`).
//! It sleeps once one scheduler has waited there for a while: a scheduler that leaves the set starts it again then (`leave`).

use super::table::{CURRENT, Scheduler, vm};
use crate::observe::msacc::{self, ThreadState};
use crate::process::host::Handler;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

/// A set of descriptors. Implemented where the ports are.
pub trait Descriptors: Sync {
    /// True if a descriptor is in it.
    fn is_used(&self) -> bool;
    /// Waits for at most `limit` (zero: does not wait) until a descriptor is ready or `interrupt` is called. Adds the handlers of ready
    /// descriptors.
    fn wait(&self, limit: Duration, ready: &mut Vec<Handler>);
    /// Ends a wait: the one that is under way, or the next.
    fn interrupt(&self);
    /// Has the poll thread call `backup`.
    fn start_backup(&self);
}

pub(super) static SET: OnceLock<&'static dyn Descriptors> = OnceLock::new();
/// 1 + the index of the scheduler that waits in the set, or 0. SeqCst with HAS_BACKUP, see `backup::look`.
pub(super) static WAITING: AtomicUsize = AtomicUsize::new(0);
/// Waits and looks that have ended, of all threads. Relaxed, all uses: `backup` only asks if the number has changed.
pub(super) static LOOKS: AtomicU64 = AtomicU64::new(0);
/// The poll thread calls `backup` until that clears this. SeqCst with WAITING, see `backup::look`.
pub(super) static HAS_BACKUP: AtomicBool = AtomicBool::new(false);

/// Reductions of one scheduler after which it looks, as in ERTS.
pub(super) const LOOK_REDUCTIONS: u64 = 8000;
/// Time between two looks of the poll thread.
pub(super) const BACKUP_EVERY: Duration = Duration::from_millis(10);

/// From here on schedulers wait in this set.
pub fn install(set: &'static dyn Descriptors) {
    let _ = SET.set(set);
}

#[inline]
pub(super) fn used_set() -> Option<&'static dyn Descriptors> {
    SET.get().copied().filter(|set| set.is_used())
}

/// A descriptor was added to the set.
pub fn added() {
    // SeqCst: pairs with `backup`, which clears the flag and then looks at the set.
    if WAITING.load(Ordering::SeqCst) == 0 {
        ensure_backup();
    }
}

fn ensure_backup() {
    if !HAS_BACKUP.load(Ordering::SeqCst)
        && !HAS_BACKUP.swap(true, Ordering::SeqCst)
        && let Some(set) = SET.get()
    {
        set.start_backup();
    }
}

/// True if the calling scheduler, which is about to sleep, must wait in the set and call `leave` afterwards.
pub(super) fn enter(index: usize) -> bool {
    // SeqCst: pairs with `added` and `backup`, which leave the descriptors to the scheduler that they find here.
    used_set().is_some() && WAITING.compare_exchange(0, index + 1, Ordering::SeqCst, Ordering::Relaxed).is_ok()
}

/// Waits in the set, after `enter`.
pub(super) fn wait(limit: Duration, ready: &mut Vec<Handler>) {
    if let Some(set) = SET.get() {
        set.wait(limit, ready);
    }
}

/// The calling scheduler waits in the set no more.
pub(super) fn leave() {
    LOOKS.fetch_add(1, Ordering::Relaxed);
    // SeqCst: pairs with `backup`, which clears the flag and then looks for a scheduler in the set.
    WAITING.store(0, Ordering::SeqCst);
    ensure_backup();
}

impl Scheduler {
    pub(super) fn unpark(&self) {
        self.parker.unpark(interrupt);
    }
}

/// Has a scheduler go through `park` once more.
pub(crate) fn have_look(index: usize) {
    vm().schedulers[index].unpark();
}

/// Has all others go through `park` once more.
pub(crate) fn wake_all_to_look() {
    let others = vm().schedulers.iter().enumerate().filter(|&(index, _)| index != CURRENT.get());
    others.for_each(|(_, scheduler)| scheduler.unpark());
}

/// Ends the wait of the scheduler in the set.
pub(crate) fn interrupt() {
    if let Some(set) = SET.get() {
        set.interrupt();
    }
}

/// Calls what is ready now, on a scheduler with work or in search of it. A scheduler that waits in the set does this for all.
#[inline]
pub(super) fn look() {
    // Relaxed: a look too many, or one that waits for the next turn, changes nothing but time.
    if WAITING.load(Ordering::Relaxed) == 0
        && let Some(set) = used_set()
    {
        look_into(set);
    }
}

#[cold]
#[inline(never)]
fn look_into(set: &dyn Descriptors) {
    let mut ready = Vec::new();
    msacc::enter(ThreadState::CheckIo);
    set.wait(Duration::ZERO, &mut ready);
    LOOKS.fetch_add(1, Ordering::Relaxed);
    call(ready);
}

/// Calls handlers, on a scheduler that is online.
#[inline]
pub(super) fn call(ready: Vec<Handler>) {
    for handler in ready {
        msacc::enter(ThreadState::Port);
        handler();
    }
    msacc::enter(ThreadState::Other);
}
