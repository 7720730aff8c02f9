//! How many words a process, and the old generation, have in the shared heap.

use super::collection::{COPIED_WORDS, COUNT};
use super::pieces::{self, OLD};
use crate::process::Process;
use std::sync::atomic::Ordering;

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

/// The end of the heap in the block of a process that has put its heap away (`Process::heap` is another one for a while).
pub(crate) fn top_of(p: &Process) -> *mut u64 {
    if !p.start.is_null() { p.trailer().top } else { p.start }
}

/// Words of binaries to which this process was the first to refer in the old generation.
pub fn old_virtual_words_of(p: &Process) -> usize {
    if !p.start.is_null() { p.trailer().old.virtual_words() } else { 0 }
}

/// Words that the process has made so far, apart from those in its block and fragments.
pub fn made_words_of(p: &Process) -> usize {
    if !p.start.is_null() { p.trailer().made_words + p.trailer().retired_words } else { 0 }
}

/// Words that the last collection copied. The caller has just waited for it.
pub(crate) fn copied_words() -> usize {
    COPIED_WORDS.load(Ordering::Relaxed)
}

/// Number of collections so far. `literals` compares two values: after a later collection no process refers to literals that were announced
/// before it.
pub fn collections() -> u64 {
    COUNT.load(Ordering::Relaxed)
}
