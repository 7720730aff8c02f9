//! Heap growth policy: a process that fills its heap again and again in one slice has a larger heap until it waits.
//!
//! What lives decides how large a heap is (`gc`). A process that allocates much and keeps little therefore stays at the smallest
//! size, and is collected all the time: an nrev of 30 elements 30 times a slice with 233 words. So a process whose heap was full
//! `OFTEN` times in one slice gets the next size, and so on, until its heap is full less often than that. When it waits, it is
//! collected into the size that it would have without this policy. So a waiting process keeps no more memory than that, and pays
//! for it with one collection, having been spared several.

use crate::base::sizes;
use crate::process::Process;

/// This many full heaps in a slice are too many. (A slice is 4,000 reductions; a collection of a small heap costs as much as some
/// 30 reductions.)
const OFTEN: u8 = 3;
/// The same where much is copied each time.
const OFTEN_WITH_MUCH: u8 = 2;

/// A block does not grow beyond this size. It and the block that it is copied to, 33 KB each, then stay in the nearer caches.
const MAX_WORDS: usize = 4185;
/// The limit if more than an eighth of the block lives, so that much is copied each time.
pub(super) const MAX_WORDS_WITH_MUCH: usize = 10958;

/// True if the process has a larger block than what lives in it asks for.
#[inline(always)]
pub fn is_enlarged(p: &Process) -> bool {
    p.growth.usual_step != 0
}

/// The block of the process was full, and was collected.
pub(crate) fn filled(p: &mut Process) {
    p.growth.filled += 1;
    if p.growth.filled < OFTEN_WITH_MUCH {
        return;
    }
    let words = p.heap_words();
    let has_much = 8 * (p.used_words() + p.stack_words()) > words;
    if !has_much && p.growth.filled < OFTEN {
        return;
    }
    p.growth.filled = 0;
    // A process with a maximum heap size keeps that for what it needs itself.
    if words < if has_much { MAX_WORDS_WITH_MUCH } else { MAX_WORDS } && p.max_heap().size_words == 0 {
        p.grow = true;
        if !is_enlarged(p) {
            p.growth.usual_step = sizes::step(words) as u8 + 1;
        }
    }
}

/// The words that the block would have without this policy, as far as that is known.
pub(crate) fn usual_words(p: &Process) -> usize {
    if is_enlarged(p) { sizes::all()[p.growth.usual_step as usize - 1] } else { p.heap_words() }
}

/// From here on the block counts as being as large as what lives in it asks for.
pub(crate) fn forget(p: &mut Process) {
    p.growth.usual_step = 0;
}
