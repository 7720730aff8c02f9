//! The words of the old generation that a process is charged with: those that were copied because this process was the first to refer to
//! them.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Words of objects, and words of binaries outside of the heap. Relaxed everywhere: collector threads add to it at the same time, when one
/// helps with objects that another one found. All other accesses come after all of them are done, from one thread.
#[derive(Default)]
pub(super) struct Charged {
    words: AtomicUsize,
    virtual_words: AtomicUsize,
}

impl Charged {
    pub(crate) fn words(&self) -> usize {
        self.words.load(Ordering::Relaxed)
    }

    pub(crate) fn virtual_words(&self) -> usize {
        self.virtual_words.load(Ordering::Relaxed)
    }

    pub(crate) fn add(&self, words: usize, virtual_words: usize) {
        self.words.fetch_add(words, Ordering::Relaxed);
        if virtual_words != 0 {
            self.virtual_words.fetch_add(virtual_words, Ordering::Relaxed);
        }
    }

    pub(crate) fn set(&self, words: usize, virtual_words: usize) {
        self.words.store(words, Ordering::Relaxed);
        self.virtual_words.store(virtual_words, Ordering::Relaxed);
    }
}
