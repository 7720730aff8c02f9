//! Unique references and integers, without shared counters: each thread counts in a range of its own.

use heddle_term::{Heap, Term};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

/// A reference's identity: its words as stored in the term.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct RefId(pub u64, pub u64);

impl RefId {
    /// Of a local reference term (plain, alias or magic).
    pub fn of(term: Term) -> Option<RefId> {
        use heddle_term::Kind;
        match term.kind()? {
            Kind::Ref => Some(RefId(term.word(0), term.word(1))),
            Kind::MagicRef => Some(RefId(term.word(1), term.word(2))),
            _ => None,
        }
    }
    pub fn words(self) -> [u32; 3] {
        [self.0 as u32, (self.0 >> 32) as u32, self.1 as u32]
    }
    pub fn from_words([low, middle, high]: [u32; 3]) -> RefId {
        RefId(low as u64 | (middle as u64) << 32, high as u64)
    }
}

static NEXT_THREAD: AtomicU64 = AtomicU64::new(0);
/// Strictly monotonic unique integers need one counter for all threads; nothing else here does.
static MONOTONIC: AtomicU64 = AtomicU64::new(0);

/// What a thread makes identities of.
struct Counters {
    /// The number of the thread, or `NO_THREAD` as long as it has made none.
    thread: Cell<u64>,
    next_ref: Cell<u64>,
    next_unique: Cell<u64>,
}

const NO_THREAD: u64 = u64::MAX;

thread_local! {
    static COUNTERS: Counters = const { Counters { thread: Cell::new(NO_THREAD), next_ref: Cell::new(0), next_unique: Cell::new(0) } };
}

impl Counters {
    /// The number of the thread, and what the counter was before it went up.
    #[inline(always)]
    fn next(&self, counter: impl Fn(&Counters) -> &Cell<u64>) -> (u64, u64) {
        if self.thread.get() == NO_THREAD {
            self.begin();
        }
        let counter = counter(self);
        let n = counter.get();
        counter.set(n + 1);
        (self.thread.get(), n)
    }

    #[cold]
    fn begin(&self) {
        self.thread.set(NEXT_THREAD.fetch_add(1, Ordering::Relaxed));
        self.next_ref.set(start_salt() << 18);
    }
}

/// Makes references of different runs differ, as stock's do.
pub(crate) fn start_salt() -> u64 {
    static SALT: std::sync::OnceLock<u64> = std::sync::OnceLock::new();
    *SALT.get_or_init(|| {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.as_nanos() as u64);
        (now ^ (std::process::id() as u64) << 32).wrapping_mul(0x9e37_79b9_7f4a_7c15) & 0x0fff_ffff
    })
}

/// In the top word of references that name a timer: see `timer::handle`.
pub(crate) const OF_TIMER: u64 = 1 << 31;

/// A new reference identity. The thread is in the top word, so references that one thread makes rise.
pub fn fresh() -> RefId {
    let (thread, n) = COUNTERS.with(|counters| counters.next(|c| &c.next_ref));
    let thread = thread & ((OF_TIMER >> 14) - 1);
    let w0 = n & 0x3ffff;
    let w1 = (n >> 18) & 0xffff_ffff;
    let w2 = (n >> 50) | thread << 14;
    debug_assert!(w2 & OF_TIMER == 0);
    RefId(w0 | w1 << 32, w2)
}

/// What is subtracted of unique integers that need not be positive: the first ones are the least small integers, as in ERTS.
pub const UNIQUE_BELOW: u64 = 1 << 59;

/// The integer of 64 bits that `unique` or `unique_monotonic` returned, less `UNIQUE_BELOW`.
pub fn unique_term(heap: &mut Heap, unique: u64) -> Term {
    match unique.checked_sub(UNIQUE_BELOW) {
        Some(value) => heap.unsigned(value),
        None => heap.integer(unique as i64 - UNIQUE_BELOW as i64),
    }
}

/// `erlang:unique_integer/0`: unique, not ordered.
pub fn unique() -> u64 {
    let (thread, n) = COUNTERS.with(|counters| counters.next(|c| &c.next_unique));
    n << 11 | (thread & 0x7ff)
}

/// `erlang:unique_integer([monotonic])`.
pub fn unique_monotonic() -> u64 {
    MONOTONIC.fetch_add(1, Ordering::Relaxed)
}

/// What the next `unique_monotonic` returns, for tests.
pub fn next_monotonic() -> u64 {
    MONOTONIC.load(Ordering::Relaxed)
}

/// Sets what the next `unique_monotonic` returns, for tests: integers may come a second time.
pub fn set_next_monotonic(next: u64) {
    MONOTONIC.store(next, Ordering::Relaxed);
}
