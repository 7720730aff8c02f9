//! The processes that wait in one direction of a socket: the current one, whose operation is tried, and those that wait for their turn.

use super::handle::Handle;
use std::collections::VecDeque;

#[derive(Clone, Copy, Debug)]
pub struct Requestor {
    pub pid: u64,
    pub handle: Handle,
}

#[derive(Default)]
pub struct Requestors {
    pub current: Option<Requestor>,
    waiting: VecDeque<Requestor>,
}

/// What a process may do in a direction of a socket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Turn {
    /// It tries at once: it is the current one, or there is none.
    Now,
    /// Another process is the current one.
    Later,
    /// It waits already.
    Waits,
}

impl Requestors {
    pub fn turn_of(&self, pid: u64) -> Turn {
        match self.current {
            Some(current) if current.pid != pid => {
                if self.waiting.iter().any(|other| other.pid == pid) {
                    Turn::Waits
                } else {
                    Turn::Later
                }
            }
            _ => Turn::Now,
        }
    }

    pub fn push(&mut self, requestor: Requestor) {
        self.waiting.push_back(requestor);
    }

    pub fn pop(&mut self) -> Option<Requestor> {
        self.waiting.pop_front()
    }

    /// Removes the process among those that wait for their turn; with a handle only if it is that of its operation.
    pub fn unqueue(&mut self, pid: u64, handle: Option<Handle>) -> bool {
        let found = self.waiting.iter().position(|other| other.pid == pid);
        match found {
            Some(at) if handle.is_none_or(|handle| self.waiting[at].handle == handle) => self.waiting.remove(at).is_some(),
            _ => false,
        }
    }

    /// Takes all that wait for their turn.
    pub fn drain(&mut self) -> impl Iterator<Item = Requestor> {
        std::mem::take(&mut self.waiting).into_iter()
    }

    pub fn len(&self) -> usize {
        usize::from(self.current.is_some()) + self.waiting.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_runtime::refs;
    use heddle_term::Heap;

    fn requestor(pid: u64) -> Requestor {
        let mut heap = Heap::new();
        let handle = Handle::of(heap.reference(refs::fresh().words())).unwrap();
        Requestor { pid, handle }
    }

    #[test]
    fn one_process_tries_and_the_others_wait_in_order() {
        let mut all = Requestors::default();
        assert_eq!(all.turn_of(1), Turn::Now);
        all.current = Some(requestor(1));
        assert_eq!([all.turn_of(1), all.turn_of(2)], [Turn::Now, Turn::Later]);
        let (second, third) = (requestor(2), requestor(3));
        all.push(second);
        all.push(third);
        assert_eq!((all.turn_of(2), all.len()), (Turn::Waits, 3));
        assert!(!all.unqueue(2, Some(third.handle)));
        assert!(all.unqueue(2, Some(second.handle)));
        assert_eq!(all.pop().map(|next| next.pid), Some(3));
        assert!(all.pop().is_none());
    }
}
