//! What a connection counts, for `heddle_stats:nodes/0`.

use heddle_runtime::cycles;
use std::sync::atomic::{AtomicU64, Ordering};

/// Relaxed, all of them: figures.
#[derive(Default)]
pub struct Figures {
    pub sent_messages: AtomicU64,
    pub sent_bytes: AtomicU64,
    pub received_messages: AtomicU64,
    pub received_bytes: AtomicU64,
    /// Times that a sender had to wait.
    pub stalls: AtomicU64,
    encoding: AtomicU64,
    decoding: AtomicU64,
}

/// The two clocks of a connection.
#[derive(Clone, Copy)]
pub enum Work {
    Encoding,
    Decoding,
}

impl Figures {
    /// Runs `f` and adds its time.
    pub fn timed<R>(&self, work: Work, f: impl FnOnce() -> R) -> R {
        let begin = cycles::now();
        let result = f();
        self.clock(work).fetch_add(cycles::now().wrapping_sub(begin), Ordering::Relaxed);
        result
    }

    fn clock(&self, work: Work) -> &AtomicU64 {
        match work {
            Work::Encoding => &self.encoding,
            Work::Decoding => &self.decoding,
        }
    }

    /// The time that this work took, of all threads.
    pub fn ns(&self, work: Work) -> u64 {
        cycles::to_ns(self.clock(work).load(Ordering::Relaxed))
    }

    pub fn sent(&self, bytes: usize) {
        self.sent_messages.fetch_add(1, Ordering::Relaxed);
        self.sent_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub fn received(&self, bytes: usize) {
        self.received_messages.fetch_add(1, Ordering::Relaxed);
        self.received_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}
