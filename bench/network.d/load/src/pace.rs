//! When requests are due.

use std::time::{Duration, Instant};

/// Requests at even distances from a start on.
pub struct Pace {
    start: Instant,
    interval: f64,
    next: u64,
}

impl Pace {
    /// `rate`: requests in a second.
    pub fn new(start: Instant, rate: f64) -> Pace {
        Pace { start, interval: 1.0 / rate, next: 0 }
    }

    fn due(&self, number: u64) -> Instant {
        self.start + Duration::from_secs_f64(self.interval * number as f64)
    }

    /// The number of the next request and when it was due, if that is not after `now`.
    pub fn take(&mut self, now: Instant) -> Option<(u64, Instant)> {
        let (number, due) = (self.next, self.due(self.next));
        (due <= now).then(|| {
            self.next += 1;
            (number, due)
        })
    }

    /// When the next request is due.
    pub fn next_due(&self) -> Instant {
        self.due(self.next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_became_due_while_nothing_was_taken_is_not_left_out() {
        let start = Instant::now();
        let mut pace = Pace::new(start, 1000.0);
        let now = start + Duration::from_micros(3500);
        let taken: Vec<_> = std::iter::from_fn(|| pace.take(now)).map(|(number, due)| (number, (due - start).as_micros())).collect();
        assert_eq!(taken, [(0, 0), (1, 1000), (2, 2000), (3, 3000)]);
        assert_eq!((pace.next_due() - start).as_micros(), 4000);
    }
}
