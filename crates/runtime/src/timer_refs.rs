//! `erlang:send_after`, `start_timer`: the reference names the timer. Sharded by reference.
//!
//! A timer ends with the process it would send to: who asks finds none, and now and then those are taken out. That costs a
//! walk through all timers, so it waits until about as many receivers have ended as there are timers.

use crate::package::Package;
use crate::signal::RefId;
use crate::timer::{Action, Handle};
use crate::trace::flags;
use crate::{proctab, sched, time};
use foldhash::fast::FixedState;
use heddle_term::Term;
use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

#[derive(Clone, Copy)]
struct Timer {
    handle: Handle,
    /// Pid or name.
    dest: Term,
}

// SAFETY: the destination is an immediate.
unsafe impl Send for Timer {}

const SHARDS: usize = 64;
type Shard = Mutex<Option<HashMap<RefId, Timer, FixedState>>>;
static TABLE: [Shard; SHARDS] = [const { Mutex::new(None) }; SHARDS];

/// Receivers that ended since the last sweep.
static ENDED: AtomicUsize = AtomicUsize::new(0);
/// How many may before the next one.
static SWEEP_AFTER: AtomicUsize = AtomicUsize::new(SWEEP_AT_LEAST);
const SWEEP_AT_LEAST: usize = 64;

fn shard(reference: RefId) -> &'static Shard {
    &TABLE[(reference.0 ^ reference.0 >> 7) as usize % SHARDS]
}

/// Sends `message` to `dest` (a local pid or a name) at `deadline_ms` on the clock of `time::ticks_ms`.
pub fn start(reference: RefId, deadline_ms: u64, dest: Term, message: Package) {
    if dest.is_local_pid() {
        let Some(receiver) = proctab::lookup(dest.payload()) else { return };
        // Relaxed: if it is just ending it may not see this; the timer then goes when it is due.
        if receiver.trace.load(Ordering::Relaxed) & flags::TIMED == 0 {
            receiver.trace.fetch_or(flags::TIMED, Ordering::Relaxed);
        }
    }
    let mut table = shard(reference).lock().unwrap();
    let wheel = sched::my_wheel();
    let handle = sched::timers().set(wheel, deadline_ms, Action::Send { dest, message, reference });
    table.get_or_insert_with(HashMap::default).insert(reference, Timer { handle, dest });
    drop(table);
    sched::poke_wheel(wheel);
}

/// Remaining ms if it had not fired.
pub fn cancel(reference: RefId) -> Option<u64> {
    let timer = shard(reference).lock().unwrap().as_mut()?.remove(&reference)?;
    let (left, _) = sched::timers().cancel(timer.handle)?;
    timer.has_receiver().then_some(left)
}

pub fn read(reference: RefId) -> Option<u64> {
    let timer = *shard(reference).lock().unwrap().as_ref()?.get(&reference)?;
    timer.has_receiver().then(|| sched::timers().remaining_ms(timer.handle))?
}

impl Timer {
    fn has_receiver(&self) -> bool {
        !self.dest.is_local_pid() || proctab::lookup(self.dest.payload()).is_some()
    }
}

pub(crate) fn forget(reference: RefId) {
    if let Some(table) = shard(reference).lock().unwrap().as_mut() {
        table.remove(&reference);
    }
}

/// A process that timers were to send to has left the table.
pub fn receiver_ended() {
    if ENDED.fetch_add(1, Ordering::Relaxed) + 1 >= SWEEP_AFTER.load(Ordering::Relaxed) {
        sweep();
    }
}

/// Cancels the timers whose receivers ended.
pub fn sweep() {
    ENDED.store(0, Ordering::Relaxed);
    let mut left = 0;
    for shard in &TABLE {
        let mut gone = Vec::new();
        if let Some(table) = shard.lock().unwrap().as_mut() {
            table.retain(|_, timer| {
                let stays = timer.has_receiver();
                if !stays {
                    gone.push(timer.handle);
                }
                stays
            });
            left += table.len();
        }
        for handle in gone {
            sched::timers().cancel(handle);
        }
    }
    SWEEP_AFTER.store(left.max(SWEEP_AT_LEAST), Ordering::Relaxed);
}

/// Timers under way.
pub fn count() -> usize {
    TABLE.iter().map(|shard| shard.lock().unwrap().as_ref().map_or(0, HashMap::len)).sum()
}

/// Bytes that a timer takes, without its message.
pub const BYTES: usize = crate::timer::ENTRY_BYTES + size_of::<(RefId, Timer)>();

/// The first tick at which `ms` from now have gone by.
pub fn deadline_after(ms: u64) -> u64 {
    time::ticks_ms() + ms + 1
}
