//! Collections that take long are left to a dirty thread, as in ERTS: no scheduler stands still for them.
//!
//! Whoever finds that a collection is due and may be long notes it with the process (`put_off`, FLAG_COLLECT) and lets it go on
//! to where all it needs is in its roots: a heap check saves its live registers and runs again afterwards; a native that
//! overflowed leaves its fragments and ends the slice. The scheduler that lets go of a process with FLAG_COLLECT, or takes it,
//! hands it to a dirty thread, which does what is due (`run`) and makes it runnable again. Until that thread has it, signals are
//! handled as for any process on its way to a dirty thread.

use crate::gc::{self, Kind};
use crate::process::{FLAG_COLLECT, Outcome, Process};
use crate::{sched, shared, zeal};

/// Above this many words a collection may hold a scheduler for too long: copying a heap of 4 MiB takes 3 to 5 ms here. ERTS has
/// 128 Ki words; on the way to the dirty thread and back some 50 microseconds pass, so heaps of that size are quicker done at once.
const LONG_WORDS: usize = 512 * 1024;
/// With a slice of one reduction the way there is to be taken often.
const ZEAL_LONG_WORDS: usize = 1200;

/// Something that needs the process whole and may take long, or its end if it ended before.
type Task = Box<dyn FnOnce(Option<&mut Process>) + Send>;

/// What waits for a dirty thread.
#[derive(Default)]
pub struct Due {
    collect: Option<(usize, bool)>,
    tasks: Vec<Task>,
}

/// Whether to put off a collection of `kind`: it may take long, and this is a thread that others wait for.
pub fn is_long(p: &Process, kind: Kind) -> bool {
    gc::words_to_look_at(p, kind) > if zeal::yields() { ZEAL_LONG_WORDS } else { LONG_WORDS } && !sched::on_dirty_thread()
}

/// A collection is due, after which `need_words` are free.
#[cold]
pub fn put_off(p: &mut Process, need_words: usize, kind: Kind) {
    let due = &mut p.rare().due;
    let (need, major) = due.collect.unwrap_or((0, false));
    due.collect = Some((need.max(need_words), major || kind == Kind::Major));
    p.flags |= FLAG_COLLECT;
}

/// `task` is to run with the process, and takes as long as a collection.
#[cold]
pub fn put_off_task(p: &mut Process, task: impl FnOnce(Option<&mut Process>) + Send + 'static) {
    p.rare().due.tasks.push(Box::new(task));
    p.flags |= FLAG_COLLECT;
}

#[inline(always)]
pub fn is_due(p: &Process) -> bool {
    p.flags & FLAG_COLLECT != 0
}

/// With a shared heap all wait for a collection anyway, so no dirty thread is asked to do what is due, and the process goes on after
/// it: who asks for one again and again does not keep it from running. Whether it was done. Where all that the process refers to is
/// in its roots.
pub(crate) fn is_done_here(p: &mut Process) -> bool {
    let here = shared::is_on();
    if here {
        run(p);
    }
    here
}

/// How a slice ends behind which something is due. What is done here may end the process (`max_heap_size`), so it does not wait yet.
pub(crate) fn behind_slice(p: &mut Process) -> Outcome {
    if is_done_here(p) { Outcome::Yield } else { Outcome::DirtyCpu }
}

/// By a thread that has the process: does what is due.
pub fn run(p: &mut Process) {
    p.flags &= !FLAG_COLLECT;
    let due = std::mem::take(&mut p.rare().due);
    if let Some((need_words, major)) = due.collect {
        let cost = gc::collect(p, &mut [], need_words, if major { Kind::Major } else { Kind::Automatic });
        // No slice of a scheduler paid for it.
        p.reductions += cost as u64;
    }
    for task in due.tasks {
        task(Some(p));
    }
}

/// The process ends: who waits for it hears that.
pub fn give_up(p: &mut Process) {
    p.flags &= !FLAG_COLLECT;
    for task in std::mem::take(&mut p.rare().due).tasks {
        task(None);
    }
}
