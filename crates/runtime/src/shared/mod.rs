//! The shared heap (`+hmem shared`): one heap for all processes (seed 001 §4).
//!
//! **Young generation.** Each process allocates in a block of its own, with its stack at the other end, as with private heaps: the
//! engine does not know the difference (`chunk`). All blocks lie in one range of addresses (`heddle_term::young`). A message is a
//! pointer, and so are the arguments of a new process; who sent it may go on with other things, or end.
//!
//! **Old generation.** Pieces that only the collector fills (`pieces`). What a minor collection finds alive goes there at once:
//! then no block holds anything that lives, and what a process did not touch since refers to nothing young. So a minor collection
//! looks at the processes that ran, or were sent something, since the last one (`touched`; §4.4 of the seed), and at
//! the part of their stacks that changed (`stack`; §8). A major one copies all but literals.
//!
//! **Old objects never refer to young ones.** Terms are immutable, and what a native writes while it builds is all young, as nothing is
//! collected before it returned. What could break that:
//! - appending to a binary in place: the words that change are no pointers (the bytes' address, a size). But several processes may
//!   have the binary, so the fast way, which takes it for the process' own, is closed (`area::is_fixed` says yes of everything), and
//!   the slow one claims the room behind the bytes with a compare-and-swap and never moves them;
//! - `map::merge` lets a map take a literal for its keys: to be left alone for the same reason;
//! - match contexts move their position, which is no pointer, and no other process has them;
//! - magic references and off-heap lists: their links lead from object to object of one generation, and are no terms;
//! - `update_record` and `set_tuple_element` write a tuple that the operation, or the one before, has just made;
//! - fragments, funs, maps under construction: filled before anybody could collect;
//! - the dictionary, message queues, registers, named fields: roots, which are looked at.
//!
//! Mode gc verifies this behind collections (`verify`).
//!
//! **Own collections.** A block that nothing else refers into is collected by its process, alone (`own`). What survives stays in the young
//! generation.
//!
//! **World.** Collections run while no thread looks at a process (`world`). Natives on dirty threads run outside, on copies of
//! their arguments (`outside`). A process that ends for the others meanwhile stays among the roots (`departed`). Each root is visited
//! once: in a major collection all that is no literal moves, so what a slot refers to when it was visited would move again.
//!
//! Nothing is collected in the middle of a native, or while signals are handled (`world::hold`): messages that were taken and are in
//! no queue yet are no roots. What is asked for then is noted as what is left to dirty threads is with private heaps (`long_gc`), but
//! done by the thread that runs the process, before or behind its slice: all wait for a collection anyway, and a process that is asked
//! again and again, each time before it got its turn, would never run.
//!
//! **What is not in the heap**: data under way that is nobody's yet (timers, ports, `exit/2`, answers) is copied to memory of its
//! own, as with private heaps, and copied into the heap by who gets it. So no root leads there, and what is neither young nor a
//! literal is old. What a process ends with is in its heap: signals refer to it, and the inbox they are in is visited.
//!
//! Mode gc collects at each eighth door of all processes, and all that lives at each 1024th. (At every door it would take an hour
//! for the test programs: all schedulers stand still for it.)

pub mod asked;
mod charged;
mod chunk;
pub mod collection;
mod copier;
pub(crate) mod departed;
pub(crate) mod idle;
pub mod nursery;
pub mod outside;
mod own;
mod pieces;
pub mod reach;
mod roots;
mod spans;
mod touched;
mod verify;
mod walk;
pub mod world;

pub use chunk::{abandon, init};
pub(crate) use own::publish;
pub(crate) use pieces::let_go;
pub(crate) use touched::touch;

use crate::gc::Kind;
use crate::process::{FLAG_ASKED, Process};
use crate::zeal;
use collection::COUNT;
use heddle_term::{Term, young};
use pieces::OLD;
use std::sync::atomic::{AtomicU64, Ordering};

#[inline(always)]
pub fn is_on() -> bool {
    young::is_on()
}

/// Words of the old generation: in use, and in its pieces.
pub fn old_words() -> (usize, usize) {
    let old = OLD.lock().unwrap();
    (old.words, old.pieces().map(pieces::Piece::words).sum())
}

/// Words that the process has besides its block: what it filled before, and what it was the first to refer to of the old generation.
pub fn old_words_of(p: &Process) -> usize {
    if p.start.is_null() {
        return 0;
    }
    let trailer = p.trailer();
    trailer.retired_words + trailer.old.words()
}

/// Words that the process filled since the last collection, besides its block.
pub fn retired_words_of(p: &Process) -> usize {
    if p.start.is_null() { 0 } else { p.trailer().retired_words }
}

/// Whether nothing of the process can have died since the last major collection, as it ran no code: who asks for one of its heap finds
/// that done. (Programs collect all processes one by one.) Not while it is traced: who does that wants to see one. Between two slices of
/// it, as reductions are counted behind each.
pub fn rests_since_major(p: &Process) -> bool {
    is_on() && !p.start.is_null() && p.trailer().reductions == p.reductions && !p.need_major && !is_traced(p)
}

fn is_traced(p: &Process) -> bool {
    p.shared().trace.load(Ordering::Relaxed) & crate::trace::flags::COLLECTIONS != 0
}

/// Where the heap ends in the block of a process that has put its heap away.
pub(crate) fn top_of(p: &Process) -> *mut u64 {
    if is_on() && !p.start.is_null() { p.trailer().top } else { p.start }
}

/// Words of binaries that it was the first to refer to of the old generation.
pub fn old_virtual_words_of(p: &Process) -> usize {
    if is_on() && !p.start.is_null() { p.trailer().old.virtual_words() } else { 0 }
}

/// Words that it made so far, but for what is in its block and fragments.
pub fn made_words_of(p: &Process) -> usize {
    if is_on() && !p.start.is_null() { p.trailer().made_words + p.trailer().retired_words } else { 0 }
}

/// In mode gc: at one of so many doors there is a collection, at one of so many a major one.
const ZEAL_MINOR: u64 = 8;
const ZEAL_MAJOR: u64 = 1024;
static DOORS: AtomicU64 = AtomicU64::new(0);

/// Whether the major collection that a process asks for may be one. Who traces it is told what was asked for, and tests are to find all.
fn may_be_major(p: &Process) -> bool {
    asked::has_time() || is_traced(p) || zeal::gc() || zeal::verifies()
}

/// What a process that stands at a door wants of the world.
fn wanted(p: &Process, kind: Kind) -> u8 {
    if (kind == Kind::Major || p.need_major) && may_be_major(p) {
        return world::MAJOR;
    }
    if zeal::gc() {
        let door = DOORS.fetch_add(1, Ordering::Relaxed);
        if door.is_multiple_of(ZEAL_MINOR) {
            return if door.is_multiple_of(ZEAL_MAJOR) { world::MAJOR } else { world::MINOR };
        }
    }
    let is_due =
        matches!(kind, Kind::Asked | Kind::Major) || p.flags & FLAG_ASKED != 0 || p.heap.off_heap.virtual_words > p.vheap_limit_words;
    if is_due { world::MINOR } else { 0 }
}

/// Whether the process only needs room, which it has now: nothing of others is to be collected. `live` are the X registers in use.
pub fn has_room(p: &mut Process, live: &mut [Term], need_words: usize, kind: Kind) -> bool {
    if !world::is_held() && (wanted(p, kind) != 0 || world::is_wanted()) {
        return false;
    }
    if (p.free_words() < need_words as isize || zeal::gc()) && own::may_collect(p) {
        own::collect(p, live);
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

/// At a door: the world collects, and there is room afterwards. `live` are the X registers in use. True if it was a minor collection.
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
    world::ask(if is_major { world::MAJOR } else { world::MINOR });
    world::come_in();
    live.copy_from_slice(&p.saved[at..]);
    p.saved.truncate(at);
    make_room(p, need_words);
}

/// `hibernate/3`: all that is left of the process' part is a small block without a stack.
pub fn hibernate(p: &mut Process) {
    chunk::retire_fragments(p);
    chunk::shrink(p);
}

/// The process, at a door, leaves the literals that are announced, and so do all others.
pub fn leave_literals(p: &mut Process) {
    collection::LEAVES_LITERALS.store(true, Ordering::Relaxed);
    collect_all(p, &mut [], 0, true);
}

/// Words that the last collection copied, for which the caller has just waited.
pub(crate) fn copied_words() -> usize {
    collection::COPIED_WORDS.load(Ordering::Relaxed)
}

/// Collections so far: what refers to literals that were announced before can be left once (`literals`).
pub fn collections() -> u64 {
    COUNT.load(Ordering::Relaxed)
}
