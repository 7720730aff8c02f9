//! The outer signal queue: any thread pushes, the owner takes everything. A stack of signals that the owner reverses, so the
//! order of arrival (hence the order between any pair) is kept. One compare-and-swap a signal, no lock.

use crate::package::prefetch;
use crate::signal::{Body, Signal};
use heddle_memory::own_row;
use heddle_sync::sequential::Word;
use heddle_term::Term;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

pub struct Inbox {
    head: AtomicPtr<Signal>,
}

/// Stands in `head` once the process takes no more signals.
fn closed() -> *mut Signal {
    std::ptr::without_provenance_mut(1)
}

impl Inbox {
    pub const fn new() -> Inbox {
        Inbox { head: AtomicPtr::new(null_mut()) }
    }

    /// Gives the signal back if the process takes no more.
    pub fn push(&self, signal: Box<Signal>) -> Result<(), Box<Signal>> {
        debug_assert!(!matches!(signal.body, Body::Message { is_old: true, .. }));
        let ptr = Box::into_raw(signal);
        // SAFETY: still ours alone.
        if let Body::Message { before, .. } = unsafe { &mut (*ptr).body } {
            *before = own_row().trails.step(std::ptr::from_ref(self).addr(), ptr.cast()).cast();
        }
        let mut head = self.head.load(Ordering::Relaxed);
        loop {
            if head == closed() {
                // SAFETY: from `into_raw` above, and never published: still ours alone.
                let mut signal = unsafe { Box::from_raw(ptr) };
                forget_trail(&mut signal.body);
                return Err(signal);
            }
            // SAFETY: still ours alone.
            unsafe { (*ptr).next = head };
            // SeqCst: comes before the ACTIVE flag that the pusher sets next (see ProcState::clear_active). Publishes the signal.
            match self.head.exchange(head, ptr, Ordering::SeqCst, Ordering::Relaxed) {
                Ok(_) => return Ok(()),
                Err(seen) => head = seen,
            }
        }
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        // SeqCst: see ProcState::clear_active.
        let head = self.head.load(Ordering::SeqCst);
        head.is_null() || head == closed()
    }

    /// The newest signal, while the world stands still: others may push what refers to nothing in the shared heap.
    pub(crate) fn latest(&self) -> *mut Signal {
        // Acquire: pairs with the pushes.
        let head = self.head.load(Ordering::Acquire);
        if head == closed() { null_mut() } else { head }
    }

    /// Calls `f` on each term of a signal whose data is in the shared heap, while it stands still: others may push what is not.
    pub(crate) fn for_each_root(&self, f: &mut impl FnMut(&mut Term)) {
        let mut node = self.latest();
        while !node.is_null() {
            // SAFETY: signals stay until the owner takes them, and nobody else looks at what is in them.
            unsafe {
                if let Some(data) = (*node).body.carried() {
                    data.for_root(f);
                }
                node = (*node).next;
            }
        }
    }

    /// Everything that arrived, oldest first.
    pub fn take(&self) -> *mut Signal {
        if self.is_empty() {
            return null_mut();
        }
        // Acquire: pairs with the pushes.
        reverse(self.head.replace(null_mut(), Ordering::AcqRel))
    }

    /// Takes the rest and refuses what comes later.
    pub fn close(&self) -> *mut Signal {
        let head = self.head.replace(closed(), Ordering::AcqRel);
        if head == closed() { null_mut() } else { reverse(head) }
    }
}

impl Default for Inbox {
    fn default() -> Self {
        Inbox::new()
    }
}

/// A message that is in an inbox no more has nothing before it. Gives what it had.
#[inline(always)]
fn forget_trail(body: &mut Body) -> *mut Signal {
    match body {
        Body::Message { before, .. } => std::mem::replace(before, null_mut()),
        _ => null_mut(),
    }
}

/// The walk waits for each signal in turn if they are not in the cache. What they carry comes meanwhile, and what is some steps on
/// (`heddle_memory::Row::trails`).
fn reverse(mut list: *mut Signal) -> *mut Signal {
    let mut out = null_mut();
    while !list.is_null() {
        // SAFETY: the list was taken whole; every node is ours.
        unsafe {
            let next = (*list).next;
            prefetch(forget_trail(&mut (*list).body).cast());
            if let Body::Message { data, .. } = &(*list).body {
                data.prefetch();
            }
            (*list).next = out;
            out = list;
            list = next;
        }
    }
    out
}
