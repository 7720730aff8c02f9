//! The timer of `receive ... after`.
//!
//! Nearly all of these timers are cancelled soon, and their process sets the next one. So a cancelled timer stays on its list, set aside,
//! until the next look at the clock, and is set again by one store. Each look frees the timers that are aside, and ends all that a process
//! knows of its timer's place.

use super::node::Node;
use super::wheel::ASIDE;
use super::{Handle, Wheels};
use std::cell::Cell;
use std::num::NonZeroU64;
use std::ptr::null;
use std::sync::atomic::Ordering;

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum ReceivePhase {
    #[default]
    None,
    Runs,
    Fired,
    /// The timeout is `infinity`: the operand must not be read again.
    Never,
}

/// What a process knows of its timer.
#[derive(Default)]
pub struct ReceiveTimer {
    fresh: Fresh,
    /// A handle, in parts to be smaller. The generation is 0 if there is none.
    generation: u64,
    index: u32,
    wheel: u16,
    pub phase: ReceivePhase,
}

const _: () = assert!(size_of::<ReceiveTimer>() == 32);

/// A node that no look has seen, valid as long as the thread's `LIST` is this one.
pub(super) struct Fresh {
    list: u64,
    node: *const Node,
}

const NONE: u64 = 0;
const LOOKS_BITS: u32 = 48;

thread_local! {
    /// The list of fresh timers that this thread has: the number of its wheel, and the number of its looks so far. No two lists have the
    /// same value.
    static LIST: Cell<u64> = const { Cell::new(u64::MAX) };
}

impl Default for Fresh {
    fn default() -> Fresh {
        Fresh { list: NONE, node: null() }
    }
}

impl Fresh {
    /// A node that was just put on this thread's list.
    pub(super) fn new(node: &Node) -> Fresh {
        Fresh { list: LIST.get(), node }
    }

    /// The node, if no look has seen it. Only the caller, which runs its process, and later the wheel touch it.
    #[inline]
    fn node(&self) -> Option<&Node> {
        // SAFETY: it is on the list of this thread's wheel, which only the next look takes it off, and a look changes `LIST`.
        (self.list == LIST.get()).then(|| unsafe { &*self.node })
    }
}

/// The calling thread owns this wheel from now on.
pub(super) fn begin(wheel: usize) {
    LIST.set((wheel as u64 + 1) << LOOKS_BITS);
}

/// The list of fresh timers is about to be emptied.
pub(super) fn looked() {
    LIST.set(LIST.get() + 1);
}

/// Replaces the value that makes the calling thread the owner of a wheel: a test has one thread be several.
#[cfg(test)]
pub(super) fn exchange_list(list: u64) -> u64 {
    LIST.replace(list)
}

#[cfg(test)]
pub(super) const NO_LIST: u64 = u64::MAX;

impl ReceiveTimer {
    /// For the thread that runs the process, while no timer runs: sets the last one again, if it is still aside. Returns true if so.
    #[inline]
    pub fn set_again(&mut self, ms: u64) -> bool {
        let Some(node) = self.fresh.node() else { return false };
        // It never fired, so no signal of it is under way.
        node.deadline.store(ms, Ordering::Relaxed);
        self.phase = ReceivePhase::Runs;
        true
    }

    /// For the thread that runs the process, while no timer runs.
    pub(crate) fn set(&mut self, wheels: impl FnOnce() -> &'static Wheels, pid: u64, ms: u64) {
        if !self.set_again(ms) {
            self.set_new(wheels(), pid, ms);
        }
    }

    #[inline(never)]
    fn set_new(&mut self, wheels: &Wheels, pid: u64, ms: u64) {
        let (Handle { generation, index, wheel }, fresh) = wheels.set_receive(pid, ms);
        *self = ReceiveTimer { fresh, generation: generation.get(), index, wheel, phase: ReceivePhase::Runs };
    }

    /// For the thread that runs the process: sets the running timer aside, if no look has seen it. Returns true if so.
    #[inline]
    pub fn set_aside(&mut self) -> bool {
        if self.phase != ReceivePhase::Runs {
            return false;
        }
        let Some(node) = self.fresh.node() else { return false };
        node.deadline.store(ASIDE, Ordering::Relaxed);
        self.phase = ReceivePhase::None;
        true
    }

    /// For the thread that runs the process: afterwards no timer runs or has fired.
    pub(crate) fn cancel(&mut self, wheels: impl FnOnce() -> &'static Wheels) {
        if self.phase == ReceivePhase::Runs && !self.set_aside() {
            self.cancel_old(wheels());
        }
        self.phase = ReceivePhase::None;
    }

    #[inline(never)]
    fn cancel_old(&mut self, wheels: &Wheels) {
        if let Some(handle) = self.handle() {
            wheels.cancel_receive(handle);
        }
        // A node of another thread's list must not be set again when the process is back on that thread.
        *self = ReceiveTimer::default();
    }

    fn handle(&self) -> Option<Handle> {
        NonZeroU64::new(self.generation).map(|generation| Handle { generation, index: self.index, wheel: self.wheel })
    }

    /// The signal of a timer came. It may be that of an earlier one, which was cancelled too late.
    pub(crate) fn fired(&mut self, timer: Handle) {
        if self.phase == ReceivePhase::Runs && self.handle() == Some(timer) {
            *self = ReceiveTimer { phase: ReceivePhase::Fired, ..ReceiveTimer::default() };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::time::ticks_ms;
    use crate::timer::{Action, clock};

    /// The timer that fires within `limit_ms`, and its process.
    fn due(wheels: &Wheels, limit_ms: u64) -> Option<(Handle, u64)> {
        let end = ticks_ms() + limit_ms;
        while ticks_ms() <= end {
            wheels.look(1);
            if let Some((timer, Action::Receive { pid })) = wheels.next_due() {
                return Some((timer, pid));
            }
        }
        None
    }

    #[test]
    fn one_that_is_set_aside_is_set_again_until_the_next_look() {
        let wheels: &'static Wheels = Box::leak(Box::new(Wheels::new(2, |_| ())));
        wheels.own(0);
        let mut timer = ReceiveTimer::default();
        timer.set(|| wheels, 1, 5);
        let first = timer.handle().unwrap();
        timer.cancel(|| unreachable!("it is set aside"));
        assert_eq!(timer.phase, ReceivePhase::None);
        timer.set(|| unreachable!("its place is still there"), 1, 2);
        assert_eq!(timer.handle(), Some(first));
        assert_eq!(due(wheels, 1000), Some((first, 1)));
        timer.fired(Handle { generation: NonZeroU64::MAX, ..first });
        assert_eq!(timer.phase, ReceivePhase::Runs);
        timer.fired(first);
        assert_eq!(timer.phase, ReceivePhase::Fired);
        timer.cancel(|| unreachable!("it fired"));
        // Aside when the look comes: it never fires, and its place is free for another one.
        timer.set(|| wheels, 1, 2);
        let second = timer.handle().unwrap();
        timer.cancel(|| unreachable!("it is set aside"));
        assert_eq!(due(wheels, 20), None);
        let mut other = ReceiveTimer::default();
        other.set(|| wheels, 2, 2);
        assert_eq!(other.index, second.index);
        timer.set(|| wheels, 1, 10_000);
        assert_ne!(timer.index, second.index);
        // Set, and seen by a look: it is cancelled like any other timer.
        wheels.look(1);
        timer.cancel(|| wheels);
        assert_eq!(due(wheels, 1000).map(|(_, pid)| pid), Some(2));
        assert_eq!(due(wheels, 20), None);
        assert_eq!(wheels.look(1000), 1000, "none is left");
    }

    #[test]
    fn it_counts_from_the_time_since_which_its_thread_is_idle() {
        let wheels: &'static Wheels = Box::leak(Box::new(Wheels::new(1, |_| ())));
        clock::set(1000);
        wheels.own(0);
        ReceiveTimer::default().set(|| wheels, 1, 5);
        clock::set(1003);
        assert_eq!(wheels.look_after(100, 1001), 1001 + 5 + 1 - 1003);
        // Not known since when: from now.
        ReceiveTimer::default().set(|| wheels, 2, 1);
        assert_eq!(wheels.look(100), 2);
        clock::set(1005);
        assert_eq!(wheels.look(100), 0);
        assert!(matches!(wheels.next_due(), Some((_, Action::Receive { pid: 2 }))));
        // The time since when lies so far back that the timeout is over.
        ReceiveTimer::default().set(|| wheels, 3, 2);
        clock::set(1050);
        assert_eq!(wheels.look_after(100, 1006), 0);
    }

    #[test]
    fn its_process_may_go_to_another_thread_and_come_back() {
        let wheels: &'static Wheels = Box::leak(Box::new(Wheels::new(2, |_| ())));
        wheels.own(0);
        let mut timer = ReceiveTimer::default();
        let elsewhere = |owner: bool, timer: &mut ReceiveTimer, f: fn(&mut ReceiveTimer, &'static Wheels)| {
            // SAFETY: a `ReceiveTimer` is its process's, which moves between threads; this one waits.
            struct Moves<'a>(&'a mut ReceiveTimer);
            // SAFETY: as above.
            unsafe impl Send for Moves<'_> {}
            let moves = Moves(timer);
            std::thread::scope(|threads| {
                threads.spawn(move || {
                    let Moves(timer) = { moves };
                    if owner {
                        wheels.own(1);
                    }
                    f(timer, wheels);
                });
            });
        };
        // Runs, and is cancelled on the other thread: its place is not used again here.
        timer.set(|| wheels, 1, 2);
        let first = timer.handle().unwrap();
        elsewhere(true, &mut timer, |timer, wheels| timer.cancel(|| wheels));
        timer.set(|| wheels, 1, 2);
        assert_ne!(timer.handle(), Some(first));
        assert_eq!(due(wheels, 1000), timer.handle().map(|timer| (timer, 1)));
        timer.fired(timer.handle().unwrap());
        timer.cancel(|| unreachable!("it fired"));
        // Aside here, set by the other thread, which has no wheel.
        timer.set(|| wheels, 1, 2);
        timer.cancel(|| unreachable!("it is set aside"));
        elsewhere(false, &mut timer, |timer, wheels| timer.set(|| wheels, 3, 2));
        assert_eq!(due(wheels, 1000), timer.handle().map(|timer| (timer, 3)));
    }
}
