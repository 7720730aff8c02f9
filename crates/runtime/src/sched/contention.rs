//! Tells if other programs want the cores. A thread that spins is not charged less for it by the operating system: when others want its core it
//! is taken off for whole slices, and what it waits for finds it there, while a thread that sleeps is put on a core as soon as it is woken.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A round of a search takes a few microseconds. One that took longer than this lost its core.
const LOST: Duration = Duration::from_micros(300);
/// For how many ms no scheduler spins after that. Then one tries again.
const QUIET_MS: u64 = 20;

/// Until when, in `ticks_ms`. Relaxed: a guess.
static UNTIL_MS: AtomicU64 = AtomicU64::new(0);

/// True if a thread lost its core a short time ago.
pub(super) fn is_contended() -> bool {
    let until = UNTIL_MS.load(Ordering::Relaxed);
    until != 0 && crate::base::time::ticks_ms() < until
}

/// Measures the rounds of a search.
pub(super) struct Rounds(Instant);

impl Rounds {
    pub(super) fn begin() -> Rounds {
        Rounds(Instant::now())
    }

    /// A round is over. True if the thread lost its core in it.
    pub(super) fn has_lost_core(&mut self) -> bool {
        let now = Instant::now();
        let has_lost = now - std::mem::replace(&mut self.0, now) > LOST;
        if has_lost {
            UNTIL_MS.store(crate::base::time::ticks_ms() + QUIET_MS, Ordering::Relaxed);
        }
        has_lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_that_took_long_lost_its_core() {
        crate::base::time::init();
        let mut rounds = Rounds::begin();
        std::thread::sleep(2 * LOST);
        assert!(rounds.has_lost_core());
        assert!(is_contended());
        // A test thread may lose its core in any round, but not in all.
        assert!((0..1000).any(|_| !rounds.has_lost_core()));
        std::thread::sleep(Duration::from_millis(2 * QUIET_MS));
        assert!(!is_contended());
    }
}
