//! The heap block of a process that has a heap of its own.

use crate::base::sizes;
use crate::heap::blocks;
use crate::process::{Process, STACK_SLACK_WORDS};
use std::ptr::null_mut;

/// Allocates the block of a new process.
pub(in crate::heap) fn init(p: &mut Process, need_words: usize) {
    let words = sizes::at_least((need_words + STACK_SLACK_WORDS + 2).max(p.min_heap_words));
    p.start = blocks::allocate(words);
    p.end = p.start.wrapping_add(words);
    p.heap.htop = p.start;
    p.high_water = p.start;
    p.stop = p.end;
    p.sync_limit();
}

/// Frees everything that a process holds in heaps.
pub(in crate::heap) fn abandon(p: &mut Process) {
    p.messages.clear();
    p.heap.clear();
    p.old_off_heap.release_all();
    blocks::poison(p.start, p.heap.htop);
    blocks::poison(p.stop, p.end);
    blocks::poison(p.old_start, p.old_top);
    blocks::free(p.start, p.end);
    blocks::free(p.old_start, p.old_end);
    p.forget_block();
    p.old_start = null_mut();
    p.old_top = null_mut();
    p.old_end = null_mut();
}
