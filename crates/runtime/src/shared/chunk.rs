//! A process' part of the young generation: its block, as with private heaps, and what it filled before.
//!
//! Behind the end of each block (where the stack begins) stands a trailer: what the collector has to know of the process' blocks.
//! A block that is full is retired: the process gets another one and its stack moves there; terms stay where they are. When a
//! process ends, its block goes on the list of orphans of the calling thread, with all that hangs on it: one store, whatever it holds.

use super::charged::Charged;
use super::world;
use super::{idle, nursery, own};
use crate::process::{FLAG_PUBLISHED, Process, STACK_SLACK_WORDS};
use crate::{blocks, gc, sizes, spawn};
use heddle_term::Fragment;
use std::ptr::null_mut;
use std::sync::atomic::Ordering;

/// Behind the end of a block.
#[repr(C)]
pub(super) struct Trailer {
    /// Of a list of blocks.
    pub next: *mut Trailer,
    pub start: *mut u64,
    /// Where the heap ended when the process let go of the block, or of its heap for a while (`outside`).
    pub top: *mut u64,
    /// Off-heap objects that are on no list of the process any more.
    pub off_heap: *mut u64,
    /// Blocks that it filled before this one, since the last collection.
    pub retired: *mut Trailer,
    /// Fragments, likewise.
    pub fragments: *mut Fragment,
    /// Words in both.
    pub retired_words: usize,
    /// Words of the old generation that it was the first to refer to, and of binaries.
    pub old: Charged,
    /// Words that it made until the last collection.
    pub made_words: usize,
    /// What it made between the last two collections between which it made anything: its first block after one has room for that.
    pub expected_words: usize,
    /// Of its own collections (`own`): how many blocks are to be retired before the next one, and how many were when that was said.
    pub skipped: u8,
    pub skips: u8,
    /// The block counts for the nursery.
    pub is_counted: bool,
    /// Its reductions at the last major collection, see `rests_since_major`.
    pub reductions: u64,
}

const TRAILER_WORDS: usize = size_of::<Trailer>() / 8;

/// Who works gets blocks that are worth the call, however many others there are.
pub(super) const LEAST_REFILL_WORDS: usize = 256;

impl Process {
    /// It must have a block.
    pub(super) fn trailer<'a>(&self) -> &'a mut Trailer {
        // Whoever has the process has it alone.
        // SAFETY: behind each block of a process there is one (`allocate`), written when the process got the block.
        unsafe { &mut *self.end.cast::<Trailer>() }
    }
}

/// A block of `words` with an empty trailer. Gives its start.
pub(super) fn allocate(words: usize) -> *mut u64 {
    let start = blocks::allocate(words + TRAILER_WORDS);
    let trailer = Trailer {
        next: null_mut(),
        start,
        top: start,
        off_heap: null_mut(),
        retired: null_mut(),
        fragments: null_mut(),
        retired_words: 0,
        old: Charged::default(),
        made_words: 0,
        expected_words: 0,
        skipped: 0,
        skips: 0,
        is_counted: false,
        reductions: u64::MAX,
    };
    // SAFETY: room for it was asked for.
    unsafe { start.add(words).cast::<Trailer>().write(trailer) };
    start
}

/// Gives back a block whose trailer stands at `end`; what hangs on it is somebody else's by now.
pub(super) fn free(start: *mut u64, end: *mut u64) {
    blocks::free(start, end.wrapping_add(TRAILER_WORDS));
}

/// What a block has room for at first beyond what is known to be needed: many processes need hardly any, and a refill costs little.
const SPARE_WORDS: usize = 32;

/// Who asked for a larger heap than usual has it. The usual smallest size is that of heaps which are copied when they are full.
fn asked_words(p: &Process) -> usize {
    if p.min_heap_words > spawn::MIN_HEAP_WORDS.load(Ordering::Relaxed) { p.min_heap_words } else { 0 }
}

/// A block of no more words counts for the nursery when it is left to the world's collection (`own`): until then its process may collect
/// it alone, or waits with it, as with private heaps, and many processes with a small one each would be collected all the time.
const COUNTED_LATE_WORDS: usize = 1024;

/// The process got another block.
fn took(p: &Process) {
    p.trailer().is_counted = false;
    if p.heap_words() > COUNTED_LATE_WORDS {
        count(p);
    }
}

/// Its block had so many words before.
pub(super) fn grew(p: &Process, from_words: usize) {
    if p.trailer().is_counted {
        nursery::took(p.heap_words() - from_words);
    } else {
        took(p);
    }
}

/// Others may refer into the block of the process from now on, or nobody allocates there any more.
#[inline(never)]
pub(super) fn count(p: &Process) {
    if !std::mem::replace(&mut p.trailer().is_counted, true) {
        nursery::took(p.heap_words());
    }
}

/// A new process' first block.
pub fn init(p: &mut Process, need_words: usize) {
    let words = sizes::at_least((need_words + STACK_SLACK_WORDS + SPARE_WORDS).max(asked_words(p)));
    p.start = allocate(words);
    p.end = p.start.wrapping_add(words);
    p.heap.htop = p.start;
    p.high_water = p.start;
    p.stop = p.end;
    p.sync_limit();
    took(p);
}

/// What natives left beside the block is retired. Then the engine no longer asks for a collection after each native.
pub(super) fn retire_fragments(p: &mut Process) {
    let mut fragment = std::mem::replace(&mut p.heap.fragments, null_mut());
    let words = std::mem::take(&mut p.heap.fragment_words);
    if !fragment.is_null() {
        own::publish(p);
    }
    let trailer = p.trailer();
    trailer.retired_words += words;
    while !fragment.is_null() {
        // SAFETY: fragments on the process' list are live and its own.
        unsafe {
            let next = (*fragment).next;
            (*fragment).next = trailer.fragments;
            trailer.fragments = fragment;
            nursery::took(Fragment::capacity_words(fragment));
            fragment = next;
        }
    }
}

/// Gives the process another block with room for `need_words`. The full one is retired.
pub(super) fn refill(p: &mut Process, need_words: usize) {
    let need = p.stack_words() + need_words + STACK_SLACK_WORDS;
    let usual = (2 * p.heap_words()).max(p.trailer().expected_words + need);
    let words = sizes::at_least(usual.min(nursery::share_words().max(LEAST_REFILL_WORDS)).max(need + p.stack_words()));
    let (old, top) = (p.trailer() as *mut Trailer, p.heap.htop);
    let start = p.start;
    count(p);
    exchange(p, words);
    retire(p.trailer(), old, start, top);
    took(p);
}

/// The block of which `old` was the trailer, filled from `start` to `top`, is one that nobody allocates in any more.
fn retire(trailer: &mut Trailer, old: *mut Trailer, start: *mut u64, top: *mut u64) {
    trailer.retired_words += (top as usize - start as usize) / 8;
    // SAFETY: the old block is still there with its trailer.
    unsafe {
        (*old).start = start;
        (*old).top = top;
        (*old).next = trailer.retired;
    }
    trailer.retired = old;
}

/// Moves the stack to a new block of `words`, which has room for it, and what the trailer says. The old block stays as it is.
fn exchange(p: &mut Process, words: usize) {
    let stack = p.stack_words();
    take(p, allocate(words), words, stack);
}

/// The same with a block that is allocated.
pub(super) fn take(p: &mut Process, start: *mut u64, words: usize, stack: usize) {
    let end = start.wrapping_add(words);
    let stop = end.wrapping_sub(stack);
    // SAFETY: both stacks have `stack` words; behind both blocks there is a trailer.
    unsafe {
        std::ptr::copy_nonoverlapping(p.stop, stop, stack);
        std::ptr::copy_nonoverlapping(p.end.cast::<Trailer>(), end.cast::<Trailer>(), 1);
    }
    (p.start, p.end, p.stop) = (start, end, stop);
    p.heap.htop = start;
    p.high_water = start;
    p.flags &= !FLAG_PUBLISHED;
    p.sync_limit();
    p.trailer().start = start;
}

/// After a collection, when nothing is left in the block: one that suits what the process used of late. Who waits gives back all but
/// its stack: it may wait for long, and what it will need is known when it goes on.
pub(super) fn fit(p: &mut Process, used_words: usize, waits: bool) {
    let stack = p.stack_words() + STACK_SLACK_WORDS;
    if used_words > 0 {
        p.trailer().expected_words = used_words;
    }
    let usual = if waits { stack } else { (used_words + stack + SPARE_WORDS).min(nursery::share_words()).max(2 * stack) };
    let wanted = sizes::at_least(usual.max(asked_words(p)));
    if wanted * 2 <= p.heap_words() {
        let (start, end) = (p.start, p.end);
        exchange(p, wanted);
        free(start, end);
    }
}

/// The process hibernates, without a stack: the smallest block. What it refers to stays where it is.
pub(super) fn shrink(p: &mut Process) {
    let (old, start, top) = (p.trailer() as *mut Trailer, p.start, p.heap.htop);
    p.stop = p.end;
    count(p);
    exchange(p, sizes::at_least(0));
    retire(p.trailer(), old, start, top);
}

/// The process ended: what it has is the collector's.
pub fn abandon(p: &mut Process) {
    p.messages.clear();
    if p.start.is_null() {
        return p.heap.clear();
    }
    retire_fragments(p);
    count(p);
    let trailer = p.trailer();
    idle::died(p.heap_words() + trailer.retired_words + trailer.old.words() + trailer.old.virtual_words() + p.heap.off_heap.virtual_words);
    trailer.start = p.start;
    trailer.top = p.heap.htop;
    debug_assert!(trailer.off_heap.is_null());
    trailer.off_heap = std::mem::replace(&mut p.heap.off_heap.head, null_mut());
    p.heap.off_heap.virtual_words = 0;
    let orphans = &world::mine().orphans;
    // Relaxed, no read-modify-write: the list is the calling thread's while it is inside.
    trailer.next = orphans.load(Ordering::Relaxed);
    orphans.store(trailer, Ordering::Relaxed);
    gc::forget_block(p);
}
