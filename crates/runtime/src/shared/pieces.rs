//! What the old generation is made of: pieces of some size that a collector thread fills, and one for each large object.

use heddle_memory::Kind;
use heddle_term::OffHeap;
use std::sync::Mutex;

/// 256 KiB: enough that pieces are few, and little to be left open by each collector thread.
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

/// Pieces of the usual size that major collections emptied: for what is promoted until the next one. They are there, so no page has
/// to be got from the system in a pause, nor is any given back in one.
static SPARE: Mutex<Vec<Piece>> = Mutex::new(Vec::new());

impl Piece {
    pub fn new(words: usize) -> Piece {
        if words == PIECE_WORDS
            && let Some(piece) = SPARE.lock().unwrap().pop()
        {
            return piece;
        }
        let start = heddle_memory::allocate(Kind::Heap, words * 8).cast::<u64>();
        Piece { start, top: start, end: start.wrapping_add(words) }
    }

    pub fn words(&self) -> usize {
        (self.end as usize - self.start as usize) / 8
    }

    /// Nothing in it is referred to any more.
    pub fn empty(&mut self) {
        crate::blocks::poison(self.start, self.top);
        self.top = self.start;
    }

    /// Nothing in it is referred to any more.
    pub fn free(mut self) {
        self.empty();
        // SAFETY: allocated by `new` with this size, and nobody uses it, by contract.
        unsafe { heddle_memory::free(Kind::Heap, self.start.cast(), self.words() * 8) };
    }
}

/// Empties pieces and keeps as many of them as the old generation may grow by. Gives the others, to be freed.
pub(super) fn keep_some(mut pieces: Vec<Piece>, growth_words: usize) -> Vec<Piece> {
    pieces.iter_mut().for_each(Piece::empty);
    let mut spare = SPARE.lock().unwrap();
    pieces.append(&mut spare);
    let (mut usual, mut rest): (Vec<Piece>, Vec<Piece>) = pieces.into_iter().partition(|piece| piece.words() == PIECE_WORDS);
    rest.extend(usual.drain(growth_words.div_ceil(PIECE_WORDS).min(usual.len())..));
    *spare = usual;
    rest
}

/// The machine is about to sleep.
pub(crate) fn let_go() {
    let spare = std::mem::take(&mut *SPARE.lock().unwrap());
    spare.into_iter().for_each(Piece::free);
}

/// The old generation. Its lock is taken by collections, one at a time, and by who asks how large it is.
pub(super) struct Old {
    pub full: Vec<Piece>,
    /// Where the next collection goes on.
    pub open: Vec<Piece>,
    pub off_heap: OffHeap,
    /// In use, and when the last major collection was over.
    pub words: usize,
    pub words_at_major: usize,
    pub virtual_words_at_major: usize,
    /// Signals in the queues that the last major one walked along.
    pub queued: usize,
    /// How much it grows until the next one.
    growth_eighths: usize,
}

// SAFETY: what it lists is the collector's, which runs on one thread at a time or shares it out.
unsafe impl Send for Old {}

pub(super) static OLD: Mutex<Old> = Mutex::new(Old::new());

/// Growth below which a major collection is not worth it: 512 KiB.
const LEAST_MAJOR_WORDS: usize = 64 * 1024;
/// The same for binaries: 32 MiB.
const LEAST_MAJOR_VIRTUAL_WORDS: usize = 4 * 1024 * 1024;
/// It is due when so many eighths of what lived were added: as heaps of processes grow, by about 1.6.
const GROWTH_EIGHTHS: usize = 5;
/// Where the one before found hardly anything dead the next may wait until more was added, up to this: what waits in queues lives
/// until somebody gets to it (hackbench on one scheduler: 4 major collections instead of 8, which take 80 ms instead of 205).
const MOST_GROWTH_EIGHTHS: usize = 20;
/// That is less than one word of so many.
const HARDLY_ANY: usize = 8;

/// A major collection walks along all queues, so it is not due for less than so many words for each signal there, which has 8 of its own.
const QUEUED_WORDS: usize = 2;

fn growth(then: usize, eighths: usize, least: usize) -> usize {
    (then / 8 * eighths).max(least)
}

/// The growth behind a major collection that left so many words of those that it found.
fn next_growth(eighths: usize, left: usize, found: usize) -> usize {
    let found_little = found.saturating_sub(left) < found / HARDLY_ANY;
    if found_little { (eighths * 2).min(MOST_GROWTH_EIGHTHS) } else { GROWTH_EIGHTHS }
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

    /// Whether it has grown so much since the last major collection that another one is due.
    pub fn is_due(&self) -> bool {
        let has_grown = |now: usize, then: usize, eighths: usize, least: usize| now > then + growth(then, eighths, least);
        // That hardly any words were dead says nothing of binaries.
        has_grown(self.words, self.words_at_major, self.growth_eighths, self.least_growth_words())
            || has_grown(self.off_heap.virtual_words, self.virtual_words_at_major, GROWTH_EIGHTHS, LEAST_MAJOR_VIRTUAL_WORDS)
    }

    /// How much it may grow by from one major collection to the next.
    pub fn growth_words(&self) -> usize {
        growth(self.words_at_major, self.growth_eighths, self.least_growth_words())
    }

    fn least_growth_words(&self) -> usize {
        LEAST_MAJOR_WORDS.max(self.queued * QUEUED_WORDS)
    }

    /// A major collection is over that found so many words, those of the young generation included.
    pub fn was_collected(&mut self, found_words: usize) {
        self.words_at_major = self.words;
        self.virtual_words_at_major = self.off_heap.virtual_words;
        self.growth_eighths = next_growth(self.growth_eighths, self.words, found_words);
    }

    pub fn pieces(&self) -> impl Iterator<Item = &Piece> {
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
        // Nothing was there.
        assert_eq!(next_growth(5, 0, 0), 5);
    }

    #[test]
    fn one_is_due_behind_the_growth() {
        let mut old = Old::new();
        let words = 80 * LEAST_MAJOR_WORDS;
        (old.words, old.growth_eighths) = (words, 10);
        old.was_collected(words * 2);
        assert_eq!(old.growth_words(), words / 8 * 5);
        old.was_collected(words);
        assert_eq!(old.growth_words(), words / 8 * 10);
        old.words += words / 8 * 10;
        assert!(!old.is_due());
        old.words += 1;
        assert!(old.is_due());
        // Long queues are not walked along for that.
        old.queued = words;
        assert!(!old.is_due());
    }
}
