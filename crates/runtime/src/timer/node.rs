//! One timer, and which thread may touch which part of it.
//!
//! `claim` says which thread has it. The thread that sets a timer has the node alone until the claim is open. From then on all threads may
//! read `deadline` and `dest` (through `Claim::read`). One thread takes the claim and gets what the timer carries. `next`, `prev` and
//! `place` belong to the owner of the wheel alone, whichever thread took the claim: the owner frees the node.

use super::{Action, Handle, known};
use crate::signal::package::Package;
use heddle_sync::claim::Claim;
use heddle_term::Term;
use std::cell::{Cell, UnsafeCell};
use std::mem::ManuallyDrop;
use std::ptr::null;
use std::sync::atomic::{AtomicU64, Ordering};

/// The kinds of timers, in the claim.
pub(crate) const RECEIVE: u64 = 0;
pub(crate) const SEND: u64 = 1;
pub(crate) const RUN: u64 = 2;

/// What a timer carries, by its kind.
pub(crate) union Load {
    message: ManuallyDrop<Package>,
    run: ManuallyDrop<Box<dyn FnOnce() + Send>>,
    nothing: (),
}

pub(crate) struct Node {
    pub claim: Claim,
    pub deadline: AtomicU64,
    /// The receiver: a pid's payload, or a destination as a term.
    dest: AtomicU64,
    /// Link of the pile of timers that other threads cancelled.
    pub link: AtomicU64,
    pub next: Cell<*const Node>,
    pub prev: Cell<*const Node>,
    /// The list of its wheel that it is on: see `wheel`.
    pub place: Cell<u16>,
    /// Number of the wheel. Written before the claim is open, read by the thread that took it.
    pub wheel: Cell<u16>,
    /// Its index in the slab.
    pub index: u32,
    load: UnsafeCell<Load>,
}

const _: () = assert!(size_of::<Node>() == 80);

// SAFETY: what is not atomic is touched by one thread at a time, as described above.
unsafe impl Sync for Node {}

impl Node {
    pub(crate) fn new(index: u32, generation: u64) -> Node {
        Node {
            claim: Claim::new(generation),
            deadline: AtomicU64::new(0),
            dest: AtomicU64::new(0),
            link: AtomicU64::new(0),
            next: Cell::new(null()),
            prev: Cell::new(null()),
            place: Cell::new(0),
            wheel: Cell::new(0),
            index,
            load: UnsafeCell::new(Load { nothing: () }),
        }
    }

    /// Fills in everything but the lists. Must be followed by `claim.open` with the kind that is returned.
    ///
    /// # Safety
    /// Only the caller has the node, and it carries nothing.
    #[inline]
    // SAFETY: a timer is set on a node that was just taken from its slab.
    pub(crate) unsafe fn fill(&self, deadline: u64, action: Action) -> u64 {
        self.claim.prepare();
        self.deadline.store(deadline, Ordering::Relaxed);
        let (kind, dest, load) = match action {
            Action::Receive { pid } => (RECEIVE, pid, Load { nothing: () }),
            Action::Send { dest, message } => (SEND, dest.raw(), Load { message: ManuallyDrop::new(message) }),
            Action::Run(run) => (RUN, 0, Load { run: ManuallyDrop::new(run) }),
        };
        self.dest.store(dest, Ordering::Relaxed);
        // SAFETY: only the caller has the node, and it carries nothing.
        unsafe { *self.load.get() = load };
        kind
    }

    /// Takes out what the timer carries.
    ///
    /// # Safety
    /// The caller took the claim, which said `kind`, and calls this once.
    #[inline]
    // SAFETY: the thread whose `claim.take` succeeded calls it, and a claim is taken once.
    pub(crate) unsafe fn unload(&self, kind: u64) -> Action {
        let dest = self.dest.load(Ordering::Relaxed);
        // SAFETY: by contract the load is of this kind, ours, and not taken again.
        unsafe {
            let load = &mut *self.load.get();
            match kind {
                RECEIVE => Action::Receive { pid: dest },
                SEND => Action::Send { dest: Term::from_raw(dest), message: ManuallyDrop::take(&mut load.message) },
                _ => Action::Run(ManuallyDrop::take(&mut load.run)),
            }
        }
    }

    /// The handle of the timer that is in the node.
    pub(crate) fn handle(&self) -> Handle {
        Handle { generation: known(self.claim.generation()), index: self.index, wheel: self.wheel.get() }
    }

    /// The destination of a timer that sends, if it has not fired and is not cancelled.
    #[inline]
    pub(crate) fn dest(&self, generation: u64) -> Option<Term> {
        self.claim.read(generation, || self.dest.load(Ordering::Relaxed)).map(Term::from_raw)
    }

    /// The message that the timer carries, in place.
    ///
    /// # Safety
    /// The caller holds the claim, which said `SEND`.
    // SAFETY: `for_each_message` holds the claim around the call.
    pub(crate) unsafe fn message(&self) -> Term {
        // SAFETY: the caller holds the claim, which said `SEND`, so the load is a message.
        unsafe { (*self.load.get()).message.term() }
    }
}

/// A node on its way to the owner of its wheel.
#[derive(Clone, Copy)]
pub(crate) struct NodeRef(pub *const Node);

// SAFETY: all threads may look at nodes, as described above.
unsafe impl Send for NodeRef {}
