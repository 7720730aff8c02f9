//! The outer signal queue, in the state word of a process: any thread pushes, the owner takes everything. It is a stack of signals
//! that the owner reverses, so the order of arrival (hence the order between any pair) is kept. Each signal costs one
//! compare-and-swap, which also wakes its receiver, and no lock.

use crate::base::level::Priority;
use crate::process::state::{self, ProcState, QueueAction};
use crate::signal::outgoing::Outgoing;
use crate::signal::{Signal, SignalBody};
use heddle_sync::flagged_stack::{Change, Node};
use heddle_sync::prefetch;
use heddle_term::Term;
use std::ptr::null_mut;

// SAFETY: `Signal` is aligned as the trait asks, and the queue that a signal is on owns its `next`.
unsafe impl Node for Signal {
    #[inline(always)]
    unsafe fn set_next(signal: *mut Signal, next: *mut Signal) {
        // SAFETY: the signal is the caller's alone.
        unsafe { (*signal).next = next };
    }
}

/// The signals that the owner took, newest first. They must be handled (`handle::receive`).
#[must_use]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrived(pub(crate) *mut Signal);

impl Arrived {
    pub fn is_empty(self) -> bool {
        self.0.is_null()
    }

    pub(crate) fn in_order(self) -> InOrder {
        reverse(self.0)
    }
}

/// A list of signals that no other thread refers to, oldest first.
pub(crate) struct InOrder {
    pub(crate) first: *mut Signal,
    pub(crate) last: *mut Signal,
    pub(crate) len: u32,
    /// True if the list is not empty, and each signal is a message.
    pub(crate) are_messages: bool,
}

impl ProcState {
    /// Wakes the process as well. Returns the signal as an error if the process takes no more.
    #[inline]
    pub fn push(&self, signal: Box<Signal>) -> Result<QueueAction, Box<Signal>> {
        self.put_there(signal, state::awake).map(state::put)
    }

    /// As `push`, for a message, which most signals are.
    #[inline]
    pub(crate) fn push_message(&self, Outgoing { signal, refers }: Outgoing) -> Result<QueueAction, Box<Signal>> {
        self.put_in(signal, refers, state::awake).map(state::put)
    }

    /// A message that a running process sends to itself.
    pub(crate) fn push_message_to_itself(&self, Outgoing { signal, refers }: Outgoing) {
        let _ = self.put_in(signal, refers, |flags| flags);
    }

    /// As `push`, for a sender of this priority that waits for an answer.
    pub(crate) fn push_for(&self, signal: Box<Signal>, asker: Priority) -> Result<QueueAction, Box<Signal>> {
        self.put_there(signal, state::awake_for(asker)).map(state::put_for)
    }

    /// A signal that a running process sends to itself, so no process must be woken. A running process always takes it.
    pub fn push_to_itself(&self, signal: Box<Signal>) {
        let _ = self.put_there(signal, |flags| flags);
    }

    #[inline(always)]
    fn put_there(&self, mut signal: Box<Signal>, change: impl FnMut(u32) -> u32) -> Result<Change, Box<Signal>> {
        let refers = signal.body.carried().is_some_and(|data| data.refers());
        self.put_in(signal, refers, change)
    }

    /// `refers`: true if what goes with the signal may be in the young generation of the shared heap.
    #[inline(always)]
    fn put_in(&self, mut signal: Box<Signal>, refers: bool, mut change: impl FnMut(u32) -> u32) -> Result<Change, Box<Signal>> {
        debug_assert!(!matches!(signal.body, SignalBody::Message { is_old: true, .. } | SignalBody::Small { is_old: true, .. }));
        debug_assert_eq!(signal.body.carried().is_some_and(|data| data.refers()), refers);
        let change = |flags| state::referred(change(flags), refers);
        let ptr = Box::into_raw(signal);
        // SAFETY: no other thread knows the signal yet.
        if let SignalBody::Message { before, .. } | SignalBody::Small { before, .. } = unsafe { &mut (*ptr).body } {
            *before = self.1.step(ptr);
        }
        // SAFETY: from `into_raw`; the thread that takes it makes a box of it again.
        unsafe { self.0.push(ptr, change) }.ok_or_else(|| {
            // SAFETY: from `into_raw` above, and never published: no other thread knows it.
            let mut signal = unsafe { Box::from_raw(ptr) };
            clear_chain(&mut signal.body);
            signal
        })
    }

    #[inline(always)]
    pub fn has_signals(&self) -> bool {
        !self.0.load().1.is_null()
    }

    /// The newest signal, while the world is stopped. Other threads may push signals that refer to nothing in the shared heap.
    pub(crate) fn latest(&self) -> *mut Signal {
        self.0.load().1
    }

    /// Calls `f` on each term of a signal whose data is in the shared heap, while the world is stopped. Other threads may push
    /// signals without such data.
    pub(crate) fn for_each_root(&self, f: &mut impl FnMut(&mut Term)) {
        let mut node = self.latest();
        while !node.is_null() {
            // SAFETY: signals stay until the owner takes them, and no other thread looks at what is in them.
            unsafe {
                if let Some(data) = (*node).body.carried() {
                    data.for_root(f);
                }
                node = (*node).next;
            }
        }
    }

    /// Takes the remaining signals, oldest first, and refuses later ones.
    pub(crate) fn close(&self) -> *mut Signal {
        reverse(self.0.close()).first
    }
}

/// A message that has left the inbox must not point to an earlier one. Returns the pointer that it had.
#[inline(always)]
fn clear_chain(body: &mut SignalBody) -> *mut Signal {
    turn_chain(body, null_mut())
}

/// As `clear_chain`, but a message whose data is not in the heap yet is told where a later one is.
#[inline(always)]
fn turn_chain(body: &mut SignalBody, later: *mut Signal) -> *mut Signal {
    match body {
        SignalBody::Message { before, data, .. } => std::mem::replace(before, if data.is_bare() { null_mut() } else { later }),
        SignalBody::Small { before, .. } => std::mem::replace(before, later),
        _ => null_mut(),
    }
}

/// A message in the queue points this many messages ahead: `receive` takes as long for them as a cache line takes to arrive.
const LATER: usize = 4;

/// If the signals are not in the cache, the walk waits for each in turn. Meanwhile it prefetches what they carry, and signals some
/// steps ahead (`prefetch_chain`). It also makes the walk back easier: of a long queue, the first lines have left the cache again when the
/// end is reached.
fn reverse(mut list: *mut Signal) -> InOrder {
    let mut out = InOrder { first: null_mut(), last: list, len: 0, are_messages: !list.is_null() };
    let mut later = [null_mut(); LATER];
    while !list.is_null() {
        // SAFETY: the list was taken whole; every node is ours.
        unsafe {
            let next = (*list).next;
            prefetch::to_write(turn_chain(&mut (*list).body, later[LATER - 1]).cast());
            later = [list, later[0], later[1], later[2]];
            match &(*list).body {
                SignalBody::Message { data, .. } => data.prefetch(),
                SignalBody::Small { .. } => {}
                _ => out.are_messages = false,
            }
            (*list).next = out.first;
            out.first = list;
            out.len += 1;
            list = next;
        }
    }
    out
}
