//! A process asks for a collection of the shared heap, or finds that it needs none.

use super::{budget, chunk, collection, idle, local_collection, safepoint};
use crate::base::zeal;
use crate::heap::CollectionKind;
use crate::process::{FLAG_ASKED, Process};
use heddle_term::Term;
use std::sync::atomic::{AtomicU64, Ordering};

/// True if the process has not run since the last major collection, so nothing in its heap can have died and a request to collect it is
/// already satisfied. (Programs collect all processes one by one.) False while its collections are traced: the tracer expects an event.
/// Call it between two slices of the process: `reductions` is updated at the end of a slice.
pub fn rests_since_major(p: &Process) -> bool {
    !p.start.is_null() && p.trailer().reductions == p.reductions && !p.need_major && !is_traced(p)
}

fn is_traced(p: &Process) -> bool {
    p.shared().trace.load(Ordering::Relaxed) & crate::trace::flags::COLLECTIONS != 0
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
fn wanted(p: &Process, kind: CollectionKind) -> u8 {
    if (kind == CollectionKind::Major || p.need_major) && may_be_major(p) {
        return safepoint::MAJOR;
    }
    if zeal::gc() {
        let count = SAFEPOINTS.fetch_add(1, Ordering::Relaxed);
        if count.is_multiple_of(ZEAL_MINOR) {
            return if count.is_multiple_of(ZEAL_MAJOR) { safepoint::MAJOR } else { safepoint::MINOR };
        }
    }
    let is_due = matches!(kind, CollectionKind::Asked | CollectionKind::Major)
        || p.flags & FLAG_ASKED != 0
        || p.heap.off_heap.virtual_words > p.vheap_limit_words;
    if is_due { safepoint::MINOR } else { 0 }
}

/// Returns true if the process has the room that it needs now, so no collection of the shared heap must follow. `live` are the X registers
/// in use.
pub fn has_room(p: &mut Process, live: &mut [Term], need_words: usize, kind: CollectionKind) -> bool {
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
pub fn collect(p: &mut Process, live: &mut [Term], need_words: usize, kind: CollectionKind) -> bool {
    let mut is_major = kind == CollectionKind::Major || p.need_major;
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
