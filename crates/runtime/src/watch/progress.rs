//! What the watch remembers of a thread.

use crate::sched::AtWork;
use std::time::{Duration, Instant};

#[derive(Default)]
pub(super) struct Progress {
    /// The entry (beat) that the thread has in hand, and the first look at which it had it.
    at: Option<(u64, Instant)>,
    is_told: bool,
}

impl Progress {
    /// How long the thread has had the same entry in hand. Zero if it has none.
    pub(crate) fn since(&mut self, now: Instant, at_work: Option<AtWork>) -> Duration {
        match (at_work, self.at) {
            (Some(work), Some((beat, since))) if work.beat == beat => now - since,
            (work, _) => {
                *self = Progress { at: work.map(|work| (work.beat, now)), is_told: false };
                Duration::ZERO
            }
        }
    }

    /// Restarts the measurement. What was reported stays reported.
    pub(crate) fn start_anew(&mut self, now: Instant) {
        if let Some((_, since)) = &mut self.at {
            *since = now;
        }
    }

    /// Returns the time in ms the first time that it reaches the limit.
    pub(crate) fn look(&mut self, now: Instant, limit: Duration, at_work: Option<AtWork>) -> Option<u64> {
        let since = self.since(now, at_work);
        let is_new = since >= limit && !self.is_told && at_work.is_some();
        self.is_told |= is_new;
        is_new.then_some(since.as_millis() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_millis(100);

    /// The results of looks that are 50 ms apart.
    fn looks(beats: &[Option<u64>]) -> Vec<Option<u64>> {
        let (mut progress, mut now) = (Progress::default(), Instant::now());
        let mut look = |beat: Option<u64>| {
            now += LIMIT / 2;
            progress.look(now, LIMIT, beat.map(|beat| AtWork { beat, pid: None }))
        };
        beats.iter().map(|&beat| look(beat)).collect()
    }

    #[test]
    fn time_before_a_stop_of_the_node_does_not_count() {
        let (mut progress, now) = (Progress::default(), Instant::now());
        let work = Some(AtWork { beat: 7, pid: None });
        assert_eq!(progress.look(now, LIMIT, work), None);
        progress.start_anew(now + 10 * LIMIT);
        assert_eq!(progress.look(now + 10 * LIMIT, LIMIT, work), None);
        assert_eq!(progress.look(now + 11 * LIMIT, LIMIT, work), Some(100));
        progress.start_anew(now + 20 * LIMIT);
        assert_eq!(progress.look(now + 30 * LIMIT, LIMIT, work), None, "told of before");
    }

    #[test]
    fn each_entry_that_does_not_come_back_is_reported_once() {
        let stays = [Some(7); 5];
        assert_eq!(looks(&stays), [None, None, Some(100), None, None]);
        assert_eq!(looks(&[Some(7), Some(7), Some(8), Some(8), Some(8)]), [None, None, None, None, Some(100)]);
        assert_eq!(looks(&[Some(7), Some(7), None, Some(7), Some(7)]), [None; 5]);
        assert_eq!(looks(&[Some(7), Some(7), Some(7), Some(8), Some(8), Some(8)]), [None, None, Some(100), None, None, Some(100)]);
    }
}
