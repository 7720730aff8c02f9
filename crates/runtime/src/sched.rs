//! Schedulers: one OS thread each, one run queue each.
//!
//! A process that is woken goes on the queue of the scheduler that wakes it (its partner is probably done soon, and its data
//! are in that core's cache), or, woken from outside, on the queue it was last on. Idle schedulers look for work by stealing:
//! at once from a queue of two or more; a single process is left to its owner unless that owner took nothing for a while.
//! They spin for a short time, then park; a push that makes a queue two long, or a yield with others waiting, wakes one.
//!
//! Parking: who found nothing enters the set of the idle (`heddle_sync::idle`), looks at all queues once more, and parks. Who
//! pushes looks at that set afterwards.

use crate::balance::{self, Check, Share};
use crate::dirty::DirtyQueue;
use crate::msacc::{self, State};
use crate::parker::Parker;
use crate::process::{FLAG_DETACHED, Outcome, Priority, ProcRef, Process};
use crate::run_queue::{Next, RunQueue};
use crate::signal::{Body, Signal};
use crate::state::{Put, Taken};
use crate::timer::{Action, Wheels};
use crate::trace::{events, flags, meters};
use crate::{dirty, handle, huge_pages, long_gc, proctab, qsbr, standstill, system_monitor, system_profile, time, wall_time};
use heddle_sync::barrier;
use heddle_sync::idle::IdleSet;
use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering, fence};
use std::time::{Duration, Instant};

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

struct Vm {
    schedulers: Vec<Scheduler>,
    online: AtomicUsize,
    wheels: Wheels,
    engine: Box<dyn Engine>,
    dirty: [DirtyQueue; 2],
    options: Options,
    idle: IdleSet,
    spinning: AtomicUsize,
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
/// What runs processes on the calling thread, which is a dirty one.
pub(crate) fn become_dirty() -> Box<dyn EngineThread> {
    DIRTY.set(true);
    vm().engine.new_thread()
}
pub fn options() -> &'static Options {
    &vm().options
}
pub fn online() -> usize {
    vm().online.load(Ordering::Relaxed)
}
pub fn set_online(n: usize) -> usize {
    let old = vm().online.swap(n, Ordering::Relaxed);
    balance::reset();
    for scheduler in &vm().schedulers {
        scheduler.parker.unpark();
    }
    old
}
/// True on a dirty thread: natives that asked to go there may block now.
pub fn on_dirty_thread() -> bool {
    DIRTY.get()
}
/// 1-based, as `system_info(scheduler_id)`; dirty threads come after the normal ones.
pub fn current_id() -> usize {
    let id = CURRENT.get();
    if id == usize::MAX { 1 } else { id + 1 }
}
pub fn count() -> usize {
    VM.get().map_or(0, |vm| vm.schedulers.len())
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
    vm().schedulers.iter().map(|s| s.queue.len()).collect()
}
/// What each scheduler runs, or carries between queues: see `RunQueue::in_hand`.
pub fn in_hand() -> impl Iterator<Item = usize> {
    vm().schedulers.iter().map(|s| s.queue.in_hand())
}
pub fn dirty_queue_lengths() -> [usize; 2] {
    [0, 1].map(|kind| vm().dirty[kind].count())
}
pub fn context_switches() -> u64 {
    vm().schedulers.iter().map(|s| s.switches.load(Ordering::Relaxed)).sum()
}
pub fn total_reductions() -> u64 {
    vm().schedulers.iter().map(|s| s.reductions.load(Ordering::Relaxed)).sum()
}
pub fn stolen() -> u64 {
    vm().schedulers.iter().map(|s| s.stolen.load(Ordering::Relaxed)).sum()
}
pub fn timers() -> &'static Wheels {
    &vm().wheels
}

/// Prepares queues and wheels; `run` starts the threads.
pub fn init(options: Options, engine: Box<dyn Engine>) {
    let n = options.schedulers;
    let vm = Vm {
        schedulers: (0..n)
            .map(|_| Scheduler {
                queue: RunQueue::default(),
                share: Share::default(),
                parker: Parker::default(),
                reductions: AtomicU64::new(0),
                switches: AtomicU64::new(0),
                stolen: AtomicU64::new(0),
                current: AtomicU64::new(0),
            })
            .collect(),
        online: AtomicUsize::new(options.online),
        wheels: Wheels::new(n),
        engine,
        dirty: Default::default(),
        options,
        idle: IdleSet::new(n),
        spinning: AtomicUsize::new(0),
    };
    wall_time::init(vm.options.schedulers + vm.options.dirty_cpu + vm.options.dirty_io);
    assert!(VM.set(vm).is_ok(), "scheduler initialised twice");
}

/// Starts all threads. Returns at once; the machine ends by `halt`.
pub fn start() {
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
    eprintln!("heddle: cannot start a scheduler thread: {error} (use fewer schedulers: +S N)");
    std::process::exit(1)
}

/// A process has a reason to run.
#[inline]
pub fn wake(p: ProcRef) {
    if p.state.wake() == Put::Enqueue {
        if system_profile::on(system_profile::PROCESSES) {
            // SAFETY: we made it runnable, and it is in no queue yet.
            unsafe { system_profile::process(p, true) };
        }
        enqueue(p);
    }
}

/// A process has a reason to run, and somebody of this priority waits for it.
pub fn wake_for(p: ProcRef, asker: Priority) {
    match p.state.wake_for(asker) {
        Put::Enqueue => enqueue(p),
        Put::Again => {
            let index = queue_for(p);
            vm().schedulers[index].queue.want(p.pid, asker);
            if index != CURRENT.get() {
                wake_scheduler(index);
            }
        }
        Put::Nothing => {}
    }
}

/// Puts a process whose QUEUED flag the caller set on a queue.
pub fn enqueue(p: ProcRef) {
    enqueue_at(queue_for(p), p);
}

/// The same, on that of scheduler `index`.
pub(crate) fn enqueue_at(index: usize, p: ProcRef) {
    let queue = &vm().schedulers[index].queue;
    let priority = p.state.load().queue_priority();
    let bound = p.bound_scheduler() != 0;
    if index == CURRENT.get() {
        if !bound && let Some(to) = share(index).target(priority) {
            enqueue_at(to, p);
        // SAFETY: this is its owner's thread.
        } else if unsafe { queue.push(p, priority) } {
            wake_one();
        }
    } else {
        queue.bring(p, priority);
        // If its owner is busy, somebody else may come for it.
        if !wake_scheduler(index) && !bound && !wake_one() {
            wake_inactive();
        }
    }
}

/// The run queue that a process goes on.
fn queue_for(p: ProcRef) -> usize {
    let vm = vm();
    let bound = p.bound_scheduler();
    let mine = CURRENT.get();
    let online = online();
    if bound != 0 && bound <= vm.schedulers.len() {
        bound - 1
    } else if mine < online {
        mine
    } else {
        (p.last_scheduler.load(Ordering::Relaxed) as usize) % balance::active().max(1)
    }
}

/// Something was brought for a scheduler: false if it was not asleep.
pub(crate) fn wake_scheduler(index: usize) -> bool {
    let woken = vm().idle.wake(index);
    if woken {
        vm().schedulers[index].parker.unpark();
    }
    woken
}

/// Wakes one active scheduler that is parked, unless somebody is looking for work already. Whether anybody comes.
fn wake_one() -> bool {
    let vm = vm();
    // The push comes before the looks at who looks for work and who sleeps.
    barrier::light();
    if vm.spinning.load(Ordering::Relaxed) != 0 {
        return true;
    }
    let woken = vm.idle.wake_any(balance::active());
    if let Some(index) = woken {
        vm.schedulers[index].parker.unpark();
    }
    woken.is_some()
}

/// The active ones have enough to do: one more is.
#[cold]
fn wake_inactive() {
    if let Some(index) = vm().idle.wake_any(online()) {
        balance::activate(index);
        vm().schedulers[index].parker.unpark();
    }
}

fn scheduler_loop(index: usize) {
    CURRENT.set(index);
    msacc::register("scheduler", index + 1);
    msacc::sleep(false);
    let vm = vm();
    let me = &vm.schedulers[index];
    let mut engine = vm.engine.new_thread();
    qsbr::online();
    let mut next_timer_look = 0u64;
    let mut rounds = 0u32;
    let mut check = Check::default();
    let mut busy = false;
    let mut spin = true;
    loop {
        qsbr::quiescent();
        if standstill::is_wanted() {
            standstill::stand();
        }
        rounds = rounds.wrapping_add(1);
        // Timers: the clock is read every few rounds when busy.
        if rounds & 7 == 0 || me.queue.is_empty() {
            let now = time::ticks_ms();
            if now >= next_timer_look {
                next_timer_look = now + fire_timers(index, 10).min(1);
            }
        }
        let active = index < balance::active();
        if !active {
            balance::hand_over(index);
        } else if check.is_due(me.reductions.load(Ordering::Relaxed)) {
            balance::check(index);
        }
        if me.share.is_pulling() {
            balance::pull(index);
        }
        // SAFETY: this is the queue's owner.
        let next = match unsafe { me.queue.pop() } {
            Some(next) => Some(next),
            None => {
                if std::mem::take(&mut busy) {
                    wall_time::set_busy(index, false);
                }
                if active { find_work(index, spin) } else { None }
            }
        };
        if next.is_some() && !busy {
            busy = true;
            wall_time::set_busy(index, true);
        }
        match next {
            Some(next) => {
                spin = true;
                let found = match next {
                    Next::Process(p) => Some((p, p.state.start_running())),
                    Next::Wanted(pid) => proctab::lookup(pid).map(|p| (p, p.state.start_out_of_turn())),
                };
                if let Some((p, taken)) = found {
                    msacc::enter(State::Emulator);
                    take(engine.as_mut(), p, taken, index);
                    msacc::enter(State::Other);
                }
                me.queue.hold(0);
            }
            None => {
                me.share.waits();
                let wait = fire_timers(index, 3_600_000);
                if me.queue.is_empty() {
                    // Who only looks whether somebody needs help does not spin: that slows down those who work.
                    spin = park(index, wait);
                }
                next_timer_look = 0;
            }
        }
    }
}

/// Fires what is due; ms until the next look.
fn fire_timers(index: usize, limit_ms: u64) -> u64 {
    let (due, wait) = vm().wheels.take_due(index, limit_ms);
    if !due.is_empty() {
        let before = msacc::enter(State::Aux);
        for action in due {
            fire(action);
        }
        msacc::enter(before);
    }
    wait
}

fn fire(action: Action) {
    match action {
        Action::Receive { pid, sequence } => {
            if let Some(p) = proctab::lookup(pid) {
                let _ = crate::send::deliver(p, Signal::new(Body::Timeout { sequence }));
            }
        }
        Action::Send { dest, message, reference } => {
            crate::timer_refs::forget(reference);
            let dest = match dest.as_atom() {
                Some(name) => match crate::names::whereis(name) {
                    Some(id) => id,
                    None => return,
                },
                None => dest,
            };
            if dest.is_local_pid() {
                crate::send::message_to_pid(dest.payload(), message);
            }
        }
        Action::Run(f) => f(),
    }
}

/// Looks at the others' queues, for a while if it is to spin.
fn find_work(index: usize, spin: bool) -> Option<Next> {
    let vm = vm();
    let me = &vm.schedulers[index];
    let n = vm.schedulers.len();
    if n == 1 {
        return None;
    }
    vm.spinning.fetch_add(1, Ordering::SeqCst);
    let mut found = None;
    // A queue with a sole process whose owner takes nothing: how many it had taken then, and since when.
    let mut lonely: Option<(usize, u64, Instant)> = None;
    let rounds = if spin { SPIN_ROUNDS.load(Ordering::Relaxed) } else { 1 };
    'spin: for round in 0..rounds {
        // SAFETY: this is the queue's owner.
        found = unsafe { me.queue.pop() };
        if found.is_some() {
            break;
        }
        if let Some((victim, taken, since)) = lonely {
            let queue = &vm.schedulers[victim].queue;
            if queue.len() != 1 || queue.taken.load(Ordering::Relaxed) != taken {
                lonely = None;
            } else if since.elapsed() > LONELY {
                found = take_from(index, victim);
                if found.is_some() {
                    break;
                }
                lonely = None;
            }
        }
        // Each round begins elsewhere: one that cannot be helped (what waits there is bound) must not hide the others.
        for step in 0..n {
            let victim = (index + round + step) % n;
            let queue = &vm.schedulers[victim].queue;
            match queue.len() {
                0 => {}
                _ if victim == index => {}
                1 if lonely.is_none() => lonely = Some((victim, queue.taken.load(Ordering::Relaxed), Instant::now())),
                1 => {}
                _ => {
                    found = take_from(index, victim);
                    if found.is_some() {
                        break 'spin;
                    }
                }
            }
        }
        for _ in 0..(if round < 8 { 50 } else { 200 }) {
            std::hint::spin_loop();
        }
        if round > 20 && n > cores() {
            // More schedulers than cores: spinning only takes time from those with work.
            std::thread::yield_now();
        }
        qsbr::quiescent();
    }
    vm.spinning.fetch_sub(1, Ordering::SeqCst);
    if found.is_some() {
        // There may be more where that came from.
        fence(Ordering::SeqCst);
        if vm.schedulers.iter().any(|s| s.queue.len() >= 2) {
            wake_one();
        }
    }
    found
}

/// Rounds of looking before parking (about 100 µs; guessed, to be measured in bench/scaling).
pub const USUAL_SPIN_ROUNDS: usize = 60;
/// `+sbwt`. At least one: a thief looks at all queues once.
pub static SPIN_ROUNDS: AtomicUsize = AtomicUsize::new(USUAL_SPIN_ROUNDS);
/// An inactive scheduler becomes active where processes wait for one that took none in this time: a native may hold it.
const STUCK_MS: u64 = 10;
/// A process that waited this long on a queue whose owner takes nothing may be stolen alone.
const LONELY: Duration = Duration::from_micros(30);

fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, |n| n.get()))
}

fn take_from(index: usize, victim: usize) -> Option<Next> {
    let vm = vm();
    let me = &vm.schedulers[index];
    let mut stolen = vm.schedulers[victim].queue.steal(64, &me.queue).into_iter();
    let first = stolen.next()?;
    let mut count = 1;
    for p in stolen {
        // SAFETY: the thief is the owner of its own queue.
        unsafe { me.queue.push(p, p.state.load().queue_priority()) };
        count += 1;
    }
    me.queue.hold(1);
    me.stolen.fetch_add(count, Ordering::Relaxed);
    Some(Next::Process(first))
}

/// Sleeps until there is something to do. Whether there is, as far as this one knows.
fn park(index: usize, wait_ms: u64) -> bool {
    let vm = vm();
    let me = &vm.schedulers[index];
    me.parker.belongs_to_me();
    vm.idle.enter(index);
    // One more look: a pusher that did not see us among the idle pushed before this.
    let is_active = index < balance::active();
    let work = !me.queue.is_empty() || (is_active && vm.schedulers.iter().any(|s| s.queue.len() >= 2)) || standstill::is_wanted();
    let mut is_needed = work;
    if !work {
        qsbr::offline();
        // A lone process elsewhere may need help although nobody wakes us: look again soon while others are busy.
        let waiting = vm.schedulers.iter().find(|s| index < online() && !s.queue.is_empty());
        let taken = waiting.map(|s| s.queue.taken.load(Ordering::Relaxed));
        let ms = if waiting.is_some() { wait_ms.min(if is_active { 1 } else { STUCK_MS }) } else { wait_ms };
        let told = system_profile::on(system_profile::SCHEDULERS);
        if told {
            system_profile::scheduler(index + 1, false);
        }
        msacc::sleep(true);
        me.parker.park(Duration::from_millis(ms.max(1)));
        msacc::sleep(false);
        is_needed = waiting.is_some_and(|s| !s.queue.is_empty() && Some(s.queue.taken.load(Ordering::Relaxed)) == taken);
        if is_needed && !is_active {
            balance::activate(index);
        }
        if told {
            system_profile::scheduler(index + 1, true);
        }
        qsbr::online();
    }
    vm.idle.leave(index) || is_needed
}

/// Does with a process from a queue what is to be done.
#[inline(always)]
fn take(engine: &mut dyn EngineThread, p: ProcRef, taken: Taken, index: usize) {
    match taken {
        Taken::Run => run_process(engine, p, index),
        Taken::Signals => handle_signals(p),
        Taken::Nothing => {}
        // SAFETY: it left the process table, and this was the last entry on a run queue.
        Taken::Free => qsbr::retire(move || unsafe { crate::process::deallocate(p) }),
    }
}

/// Handles the signals of a process that is not to run now: it goes back among its equals, or its dirty thread keeps it.
#[inline(never)]
fn handle_signals(p: ProcRef) {
    // SAFETY: we took it from the queue and set RUNNING; a dirty thread that has it as well blocks and waits for us after that.
    let local = unsafe { p.local() };
    let after = handle::drain(local);
    if p.state.load().is_dirty() {
        if after == handle::After::Exit {
            crate::exit::leave(local);
        }
        if p.state.stop_helping() == Put::Enqueue {
            enqueue(p);
        }
    } else {
        let outcome = match after {
            handle::After::Exit => Outcome::Exit,
            // Who asked for it does not wait until those of its priority get their turn.
            _ if long_gc::is_due(local) => Outcome::DirtyCpu,
            _ => Outcome::Yield,
        };
        switch_out(p, local, outcome);
    }
}

#[inline(always)]
fn run_process(engine: &mut dyn EngineThread, p: ProcRef, index: usize) {
    let vm = vm();
    let me = &vm.schedulers[index];
    p.last_scheduler.store(index as u16, Ordering::Relaxed);
    if counted(&me.switches, 1).is_multiple_of(huge_pages::SWITCHES) {
        huge_pages::look();
    }
    me.current.store(p.pid + 1, Ordering::Relaxed);
    // SAFETY: we took it from the queue and set RUNNING, so we are its owner.
    let local = unsafe { p.local() };
    if events::on(&p, SWITCHES) {
        switched_in(local);
    }
    let outcome = if !p.inbox.is_empty() && handle::drain(local) == handle::After::Exit {
        Outcome::Exit
    } else if long_gc::is_due(local) {
        // Even if it is suspended: others may wait for it.
        Outcome::DirtyCpu
    } else if local.suspend_count > 0 {
        Outcome::Suspended
    } else {
        let slice = crate::zeal::slice();
        let (out, left) = if system_monitor::watches_slices() { run_watched(engine, local, slice) } else { engine.run(local, slice) };
        let used = (slice - left).max(0) as u64;
        local.reductions += used;
        counted(&me.reductions, used);
        me.share.used(local.priority, used);
        if balance::active() < online() && me.share.pressure.is_high(used, me.queue.len()) {
            wake_inactive();
        }
        match out {
            // Wherever it stands, all of it is in its roots.
            Outcome::Yield | Outcome::Wait | Outcome::Suspended if long_gc::is_due(local) => Outcome::DirtyCpu,
            out => out,
        }
    };
    me.current.store(0, Ordering::Relaxed);
    if events::on(&p, SWITCHES) {
        switched_out(local, outcome);
    }
    switch_out(p, local, outcome);
    // Others wait and nobody helps: the slice is over, so wake one.
    if me.queue.len() > 1 {
        wake_one();
    }
}

/// Adds to a figure that only its own thread writes. What it was before.
#[inline(always)]
fn counted(figure: &AtomicU64, more: u64) -> u64 {
    let before = figure.load(Ordering::Relaxed);
    figure.store(before.wrapping_add(more), Ordering::Relaxed);
    before
}

/// Flags of a process of which a scheduler that takes it or lets it go has more to do.
const SWITCHES: u32 = flags::RUNNING | flags::RUNNING_PROCS | flags::METERED;

#[cold]
#[inline(never)]
fn switched_in(local: &mut Process) {
    if events::on(local.shared(), flags::RUNNING | flags::RUNNING_PROCS) {
        events::scheduled(local, "in");
    }
    if meters::on(local) {
        meters::pause(local, meters::What::Time, true);
    }
}

#[cold]
#[inline(never)]
fn switched_out(local: &mut Process, outcome: Outcome) {
    if meters::on(local) {
        meters::pause(local, meters::What::Time, false);
    }
    if events::on(local.shared(), flags::RUNNING | flags::RUNNING_PROCS) && outcome != Outcome::Exit {
        events::scheduled(local, "out");
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
    match outcome {
        Outcome::Exit => {
            if system_profile::on(system_profile::PROCESSES) {
                system_profile::ended(p);
            }
            crate::exit::finish(local)
        }
        Outcome::DirtyCpu | Outcome::DirtyIo => {
            local.flags |= FLAG_DETACHED;
            // A dirty thread may have it at once, but not before it gets it from the queue: nothing of `local` is used after this.
            if p.state.go_dirty() == Put::Enqueue {
                enqueue(p);
            }
            vm().dirty[(outcome == Outcome::DirtyIo) as usize].push(p, p.state.load().queue_priority());
        }
        Outcome::Yield | Outcome::Wait | Outcome::Suspended => {
            let told = outcome != Outcome::Yield && system_profile::on(system_profile::PROCESSES);
            if told {
                // SAFETY: we ran it. Told now, as others may wake it as soon as it is let go.
                unsafe { system_profile::process(p, false) };
            }
            if p.state.stop_running(outcome == Outcome::Yield) == Put::Enqueue {
                if told {
                    // SAFETY: it is in no queue yet.
                    unsafe { system_profile::process(p, true) };
                }
                enqueue(p);
            }
        }
    }
}

/// Makes a process runnable for the first time.
pub fn start_process(p: ProcRef) {
    proctab::publish(p);
    wake(p);
}

// ---- receive timeouts ----

/// Arms the receive timer of the running process.
pub fn set_receive_timer(p: &mut Process, ms: u64) {
    p.timer.sequence = p.timer.sequence.wrapping_add(1);
    p.timer.fired = false;
    let wheel = CURRENT.get();
    let wheel = if wheel < vm().schedulers.len() { wheel } else { 0 };
    // One tick more: the current one has partly gone by, and a timeout must not come early.
    let deadline = time::ticks_ms() + ms + 1;
    p.timer.handle = Some(vm().wheels.set(wheel, deadline, Action::Receive { pid: p.pid(), sequence: p.timer.sequence }));
}

pub fn cancel_receive_timer(p: &mut Process) {
    if let Some(handle) = p.timer.handle.take() {
        vm().wheels.cancel(handle);
    }
    p.timer.sequence = p.timer.sequence.wrapping_add(1);
    p.timer.fired = false;
    p.timer.forever = false;
}

/// Runs `f` on a scheduler after so many milliseconds.
pub fn after(ms: u64, f: impl FnOnce() + Send + 'static) {
    let wheel = my_wheel();
    vm().wheels.set(wheel, time::ticks_ms() + ms + 1, Action::Run(Box::new(f)));
    poke_wheel(wheel);
}

/// The wheel for timers that the calling thread sets.
pub fn my_wheel() -> usize {
    let index = CURRENT.get();
    if index < vm().schedulers.len() { index } else { 0 }
}

/// For threads other than the scheduler that owns the wheel: make it look at its timers again.
pub fn poke_wheel(wheel: usize) {
    wake_scheduler(wheel);
}

/// Which process the calling scheduler thread is running, and the function it was started with: for crash reports.
pub fn running() -> Option<(u64, heddle_term::code_cell::Mfa)> {
    let pid = VM.get()?.schedulers.get(CURRENT.get())?.current.load(Ordering::Relaxed).checked_sub(1)?;
    let p = crate::proctab::lookup(pid)?;
    // SAFETY: it runs on this thread, which therefore owns it.
    Some((pid, unsafe { p.local() }.initial_call))
}
