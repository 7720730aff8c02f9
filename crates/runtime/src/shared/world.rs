//! When a collection of the shared heap may run: while no thread looks at a process.
//!
//! A thread that has a process, or may take one, is *inside*. It says so in a line of its own. It leaves to sleep, to wait for
//! others, and while a native of it blocks (`qsbr::offline`, `outside`); it comes in at a *door*: between two processes, and where a
//! process needs room (`shared::collect`), when all that the process refers to is in its roots.
//!
//! Who wants a collection sets `WANTED`; that is the alarm that schedulers look at between two processes. Who comes in leaves,
//! and waits until it is over. Whoever finds nobody inside runs it. Who wants to enter looks at `WANTED` after it said that it is
//! inside, and the collector looks at the lines after `WANTED` was set: so one of the two sees the other.

use super::chunk::Trailer;
use super::pieces::Piece;
use super::{collection, nursery};
use crate::{affinity, cycles, qsbr, sched, standstill};
use heddle_sync::thread_slot::{self, Slot};
use std::cell::Cell;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

/// What a thread has for the collector to see.
#[repr(align(128))]
pub(super) struct Line {
    /// SeqCst with `WANTED`, see the top.
    inside: AtomicBool,
    /// Blocks of processes that ended on this thread. By the thread while it is inside, by the collector while nobody is.
    pub(super) orphans: AtomicPtr<Trailer>,
    /// Words given to processes that were not told yet. By the thread alone.
    pub(super) untold_words: AtomicUsize,
}

static LINES: [Line; thread_slot::MAX] =
    [const { Line { inside: AtomicBool::new(false), orphans: AtomicPtr::new(null_mut()), untold_words: AtomicUsize::new(0) } };
        thread_slot::MAX];

thread_local! {
    static SLOT: Slot = Slot::mine();
    /// How often the calling thread looks at a process in the middle of another one's native: nothing may move then.
    static HOLDS: Cell<u32> = const { Cell::new(0) };
}

/// The calling thread's.
pub(super) fn mine() -> &'static Line {
    &LINES[SLOT.with(Slot::index)]
}

/// Of all threads that there ever were.
pub(super) fn lines() -> impl Iterator<Item = &'static Line> {
    LINES[..thread_slot::used()].iter()
}

/// Bits: a collection is wanted; a major one.
static WANTED: AtomicU8 = AtomicU8::new(0);
pub(super) const MINOR: u8 = 1;
pub(super) const MAJOR: u8 = 3;

struct State {
    is_running: bool,
    /// Somebody waits for the last thread to leave. The others sleep until the collection is over: with many more threads than cores
    /// they would keep those inside from a core, on which these are to come to a door.
    is_watched: bool,
    /// Threads that sleep until it is over.
    sleepers: usize,
}

/// Threads that wait awake. Relaxed: who asks only decides by it whether work is worth sharing.
static LOOKING: AtomicUsize = AtomicUsize::new(0);
/// As `State::is_running`, for those. Relaxed: they ask again under the lock.
static RUNS: AtomicBool = AtomicBool::new(false);

pub(super) fn does_anybody_look() -> bool {
    LOOKING.load(Ordering::Relaxed) > 0
}

static STATE: Mutex<State> = Mutex::new(State { is_running: false, is_watched: false, sleepers: 0 });
/// The last thread left.
static LEFT: Condvar = Condvar::new();
/// A collection is over, or some are to help with it.
static OVER: Condvar = Condvar::new();

/// Who waits does so awake first: so often, and so long each time. To be woken takes longer than much of what is waited for (life on two
/// schedulers: a minor collection takes 0.1 ms), and who is awake helps at once.
const LOOKS: usize = 10;
const LOOK_NS: u64 = 20_000;
/// How long who waits does not look again, if nobody wakes it: who watches, and the others. No collection depends on it.
const LOOK: Duration = Duration::from_millis(1);
const SELDOM_LOOK: Duration = Duration::from_millis(10);

#[inline]
pub(crate) fn is_wanted() -> bool {
    WANTED.load(Ordering::SeqCst) != 0
}

/// From now on the threads come in.
pub(super) fn ask(for_what: u8) {
    if WANTED.load(Ordering::Relaxed) & for_what != for_what {
        if WANTED.fetch_or(for_what, Ordering::SeqCst) == 0 {
            nursery::asked();
        }
        standstill::raise_alarm(standstill::COLLECTION);
    }
}

/// The calling thread is inside from here on, as soon as no collection runs.
pub fn enter() {
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

/// It is not any more.
pub fn leave() {
    mine().inside.store(false, Ordering::SeqCst);
    // Of several that leave at once the last sees that. Who says that it is inside and takes it back looks itself.
    if is_wanted() && !is_anybody_inside() {
        // Under the lock: who waits has looked at our line before, or will be woken.
        let state = STATE.lock().unwrap();
        if state.is_watched {
            LEFT.notify_one();
        }
    }
}

/// At a door, if a collection is wanted: it runs, here or elsewhere, before this returns.
#[cold]
pub(crate) fn come_in() {
    leave();
    enter();
}

fn is_anybody_inside() -> bool {
    lines().any(|line| line.inside.load(Ordering::SeqCst))
}

fn wait_until_over() {
    let mut looks = if may_look() { LOOKS } else { 0 };
    let mut state = STATE.lock().unwrap();
    while is_wanted() {
        if standstill::is_wanted() && !state.is_running {
            // Somebody inside waits for this thread to stand still.
            drop(state);
            standstill::stand_outside();
            state = STATE.lock().unwrap();
            continue;
        }
        if !state.is_running && !is_anybody_inside() {
            state.is_running = true;
            RUNS.store(true, Ordering::Relaxed);
            drop(state);
            // What is asked for while it runs, by threads that wait for it, is what it does.
            let rest = collection::run(WANTED.load(Ordering::SeqCst) & 2 != 0);
            state = STATE.lock().unwrap();
            state.is_running = false;
            RUNS.store(false, Ordering::Relaxed);
            standstill::end_alarm(standstill::COLLECTION);
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
            // Who is inside may need the turn to come in.
            drop(state);
            qsbr::while_others_go(|| std::thread::sleep(Duration::from_micros(50)));
            state = STATE.lock().unwrap();
        } else if looks > 0 {
            drop(state);
            looks -= 1;
            look();
            state = STATE.lock().unwrap();
        } else if state.is_running || state.is_watched {
            state.sleepers += 1;
            state = OVER.wait_timeout(state, SELDOM_LOOK).unwrap().0;
            state.sleepers -= 1;
        } else {
            state.is_watched = true;
            state = LEFT.wait_timeout(state, LOOK).unwrap().0;
            state.is_watched = false;
        }
    }
}

/// Whether who waits may do so awake: all have a core, and the program did not ask for sleep (`+sbwt`).
fn may_look() -> bool {
    sched::count() <= affinity::processors() && sched::SPIN_ROUNDS.load(Ordering::Relaxed) > 1
}

/// Waits awake for something to do, or the end, but not for long.
fn look() {
    LOOKING.fetch_add(1, Ordering::Relaxed);
    let began = cycles::now();
    while cycles::to_rough_ns(cycles::now().wrapping_sub(began)) < LOOK_NS {
        let is_to_run = !RUNS.load(Ordering::Relaxed) && !is_anybody_inside();
        if is_to_run || !is_wanted() || collection::IS_OPEN.load(Ordering::Relaxed) || standstill::is_wanted() {
            break;
        }
        std::hint::spin_loop();
    }
    LOOKING.fetch_sub(1, Ordering::Relaxed);
}

/// So many of the threads that wait are to look whether they can help.
pub(super) fn call_helpers(most: usize) {
    let state = STATE.lock().unwrap();
    // One more: who is awake already, and comes too late, may be one of them.
    (0..=most.min(state.sleepers)).for_each(|_| OVER.notify_one());
    if state.is_watched {
        LEFT.notify_one();
    }
}

/// While it is there nothing moves that the calling thread looks at: it is no door.
pub struct Hold(());

pub fn hold() -> Hold {
    HOLDS.with(|holds| holds.set(holds.get() + 1));
    Hold(())
}

impl Drop for Hold {
    fn drop(&mut self) {
        HOLDS.with(|holds| holds.set(holds.get() - 1));
    }
}

/// Whether the calling thread stands at a door when it asks for a collection.
pub fn is_held() -> bool {
    HOLDS.get() != 0
}
