//! The table of schedulers, and what their threads share.

use super::balance::share::Share;
use super::dirty_queue::DirtyQueue;
use super::run_queue::RunQueue;
use crate::base::parker::Parker;
use crate::base::place::MAX_SCHEDULERS;
use crate::process::{Outcome, Process};
use crate::timer::Wheels;
use heddle_sync::idle::IdleSet;
use heddle_term::{Atom, Mfa};
use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicIsize, AtomicU64, AtomicUsize, Ordering};

/// What runs processes, and knows its code. Implemented by the engine. What the runtime asks of the natives is
/// [`Host`](crate::process::host::Host).
pub trait Engine: Send + Sync {
    /// Per-thread state (register file).
    fn new_thread(&self) -> Box<dyn EngineThread>;
    /// The native whose own code the process stands at. The calling thread may look at its `ip`.
    fn native_of(&self, p: &Process) -> Option<Mfa>;
    /// The native whose own code is at this cell, which may be any address: only addresses are compared.
    fn native_with_code(&self, cell: *const u64) -> Option<Mfa>;
    /// True if the process may run old code of the module, now or when it returns.
    fn uses_old_code(&self, p: &Process, module: Atom) -> bool;
}

pub trait EngineThread {
    /// Runs `p` for `reductions` or until it waits or ends. Signals were handled before.
    fn run(&mut self, p: &mut Process, reductions: i64) -> (Outcome, i64);
    /// Runs the native that `p` wants to run dirty.
    fn run_dirty(&mut self, p: &mut Process) -> Outcome;
}

/// How many threads of each kind there are, and how many of them are online at first.
pub struct ThreadCounts {
    pub schedulers: usize,
    pub online: usize,
    pub dirty_cpu: usize,
    pub dirty_cpu_online: usize,
    pub dirty_io: usize,
}

pub(super) struct Scheduler {
    pub(super) queue: RunQueue,
    pub(super) share: Share,
    pub(super) parker: Parker,
    /// Reductions done, context switches: for statistics.
    pub(super) reductions: AtomicU64,
    pub(super) switches: AtomicU64,
    pub(super) stolen: AtomicU64,
    /// Running process' pid + 1, or 0.
    pub(super) current: AtomicU64,
}

pub(super) struct Vm {
    pub(super) schedulers: Vec<Scheduler>,
    pub(super) wheels: Wheels,
    pub(super) engine: Box<dyn Engine>,
    pub(super) dirty: [DirtyQueue; 2],
    pub(super) options: ThreadCounts,
    pub(super) idle: IdleSet,
    pub(super) spinning: AtomicUsize,
    /// Woken, and neither at work nor back to sleep yet: they may have no core. Below 0 for a moment where one is there before it is
    /// counted.
    pub(super) coming: AtomicIsize,
}

pub(super) static VM: OnceLock<Vm> = OnceLock::new();

thread_local! {
    pub(super) static CURRENT: Cell<usize> = const { Cell::new(usize::MAX) };
    /// The calling thread's place, if it is a private one.
    pub(super) static PRIVATE: Cell<Option<usize>> = const { Cell::new(None) };
    pub(super) static DIRTY: Cell<bool> = const { Cell::new(false) };
}

pub(super) fn vm() -> &'static Vm {
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
pub fn engine() -> &'static dyn Engine {
    &*vm().engine
}
/// What runs processes on the calling thread, which is no scheduler.
pub(crate) fn new_engine() -> Box<dyn EngineThread> {
    vm().engine.new_thread()
}
pub(crate) fn set_dirty(is_dirty: bool) {
    DIRTY.set(is_dirty);
}
pub fn options() -> &'static ThreadCounts {
    &vm().options
}
/// True on a thread that runs processes and is no dirty one.
pub fn on_scheduler() -> bool {
    !DIRTY.get() && (CURRENT.get() != usize::MAX || PRIVATE.get().is_some())
}
/// True on a dirty thread: natives that asked to go there may block now.
pub fn on_dirty_thread() -> bool {
    DIRTY.get()
}
pub fn count() -> usize {
    VM.get().map_or(0, |vm| vm.schedulers.len())
}
/// 1-based, as `system_info(scheduler_id)`; private threads come after all others.
pub fn current_id() -> usize {
    let id = CURRENT.get();
    if id == usize::MAX { PRIVATE.get().map_or(1, id_of_private) } else { id + 1 }
}
/// The number of a private thread among scheduler threads: private ones follow all others.
pub fn id_of_private(index: usize) -> usize {
    let options = options();
    options.schedulers + options.dirty_cpu + options.dirty_io + index - MAX_SCHEDULERS + 1
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
/// Context switches, reductions and stolen processes of one scheduler.
pub fn counts(index: usize) -> [u64; 3] {
    let s = &vm().schedulers[index];
    [&s.switches, &s.reductions, &s.stolen].map(|figure| figure.load(Ordering::Relaxed))
}
pub fn timers() -> &'static Wheels {
    &vm().wheels
}

/// The work that a thread has in hand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct AtWork {
    /// A different number for each entry that the thread takes.
    pub beat: u64,
    /// None: the thread is not in a slice.
    pub pid: Option<u64>,
}
