//! The poll thread stands in for the schedulers where all of them are held: see `polling`.

use super::polling::{BACKUP_MS, HAS_BACKUP, LOOKS, SET, WAITING, used_set};
use super::table::vm;
use super::waking::wake_another;
use crate::base::qsbr;
use std::sync::atomic::Ordering;

/// On the poll thread: looks at the set where no scheduler did since the last call. `seen`: of the caller, kept between calls. Returns
/// the milliseconds to the next call, None if that is due only after `Descriptors::start_backup`.
pub fn look(seen: &mut u64) -> Option<u64> {
    let is_needed = || WAITING.load(Ordering::SeqCst) == 0 && used_set().is_some();
    if !is_needed() {
        // SeqCst: pairs with `leave` and `added`, which look at the flag after they made the backup necessary.
        HAS_BACKUP.store(false, Ordering::SeqCst);
        if !is_needed() || HAS_BACKUP.swap(true, Ordering::SeqCst) {
            return None;
        }
    }
    let looks = LOOKS.load(Ordering::Relaxed);
    if std::mem::replace(seen, looks) == looks
        && let Some(set) = SET.get()
    {
        let mut ready = Vec::new();
        set.wait(0, &mut ready);
        let _guard = qsbr::guard();
        ready.into_iter().for_each(|handler| handler());
        // A scheduler that sleeps beside the set, and may take work, waits in it from now on.
        wake_another(vm());
    }
    Some(BACKUP_MS)
}
