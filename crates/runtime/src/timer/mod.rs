//! Timers, without locks: one wheel per scheduler, which only that scheduler touches.
//!
//! Setting: a scheduler takes a node of its own slab, fills it in, opens its claim and puts it on its wheel. Other threads take a node from
//! outside (`slab::Outside`) and bring it to a scheduler, which is woken if it sleeps.
//!
//! Cancelling: any thread that knows a timer, by its handle or reference, may try to take its claim. The owner of the wheel tries the same
//! when it fires the timer. One of them gets the claim, and with it what the timer carries. If that is not the owner, the node goes on the
//! pile of nodes that the owner must take off its lists. The owner does that when it next looks at its timers (every ms while it works). If
//! it sleeps it is woken for each `PILE` of them, so that no more than that stay allocated until its next timer is due.
//!
//! Looking up a timer: `slab`. Which thread may touch which part of one: `node`. References: `handle`.

#[cfg(test)]
mod clock;
pub mod fire;
pub mod handle;
#[cfg(test)]
mod model_tests;
mod node;
mod receive;
mod slab;
#[cfg(test)]
mod tests;
pub mod time_offset;
pub mod timer_refs;
mod wheel;

#[cfg(not(test))]
use crate::base::time::ticks_ms;
use crate::signal::package::Package;
#[cfg(test)]
use clock::ticks_ms;
pub use handle::Handle;
use heddle_sync::pile::Pile;
use heddle_sync::stack::Stack;
use heddle_term::Term;
use node::{Node, NodeRef};
use receive::Fresh;
pub use receive::{ReceivePhase, ReceiveTimer};
use slab::Directory;
use std::cell::{Cell, UnsafeCell};
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
use wheel::Wheel;

pub(crate) enum Action {
    /// `receive ... after` of process `pid`.
    Receive { pid: u64 },
    /// `send_after`, `start_timer`: destination pid or name (an immediate term), message.
    Send { dest: Term, message: Package },
    /// Any other action, from the Rust side.
    Run(Box<dyn FnOnce() + Send>),
}

/// Bytes of a timer, without its message.
pub(crate) const NODE_BYTES: usize = size_of::<Node>();

/// Number of cancelled timers after which a sleeping owner is woken.
const PILE: u64 = 1024;

/// A scheduler's timers.
#[repr(align(128))]
struct Seat {
    index: u16,
    /// Touched by the owner alone.
    wheel: UnsafeCell<Wheel>,
    /// The directory of its slab.
    directory: Directory,
    /// Nodes of this wheel whose claims other threads took.
    cancelled: Pile,
    /// Nodes for this wheel that other threads set.
    brought: Stack<NodeRef>,
    has_owner: AtomicBool,
    /// Odd while the owner takes a timer and does what it says. Only the owner writes it.
    turns: AtomicU64,
}

// SAFETY: nodes and chunks are reached through it, none of them bound to a thread.
unsafe impl Send for Seat {}
// SAFETY: only the thread that has the seat as `MINE` touches the wheel; all else is made to be shared.
unsafe impl Sync for Seat {}

thread_local! {
    /// The seat that this thread owns.
    static MINE: Cell<Option<&'static Seat>> = const { Cell::new(None) };
}

impl Seat {
    /// The wheel of the calling thread, which must own the seat. The caller must not keep the reference while it calls anything that may
    /// come here.
    #[inline]
    #[allow(clippy::mut_from_ref)]
    fn wheel(&self) -> &mut Wheel {
        debug_assert!(self.is_mine());
        // SAFETY: all callers got the seat from `MINE` or asked `is_mine`, so no other thread is here, and none of them calls another.
        unsafe { &mut *self.wheel.get() }
    }

    #[inline]
    fn is_mine(&self) -> bool {
        MINE.get().is_some_and(|mine| std::ptr::eq(mine, self))
    }

    /// Frees a node of this wheel that is not used any more.
    #[inline]
    fn give_back(&self, wheel: &mut Wheel, node: &Node) {
        if node.index & slab::OUTSIDE != 0 {
            slab::outside().give_back(node);
        } else {
            wheel.slab.give_back(&self.directory, node);
        }
    }

    /// Takes in the timers that other threads set or cancelled.
    fn take_in(&self) {
        let wheel = self.wheel();
        // In this order: a timer that was brought before it was cancelled is there when its cancellation is.
        let mut cancelled = self.cancelled.take();
        for NodeRef(node) in self.brought.take() {
            // SAFETY: only this wheel returns the node to its slab, and it has not done so yet. So the node is not freed.
            let node = unsafe { &*node };
            if !wheel.arrived(node) {
                self.give_back(wheel, node);
            }
        }
        while cancelled != 0 {
            // SAFETY: as above: a cancelled node stays allocated until this wheel returns it.
            let node = unsafe { &*(cancelled as *const Node) };
            cancelled = node.link.load(Ordering::Relaxed);
            if wheel.remove(node) {
                self.give_back(wheel, node);
            }
        }
    }
}

/// A timer that is not set yet, but has its reference. Must be followed by `set` or `give_up` on the same thread.
#[must_use]
pub struct Reserved {
    node: *const Node,
    handle: Handle,
}

impl Reserved {
    pub(crate) fn handle(&self) -> Handle {
        self.handle
    }

    fn node(&self) -> &Node {
        // SAFETY: it is ours alone.
        unsafe { &*self.node }
    }

    /// Frees the timer, which will not be set.
    pub(crate) fn give_up(self) {
        match MINE.get() {
            Some(seat) if !self.handle.is_outside() => seat.give_back(seat.wheel(), self.node()),
            _ => slab::outside().give_back(self.node()),
        }
    }
}

pub struct Wheels {
    seats: Vec<Seat>,
    /// Wakes a scheduler if it sleeps.
    wake: fn(usize),
}

impl Wheels {
    pub(crate) fn new(count: usize, wake: fn(usize)) -> Wheels {
        assert!(count <= handle::WHEELS);
        let seat = |index| Seat {
            index,
            wheel: UnsafeCell::new(Wheel::new()),
            directory: Directory::new(0),
            cancelled: Pile::default(),
            brought: Stack::default(),
            has_owner: AtomicBool::new(false),
            turns: AtomicU64::new(0),
        };
        Wheels { seats: (0..count as u16).map(seat).collect(), wake }
    }

    /// From now on the calling thread owns wheel `index`.
    pub(crate) fn own(&'static self, index: usize) {
        let seat = &self.seats[index];
        assert!(!seat.has_owner.swap(true, Ordering::Relaxed), "a wheel has one owner");
        MINE.set(Some(seat));
        receive::begin(index);
    }

    #[inline]
    pub(crate) fn reserve(&self) -> Reserved {
        let mine = MINE.get();
        let (node, wheel) = match mine {
            Some(seat) => (seat.wheel().take_node(&seat.directory), seat.index),
            None => (slab::outside().take(), 0),
        };
        let node = node.expect("fewer timers than 2^27");
        // SAFETY: it is ours alone.
        let (index, generation) = unsafe { ((*node).index, (*node).claim.generation()) };
        Reserved { node, handle: Handle { generation: known(generation), index, wheel } }
    }

    /// Sets the timer. `deadline_ms` is on the clock of `time::ticks_ms`.
    #[inline]
    pub(crate) fn set(&self, timer: Reserved, deadline_ms: u64, action: Action) {
        let node = timer.node();
        node.wheel.set(timer.handle.wheel);
        let mine = MINE.get();
        if mine.is_none() {
            node.place.set(wheel::COMING);
        }
        // SAFETY: it is ours alone until it is open.
        let kind = unsafe { node.fill(deadline_ms, action) };
        node.claim.open(kind);
        match mine {
            Some(seat) => seat.wheel().link(node),
            None => {
                self.seats[0].brought.push(NodeRef(node));
                (self.wake)(0);
            }
        }
    }

    /// Sets the timer of a process that waits to receive. It fires `ms` after the next look at the clock, which comes soon.
    fn set_receive(&self, pid: u64, ms: u64) -> (Handle, Fresh) {
        let timer = self.reserve();
        let handle = timer.handle();
        let action = Action::Receive { pid };
        let Some(seat) = MINE.get() else {
            // One tick more: the current one has partly gone by, and a timeout must not come early.
            self.set(timer, ticks_ms() + ms + 1, action);
            return (handle, Fresh::default());
        };
        let node = timer.node();
        node.wheel.set(seat.index);
        // SAFETY: it is ours alone until it is open.
        let kind = unsafe { node.fill(ms, action) };
        node.claim.open(kind);
        seat.wheel().link_fresh(node);
        (handle, Fresh::new(node))
    }

    /// The node of a handle, whose timer may be over.
    #[inline]
    fn find(&self, handle: Handle) -> Option<&Node> {
        if handle.is_outside() {
            return slab::outside().directory.find(handle.index);
        }
        self.seats.get(handle.wheel as usize)?.directory.find(handle.index)
    }

    /// Cancels a timer that sends. Returns the ms that were left and the destination, if it had not fired.
    #[inline]
    pub(crate) fn cancel_send(&self, handle: Handle) -> Option<(u64, Term)> {
        let node = self.find(handle)?;
        if !node.claim.take(handle.generation.get(), node::SEND) {
            self.wait_for_turn(handle);
            return None;
        }
        let deadline = node.deadline.load(Ordering::Relaxed);
        // SAFETY: just taken.
        let action = unsafe { node.unload(node::SEND) };
        self.discard(node);
        match action {
            Action::Send { dest, .. } => Some((left(deadline), dest)),
            _ => None,
        }
    }

    /// The timer is over. If the owner of its wheel has taken it just now, returns when what the timer says is done: a process that was told it
    /// came too late finds the message (OTP's code looks for it, and does not wait).
    #[cold]
    fn wait_for_turn(&self, handle: Handle) {
        // Two owners that cancel in their turns would wait for each other. (No process runs in a turn.)
        if MINE.get().is_some_and(|seat| seat.turns.load(Ordering::Relaxed) % 2 == 1) {
            return;
        }
        // Pairs with the Release of `take` and `renew`: the turn in which the owner took the timer is seen.
        fence(Ordering::Acquire);
        let seats = match self.seats.get(handle.wheel as usize) {
            Some(seat) if !handle.is_outside() => std::slice::from_ref(seat),
            _ => &self.seats[..],
        };
        for seat in seats.iter().filter(|seat| !seat.is_mine()) {
            // Acquire, all of them: pair with the Release of `in_turn`.
            let now = || seat.turns.load(Ordering::Acquire);
            let turn = now();
            while turn % 2 == 1 && now() == turn {
                std::thread::yield_now();
            }
        }
    }

    /// For the owner of a wheel: `f` takes one timer and does what it says. Threads that try to cancel that timer wait meanwhile.
    pub(crate) fn in_turn<T>(&self, f: impl FnOnce() -> T) -> T {
        let Some(seat) = MINE.get() else { return f() };
        let turn = seat.turns.load(Ordering::Relaxed);
        // Relaxed: the Release of `take` and `renew` comes after it.
        seat.turns.store(turn + 1, Ordering::Relaxed);
        let result = f();
        // Release: pairs with the Acquire of `wait_for_turn`; what was done is seen.
        seat.turns.store(turn + 2, Ordering::Release);
        result
    }

    /// Cancels a receive timer. Only for the thread that runs its process.
    #[inline]
    fn cancel_receive(&self, handle: Handle) {
        let Some(node) = self.find(handle) else { return };
        let is_mine = MINE.get().is_some_and(|seat| seat.index == handle.wheel);
        let taken = if is_mine {
            // SAFETY: only its process cancels it, which this thread runs, and only the wheel's owner fires it, which this thread is.
            unsafe { node.claim.take_alone(handle.generation.get(), node::RECEIVE) }
        } else {
            node.claim.take(handle.generation.get(), node::RECEIVE)
        };
        if taken {
            self.discard(node);
        }
    }

    /// The caller took the claim of this node and what it carried: takes the node off its list and frees it, or has the owner do so.
    #[inline]
    fn discard(&self, node: &Node) {
        let seat = &self.seats[node.wheel.get() as usize];
        if seat.is_mine() {
            let wheel = seat.wheel();
            if wheel.remove(node) {
                seat.give_back(wheel, node);
            }
        } else if seat.cancelled.push(node as *const Node as u64, &node.link).is_multiple_of(PILE) {
            (self.wake)(seat.index as usize);
        }
    }

    /// Returns the ms that are left of a timer that sends, and its destination.
    pub(crate) fn read_send(&self, handle: Handle) -> Option<(u64, Term)> {
        let node = self.find(handle)?;
        node.claim.seen().filter(|&seen| seen == (handle.generation.get(), node::SEND))?;
        let dest = node.dest(handle.generation.get())?;
        let deadline = node.claim.read(handle.generation.get(), || node.deadline.load(Ordering::Relaxed))?;
        Some((left(deadline), dest))
    }

    #[cfg(test)]
    pub(crate) fn look(&self, limit_ms: u64) -> u64 {
        self.look_after(limit_ms, u64::MAX)
    }

    /// For the owner of a wheel: moves time on. Returns the ms until the next look, at most `limit_ms`; 0 if something is due. Receive
    /// timeouts are counted from the tick `idle_since`, if it has passed: the calling thread has run no process since.
    pub(crate) fn look_after(&self, limit_ms: u64, idle_since: u64) -> u64 {
        let Some(seat) = MINE.get() else { return limit_ms };
        seat.take_in();
        let wheel = seat.wheel();
        receive::looked();
        wheel.advance(ticks_ms(), idle_since, |wheel, node| seat.give_back(wheel, node));
        wheel.until_next(limit_ms)
    }

    pub(crate) fn until_next(&self, limit_ms: u64) -> u64 {
        MINE.get().map_or(limit_ms, |seat| seat.wheel().until_next(limit_ms))
    }

    /// For the owner of a wheel: takes the next timer that is due.
    #[inline]
    pub(crate) fn next_due(&self) -> Option<(Handle, Action)> {
        let seat = MINE.get()?;
        seat.wheel().next_due(|wheel, node| seat.give_back(wheel, node))
    }

    /// True if other threads set timers on wheel `index` that its owner has not seen.
    pub(crate) fn is_brought(&self, index: usize) -> bool {
        !self.seats[index].brought.is_empty()
    }

    /// Calls `f` for every timer that sends, with its destination.
    pub(crate) fn for_each_send(&self, mut f: impl FnMut(Handle, Term)) {
        let mut all = |wheel: u16, directory: &Directory| {
            directory.for_each(|node| {
                if let Some((generation, node::SEND)) = node.claim.seen()
                    && let Some(dest) = node.dest(generation)
                {
                    f(Handle { generation: known(generation), index: node.index, wheel }, dest);
                }
            });
        };
        for seat in &self.seats {
            all(seat.index, &seat.directory);
        }
        all(0, &slab::outside().directory);
    }

    /// Calls `f` with the message of every timer that sends one. A thread that tries to cancel or fire that timer waits meanwhile.
    pub fn for_each_message(&self, mut f: impl FnMut(Term)) {
        self.for_each_send(|handle, _| {
            if let Some(node) = self.find(handle)
                && node.claim.hold(handle.generation.get(), node::SEND)
            {
                // SAFETY: it is held.
                f(unsafe { node.message() });
                node.claim.let_go();
            }
        });
    }
}

/// Generations begin above 0.
#[inline]
fn known(generation: u64) -> NonZeroU64 {
    NonZeroU64::new(generation).expect("a generation")
}

/// The ms left until a deadline. Deadlines count one tick more than was requested, as the current one has partly gone by.
fn left(deadline_ms: u64) -> u64 {
    deadline_ms.saturating_sub(ticks_ms() + 1)
}
