//! Stops the world for collections of the shared heap: they run while no thread accesses a process.
//!
//! A thread that has a process, or may take one, is *inside*, and says so on a cache line of its own. It leaves to sleep, to wait for
//! others, and while a native of a process blocks (`qsbr::offline`, `safe_region`). It stops at *safepoints*: between two processes, and
//! where a process needs room (`shared::collect`), when everything that the process refers to is in its roots.
//!
//! A request for a collection sets `WANTED`, which schedulers check between two processes. A thread that stops at a safepoint leaves, and
//! waits until the collection is over. A waiting thread that finds no thread inside runs it. A thread that enters checks `WANTED` after it
//! said that it is inside, and the collector reads the lines after `WANTED` was set. So at least one of the two sees the other.

use super::chunk::Trailer;
use super::pieces::Piece;
use super::{collection, nursery};
use crate::base::stop_requests;
use crate::base::{affinity, cycles, qsbr};
use crate::sched;
use heddle_abi::settings::SETTINGS;
use heddle_sync::thread_slot::{self, Slot};
use std::cell::Cell;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

/// What each thread publishes for the collector.
#[repr(align(128))]
pub(super) struct Line {
    /// SeqCst, paired with `WANTED`: see the module's text.
    inside: AtomicBool,
    /// Blocks of processes that ended on this thread. Written by the thread while it is inside, and by the collector while no thread is.
    pub(super) orphans: AtomicPtr<Trailer>,
    /// Words given to processes and not yet added to the sum of all threads. Written by the thread alone, and by the collector while the
    /// world is stopped.
    pub(super) unreported_words: AtomicUsize,
}

static LINES: [Line; thread_slot::MAX] =
    [const { Line { inside: AtomicBool::new(false), orphans: AtomicPtr::new(null_mut()), unreported_words: AtomicUsize::new(0) } };
        thread_slot::MAX];

thread_local! {
    static SLOT: Slot = Slot::mine();
    /// How many `Hold`s the calling thread has. While it has one it accesses a process in the middle of a native of another, so nothing may
    /// move.
    static HOLDS: Cell<u32> = const { Cell::new(0) };
}

/// The calling thread's line.
pub(super) fn mine() -> &'static Line {
    &LINES[SLOT.with(Slot::index)]
}

/// The lines of all threads that there ever were.
pub(super) fn lines() -> impl Iterator<Item = &'static Line> {
    LINES[..thread_slot::used()].iter()
}

/// A bit for any requested collection, and another one for a major collection. SeqCst with `inside`, see the module's text.
static WANTED: AtomicU8 = AtomicU8::new(0);
pub(super) const MINOR: u8 = 1;
pub(super) const MAJOR: u8 = 3;

struct WaitState {
    is_running: bool,
    /// A thread waits for the last one to leave. The other waiting threads sleep until the collection is over: with many more threads than
    /// cores they would take cores from the threads inside, which need one to reach a safepoint.
    is_watched: bool,
    /// Number of threads that sleep until the collection is over.
    sleepers: usize,
}

/// Number of threads that wait spinning. Relaxed: a reader only decides by it if work is worth sharing.
static SPINNING: AtomicUsize = AtomicUsize::new(0);
/// Copy of `WaitState::is_running` for the spinning threads. Relaxed: they check again under the lock.
static RUNS: AtomicBool = AtomicBool::new(false);

pub(super) fn has_spinning_waiters() -> bool {
    SPINNING.load(Ordering::Relaxed) > 0
}

static STATE: Mutex<WaitState> = Mutex::new(WaitState { is_running: false, is_watched: false, sleepers: 0 });
/// Signals that the last thread left.
static LEFT: Condvar = Condvar::new();
/// Signals that a collection is over, or that some threads should help with it.
static OVER: Condvar = Condvar::new();

/// A waiting thread spins `SPINS` times for `SPIN_NS` before it sleeps: waking up takes longer than most collections, and a spinning thread
/// can help at once.
const SPINS: usize = 10;
const SPIN_NS: u64 = 20_000;
/// Maximum sleep of a waiting thread that is not woken: of the one that watches for the last thread to leave, and of the others. No
/// collection depends on these.
const MAX_WATCH: Duration = Duration::from_millis(1);
const MAX_SLEEP: Duration = Duration::from_millis(10);

#[inline]
pub(crate) fn is_wanted() -> bool {
    WANTED.load(Ordering::SeqCst) != 0
}

/// Requests a collection: from now on the threads stop at safepoints.
pub(super) fn request(for_what: u8) {
    if WANTED.load(Ordering::Relaxed) & for_what != for_what {
        if WANTED.fetch_or(for_what, Ordering::SeqCst) == 0 {
            nursery::requested();
        }
        stop_requests::request(stop_requests::COLLECTION);
    }
}

/// The VM will have a shared heap. Called before the first thread goes online.
pub fn want() {
    heddle_term::young::want();
    qsbr::set_inside(qsbr::Inside { enter, leave });
}

/// The calling thread is inside when this returns. Waits while a collection is wanted.
pub(crate) fn enter() {
    let line = mine();
    loop {
        line.inside.store(true, Ordering::SeqCst);
        if !is_wanted() {
            return;
        }
        line.inside.store(false, Ordering::SeqCst);
        wait_until_over();
    }
}

/// The calling thread is not inside any more.
pub(crate) fn leave() {
    mine().inside.store(false, Ordering::SeqCst);
    // Of several threads that leave at once, the last one sees that no thread is inside. A thread that enters and leaves again in `enter`
    // checks this itself when it waits.
    if is_wanted() && !is_anybody_inside() {
        // Under the lock, so the watching thread either has read this thread's line after it left, or is woken.
        let state = STATE.lock().unwrap();
        if state.is_watched {
            LEFT.notify_one();
        }
    }
}

/// Called at a safepoint if a collection is wanted. It has run, here or on another thread, when this returns.
#[cold]
pub(crate) fn stop() {
    leave();
    enter();
}

fn is_anybody_inside() -> bool {
    lines().any(|line| line.inside.load(Ordering::SeqCst))
}

fn wait_until_over() {
    let mut spins = if may_spin() { SPINS } else { 0 };
    let mut state = STATE.lock().unwrap();
    while is_wanted() {
        if stop_requests::is_stop_wanted() && !state.is_running {
            // A thread inside waits for this one to stand still.
            drop(state);
            stop_requests::stand_offline();
            state = STATE.lock().unwrap();
            continue;
        }
        if !state.is_running && !is_anybody_inside() {
            state.is_running = true;
            RUNS.store(true, Ordering::Relaxed);
            drop(state);
            // Requests of waiting threads that arrive while it runs are satisfied by it.
            let rest = collection::run(WANTED.load(Ordering::SeqCst) & 2 != 0);
            state = STATE.lock().unwrap();
            state.is_running = false;
            RUNS.store(false, Ordering::Relaxed);
            stop_requests::end_request(stop_requests::COLLECTION);
            WANTED.store(0, Ordering::SeqCst);
            if state.sleepers > 0 {
                OVER.notify_all();
            }
            if state.is_watched {
                LEFT.notify_one();
            }
            drop(state);
            return rest.into_iter().for_each(Piece::free);
        }
        if state.is_running {
            drop(state);
            let helped = collection::help();
            state = STATE.lock().unwrap();
            if helped {
                continue;
            }
        }
        if heddle_sync::sequential::is_on() {
            // A thread inside may need the turn to reach its safepoint.
            drop(state);
            qsbr::while_others_go(|| std::thread::sleep(Duration::from_micros(50)));
            state = STATE.lock().unwrap();
        } else if spins > 0 {
            drop(state);
            spins -= 1;
            spin();
            state = STATE.lock().unwrap();
        } else if state.is_running || state.is_watched {
            state.sleepers += 1;
            state = OVER.wait_timeout(state, MAX_SLEEP).unwrap().0;
            state.sleepers -= 1;
        } else {
            state.is_watched = true;
            state = LEFT.wait_timeout(state, MAX_WATCH).unwrap().0;
            state.is_watched = false;
        }
    }
}

/// True if a waiting thread may spin: all schedulers have a core, and `+sbwt` allows it.
fn may_spin() -> bool {
    sched::count() <= affinity::processors() && SETTINGS.spin_rounds.get() > 1
}

/// Spins until there is something to do, or the collection is over, at most for `SPIN_NS`.
fn spin() {
    SPINNING.fetch_add(1, Ordering::Relaxed);
    let began = cycles::now();
    while cycles::to_rough_ns(cycles::now().wrapping_sub(began)) < SPIN_NS {
        let is_to_run = !RUNS.load(Ordering::Relaxed) && !is_anybody_inside();
        if is_to_run || !is_wanted() || collection::IS_OPEN.load(Ordering::Relaxed) || stop_requests::is_stop_wanted() {
            break;
        }
        std::hint::spin_loop();
    }
    SPINNING.fetch_sub(1, Ordering::Relaxed);
}

/// Wakes up to `most` of the waiting threads, to check if they can help.
pub(super) fn call_helpers(most: usize) {
    let state = STATE.lock().unwrap();
    // One more than `most`: a thread that was about to wake up anyway, and comes too late, may be among them.
    (0..=most.min(state.sleepers)).for_each(|_| OVER.notify_one());
    if state.is_watched {
        LEFT.notify_one();
    }
}

/// While a thread has one, nothing moves that the thread accesses: it is not at a safepoint.
pub(crate) struct Hold(());

pub(crate) fn hold() -> Hold {
    HOLDS.with(|holds| holds.set(holds.get() + 1));
    Hold(())
}

impl Drop for Hold {
    fn drop(&mut self) {
        HOLDS.with(|holds| holds.set(holds.get() - 1));
    }
}

/// True if the calling thread is not at a safepoint, so it must not collect or wait for a collection.
pub fn is_held() -> bool {
    HOLDS.get() != 0
}
