//! What the threads run, and what they ran so far.

use super::table::{AtWork, CURRENT, VM, count, share, vm};
use super::{dirty, private_threads};
use crate::observe::msacc;
use std::sync::atomic::Ordering;

/// Switches microstate accounting on or off. Returns true if it was on before.
pub fn switch_accounts(on: bool) -> bool {
    // Between two processes schedulers look at one word only, so the flag is in that word.
    msacc::switch(on, || (0..count()).for_each(|scheduler| share(scheduler).set_accounts(on)))
}
pub fn context_switches() -> u64 {
    private_threads::switches() + vm().schedulers.iter().map(|s| s.switches.load(Ordering::Relaxed)).sum::<u64>()
}
pub fn total_reductions() -> u64 {
    private_threads::reductions() + vm().schedulers.iter().map(|s| s.reductions.load(Ordering::Relaxed)).sum::<u64>()
}
/// What a scheduler has in hand, for the watch.
pub(crate) fn at_work(index: usize) -> Option<AtWork> {
    let me = &vm().schedulers[index];
    if me.queue.in_flight() == 0 {
        return None;
    }
    let beat = me.queue.taken.load(Ordering::Relaxed).wrapping_add(me.switches.load(Ordering::Relaxed));
    Some(AtWork { beat, pid: me.current.load(Ordering::Relaxed).checked_sub(1) })
}

/// The process that the calling thread runs, on a scheduler or a dirty thread: for crash reports.
pub fn running_pid() -> Option<u64> {
    let here = VM.get()?.schedulers.get(CURRENT.get()).map(|me| &me.current).or_else(private_threads::current);
    here.map_or_else(dirty::here, |here| here.load(Ordering::Relaxed).checked_sub(1))
}

/// Which process the calling scheduler thread is running, and the function it was started with: for crash reports.
pub fn running() -> Option<(u64, heddle_term::code_cell::Mfa)> {
    // A dirty thread may be offline, and must not look at the table.
    let pid = running_pid().filter(|_| dirty::here().is_none())?;
    let p = crate::process::proctab::lookup(pid)?;
    // SAFETY: it runs on this thread, which therefore owns it.
    Some((pid, unsafe { p.local() }.initial_call))
}
