//! The state word, which says what may happen to a process, and its transitions. No other file does a compare-and-swap on it. The
//! arrived signals are in the word as well (`inbox`): a sender puts a signal there and wakes the process with one compare-and-swap,
//! and a scheduler that begins to run the process takes the signals with one.
//!
//! - QUEUED: on some run queue (at most one). RUNNING: a scheduler runs it. DIRTY: a dirty thread has it (or its queue).
//! - ACTIVE: there is a reason to run: a signal arrived, or the slice ended. Set by wakers at any time.
//! - Invariant: ACTIVE without QUEUED, RUNNING or DIRTY lasts only inside a transition.
//! - DETACHED (with DIRTY): the dirty thread blocks, or has not taken the process yet, and touches nothing of it. Then a signal
//!   makes it QUEUED, and the scheduler that takes it is RUNNING it only to handle its signals.
//! - URGENT: a process of a higher priority waits for an answer. The process is queued with those of that priority until its
//!   signals are handled.
//! - STALE_ENTRY: it was taken out of turn, so its entry on some run queue is stale. A scheduler that meets the entry drops it; if
//!   the process becomes runnable before that, the entry is valid again. The memory is not freed before the entry is met.
//! - AWAITS: it waits, probably for an answer (`worker_cache`).
//! - SIGNALS_TAKEN: its owner took signals. They are all handled if the owner has said so (`ProcShared::has_heard_all`).
//!
//! Debug builds check the state from which each transition starts, and that the state after it is one that can be (`problem`).

use crate::base::level::{Level, Priority};
use crate::signal::Signal;
use crate::signal::inbox::Arrived;
use crate::signal::prefetch_chain::PrefetchChain;
use heddle_sync::flagged_stack::{Change, FLAG_BITS, FlaggedStack};
use std::fmt::{Debug, Formatter, Result};
use std::sync::atomic::Ordering;

const QUEUED: u32 = 1;
const RUNNING: u32 = 2;
const DIRTY: u32 = 4;
const ACTIVE: u32 = 8;
const EXITING: u32 = 16;
const FREE: u32 = 32;
const SUSPENDED: u32 = 64;
/// A signal came since the last collection of the shared heap that may refer to what was young then.
const REFERRED: u32 = 128;
const SIGNALS_TAKEN: u32 = 1 << 8;
const DETACHED: u32 = 1 << 9;
const URGENT: u32 = 1 << 10;
const URGENCY_SHIFT: u32 = 11;
const URGENCY_MASK: u32 = 3 << URGENCY_SHIFT;
const STALE_ENTRY: u32 = 1 << 13;
const AWAITS: u32 = 1 << 14;
/// It ran, or was sent something, since the last collection of the shared heap: what it refers to may be young.
const REMEMBERED: u32 = 1 << 15;
const LEVEL_SHIFT: u32 = 16;
const LEVEL_MASK: u32 = 31 << LEVEL_SHIFT;
const _: () = assert!(LEVEL_MASK >> FLAG_BITS == 0);

/// The state word, and prefetching hints for the thread that takes the signals.
pub struct ProcState(pub(crate) FlaggedStack<Signal>, pub(crate) PrefetchChain);

#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Snapshot(u32);

impl Snapshot {
    pub fn is_queued(self) -> bool {
        self.0 & QUEUED != 0
    }
    pub fn is_running(self) -> bool {
        self.0 & (RUNNING | DIRTY) != 0
    }
    pub fn is_active(self) -> bool {
        self.0 & ACTIVE != 0
    }
    pub fn is_dirty(self) -> bool {
        self.0 & DIRTY != 0
    }
    /// A dirty thread has it, but touches nothing of it.
    pub(crate) fn is_detached(self) -> bool {
        self.0 & DETACHED != 0
    }
    pub fn is_exiting(self) -> bool {
        self.0 & (EXITING | FREE) != 0
    }
    pub(crate) fn awaits(self) -> bool {
        self.0 & AWAITS != 0
    }
    pub(crate) fn has_taken_signals(self) -> bool {
        self.0 & SIGNALS_TAKEN != 0
    }
    /// The level of its own priority, whether or not it is URGENT.
    pub(crate) fn level(self) -> Level {
        Level::new(own_level(self.0) as usize).expect("five bits")
    }
    /// The level with which it is queued.
    #[inline]
    pub(crate) fn queue_level(self) -> Level {
        Level::new(queue_level(self.0) as usize).expect("five bits")
    }
}

/// The names of the flags, in the order in which they are shown.
const FLAGS: [(u32, &str); 13] = [
    (QUEUED, "QUEUED"),
    (RUNNING, "RUNNING"),
    (DIRTY, "DIRTY"),
    (DETACHED, "DETACHED"),
    (ACTIVE, "ACTIVE"),
    (EXITING, "EXITING"),
    (FREE, "FREE"),
    (SUSPENDED, "SUSPENDED"),
    (URGENT, "URGENT"),
    (STALE_ENTRY, "STALE_ENTRY"),
    (AWAITS, "AWAITS"),
    (SIGNALS_TAKEN, "SIGNALS_TAKEN"),
    (REMEMBERED, "REMEMBERED"),
];

/// The flags and the level, for example `RUNNING ACTIVE level 20`.
impl Debug for Snapshot {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        for (_, name) in FLAGS.iter().filter(|(flag, _)| self.0 & flag != 0) {
            write!(f, "{name} ")?;
        }
        if self.0 & URGENT != 0 {
            write!(f, "(for {:?}) ", priority((self.0 & URGENCY_MASK) >> URGENCY_SHIFT))?;
        }
        write!(f, "level {}", own_level(self.0))
    }
}

impl Debug for ProcState {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        self.load().fmt(f)
    }
}

/// What is wrong with a state, if it cannot be.
fn problem(s: u32) -> Option<&'static str> {
    let has = |flags: u32| s & flags != 0;
    if has(QUEUED) && has(RUNNING) {
        Some("queued and running")
    } else if has(DETACHED) && !has(DIRTY) {
        Some("detached from no dirty thread")
    } else if has(FREE) && has(QUEUED | RUNNING | DIRTY | ACTIVE) {
        Some("free, and some thread has it or will")
    } else if has(ACTIVE) && !has(QUEUED | RUNNING | DIRTY) {
        Some("a reason to run, and no thread that will run it")
    } else {
        None
    }
}

/// Debug builds: the transition `name` started at a state that it is for, and led to one that can be.
#[inline(always)]
#[track_caller]
fn check(name: &str, (old, new): Change, is_for: bool) {
    debug_assert!(is_for, "process state: {name} starts at {:?} (and leads to {:?})", Snapshot(old), Snapshot(new));
    debug_assert!(
        problem(new).is_none(),
        "process state: {name} leads from {:?} to {:?}: {:?}",
        Snapshot(old),
        Snapshot(new),
        problem(new)
    );
}

fn own_level(s: u32) -> u32 {
    (s & LEVEL_MASK) >> LEVEL_SHIFT
}

fn priority(number: u32) -> Priority {
    match number {
        0 => Priority::Max,
        1 => Priority::High,
        2 => Priority::Normal,
        _ => Priority::Low,
    }
}

fn queue_level(s: u32) -> u32 {
    let asker = || Level::of(priority((s & URGENCY_MASK) >> URGENCY_SHIFT)).number() as u32;
    if s & URGENT != 0 { own_level(s).min(asker()) } else { own_level(s) }
}

/// True if it may be put on a run queue: no thread has it, or its dirty thread lets others handle its signals.
fn is_free_to_queue(s: u32) -> bool {
    s & (QUEUED | RUNNING | FREE) == 0 && (s & DIRTY == 0 || s & DETACHED != 0)
}

/// Sets QUEUED: for a new entry, or the stale one, which is valid again.
fn queue(s: u32) -> u32 {
    if s & STALE_ENTRY != 0 { (s | QUEUED) & !STALE_ENTRY } else { s | QUEUED }
}

/// Something arrived.
#[inline(always)]
pub(crate) fn awake(s: u32) -> u32 {
    match s {
        _ if s & FREE != 0 => s,
        _ if is_free_to_queue(s) => queue(s | ACTIVE),
        _ => s | ACTIVE,
    }
}

/// A term that is in a heap comes with what arrived, if `is_so`.
#[inline(always)]
pub(crate) fn referred(s: u32, is_so: bool) -> u32 {
    s | if is_so { REFERRED } else { 0 }
}

/// Something arrived for which a process of priority `asker` waits.
pub(crate) fn awake_for(asker: Priority) -> impl Fn(u32) -> u32 {
    move |s| {
        let s = awake(s);
        if s & FREE == 0 && (Level::of(asker).number() as u32) < queue_level(s) {
            (s & !URGENCY_MASK) | URGENT | (asker as u32) << URGENCY_SHIFT
        } else {
            s
        }
    }
}

#[inline(always)]
pub(crate) fn put((old, new): Change) -> QueueAction {
    if old & (QUEUED | STALE_ENTRY) == 0 && new & QUEUED != 0 { QueueAction::Enqueue } else { QueueAction::Nothing }
}

/// As `put`, for a change by `awake_for`.
pub(crate) fn put_for((old, new): Change) -> QueueAction {
    match put((old, new)) {
        QueueAction::Nothing if new & QUEUED != 0 && queue_level(new) < queue_level(old) => QueueAction::Requeue,
        put => put,
    }
}

/// What a thread that changed the state must do with the run queues.
#[must_use]
#[derive(PartialEq, Eq, Clone, Copy, Debug)]
pub enum QueueAction {
    /// The caller set QUEUED and must put the process on a run queue.
    Enqueue,
    /// The process is queued after others that are now less urgent: its identity goes on a queue as well.
    Requeue,
    Nothing,
}

/// What a scheduler that met a process on its queue must do.
#[must_use]
#[derive(PartialEq, Eq, Clone, Copy, Debug)]
pub enum Taken {
    /// Run it; it is RUNNING now.
    Run(Arrived),
    /// Handle its signals only: a process of a higher priority waits for that, or its dirty thread has it.
    Signals(Arrived),
    /// It was taken before.
    Nothing,
    /// As `Nothing`, and this was the last entry that referred to it: free its memory.
    Free,
}

impl ProcState {
    pub(crate) fn new(level: Level) -> ProcState {
        ProcState(FlaggedStack::new((level.number() as u32) << LEVEL_SHIFT), PrefetchChain::new())
    }

    pub fn load(&self) -> Snapshot {
        // Acquire: pairs with the AcqRel transitions, so that a reader that sees a state sees what led to it.
        Snapshot(self.0.flags(Ordering::Acquire))
    }

    #[inline(always)]
    fn update(&self, f: impl FnMut(u32) -> u32) -> Change {
        self.0.change(f)
    }

    /// There is a reason to run.
    #[inline]
    pub fn wake(&self) -> QueueAction {
        let change = self.update(awake);
        check("wake", change, true);
        put(change)
    }

    /// Takes the signals that arrived so far. Called by the owner.
    pub(crate) fn take_signals(&self) -> Arrived {
        Arrived(self.0.take(|s, any| (if any { s | SIGNALS_TAKEN } else { s }, any)).1)
    }

    /// A scheduler took the process from its queue. Takes the arrived signals as well.
    pub fn start_running(&self) -> Taken {
        self.start(|s| {
            if s & QUEUED == 0 {
                s & !STALE_ENTRY
            } else if s & DIRTY != 0 && s & DETACHED == 0 {
                // Its dirty thread is back, and will handle its signals itself.
                s & !QUEUED
            } else {
                (s & !(QUEUED | ACTIVE | URGENT | AWAITS)) | RUNNING
            }
        })
    }

    #[inline(always)]
    fn start(&self, mut f: impl FnMut(u32) -> u32) -> Taken {
        let ((old, new), signals) = self.0.take(|s, is_something_there| {
            let new = f(s);
            // A process that was not queued runs elsewhere.
            let takes = s & QUEUED != 0 && new & RUNNING != 0 && is_something_there;
            (if takes { new | SIGNALS_TAKEN } else { new }, takes)
        });
        check("start", (old, new), true);
        taken(old, new, Arrived(signals))
    }

    /// A scheduler met the identity of a process on a queue: takes the process although its entry is elsewhere.
    pub(crate) fn start_out_of_turn(&self) -> Taken {
        let taken = self.start(|s| {
            if s & (QUEUED | URGENT) != QUEUED | URGENT || (s & DIRTY != 0 && s & DETACHED == 0) {
                s
            } else {
                (s & !(QUEUED | ACTIVE | URGENT | AWAITS)) | RUNNING | STALE_ENTRY
            }
        });
        // An identity does not keep the memory.
        if taken == Taken::Free { Taken::Nothing } else { taken }
    }

    /// Takes the process, on whatever thread, if no thread has it: one that has nothing to do, or that is on a run queue, where its
    /// entry becomes stale. The caller handles its signals, and looks whether it has more to do: `stop_running` must follow.
    #[must_use]
    pub(crate) fn start_at_once(&self) -> bool {
        let (old, new) = self.update(|s| match s {
            _ if s & (RUNNING | DIRTY | EXITING | FREE | SUSPENDED) != 0 => s,
            _ if s & QUEUED != 0 => (s & !(QUEUED | ACTIVE | URGENT | AWAITS)) | RUNNING | STALE_ENTRY,
            _ => (s & !AWAITS) | RUNNING,
        });
        check("start_at_once", (old, new), true);
        old != new
    }

    /// The owner is about to wait: forgets wake-ups whose cause it has seen. Another look at the inbox must follow. It finds what
    /// came before, for which ACTIVE was set; what comes later sets ACTIVE again.
    pub fn clear_active(&self) {
        if self.0.flags(Ordering::Relaxed) & ACTIVE != 0 {
            let change = self.update(|s| s & !ACTIVE);
            check("clear_active", change, change.0 & (RUNNING | DIRTY) != 0);
        }
    }

    /// The owner lets the process go. `more`: it wants to run again; `awaits`: it waits for an answer.
    pub fn stop_running(&self, more: bool, awaits: bool) -> QueueAction {
        let change = self.update(|s| {
            let s = (s & !(RUNNING | DIRTY | DETACHED | SIGNALS_TAKEN)) | if more { ACTIVE } else { 0 } | if awaits { AWAITS } else { 0 };
            if s & ACTIVE != 0 && is_free_to_queue(s) { queue(s) } else { s }
        });
        // A dirty thread lets go what it has, and no other thread handles its signals.
        check("stop_running", change, matches!(change.0 & (RUNNING | DIRTY | DETACHED | FREE), RUNNING | DIRTY));
        put(change)
    }

    /// Passes the process from a scheduler to the dirty threads. Until one takes it, others handle its signals.
    pub(crate) fn go_dirty(&self) -> QueueAction {
        self.detach_from("go_dirty", RUNNING, RUNNING)
    }
    /// Its dirty thread is about to block.
    pub(crate) fn detach(&self) -> QueueAction {
        self.detach_from("detach", DIRTY, 0)
    }
    /// A scheduler handled the signals of a detached process.
    pub(crate) fn stop_helping(&self) -> QueueAction {
        self.detach_from("stop_helping", RUNNING | DIRTY | DETACHED, RUNNING)
    }
    /// `from`: which of RUNNING, DIRTY and DETACHED the process has. `less`: the flags that it loses.
    #[inline(always)]
    fn detach_from(&self, name: &str, from: u32, less: u32) -> QueueAction {
        let change = self.update(|s| {
            // The dirty thread may already wait for the scheduler that handles the signals: DETACHED stays until `attach`.
            let s = (s & !(less | SIGNALS_TAKEN)) | DIRTY | DETACHED;
            if s & ACTIVE != 0 && s & EXITING == 0 && is_free_to_queue(s) { queue(s) } else { s }
        });
        check(name, change, change.0 & (RUNNING | DIRTY | DETACHED) == from);
        put(change)
    }
    /// The dirty thread wants the process back. False while another thread handles its signals.
    #[must_use]
    pub(crate) fn attach(&self) -> bool {
        let change = self.update(|s| if s & RUNNING != 0 { s } else { s & !DETACHED });
        check("attach", change, change.0 & (DIRTY | DETACHED) == DIRTY | DETACHED);
        change.1 & DETACHED == 0
    }

    /// Notes that the process runs, or is sent something. False if that was noted before (see `shared::remembered`).
    #[inline]
    pub(crate) fn remember(&self) -> bool {
        // Relaxed: read while the world is stopped, and the thread that stops it sees what was done before.
        self.0.flags(Ordering::Relaxed) & REMEMBERED == 0 && self.update(|s| s | REMEMBERED).0 & REMEMBERED == 0
    }
    /// Called while the world is stopped: true if a signal may have come that refers to young data.
    pub(crate) fn is_referred(&self) -> bool {
        self.0.flags(Ordering::Relaxed) & REFERRED != 0
    }
    /// The shared heap was collected: all that the process refers to is old, until it is remembered again. Returns false if a thread has
    /// the process: then it stays remembered.
    pub(crate) fn was_collected(&self) -> bool {
        let (_, new) = self.update(|s| (if s & (RUNNING | DIRTY) == 0 { s & !REMEMBERED } else { s | REMEMBERED }) & !REFERRED);
        new & REMEMBERED == 0
    }

    pub(crate) fn set_exiting(&self) {
        let change = self.update(|s| s | EXITING);
        check("set_exiting", change, change.0 & FREE == 0);
    }
    /// The process is gone. False while an entry on a run queue still refers to it: the scheduler that meets the entry frees the
    /// memory.
    #[must_use]
    pub(crate) fn set_free(&self) -> bool {
        let change = self.update(|s| {
            let behind = if s & (QUEUED | STALE_ENTRY) != 0 { STALE_ENTRY } else { 0 };
            ((s | FREE) & !(RUNNING | DIRTY | DETACHED | QUEUED | ACTIVE | URGENT)) | behind
        });
        check("set_free", change, change.0 & EXITING != 0 && change.0 & FREE == 0);
        change.1 & STALE_ENTRY == 0
    }
    pub fn set_suspended(&self, on: bool) {
        let change = self.update(|s| if on { s | SUSPENDED } else { s & !SUSPENDED });
        check("set_suspended", change, true);
    }
    pub fn set_level(&self, level: Level) {
        let change = self.update(|s| (s & !LEVEL_MASK) | (level.number() as u32) << LEVEL_SHIFT);
        check("set_level", change, true);
    }
}

fn taken(old: u32, new: u32, arrived: Arrived) -> Taken {
    // A process is never QUEUED and RUNNING: one that is RUNNING now was only met again.
    if old & QUEUED == 0 || new & RUNNING == 0 {
        return if old & FREE != 0 { Taken::Free } else { Taken::Nothing };
    }
    let lifted = old & URGENT != 0 && queue_level(old) < queue_level(old & !URGENT);
    if lifted || old & DIRTY != 0 { Taken::Signals(arrived) } else { Taken::Run(arrived) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_a_thread_has_is_not_taken_at_once_and_a_wake_up_meanwhile_queues_it() {
        let state = ProcState::new(Level::NORMAL);
        assert!(state.start_at_once());
        assert!(!state.start_at_once());
        assert!(state.wake() == QueueAction::Nothing);
        assert!(state.stop_running(false, false) == QueueAction::Enqueue);
        assert!(matches!(state.start_running(), Taken::Run(arrived) if arrived.is_empty()));
        assert!(!state.start_at_once());
        assert!(state.stop_running(false, true) == QueueAction::Nothing);
        assert!(state.start_at_once());
        assert!(state.stop_running(false, false) == QueueAction::Nothing);
        state.set_suspended(true);
        assert!(!state.start_at_once());
        state.set_suspended(false);
        state.set_exiting();
        assert!(!state.start_at_once());
    }

    #[test]
    fn one_that_is_taken_from_its_queue_at_once_leaves_an_entry_that_is_dropped_or_used_again() {
        let state = ProcState::new(Level::NORMAL);
        assert_eq!(state.wake(), QueueAction::Enqueue);
        assert!(state.start_at_once());
        assert_eq!(state.stop_running(false, false), QueueAction::Nothing);
        assert_eq!(state.wake(), QueueAction::Nothing);
        assert!(state.load().is_queued());
        assert!(state.start_at_once());
        assert!(state.start_running() == Taken::Nothing);
        assert_eq!(state.stop_running(false, false), QueueAction::Nothing);
        assert_eq!(state.wake(), QueueAction::Enqueue);
    }

    #[test]
    fn a_state_is_shown_by_its_flags() {
        let state = ProcState::new(Level::NORMAL);
        assert_eq!(format!("{state:?}"), "level 20");
        assert_eq!(state.wake(), QueueAction::Enqueue);
        assert_eq!(format!("{state:?}"), "QUEUED ACTIVE level 20");
        state.update(awake_for(Priority::Max));
        assert_eq!(format!("{state:?}"), "QUEUED ACTIVE URGENT (for Max) level 20");
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "stop_running starts at level 20 (and leads to level 20)")]
    fn a_process_that_no_thread_has_cannot_be_let_go() {
        let _ = ProcState::new(Level::NORMAL).stop_running(false, false);
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "go_dirty starts at DIRTY DETACHED level 20")]
    fn a_process_goes_to_the_dirty_threads_once() {
        let state = ProcState::new(Level::NORMAL);
        assert!(state.start_at_once());
        let _ = state.go_dirty();
        let _ = state.go_dirty();
    }
}
