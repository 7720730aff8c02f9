//! Private threads: a process may have a thread of its own (Hedqvist, "A Parallel and Multithreaded ERLANG Implementation", 1998,
//! sections 5.2.5 and 5.2.8), which is not balanced and runs no other process. What blocks there delays only that process: natives
//! that want a dirty thread run on it as well.
//!
//! To all others such a process is one whose run queue is elsewhere: a thread that makes it runnable brings it here
//! (`sched::enqueue_at`) and wakes the private thread. State, signals and order are those of every process. The process starts the
//! thread (`start`), and then changes its placement to it (`placement::change`); when it is placed elsewhere or ends, the thread
//! ends. Entries that arrive after that, or are here from before, are sent where they belong.
//!
//! A `Thread` is found by its place. A caller that looks one up is in a window of `qsbr`, as it holds a process. So a thread that
//! ended is freed, and its place reused, when no caller can still bring anything to it.

use crate::base::stop_requests;
use crate::base::{affinity, qsbr};
use crate::heap::private::long_gc;
use crate::heap::shared;
use crate::process::state::{QueueAction, Taken};
use crate::process::{FLAG_DETACHED, Outcome, ProcRef};
use crate::sched::table::PRIVATE;
use crate::sched::{self, EngineThread};
use crate::sched::{dirty, home, purge};
use crate::signal::inbox::Arrived;
use crate::trace::events;
use heddle_sync::stack::Stack;

use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering, fence};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

/// Maximum private threads at a time: they share `thread_slot::MAX` with all other threads.
pub(crate) const MAX_THREADS: usize = 512;

struct Thread {
    /// Processes to run, or whose entries only need to be taken.
    entries: Stack<ProcRef>,
    thread: OnceLock<std::thread::Thread>,
    /// No process is placed here any more. Release by the thread that changes the placement, Acquire by this one.
    is_over: AtomicBool,
    /// The thread takes no entries any more: SeqCst with those, see `bring`.
    is_gone: AtomicBool,
    /// True while the thread runs a process and has not stopped. SeqCst with the wish to stop the world: each side writes before it
    /// reads.
    runs: AtomicBool,
    /// The running process's pid + 1, or 0.
    current: AtomicU64,
}

/// Release in `start`, AcqRel in `forget`, Acquire in `thread`: the thread that is seen is complete.
static THREADS: [AtomicPtr<Thread>; MAX_THREADS] = [const { AtomicPtr::new(null_mut()) }; MAX_THREADS];
static FREE: Mutex<Vec<usize>> = Mutex::new(Vec::new());
/// Places given out so far. Release in `start`, Acquire in `threads`.
static USED: AtomicUsize = AtomicUsize::new(0);
static COUNT: AtomicUsize = AtomicUsize::new(0);
static REDUCTIONS: AtomicU64 = AtomicU64::new(0);
static SWITCHES: AtomicU64 = AtomicU64::new(0);

/// Why a thread was refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refused {
    /// There are `MAX_THREADS` already.
    TooMany,
    /// The operating system refuses to start one.
    System,
}

/// The thread at a place; None if it has ended.
fn thread(index: usize) -> Option<&'static Thread> {
    // Acquire: pairs with the Release that makes it known.
    let ptr = THREADS[index - crate::base::place::MAX_SCHEDULERS].load(Ordering::Acquire);
    // SAFETY: it is freed when every caller that found it before it was removed from the table has left its window of `qsbr` (see
    // the top).
    unsafe { ptr.as_ref() }
}

fn threads() -> impl Iterator<Item = (usize, &'static Thread)> {
    let used = USED.load(Ordering::Acquire);
    (crate::base::place::MAX_SCHEDULERS..crate::base::place::MAX_SCHEDULERS + used)
        .filter_map(|index| thread(index).map(|thread| (index, thread)))
}

/// The number of private threads.
pub fn count() -> usize {
    COUNT.load(Ordering::Relaxed)
}
pub(crate) fn reductions() -> u64 {
    REDUCTIONS.load(Ordering::Relaxed)
}
pub(crate) fn switches() -> u64 {
    SWITCHES.load(Ordering::Relaxed)
}

/// The pid + 1 that the calling thread runs, if it is a private one.
pub(crate) fn current() -> Option<&'static AtomicU64> {
    PRIVATE.get().and_then(thread).map(|me| &me.current)
}

/// Starts a thread. The calling process will be placed there (`Place::Private`), or must `end` it.
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
    let index = crate::base::place::MAX_SCHEDULERS + slot;
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
            // SAFETY: the thread's record is freed only after `end` has set `is_over`. The calling process does that later, or the process that
            // it places on the thread does.
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

/// As large as a scheduler's.
const STACK_BYTES: usize = 4 << 20;

/// No process is placed there any more: the thread ends when it has put down the process it runs.
pub fn end(index: usize) {
    let Some(thread) = thread(index) else { return };
    thread.is_over.store(true, Ordering::Release);
    wake(thread);
}

fn wake(thread: &Thread) {
    // None: the thread has not started, and no process is placed there before it has.
    if let Some(thread) = thread.thread.get() {
        thread.unpark();
    }
}

/// Puts a process whose QUEUED flag the caller set on the queue of a private thread.
#[cold]
pub(crate) fn bring(index: usize, p: ProcRef) {
    let Some(thread) = thread(index) else { return sched::enqueue_at(0, p) };
    thread.entries.push(p);
    // SeqCst: pairs with the fence at the end of `run`. Either the thread's last look finds the entry, or this one finds that it has looked.
    fence(Ordering::SeqCst);
    if thread.is_gone.load(Ordering::SeqCst) {
        pass_on(thread);
    } else if PRIVATE.get() != Some(index) {
        wake(thread);
    }
}

/// Sends entries that came too late where they belong.
fn pass_on(thread: &Thread) {
    for p in thread.entries.take() {
        sched::enqueue(p);
    }
}

/// Frees the place when no caller can still hold the thread.
fn forget(index: usize) {
    let slot = index - crate::base::place::MAX_SCHEDULERS;
    let ptr = THREADS[slot].swap(null_mut(), Ordering::AcqRel) as usize;
    qsbr::retire(move || {
        // SAFETY: made by `start`, taken from the table once, and no caller that found it there can still hold it.
        drop(unsafe { Box::from_raw(ptr as *mut Thread) });
        FREE.lock().unwrap().push(slot);
    });
}

fn run(index: usize) {
    PRIVATE.set(Some(index));
    affinity::free();
    qsbr::online();
    let me = thread(index).expect("a thread that begins");
    let _ = me.thread.set(std::thread::current());
    let mut engine = sched::new_engine();
    loop {
        qsbr::quiescent();
        if shared::safepoint::is_wanted() {
            shared::safepoint::stop();
        }
        let entries = me.entries.take();
        for &p in &entries {
            take(engine.as_mut(), p, me, index);
        }
        // Acquire: the thread that set it changed the placement before.
        if me.is_over.load(Ordering::Acquire) {
            break;
        }
        if entries.is_empty() {
            let keeps_garbage = qsbr::tidy();
            qsbr::offline();
            // An `unpark` since the last sleep makes this return at once, so an entry that came since `take` is found.
            match purge::while_idle(keeps_garbage) {
                None => std::thread::park(),
                Some(ms) => std::thread::park_timeout(Duration::from_millis(ms)),
            }
            qsbr::online();
        }
    }
    drop(engine);
    me.is_gone.store(true, Ordering::SeqCst);
    // SeqCst: pairs with the fence in `bring`.
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
        // SAFETY: it left the process table, and this was the last entry on any run queue, so no other thread retires it.
        Taken::Free => unsafe { crate::process::retire(p) },
    }
    me.runs.store(false, Ordering::SeqCst);
}

fn run_process(engine: &mut dyn EngineThread, p: ProcRef, arrived: Arrived, me: &Thread, index: usize) {
    SWITCHES.fetch_add(1, Ordering::Relaxed);
    me.current.store(p.pid + 1, Ordering::Relaxed);
    // SAFETY: we took it from the queue and set RUNNING, so we own it.
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
    if waits && long_gc::is_due(local) && !home::is_elsewhere(&p, index) {
        outcome = long_gc::after_slice(local);
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

/// Does here what a dirty thread would do for the process. Meanwhile schedulers handle its signals where a dirty native allows it.
#[cold]
fn run_dirty(engine: &mut dyn EngineThread, p: ProcRef, me: &Thread, index: usize, kind: usize) -> Outcome {
    // SAFETY: we still own it: it is RUNNING.
    unsafe { p.local() }.flags |= FLAG_DETACHED;
    p.begin_handling();
    if p.state.go_dirty() == QueueAction::Enqueue {
        sched::enqueue(p);
    }
    // As with a dirty thread, stopping the world does not wait for this.
    me.runs.store(false, Ordering::SeqCst);
    sched::set_dirty(true);
    let outcome = dirty::serve(engine, p, kind, dirty::FIRST_PRIVATE + index - crate::base::place::MAX_SCHEDULERS);
    sched::set_dirty(false);
    outcome
}

/// Waits while the world must be stopped.
fn come_in_sight(me: &Thread) {
    loop {
        me.runs.store(true, Ordering::SeqCst);
        if !stop_requests::is_stop_wanted() {
            return;
        }
        me.runs.store(false, Ordering::SeqCst);
        stop_requests::wait_until_over();
    }
}

/// True if private threads other than the calling one run processes.
pub(crate) fn others_run() -> bool {
    let me = PRIVATE.get();
    count() > 0 && threads().any(|(index, thread)| Some(index) != me && thread.runs.load(Ordering::SeqCst))
}

/// Runs `f`, which may block and looks at no shared data: if this is a private thread, no other thread waits for it meanwhile.
pub(crate) fn out_of_sight<R>(f: impl FnOnce() -> R) -> R {
    let Some(me) = PRIVATE.get().and_then(thread) else { return f() };
    me.runs.store(false, Ordering::SeqCst);
    qsbr::offline_for_long();
    let result = f();
    qsbr::online();
    come_in_sight(me);
    result
}
