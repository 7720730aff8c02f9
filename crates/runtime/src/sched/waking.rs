//! Where a process goes that has a reason to run, and which scheduler is woken for it.

use super::home::{self, online};
use super::idling::cores;
use super::table::{CURRENT, Scheduler, Vm, vm};
use crate::base::level::{Level, Priority};
use crate::heap::mode;
use crate::observe::record;
use crate::process::state::QueueAction;
use crate::process::{ProcRef, proctab};
use crate::sched::worker_cache::{self, Woken};
use crate::sched::{balance, private_threads};
use crate::trace::system_profile;
use heddle_abi::settings::SETTINGS;
use heddle_sync::{alone, barrier};
use std::sync::atomic::Ordering;

/// Makes a process runnable for the first time.
pub fn start_process(p: ProcRef) {
    // Its initial data may be its parent's, and young.
    mode::remember(&p);
    proctab::publish(p);
    wake(p);
}

/// A process has a reason to run.
pub fn wake(p: ProcRef) {
    is_woken(p, p.state.wake());
}

/// Something arrived for a process, whose state says so already.
#[inline(always)]
pub fn is_woken(p: ProcRef, put: QueueAction) {
    mode::remember(&p);
    if put == QueueAction::Enqueue {
        becomes_runnable(p);
    }
}

/// Its QUEUED flag was set for something that arrived.
#[inline(never)]
fn becomes_runnable(p: ProcRef) {
    if system_profile::on(system_profile::PROCESSES) {
        // SAFETY: we made it runnable, and it is in no queue yet.
        unsafe { system_profile::process(p, true) };
    }
    if !wake_partner(p) {
        enqueue(p);
    }
}

/// A process that the running one wakes is next, if no other scheduler could run it sooner: see `worker_cache`.
#[inline]
fn wake_partner(p: ProcRef) -> bool {
    let state = p.state.load();
    if !state.awaits() && !worker_cache::is_calling() {
        return false;
    }
    let vm = vm();
    let index = CURRENT.get();
    let Some(me) = vm.schedulers.get(index) else { return false };
    // Relaxed: a scheduler that becomes idle just now may miss it, and it waits here for a slice.
    let is_next = me.current.load(Ordering::Relaxed) != 0
        && vm.idle.count() == 0
        && vm.spinning.load(Ordering::Relaxed) == 0
        && me.share.takes_work()
        && home::of(&p).is_none()
        && state.queue_level() == Level::NORMAL
        && SETTINGS.worker_cache.is_on();
    if !is_next {
        return false;
    }
    match me.queue.partner.woke(p, state.awaits()) {
        Woken::First => return true,
        Woken::Second(Some(first)) => enqueue_at(index, first),
        _ => {}
    }
    false
}

/// The same where a process with the priority `asker` waits for an answer.
pub fn is_woken_for(p: ProcRef, put: QueueAction, asker: Priority) {
    mode::remember(&p);
    match put {
        QueueAction::Enqueue => enqueue(p),
        QueueAction::Requeue => {
            let index = queue_for(p);
            // On its own thread it is the next anyway.
            if let Some(scheduler) = vm().schedulers.get(index) {
                scheduler.queue.want(p.pid, asker);
                if index != CURRENT.get() {
                    wake_scheduler(index);
                }
            }
        }
        QueueAction::Nothing => {}
    }
}

/// Puts a process whose QUEUED flag the caller set on a queue.
#[inline]
pub fn enqueue(p: ProcRef) {
    let index = CURRENT.get();
    match vm().schedulers.get(index) {
        // Mostly: nothing says where it is to go, and this scheduler keeps what it wakes.
        Some(me) if me.share.keeps_work() && home::of(&p).is_none() => push(me, p),
        _ => enqueue_at(queue_for(p), p),
    }
}

/// On the queue of the calling scheduler.
#[inline]
pub(super) fn push(me: &Scheduler, p: ProcRef) {
    // SAFETY: this is its owner's thread.
    if unsafe { me.queue.push(p, p.state.load().queue_level()) } && !wake_one() && balance::some_rest() && me.queue.len() >= BURST {
        wake_inactive();
    }
}

/// The same, on that of scheduler `index`.
pub(crate) fn enqueue_at(index: usize, p: ProcRef) {
    if index >= crate::base::place::MAX_SCHEDULERS {
        return private_threads::bring(index, p);
    }
    let bound = home::of(&p) == Some(index);
    let index = if bound { index } else { home::instead_of(index) };
    let scheduler = &vm().schedulers[index];
    let level = p.state.load().queue_level();
    if index == CURRENT.get() {
        if !bound
            && let Some(to) = scheduler.share.target(index, level.class())
            && home::instead_of(to) != index
        {
            return enqueue_at(to, p);
        }
        push(scheduler, p);
    } else {
        scheduler.queue.bring(p, level);
        // If its owner is busy, another scheduler may come for it.
        if !wake_scheduler(index) && !bound && !wake_one() {
            wake_inactive();
        }
    }
}

/// The run queue that a process goes on.
fn queue_for(p: ProcRef) -> usize {
    let mine = CURRENT.get();
    if let Some(home) = home::of(&p) {
        home
    } else if mine < online() && !home::is_closed(mine) {
        mine
    } else {
        (p.last_scheduler.load(Ordering::Relaxed) as usize) % home::active().max(1)
    }
}

/// Something was brought for a scheduler: wakes it. False if it was not asleep.
pub(crate) fn wake_scheduler(index: usize) -> bool {
    let woken = vm().idle.wake(index);
    if woken {
        unpark(index);
    }
    woken
}

/// Wakes one active scheduler that is parked, unless one is looking for work already. True if a scheduler comes.
#[inline]
pub(super) fn wake_one() -> bool {
    let vm = vm();
    // The push comes before the looks at which schedulers search for work and which sleep.
    barrier::light();
    let looking = vm.spinning.load(Ordering::Relaxed);
    let coming = coming(vm);
    (looking != 0 || coming != 0 || vm.idle.count() != 0) && wake_one_of(vm, looking.max(coming))
}

/// Schedulers that were woken and did not come yet.
#[inline]
pub(super) fn coming(vm: &Vm) -> usize {
    vm.coming.load(Ordering::Relaxed).max(0) as usize
}

/// `awake`: how many look for work, or come to do so.
#[cold]
fn wake_one_of(vm: &Vm, awake: usize) -> bool {
    if coming(vm) != 0 && vm.idle.count() == 0 && vm.schedulers.len() > cores() {
        // No scheduler sleeps, and some wait for a core: perhaps for this one, which they would get only after the caller's slice.
        std::thread::yield_now();
        return true;
    }
    if awake != 0 && vm.schedulers.get(CURRENT.get()).is_none_or(|me| me.queue.len() < ENOUGH * awake) {
        return true;
    }
    wake_another(vm)
}

/// Wakes one that is parked, also where another looks: with fewer cores than schedulers that one may not run. True if one was woken.
#[cold]
pub(super) fn wake_another(vm: &Vm) -> bool {
    let woken = vm.idle.wake_any(home::active());
    if let Some(index) = woken {
        unpark(index);
    }
    woken.is_some()
}

/// Processes on a queue for each scheduler that looks for work or was woken: up to as many are left to those. A scheduler that comes
/// then finds work, and the one that makes work spends its time on that instead of on waking.
const ENOUGH: usize = 4;
/// Length of a queue that is too much for the active schedulers.
pub(super) const BURST: usize = 8;

/// The active ones have enough to do: one more is, if as many may be.
#[cold]
pub(super) fn wake_inactive() {
    if let Some(index) = vm().idle.wake_any(balance::max_active()) {
        balance::activate(index);
        unpark(index);
    }
}

/// Wakes a scheduler that was taken out of the set of the idle.
pub(super) fn unpark(index: usize) {
    record::event(record::RecordedEvent::WakeUp(index));
    alone::give_up();
    // Relaxed, here and where it is read: a number to go by.
    vm().coming.fetch_add(1, Ordering::Relaxed);
    vm().schedulers[index].unpark();
}
