//! Walks along several queues of signals at a time. The nodes of a queue lie anywhere in memory, each on a cache line of its own, so a walk
//! along one queue waits for the memory at each node. With several queues those waits overlap: some nodes of each are read ahead, together
//! with the first lines of what they refer to, and then visited queue by queue.

use crate::signal::{Signal, SignalBody};
use heddle_term::Term;
use std::ptr::null_mut;

/// Number of queues that are walked along at a time.
pub(super) const WALKS: usize = 16;
/// Number of nodes of each queue that are read ahead: with what they refer to they stay in a core's nearer caches.
const AHEAD: usize = 16;

/// The position of a walk in its queue, and that of its read-ahead.
#[derive(Clone, Copy)]
pub(super) struct Walk {
    at: *mut Signal,
    ahead: *mut Signal,
    /// Some: the visited messages are marked as old. Some(true): the walk also ends at the first one that was old already. None: the
    /// messages are not marked.
    marks: Option<bool>,
}

impl Walk {
    pub(crate) const NOWHERE: Walk = Walk { at: null_mut(), ahead: null_mut(), marks: None };

    pub(crate) fn along(first: *mut Signal, marks: Option<bool>) -> Walk {
        Walk { at: first, ahead: first, marks }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.at.is_null()
    }

    /// Reads one node ahead. Returns false if there is none.
    ///
    /// # Safety
    /// The queue does not change during the walk.
    #[inline(always)]
    unsafe fn read_ahead(&mut self) -> bool {
        if self.ahead.is_null() {
            return false;
        }
        // SAFETY: the queue does not change during the walk, so `ahead` is a live node.
        unsafe {
            if let SignalBody::Message { data, .. } = &(*self.ahead).body
                && data.is_bare()
            {
                data.prefetch();
            }
            self.ahead = (*self.ahead).next;
        }
        true
    }

    /// Visits the nodes that were read ahead, and returns their number.
    ///
    /// # Safety
    /// As `read_ahead`, and no other thread accesses what is in the nodes.
    // SAFETY: the collection calls it while the world is stopped, on a walk that one of its threads has alone.
    pub(crate) unsafe fn visit(&mut self, mut f: impl FnMut(&mut Term)) -> usize {
        let mut count = 0;
        // SAFETY: the nodes are live, and no other thread accesses what is in them.
        unsafe {
            while self.at != self.ahead {
                let node = self.at;
                self.at = (*node).next;
                count += 1;
                if let SignalBody::Message { is_old, .. } | SignalBody::Small { is_old, .. } = &mut (*node).body
                    && let Some(only_new) = self.marks
                    && std::mem::replace(is_old, true)
                    && only_new
                {
                    *self = Walk::NOWHERE;
                    break;
                }
                if let Some(data) = (*node).body.carried() {
                    data.for_root(&mut f);
                }
            }
        }
        count
    }
}

/// Reads up to `AHEAD` nodes of each walk ahead.
///
/// # Safety
/// As `Walk::read_ahead`.
pub(super) unsafe fn read_ahead<T>(walks: &mut [(T, Walk)]) {
    for _ in 0..AHEAD {
        let mut any = false;
        for (_, walk) in walks.iter_mut() {
            // SAFETY: the queues do not change during the walks.
            any |= unsafe { walk.read_ahead() };
        }
        if !any {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::level::Level;
    use crate::process::state::ProcState;
    use crate::signal::package::Package;

    fn push(inbox: &ProcState, n: i64) {
        assert!(inbox.push(Signal::message(Package::immediate(Term::small(n)))).is_ok());
    }

    /// The messages visited along the queues, each with the number of its queue.
    fn visited(queues: &[(&ProcState, Option<bool>)]) -> Vec<(usize, i64)> {
        let mut walks: Vec<(usize, Walk)> =
            queues.iter().enumerate().map(|(n, (inbox, marks))| (n, Walk::along(inbox.latest(), *marks))).collect();
        let mut seen = Vec::new();
        while walks.iter().any(|(_, walk)| !walk.is_over()) {
            // SAFETY: only this test has the queues.
            unsafe {
                read_ahead(&mut walks);
                for (n, walk) in &mut walks {
                    walk.visit(|term| seen.push((*n, term.as_small().unwrap())));
                }
            }
        }
        seen
    }

    fn empty(inbox: &ProcState) {
        let mut taken = inbox.take_signals().in_order().first;
        while !taken.is_null() {
            // SAFETY: taken off the inbox, a list of signals that only this test has.
            let signal = unsafe { Box::from_raw(taken) };
            taken = signal.next;
        }
    }

    #[test]
    fn each_message_is_new_once() {
        let inbox = ProcState::new(Level::NORMAL);
        let new = || visited(&[(&inbox, Some(true))]).into_iter().map(|(_, n)| n).collect::<Vec<_>>();
        (1..=3).for_each(|n| push(&inbox, n));
        assert!(inbox.push(Signal::new(SignalBody::Wake)).is_ok());
        assert_eq!(new(), [3, 2, 1]);
        assert_eq!(new(), []);
        (4..=5).for_each(|n| push(&inbox, n));
        assert_eq!(new(), [5, 4]);
        (6..=40).for_each(|n| push(&inbox, n));
        // A major collection visits all, and marks them as old.
        let all = visited(&[(&inbox, Some(false))]);
        assert_eq!(all, (1..=40).rev().map(|n| (0, n)).collect::<Vec<_>>());
        assert_eq!(new(), []);
        empty(&inbox);
    }

    #[test]
    fn each_node_of_each_queue_is_visited_once_and_in_order() {
        let inboxes: [ProcState; 4] = std::array::from_fn(|_| ProcState::new(Level::NORMAL));
        let lengths = [AHEAD as i64, 0, 1, 5 * AHEAD as i64 + 3];
        for (inbox, length) in inboxes.iter().zip(lengths) {
            (0..length).for_each(|n| push(inbox, n));
        }
        let seen = visited(&inboxes.each_ref().map(|inbox| (inbox, None)));
        for (which, length) in lengths.into_iter().enumerate() {
            let of_it: Vec<i64> = seen.iter().filter(|(n, _)| *n == which).map(|(_, message)| *message).collect();
            assert_eq!(of_it, (0..length).rev().collect::<Vec<_>>());
        }
        // The first walk marked nothing.
        assert_eq!(visited(&[(&inboxes[2], Some(true))]), [(0, 0)]);
        inboxes.iter().for_each(empty);
    }
}
