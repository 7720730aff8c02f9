//! A hierarchical timer wheel: ticks of 1 ms, 5 levels of 256 slots (2^40 ms; timers farther away wait in the last level and are placed
//! again when their slot comes up). Setting and cancelling are O(1), and time goes from one used slot to the next. It belongs to one
//! thread.
//!
//! There are two more lists. `FRESH` has receive timeouts without a deadline yet. Most are cancelled soon, so the clock is not read for
//! each of them but at the next look at time, and their time counts from there (never early, and no later than that look). `DUE` has timers
//! whose time has come and that were not fired yet.

use super::node::Node;
use super::slab::{Directory, Slab};
use super::{Action, Handle};
use std::ptr::null;
use std::sync::atomic::Ordering;

const SLOT_BITS: u32 = 8;
const SLOTS: usize = 1 << SLOT_BITS;
const LEVELS: usize = 5;

/// Places of nodes: level * SLOTS + slot, or one of these.
pub(crate) const FRESH: u16 = (LEVELS * SLOTS) as u16;
/// Stands for the deadline of a node on the `FRESH` list that was cancelled: the node is freed at the next look unless it is set again
/// before.
pub(crate) const ASIDE: u64 = u64::MAX;
const DUE: u16 = FRESH + 1;
const LISTS: usize = DUE as usize + 1;
/// The node is on no list.
const LOOSE: u16 = LISTS as u16;
/// The node was set by another thread and has not arrived yet.
pub(crate) const COMING: u16 = LOOSE + 1;
/// As `COMING`, and its claim was taken meanwhile.
const COMING_TAKEN: u16 = COMING + 1;

pub(crate) struct Wheel {
    pub slab: Slab,
    /// The first node of each list. Lists are rings.
    first: Box<[*const Node; LISTS]>,
    occupied: [[u64; SLOTS / 64]; LEVELS],
    now: u64,
    /// Number of nodes on the lists.
    count: usize,
}

impl Wheel {
    pub(crate) fn new() -> Wheel {
        Wheel { slab: Slab::new(), first: Box::new([null(); LISTS]), occupied: [[0; SLOTS / 64]; LEVELS], now: 0, count: 0 }
    }

    /// Puts an open node of this wheel on the list where it belongs.
    #[inline]
    pub(crate) fn link(&mut self, node: &Node) {
        let deadline = node.deadline.load(Ordering::Relaxed).max(self.now + 1);
        let delta = deadline - self.now;
        let level = ((63 - delta.leading_zeros()) / SLOT_BITS).min(LEVELS as u32 - 1) as usize;
        let reach = deadline.min(self.now + (1 << (SLOT_BITS * LEVELS as u32)) - 1);
        let slot = (reach >> (SLOT_BITS * level as u32)) as usize & (SLOTS - 1);
        self.occupied[level][slot / 64] |= 1 << (slot % 64);
        self.append(node, (level * SLOTS + slot) as u16);
    }

    /// As `link`, for a receive timeout whose deadline is still relative to the next look.
    #[inline]
    pub(crate) fn link_fresh(&mut self, node: &Node) {
        self.append(node, FRESH);
    }

    #[inline]
    fn append(&mut self, node: &Node, place: u16) {
        node.place.set(place);
        self.count += 1;
        let first = self.first[place as usize];
        // SAFETY: nodes on our lists are alive, and their links ours.
        match unsafe { first.as_ref() } {
            None => {
                node.next.set(node);
                node.prev.set(node);
                self.first[place as usize] = node;
            }
            Some(first) => {
                let last = first.prev.get();
                node.next.set(first);
                node.prev.set(last);
                first.prev.set(node);
                // SAFETY: as above.
                unsafe { (*last).next.set(node) };
            }
        }
    }

    #[inline]
    fn unlink(&mut self, node: &Node) {
        let place = node.place.replace(LOOSE) as usize;
        self.count -= 1;
        let (next, prev) = (node.next.get(), node.prev.get());
        if std::ptr::eq(next, node) {
            self.first[place] = null();
            if place < FRESH as usize {
                let slot = place % SLOTS;
                self.occupied[place / SLOTS][slot / 64] &= !(1 << (slot % 64));
            }
            return;
        }
        // SAFETY: nodes on our lists are alive, and their links ours.
        unsafe {
            (*prev).next.set(next);
            (*next).prev.set(prev);
        }
        if std::ptr::eq(self.first[place], node) {
            self.first[place] = next;
        }
    }

    /// Takes a node of this wheel whose claim was taken off its list. True if it must be freed now.
    #[inline]
    pub(crate) fn remove(&mut self, node: &Node) -> bool {
        match node.place.get() {
            COMING => {
                node.place.set(COMING_TAKEN);
                return false;
            }
            LOOSE => {}
            _ => self.unlink(node),
        }
        true
    }

    /// A node that another thread set has arrived. False if it must be freed now.
    pub(crate) fn arrived(&mut self, node: &Node) -> bool {
        if node.place.get() == COMING_TAKEN {
            return false;
        }
        self.link(node);
        true
    }

    /// Empties the list of `place`: takes its nodes off one by one and calls `f` with each.
    fn empty(&mut self, place: usize, mut f: impl FnMut(&mut Wheel, &Node)) {
        let first = std::mem::replace(&mut self.first[place], null());
        let mut node = first;
        // SAFETY: nodes on our lists are alive; the next one is read before this one goes elsewhere.
        while let Some(this) = unsafe { node.as_ref() } {
            node = if std::ptr::eq(this.next.get(), first) { null() } else { this.next.get() };
            this.place.set(LOOSE);
            self.count -= 1;
            f(self, this);
        }
    }

    /// Moves time on to `now`. Timers that are due by then go on the `DUE` list. Timers whose deadlines are relative were set by the tick
    /// `set_by`, or by now.
    pub(crate) fn advance(&mut self, now: u64, set_by: u64, give_back: impl Fn(&mut Wheel, &Node)) {
        while let Some(at) = self.next_event()
            && at <= now
        {
            self.now = at;
            // Higher levels come down first.
            for level in (0..LEVELS).rev() {
                if at & ((1 << (SLOT_BITS * level as u32)) - 1) == 0 {
                    self.come_down(level, (at >> (SLOT_BITS * level as u32)) as usize & (SLOTS - 1));
                }
            }
        }
        self.now = self.now.max(now);
        if !self.first[FRESH as usize].is_null() {
            let set_by = set_by.min(self.now);
            self.empty(FRESH as usize, |wheel, node| match node.deadline.load(Ordering::Relaxed) {
                ASIDE => give_back(wheel, node),
                ms => {
                    // One tick more: the current one has partly gone by.
                    node.deadline.store(set_by + ms + 1, Ordering::Relaxed);
                    wheel.link(node);
                }
            });
        }
    }

    fn come_down(&mut self, level: usize, slot: usize) {
        self.occupied[level][slot / 64] &= !(1 << (slot % 64));
        self.empty(level * SLOTS + slot, |wheel, node| {
            if node.deadline.load(Ordering::Relaxed) <= wheel.now {
                wheel.append(node, DUE);
            } else {
                wheel.link(node);
            }
        });
    }

    /// The first tick at which a used slot comes up.
    fn next_event(&self) -> Option<u64> {
        let mut first = None;
        for (level, occupied) in self.occupied.iter().enumerate() {
            let shift = SLOT_BITS * level as u32;
            let position = self.now >> shift;
            if let Some(distance) = next_after(occupied, position as usize & (SLOTS - 1)) {
                let at = (position + distance as u64) << shift;
                first = Some(first.map_or(at, |first: u64| first.min(at)));
            }
        }
        first
    }

    /// Milliseconds until something must be done, at most `limit`.
    pub(crate) fn until_next(&self, limit: u64) -> u64 {
        if !self.first[DUE as usize].is_null() {
            return 0;
        }
        self.next_event().map_or(limit, |at| (at - self.now).min(limit))
    }

    /// Takes the next timer that is due and was not cancelled. Returns its handle and action.
    #[inline]
    pub(crate) fn next_due(&mut self, give_back: impl FnOnce(&mut Wheel, &Node)) -> Option<(Handle, Action)> {
        loop {
            // SAFETY: nodes on our lists are alive.
            let node = unsafe { self.first[DUE as usize].as_ref()? };
            self.unlink(node);
            // If it was cancelled it is on the pile, and is freed from there.
            if let Some((generation, kind)) = node.claim.seen()
                && node.claim.take(generation, kind)
            {
                // SAFETY: just taken.
                let due = unsafe { (node.handle(), node.unload(kind)) };
                give_back(self, node);
                return Some(due);
            }
        }
    }

    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Checks the invariants: each list is a ring, linked both ways, of nodes that say they are there; a slot is marked if it has a list;
    /// all lists together have `count` nodes; none is in a slot whose time has passed.
    #[cfg(test)]
    pub(crate) fn check(&self) {
        let mut count = 0;
        for (place, &first) in self.first.iter().enumerate() {
            if place < FRESH as usize {
                let slot = place % SLOTS;
                assert_eq!(self.occupied[place / SLOTS][slot / 64] >> (slot % 64) & 1 == 1, !first.is_null(), "place {place}");
            }
            let mut at = first;
            // SAFETY: nodes on our lists are alive, and their links ours.
            while let Some(node) = unsafe { at.as_ref() } {
                count += 1;
                assert!(count <= self.count, "the list of place {place} has no end");
                assert_eq!(node.place.get() as usize, place);
                // SAFETY: as above.
                assert_eq!(unsafe { (*node.next.get()).prev.get() }, at);
                if place < FRESH as usize {
                    let deadline = node.deadline.load(Ordering::Relaxed);
                    assert!(deadline > self.now, "{deadline} waits, and it is {}", self.now);
                }
                at = if std::ptr::eq(node.next.get(), first) { null() } else { node.next.get() };
            }
        }
        assert_eq!(count, self.count);
    }

    /// Takes a node of the slab for the caller.
    #[inline]
    pub(crate) fn take_node(&mut self, directory: &Directory) -> Option<*const Node> {
        self.slab.take(directory)
    }
}

/// The distance from a slot to the next used one. The slot itself is the last one considered.
#[inline]
fn next_after(occupied: &[u64; SLOTS / 64], slot: usize) -> Option<usize> {
    let from = (slot + 1) & (SLOTS - 1);
    for step in 0..=SLOTS / 64 {
        let word = (from / 64 + step) % (SLOTS / 64);
        let bits = match step {
            0 => occupied[word] & (!0 << (from % 64)),
            4 => occupied[word] & !(!0 << (from % 64)),
            _ => occupied[word],
        };
        if bits != 0 {
            let found = word * 64 + bits.trailing_zeros() as usize;
            return Some(((found + SLOTS - from) & (SLOTS - 1)) + 1);
        }
    }
    None
}
