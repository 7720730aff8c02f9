//! The old generation consists of pieces of a fixed size that a collector thread fills, and of one piece for each large object.

use heddle_memory::MemoryKind;
use heddle_term::OffHeap;
use std::sync::Mutex;

/// 256 KiB: large enough that pieces are few, and small enough for each collector thread to leave one partly filled.
pub(super) const PIECE_WORDS: usize = 32 * 1024;
/// A larger object has a piece of its own.
pub(super) const LARGE_WORDS: usize = PIECE_WORDS / 4;

/// Whole objects from `start` to `top`.
pub(super) struct Piece {
    pub start: *mut u64,
    pub top: *mut u64,
    pub end: *mut u64,
}

// SAFETY: memory that only the collector touches as such.
unsafe impl Send for Piece {}

/// Pieces of the usual size that major collections emptied, for promotions until the next one. So a pause neither gets pages from the
/// system nor returns any.
static SPARE: Mutex<Vec<Piece>> = Mutex::new(Vec::new());

impl Piece {
    pub(crate) fn new(words: usize) -> Piece {
        if words == PIECE_WORDS
            && let Some(piece) = SPARE.lock().unwrap().pop()
        {
            return piece;
        }
        let start = heddle_memory::allocate(MemoryKind::Heap, words * 8).cast::<u64>();
        Piece { start, top: start, end: start.wrapping_add(words) }
    }

    pub(crate) fn words(&self) -> usize {
        (self.end as usize - self.start as usize) / 8
    }

    /// Makes the piece empty. Nothing refers into it any more.
    pub(crate) fn empty(&mut self) {
        crate::heap::blocks::poison(self.start, self.top);
        self.top = self.start;
    }

    /// Frees the piece. Nothing refers into it any more.
    pub(crate) fn free(mut self) {
        self.empty();
        // SAFETY: allocated by `new` with this size, and nothing uses it, by contract.
        unsafe { heddle_memory::free(MemoryKind::Heap, self.start.cast(), self.words() * 8) };
    }
}

/// Empties pieces and keeps as many of them as the old generation may grow by. Returns the others, which the caller must free.
pub(super) fn keep_some(mut pieces: Vec<Piece>, growth_words: usize) -> Vec<Piece> {
    pieces.iter_mut().for_each(Piece::empty);
    let mut spare = SPARE.lock().unwrap();
    pieces.append(&mut spare);
    let (mut usual, mut rest): (Vec<Piece>, Vec<Piece>) = pieces.into_iter().partition(|piece| piece.words() == PIECE_WORDS);
    rest.extend(usual.drain(growth_words.div_ceil(PIECE_WORDS).min(usual.len())..));
    *spare = usual;
    rest
}

/// The node is about to sleep: frees the spare pieces.
pub(crate) fn let_go() {
    let spare = std::mem::take(&mut *SPARE.lock().unwrap());
    spare.into_iter().for_each(Piece::free);
}

/// The old generation. Its lock is taken by collections, which run one at a time, and by callers that ask for its size.
pub(super) struct Old {
    pub full: Vec<Piece>,
    /// Partly filled pieces, in which the next collection continues.
    pub open: Vec<Piece>,
    pub off_heap: OffHeap,
    /// Words in use now; the next two fields are the values after the last major collection.
    pub words: usize,
    pub words_at_major: usize,
    pub virtual_words_at_major: usize,
    /// Number of signals in the queues that the last major collection walked along.
    pub queued: usize,
    /// Growth until the next major collection, in eighths of the words then alive.
    growth_eighths: usize,
}

// SAFETY: what it lists belongs to the collector, which runs on one thread at a time or divides the work.
unsafe impl Send for Old {}

pub(super) static OLD: Mutex<Old> = Mutex::new(Old::new());

/// Minimum growth for a major collection: 512 KiB.
const MIN_MAJOR_WORDS: usize = 64 * 1024;
/// Minimum growth of binaries for a major collection: 32 MiB.
const MIN_MAJOR_VIRTUAL_WORDS: usize = 4 * 1024 * 1024;
/// A major collection is due when this many eighths of the words alive after the last one were added: heaps of processes grow by about 1.6,
/// too.
const GROWTH_EIGHTHS: usize = 5;
/// Maximum growth. It doubles from one major collection to the next, up to this, while hardly anything is found dead: what waits in queues
/// is alive until a process handles it.
const MAX_GROWTH_EIGHTHS: usize = 20;
/// "Hardly anything" is less than one word of this many.
const HARDLY_ANY: usize = 8;

/// Minimum growth in words for each queued signal, as a major collection walks along all queues. A signal has 8 words of its own.
const QUEUED_WORDS: usize = 2;

fn growth(then: usize, eighths: usize, least: usize) -> usize {
    (then / 8 * eighths).max(least)
}

/// The growth after a major collection that left `left` of the `found` words.
fn next_growth(eighths: usize, left: usize, found: usize) -> usize {
    let found_little = found.saturating_sub(left) < found / HARDLY_ANY;
    if found_little { (eighths * 2).min(MAX_GROWTH_EIGHTHS) } else { GROWTH_EIGHTHS }
}

impl Old {
    pub(super) const fn new() -> Old {
        Old {
            full: Vec::new(),
            open: Vec::new(),
            off_heap: OffHeap::new(),
            words: 0,
            words_at_major: 0,
            virtual_words_at_major: 0,
            queued: 0,
            growth_eighths: GROWTH_EIGHTHS,
        }
    }

    /// True if it has grown enough since the last major collection for another one.
    pub(crate) fn is_due(&self) -> bool {
        let has_grown = |now: usize, then: usize, eighths: usize, least: usize| now > then + growth(then, eighths, least);
        // The growth in eighths is about dead words and says nothing about binaries, which use the usual growth.
        has_grown(self.words, self.words_at_major, self.growth_eighths, self.min_growth_words())
            || has_grown(self.off_heap.virtual_words, self.virtual_words_at_major, GROWTH_EIGHTHS, MIN_MAJOR_VIRTUAL_WORDS)
    }

    /// Words by which it may grow from one major collection to the next.
    pub(crate) fn growth_words(&self) -> usize {
        growth(self.words_at_major, self.growth_eighths, self.min_growth_words())
    }

    fn min_growth_words(&self) -> usize {
        MIN_MAJOR_WORDS.max(self.queued * QUEUED_WORDS)
    }

    /// A major collection is over that found `found_words`, including those of the young generation.
    pub(crate) fn was_collected(&mut self, found_words: usize) {
        self.words_at_major = self.words;
        self.virtual_words_at_major = self.off_heap.virtual_words;
        self.growth_eighths = next_growth(self.growth_eighths, self.words, found_words);
    }

    pub(crate) fn pieces(&self) -> impl Iterator<Item = &Piece> {
        self.full.iter().chain(&self.open)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_growth_doubles_while_hardly_anything_dies_up_to_a_bound() {
        assert_eq!(next_growth(5, 1000, 1000), 10);
        assert_eq!(next_growth(10, 900, 1000), 20);
        assert_eq!(next_growth(20, 1000, 1000), 20);
        assert_eq!(next_growth(20, 870, 1000), 5);
        // The old generation was empty.
        assert_eq!(next_growth(5, 0, 0), 5);
    }

    #[test]
    fn a_major_collection_is_due_after_the_growth() {
        let mut old = Old::new();
        let words = 80 * MIN_MAJOR_WORDS;
        (old.words, old.growth_eighths) = (words, 10);
        old.was_collected(words * 2);
        assert_eq!(old.growth_words(), words / 8 * 5);
        old.was_collected(words);
        assert_eq!(old.growth_words(), words / 8 * 10);
        old.words += words / 8 * 10;
        assert!(!old.is_due());
        old.words += 1;
        assert!(old.is_due());
        // With long queues the minimum growth is larger.
        old.queued = words;
        assert!(!old.is_due());
    }
}
