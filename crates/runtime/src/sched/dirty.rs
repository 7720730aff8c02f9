//! Dirty threads: they run natives that take long or block, and long collections, each thread for one process at a time.

use crate::base::qsbr;
use crate::heap::mode;
use crate::heap::private::long_gc;
use crate::observe::lock_order::Ordered;
use crate::observe::locks::LockClass;
use crate::observe::msacc::{self, ThreadState};
use crate::observe::{figures, wall_time};
use crate::process::state::QueueAction;
use crate::process::{FLAG_DETACHED, Outcome, ProcRef, Process};
use crate::sched;
use crate::sched::AtWork;
use crate::sched::EngineThread;
use crate::sched::dirty_queue::{DirtyQueue, Waiting};
use crate::sched::{blocking, private_threads, purge, run};
use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

/// The number of processes that run on dirty threads, for CPU and for I/O.
static RUNNING: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];

pub fn running() -> [usize; 2] {
    [0, 1].map(|kind| RUNNING[kind].load(Ordering::Relaxed))
}

/// Dirty CPU threads with greater numbers than this wait. Relaxed: a waiting thread reads it under the queue's lock, which is taken
/// after each change.
static ONLINE: AtomicUsize = AtomicUsize::new(usize::MAX);

/// The number of dirty CPU threads that are online.
pub fn online() -> usize {
    ONLINE.load(Ordering::Relaxed).min(sched::options().dirty_cpu)
}

fn is_online(kind: usize, id: usize) -> bool {
    kind == IO || id <= ONLINE.load(Ordering::Relaxed)
}

/// From now on `threads` dirty CPU threads are online; the others finish what they do first. Returns how many were online before.
pub fn set_online(threads: usize) -> usize {
    let before = ONLINE.swap(threads, Ordering::Relaxed);
    let queue = sched::dirty_queue(CPU);
    let _no_thread_is_between_look_and_sleep = LockClass::DirtyQueue.lock(&queue.waiting);
    queue.ready.notify_all();
    queue.more_online.notify_all();
    before
}

/// How many dirty CPU threads should be online for `schedulers` schedulers, where `before.1` were online for `before.0` of them,
/// and there are `all.1` threads for `all.0` schedulers: in proportion, and at least one. Computed in whole percent, as in ERTS,
/// whose numbers programs see.
pub fn online_for(schedulers: usize, before: (usize, usize), all: (usize, usize)) -> usize {
    let percent = schedulers * (all.1 * 100 / all.0) / before.0;
    (before.1 * percent / 100).clamp(1, all.1)
}

const CPU: usize = 0;
const IO: usize = 1;

/// The process on each dirty thread: pid + 1, or 0.
static CURRENT: [AtomicU64; MAX_THREADS] = [const { AtomicU64::new(0) }; MAX_THREADS];
/// All schedulers of the three kinds that the command line allows, and private threads.
const MAX_THREADS: usize = FIRST_PRIVATE + private_threads::MAX_THREADS;
/// The number of the first private thread.
pub(crate) const FIRST_PRIVATE: usize = 3 * 1024;

/// How many processes each thread has begun to serve.
static SERVED: [AtomicU64; MAX_THREADS] = [const { AtomicU64::new(0) }; MAX_THREADS];

/// What dirty thread `number` is working on, for the watch.
pub(crate) fn at_work(number: usize) -> Option<AtWork> {
    // Relaxed: read now and then, and need not be exact.
    let pid = CURRENT[number].load(Ordering::Relaxed).checked_sub(1)?;
    Some(AtWork { beat: SERVED[number].load(Ordering::Relaxed), pid: Some(pid) })
}

/// True if a dirty thread has taken the process; false while it waits for one.
pub(crate) fn is_running(pid: u64) -> bool {
    // Relaxed: the answer may change at any time anyway.
    CURRENT.iter().any(|current| current.load(Ordering::Relaxed) == pid + 1)
}

impl DirtyQueue {
    /// Waits until thread `id` is online and there is a process, and takes that.
    fn take(&self, kind: usize, id: usize) -> ProcRef {
        let mut waiting = LockClass::DirtyQueue.lock(&self.waiting);
        loop {
            if !is_online(kind, id) {
                if waiting.queues.iter().any(|queue| !queue.is_empty()) {
                    // The wake-up may have been meant for that process.
                    self.ready.notify_one();
                }
                let guard = waiting.into_guard();
                waiting = Ordered::new(LockClass::DirtyQueue, || self.more_online.wait(guard).unwrap());
                continue;
            }
            let Waiting { queues: [max, high, normal, low], turns } = &mut *waiting;
            let urgent = max.pop_front().or_else(|| high.pop_front());
            let p = urgent.or_else(|| if turns.is_low(normal.len(), low.len()) { low.pop_front() } else { normal.pop_front() });
            match p {
                Some(p) => return p,
                None => {
                    drop(waiting);
                    let limit = purge::while_idle(false);
                    waiting = LockClass::DirtyQueue.lock(&self.waiting);
                    if waiting.queues.iter().all(VecDeque::is_empty) {
                        let guard = waiting.into_guard();
                        waiting = Ordered::new(LockClass::DirtyQueue, || match limit {
                            None => self.ready.wait(guard).unwrap(),
                            Some(ms) => self.ready.wait_timeout(guard, Duration::from_millis(ms)).unwrap().0,
                        });
                    }
                }
            }
        }
    }
}

thread_local! {
    static KIND: Cell<Option<usize>> = const { Cell::new(None) };
    /// Of a dirty thread: its number among all scheduler threads.
    static NUMBER: Cell<Option<usize>> = const { Cell::new(None) };
}

/// The process on the calling dirty thread.
pub(super) fn here() -> Option<u64> {
    // Relaxed: this thread wrote it.
    CURRENT[NUMBER.get()?].load(Ordering::Relaxed).checked_sub(1)
}

/// The kind of dirty thread that the caller is: 0 for computations, 1 for input and output; None on other threads.
pub fn kind() -> Option<usize> {
    KIND.get().or_else(|| sched::on_dirty_thread().then_some(CPU))
}

/// The loop of a dirty thread. `id`: its number among those of its kind; `number`: among all scheduler threads.
pub(crate) fn run(kind: usize, id: usize, number: usize) {
    figures::register(number);
    msacc::register(["dirty_cpu_scheduler", "dirty_io_scheduler"][kind], id);
    sched::set_dirty(true);
    KIND.set(Some(kind));
    NUMBER.set(Some(number));
    let mut engine = sched::new_engine();
    let queue = sched::dirty_queue(kind);
    loop {
        let p = queue.take(kind, id);
        let _turn = blocking::for_dirty();
        wall_time::set_busy(number, true);
        msacc::sleep(false);
        msacc::enter(ThreadState::Emulator);
        let guard = qsbr::guard();
        mode::enter();
        let outcome = serve(engine.as_mut(), p, kind, number);
        // SAFETY: the scheduler handed the process to us with DIRTY set, so we own it until it is let go.
        let local = unsafe { p.local() };
        sched::switch_out(p, local, outcome);
        mode::leave();
        // The thread looks at no shared data any more. What may not be freed yet is left to other threads when the guard is
        // dropped.
        qsbr::tidy();
        drop(guard);
        msacc::sleep(true);
        wall_time::set_busy(number, false);
    }
}

/// Does what a process needs a dirty thread for. The process is DIRTY and DETACHED, and was handed to the calling thread.
pub(crate) fn serve(engine: &mut dyn EngineThread, p: ProcRef, kind: usize, number: usize) -> Outcome {
    RUNNING[kind].fetch_add(1, Ordering::Relaxed);
    CURRENT[number].store(p.pid + 1, Ordering::Relaxed);
    // No read-modify-write: only this thread writes it.
    SERVED[number].store(SERVED[number].load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    reattach(p);
    // SAFETY: the process was handed to us, so we own it.
    let local = unsafe { p.local() };
    local.flags &= !FLAG_DETACHED;
    let outcome = if p.state.load().is_exiting() {
        Outcome::Exit
    } else if p.is_halted() {
        Outcome::Suspended
    } else if long_gc::is_due(local) {
        long_gc::run(local);
        Outcome::Yield
    } else {
        run::report_switch(local, "in");
        let outcome = engine.run_dirty(local);
        if outcome != Outcome::Exit && !p.state.load().is_exiting() {
            run::report_switch(local, "out");
        }
        outcome
    };
    CURRENT[number].store(0, Ordering::Relaxed);
    RUNNING[kind].fetch_sub(1, Ordering::Relaxed);
    // The process may have been ended while its native blocked.
    if p.state.load().is_exiting() { Outcome::Exit } else { outcome }
}

/// Runs `f` for a native on a dirty thread. `f` may block for any time, and must not look at data that processes share: meanwhile
/// the schedulers handle the process's signals, and all others may see it end. Terms stay where they are.
pub fn detached<R>(p: &mut Process, f: impl FnOnce() -> R) -> R {
    if !sched::on_dirty_thread() {
        return private_threads::out_of_sight(f);
    }
    let shared_part = p.proc_ref();
    p.flags |= FLAG_DETACHED;
    shared_part.begin_handling();
    if shared_part.state.detach() == QueueAction::Enqueue {
        sched::enqueue(shared_part);
    }
    if p.heap.lends_terms() {
        // Its arguments were too large to be copied (`shared::safe_region`), so collections of the shared heap wait for `f`.
        let result = f();
        reattach(shared_part);
        p.flags &= !FLAG_DETACHED;
        return result;
    }
    qsbr::offline_for_long();
    let result = f();
    qsbr::online();
    reattach(shared_part);
    p.flags &= !FLAG_DETACHED;
    result
}

/// Waits until no other thread handles the signals of our process.
fn reattach(p: ProcRef) {
    while !p.state.attach() {
        qsbr::while_others_go(|| std::thread::sleep(Duration::from_micros(20)));
    }
}

#[cfg(test)]
mod tests {
    use super::online_for;

    /// What stock does with `+S 8:8` and two dirty threads, one setting after the other.
    #[test]
    fn as_many_as_schedulers_in_proportion() {
        let mut now = (8, 2);
        for (schedulers, online) in [(4, 1), (8, 1), (1, 1), (8, 2), (4, 1), (2, 1), (8, 1), (6, 1)] {
            now = (schedulers, online_for(schedulers, now, (8, 2)));
            assert_eq!(now.1, online, "{schedulers}");
        }
        assert_eq!(online_for(4, (8, 8), (8, 8)), 4);
        assert_eq!(online_for(8, (1, 1), (8, 8)), 8);
        assert_eq!(online_for(2, (1, 64), (64, 64)), 64);
    }
}
