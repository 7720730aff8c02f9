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

impl Piece {
    pub fn new(words: usize) -> Piece {
        let start = heddle_memory::allocate(Kind::Heap, words * 8).cast::<u64>();
        Piece { start, top: start, end: start.wrapping_add(words) }
    }

    pub fn words(&self) -> usize {
        (self.end as usize - self.start as usize) / 8
    }

    /// Nothing in it is referred to any more.
    pub fn free(self) {
        crate::blocks::poison(self.start, self.top);
        // SAFETY: allocated by `new` with this size, and nobody uses it, by contract.
        unsafe { heddle_memory::free(Kind::Heap, self.start.cast(), self.words() * 8) };
    }
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
}

// SAFETY: what it lists is the collector's, which runs on one thread at a time or shares it out.
unsafe impl Send for Old {}

pub(super) static OLD: Mutex<Old> = Mutex::new(Old {
    full: Vec::new(),
    open: Vec::new(),
    off_heap: OffHeap::new(),
    words: 0,
    words_at_major: 0,
    virtual_words_at_major: 0,
});

/// Growth below which a major collection is not worth it: 512 KiB.
const LEAST_MAJOR_WORDS: usize = 64 * 1024;
/// The same for binaries: 32 MiB.
const LEAST_MAJOR_VIRTUAL_WORDS: usize = 4 * 1024 * 1024;
/// It is due when so many eighths of what lived were added: as heaps of processes grow, by about 1.6.
const GROWTH_EIGHTHS: usize = 5;

impl Old {
    /// Whether it has grown so much since the last major collection that another one is due.
    pub fn is_due(&self) -> bool {
        let has_grown = |now: usize, then: usize, least: usize| now > then + (then / 8 * GROWTH_EIGHTHS).max(least);
        has_grown(self.words, self.words_at_major, LEAST_MAJOR_WORDS)
            || has_grown(self.off_heap.virtual_words, self.virtual_words_at_major, LEAST_MAJOR_VIRTUAL_WORDS)
    }

    pub fn pieces(&self) -> impl Iterator<Item = &Piece> {
        self.full.iter().chain(&self.open)
    }
}
