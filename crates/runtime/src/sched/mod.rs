//! Schedulers: one OS thread each, one run queue each.
//!
//! A process that is woken goes on the queue of the scheduler that wakes it (its partner is probably done soon, and its data
//! are in that core's cache), or, woken from outside, on the queue it was last on. Idle schedulers look for work by stealing:
//! at once from a queue of two or more; a single process is left to its owner unless that owner took nothing for a while.
//! They spin for a short time, then park; a push that makes a queue two long, or a yield with others waiting, wakes one.
//!
//! Parking: who found nothing enters the set of the idle (`heddle_sync::idle`), looks at all queues once more, and parks. Who
//! pushes looks at that set afterwards.

mod run;

use crate::balance::{self, Check, Share};
use crate::dirty::DirtyQueue;
use crate::level::Level;
use crate::msacc::{self, State};
use crate::parker::Parker;
use crate::partner::{self, Woken};
use crate::process::{Outcome, Priority, ProcRef, Process};
use crate::run_queue::{Next, RunQueue};
use crate::state::Put;
use crate::timer::{self, Action, Wheels};
use crate::{
    blocking, dirty, figures, give_back, huge_pages, placement, private, proctab, qsbr, record, standstill, system_profile, time, wall_time,
};
use heddle_sync::barrier;
use heddle_sync::idle::IdleSet;
pub(crate) use run::{SWITCHES, handle_signals, instead_of_slice, run_slice, switch_out, switched_in, switched_out};
use run::{counted, take};
use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicIsize, AtomicU64, AtomicUsize, Ordering, fence};
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

struct Vm {
    schedulers: Vec<Scheduler>,
    online: AtomicUsize,
    wheels: Wheels,
    engine: Box<dyn Engine>,
    dirty: [DirtyQueue; 2],
    options: Options,
    idle: IdleSet,
    spinning: AtomicUsize,
    /// Woken, and not through `park` yet: they may have no core. Below 0 for a moment where one is there before it is counted.
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
/// Whether a scheduler is left out where one is woken for what any may do.
pub(crate) fn close(index: usize, is_closed: bool) {
    vm().idle.close(index, is_closed);
    vm().schedulers[index].parker.unpark();
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
        scheduler.parker.unpark();
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
    if id == usize::MAX { private::current_id().unwrap_or(1) } else { id + 1 }
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
    vm().schedulers.iter().map(|s| s.queue.partner.count() + s.queue.len()).collect()
}
/// What each scheduler runs, or carries between queues: see `RunQueue::in_hand`.
pub fn in_hand() -> impl Iterator<Item = usize> {
    vm().schedulers.iter().map(|s| s.queue.in_hand())
}
pub fn dirty_queue_lengths() -> [usize; 2] {
    [0, 1].map(|kind| vm().dirty[kind].count())
}
pub fn context_switches() -> u64 {
    private::switches() + vm().schedulers.iter().map(|s| s.switches.load(Ordering::Relaxed)).sum::<u64>()
}
pub fn total_reductions() -> u64 {
    private::reductions() + vm().schedulers.iter().map(|s| s.reductions.load(Ordering::Relaxed)).sum::<u64>()
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
    huge_pages::init(n);
    let dirty_online = vm.options.dirty_cpu_online;
    let threads = vm.options.schedulers + vm.options.dirty_cpu + vm.options.dirty_io;
    wall_time::init(threads);
    figures::init(threads);
    assert!(VM.set(vm).is_ok(), "scheduler initialised twice");
    dirty::set_online(dirty_online);
}

/// Starts all threads. Returns at once; the machine ends by `halt`.
pub fn start() {
    balance::tell();
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
        if !wake_partner(p) {
            enqueue(p);
        }
    }
}

/// A process that the running one wakes is next, if nobody else could run it sooner: see `partner`.
#[inline]
fn wake_partner(p: ProcRef) -> bool {
    let state = p.state.load();
    if !state.awaits() && !partner::is_calling() {
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
        && placement::home(&p).is_none()
        && state.queue_level() == Level::NORMAL
        && partner::IS_ON.load(Ordering::Relaxed);
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

/// A process has a reason to run, and somebody of this priority waits for it.
pub fn wake_for(p: ProcRef, asker: Priority) {
    match p.state.wake_for(asker) {
        Put::Enqueue => enqueue(p),
        Put::Again => {
            let index = queue_for(p);
            // On its own thread it is the next anyway.
            if let Some(scheduler) = vm().schedulers.get(index) {
                scheduler.queue.want(p.pid, asker);
                if index != CURRENT.get() {
                    wake_scheduler(index);
                }
            }
        }
        Put::Nothing => {}
    }
}

/// Puts a process whose QUEUED flag the caller set on a queue.
#[inline]
pub fn enqueue(p: ProcRef) {
    let index = CURRENT.get();
    match vm().schedulers.get(index) {
        // Mostly: nothing says where it is to go, and this scheduler keeps what it wakes.
        Some(me) if me.share.keeps_work() && placement::home(&p).is_none() => push(me, p),
        _ => enqueue_at(queue_for(p), p),
    }
}

/// On the queue of the calling scheduler.
#[inline]
fn push(me: &Scheduler, p: ProcRef) {
    // SAFETY: this is its owner's thread.
    if unsafe { me.queue.push(p, p.state.load().queue_level()) } && !wake_one() && balance::some_rest() && me.queue.len() >= BURST {
        wake_inactive();
    }
}

/// The same, on that of scheduler `index`.
pub(crate) fn enqueue_at(index: usize, p: ProcRef) {
    if index >= placement::MAX_SCHEDULERS {
        return private::bring(index, p);
    }
    let bound = placement::home(&p) == Some(index);
    let index = if bound { index } else { placement::instead_of(index) };
    let scheduler = &vm().schedulers[index];
    let level = p.state.load().queue_level();
    if index == CURRENT.get() {
        if !bound
            && let Some(to) = scheduler.share.target(index, level.class())
            && placement::instead_of(to) != index
        {
            return enqueue_at(to, p);
        }
        push(scheduler, p);
    } else {
        scheduler.queue.bring(p, level);
        // If its owner is busy, somebody else may come for it.
        if !wake_scheduler(index) && !bound && !wake_one() {
            wake_inactive();
        }
    }
}

/// The run queue that a process goes on.
fn queue_for(p: ProcRef) -> usize {
    let mine = CURRENT.get();
    if let Some(home) = placement::home(&p) {
        home
    } else if mine < online() && !placement::is_closed(mine) {
        mine
    } else {
        (p.last_scheduler.load(Ordering::Relaxed) as usize) % balance::active().max(1)
    }
}

/// Something was brought for a scheduler: false if it was not asleep.
pub(crate) fn wake_scheduler(index: usize) -> bool {
    let woken = vm().idle.wake(index);
    if woken {
        unpark(index);
    }
    woken
}

/// Has a scheduler go through `park` once more.
pub(crate) fn have_look(index: usize) {
    vm().schedulers[index].parker.unpark();
}

/// Has all others go through `park` once more.
pub(crate) fn wake_all_to_look() {
    let others = vm().schedulers.iter().enumerate().filter(|&(index, _)| index != CURRENT.get());
    others.for_each(|(_, scheduler)| scheduler.parker.unpark());
}

/// Wakes one active scheduler that is parked, unless somebody is looking for work already. Whether anybody comes.
#[inline]
fn wake_one() -> bool {
    let vm = vm();
    // The push comes before the looks at who looks for work and who sleeps.
    barrier::light();
    let looking = vm.spinning.load(Ordering::Relaxed);
    (looking != 0 || vm.idle.count() != 0) && wake_one_of(vm, looking)
}

#[cold]
fn wake_one_of(vm: &Vm, looking: usize) -> bool {
    if looking != 0 && vm.schedulers.get(CURRENT.get()).is_none_or(|me| me.queue.len() < BURST * looking) {
        return true;
    }
    let woken = vm.idle.wake_any(balance::active());
    if let Some(index) = woken {
        unpark(index);
    }
    woken.is_some()
}

/// So many on a queue are more than one who looks for work may be left to find: with fewer cores than schedulers it may not run.
const BURST: usize = 8;

/// The active ones have enough to do: one more is.
#[cold]
fn wake_inactive() {
    if let Some(index) = vm().idle.wake_any(online()) {
        balance::activate(index);
        unpark(index);
    }
}

/// Wakes who was taken out of the set of the idle.
fn unpark(index: usize) {
    record::event(record::Event::WakeUp(index));
    // Relaxed, here and where it is read: a number to go by.
    vm().coming.fetch_add(1, Ordering::Relaxed);
    vm().schedulers[index].parker.unpark();
}

fn scheduler_loop(index: usize) {
    CURRENT.set(index);
    crate::affinity::begins(index);
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
    let mut rounds = 0u32;
    let mut check = Check::default();
    let (mut busy, mut gives_way) = (false, false);
    let mut spin = true;
    loop {
        qsbr::quiescent();
        if standstill::is_wanted() {
            standstill::stand();
        }
        rounds = rounds.wrapping_add(1);
        // Timers: the clock is read every few rounds when busy.
        if rounds & 7 == 0 || me.queue.is_empty() {
            if std::mem::take(&mut gives_way) && !me.queue.is_empty() {
                // It ran one. Who was woken has no core yet: so that a burst reaches all soon, here is one.
                std::thread::yield_now();
            }
            let now = time::ticks_ms();
            if now >= next_timer_look {
                next_timer_look = now + timer::fire::due(&vm.wheels, 10).min(1);
            }
            if balance::by_utilisation() && now >= next_balance {
                next_balance = now + balance::utilisation::PERIOD_MS;
                balance::check_utilisation();
            }
        }
        let active = me.share.takes_work();
        if active && check.is_due(me.reductions.load(Ordering::Relaxed)) {
            balance::check(index);
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
            if vm.schedulers.len() > cores() {
                (gives_way, rounds) = (true, u32::MAX);
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
                let wait = timer::fire::due(&vm.wheels, 3_600_000);
                if wait > 0 && me.queue.is_empty() {
                    // Who only looks whether somebody needs help does not spin: that slows down those who work.
                    spin = park(index, wait);
                }
                next_timer_look = 0;
            }
        }
    }
}

/// With more schedulers than cores: who was woken comes before the caller runs what it found, so that a burst reaches all soon.
#[cold]
fn let_others_come(vm: &Vm) {
    for _ in 0..TURNS {
        if vm.coming.load(Ordering::Relaxed) <= 0 {
            return;
        }
        std::thread::yield_now();
    }
}

/// How often a scheduler gives its core away before it runs its first process: each turn may be a slice of the system's.
const TURNS: usize = 4;

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

/// Looks at the others' queues, for a while if it is to spin.
fn find_work(index: usize, spin: bool) -> Option<Next> {
    let vm = vm();
    let me = &vm.schedulers[index];
    let n = vm.schedulers.len();
    if n == 1 {
        return None;
    }
    figures::of(index).searches.add(1);
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
            if queue.len_for_others() != 1 || queue.taken.load(Ordering::Relaxed) != taken {
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
            match queue.len_for_others() {
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
        if n > cores() {
            // Spinning only takes time from those with work.
            std::thread::yield_now();
        }
        qsbr::quiescent();
        // Who blocks multi-scheduling waits for a quiescent state, after which nothing may be taken here.
        if !me.share.takes_work() {
            break;
        }
    }
    vm.spinning.fetch_sub(1, Ordering::SeqCst);
    if found.is_some() {
        // There may be more where that came from.
        fence(Ordering::SeqCst);
        if vm.schedulers.iter().any(|s| s.queue.len_for_others() >= 2) {
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
    *CORES.get_or_init(crate::affinity::processors)
}

fn take_from(index: usize, victim: usize) -> Option<Next> {
    let vm = vm();
    let me = &vm.schedulers[index];
    let mut stolen = vm.schedulers[victim].queue.steal(64, &me.queue).into_iter();
    let first = stolen.next()?;
    let mut count = 1;
    for p in stolen {
        // SAFETY: the thief is the owner of its own queue.
        unsafe { me.queue.push(p, p.state.load().queue_level()) };
        count += 1;
    }
    me.queue.hold(1);
    counted(&me.stolen, count);
    record::event(record::Event::Steal(victim, count as usize));
    Some(Next::Process(first))
}

/// Whether it is to run what is not placed on it.
pub(crate) fn takes_work(index: usize) -> bool {
    share(index).takes_work()
}

/// Sleeps until there is something to do. Whether there is, as far as this one knows.
fn park(index: usize, wait_ms: u64) -> bool {
    let vm = vm();
    let me = &vm.schedulers[index];
    me.parker.belongs_to_me();
    vm.idle.enter(index);
    // One more look: a pusher that did not see us among the idle pushed before this.
    let is_active = takes_work(index);
    // Of the inactive ones the first does: all of them would look a hundred times a second.
    let helps = index < online() && !placement::is_closed(index) && (is_active || index == balance::active() || placement::is_any_closed());
    let work = !me.queue.is_empty()
        || vm.wheels.is_brought(index)
        || (is_active && vm.schedulers.iter().any(|s| s.queue.len_for_others() >= 2))
        || standstill::is_wanted();
    let mut is_needed = work;
    if !work {
        let keeps_garbage = qsbr::tidy();
        qsbr::offline();
        // A lone process elsewhere may need help although nobody wakes us: look again soon while others are busy.
        let waiting = vm.schedulers.iter().find(|s| helps && s.queue.len_for_others() != 0);
        let taken = waiting.map(|s| s.queue.taken.load(Ordering::Relaxed));
        let ms = if waiting.is_some() { wait_ms.min(if is_active { 1 } else { STUCK_MS }) } else { wait_ms };
        let ms = give_back::before_sleep(ms, keeps_garbage);
        let told = system_profile::on(system_profile::SCHEDULERS);
        if told {
            system_profile::scheduler(index + 1, false);
        }
        msacc::sleep(true);
        figures::of(index).parks.add(1);
        record::event(record::Event::Park);
        let until = time::ticks_ms() + ms.max(1);
        me.parker.park(Duration::from_millis(ms.max(1)));
        record::event(record::Event::Unpark);
        msacc::sleep(false);
        // (Who was woken before looks again.)
        is_needed = time::ticks_ms() >= until
            && waiting.is_some_and(|s| s.queue.len_for_others() != 0 && Some(s.queue.taken.load(Ordering::Relaxed)) == taken);
        if is_needed && !is_active {
            balance::activate(index);
        }
        if told {
            system_profile::scheduler(index + 1, true);
        }
        qsbr::online();
    }
    let is_woken = vm.idle.leave(index);
    if is_woken {
        vm.coming.fetch_sub(1, Ordering::Relaxed);
    }
    figures::of(index).wake_ups.add(is_woken as u64);
    is_woken || is_needed
}

/// Makes a process runnable for the first time.
pub fn start_process(p: ProcRef) {
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

/// Runs `f` on a scheduler after so many milliseconds.
pub fn after(ms: u64, f: impl FnOnce() + Send + 'static) {
    let wheels = &vm().wheels;
    wheels.set(wheels.reserve(), time::ticks_ms() + ms + 1, Action::Run(Box::new(f)));
}

/// Which process the calling scheduler thread is running, and the function it was started with: for crash reports.
pub fn running() -> Option<(u64, heddle_term::code_cell::Mfa)> {
    let here = VM.get()?.schedulers.get(CURRENT.get()).map(|me| &me.current).or_else(private::current)?;
    let pid = here.load(Ordering::Relaxed).checked_sub(1)?;
    let p = crate::proctab::lookup(pid)?;
    // SAFETY: it runs on this thread, which therefore owns it.
    Some((pid, unsafe { p.local() }.initial_call))
}
