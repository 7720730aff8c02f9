//! The shared heap (`+hmem shared`): one heap for all processes, after J. Wilhelmsson, "Exploring Alternative Memory Architectures for
//! Erlang", 2002, section 4 "Shared Heap".
//!
//! **Young generation.** Each process allocates in a block of its own, with its stack at the other end, as with private heaps: the engine
//! does not see a difference (`chunk`). All blocks lie in one range of addresses (`heddle_term::young`). A message is a pointer to the
//! sender's term, and so are the arguments of a new process. The sender may go on, or end, without a copy being made.
//!
//! **Old generation.** It consists of pieces that only the collector fills (`pieces`). A minor collection moves everything that it finds
//! alive to the old generation at once. So after it no block holds a live object, and a process that has not run since then refers to
//! nothing young. A minor collection therefore visits only the processes that ran, or were sent something, since the last one
//! (`remembered`; section 4.4 of the thesis), and of their stacks only the part that changed (`stack`; section 8). A major collection
//! copies everything but literals.
//!
//! **Old objects never refer to young ones.** Terms are immutable. What a native writes while it builds a term is all young, because
//! nothing is collected before the native returns. These are the cases that could break the rule, and why they do not:
//! - Appending to a binary in place: the words that change (the address of the bytes, and a size) are not pointers to terms. But several
//!   processes may have the binary. So the fast path, which takes the binary for the process' own, is closed (`area::is_fixed` says yes of
//!   everything). The slow path claims the room after the bytes with a compare-and-swap and never moves them.
//! - `map::merge` lets a map take a literal for its keys. It must not be changed, for the same reason.
//! - Match contexts change their position, which is not a pointer, and no other process has them.
//! - Magic references and off-heap lists: their links lead from object to object of one generation, and are not terms.
//! - `update_record` and `set_tuple_element` write to a tuple that the same operation, or the one before, has just made.
//! - Fragments, funs, maps under construction are filled before any thread could collect.
//! - The dictionary, message queues, registers and named fields are roots, and every collection visits them.
//!
//! The test mode `gc` verifies this after collections (`verify`).
//!
//! **Local collections.** A process collects its block alone if nothing else refers into the block (`local_collection`). What survives
//! stays in the young generation.
//!
//! **Stopping the world.** Collections run while no thread accesses a process (`safepoint`). Natives on dirty threads run meanwhile, on
//! copies of their arguments (`safe_region`). A process that has ended for all others while a dirty thread still has it stays among the
//! roots (`zombies`). Each root is visited exactly once: a major collection moves everything that is not a literal, so a second visit would
//! move the copy again.
//!
//! Nothing is collected in the middle of a native, or while signals are handled (`safepoint::hold`): messages that were taken from the
//! inbox and are in no queue yet are not roots. A collection that is requested then is noted, as collections for dirty threads are with
//! private heaps (`long_gc`). But here the thread that runs the process does it, before or after the slice: all threads wait for a
//! collection anyway, and a process that is asked again and again, each time before its turn, would never run.
//!
//! **What is not in the heap**: data in transit that belongs to no process yet (timers, ports, `exit/2`, answers) is copied to memory of
//! its own, as with private heaps, and the receiver copies it into the heap. So no root leads there, and what is neither young nor a
//! literal is old. The exit reason of a process is in its heap: signals refer to it, and the collector visits the inboxes that hold them.
//!
//! The test mode `gc` runs a collection at every eighth safepoint of all processes, and a major one at every 1024th. (With one at every
//! safepoint the test programs would take an hour, because each stops all schedulers.)

pub mod budget;
mod charged;
mod chunk;
pub mod collection;
mod copier;
pub(crate) mod idle;
mod local_collection;
pub mod nursery;
mod pieces;
mod remembered;
pub mod retained;
mod roots;
pub mod safe_region;
pub mod safepoint;
mod spans;
mod verify;
mod walk;
pub(crate) mod zombies;

pub use chunk::{abandon, init};
pub(crate) use local_collection::publish;
pub(crate) use pieces::let_go;
pub(crate) use remembered::remember;

use crate::base::zeal;
use crate::heap::private::gc::Kind;
use crate::process::{FLAG_ASKED, Process};
use collection::COUNT;
use heddle_term::{Term, young};
use pieces::OLD;
use std::sync::atomic::{AtomicU64, Ordering};

#[inline(always)]
pub fn is_on() -> bool {
    young::is_on()
}

/// Words of the old generation that are in use, and words of all its pieces.
pub fn old_words() -> (usize, usize) {
    let old = OLD.lock().unwrap();
    (old.words, old.pieces().map(pieces::Piece::words).sum())
}

/// Words that the process has besides its block: retired blocks, and the old objects that it was the first to refer to.
pub fn old_words_of(p: &Process) -> usize {
    if p.start.is_null() {
        return 0;
    }
    let trailer = p.trailer();
    trailer.retired_words + trailer.old.words()
}

/// Words in blocks and fragments that the process has retired since the last collection.
pub fn retired_words_of(p: &Process) -> usize {
    if p.start.is_null() { 0 } else { p.trailer().retired_words }
}

/// True if the process has not run since the last major collection, so nothing in its heap can have died and a request to collect it is
/// already satisfied. (Programs collect all processes one by one.) False while its collections are traced: the tracer expects an event.
/// Call it between two slices of the process: `reductions` is updated at the end of a slice.
pub fn rests_since_major(p: &Process) -> bool {
    is_on() && !p.start.is_null() && p.trailer().reductions == p.reductions && !p.need_major && !is_traced(p)
}

fn is_traced(p: &Process) -> bool {
    p.shared().trace.load(Ordering::Relaxed) & crate::trace::flags::COLLECTIONS != 0
}

/// The end of the heap in the block of a process that has put its heap away (`Process::heap` is another one for a while).
pub(crate) fn top_of(p: &Process) -> *mut u64 {
    if is_on() && !p.start.is_null() { p.trailer().top } else { p.start }
}

/// Words of binaries to which this process was the first to refer in the old generation.
pub fn old_virtual_words_of(p: &Process) -> usize {
    if is_on() && !p.start.is_null() { p.trailer().old.virtual_words() } else { 0 }
}

/// Words that the process has made so far, apart from those in its block and fragments.
pub fn made_words_of(p: &Process) -> usize {
    if is_on() && !p.start.is_null() { p.trailer().made_words + p.trailer().retired_words } else { 0 }
}

/// In the test mode `gc`: one safepoint of `ZEAL_MINOR` collects, and one of `ZEAL_MAJOR` runs a major collection.
const ZEAL_MINOR: u64 = 8;
const ZEAL_MAJOR: u64 = 1024;
static SAFEPOINTS: AtomicU64 = AtomicU64::new(0);

/// True if the major collection that a process requests may run as one now. Always true for a traced process, as the tracer expects the
/// event, and in test modes, which must see everything collected.
fn may_be_major(p: &Process) -> bool {
    budget::has_time() || is_traced(p) || zeal::gc() || zeal::verifies()
}

/// The kind of collection that the process, at a safepoint, needs: `safepoint::MAJOR`, `safepoint::MINOR`, or 0 for none.
fn wanted(p: &Process, kind: Kind) -> u8 {
    if (kind == Kind::Major || p.need_major) && may_be_major(p) {
        return safepoint::MAJOR;
    }
    if zeal::gc() {
        let count = SAFEPOINTS.fetch_add(1, Ordering::Relaxed);
        if count.is_multiple_of(ZEAL_MINOR) {
            return if count.is_multiple_of(ZEAL_MAJOR) { safepoint::MAJOR } else { safepoint::MINOR };
        }
    }
    let is_due =
        matches!(kind, Kind::Asked | Kind::Major) || p.flags & FLAG_ASKED != 0 || p.heap.off_heap.virtual_words > p.vheap_limit_words;
    if is_due { safepoint::MINOR } else { 0 }
}

/// Returns true if the process has the room that it needs now, so no collection of the shared heap must follow. `live` are the X registers
/// in use.
pub fn has_room(p: &mut Process, live: &mut [Term], need_words: usize, kind: Kind) -> bool {
    if !safepoint::is_held() && (wanted(p, kind) != 0 || safepoint::is_wanted()) {
        return false;
    }
    if (p.free_words() < need_words as isize || zeal::gc()) && local_collection::may_collect(p) {
        local_collection::collect(p, live);
    }
    make_room(p, need_words);
    true
}

fn make_room(p: &mut Process, need_words: usize) {
    chunk::retire_fragments(p);
    if p.free_words() < need_words as isize {
        chunk::refill(p, need_words);
    }
}

/// Stops the world at a safepoint for a collection, and makes room for `need_words` afterwards. `live` are the X registers in use. Returns
/// true if it was a minor collection.
pub fn collect(p: &mut Process, live: &mut [Term], need_words: usize, kind: Kind) -> bool {
    let mut is_major = kind == Kind::Major || p.need_major;
    if is_major && !may_be_major(p) {
        is_major = false;
        p.need_major = true;
        idle::owes();
    }
    collect_all(p, live, need_words, is_major);
    !is_major
}

fn collect_all(p: &mut Process, live: &mut [Term], need_words: usize, is_major: bool) {
    p.flags &= !FLAG_ASKED;
    let at = p.saved.len();
    p.saved.extend_from_slice(live);
    safepoint::request(if is_major { safepoint::MAJOR } else { safepoint::MINOR });
    safepoint::stop();
    live.copy_from_slice(&p.saved[at..]);
    p.saved.truncate(at);
    make_room(p, need_words);
}

/// `hibernate/3`: the process keeps only a small block without a stack.
pub fn hibernate(p: &mut Process) {
    chunk::retire_fragments(p);
    chunk::shrink(p);
}

/// The process is at a safepoint. Runs a major collection in which all processes get copies of the literals that are announced as leaving.
pub fn leave_literals(p: &mut Process) {
    collection::LEAVES_LITERALS.store(true, Ordering::Relaxed);
    collect_all(p, &mut [], 0, true);
}

/// Words that the last collection copied. The caller has just waited for it.
pub(crate) fn copied_words() -> usize {
    collection::COPIED_WORDS.load(Ordering::Relaxed)
}

/// Number of collections so far. `literals` compares two values: after a later collection no process refers to literals that were announced
/// before it.
pub fn collections() -> u64 {
    COUNT.load(Ordering::Relaxed)
}
