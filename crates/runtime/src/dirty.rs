//! Dirty threads: they run natives that take long or block, and long collections, one process each at a time.

use crate::msacc::{self, State};
use crate::process::{FLAG_DETACHED, Outcome, Priority, ProcRef, Process};
use crate::run_queue::Turns;
use crate::state::Put;
use crate::{long_gc, qsbr, sched, wall_time};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

/// Processes that run on dirty threads for CPU and for I/O.
static RUNNING: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];

pub fn running() -> [usize; 2] {
    [0, 1].map(|kind| RUNNING[kind].load(Ordering::Relaxed))
}

/// Who runs on each dirty thread: pid + 1, or 0.
static CURRENT: [AtomicU64; MAX_THREADS] = [const { AtomicU64::new(0) }; MAX_THREADS];
/// All schedulers of the three kinds that the command line allows.
const MAX_THREADS: usize = 3 * 1024;

/// Whether a dirty thread has taken the process: others wait for one.
pub fn is_running(pid: u64) -> bool {
    // Relaxed: it may change at any time anyway.
    CURRENT.iter().any(|current| current.load(Ordering::Relaxed) == pid + 1)
}

/// What waits for the dirty threads of a kind. They block for long: a lock is good enough.
#[derive(Default)]
pub struct DirtyQueue {
    waiting: Mutex<Waiting>,
    ready: Condvar,
}

#[derive(Default)]
struct Waiting {
    /// By priority.
    queues: [VecDeque<ProcRef>; 4],
    turns: Turns,
}

impl DirtyQueue {
    pub fn push(&self, p: ProcRef, priority: Priority) {
        self.waiting.lock().unwrap().queues[priority as usize].push_back(p);
        self.ready.notify_one();
    }

    pub fn count(&self) -> usize {
        self.waiting.lock().unwrap().queues.iter().map(VecDeque::len).sum()
    }

    /// Waits for one.
    fn take(&self) -> ProcRef {
        let mut waiting = self.waiting.lock().unwrap();
        loop {
            let Waiting { queues: [max, high, normal, low], turns } = &mut *waiting;
            let urgent = max.pop_front().or_else(|| high.pop_front());
            let p = urgent.or_else(|| if turns.is_low(normal.len(), low.len()) { low.pop_front() } else { normal.pop_front() });
            match p {
                Some(p) => return p,
                None => waiting = self.ready.wait(waiting).unwrap(),
            }
        }
    }
}

/// `id`: among those of its kind; `number`: among all scheduler threads.
pub fn run(kind: usize, id: usize, number: usize) {
    msacc::register(["dirty_cpu_scheduler", "dirty_io_scheduler"][kind], id);
    let mut engine = sched::become_dirty();
    let queue = sched::dirty_queue(kind);
    loop {
        let p = queue.take();
        wall_time::set_busy(number, true);
        msacc::sleep(false);
        msacc::enter(State::Emulator);
        RUNNING[kind].fetch_add(1, Ordering::Relaxed);
        CURRENT[number].store(p.pid + 1, Ordering::Relaxed);
        let guard = qsbr::guard();
        reattach(p);
        // SAFETY: the scheduler handed it to us with DIRTY set; we are its owner.
        let local = unsafe { p.local() };
        local.flags &= !FLAG_DETACHED;
        let outcome = if p.state.load().is_exiting() {
            Outcome::Exit
        } else if long_gc::is_due(local) {
            long_gc::run(local);
            Outcome::Yield
        } else {
            engine.run_dirty(local)
        };
        // It may have been ended while its native blocked.
        let outcome = if p.state.load().is_exiting() { Outcome::Exit } else { outcome };
        sched::switch_out(p, local, outcome);
        drop(guard);
        CURRENT[number].store(0, Ordering::Relaxed);
        RUNNING[kind].fetch_sub(1, Ordering::Relaxed);
        msacc::sleep(true);
        wall_time::set_busy(number, false);
    }
}

/// Runs `f` for a native on a dirty thread. `f` may block as long as it likes and looks at nothing that processes share: meanwhile
/// the schedulers handle the process' signals, and it may end, as seen by all others. Terms stay where they are.
pub fn detached<R>(p: &mut Process, f: impl FnOnce() -> R) -> R {
    if !sched::on_dirty_thread() {
        return f();
    }
    let shared = p.proc_ref();
    p.flags |= FLAG_DETACHED;
    if shared.state.detach() == Put::Enqueue {
        sched::enqueue(shared);
    }
    qsbr::offline();
    let result = f();
    qsbr::online();
    reattach(shared);
    p.flags &= !FLAG_DETACHED;
    result
}

/// Waits until nobody handles the signals of our process any more.
fn reattach(p: ProcRef) {
    while !p.state.attach() {
        std::thread::sleep(Duration::from_micros(20));
    }
}
