//! Private threads: one process has a thread of its own (seed 004 §5.2.5, 5.2.8), which is in no balance and takes nobody else. What
//! blocks there delays only that process: natives that want a dirty thread run on it as well.
//!
//! To all others such a process is one whose run queue is elsewhere: who makes it runnable brings it here instead (`sched::enqueue_at`)
//! and wakes the thread. State, signals and order are those of every process. It gets its thread (`start`) before it is placed on
//! it, by its own doing (`placement::change`); when it is placed elsewhere or ends, the thread ends. Entries that come after that, or
//! lie here from before, are brought where they belong.
//!
//! `Thread`s are found by place. Who looks one up is in a window of `qsbr`, as it holds a process; so one that ended is freed, and its
//! place given to another, when nobody can still bring anything to it.

use crate::inbox::Arrived;
use crate::process::{FLAG_DETACHED, Outcome, ProcRef};
use crate::sched::{self, EngineThread};
use crate::state::{Put, Taken};
use crate::trace::events;
use crate::{affinity, dirty, give_back, long_gc, placement, qsbr, shared, standstill};
use heddle_sync::stack::Stack;
use std::cell::Cell;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering, fence};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

/// Most private threads at a time: they share `thread_slot::MAX` with all others.
pub const MAX_THREADS: usize = 512;

struct Thread {
    /// What is to be run, or only to be looked at.
    entries: Stack<ProcRef>,
    thread: OnceLock<std::thread::Thread>,
    /// No process is placed here any more. Release by who took it away, Acquire by the thread.
    is_over: AtomicBool,
    /// The thread looks at no entries any more: SeqCst with those, see `bring`.
    is_gone: AtomicBool,
    /// It runs a process, and was not told to stop: SeqCst with the wish for a standstill, each side writes before it looks.
    runs: AtomicBool,
    /// Running process' pid + 1, or 0.
    current: AtomicU64,
}

static THREADS: [AtomicPtr<Thread>; MAX_THREADS] = [const { AtomicPtr::new(null_mut()) }; MAX_THREADS];
static FREE: Mutex<Vec<usize>> = Mutex::new(Vec::new());
/// Places given out so far.
static USED: AtomicUsize = AtomicUsize::new(0);
static COUNT: AtomicUsize = AtomicUsize::new(0);
static REDUCTIONS: AtomicU64 = AtomicU64::new(0);
static SWITCHES: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// The calling thread's place, if it is a private one.
    static ME: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Why there is no thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refused {
    /// There are `MAX_THREADS`.
    TooMany,
    /// The operating system gives none.
    System,
}

/// By index; None if it is gone.
fn thread(index: usize) -> Option<&'static Thread> {
    // Acquire: pairs with the Release that makes it known.
    let ptr = THREADS[index - placement::MAX_SCHEDULERS].load(Ordering::Acquire);
    // SAFETY: it is freed when nobody who looked it up before it was taken from there is in that window any more (see the top).
    unsafe { ptr.as_ref() }
}

fn threads() -> impl Iterator<Item = (usize, &'static Thread)> {
    let used = USED.load(Ordering::Acquire);
    (placement::MAX_SCHEDULERS..placement::MAX_SCHEDULERS + used).filter_map(|index| thread(index).map(|thread| (index, thread)))
}

/// How many there are.
pub fn count() -> usize {
    COUNT.load(Ordering::Relaxed)
}
pub(crate) fn reductions() -> u64 {
    REDUCTIONS.load(Ordering::Relaxed)
}
pub(crate) fn switches() -> u64 {
    SWITCHES.load(Ordering::Relaxed)
}

/// The number of a thread among scheduler threads: after all of them.
pub fn id(index: usize) -> usize {
    let options = sched::options();
    options.schedulers + options.dirty_cpu + options.dirty_io + index - placement::MAX_SCHEDULERS + 1
}
pub(crate) fn current_id() -> Option<usize> {
    ME.get().map(id)
}
/// What the calling thread runs, if it is a private one.
pub(crate) fn current() -> Option<&'static AtomicU64> {
    ME.get().and_then(thread).map(|me| &me.current)
}

/// A new thread, for a process that is about to be placed there (`Place::Private`) or `end`s it.
pub fn start() -> Result<usize, Refused> {
    let slot = {
        let mut free = FREE.lock().unwrap();
        match free.pop() {
            Some(slot) => slot,
            None => {
                let slot = USED.load(Ordering::Relaxed);
                if slot == MAX_THREADS {
                    return Err(Refused::TooMany);
                }
                USED.store(slot + 1, Ordering::Release);
                slot
            }
        }
    };
    let index = placement::MAX_SCHEDULERS + slot;
    let thread = Box::into_raw(Box::new(Thread {
        entries: Stack::default(),
        thread: OnceLock::new(),
        is_over: AtomicBool::new(false),
        is_gone: AtomicBool::new(false),
        runs: AtomicBool::new(false),
        current: AtomicU64::new(0),
    }));
    THREADS[slot].store(thread, Ordering::Release);
    COUNT.fetch_add(1, Ordering::Relaxed);
    let started = std::thread::Builder::new().name(format!("private {}", slot + 1)).stack_size(STACK_BYTES).spawn(move || run(index));
    match started {
        Ok(handle) => {
            // SAFETY: it goes after `is_over` was set, by our caller or the process that it hands it to.
            let _ = unsafe { &*thread }.thread.set(handle.thread().clone());
            Ok(index)
        }
        Err(_) => {
            COUNT.fetch_sub(1, Ordering::Relaxed);
            forget(index);
            Err(Refused::System)
        }
    }
}

/// As schedulers have.
const STACK_BYTES: usize = 4 << 20;

/// Nobody is placed there any more: the thread ends when it has put down what it runs.
pub fn end(index: usize) {
    let Some(thread) = thread(index) else { return };
    thread.is_over.store(true, Ordering::Release);
    wake(thread);
}

fn wake(thread: &Thread) {
    // None: it is not started yet, and nobody is placed there before it is.
    if let Some(thread) = thread.thread.get() {
        thread.unpark();
    }
}

/// Puts a process whose QUEUED flag the caller set on the queue of a private thread.
#[cold]
pub(crate) fn bring(index: usize, p: ProcRef) {
    let Some(thread) = thread(index) else { return sched::enqueue_at(0, p) };
    thread.entries.push(p);
    // Either the thread's last look finds the entry, or we find that it has looked.
    fence(Ordering::SeqCst);
    if thread.is_gone.load(Ordering::SeqCst) {
        pass_on(thread);
    } else if ME.get() != Some(index) {
        wake(thread);
    }
}

/// Brings elsewhere what came too late.
fn pass_on(thread: &Thread) {
    for p in thread.entries.take() {
        sched::enqueue(p);
    }
}

/// The place is free when nobody can still hold the thread.
fn forget(index: usize) {
    let slot = index - placement::MAX_SCHEDULERS;
    let ptr = THREADS[slot].swap(null_mut(), Ordering::AcqRel) as usize;
    qsbr::retire(move || {
        // SAFETY: made by `start`, taken from the table once, and nobody who found it there can still hold it.
        drop(unsafe { Box::from_raw(ptr as *mut Thread) });
        FREE.lock().unwrap().push(slot);
    });
}

fn run(index: usize) {
    ME.set(Some(index));
    affinity::free();
    qsbr::online();
    let me = thread(index).expect("a thread that begins");
    let _ = me.thread.set(std::thread::current());
    let mut engine = sched::new_engine();
    loop {
        qsbr::quiescent();
        if shared::world::is_wanted() {
            shared::world::come_in();
        }
        let entries = me.entries.take();
        for &p in &entries {
            take(engine.as_mut(), p, me, index);
        }
        // Acquire: whoever ended it placed the process elsewhere before.
        if me.is_over.load(Ordering::Acquire) {
            break;
        }
        if entries.is_empty() {
            let keeps_garbage = qsbr::tidy();
            qsbr::offline();
            // An `unpark` since the last sleep makes this return at once, so what came since `take` is found.
            match give_back::while_idle(keeps_garbage) {
                None => std::thread::park(),
                Some(ms) => std::thread::park_timeout(Duration::from_millis(ms)),
            }
            qsbr::online();
        }
    }
    drop(engine);
    me.is_gone.store(true, Ordering::SeqCst);
    fence(Ordering::SeqCst);
    pass_on(me);
    COUNT.fetch_sub(1, Ordering::Relaxed);
    forget(index);
    qsbr::end();
}

/// As `sched::take`.
fn take(engine: &mut dyn EngineThread, p: ProcRef, me: &Thread, index: usize) {
    come_in_sight(me);
    match p.state.start_running() {
        Taken::Run(arrived) => run_process(engine, p, arrived, me, index),
        Taken::Signals(arrived) => sched::handle_signals(p, arrived),
        Taken::Nothing => {}
        // SAFETY: it left the process table, and this was the last entry on any run queue: nobody else retires it.
        Taken::Free => unsafe { qsbr::retire_process(p) },
    }
    me.runs.store(false, Ordering::SeqCst);
}

fn run_process(engine: &mut dyn EngineThread, p: ProcRef, arrived: Arrived, me: &Thread, index: usize) {
    SWITCHES.fetch_add(1, Ordering::Relaxed);
    me.current.store(p.pid + 1, Ordering::Relaxed);
    // SAFETY: we took it from the queue and set RUNNING, so we are its owner.
    let local = unsafe { p.local() };
    if events::on(&p, sched::SWITCHES) {
        sched::switched_in(local);
    }
    let mut outcome = if let Some(outcome) = sched::instead_of_slice(p, local, arrived, index) {
        outcome
    } else {
        let (out, used) = sched::run_slice(engine, local);
        REDUCTIONS.fetch_add(used, Ordering::Relaxed);
        out
    };
    let waits = matches!(outcome, Outcome::Yield | Outcome::Wait | Outcome::Suspended);
    if waits && long_gc::is_due(local) && !placement::is_elsewhere(&p, index) {
        outcome = long_gc::behind_slice(local);
    }
    me.current.store(0, Ordering::Relaxed);
    if events::on(&p, sched::SWITCHES) {
        sched::switched_out(local, outcome);
    }
    while let Outcome::DirtyCpu | Outcome::DirtyIo = outcome {
        outcome = run_dirty(engine, p, me, index, (outcome == Outcome::DirtyIo) as usize);
    }
    sched::switch_out(p, local, outcome);
}

/// What a dirty thread would do for it, here. Meanwhile schedulers handle its signals where a dirty native lets them.
#[cold]
fn run_dirty(engine: &mut dyn EngineThread, p: ProcRef, me: &Thread, index: usize, kind: usize) -> Outcome {
    // SAFETY: we still are its owner: RUNNING.
    unsafe { p.local() }.flags |= FLAG_DETACHED;
    p.begin_handling();
    if p.state.go_dirty() == Put::Enqueue {
        sched::enqueue(p);
    }
    // As with a dirty thread, a standstill does not wait for this.
    me.runs.store(false, Ordering::SeqCst);
    sched::set_dirty(true);
    let outcome = dirty::serve(engine, p, kind, dirty::FIRST_PRIVATE + index - placement::MAX_SCHEDULERS);
    sched::set_dirty(false);
    outcome
}

/// Waits while all are to stand still.
fn come_in_sight(me: &Thread) {
    loop {
        me.runs.store(true, Ordering::SeqCst);
        if !standstill::is_wanted() {
            return;
        }
        me.runs.store(false, Ordering::SeqCst);
        standstill::wait_until_over();
    }
}

/// Whether private threads other than the calling one run processes.
pub(crate) fn others_run() -> bool {
    let me = ME.get();
    count() > 0 && threads().any(|(index, thread)| Some(index) != me && thread.runs.load(Ordering::SeqCst))
}

/// Runs `f`, which may block and looks at nothing that is shared: on a private thread nobody waits for it meanwhile.
pub(crate) fn out_of_sight<R>(f: impl FnOnce() -> R) -> R {
    let Some(me) = ME.get().and_then(thread) else { return f() };
    me.runs.store(false, Ordering::SeqCst);
    qsbr::offline_for_long();
    let result = f();
    qsbr::online();
    come_in_sight(me);
    result
}
