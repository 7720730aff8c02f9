//! The scheduler threads: how they start, and the loop that each runs.

use super::balance::BalanceCheck;
use super::balance::share::Share;
use super::idling::{GIVES_WAY, came, cores, find_work, give_way, let_others_come, park};
use super::run::take;
use super::run_queue::{NextEntry, RunQueue};
use super::table::{CURRENT, Engine, Scheduler, ThreadCounts, VM, Vm, busy_schedulers, count, share, vm};
use super::waking::{coming, wake_scheduler};
use super::{balance, blocking, dirty, home, polling, stop_world};
use crate::base::memory_mode;
use crate::base::parker::Parker;
use crate::base::stop_requests;
use crate::base::{qsbr, time, zeal};
use crate::heap::{huge_pages, shared};
use crate::observe::msacc::{self, ThreadState};
use crate::observe::{figures, wall_time};
use crate::process::proctab;
use crate::timer::{self, Wheels};
use heddle_sync::idle::IdleSet;
use std::sync::atomic::{AtomicIsize, AtomicU64, AtomicUsize, Ordering};

/// Prepares queues and wheels; `run` starts the threads.
pub fn init(options: ThreadCounts, engine: Box<dyn Engine>) {
    let n = options.schedulers;
    assert!(n <= crate::base::place::MAX_SCHEDULERS, "{n} schedulers");
    home::swap_online(options.online);
    let vm = Vm {
        schedulers: (0..n)
            .map(|index| Scheduler {
                queue: RunQueue::of(index),
                share: Share::default(),
                parker: Parker::default(),
                reductions: AtomicU64::new(0),
                switches: AtomicU64::new(0),
                stolen: AtomicU64::new(0),
                current: AtomicU64::new(0),
            })
            .collect(),
        wheels: Wheels::new(n, |index| _ = wake_scheduler(index)),
        engine,
        dirty: Default::default(),
        options,
        idle: IdleSet::new(n),
        spinning: AtomicUsize::new(0),
        coming: AtomicIsize::new(0),
    };
    let dirty_online = vm.options.dirty_cpu_online;
    let threads = vm.options.schedulers + vm.options.dirty_cpu + vm.options.dirty_io;
    wall_time::init(threads);
    figures::init(threads);
    assert!(VM.set(vm).is_ok(), "scheduler initialised twice");
    dirty::set_online(dirty_online);
    let _ = shared::collection::WAKE.set(|most| (0..count().min(most)).for_each(|index| _ = wake_scheduler(index)));
}

/// How often a scheduler that has work looks whether it is alone. What that saves it in this time is much more than what it costs the
/// next thread that comes.
const CLAIM_MS: u64 = 5;

/// Starts all threads. Returns at once; the VM ends by `halt`.
pub fn start() {
    balance::tell();
    huge_pages::counted(count(), balance::active());
    // Erlang frames live on the process' own stack; native stacks stay shallow (but debug builds of natives need room).
    let stack_bytes = 4 << 20;
    for index in 0..vm().options.schedulers {
        std::thread::Builder::new()
            .name(format!("scheduler {}", index + 1))
            .stack_size(stack_bytes)
            .spawn(move || scheduler_loop(index))
            .unwrap_or_else(|e| fatal_thread(&e));
    }
    let mut thread = vm().options.schedulers;
    for (kind, count) in [vm().options.dirty_cpu, vm().options.dirty_io].into_iter().enumerate() {
        for index in 0..count {
            let number = thread;
            thread += 1;
            std::thread::Builder::new()
                .name(format!("dirty {} {}", ["cpu", "io"][kind], index + 1))
                .stack_size(stack_bytes)
                .spawn(move || dirty::run(kind, index + 1, number))
                .unwrap_or_else(|e| fatal_thread(&e));
        }
    }
}

fn fatal_thread(error: &std::io::Error) -> ! {
    heddle_term::complain!("heddle: cannot start a scheduler thread: {error} (use fewer schedulers: +S N)\n");
    std::process::exit(1)
}

fn scheduler_loop(index: usize) {
    CURRENT.set(index);
    crate::base::affinity::begins(index);
    figures::register(index);
    msacc::register("scheduler", index + 1);
    msacc::sleep(false);
    let vm = vm();
    vm.wheels.own(index);
    let me = &vm.schedulers[index];
    let mut engine = vm.engine.new_thread();
    qsbr::online();
    let mut next_timer_look = 0u64;
    let mut next_balance = 0u64;
    let mut next_claim = 0u64;
    let mut looked_at = 0u64;
    let mut rounds = 0u32;
    let mut check = BalanceCheck::default();
    let (mut busy, mut gives_way) = (false, 0);
    // It was woken, and neither works nor sleeps yet.
    let mut comes = false;
    let mut spin = true;
    // It slept until a descriptor was ready, and has not searched for work since.
    let mut is_told = false;
    let is_crowd = vm.schedulers.len() > cores();
    loop {
        qsbr::quiescent();
        if stop_requests::is_requested() {
            stop_world::respond();
        }
        rounds = rounds.wrapping_add(1);
        // Also where this scheduler has been at work for long, as one that makes a burst: a woken scheduler may wait for this core.
        if is_crowd && coming(vm) != 0 && !me.queue.is_empty() {
            std::thread::yield_now();
        }
        // Since when no process has run, where that is known. A search for work may take most of a millisecond.
        let mut idle_since = u64::MAX;
        // Timers: the clock is read every few rounds when busy.
        if rounds & 7 == 0 || me.queue.is_empty() {
            if gives_way != 0 {
                gives_way = give_way(vm, me, gives_way);
                rounds = if gives_way == 0 { 0 } else { u32::MAX };
            }
            let now = time::ticks_ms();
            idle_since = now;
            if now >= next_timer_look {
                next_timer_look = now + timer::fire::due(&vm.wheels, 10).min(1);
            }
            if now >= next_claim || zeal::yields() {
                next_claim = now + CLAIM_MS;
                figures::of(index).claims.add(qsbr::claim() as u64);
            }
            if is_crowd {
                balance::check_oversubscription(now);
            }
            if balance::by_utilisation() && now >= next_balance {
                next_balance = now + balance::utilisation::PERIOD_MS;
                balance::check_utilisation();
            }
        }
        let active = me.share.takes_work();
        let reductions = me.reductions.load(Ordering::Relaxed);
        if active && check.is_due(reductions) {
            balance::check(index);
        }
        if reductions.wrapping_sub(looked_at) >= polling::LOOK_REDUCTIONS {
            looked_at = reductions;
            polling::look();
        }
        let has_duties = me.share.has_duties();
        if has_duties {
            if active { balance::pull(index) } else { balance::hand_over(index) }
        }
        // SAFETY: this is the queue's owner.
        let next = match unsafe { me.queue.pop() } {
            Some(next) => Some(next),
            None => {
                if std::mem::take(&mut busy) {
                    balance::set_busy(index, false);
                    wall_time::set_busy(index, false);
                }
                if active { find_work(index, spin, std::mem::take(&mut is_told)) } else { None }
            }
        };
        if next.is_some() && !busy {
            busy = true;
            balance::set_busy(index, true);
            wall_time::set_busy(index, true);
            came(vm, std::mem::take(&mut comes));
            if is_crowd {
                (gives_way, rounds) = (GIVES_WAY, u32::MAX);
                let_others_come(vm);
            }
        }
        match next {
            Some(next) => {
                spin = true;
                let watched = if has_duties { Some(Watched::begin(index)) } else { None };
                let found = match next {
                    NextEntry::Process(p) => Some((p, p.state.start_running())),
                    NextEntry::Wanted(pid) => proctab::lookup(pid).map(|p| (p, p.state.start_out_of_turn())),
                };
                if let Some((p, taken)) = found {
                    take(engine.as_mut(), p, taken, index);
                }
                if let Some(watched) = watched {
                    watched.end();
                }
                me.queue.hold(0);
            }
            None => {
                me.share.waits();
                came(vm, std::mem::take(&mut comes));
                let mut wait = timer::fire::due_after(&vm.wheels, 3_600_000, idle_since);
                if memory_mode::collects_together() && wait > 0 && me.queue.is_empty() && busy_schedulers() <= 1 {
                    wait = shared::idle::before_sleep(wait);
                }
                if wait > 0 && me.queue.is_empty() {
                    // A scheduler that only looks whether another needs help does not spin: that slows down those that work.
                    let sleep = park(index, wait);
                    (spin, comes, is_told) = (sleep.is_needed, sleep.is_woken, sleep.is_told);
                    looked_at = me.reductions.load(Ordering::Relaxed);
                }
                next_timer_look = 0;
            }
        }
    }
}

/// A process of a scheduler that has more to do before and after it: the usual one does not ask for each of these.
struct Watched(Option<blocking::Mine>);

impl Watched {
    #[cold]
    #[inline(never)]
    fn begin(index: usize) -> Watched {
        let turn = if share(index).takes_turns() { blocking::for_scheduler(index) } else { None };
        msacc::enter(ThreadState::Emulator);
        Watched(turn)
    }

    /// The turn is given back.
    #[cold]
    #[inline(never)]
    fn end(self) {
        msacc::enter(ThreadState::Other);
        drop(self.0);
    }
}
