//! What takes other code in each memory architecture (`+hmem`): a function with an arm for each. Such are making, collecting and abandoning
//! a heap, and packing a message, a reason or the arguments of a new process.
//!
//! Where code differs in one step, it asks a question of [`memory_mode`](crate::base::memory_mode) that says what differs. No other file asks
//! for the architecture. The folders `private`, `hybrid` and `shared` know theirs.

use crate::base::memory_mode::{Mode, memory_mode};
use crate::heap::private::{block, collector};
use crate::heap::shared::{self, safepoint};
use crate::heap::{CollectionKind, hybrid};
use crate::observe::messages::{Cost, Timed};
use crate::process::{ProcRef, ProcShared, Process};
use crate::signal::outgoing::{self, Outgoing};
use crate::signal::package::Package;
use crate::signal::small;
use heddle_memory::MemoryKind;
use heddle_term::Term;
use heddle_term::copy::{Keep, flat_size};

// ---- heaps ----

/// Allocates the heap block of a new process.
pub fn init_block(p: &mut Process, need_words: usize) {
    match memory_mode() {
        Mode::Private | Mode::Hybrid => block::init(p, need_words),
        Mode::Shared => shared::init(p, need_words),
    }
}

/// Frees everything that a process holds in heaps.
pub fn abandon(p: &mut Process) {
    match memory_mode() {
        Mode::Private | Mode::Hybrid => block::abandon(p),
        Mode::Shared => shared::abandon(p),
    }
}

/// True if the process needs no collection after all, since it has got another block with room for `need_words`.
pub(super) fn has_room(p: &mut Process, live: &mut [Term], need_words: usize, kind: CollectionKind) -> bool {
    match memory_mode() {
        Mode::Private | Mode::Hybrid => false,
        Mode::Shared => shared::has_room(p, live, need_words, kind),
    }
}

/// Collects, and returns true if that was a minor collection. `live` are the X registers in use. Afterwards at least `need_words` words
/// are free. [`gc::collect`](super::gc::collect) also tells of it.
pub(super) fn collect(p: &mut Process, live: &mut [Term], need_words: usize, kind: CollectionKind) -> bool {
    match memory_mode() {
        Mode::Private | Mode::Hybrid => collector::collect(p, live, need_words, kind),
        Mode::Shared => shared::collect(p, live, need_words, kind),
    }
}

/// Words of the old generation that belong to the process: those in use, and those allocated.
pub(super) fn old_words(p: &Process) -> (usize, usize) {
    match memory_mode() {
        Mode::Private | Mode::Hybrid => (collector::words(p.old_start, p.old_top), collector::words(p.old_start, p.old_end)),
        Mode::Shared => {
            let words = shared::old_words_of(p);
            (words, words)
        }
    }
}

/// What a process has beside its young heap, in words, for a sum over all processes.
pub struct Survivors {
    pub used_words: usize,
    pub allocated_words: usize,
    /// With what survived a collection in the young heap.
    pub live_words: usize,
}

/// The old generation of a process, as far as it is not in `common_old_words`.
pub fn survivors(p: &Process) -> Survivors {
    match memory_mode() {
        Mode::Private | Mode::Hybrid => {
            let (used_words, allocated_words) = old_words(p);
            Survivors { used_words, allocated_words, live_words: collector::words(p.young_start(), p.high_water) + used_words }
        }
        Mode::Shared => {
            let words = shared::retired_words_of(p);
            Survivors { used_words: words, allocated_words: words, live_words: 0 }
        }
    }
}

/// Words of the old generation that all processes have together: those in use, and those allocated.
pub fn common_old_words() -> (usize, usize) {
    match memory_mode() {
        Mode::Private | Mode::Hybrid => (0, 0),
        Mode::Shared => shared::old_words(),
    }
}

/// Words of messages that are in no heap. With a shared heap that kind of memory is the young generation.
pub fn message_words() -> usize {
    match memory_mode() {
        Mode::Private | Mode::Hybrid => heddle_memory::sum(MemoryKind::Message) / 8,
        Mode::Shared => 0,
    }
}

/// Calls `f` once on each object that the process refers to and that owns something outside the heaps, and perhaps on others.
pub fn for_each_off_heap_object(p: &mut Process, f: impl FnMut(Term)) {
    match memory_mode() {
        Mode::Private | Mode::Hybrid => hybrid::held_regions::for_each_off_heap_object(p, f),
        Mode::Shared => shared::retained::for_each_object_of(p, f),
    }
}

/// The end of the heap in the block of a process that has put its heap away (`Process::heap` is another one for a while).
pub(super) fn top_of(p: &Process) -> *mut u64 {
    match memory_mode() {
        Mode::Private | Mode::Hybrid => p.start,
        Mode::Shared => shared::top_of(p),
    }
}

/// Words of binaries that the old generation keeps for the process, and that are not on its lists.
pub(super) fn old_virtual_words(p: &Process) -> usize {
    match memory_mode() {
        Mode::Private | Mode::Hybrid => 0,
        Mode::Shared => shared::old_virtual_words_of(p),
    }
}

/// Words that the process has made and that are neither in its block nor in its fragments any more, if they are counted.
pub(crate) fn made_words(p: &Process) -> usize {
    match memory_mode() {
        Mode::Private | Mode::Hybrid => 0,
        Mode::Shared => shared::made_words_of(p),
    }
}

/// True if a request to collect the process is already satisfied: see [`shared::rests_since_major`].
pub fn rests_since_major(p: &Process) -> bool {
    match memory_mode() {
        Mode::Private | Mode::Hybrid => false,
        Mode::Shared => shared::rests_since_major(p),
    }
}

/// For a process that seems to have more words than its `max_heap_size`: true if it really has.
pub(crate) fn is_over_limit(p: &mut Process) -> bool {
    match memory_mode() {
        Mode::Private | Mode::Hybrid => true,
        Mode::Shared => shared::retained::is_over_limit(p),
    }
}

// ---- messages ----

/// The signal that brings `term`, of `p`'s heap, to the process `to`, which may be `p` itself. `count` gets the cost, and returns whether
/// a copy must be timed.
#[inline(always)]
pub(crate) fn pack(p: &mut Process, to: &ProcShared, term: Term, count: impl FnOnce(Cost) -> Timed) -> Outgoing {
    // No port sends this way.
    let from = Term::local_pid(p.pid());
    match memory_mode() {
        Mode::Private => Outgoing { signal: small::copied(from, term, count), refers: false },
        Mode::Hybrid => Outgoing { signal: outgoing::beside_area(p, from, term, count), refers: false },
        Mode::Shared if p.heap.lends_terms() => outgoing::by_pointer(p, from, to, term, count),
        Mode::Shared => Outgoing { signal: small::copied(from, term, count), refers: false },
    }
}

/// The data of a message that a process sends to another one. `term` is in `from`'s heap. `count` as for `pack`.
#[inline(always)]
pub fn pack_data(from: &mut Process, term: Term, count: impl FnOnce(Cost) -> Timed) -> Package {
    match memory_mode() {
        Mode::Private => Package::keeping(term, Keep::live(), count),
        Mode::Hybrid => Package::sharing(from, term, count),
        Mode::Shared if from.heap.lends_terms() => Package::by_pointer_counted(from, term, count),
        Mode::Shared => Package::keeping(term, Keep::live(), count),
    }
}

/// Why `from` ends, for a process that is linked to it or monitors it.
pub(crate) fn pack_reason(from: &mut Process, reason: Term) -> Package {
    match memory_mode() {
        // Usually the reason's memory goes with the process's block; but not always.
        Mode::Shared if from.heap.lends_terms() => Package::by_pointer(from, reason),
        Mode::Private | Mode::Hybrid | Mode::Shared => Package::new(reason),
    }
}

/// A package of the reason from which `pack_reason` makes others for several receivers at less cost. None if that costs nothing anyway.
pub(crate) fn pack_reason_once(from: &Process, reason: Term) -> Option<Package> {
    match memory_mode() {
        Mode::Shared if from.heap.lends_terms() => None,
        Mode::Private | Mode::Hybrid | Mode::Shared => Some(pack_for_several(reason)),
    }
}

/// A package of a term for several receivers. Each of them gets a `Package::new` of the term in it.
pub fn pack_for_several(term: Term) -> Package {
    match memory_mode() {
        Mode::Private | Mode::Shared => Package::new(term),
        Mode::Hybrid => Package::for_several(term),
    }
}

/// The heap of a new process that will apply a function to `args`. Returns the arguments as the new process has them. They are in the
/// heap of `parent`, if there is one.
pub(crate) fn unpack_arguments(p: &mut Process, parent: Option<&mut Process>, args: Term, group_leader: Term) -> Term {
    let (args_words, package) = match (memory_mode(), parent) {
        (Mode::Shared, Some(parent)) if parent.heap.lends_terms() => {
            init_block(p, 2);
            p.group_leader = parent.group_leader;
            shared::publish(parent);
            return args;
        }
        (Mode::Hybrid, parent) => {
            let package = Package::for_new_process(parent.as_deref(), args);
            (package.words_to_unpack(), Some(package))
        }
        (Mode::Private | Mode::Shared, _) => (flat_size(args), None),
    };
    init_block(p, args_words + flat_size(group_leader) + 2);
    p.group_leader = p.heap.copy(group_leader);
    match package {
        Some(package) => package.unpack(&mut p.heap),
        None => p.heap.copy(args),
    }
}

/// The reason in memory that stays while the process runs on. It may be in any heap.
pub(crate) fn own_reason(p: &mut Process, reason: Term) -> Term {
    if p.heap.lends_terms() { p.heap.copy(reason) } else { reason }
}

// ---- what threads that run or change a process say to a collection of all heaps ----

/// The process runs, or something is sent to it: the next minor collection looks at it.
#[inline(always)]
pub fn remember(p: &ProcShared) {
    if memory_mode() == Mode::Shared {
        shared::remember(p);
    }
}

/// Until the result is dropped, no term that the calling thread accesses moves.
#[inline(always)]
pub(crate) fn hold() -> Option<safepoint::Hold> {
    (memory_mode() == Mode::Shared).then(safepoint::hold)
}

/// True if the calling thread must not collect now, as terms that it accesses are no roots.
pub fn is_held() -> bool {
    memory_mode() == Mode::Shared && safepoint::is_held()
}

/// The calling thread, which is no scheduler, accesses terms of processes from here on.
pub(crate) fn enter() {
    if memory_mode() == Mode::Shared {
        safepoint::enter();
    }
}

/// The thread that called `enter` accesses no terms any more.
pub(crate) fn leave() {
    if memory_mode() == Mode::Shared {
        safepoint::leave();
    }
}

/// The process has ended for all others, and a dirty thread still has its terms.
pub(crate) fn becomes_zombie(p: ProcRef) {
    if memory_mode() == Mode::Shared {
        shared::zombies::add(p);
    }
}

/// A process for which `becomes_zombie` was called is about to be freed.
pub(crate) fn is_no_zombie(p: ProcRef) {
    if memory_mode() == Mode::Shared {
        shared::zombies::remove(p);
    }
}
