//! The messages of a process in the order in which `receive` sees them, with the position where it scans.
//!
//! A message keeps its own memory until `receive` first looks at it; then its data moves into the heap and its term becomes a root
//! ("adopted"). The nodes are the signals that brought the messages, so the queue allocates nothing.
//!
//! `save` is the node that `loop_rec` looks at next. Receive markers remember the end of the queue at the time a reference was
//! made: a `receive` that only matches messages with that reference may start there.

use crate::base::memory_mode;
use crate::heap::hybrid::held_regions;
use crate::sched::worker_cache;
use crate::signal::inbox::InOrder;
use crate::signal::package::Package;
use crate::signal::small;
use crate::signal::{Signal, SignalBody};
use crate::trace::token::Token;
use heddle_memory::own_row;
use heddle_sync::prefetch;
use heddle_term::literal::Leaving;
use heddle_term::{Heap, Term};
use std::ptr::null_mut;

pub struct InnerQueue {
    first: *mut Signal,
    last: *mut Signal,
    /// The next message to look at; null = at the end.
    save: *mut Signal,
    /// The message before `save`; null = `save` is the first.
    before: *mut Signal,
    len: u32,
    /// True if a marker may be at some message, which `remove` must know.
    marked: bool,
    /// The first of the messages whose data is in the heap: these a collection must look at, however long the queue is.
    adopted: *mut Signal,
    markers: Option<Box<Markers>>,
}

/// Positions remembered at a time; a new one replaces the oldest. As many as `Markers::free` has bits.
const MARKERS: usize = 8;
/// Numbers of markers wrap around here, so none is `u32::MAX`, which means no marker.
const NUMBERS: u32 = 1 << 31;

struct Markers {
    slots: [Marker; MARKERS],
    /// A bit for each slot that is free.
    free: u8,
    /// The slot that was taken last: mostly the next one to be bound.
    latest: u8,
    /// The number of the next marker.
    next: u32,
}

#[derive(Clone, Copy)]
struct Marker {
    number: u32,
    /// NONE until it is bound.
    reference: Term,
    /// The last node that existed when the marker was set; null = the queue was empty then.
    after: *mut Signal,
}

impl Marker {
    const FREE: Marker = Marker { number: u32::MAX, reference: Term::NONE, after: null_mut() };
}

/// What becomes of a message whose content was not known.
pub(crate) enum Settled {
    Content(Package),
    Nothing,
}

impl InnerQueue {
    pub(crate) const fn new() -> InnerQueue {
        InnerQueue {
            first: null_mut(),
            last: null_mut(),
            save: null_mut(),
            before: null_mut(),
            len: 0,
            marked: false,
            adopted: null_mut(),
            markers: None,
        }
    }

    pub fn len(&self) -> usize {
        self.len as usize
    }
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// True if `receive` has looked at all messages.
    pub(crate) fn is_at_end(&self) -> bool {
        self.save.is_null()
    }

    pub(crate) fn first(&self) -> *mut Signal {
        self.first
    }

    /// Appends a message signal.
    #[inline]
    pub fn append(&mut self, mut signal: Box<Signal>) {
        signal.next = null_mut();
        let node = Box::into_raw(signal);
        self.append_all(InOrder { first: node, last: node, len: 1, are_messages: true });
    }

    /// Appends a message whose data is in the receiver's heap already.
    pub(crate) fn append_in_heap(&mut self, signal: Box<Signal>) {
        let is_root = signal.body.message_term().is_pointer() && !memory_mode::queues_list_roots();
        self.append(signal);
        if is_root {
            // SAFETY: the last message is in the queue, bare, and not among the adopted ones.
            unsafe { self.link(self.last) };
        }
    }

    /// Appends one or more messages.
    #[inline]
    pub(crate) fn append_all(&mut self, InOrder { first, last, len, are_messages }: InOrder) {
        debug_assert!(are_messages && len > 0);
        // SAFETY: list nodes are live.
        unsafe {
            if self.last.is_null() {
                self.first = first;
            } else {
                (*self.last).next = first;
            }
        }
        if self.save.is_null() {
            self.save = first;
            self.before = self.last;
        }
        self.last = last;
        self.len += len;
        if memory_mode::queues_list_roots() {
            let mut node = first;
            while !node.is_null() {
                // SAFETY: it is in the queue now, and so are those that follow it.
                unsafe {
                    self.note_shared(node);
                    node = (*node).next;
                }
            }
        }
    }

    /// A message whose data is in the shared heap is a root; of minor collections only if it came since the last one. (Literals
    /// that are leaving are looked for in the queue.)
    ///
    /// # Safety
    /// The message is in the queue, and not among the adopted ones.
    #[inline]
    unsafe fn note_shared(&mut self, node: *mut Signal) {
        // SAFETY: the message is in the queue, so its node is live.
        unsafe {
            if let SignalBody::Message { data, is_old, .. } = &(*node).body
                && data.refers()
                && !is_old
            {
                self.link(node);
            }
        }
    }

    /// The term at the save position, if it is in the heap or needs no heap: what `loop_rec` mostly finds when it skips messages.
    #[inline(always)]
    pub fn seen(&self) -> Option<Term> {
        if self.save.is_null() {
            return None;
        }
        // SAFETY: list nodes are live.
        match unsafe { &(*self.save).body } {
            SignalBody::Message { data, .. } if data.is_bare() => Some(data.term()),
            _ => None,
        }
    }

    /// The term at the save position, moved into `heap` on first sight; None at the end. Adds to `held_words` the words of regions
    /// that `heap` holds for it (see `held_regions`).
    #[inline(always)]
    pub fn peek(&mut self, heap: &mut Heap, held_words: &mut i32) -> Option<Term> {
        let node = self.save;
        if node.is_null() {
            return None;
        }
        // SAFETY: list nodes are live.
        unsafe {
            match &(*node).body {
                SignalBody::Small { before: later, .. } => {
                    prefetch::to_read(later.cast());
                    self.adopt_small(node, heap);
                }
                SignalBody::Message { data, before: later, .. } if !data.is_bare() => {
                    prefetch::to_read(later.cast());
                    self.adopt(node, heap, held_words);
                }
                SignalBody::Message { .. } => {}
                _ => unreachable!("only messages are queued"),
            }
        }
        Some(self.term_at_save())
    }

    /// True if the message at the save position is in its signal, and so needs room in the heap.
    #[inline(always)]
    pub fn next_is_small(&self) -> bool {
        // SAFETY: list nodes are live.
        !self.save.is_null() && matches!(unsafe { &(*self.save).body }, SignalBody::Small { .. })
    }

    /// The message's data goes to the heap, and its term becomes a root.
    ///
    /// # Safety
    /// The message is in the queue, and not among the adopted ones.
    #[inline(always)]
    unsafe fn adopt(&mut self, node: *mut Signal, heap: &mut Heap, held_words: &mut i32) {
        // SAFETY: the message is in the queue, and not among the adopted ones.
        unsafe {
            let SignalBody::Message { data, .. } = &mut (*node).body else { return };
            held_regions::add(held_words, data.unpack_in_place(heap));
            self.link(node);
        }
    }

    /// As `adopt`, for data that is in the signal.
    ///
    /// # Safety
    /// The message is in the queue.
    #[inline(always)]
    unsafe fn adopt_small(&mut self, node: *mut Signal, heap: &mut Heap) {
        // SAFETY: the message is in the queue, so its node is live.
        unsafe {
            small::unpack_in_place(&mut *node, heap);
            self.link(node);
        }
    }

    /// Adds the message to the adopted ones.
    ///
    /// # Safety
    /// The message is in the queue, bare, and not among the adopted ones.
    #[inline(always)]
    unsafe fn link(&mut self, node: *mut Signal) {
        // SAFETY: the message is in the queue, bare, and not among the adopted ones.
        unsafe {
            let SignalBody::Message { data, before, .. } = &mut (*node).body else { return };
            *before = null_mut();
            if let Some(after) = data.queued() {
                *after = self.adopted.cast();
            }
            set_before(self.adopted, node);
            self.adopted = node;
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
        self.unlink().discard();
    }

    /// `remove` without a call, for a message as most are: it holds nothing, no marker needs an update, and there is room to keep
    /// its memory. False, with nothing done, for any other message.
    #[inline(always)]
    pub fn remove_plain(&mut self) -> bool {
        debug_assert!(!self.save.is_null());
        // SAFETY: list nodes are live.
        if self.marked || !own_row().recent.has_room() || unsafe { !(*self.save).is_plain() } {
            return false;
        }
        // SAFETY: once out of the queue it is ours alone, and it has nothing to free.
        unsafe { own_row().recent.keep_there(self.detach().cast()) };
        true
    }

    /// The first message, unlinked. If its data is in the heap, its term is no root any more.
    pub fn take(&mut self) -> Option<Box<Signal>> {
        self.restart();
        (!self.save.is_null()).then(|| self.unlink())
    }

    #[inline(always)]
    fn unlink(&mut self) -> Box<Signal> {
        debug_assert!(!self.save.is_null());
        if self.marked {
            self.unmark(self.save);
        }
        // SAFETY: it leaves the list before the caller gets it.
        unsafe { Box::from_raw(self.detach()) }
    }

    /// Takes the message at the save position, where no marker is, out of the queue, and starts over.
    #[inline(always)]
    fn detach(&mut self) -> *mut Signal {
        let node = self.save;
        // SAFETY: list nodes are live.
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
            self.disown(node);
        }
        self.len -= 1;
        self.restart();
        if !self.save.is_null() {
            // The messages of a long queue may be in no cache. The first one is read anyway; this prefetches the second meanwhile.
            // SAFETY: list nodes are live.
            prefetch::to_read(unsafe { (*self.save).next }.cast());
        }
        node
    }

    /// The message that `peek` returned.
    #[inline]
    pub fn term_at_save(&self) -> Term {
        // SAFETY: list nodes are live.
        unsafe { (*self.save).body.message_term() }
    }

    /// What sequential tracing needs of the message at the save position: its token, if any, and true if it clears the receiver's.
    #[inline]
    pub(crate) fn token(&mut self) -> (Option<Box<Token>>, bool) {
        // SAFETY: list nodes are live.
        match unsafe { &mut (*self.save).body } {
            SignalBody::Message { token, clears_token, .. } => (token.take(), *clears_token),
            SignalBody::Small { .. } => (None, true),
            _ => (None, false),
        }
    }

    #[inline(always)]
    pub fn has_token(&self) -> bool {
        // SAFETY: list nodes are live.
        matches!(unsafe { &(*self.save).body }, SignalBody::Message { token: Some(_), .. })
    }

    /// Takes the tokens from the messages in the queue.
    pub(crate) fn forget_tokens(&mut self) {
        let mut node = self.first;
        while !node.is_null() {
            // SAFETY: list nodes are live.
            unsafe {
                if let SignalBody::Message { token, .. } = &mut (*node).body {
                    *token = None;
                }
                node = (*node).next;
            }
        }
    }

    /// Starts over at the first message.
    #[inline]
    pub fn restart(&mut self) {
        self.save = self.first;
        self.before = null_mut();
    }

    /// Goes to the end: the next receive sees only messages that have not arrived yet.
    pub(crate) fn pass_all(&mut self) {
        self.save = null_mut();
        self.before = self.last;
    }

    /// The address of the latest message, by which `settle` knows it.
    pub(crate) fn latest(&self) -> usize {
        self.last as usize
    }

    /// Asks `f` about each message by its address, in order. One for which it returns Some gets this content, or leaves the queue. The
    /// next receive looks at all messages.
    pub(crate) fn settle(&mut self, mut f: impl FnMut(usize) -> Option<Settled>) {
        self.restart();
        while !self.save.is_null() {
            match f(self.save as usize) {
                None => self.skip(),
                Some(Settled::Content(data)) => {
                    // SAFETY: the message is in the queue, so its node is live; one that is no pointer is not among the adopted ones.
                    unsafe {
                        debug_assert!(!(*self.save).body.message_term().is_pointer());
                        self.disown(self.save);
                        (*self.save).body = SignalBody::message(Term::NONE, data, None);
                        if memory_mode::queues_list_roots() {
                            self.note_shared(self.save);
                        }
                    }
                    self.skip();
                }
                Some(Settled::Nothing) => {
                    let before = self.before;
                    // SAFETY: list nodes are live.
                    let next = unsafe { (*self.save).next };
                    self.unlink().discard();
                    (self.before, self.save) = (before, next);
                }
            }
        }
        self.restart();
    }

    /// Takes a message out of the list of adopted ones, if it is there.
    ///
    /// # Safety
    /// It is in the queue.
    #[inline(always)]
    unsafe fn disown(&mut self, node: *mut Signal) {
        // SAFETY: by contract; its neighbours are in the queue as well.
        unsafe {
            let SignalBody::Message { data, before, .. } = &mut (*node).body else { return };
            // A message whose data is not in the heap is not on the list.
            let Some(after) = data.queued() else { return };
            let (before, after) = (*before, after.cast());
            if self.adopted == node {
                self.adopted = after;
            } else if !before.is_null() {
                let SignalBody::Message { data, .. } = &mut (*before).body else { return };
                if let Some(theirs) = data.queued() {
                    *theirs = after.cast();
                }
            } else {
                return;
            }
            set_before(after, before);
        }
    }

    /// The node leaves the queue: markers after it move to the one before.
    #[cold]
    fn unmark(&mut self, node: *mut Signal) {
        for marker in self.markers.iter_mut().flat_map(|m| &mut m.slots) {
            if marker.after == node {
                marker.after = self.before;
            }
        }
    }

    fn markers(&mut self) -> &mut Markers {
        self.markers.get_or_insert_with(|| Box::new(Markers { slots: [Marker::FREE; MARKERS], free: u8::MAX, latest: 0, next: 0 }))
    }
    /// True if there is a marker: a process that waits then waits for an answer.
    #[inline(always)]
    pub(crate) fn is_marked(&self) -> bool {
        self.marked
    }
    /// Remembers the end of the queue. Returns the marker's number, for `marker_bind`.
    pub fn marker_reserve(&mut self) -> u32 {
        self.marked = true;
        worker_cache::calls();
        let after = self.last;
        let markers = self.markers();
        let number = markers.next;
        // A free slot, or that of the oldest: many short calls within a long one must not cost the long one its marker.
        let slot = match markers.free {
            0 => {
                let age = |slot: &usize| number.wrapping_sub(markers.slots[*slot].number) % NUMBERS;
                (0..MARKERS).max_by_key(age).expect("there are slots")
            }
            free => free.trailing_zeros() as usize,
        };
        markers.free &= !(1 << slot);
        markers.latest = slot as u8;
        markers.slots[slot] = Marker { number, reference: Term::NONE, after };
        markers.next = (number + 1) % NUMBERS;
        number
    }
    pub fn marker_bind(&mut self, number: u32, reference: Term) {
        let Some(markers) = &mut self.markers else { return };
        let latest = markers.latest as usize;
        let found =
            if markers.slots[latest].number == number { Some(latest) } else { markers.slots.iter().position(|m| m.number == number) };
        if let Some(slot) = found {
            markers.slots[slot].reference = reference;
        }
    }
    /// Sets the number of the next marker, modulo the number of possible ones.
    pub fn marker_number(&mut self, number: u64) {
        self.markers().next = (number % NUMBERS as u64) as u32;
    }
    pub fn marker_clear(&mut self, reference: Term) {
        let Some(markers) = &mut self.markers else { return };
        // At most one slot has it: a reference is bound where it is made.
        let latest = markers.latest as usize;
        let has = |m: &Marker| m.reference == reference;
        let found = if has(&markers.slots[latest]) { Some(latest) } else { markers.slots.iter().position(has) };
        if let Some(slot) = found {
            markers.slots[slot] = Marker::FREE;
            markers.free |= 1 << slot;
            self.marked = markers.free != u8::MAX;
        }
    }
    /// The receive that follows matches only messages with `reference`.
    pub fn marker_use(&mut self, reference: Term) {
        if self.before.is_null()
            && let Some(markers) = &self.markers
            && let Some(marker) = markers.slots.iter().find(|m| !m.reference.is_none() && m.reference == reference)
        {
            self.before = marker.after;
            // SAFETY: list nodes are live.
            self.save = if self.before.is_null() { self.first } else { unsafe { (*self.before).next } };
        }
    }

    pub(crate) fn for_each_marker(&mut self, mut f: impl FnMut(&mut Term)) {
        for marker in self.markers.iter_mut().flat_map(|m| &mut m.slots) {
            if !marker.reference.is_none() {
                f(&mut marker.reference);
            }
        }
    }

    /// True if at most `max` messages are adopted.
    pub(crate) fn adopts_up_to(&mut self, max: usize) -> bool {
        let mut node = self.adopted;
        for _ in 0..max {
            if node.is_null() {
                return true;
            }
            // SAFETY: adopted messages are in the queue, and live while the queue is borrowed.
            let SignalBody::Message { data, .. } = (unsafe { &mut (*node).body }) else { unreachable!("only messages are adopted") };
            node = data.queued().map_or(null_mut(), |after| after.cast());
        }
        node.is_null()
    }

    /// Calls `f` on every adopted term and the markers' references: roots.
    pub(crate) fn for_each_root(&mut self, mut f: impl FnMut(&mut Term)) {
        self.for_each_marker(&mut f);
        self.for_each_adopted(f);
    }

    pub(crate) fn for_each_adopted(&mut self, mut f: impl FnMut(&mut Term)) {
        let mut node = self.adopted;
        while !node.is_null() {
            // SAFETY: adopted messages are in the queue, and live while the queue is borrowed.
            let body = unsafe { &mut (*node).body };
            let SignalBody::Message { data, .. } = body else { unreachable!("only messages are queued") };
            f(data.bare_term());
            node = data.queued().map_or(null_mut(), |after| after.cast());
        }
    }

    /// As `for_each_adopted`, with a shared heap: only the terms of messages that came, or were adopted, since the last call.
    pub(crate) fn for_each_new_root(&mut self, mut f: impl FnMut(&mut Term)) {
        let mut node = std::mem::replace(&mut self.adopted, null_mut());
        while !node.is_null() {
            // SAFETY: adopted messages are in the queue, and live.
            let SignalBody::Message { data, before, .. } = (unsafe { &mut (*node).body }) else { unreachable!("only messages are queued") };
            f(data.bare_term());
            *before = null_mut();
            node = data.queued().map_or(null_mut(), |after| std::mem::replace(after, null_mut()).cast());
        }
    }

    /// Calls `f` on every term that is in the heap, and needs no memory of its message.
    pub(crate) fn for_each_bare(&mut self, mut f: impl FnMut(&mut Term)) {
        let mut node = self.first;
        while !node.is_null() {
            // SAFETY: list nodes are live.
            unsafe {
                if let SignalBody::Message { data, .. } = &mut (*node).body {
                    data.for_root(&mut f);
                }
                node = (*node).next;
            }
        }
    }

    /// Moves into the heap the messages that refer to literals which are leaving: then they are roots like others.
    pub(crate) fn adopt_referring(&mut self, leaving: &Leaving, heap: &mut Heap) -> bool {
        let mut node = self.first;
        let mut any = false;
        while !node.is_null() {
            // SAFETY: list nodes are live.
            unsafe {
                match &(*node).body {
                    SignalBody::Message { data, .. } if data.refers_to(leaving) => {
                        any = true;
                        self.disown(node);
                        // A collection because of the leaving literals follows in any case, so the held words do not count.
                        self.adopt(node, heap, &mut 0);
                    }
                    SignalBody::Small { words, count, .. } if leaving.is_in(words.as_ptr(), words.as_ptr().add(*count as usize)) => {
                        any = true;
                        self.adopt_small(node, heap);
                    }
                    _ => {}
                }
                node = (*node).next;
            }
        }
        any
    }

    /// Words of the messages whose data is not in the heap.
    pub fn words(&self) -> usize {
        let (mut node, mut words) = (self.first, 0);
        while !node.is_null() {
            // SAFETY: list nodes are live while the queue is borrowed.
            unsafe {
                words += match &(*node).body {
                    SignalBody::Message { data, .. } => data.words(),
                    SignalBody::Small { count, .. } => *count as usize,
                    _ => 0,
                };
                node = (*node).next;
            }
        }
        words
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
                let term = (*node).body.message_term();
                node = (*node).next;
                Some(term)
            }
        })
    }

    /// Removes the first message for which `f` returns true; the save position starts over.
    #[cfg(test)]
    pub(crate) fn remove_first(&mut self, mut f: impl FnMut(Term) -> bool) -> bool {
        self.restart();
        while !self.save.is_null() {
            // SAFETY: list nodes are live.
            let hit = unsafe { f((*self.save).body.message_term()) };
            if hit {
                self.remove();
                return true;
            }
            self.skip();
        }
        self.restart();
        false
    }

    /// Checks what must be true of the queue: `len` is the number of nodes, the last one is `last`, and `before` precedes `save`;
    /// the adopted ones are linked both ways, and are all whose data is in the heap; markers point to nodes of the queue, and it is
    /// `marked` then.
    #[cfg(test)]
    pub(crate) fn check(&self) {
        let mut adopted = std::collections::HashSet::new();
        let (mut node, mut before) = (self.adopted, null_mut());
        // SAFETY: list nodes are live while the queue is borrowed.
        unsafe {
            while !node.is_null() {
                assert!(adopted.insert(node), "the adopted ones go round");
                let SignalBody::Message { data, before: theirs, .. } = &mut (*node).body else { panic!("only messages are adopted") };
                assert_eq!(*theirs, before);
                before = node;
                node = data.queued().expect("its data is in the heap").cast();
            }
            let (mut node, mut last, mut len, mut nodes) = (self.first, null_mut(), 0, vec![null_mut()]);
            while !node.is_null() {
                len += 1;
                assert!(len <= self.len);
                if node == self.save {
                    assert_eq!(self.before, last);
                }
                match &(*node).body {
                    SignalBody::Message { data, .. } if data.is_bare() && data.term().is_pointer() => assert!(adopted.remove(&node)),
                    SignalBody::Message { data, .. } if data.is_bare() => _ = adopted.remove(&node),
                    _ => assert!(!adopted.contains(&node)),
                }
                nodes.push(node);
                last = node;
                node = (*node).next;
            }
            assert!((len, last) == (self.len, self.last) && adopted.is_empty());
            if self.save.is_null() {
                assert_eq!(self.before, self.last);
            }
            for marker in self.markers.iter().flat_map(|m| &m.slots).filter(|m| m.number != u32::MAX) {
                assert!(self.marked && nodes.contains(&marker.after));
            }
        }
    }

    pub(crate) fn clear(&mut self) {
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

/// In the list of adopted messages `before` comes before `node`, unless `node` is null.
///
/// # Safety
/// The node is in a queue, and nothing else refers to it.
#[inline(always)]
unsafe fn set_before(node: *mut Signal, before: *mut Signal) {
    if !node.is_null()
        // SAFETY: the node is in a queue, and nothing else refers to it.
        && let SignalBody::Message { before: theirs, .. } = unsafe { &mut (*node).body }
    {
        *theirs = before;
    }
}
