//! A process' part of the young generation: its current block, laid out as with private heaps, and the blocks that it filled before.
//!
//! After the end of each block (where the stack begins) there is a trailer with what the collector must know about the process' blocks. A
//! full block is retired: the process gets another one and its stack moves there, while the terms stay where they are. When a process ends,
//! its block goes on the list of orphans of the calling thread, together with everything that the trailer lists. That is one store, however
//! much the process holds.

use super::charged::Charged;
use super::safepoint;
use super::{idle, local_collection, nursery};
use crate::base::sizes;
use crate::heap::blocks;
use crate::process::{FLAG_PUBLISHED, Process, STACK_SLACK_WORDS};
use heddle_abi::settings::SETTINGS;
use heddle_term::Fragment;
use std::ptr::null_mut;
use std::sync::atomic::Ordering;

/// Stands after the end of a block.
#[repr(C)]
pub(super) struct Trailer {
    /// The next one in a list of retired blocks or of orphans.
    pub next: *mut Trailer,
    pub start: *mut u64,
    /// The end of the heap when the process retired the block, or put its heap away for a while (`safe_region`).
    pub top: *mut u64,
    /// Off-heap objects that are not on a list of the process any more.
    pub off_heap: *mut u64,
    /// Blocks that the process filled before this one, since the last collection.
    pub retired: *mut Trailer,
    /// Fragments that it retired since the last collection.
    pub fragments: *mut Fragment,
    /// Words in the retired blocks and fragments together.
    pub retired_words: usize,
    /// Words of old objects that the process was the first to refer to, and of their binaries.
    pub old: Charged,
    /// Words that it made up to the last collection.
    pub made_words: usize,
    /// Words that it made between the last two collections between which it made any. The first block after a collection has room for this.
    pub expected_words: usize,
    /// For local collections (`local_collection`): the number of blocks to retire before the next one, and the value that this count
    /// started from.
    pub skipped: u8,
    pub skips: u8,
    /// True if the block is counted for the nursery.
    pub is_counted: bool,
    /// The process' reductions at the last major collection, see `rests_since_major`.
    pub reductions: u64,
}

const TRAILER_WORDS: usize = size_of::<Trailer>() / 8;

/// Minimum size of a block for a process that filled one, in words: less would not be worth the call, however many processes share the
/// nursery.
pub(super) const MIN_REFILL_WORDS: usize = 256;

impl Process {
    /// The process must have a block.
    pub(super) fn trailer<'a>(&self) -> &'a mut Trailer {
        // A thread that has the process has it alone.
        // SAFETY: after the end of each block of a process there is a trailer (`allocate`), written when the process got the block.
        unsafe { &mut *self.end.cast::<Trailer>() }
    }
}

/// Returns the start of a new block of `words` words with an empty trailer.
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

/// Frees a block whose trailer is at `end`. What the trailer lists has been taken over by the caller.
pub(super) fn free(start: *mut u64, end: *mut u64) {
    blocks::free(start, end.wrapping_add(TRAILER_WORDS));
}

/// Words that a first block has in addition to those known to be needed: many processes need hardly more, and a refill costs little.
const SPARE_WORDS: usize = 32;

/// Maximum words of a first block, whatever the process asked for (guessed). All blocks lie in the message area, which has an end, and a
/// process that fills its block gets another one without a copy.
const MAX_ASKED_WORDS: usize = 256 * 1024;

/// The size of a block for the heap size that the process asked for, in words, if it is larger than the usual minimum, else 0. The usual minimum
/// is meant for heaps that are copied when they are full.
fn asked_words(p: &Process) -> usize {
    if p.min_heap_words > SETTINGS.min_heap_words.get() { p.min_heap_words.min(MAX_ASKED_WORDS) } else { 0 }
}

/// A block of at most this many words is counted for the nursery only when it is left to the next stop-the-world collection
/// (`local_collection`). Until then its process may collect it alone, or waits with it, as with private heaps. Otherwise many processes
/// with a small block each would cause collections all the time.
const COUNTED_LATE_WORDS: usize = 1024;

/// The process got another block; counts it if it is large.
fn took(p: &Process) {
    p.trailer().is_counted = false;
    if p.heap_words() > COUNTED_LATE_WORDS {
        count(p);
    }
}

/// The process' block has grown from `from_words` to its size now.
pub(super) fn grew(p: &Process, from_words: usize) {
    if p.trailer().is_counted {
        nursery::took(p.heap_words() - from_words);
    } else {
        took(p);
    }
}

/// Counts the block for the nursery: from now on others may refer into it, or its process has ended.
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

/// Retires the fragments that natives left beside the block. Then the engine no longer requests a collection after each native.
pub(super) fn retire_fragments(p: &mut Process) {
    let mut fragment = std::mem::replace(&mut p.heap.fragments, null_mut());
    let words = std::mem::take(&mut p.heap.fragment_words);
    if !fragment.is_null() {
        local_collection::publish(p);
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

/// Retires the block of the process and replaces it by one with room for `need_words`.
pub(super) fn refill(p: &mut Process, need_words: usize) {
    let need = p.stack_words() + need_words + STACK_SLACK_WORDS;
    let usual = (2 * p.heap_words()).max(p.trailer().expected_words + need);
    let words = sizes::at_least(usual.min(nursery::share_words().max(MIN_REFILL_WORDS)).max(need + p.stack_words()));
    let (old, top) = (p.trailer() as *mut Trailer, p.heap.htop);
    let start = p.start;
    count(p);
    exchange(p, words);
    retire(p.trailer(), old, start, top);
    took(p);
}

/// Retires the block of which `old` is the trailer and which is filled from `start` to `top`: the process does not allocate there any more.
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

/// Moves the stack and the trailer to a new block of `words`, which must have room for the stack. The old block stays as it is.
fn exchange(p: &mut Process, words: usize) {
    let stack = p.stack_words();
    take(p, allocate(words), words, stack);
}

/// As `exchange`, with a block at `start` that is allocated already. `stack` is the size of the stack in words.
pub(super) fn take(p: &mut Process, start: *mut u64, words: usize, stack: usize) {
    let end = start.wrapping_add(words);
    let stop = end.wrapping_sub(stack);
    // SAFETY: both stacks have `stack` words; after the end of both blocks there is a trailer.
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

/// After a collection, when the block is empty: replaces it by one whose size suits what the process used of late. A process that waits
/// keeps only room for its stack: it may wait for long, and its need is known when it continues.
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

/// The process hibernates and has no stack: it gets the smallest block. Its terms stay where they are, in the retired block.
pub(super) fn shrink(p: &mut Process) {
    let (old, start, top) = (p.trailer() as *mut Trailer, p.start, p.heap.htop);
    p.stop = p.end;
    count(p);
    exchange(p, sizes::at_least(0));
    retire(p.trailer(), old, start, top);
}

/// The process has ended: its blocks pass to the collector.
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
    let orphans = &safepoint::mine().orphans;
    // Relaxed, and no read-modify-write: the list is the calling thread's own while it is inside.
    trailer.next = orphans.load(Ordering::Relaxed);
    orphans.store(trailer, Ordering::Relaxed);
    p.forget_block();
}
