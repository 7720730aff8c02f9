//! A process whose block nothing else refers into collects that alone, and the world goes on: a program that sends nothing is collected
//! as with private heaps, in a block that stays in the cache.
//!
//! Who may refer into a block? The process' roots; the old generation does not, and blocks that it retired are older than all that
//! is in this one. Messages in its queue may if they came with memory of their own and it looked at them: those in the heap
//! are roots here as well, so there must not be many. Others come to it by what the process sends, but for messages of a few words (`small`), and new processes by
//! their arguments: both say so (`publish`), and so do fragments, in which natives go on building what they began in the block. From
//! then on the block is left to the world's collection; the next one is the process' own again.
//!
//! What survives stays young, and in the block. If that is more than half of it, it is a block that fills with what lives: then it is
//! retired when it is full, and so are so many of the next ones, twice as many each time, up to a bound.

use super::{chunk, nursery, world};
use crate::off_heap::{Area, for_each_moved, virtual_words};
use crate::process::{FLAG_PUBLISHED, FLAG_TASK, Process};
use crate::{blocks, cycles, figures, gc, stack, zeal};
use heddle_term::heap::release_object;
use heddle_term::{Header, OffHeap, Term};

/// With more of the stack to look at, a collection costs more than it gives back.
const MOST_STACK_WORDS: usize = 512;
/// The same of messages in its queue that came by pointer since the world was collected, or that it looked at and left there.
const MOST_ADOPTED: usize = 64;
/// Smaller blocks are those of processes that waited: they are retired first.
const LEAST_BLOCK_WORDS: usize = 48;
/// So many blocks are retired without a look, at most, when one was full of what lives.
const MOST_SKIPPED: u8 = 32;
/// Up to here a block that is full grows whatever lives in it: a collection is worth its call then, and all is still in the first cache.
const LEAST_WORDS: usize = 1024;

/// From now on others refer into the block of the process, or may do.
#[inline(always)]
pub(crate) fn publish(p: &mut Process) {
    if p.flags & FLAG_PUBLISHED == 0 {
        p.flags |= FLAG_PUBLISHED;
        chunk::count(p);
    }
}

/// Whether the process, at a door, may collect its block alone.
pub(super) fn may_collect(p: &mut Process) -> bool {
    let is_small = p.heap_words() < LEAST_BLOCK_WORDS && !zeal::gc();
    if is_small || p.flags & (FLAG_PUBLISHED | FLAG_TASK) != 0 || world::is_held() || !p.heap.fragments.is_null() || p.is_outside() {
        return false;
    }
    if !p.messages.adopts_up_to(MOST_ADOPTED) {
        return false;
    }
    stack::before_minor(p);
    if p.stack_words() - stack::clean_words(p).min(p.stack_words()) > MOST_STACK_WORDS {
        return false;
    }
    let trailer = p.trailer();
    if trailer.skipped > 0 && !zeal::gc() {
        trailer.skipped -= 1;
        return false;
    }
    true
}

/// Copies what lives in the block to another one, of its size or the next. `live` are the X registers in use.
pub(super) fn collect(p: &mut Process, live: &mut [Term]) {
    let began = cycles::now();
    let (stack, used, old_words) = (p.stack_words(), p.used_words(), p.heap_words());
    let grows = std::mem::take(&mut p.grow) && old_words < nursery::share_words().max(chunk::LEAST_REFILL_WORDS);
    let words = if grows { crate::sizes::next_above(old_words) } else { old_words };
    let from = Area::new(p.start, p.heap.htop);
    let start = chunk::allocate(words);
    let mut top = start;
    let mut move_out = |slot: &mut Term| {
        let term = *slot;
        if term.is_pointer() && from.contains(term.ptr()) {
            // SAFETY: a whole object of the block; the new one has room for all of them, as it is no smaller.
            *slot = unsafe { gc::evacuate(term, &mut top) };
        }
    };
    gc::for_each_young_root(p, live, &mut move_out);
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
    p.grow = left * 4 > words || words < LEAST_WORDS;
    let trailer = p.trailer();
    trailer.made_words += used - left;
    trailer.skips = if left * 2 > words { (trailer.skips * 2).clamp(1, MOST_SKIPPED) } else { 0 };
    trailer.skipped = trailer.skips;
    figures::count(|mine| {
        mine.collecting().own.add(cycles::to_rough_ns(cycles::now().wrapping_sub(began)));
        mine.words_reclaimed.add((used - left) as u64);
    });
}

/// Moves what the objects from `at` to `top` refer to of `from`, and so on.
///
/// # Safety
/// There are whole objects, and behind them is room for all that `from` has.
// SAFETY: the contract above.
unsafe fn scan(mut at: *mut u64, top: &mut *mut u64, from: &Area) {
    while at < *top {
        // SAFETY: by contract.
        unsafe {
            let word = Term::from_raw(*at);
            if word.is_header() {
                at = at.add(1 + Header::from_raw(word.raw()).raw_words());
                continue;
            }
            if word.is_pointer() && from.contains(word.ptr()) {
                *at = gc::evacuate(word, top).raw();
            }
            at = at.add(1);
        }
    }
}

/// What is left of a list of off-heap objects: those that lie elsewhere, and those that were moved.
///
/// # Safety
/// The list is whole; of what lies in `from`, what lives was moved.
// SAFETY: the contract above.
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
    // SAFETY: by contract.
    unsafe { for_each_moved(list.head, sweep) };
    left
}
