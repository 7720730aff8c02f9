//! Computes how long each queue should be: the sum of the greatest lengths of all queues, divided by the share of its scheduler's time that
//! each queue can have. After J. Zhang, "Characterizing the Scalability of Erlang VM on Many-core Processors", 2011, section 3.3.5.

/// Number of Erlang's priorities: the balance counts levels of a run queue by these.
pub(crate) const CLASSES: usize = 4;
const MAX: usize = 0;
const HIGH: usize = 1;

/// Number of periods over which the reductions of a scheduler are averaged.
const PERIODS: usize = 8;

/// Reductions of a scheduler in the last periods.
#[derive(Clone, Debug)]
pub(crate) struct History {
    reductions: [u64; PERIODS],
    next: usize,
}

impl History {
    /// A history as of a scheduler that was fully busy.
    pub(crate) fn new(period: u64) -> History {
        History { reductions: [period; PERIODS], next: 0 }
    }
    /// A period ended. A scheduler that waited in it could have done as much as the period is long.
    pub(crate) fn add(&mut self, reductions: u64, waited: bool, period: u64) {
        self.reductions[self.next] = if waited { period } else { reductions };
        self.next = (self.next + 1) % PERIODS;
    }
    fn average(&self) -> f64 {
        self.reductions.iter().sum::<u64>() as f64 / PERIODS as f64
    }
}

/// A run queue in a period.
#[derive(Clone, Debug)]
pub(crate) struct Queue {
    /// True if its scheduler waited for work.
    pub waited: bool,
    /// Reductions of processes, by class.
    pub reductions: [u64; CLASSES],
    pub longest: [usize; CLASSES],
    pub history: History,
}

/// The share of its scheduler's time that a class of a queue can have: what more urgent classes leave.
fn own_part(queue: &Queue, class: usize) -> f64 {
    let all: u64 = queue.reductions.iter().sum();
    if all == 0 {
        return 0.0;
    }
    let above: u64 = match class {
        MAX => 0,
        HIGH => queue.reductions[MAX],
        _ => queue.reductions[MAX] + queue.reductions[HIGH],
    };
    (all - above) as f64 / all as f64
}

/// How much each queue can do for a class, relative to the average of the queues whose schedulers never waited.
pub(crate) fn availability(queues: &[Queue], class: usize) -> Vec<f64> {
    let never_waited = || queues.iter().filter(|queue| !queue.waited);
    let average = never_waited().map(|queue| queue.history.average()).sum::<f64>() / never_waited().count().max(1) as f64;
    queues
        .iter()
        .map(|queue| match queue.waited {
            true => 1.0,
            false if average == 0.0 => 0.0,
            false => own_part(queue, class) * queue.history.average() / average,
        })
        .collect()
}

/// The migration limit of each queue for a class.
pub(crate) fn limits(queues: &[Queue], class: usize, availability: &[f64]) -> Vec<usize> {
    let waiting: usize = queues.iter().map(|queue| queue.longest[class]).sum();
    let all: f64 = availability.iter().sum();
    // A little more, so that rounding does not lower a limit that is a whole number.
    availability.iter().map(|part| if all > 0.0 { (waiting as f64 * part / all + 1e-9) as usize } else { 0 }).collect()
}

#[cfg(test)]
mod tests {
    use super::{CLASSES, History, Queue, availability, limits};

    const P: u64 = 1000;
    const NORMAL: usize = 2;

    fn queue(longest: usize, reductions: [u64; CLASSES]) -> Queue {
        Queue { waited: false, reductions, longest: [0, 0, longest, 0], history: History::new(P) }
    }

    fn of(queues: &[Queue], class: usize) -> Vec<usize> {
        limits(queues, class, &availability(queues, class))
    }

    /// Figure 3.5 of the study: only processes of normal priority, and all queues equally available. Then each limit is the average.
    #[test]
    fn equally_available_queues_get_the_average() {
        let queues: Vec<Queue> = [14, 7, 4, 3].into_iter().map(|longest| queue(longest, [0, 0, P, 0])).collect();
        assert_eq!(of(&queues, NORMAL), [7; 4]);
        let queues: Vec<Queue> = [9, 2].into_iter().map(|longest| queue(longest, [0, 0, P, 0])).collect();
        assert_eq!(of(&queues, NORMAL), [5; 2]);
    }

    #[test]
    fn urgent_work_leaves_less_for_the_rest_and_nothing_where_it_takes_all() {
        let queues = [queue(10, [0, P / 2, P / 2, 0]), queue(10, [0, 0, P, 0])];
        assert_eq!(availability(&queues, NORMAL), [0.5, 1.0]);
        assert_eq!(of(&queues, NORMAL), [6, 13]);
        let queues = [queue(10, [P, 0, 0, 0]), queue(10, [0, 0, P, 0])];
        assert_eq!(of(&queues, NORMAL), [0, 20]);
        assert_eq!(availability(&queues, 0), [1.0, 1.0]);
    }

    #[test]
    fn a_queue_that_did_nothing_is_available_only_if_it_waited() {
        let idle = Queue { waited: true, ..queue(0, [0; CLASSES]) };
        assert_eq!(availability(&[queue(8, [0; CLASSES]), idle.clone(), queue(8, [0, 0, P, 0])], NORMAL), [0.0, 1.0, 1.0]);
        assert_eq!(of(&[idle.clone(), idle], NORMAL), [0, 0]);
    }

    #[test]
    fn a_slow_scheduler_gets_less_by_its_last_eight_periods() {
        let mut slow = queue(12, [0, 0, P, 0]);
        for _ in 0..4 {
            slow.history.add(0, false, P);
        }
        let queues = [slow.clone(), queue(12, [0, 0, P, 0])];
        assert_eq!(of(&queues, NORMAL), [8, 16]);
        for _ in 0..8 {
            slow.history.add(0, true, P);
        }
        assert_eq!(of(&[slow, queue(12, [0, 0, P, 0])], NORMAL), [12, 12]);
    }
}
