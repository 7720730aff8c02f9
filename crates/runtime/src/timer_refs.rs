//! `erlang:send_after`, `start_timer`: the reference names the timer. Sharded by reference.

use crate::package::Package;
use crate::signal::RefId;
use crate::timer::{Action, Handle};
use crate::{sched, time};
use foldhash::fast::FixedState;
use heddle_term::Term;
use std::collections::HashMap;
use std::sync::Mutex;

const SHARDS: usize = 64;
type Shard = Mutex<Option<HashMap<RefId, Handle, FixedState>>>;
static TABLE: [Shard; SHARDS] = [const { Mutex::new(None) }; SHARDS];

fn shard(reference: RefId) -> &'static Shard {
    &TABLE[(reference.0 ^ reference.0 >> 7) as usize % SHARDS]
}

/// Sends `message` to `dest` (a local pid or a name) at `deadline_ms` on the clock of `time::ticks_ms`.
pub fn start(reference: RefId, deadline_ms: u64, dest: Term, message: Package) {
    let mut table = shard(reference).lock().unwrap();
    let wheel = sched::my_wheel();
    let handle = sched::timers().set(wheel, deadline_ms, Action::Send { dest, message, reference });
    table.get_or_insert_with(HashMap::default).insert(reference, handle);
    drop(table);
    sched::poke_wheel(wheel);
}

/// Remaining ms if it had not fired.
pub fn cancel(reference: RefId) -> Option<u64> {
    let handle = shard(reference).lock().unwrap().as_mut()?.remove(&reference)?;
    sched::timers().cancel(handle).map(|(left, _)| left)
}

pub fn read(reference: RefId) -> Option<u64> {
    let handle = *shard(reference).lock().unwrap().as_ref()?.get(&reference)?;
    sched::timers().remaining_ms(handle)
}

pub(crate) fn forget(reference: RefId) {
    if let Some(table) = shard(reference).lock().unwrap().as_mut() {
        table.remove(&reference);
    }
}

/// The first tick at which `ms` from now have gone by.
pub fn deadline_after(ms: u64) -> u64 {
    time::ticks_ms() + ms + 1
}
