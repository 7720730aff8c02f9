//! The messages of a process in the order in which `receive` sees them, with the position where it scans.
//!
//! A message keeps its own memory until `receive` first looks at it; then its data moves into the heap and its term becomes
//! a root ("adopted"). Nodes are the signals that brought them, so no further allocation.
//!
//! `save` is the node that `loop_rec` looks at next. Receive markers remember the end of the queue at the time a reference was
//! made: a `receive` that only matches messages with that reference may start there.

use crate::package::Package;
use crate::signal::{Body, Signal};
use heddle_term::{Heap, Term};
use std::ptr::null_mut;

pub struct InnerQueue {
    first: *mut Signal,
    last: *mut Signal,
    /// Next to look at; null = at the end.
    save: *mut Signal,
    /// The one before `save`; null = `save` is the first.
    before: *mut Signal,
    len: u32,
    marked: MarkerState,
    marker: Marker,
}

/// Reserved: position taken. Bound: to a reference.
#[derive(Clone, Copy)]
struct Marker {
    reference: Term,
    /// The last node that existed when the marker was set; null = the queue was empty then.
    after: *mut Signal,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum MarkerState {
    None,
    Reserved,
    Bound,
}

impl InnerQueue {
    pub const fn new() -> InnerQueue {
        InnerQueue {
            first: null_mut(),
            last: null_mut(),
            save: null_mut(),
            before: null_mut(),
            len: 0,
            marked: MarkerState::None,
            marker: Marker { reference: Term::NONE, after: null_mut() },
        }
    }

    pub fn len(&self) -> usize {
        self.len as usize
    }
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Appends a message signal.
    pub fn append(&mut self, signal: Box<Signal>) {
        let node = Box::into_raw(signal);
        // SAFETY: the node is ours; list nodes are live.
        unsafe {
            (*node).next = null_mut();
            if self.last.is_null() {
                self.first = node;
            } else {
                (*self.last).next = node;
            }
            if self.save.is_null() {
                self.save = node;
                self.before = self.last;
            }
        }
        self.last = node;
        self.len += 1;
    }

    /// The term at the save position, moved into `heap` on first sight; None at the end.
    #[inline]
    pub fn peek(&mut self, heap: &mut Heap) -> Option<Term> {
        if self.save.is_null() {
            return None;
        }
        // SAFETY: list nodes are live.
        unsafe {
            match &mut (*self.save).body {
                Body::Message { data, .. } => {
                    let adopted = adopt(data, heap);
                    Some(adopted)
                }
                _ => unreachable!("only messages are queued"),
            }
        }
    }

    /// Moves the save position on (`loop_rec_end`).
    #[inline]
    pub fn skip(&mut self) {
        debug_assert!(!self.save.is_null());
        self.before = self.save;
        // SAFETY: list nodes are live.
        self.save = unsafe { (*self.save).next };
    }

    /// Unlinks the message at the save position and starts over (`remove_message`).
    #[inline]
    pub fn remove(&mut self) {
        let node = self.save;
        debug_assert!(!node.is_null());
        // SAFETY: list nodes are live; the node leaves the list before it is freed.
        unsafe {
            let next = (*node).next;
            if self.before.is_null() {
                self.first = next;
            } else {
                (*self.before).next = next;
            }
            if self.last == node {
                self.last = self.before;
            }
            if self.marker.after == node {
                self.marker.after = self.before;
            }
            drop(Box::from_raw(node));
        }
        self.len -= 1;
        self.restart();
    }

    /// Start over at the first message.
    #[inline]
    pub fn restart(&mut self) {
        self.save = self.first;
        self.before = null_mut();
    }

    pub fn marker_reserve(&mut self) {
        self.marker = Marker { reference: Term::NONE, after: self.last };
        self.marked = MarkerState::Reserved;
    }
    pub fn marker_bind(&mut self, reference: Term) {
        if self.marked == MarkerState::Reserved {
            self.marker.reference = reference;
            self.marked = MarkerState::Bound;
        }
    }
    pub fn marker_clear(&mut self) {
        self.marker = Marker { reference: Term::NONE, after: null_mut() };
        self.marked = MarkerState::None;
    }
    /// The receive that follows matches only messages with `reference`.
    pub fn marker_use(&mut self, reference: Term) {
        if self.marked == MarkerState::Bound && self.marker.reference == reference && self.before.is_null() {
            self.before = self.marker.after;
            // SAFETY: list nodes are live.
            self.save = if self.before.is_null() { self.first } else { unsafe { (*self.before).next } };
        }
    }

    /// Every adopted term and the marker's reference: roots.
    pub fn for_each_root(&mut self, mut f: impl FnMut(&mut Term)) {
        if self.marked == MarkerState::Bound {
            f(&mut self.marker.reference);
        }
        let mut node = self.first;
        while !node.is_null() {
            // SAFETY: list nodes are live.
            unsafe {
                if let Body::Message { data, .. } = &mut (*node).body
                    && data.words() == 0
                {
                    // Immediate or adopted.
                    let mut term = data.term();
                    if term.is_pointer() {
                        f(&mut term);
                        *data = Package::immediate(term);
                    }
                }
                node = (*node).next;
            }
        }
    }

    /// Each message term in order, in place (do not keep).
    pub fn terms(&self) -> impl Iterator<Item = Term> + '_ {
        let mut node = self.first;
        std::iter::from_fn(move || {
            if node.is_null() {
                return None;
            }
            // SAFETY: list nodes are live while the queue is borrowed.
            unsafe {
                let term = match &(*node).body {
                    Body::Message { data, .. } => data.term(),
                    _ => Term::NONE,
                };
                node = (*node).next;
                Some(term)
            }
        })
    }

    /// Removes the first message for which `f` says yes (demonitor flush); the save position starts over.
    pub fn remove_first(&mut self, mut f: impl FnMut(Term) -> bool) -> bool {
        self.restart();
        while !self.save.is_null() {
            // SAFETY: list nodes are live.
            let hit = unsafe { matches!(&(*self.save).body, Body::Message { data, .. } if f(data.term())) };
            if hit {
                self.remove();
                return true;
            }
            self.skip();
        }
        self.restart();
        false
    }

    pub fn clear(&mut self) {
        let mut node = self.first;
        while !node.is_null() {
            // SAFETY: the whole list is given up.
            unsafe {
                let next = (*node).next;
                drop(Box::from_raw(node));
                node = next;
            }
        }
        *self = InnerQueue::new();
    }
}

impl Default for InnerQueue {
    fn default() -> Self {
        InnerQueue::new()
    }
}

#[inline]
fn adopt(data: &mut Package, heap: &mut Heap) -> Term {
    if data.words() == 0 {
        return data.term();
    }
    let package = std::mem::replace(data, Package::immediate(Term::NIL));
    let term = package.unpack(heap);
    *data = Package::immediate(term);
    term
}
