//! One process on a scheduler: from the queue, through its slice, to where it goes then. Private threads run theirs with the same parts.

use super::after_slice;
use super::home;
use super::table::{EngineThread, vm};
use super::waking::{enqueue, enqueue_at, wake_inactive, wake_one};
use crate::base::time;
use crate::heap::huge_pages;
use crate::heap::mode;
use crate::heap::private::long_gc;
use crate::lifecycle::handle;
use crate::process::state::{QueueAction, Taken};
use crate::process::{FLAG_DETACHED, Outcome, ProcRef, Process};
use crate::sched::balance;
use crate::signal::inbox::Arrived;
use crate::trace::{events, flags, meters};
use crate::trace::{system_monitor, system_profile};
use crate::{process, sched};
use heddle_sync::alone;
use std::sync::atomic::{AtomicU64, Ordering};

/// Does what a process from a queue was taken for.
#[inline(always)]
pub(super) fn take(engine: &mut dyn EngineThread, p: ProcRef, taken: Taken, index: usize) {
    match taken {
        Taken::Run(arrived) => run_process(engine, p, arrived, index),
        Taken::Signals(arrived) => handle_signals(p, arrived),
        Taken::Nothing => {}
        // SAFETY: it left the process table, and this was the last entry on any run queue: no other thread retires it.
        Taken::Free => unsafe { process::retire(p) },
    }
}

/// Handles the signals of a process that must not run now: it goes back among its equals, or its dirty thread keeps it.
#[inline(never)]
pub(crate) fn handle_signals(p: ProcRef, arrived: Arrived) {
    mode::remember(&p);
    // SAFETY: we took it from the queue and set RUNNING; a dirty thread that has it as well blocks and waits for us after that.
    let local = unsafe { p.local() };
    let after = handle::receive(local, arrived);
    if p.state.load().is_dirty() {
        if after == handle::After::Exit {
            crate::lifecycle::exit::depart(local);
        }
        p.begin_handling();
        if p.state.stop_helping() == QueueAction::Enqueue {
            enqueue(p);
        }
    } else {
        let outcome = match after {
            handle::After::Exit => Outcome::Exit,
            // The process that asked for it does not wait until those of this priority get their turn.
            _ if long_gc::is_due(local) && !long_gc::is_done_here(local) => Outcome::DirtyCpu,
            _ => Outcome::Yield,
        };
        switch_out(p, local, outcome);
    }
}

#[inline(always)]
fn run_process(engine: &mut dyn EngineThread, p: ProcRef, arrived: Arrived, index: usize) {
    let vm = vm();
    let me = &vm.schedulers[index];
    p.last_scheduler.store(index as u16, Ordering::Relaxed);
    if counted(&me.switches, 1).is_multiple_of(huge_pages::SWITCHES) {
        huge_pages::look(sched::count(), balance::active());
    }
    me.current.store(p.pid + 1, Ordering::Relaxed);
    me.queue.partner.runs();
    // SAFETY: we took it from the queue and set RUNNING, so we are its owner.
    let local = unsafe { p.local() };
    if events::on(&p, SWITCHES) {
        switched_in(local);
    }
    let outcome = if let Some(outcome) = instead_of_slice(p, local, arrived, index) {
        outcome
    } else {
        let (out, used) = run_slice(engine, local);
        counted(&me.reductions, used);
        me.share.used(local.priority, used);
        me.queue.partner.ran(used);
        if balance::some_rest() && me.share.pressure.is_high(used, me.queue.len()) {
            wake_inactive();
        }
        match out {
            // Wherever it stands, all of it is in its roots.
            Outcome::Yield | Outcome::Wait | Outcome::Suspended if long_gc::is_due(local) => long_gc::after_slice(local),
            out => out,
        }
    };
    me.current.store(0, Ordering::Relaxed);
    if me.queue.partner.is_there()
        && let Some(woken) = me.queue.partner.after(outcome == Outcome::Wait, local.messages.is_marked())
    {
        enqueue_at(index, woken);
    }
    if events::on(&p, SWITCHES) {
        switched_out(local, outcome);
    }
    switch_out(p, local, outcome);
    after_slice::run();
    // Others wait and no scheduler helps: the slice is over, so wake one.
    if me.queue.len_for_others() > 1 {
        wake_one();
    }
}

/// Handles what arrived for a process that was taken to be run at this place. Returns its outcome if it must not run a slice.
#[inline(always)]
pub(crate) fn instead_of_slice(p: ProcRef, local: &mut Process, arrived: Arrived, place: usize) -> Option<Outcome> {
    mode::remember(&p);
    if p.is_halted() {
        Some(Outcome::Suspended)
    } else if !arrived.is_empty() && handle::receive(local, arrived) == handle::After::Exit {
        Some(Outcome::Exit)
    } else if home::is_elsewhere(&p, place) {
        Some(Outcome::Yield)
    } else if long_gc::is_due(local) && !long_gc::is_done_here(local) {
        // Even if it is suspended: others may wait for it.
        Some(Outcome::DirtyCpu)
    } else {
        (local.suspend_count > 0).then_some(Outcome::Suspended)
    }
}

/// Runs one slice. Returns how it ended, and the reductions used.
#[inline(always)]
pub(crate) fn run_slice(engine: &mut dyn EngineThread, local: &mut Process) -> (Outcome, u64) {
    local.growth.begin_slice();
    let slice = crate::base::zeal::slice();
    let (out, left) = if system_monitor::watches_slices() { run_watched(engine, local, slice) } else { engine.run(local, slice) };
    let used = (slice - left).max(0) as u64;
    local.reductions += used;
    (out, used)
}

/// Adds to a figure that only the calling thread writes. Returns what it was before.
#[inline(always)]
pub(super) fn counted(figure: &AtomicU64, more: u64) -> u64 {
    let before = figure.load(Ordering::Relaxed);
    figure.store(before.wrapping_add(more), Ordering::Relaxed);
    before
}

/// Flags of a process of which a scheduler that takes it or lets it go has more to do.
pub(crate) const SWITCHES: u32 = flags::RUNNING | flags::RUNNING_PROCS | flags::METERED;

#[cold]
#[inline(never)]
pub(crate) fn switched_in(local: &mut Process) {
    // What arrived for it is in the caller's hand.
    let _hold = mode::hold();
    report_switch(local, "in");
    if meters::on(local) {
        meters::pause(local, crate::trace::meter::MeterKind::Time, true);
    }
}

#[cold]
#[inline(never)]
pub(crate) fn switched_out(local: &mut Process, outcome: Outcome) {
    if meters::on(local) {
        meters::pause(local, crate::trace::meter::MeterKind::Time, false);
    }
    if outcome != Outcome::Exit {
        report_switch(local, "out");
    }
}

/// Tells the tracers that a thread takes the process ("in") or lets it go ("out").
pub(crate) fn report_switch(local: &mut Process, direction: &str) {
    if events::on(local.shared(), flags::RUNNING | flags::RUNNING_PROCS) {
        events::scheduled(local, direction);
    }
}

/// A slice of which the system monitor hears if it takes long.
#[cold]
#[inline(never)]
fn run_watched(engine: &mut dyn EngineThread, local: &mut Process, slice: i64) -> (Outcome, i64) {
    let (began, from) = (time::monotonic_ns(), local.ip);
    let result = engine.run(local, slice);
    system_monitor::ran(local, (time::monotonic_ns() - began) as u64, from);
    result
}

pub(crate) fn switch_out(p: ProcRef, local: &mut Process, outcome: Outcome) {
    p.begin_handling();
    match outcome {
        Outcome::Exit => {
            if system_profile::on(system_profile::PROCESSES) {
                system_profile::ended(p);
            }
            crate::lifecycle::exit::finish(local)
        }
        Outcome::DirtyCpu | Outcome::DirtyIo => {
            local.flags |= FLAG_DETACHED;
            alone::give_up();
            // A dirty thread may have it at once, but not before it gets it from the queue: nothing of `local` is used after this.
            if p.state.go_dirty() == QueueAction::Enqueue {
                enqueue(p);
            }
            vm().dirty[(outcome == Outcome::DirtyIo) as usize].push(p, p.state.load().queue_level().class());
        }
        Outcome::Yield | Outcome::Wait | Outcome::Suspended => {
            let told = outcome != Outcome::Yield && system_profile::on(system_profile::PROCESSES);
            if told {
                // SAFETY: we ran it. Told now, as others may wake it as soon as it is let go.
                unsafe { system_profile::process(p, false) };
            }
            if p.state.stop_running(outcome == Outcome::Yield, outcome == Outcome::Wait && local.messages.is_marked())
                == QueueAction::Enqueue
            {
                if told {
                    // SAFETY: it is in no queue yet.
                    unsafe { system_profile::process(p, true) };
                }
                enqueue(p);
            }
        }
    }
}
