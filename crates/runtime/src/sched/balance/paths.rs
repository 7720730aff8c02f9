//! Computes which queue gives processes to which. After J. Zhang, "Characterizing the Scalability of Erlang VM on Many-core Processors",
//! 2011, sections 3.3.4 and 3.3.6.

/// What a queue does in the next period, for one class of processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Path {
    Stay,
    /// It was longer than its limit: gives to this one.
    Push(usize),
    /// It was shorter than its limit: takes from this one.
    Pull(usize),
}

impl Path {
    /// The same path with numbers of schedulers, from one with places in a list of them.
    pub(crate) fn of(self, schedulers: &[usize]) -> Path {
        match self {
            Path::Stay => Path::Stay,
            Path::Push(to) => Path::Push(schedulers[to]),
            Path::Pull(from) => Path::Pull(schedulers[from]),
        }
    }
}

/// With fewer schedulers active than online: where an inactive one pushes what comes to it.
pub(crate) fn under_load(scheduler: usize, active: usize) -> Path {
    if scheduler < active { Path::Stay } else { Path::Push(scheduler % active) }
}

/// With all schedulers active: the queues farthest above their limits give to those farthest below, in pairs. The rest on either side are
/// paired with the other side again, from its beginning. Such a second pairing is in one direction only.
pub(crate) fn full_load(longest: &[usize], limits: &[usize]) -> Vec<Path> {
    let surplus = |queue: &usize| longest[*queue] as isize - limits[*queue] as isize;
    let mut order: Vec<usize> = (0..longest.len()).collect();
    // The sort is stable: of equal queues the first one comes first.
    order.sort_by_key(|queue| -surplus(queue));
    let pushing: Vec<usize> = order.iter().copied().filter(|queue| surplus(queue) > 0).collect();
    let pulling: Vec<usize> = order.iter().rev().copied().filter(|queue| surplus(queue) < 0).collect();
    let mut paths = vec![Path::Stay; longest.len()];
    if pushing.is_empty() || pulling.is_empty() {
        return paths;
    }
    for (i, &queue) in pushing.iter().enumerate() {
        paths[queue] = Path::Push(pulling[i % pulling.len()]);
    }
    for (i, &queue) in pulling.iter().enumerate() {
        paths[queue] = Path::Pull(pushing[i % pushing.len()]);
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::{Path::*, full_load, under_load};

    #[test]
    fn inactive_ones_push_to_the_active_in_turn() {
        let paths: Vec<_> = (0..7).map(|scheduler| under_load(scheduler, 3)).collect();
        assert_eq!(paths, [Stay, Stay, Stay, Push(0), Push(1), Push(2), Push(0)]);
    }

    /// Figure 3.6 of the study, after its text: more queues pull than push. The queues of greatest length 7 and 4 both pull from that of
    /// 14, which pushes only to that of 4.
    #[test]
    fn several_queues_pull_from_one() {
        assert_eq!(full_load(&[14, 7, 4], &[8, 8, 8]), [Push(2), Pull(0), Pull(0)]);
        assert_eq!(full_load(&[14, 13, 7, 4, 2], &[8; 5]), [Push(4), Push(3), Pull(0), Pull(1), Pull(0)]);
    }

    #[test]
    fn several_queues_push_to_one() {
        assert_eq!(full_load(&[9, 12, 1, 10, 8], &[8; 5]), [Push(2), Push(2), Pull(1), Push(2), Stay]);
    }

    #[test]
    fn nothing_moves_where_all_is_as_it_should_be() {
        assert_eq!(full_load(&[3, 3], &[3, 3]), [Stay, Stay]);
        // Limits are rounded down, so there may be a surplus that no queue takes.
        assert_eq!(full_load(&[4, 3], &[3, 3]), [Stay, Stay]);
    }

    #[test]
    fn a_queue_that_cannot_do_anything_gives_all_away() {
        assert_eq!(full_load(&[5, 5], &[0, 10]), [Push(1), Pull(0)]);
    }
}
