//! The poll thread stands in for the schedulers where all of them are held: see `polling`.

use super::polling::{BACKUP_EVERY, HAS_BACKUP, LOOKS, SET, WAITING, used_set};
use super::table::vm;
use super::waking::wake_another;
use crate::base::qsbr;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// What the poll thread keeps between two looks.
#[derive(Default)]
pub struct Seen {
    looks: u64,
    /// Calls in a row in which the same scheduler waited in the set without an end.
    still: u32,
}

/// The poll thread sleeps after this many calls in which nothing happened. To start it again takes 15 microseconds (own measurement, in a
/// virtual machine), and a packet that wakes a scheduler would wait for that: a node with something to do keeps it awake.
const STILL: u32 = 10;

/// On the poll thread: looks at the set where no scheduler did since the last call. Returns the time to the next call, None if
/// that is due only after `Descriptors::start_backup`.
pub fn look(seen: &mut Seen) -> Option<Duration> {
    let is_needed = || WAITING.load(Ordering::SeqCst) == 0 && used_set().is_some();
    let looks = LOOKS.load(Ordering::Relaxed);
    let is_still = std::mem::replace(&mut seen.looks, looks) == looks;
    if is_needed() {
        seen.still = 0;
    } else {
        seen.still = if is_still { seen.still + 1 } else { 0 };
        if seen.still < STILL {
            return Some(BACKUP_EVERY);
        }
        // SeqCst: pairs with `leave` and `added`, which look at the flag after they made the backup necessary.
        HAS_BACKUP.store(false, Ordering::SeqCst);
        if !is_needed() || HAS_BACKUP.swap(true, Ordering::SeqCst) {
            return None;
        }
    }
    if is_still && let Some(set) = SET.get() {
        let mut ready = Vec::new();
        set.wait(Duration::ZERO, &mut ready);
        let _guard = qsbr::guard();
        ready.into_iter().for_each(|handler| handler());
        // A scheduler that sleeps beside the set, and may take work, waits in it from now on.
        wake_another(vm());
    }
    Some(BACKUP_EVERY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_poll_thread_sleeps_only_after_a_while_without_any_look() {
        let mut seen = Seen::default();
        for _ in 0..3 {
            LOOKS.fetch_add(1, Ordering::Relaxed);
            let calls = (0..).take_while(|_| look(&mut seen).is_some()).count();
            assert_eq!(calls, STILL as usize);
        }
    }
}
