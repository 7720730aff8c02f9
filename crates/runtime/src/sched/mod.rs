//! Schedulers: one OS thread each, one run queue each.
//!
//! A process that is woken goes on the queue of the scheduler that wakes it (its partner is probably done soon, and its data
//! are in that core's cache), or, woken from outside, on the queue it was last on. Idle schedulers look for work by stealing:
//! at once from a queue of two or more; a single process is left to its owner unless that owner took nothing for a while.
//! They spin for a short time, then park; a push that makes a queue two long, or a yield with others waiting, wakes one.
//!
//! Parking: a scheduler that found nothing enters the set of the idle (`heddle_sync::idle`), looks at all queues once more, and parks.
//! A thread that pushes looks at that set afterwards.

pub mod balance;
pub mod blocking;
pub mod dirty;
mod idling;
pub mod placement;
pub mod polling;
pub mod private_threads;
pub(crate) mod purge;
mod run;
pub mod run_queue;
pub mod stop_world;
mod waking;
pub mod worker_cache;

use self::balance::{Check, Share};
use crate::base::parker::Parker;
use crate::base::{qsbr, time, zeal};
use crate::heap::{huge_pages, shared};
use crate::observe::msacc::{self, State};
use crate::observe::{figures, wall_time};
use crate::process::proctab;
use crate::process::{Outcome, ProcRef, Process};
use crate::sched::dirty::DirtyQueue;
use crate::sched::run_queue::{Next, RunQueue};
use crate::timer::{self, Action, Wheels};
use crate::watch::AtWork;
use heddle_sync::idle::IdleSet;
pub(crate) use idling::takes_work;
use idling::{GIVES_WAY, came, cores, find_work, give_way, let_others_come, park};
use run::take;
pub(crate) use run::{SWITCHES, handle_signals, instead_of_slice, run_slice, switch_out, switched_in, switched_out};
use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicIsize, AtomicU64, AtomicUsize, Ordering};
use waking::coming;
pub use waking::{enqueue, is_woken, is_woken_for, wake};
pub(crate) use waking::{enqueue_at, have_look, wake_all_to_look, wake_scheduler};

/// What runs processes. Implemented by the engine.
pub trait Engine: Send + Sync {
    /// Per-thread state (register file).
    fn new_thread(&self) -> Box<dyn EngineThread>;
}

pub trait EngineThread {
    /// Runs `p` for `reductions` or until it waits or ends. Signals were handled before.
    fn run(&mut self, p: &mut Process, reductions: i64) -> (Outcome, i64);
    /// Runs the native that `p` wants to run dirty.
    fn run_dirty(&mut self, p: &mut Process) -> Outcome;
}

pub struct Options {
    pub schedulers: usize,
    pub online: usize,
    pub dirty_cpu: usize,
    pub dirty_cpu_online: usize,
    pub dirty_io: usize,
}

struct Scheduler {
    queue: RunQueue,
    share: Share,
    parker: Parker,
    /// Reductions done, context switches: for statistics.
    reductions: AtomicU64,
    switches: AtomicU64,
    stolen: AtomicU64,
    /// Running process' pid + 1, or 0.
    current: AtomicU64,
}

impl Scheduler {
    fn unpark(&self) {
        self.parker.unpark(polling::interrupt);
    }
}

struct Vm {
    schedulers: Vec<Scheduler>,
    online: AtomicUsize,
    wheels: Wheels,
    engine: Box<dyn Engine>,
    dirty: [DirtyQueue; 2],
    options: Options,
    idle: IdleSet,
    spinning: AtomicUsize,
    /// Woken, and neither at work nor back to sleep yet: they may have no core. Below 0 for a moment where one is there before it is
    /// counted.
    coming: AtomicIsize,
}

static VM: OnceLock<Vm> = OnceLock::new();

thread_local! {
    static CURRENT: Cell<usize> = const { Cell::new(usize::MAX) };
    static DIRTY: Cell<bool> = const { Cell::new(false) };
}

fn vm() -> &'static Vm {
    VM.get().expect("scheduler started")
}

pub(crate) fn queue(index: usize) -> &'static RunQueue {
    &vm().schedulers[index].queue
}
pub(crate) fn share(index: usize) -> &'static Share {
    &vm().schedulers[index].share
}
pub(crate) fn dirty_queue(kind: usize) -> &'static DirtyQueue {
    &vm().dirty[kind]
}
/// What runs processes on the calling thread, which is no scheduler.
pub(crate) fn new_engine() -> Box<dyn EngineThread> {
    vm().engine.new_thread()
}
pub(crate) fn set_dirty(is_dirty: bool) {
    DIRTY.set(is_dirty);
}
/// Leaves a scheduler out (`is_closed`) where one is woken for what any scheduler may do, or takes it in again.
pub(crate) fn close(index: usize, is_closed: bool) {
    vm().idle.close(index, is_closed);
    vm().schedulers[index].unpark();
}
pub fn options() -> &'static Options {
    &vm().options
}
pub fn online() -> usize {
    vm().online.load(Ordering::Relaxed)
}
pub fn set_online(n: usize) -> usize {
    let old = vm().online.swap(n, Ordering::Relaxed);
    placement::online_changed();
    balance::reset();
    for scheduler in &vm().schedulers {
        scheduler.unpark();
    }
    old
}
/// True on a dirty thread: natives that asked to go there may block now.
pub fn on_dirty_thread() -> bool {
    DIRTY.get()
}
/// 1-based, as `system_info(scheduler_id)`; private threads come after all others.
pub fn current_id() -> usize {
    let id = CURRENT.get();
    if id == usize::MAX { private_threads::current_id().unwrap_or(1) } else { id + 1 }
}
pub fn count() -> usize {
    VM.get().map_or(0, |vm| vm.schedulers.len())
}
/// Switches microstate accounting on or off. Returns true if it was on before.
pub fn switch_accounts(on: bool) -> bool {
    // Between two processes schedulers look at one word only, so the flag is in that word.
    msacc::switch(on, || (0..count()).for_each(|scheduler| share(scheduler).set_accounts(on)))
}
/// The calling thread's, if it is a scheduler.
pub fn current_index() -> Option<usize> {
    Some(CURRENT.get()).filter(|&index| index < count())
}
/// Schedulers that are not idle.
pub fn busy_schedulers() -> usize {
    vm().schedulers.len().saturating_sub(vm().idle.count())
}
pub fn queue_lengths() -> Vec<usize> {
    vm().schedulers.iter().map(|s| s.queue.partner.count() + s.queue.len()).collect()
}
/// What each scheduler runs, or carries between queues: see `RunQueue::in_flight`.
pub fn in_flight() -> impl Iterator<Item = usize> {
    vm().schedulers.iter().map(|s| s.queue.in_flight())
}
pub fn dirty_queue_lengths() -> [usize; 2] {
    [0, 1].map(|kind| vm().dirty[kind].count())
}
pub fn context_switches() -> u64 {
    private_threads::switches() + vm().schedulers.iter().map(|s| s.switches.load(Ordering::Relaxed)).sum::<u64>()
}
pub fn total_reductions() -> u64 {
    private_threads::reductions() + vm().schedulers.iter().map(|s| s.reductions.load(Ordering::Relaxed)).sum::<u64>()
}
/// Context switches, reductions and stolen processes of one scheduler.
pub fn counts(index: usize) -> [u64; 3] {
    let s = &vm().schedulers[index];
    [&s.switches, &s.reductions, &s.stolen].map(|figure| figure.load(Ordering::Relaxed))
}
pub fn timers() -> &'static Wheels {
    &vm().wheels
}

/// Prepares queues and wheels; `run` starts the threads.
pub fn init(options: Options, engine: Box<dyn Engine>) {
    let n = options.schedulers;
    assert!(n <= crate::base::place::MAX_SCHEDULERS, "{n} schedulers");
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
        online: AtomicUsize::new(options.online),
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
}

/// How often a scheduler that has work looks whether it is alone. What that saves it in this time is much more than what it costs the
/// next thread that comes.
const CLAIM_MS: u64 = 5;

/// Starts all threads. Returns at once; the machine ends by `halt`.
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
    let mut check = Check::default();
    let (mut busy, mut gives_way) = (false, 0);
    // It was woken, and neither works nor sleeps yet.
    let mut comes = false;
    let mut spin = true;
    let is_crowd = vm.schedulers.len() > cores();
    loop {
        qsbr::quiescent();
        if stop_world::is_requested() {
            stop_world::respond();
        }
        rounds = rounds.wrapping_add(1);
        // Also where this scheduler has been at work for long, as one that makes a burst: a woken scheduler may wait for this core.
        if is_crowd && coming(vm) != 0 && !me.queue.is_empty() {
            std::thread::yield_now();
        }
        // Timers: the clock is read every few rounds when busy.
        if rounds & 7 == 0 || me.queue.is_empty() {
            if gives_way != 0 {
                gives_way = give_way(vm, me, gives_way);
                rounds = if gives_way == 0 { 0 } else { u32::MAX };
            }
            let now = time::ticks_ms();
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
                if active { find_work(index, spin) } else { None }
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
                    Next::Process(p) => Some((p, p.state.start_running())),
                    Next::Wanted(pid) => proctab::lookup(pid).map(|p| (p, p.state.start_out_of_turn())),
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
                let mut wait = timer::fire::due(&vm.wheels, 3_600_000);
                if shared::is_on() && wait > 0 && me.queue.is_empty() && busy_schedulers() <= 1 {
                    wait = shared::idle::before_sleep(wait);
                }
                if wait > 0 && me.queue.is_empty() {
                    // A scheduler that only looks whether another needs help does not spin: that slows down those that work.
                    (spin, comes) = park(index, wait);
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
        msacc::enter(State::Emulator);
        Watched(turn)
    }

    /// The turn is given back.
    #[cold]
    #[inline(never)]
    fn end(self) {
        msacc::enter(State::Other);
        drop(self.0);
    }
}

/// Makes a process runnable for the first time.
pub fn start_process(p: ProcRef) {
    if shared::is_on() {
        // Its initial data may be its parent's, and young.
        shared::remember(&p);
    }
    proctab::publish(p);
    wake(p);
}

// ---- receive timeouts ----

/// Arms the receive timer of the running process.
#[inline]
pub fn set_receive_timer(p: &mut Process, ms: u64) {
    let pid = p.pid();
    p.timer.set(|| &vm().wheels, pid, ms);
}

#[inline]
pub fn cancel_receive_timer(p: &mut Process) {
    p.timer.cancel(|| &vm().wheels);
}

/// Runs `f` on a scheduler after `ms` milliseconds.
pub fn after(ms: u64, f: impl FnOnce() + Send + 'static) {
    let wheels = &vm().wheels;
    wheels.set(wheels.reserve(), time::ticks_ms() + ms + 1, Action::Run(Box::new(f)));
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

/// Which process the calling scheduler thread is running, and the function it was started with: for crash reports.
pub fn running() -> Option<(u64, heddle_term::code_cell::Mfa)> {
    let here = VM.get()?.schedulers.get(CURRENT.get()).map(|me| &me.current).or_else(private_threads::current)?;
    let pid = here.load(Ordering::Relaxed).checked_sub(1)?;
    let p = crate::process::proctab::lookup(pid)?;
    // SAFETY: it runs on this thread, which therefore owns it.
    Some((pid, unsafe { p.local() }.initial_call))
}
