//! Local collections: a process collects its block alone, and the world is not stopped, if nothing else refers into the block. So a program
//! that sends nothing is collected as with private heaps, in a block that stays in the cache.
//!
//! What may refer into a block? The process' roots do. The old generation does not. Retired blocks do not, as all their objects are older
//! than those in the block. Messages in the queue may, if they came with memory of their own and the process looked at them: those are
//! roots here as well, so there must not be many. Two things can make other processes refer to it: messages to others, apart from those of
//! a few words (`small`), and the arguments of new processes. Both call `publish`, and so do fragments, in which natives continue to build
//! what they began in the block. From then on the block is left to the next stop-the-world collection. The block that the process has after
//! it can be collected alone again.
//!
//! What survives stays young, in the process' new block. If that is more than half of the block, it fills with live objects. Then it is
//! retired when it is full, and so are the next ones, twice as many each time, up to a bound.

use super::{chunk, nursery, safepoint};
use crate::base::{cycles, zeal};
use crate::heap::blocks;
use crate::heap::evacuate::{self, evacuate};
use crate::heap::private::off_heap::{Area, for_each_moved, virtual_words};
use crate::heap::roots;
use crate::observe::figures;
use crate::process::stack;
use crate::process::{FLAG_PUBLISHED, FLAG_TASK, Process};
use heddle_term::heap::release_object;
use heddle_term::{OffHeap, Term};

/// Maximum number of stack words to scan: with more a local collection costs more than it frees.
const MAX_STACK_WORDS: usize = 512;
/// Maximum number of queued messages to scan: those that came by pointer since the last stop-the-world collection, or that the process
/// looked at and left in the queue.
const MAX_ADOPTED: usize = 64;
/// Minimum size of a block that is collected alone, in words. Smaller ones belong to processes that waited: they are retired first.
const MIN_BLOCK_WORDS: usize = 48;
/// Maximum number of blocks that are retired without a local collection after one was full of live objects.
const MAX_SKIPPED: u8 = 32;
/// A full block below this size in words grows whatever the share of live objects: larger collections are worth their call, and all of it
/// still fits in the first-level cache.
const MIN_WORDS: usize = 1024;

/// From now on other processes refer into the block of this process, or may do so.
#[inline(always)]
pub(crate) fn publish(p: &mut Process) {
    if p.flags & FLAG_PUBLISHED == 0 {
        p.flags |= FLAG_PUBLISHED;
        chunk::count(p);
    }
}

/// True if the process, at a safepoint, may collect its block alone.
pub(super) fn may_collect(p: &mut Process) -> bool {
    let is_small = p.heap_words() < MIN_BLOCK_WORDS && !zeal::gc();
    if is_small
        || p.flags & (FLAG_PUBLISHED | FLAG_TASK) != 0
        || safepoint::is_held()
        || !p.heap.fragments.is_null()
        || p.is_in_safe_region()
    {
        return false;
    }
    if !p.messages.adopts_up_to(MAX_ADOPTED) {
        return false;
    }
    stack::before_minor(p);
    if p.stack_words() - stack::clean_words(p).min(p.stack_words()) > MAX_STACK_WORDS {
        return false;
    }
    let trailer = p.trailer();
    if trailer.skipped > 0 && !zeal::gc() {
        trailer.skipped -= 1;
        return false;
    }
    true
}

/// Copies the live objects of the block to another block of the same size or the next larger one. `live` are the X registers in use.
pub(super) fn collect(p: &mut Process, live: &mut [Term]) {
    let began = cycles::now();
    let (stack, used, old_words) = (p.stack_words(), p.used_words(), p.heap_words());
    let grows = std::mem::take(&mut p.grow) && old_words < nursery::share_words().max(chunk::MIN_REFILL_WORDS);
    let words = if grows { crate::base::sizes::next_above(old_words) } else { old_words };
    let from = Area::new(p.start, p.heap.htop);
    let start = chunk::allocate(words);
    let mut top = start;
    let mut move_out = |slot: &mut Term| {
        let term = *slot;
        if term.is_pointer() && from.contains(term.ptr()) {
            // SAFETY: a whole object of the block; the new one has room for all of them, as it is no smaller.
            *slot = unsafe { evacuate(term, &mut top) };
        }
    };
    roots::for_each_young_root(p, live, &mut move_out);
    p.messages.for_each_adopted(&mut move_out);
    // SAFETY: from `start` to `top` there are whole objects, and there is room as above.
    unsafe { scan(start, &mut top, &from) };
    let list = std::mem::replace(&mut p.heap.off_heap, OffHeap::new());
    // SAFETY: the process' list; all that lives of the block was moved, which is still there.
    p.heap.off_heap = unsafe { sweep(list, &from) };
    let (old_start, old_end) = (p.start, p.end);
    chunk::take(p, start, words, stack);
    p.heap.htop = top;
    p.sync_limit();
    blocks::poison(old_start, old_start.wrapping_add(used));
    chunk::free(old_start, old_end);
    if words > old_words {
        chunk::grew(p, old_words);
    }
    let left = p.used_words();
    p.grow = left * 4 > words || words < MIN_WORDS;
    let trailer = p.trailer();
    trailer.made_words += used - left;
    trailer.skips = if left * 2 > words { (trailer.skips * 2).clamp(1, MAX_SKIPPED) } else { 0 };
    trailer.skipped = trailer.skips;
    figures::count(|mine| {
        mine.collecting().own.add(cycles::to_rough_ns(cycles::now().wrapping_sub(began)));
        mine.words_reclaimed.add((used - left) as u64);
    });
}

/// Scans the objects from `at` to `top`: moves the objects in `from` that they refer to, and scans those in turn.
///
/// # Safety
/// There are whole objects from `at` to `top`, and after `top` there is room for everything in `from`.
// SAFETY: `collect` calls it for what it copied, into room for all of the block.
unsafe fn scan(at: *mut u64, top: &mut *mut u64, from: &Area) {
    let visit = |top: &mut *mut u64, at: *mut u64, word: Term| {
        if from.contains(word.ptr()) {
            // SAFETY: a whole object of `from`; after `top` there is room for it. `at` is the place of the term.
            unsafe { *at = evacuate(word, top).raw() };
        }
    };
    // SAFETY: the objects from `at` on are whole, as are those that are moved.
    unsafe { evacuate::scan(at, top, |top| *top, visit) };
}

/// Returns what remains of a list of off-heap objects: those outside of `from`, and those that were moved. Releases the others.
///
/// # Safety
/// The list is whole, and everything alive in `from` was moved.
unsafe fn sweep(list: OffHeap, from: &Area) -> OffHeap {
    let mut left = OffHeap::new();
    let sweep = |object: *mut u64, moved: Option<*mut u64>| {
        // SAFETY: by contract: it stays as it is, or was moved whole, or is on no list from here on.
        unsafe {
            match moved.or((!from.contains(object)).then_some(object)) {
                None => release_object(object),
                Some(stays) => {
                    left.push(stays);
                    left.virtual_words += virtual_words(stays);
                }
            }
        }
    };
    // SAFETY: the list is whole, and everything alive in `from` was moved.
    unsafe { for_each_moved(list.head, sweep) };
    left
}
