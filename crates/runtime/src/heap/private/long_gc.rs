//! Collections that take long are left to a dirty thread, as in ERTS, so that they hold no scheduler.
//!
//! Code that finds that a collection is due and may be long notes that with the process (`put_off`, FLAG_COLLECT), and lets the
//! process go on to a place where all it needs is in its roots: a heap check saves its live registers and runs again afterwards; a
//! native that overflowed leaves its fragments and ends the slice. A scheduler that takes or lets go of a process with FLAG_COLLECT
//! hands it to a dirty thread, which does what is due (`run`) and makes the process runnable again. Until that thread has it, its
//! signals are handled as those of any process on its way to a dirty thread.

use crate::base::memory_mode;
use crate::base::zeal;
use crate::heap::CollectionKind;
use crate::heap::gc;
use crate::heap::private::heap_growth;
use crate::process::{FLAG_COLLECT, Outcome, Process};
use crate::sched;

/// Above this many words a collection may hold a scheduler for too long: copying a heap of 4 MiB takes 3 to 5 ms here. ERTS has 128
/// Ki words; but the way to the dirty thread and back takes some 50 microseconds, so heaps of that size are collected faster at
/// once.
const LONG_WORDS: usize = 512 * 1024;
/// The limit with a slice of one reduction, so that tests go to the dirty thread often.
const ZEAL_LONG_WORDS: usize = 1200;

/// True if a collection of `kind` should be put off: it may take long, and other threads or processes wait for the calling one.
pub fn is_long(p: &Process, kind: CollectionKind) -> bool {
    gc::words_to_look_at(p, kind) > if zeal::yields() { ZEAL_LONG_WORDS } else { LONG_WORDS } && !sched::on_dirty_thread()
}

/// A collection is due, after which at least `need_words` words must be free.
#[cold]
pub fn put_off(p: &mut Process, need_words: usize, kind: CollectionKind) {
    let due = &mut p.rare().due;
    let (need, major) = due.collect.unwrap_or((0, false));
    due.collect = Some((need.max(need_words), major || kind == CollectionKind::Major));
    p.flags |= FLAG_COLLECT;
}

/// `task` should run with the process, and takes as long as a collection.
#[cold]
pub fn put_off_task(p: &mut Process, task: impl FnOnce(Option<&mut Process>) + Send + 'static) {
    p.rare().due.tasks.push(Box::new(task));
    p.flags |= FLAG_COLLECT;
}

/// Begins or ends a time in which collections that other processes ask for are not done: they are when it ends. The process still
/// collects when it needs memory. Returns whether this was such a time before.
pub fn hold_back(p: &mut Process, on: bool) -> bool {
    let rare = p.rare();
    let was = rare.held_back.is_some();
    if on {
        rare.held_back.get_or_insert_default();
    } else if let Some(tasks) = rare.held_back.take().filter(|tasks| !tasks.is_empty()) {
        rare.due.tasks.extend(tasks);
        p.flags |= FLAG_COLLECT;
    }
    was
}

/// True within such a time.
pub fn holds_back(p: &Process) -> bool {
    p.rare_if_any().is_some_and(|rare| rare.held_back.is_some())
}

/// `task`, a collection that another process asked for, is done when such a time ends.
pub fn keep_back(p: &mut Process, task: impl FnOnce(Option<&mut Process>) + Send + 'static) {
    p.rare().held_back.get_or_insert_default().push(Box::new(task));
}

#[inline(always)]
pub(crate) fn is_due(p: &Process) -> bool {
    p.flags & FLAG_COLLECT != 0
}

/// Does what is due here, if all processes are collected together, and returns true then. All threads wait for such a collection
/// anyway, so no dirty thread is asked, and the process goes on afterwards: another process that asks for collections of this one
/// again and again does not keep it from running. Call it where all that the process refers to is in its roots.
pub(crate) fn is_done_here(p: &mut Process) -> bool {
    let here = memory_mode::collects_together();
    if here {
        run(p);
    }
    here
}

/// How a slice ends after which something is due. What is done here may end the process (`max_heap_size`), so the process does not
/// wait yet.
pub(crate) fn after_slice(p: &mut Process) -> Outcome {
    if is_done_here(p) { Outcome::Yield } else { Outcome::DirtyCpu }
}

/// Does what is due. The calling thread has the process.
pub(crate) fn run(p: &mut Process) {
    p.flags &= !FLAG_COLLECT;
    let due = std::mem::take(&mut p.rare().due);
    if let Some((need_words, major)) = due.collect {
        let cost = gc::collect(p, &mut [], need_words, if major { CollectionKind::Major } else { CollectionKind::Automatic });
        // No slice of a scheduler paid for the collection.
        p.reductions += cost as u64;
    }
    for task in due.tasks {
        task(Some(p));
    }
}

/// The process ends: its tasks run with None, so that the processes that wait for them are told.
pub(crate) fn give_up(p: &mut Process) {
    p.flags &= !FLAG_COLLECT;
    let held = p.rare().held_back.take().unwrap_or_default();
    for task in std::mem::take(&mut p.rare().due).tasks.into_iter().chain(held) {
        task(None);
    }
}

/// The process is about to wait; all that lives is in its roots.
#[cold]
pub fn shrink(p: &mut Process) {
    // Not worth a collection if the heap has grown large because of what lives in it, or if the old generation is due as well and
    // takes long.
    if p.heap_words() > 2 * heap_growth::MAX_WORDS_WITH_MUCH || is_long(p, CollectionKind::Automatic) {
        heap_growth::forget(p);
    } else {
        gc::collect(p, &mut [], 0, CollectionKind::Shrink);
    }
}
