//! Balancing by utilisation (`+sub true`): all online schedulers should work the same share of the time, even while there is not enough
//! work for all. The lengths of queues say nothing then, as the queues are mostly empty. So the time that each scheduler works is measured,
//! and one that worked more than the average gives processes to one that worked less, when they are woken. After P. Trinder et al.,
//! "Scaling Reliably: Improving the Scalability of the Erlang Distributed Actor Platform", 2017, section VI.ii.
//!
//! A process that was given away may stay there (one that sets timers does), or its partner may wake it here again. So it is not known how
//! much work moves with one. Hence `Pace`: one process in the first period, and twice as many in each following period that shows the same
//! picture.

use super::paths::{self, Path};
use std::sync::atomic::{AtomicU64, Ordering};

/// Time between two measurements (guessed: a few switches of processes that wait for timers).
pub(crate) const PERIOD_MS: u64 = 100;
/// Distance from the average, in thousandths of the period, that is even enough (guessed: below it, timers that happen to fire at one
/// scheduler rather than another would keep processes moving).
const TOLERANCE: usize = 30;
/// Maximum number of processes given away in a period: more than are woken in one.
const MAX_MOVES: u32 = 1 << 20;

/// How long a scheduler has worked since the start. Written by the scheduler.
#[derive(Default)]
pub struct WorkedTime {
    worked_ns: AtomicU64,
    /// When the current stretch of work began; 0 if the scheduler has none.
    since_ns: AtomicU64,
}

impl WorkedTime {
    pub(crate) fn set_busy(&self, busy: bool, now_ns: u64) {
        // Relaxed: no other thread writes it.
        let since = self.since_ns.load(Ordering::Relaxed);
        if busy {
            self.since_ns.store(if since == 0 { now_ns } else { since }, Ordering::Relaxed);
        } else if since != 0 {
            self.since_ns.store(0, Ordering::Relaxed);
            // Release, paired with the Acquire in `ns`: a reader that sees this stretch in the sum does not also see it as under way.
            self.worked_ns.store(self.worked_ns.load(Ordering::Relaxed) + now_ns.saturating_sub(since), Ordering::Release);
        }
    }

    /// The time worked so far, for any thread. A stretch that just ended may be missing until the next call.
    pub(crate) fn ns(&self, now_ns: u64) -> u64 {
        // Acquire: pairs with the Release in `set_busy`.
        let worked = self.worked_ns.load(Ordering::Acquire);
        match self.since_ns.load(Ordering::Relaxed) {
            0 => worked,
            since => worked + now_ns.saturating_sub(since),
        }
    }
}

/// The time worked as a share of a period, in thousandths.
pub(crate) fn part(worked_ns: u64, period_ns: u64) -> usize {
    (worked_ns.saturating_mul(1000) / period_ns.max(1)).min(1000) as usize
}

/// Computes which scheduler gives to which, from the share of the period that each worked: those that worked most to those that worked
/// least, in pairs.
pub(crate) fn paths(parts: &[usize]) -> Vec<Path> {
    let average = parts.iter().sum::<usize>() / parts.len().max(1);
    // Like limits of queues: one close enough to the average is at its limit.
    let wanted: Vec<usize> = parts.iter().map(|&part| if part.abs_diff(average) <= TOLERANCE { part } else { average }).collect();
    let paths = paths::full_load(parts, &wanted).into_iter();
    // A scheduler that works too little may be asleep: it is given processes and does not pull.
    paths.map(|path| if matches!(path, Path::Pull(_)) { Path::Stay } else { path }).collect()
}

/// Number of processes that a scheduler may give away in a period.
#[derive(Clone, Copy, Default)]
pub(crate) struct Pace(u32);

impl Pace {
    /// Returns the number for the next period, in which the scheduler should give or not.
    pub(crate) fn next(&mut self, gives: bool) -> u32 {
        self.0 = if gives { (self.0 * 2).clamp(1, MAX_MOVES) } else { 0 };
        self.0
    }

    /// True if it gives in this period.
    pub(crate) fn gives(self) -> bool {
        self.0 > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Path::*;

    #[test]
    fn a_scheduler_that_worked_more_gives_to_one_that_worked_less() {
        assert_eq!(paths(&[600, 0]), [Push(1), Stay]);
        assert_eq!(paths(&[0, 900, 100, 400]), [Stay, Push(0), Stay, Push(2)]);
        assert_eq!(paths(&[1000, 1000, 1000, 0]), [Push(3), Push(3), Push(3), Stay]);
    }

    #[test]
    fn close_is_even_enough() {
        assert_eq!(paths(&[300, 300]), [Stay, Stay]);
        assert_eq!(paths(&[330, 270]), [Stay, Stay]);
        assert_eq!(paths(&[340, 260]), [Push(1), Stay]);
        assert_eq!(paths(&[1000; 3]), [Stay; 3]);
        assert_eq!(paths(&[]), []);
    }

    /// One queue has everything, but it is never two long: by lengths (`limits`) nothing would move.
    #[test]
    fn lengths_of_queues_do_not_show_it() {
        use super::super::limits::{self, History, Queue};
        let queue =
            |longest, done| Queue { waited: true, reductions: [0, 0, done, 0], longest: [0, 0, longest, 0], history: History::new(1000) };
        let queues = [queue(1, 600), queue(0, 0)];
        let limits = limits::limits(&queues, 2, &limits::availability(&queues, 2));
        assert_eq!(super::super::paths::full_load(&[1, 0], &limits), [Stay, Stay]);
        assert_eq!(paths(&[600, 0]), [Push(1), Stay]);
    }

    #[test]
    fn it_goes_faster_while_nothing_changes() {
        let mut pace = Pace::default();
        assert_eq!([true, true, true, false, true].map(|gives| pace.next(gives)), [1, 2, 4, 0, 1]);
        (0..100).for_each(|_| _ = pace.next(true));
        assert_eq!(pace.next(true), MAX_MOVES);
    }

    #[test]
    fn work_is_summed_up_and_counts_while_it_lasts() {
        let work = WorkedTime::default();
        assert_eq!(work.ns(50), 0);
        work.set_busy(true, 100);
        work.set_busy(true, 120);
        assert_eq!(work.ns(150), 50);
        work.set_busy(false, 160);
        work.set_busy(false, 170);
        assert_eq!(work.ns(900), 60);
        work.set_busy(true, 900);
        assert_eq!(work.ns(1000), 160);
        assert_eq!((part(160, 1000), part(1, 0), part(5, 4)), (160, 1000, 1000));
    }
}
