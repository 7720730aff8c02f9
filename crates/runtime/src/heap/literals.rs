//! Literals that are not needed any more: how their memory is freed.
//!
//! Literal areas of purged code wait (`literal_areas`). The process of OTP's module `erts_literal_area_collector` takes them in batches:
//! 1. `switch` announces a batch. From now on copies between heaps no longer refer to it. It answers once every thread has seen
//!    that, so that what was copied before is in some process's queue or heap.
//! 2. The collector asks every process, which copies what it refers to (`copy_off`). A process that is made meanwhile gets its
//!    arguments as copies.
//! 3. The next `switch` frees the batch, when processes that were ending meanwhile are gone.

use crate::Package;
use crate::base::memory_mode;
use crate::base::qsbr;
use crate::code::literal_areas;
use crate::heap::shared;
use crate::heap::{gc, roots};
use crate::observe::locks::LockClass;
use crate::process::Process;
use crate::signal::send;
use heddle_term::area::{self, Region};
use heddle_term::literal::{Area, Leaving, announce, leaving};
use heddle_term::{Atom, Term};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

enum SwitchPhase {
    Idle,
    /// Announced; every thread has seen it once this epoch has passed.
    Announced(u64),
    /// The collector asks the processes.
    Asking,
    /// All have answered. Those that were ending are gone once this epoch has passed.
    Ending(u64),
}

struct SwitchState {
    phase: SwitchPhase,
    batch: Vec<Area>,
    /// The previous announcement: threads outside the schedulers may be late to see that it is over.
    over: Option<Box<Leaving>>,
}

static STATE: Mutex<SwitchState> = Mutex::new(SwitchState { phase: SwitchPhase::Idle, batch: Vec::new(), over: None });

/// The shared heap, all of it, has left the batch. Processes that are asked later can refer to the batch only in messages that are
/// not in the heap yet.
static LEFT: AtomicBool = AtomicBool::new(false);

/// Pid + 1 of the collector.
static COLLECTOR: AtomicU64 = AtomicU64::new(0);

/// The process `pid` is the collector from now on: it is told when areas wait.
pub fn set_collector(pid: u64) {
    COLLECTOR.store(pid + 1, Ordering::Relaxed);
    let _ = literal_areas::ON_FIRST.set(|| {
        if let Some(pid) = COLLECTOR.load(Ordering::Relaxed).checked_sub(1) {
            send::message_to_pid(pid, Package::immediate(Atom::new("copy_literals").into()));
        }
    });
}

#[derive(PartialEq, Eq, Clone, Copy)]
pub enum Switched {
    /// There is a new batch to ask for.
    Yes,
    No,
    /// Ask again: not every thread has seen the announcement (`wake_at_progress`).
    NotYet,
}

/// The collector waits to be woken: one wake-up is enough, however often something else makes it look.
static WAITS: AtomicBool = AtomicBool::new(false);

/// The process that got `NotYet` sleeps, and is woken when every thread has passed a quiescent state. Until then there is nothing
/// that it could do.
pub fn wake_at_progress(pid: u64) {
    if !WAITS.swap(true, Ordering::Relaxed) {
        qsbr::retire(move || {
            // Before the process looks, which may have to wait again.
            // Release. The collector swaps it Relaxed: the signal that wakes it orders the two.
            WAITS.store(false, Ordering::Release);
            send::wake(pid);
        });
    }
}

/// Frees the batch for which every process was asked, and takes the next.
pub fn switch() -> Switched {
    // Only the collector's process calls this, so nothing happens between the two locks. Freeing an area may give up further ones.
    for area in finish_batch() {
        // SAFETY: no process refers to it any more, and tables did not when it was given up.
        unsafe { area.free() };
    }
    let mut state = LockClass::Literals.lock(&STATE);
    match state.phase {
        SwitchPhase::Announced(epoch) if qsbr::passed(epoch) => {
            state.phase = SwitchPhase::Asking;
            return Switched::Yes;
        }
        SwitchPhase::Announced(_) => return Switched::NotYet,
        SwitchPhase::Asking => {
            state.phase = SwitchPhase::Ending(qsbr::next());
            return Switched::NotYet;
        }
        SwitchPhase::Ending(_) => return Switched::NotYet,
        SwitchPhase::Idle => {}
    }
    let waiting = literal_areas::take_waiting();
    if waiting.is_empty() {
        return Switched::No;
    }
    state.batch = waiting;
    LEFT.store(false, Ordering::Relaxed);
    announce(Some(Box::new(Leaving::of(&state.batch))));
    state.phase = SwitchPhase::Announced(qsbr::next());
    Switched::NotYet
}

/// The areas of the batch for which every process was asked.
fn finish_batch() -> Vec<Area> {
    let mut state = LockClass::Literals.lock(&STATE);
    if !matches!(state.phase, SwitchPhase::Ending(epoch) if qsbr::passed(epoch)) {
        return Vec::new();
    }
    state.phase = SwitchPhase::Idle;
    if let Some(older) = std::mem::replace(&mut state.over, announce(None)) {
        qsbr::retire(move || drop(older));
    }
    std::mem::take(&mut state.batch)
}

/// Copies to the process's heap what it refers to in the batch. Call it where the process may collect.
pub fn copy_off(p: &mut Process) {
    let Some(leaving) = leaving() else { return };
    let in_messages = p.messages.adopt_referring(leaving, &mut p.heap);
    if memory_mode::collects_together() {
        if in_messages || !LEFT.swap(true, Ordering::Relaxed) {
            shared::leave_literals(p);
        }
        return;
    }
    if in_messages || refers_to(p, leaving) {
        gc::collect_off_literals(p, leaving);
    }
}

/// Looks at every word, whether it is a term or not: a word that only looks like a pointer costs a collection, nothing else.
fn refers_to(p: &mut Process, leaving: &Leaving) -> bool {
    // SAFETY: blocks are initialised up to their tops, fragments up to what is used of them.
    unsafe {
        if leaving.is_in(p.start, p.heap.htop) || leaving.is_in(p.stop, p.end) || leaving.is_in(p.old_start, p.old_top) {
            return true;
        }
        let mut fragment = p.heap.fragments;
        while !fragment.is_null() {
            let start = heddle_term::Fragment::start(fragment);
            if leaving.is_in(start, start.add((*fragment).used_words)) {
                return true;
            }
            fragment = (*fragment).next;
        }
    }
    let mut found = false;
    for list in [&p.heap.off_heap, &p.old_off_heap] {
        // SAFETY: the lists are the process's, which holds what they refer to.
        unsafe { area::for_each_reference(list.head, |region, _| found |= Region::refers_to(region, leaving)) };
    }
    roots::for_each_root(p, &mut [], &mut |term: &mut Term| found |= leaving.contains(term.raw()));
    found
}
