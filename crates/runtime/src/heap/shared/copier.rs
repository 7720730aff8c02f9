//! One thread's share of copying: moves objects to the old generation, and scans its copies (Cheney's algorithm).
//!
//! Several threads may copy at a time. A thread copies an object first and then claims it, with a compare-and-swap of the object's first
//! word for the forwarding word. A thread that loses the race drops its copy, which is the newest object that it made. So no thread ever
//! waits for another.

use super::charged::Charged;
use super::pieces::{LARGE_WORDS, Old, PIECE_WORDS, Piece};
use super::spans::{Span, Spans};
use crate::heap::private::off_heap::for_each_moved;
use heddle_term::copy::share_off_heap;
use heddle_term::literal::{self, Leaving, RESERVED_BYTES};
use heddle_term::term::TAG_FORWARD;
use heddle_term::young::Range;
use heddle_term::{Header, Kind, OffHeap, Term};
use std::collections::HashMap;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of words that a thread scans before it checks if others have nothing to do. Larger spans may always be given away.
const SHARED_WORDS: usize = 512;
/// Minimum number of words that a thread copies before it may give away another small span, after it gave one away and then ran dry: that
/// was all its work (in a long list only the next cell is known). The number doubles after each such case, up to `MAX_KEPT_WORDS`.
const KEPT_WORDS: usize = 4 * 1024;
const MAX_KEPT_WORDS: usize = 1 << 24;
/// Number of spans scanned between two checks if all other threads have nothing to do.
const LOOK_SPANS: usize = 64;

/// What a collection moves: everything young, or everything but literals.
#[derive(Clone, Copy)]
pub(super) struct Moving {
    pub is_major: bool,
    young: Range,
    literals: usize,
    /// Literals that leave: references to them are replaced by references to copies.
    leaving: Option<&'static Leaving>,
    /// True if several threads copy.
    pub is_parallel: bool,
}

impl Moving {
    pub(crate) fn new(is_major: bool, is_parallel: bool) -> Moving {
        Moving { is_major, young: Range::now(), literals: literal::base(), leaving: None, is_parallel }
    }

    /// A major collection after which all references to these literals refer to copies.
    pub(crate) fn off(leaving: &'static Leaving) -> Moving {
        Moving { leaving: Some(leaving), ..Moving::new(true, false) }
    }

    /// True if the object that this pointer refers to moves.
    #[inline(always)]
    fn moves(self, term: Term) -> bool {
        if self.is_major { (term.raw() as usize).wrapping_sub(self.literals) >= RESERVED_BYTES } else { self.young.contains(term) }
    }
}

pub(super) struct Copier {
    moving: Moving,
    /// The piece that this thread copies to. What lies from `scanned` on is not scanned yet.
    piece: Option<Piece>,
    scanned: *mut u64,
    /// Filled pieces.
    done: Vec<Piece>,
    /// Spans to scan besides the piece.
    todo: Vec<Span>,
    /// The process charge for what is copied now, and the values of `copied_words` and `virtual_words` when it was set.
    charged: *const Charged,
    since: (usize, usize),
    /// True if another thread may copy the same object, so objects must be claimed.
    claims: bool,
    /// Number of spans scanned since the last check, up to `LOOK_SPANS`.
    spans: usize,
    /// `copied_words` when a small span was last given away, and the words to copy from there before the next small one is.
    gave_at: usize,
    keeps: usize,
    /// Off-heap objects that survived.
    pub off_heap: OffHeap,
    last_off_heap: *mut u64,
    /// Copies of the literals that leave, by address.
    literals: HashMap<u64, Term>,
    pub copied_words: usize,
    /// Words of the binaries that the copied objects refer to.
    pub virtual_words: usize,
    /// Words of the blocks and fragments of the young generation that this thread emptied.
    pub young_words: usize,
    /// Number of signals in the queues that it walked along.
    pub queued: usize,
}

/// The first word of an object that refers to a binary outside of the heap.
const BINARY: u64 = Header::new(Kind::BinRef, 3).raw();

// SAFETY: what it lists belongs to the old generation, and one thread at a time has it.
unsafe impl Send for Copier {}

impl Copier {
    /// `piece`: a piece with room to continue with, if there is one.
    pub(crate) fn new(moving: Moving, piece: Option<Piece>) -> Copier {
        let scanned = piece.as_ref().map_or(null_mut(), |piece| piece.top);
        Copier {
            moving,
            piece,
            scanned,
            done: Vec::new(),
            todo: Vec::new(),
            charged: null(),
            since: (0, 0),
            claims: moving.is_parallel,
            spans: 0,
            gave_at: 0,
            keeps: SHARED_WORDS,
            off_heap: OffHeap::new(),
            last_off_heap: null_mut(),
            literals: HashMap::new(),
            copied_words: 0,
            virtual_words: 0,
            young_words: 0,
            queued: 0,
        }
    }

    pub(crate) fn is_major(&self) -> bool {
        self.moving.is_major
    }

    /// Moves the object that a slot refers to, if this collection moves it.
    ///
    /// # Safety
    /// The slot holds a word that no other thread writes; what it refers to is a whole object.
    #[inline(always)]
    // SAFETY: a root is visited by one thread of the collection, and a copied object by the thread that has its span.
    pub(crate) unsafe fn visit(&mut self, slot: *mut Term) {
        // SAFETY: no other thread writes the slot, and its term refers to a whole object.
        unsafe {
            let term = *slot;
            if term.is_pointer() {
                if self.moving.moves(term) {
                    *slot = self.evacuate(term);
                } else if let Some(leaving) = self.moving.leaving
                    && leaving.contains(term.raw())
                {
                    *slot = self.copy_literal(term);
                }
            }
        }
    }

    /// # Safety
    /// As `visit`.
    #[inline(always)]
    unsafe fn evacuate(&mut self, term: Term) -> Term {
        let src = term.ptr();
        // The first word is read and written atomically where several threads may meet. Relaxed: until all are done only the thread that
        // made the copy reads it, or one that took it over through `Spans`.
        // SAFETY: by contract it is a whole object, which only forwarding changes.
        unsafe {
            let claim = AtomicU64::from_ptr(src);
            let first = if self.claims { claim.load(Ordering::Relaxed) } else { *src };
            if first & 7 == TAG_FORWARD {
                return Term::from_raw((first & !7) | term.tag());
            }
            let words = if term.is_cons() { 2 } else { Header::from_raw(first).words() };
            let dst = self.room(words);
            *dst = first;
            // `{}` has one word, and the piece may end after it.
            if words > 1 {
                *dst.add(1) = *src.add(1);
            }
            for i in 2..words {
                *dst.add(i) = *src.add(i);
            }
            let forward = dst as u64 | TAG_FORWARD;
            if self.claims {
                if let Err(other) = claim.compare_exchange(first, forward, Ordering::Relaxed, Ordering::Relaxed) {
                    self.take_back(dst, words);
                    return Term::from_raw((other & !7) | term.tag());
                }
            } else {
                *src = forward;
            }
            self.copied_words += words;
            if words > LARGE_WORDS {
                self.todo.push(Span { from: dst, to: dst.add(words), charged: self.charged });
            }
            if first == BINARY {
                self.virtual_words += crate::heap::private::off_heap::virtual_words(dst);
            }
            Term::from_raw(dst as u64 | term.tag())
        }
    }

    /// Copies a literal that leaves, once. The literal itself stays as it is, so the copy is noted in `literals`.
    ///
    /// # Safety
    /// `term` is a literal, a whole object.
    #[cold]
    unsafe fn copy_literal(&mut self, term: Term) -> Term {
        if let Some(&copy) = self.literals.get(&term.raw()) {
            return copy;
        }
        // SAFETY: by contract; a literal is a whole object.
        let copy = unsafe {
            let src = term.ptr();
            let words = if term.is_cons() { 2 } else { Header::from_raw(*src).words() };
            let dst = self.room(words);
            std::ptr::copy_nonoverlapping(src, dst, words);
            if !term.is_cons() && Header::from_raw(*dst).kind().is_off_heap() {
                if self.off_heap.head.is_null() {
                    self.last_off_heap = dst;
                }
                share_off_heap(dst, &mut self.off_heap);
            }
            self.copied_words += words;
            if words > LARGE_WORDS {
                self.todo.push(Span { from: dst, to: dst.add(words), charged: self.charged });
            }
            Term::from_raw(dst as u64 | term.tag())
        };
        self.literals.insert(term.raw(), copy);
        copy
    }

    #[inline(always)]
    fn room(&mut self, words: usize) -> *mut u64 {
        if let Some(piece) = &mut self.piece
            && (piece.end as usize - piece.top as usize) / 8 >= words
            && words <= LARGE_WORDS
        {
            let at = piece.top;
            piece.top = at.wrapping_add(words);
            return at;
        }
        self.more_room(words)
    }

    #[cold]
    #[inline(never)]
    fn more_room(&mut self, words: usize) -> *mut u64 {
        if words > LARGE_WORDS {
            let mut piece = Piece::new(words);
            piece.top = piece.end;
            let at = piece.start;
            self.done.push(piece);
            return at;
        }
        self.close();
        let mut piece = Piece::new(PIECE_WORDS);
        let at = piece.start;
        self.scanned = at;
        piece.top = at.wrapping_add(words);
        self.piece = Some(piece);
        at
    }

    /// Drops the newest copy: another thread has claimed the object.
    #[cold]
    fn take_back(&mut self, at: *mut u64, words: usize) {
        if words > LARGE_WORDS {
            if let Some(piece) = self.done.pop() {
                debug_assert!(piece.start == at);
                piece.free();
            }
        } else if let Some(piece) = &mut self.piece {
            debug_assert!(piece.top == at.wrapping_add(words));
            piece.top = at;
        }
    }

    /// Closes the full piece and notes its unscanned part.
    fn close(&mut self) {
        if let Some(piece) = self.piece.take() {
            if self.scanned < piece.top {
                self.todo.push(Span { from: self.scanned, to: piece.top, charged: self.charged });
            }
            self.done.push(piece);
        }
    }

    /// Returns a span of this thread's own that is not scanned yet.
    fn next(&mut self) -> Option<Span> {
        if let Some(piece) = &self.piece
            && self.scanned < piece.top
        {
            let from = std::mem::replace(&mut self.scanned, piece.top);
            return Some(Span { from, to: piece.top, charged: self.charged });
        }
        self.todo.pop()
    }

    /// Scans until nothing is left that this thread copied, or took from others.
    ///
    /// # Safety
    /// The world is stopped, and what was copied consists of whole objects.
    // SAFETY: threads of a collection call it, which runs while no thread is inside (`safepoint`).
    pub(crate) unsafe fn drain(&mut self, others: &Spans) {
        while let Some(span) = self.next() {
            if self.moving.is_parallel && others.are_hungry() {
                self.look(others);
                if self.todo.first().is_some_and(|first| self.gives(first)) {
                    let first = self.todo.swap_remove(0);
                    self.give(first, others);
                }
            }
            // SAFETY: the world is stopped, and a span is of whole objects.
            unsafe { self.scan(span, others) };
        }
    }

    /// Scans a span, or only its beginning if others have nothing to do: the rest is given to them.
    ///
    /// # Safety
    /// As `drain`.
    // SAFETY: `drain` and `help_with` call it, under their own contract.
    pub(crate) unsafe fn scan(&mut self, mut span: Span, others: &Spans) {
        while self.moving.is_parallel && span.words() > 1 {
            let is_small = span.words() <= SHARED_WORDS;
            if is_small && !(others.are_hungry() && self.gives(&span)) {
                break;
            }
            let some = if is_small { span.words() / 2 } else { SHARED_WORDS };
            // SAFETY: `some` words from `from` on are in the span, which is of whole objects; the world is stopped.
            span.from = unsafe { self.scan_to(span.from, span.from.add(some)) };
            if span.from < span.to && others.are_hungry() && self.gives(&span) {
                return self.give(span, others);
            }
        }
        // SAFETY: the span is of whole objects; the world is stopped.
        unsafe { self.scan_to(span.from, span.to) };
    }

    /// True if the span is worth giving away.
    fn gives(&self, span: &Span) -> bool {
        span.words() > SHARED_WORDS || self.copied_words - self.gave_at >= self.keeps
    }

    fn give(&mut self, span: Span, others: &Spans) {
        self.gave_at = self.copied_words;
        // From here on another thread copies as well.
        self.claims = true;
        others.give(span);
    }

    /// Called when others have nothing to do. If that is true of all of them, no other thread can meet this one at an object until it gives
    /// something away.
    fn look(&mut self, others: &Spans) {
        self.spans += 1;
        if self.claims && self.spans >= LOOK_SPANS {
            self.spans = 0;
            self.claims = !others.is_alone();
        }
    }

    /// What is copied from here on, until the next call, is charged to `charged`, which must stay where it is until all is copied.
    pub(crate) fn charge(&mut self, charged: *const Charged) {
        let (words, virtual_words) = (self.copied_words - self.since.0, self.virtual_words - self.since.1);
        if words != 0 && !self.charged.is_null() {
            // SAFETY: by contract it stays where it is, and all threads may add to it.
            unsafe { &*self.charged }.add(words, virtual_words);
        }
        (self.charged, self.since) = (charged, (self.copied_words, self.virtual_words));
    }

    /// Scans a span of another thread, and everything that it leads to.
    ///
    /// # Safety
    /// As `drain`.
    // SAFETY: a thread of the collection calls it with a span that it took from `Spans`, and so has alone.
    pub(crate) unsafe fn help_with(&mut self, span: Span, others: &Spans) {
        self.charge(span.charged);
        // SAFETY: the world is stopped, and a span is of whole objects.
        unsafe {
            self.scan(span, others);
            self.drain(others);
        }
        self.charge(null());
    }

    /// Called when this thread has nothing left. Returns a span of another thread, or None when no thread has any.
    pub(crate) fn take(&mut self, others: &Spans) -> Option<Span> {
        self.keeps = keeps_next(self.keeps, self.copied_words - self.gave_at);
        self.claims = self.moving.is_parallel;
        let span = others.take();
        self.gave_at = self.copied_words;
        span
    }

    /// Scans whole objects from `from` on until one ends at or after `to`, and returns that end.
    ///
    /// # Safety
    /// As `drain`.
    #[inline(always)]
    unsafe fn scan_to(&mut self, mut from: *mut u64, to: *mut u64) -> *mut u64 {
        while from < to {
            // SAFETY: the span consists of whole objects, which only this thread scans.
            unsafe {
                let word = *from;
                if Term::from_raw(word).is_header() {
                    from = from.add(1 + Header::from_raw(word).raw_words());
                    continue;
                }
                self.visit(from.cast::<Term>());
                from = from.add(1);
            }
        }
        from
    }

    /// Puts the objects of an off-heap list that survived on this copier's list, and releases the rest.
    ///
    /// # Safety
    /// The list is whole, its objects are where they were, and everything alive was copied.
    // SAFETY: the collection calls it after all threads have drained, and before from-space is freed.
    pub(crate) unsafe fn sweep(&mut self, list: *mut u64) {
        let sweep = |object: *mut u64, moved: Option<*mut u64>| {
            let Some(moved) = moved else {
                // SAFETY: it was not moved, and is on no list from here on.
                return unsafe { heddle_term::heap::release_object(object) };
            };
            if self.off_heap.head.is_null() {
                self.last_off_heap = moved;
            }
            // SAFETY: it was moved whole.
            unsafe {
                self.off_heap.push(moved);
                self.off_heap.virtual_words += crate::heap::private::off_heap::virtual_words(moved);
            }
        };
        // SAFETY: the list is whole, its objects are where they were, and everything alive was copied.
        unsafe { for_each_moved(list, sweep) };
    }

    /// The copying is done: adds what was made to the old generation.
    pub(crate) fn hand_over(mut self, old: &mut Old) {
        old.words += self.copied_words;
        if self.is_major() {
            old.queued += self.queued;
        }
        old.full.append(&mut self.done);
        old.open.extend(self.piece.take());
        if !self.off_heap.head.is_null() {
            // SAFETY: the last object of the list, whose link is null.
            unsafe { *self.last_off_heap.add(1) = old.off_heap.head as u64 };
            old.off_heap.head = self.off_heap.head;
            old.off_heap.virtual_words += self.off_heap.virtual_words;
        }
    }
}

/// The next value of `keeps` for a thread that ran dry after it had copied `copied` words since it gave a small span away.
fn keeps_next(keeps: usize, copied: usize) -> usize {
    if copied < keeps.max(KEPT_WORDS) { (2 * keeps).clamp(KEPT_WORDS, MAX_KEPT_WORDS) } else { (keeps / 2).max(SHARED_WORDS) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_term::order::exact_eq;
    use heddle_term::refbin::RefBin;
    use heddle_term::{Heap, map};
    use std::sync::Barrier;

    #[test]
    fn a_thread_that_ran_dry_keeps_more_up_to_a_limit_and_less_when_giving_paid() {
        let mut keeps = SHARED_WORDS;
        for _ in 0..100 {
            let more = keeps_next(keeps, 0);
            assert!(more > keeps || more == MAX_KEPT_WORDS);
            keeps = more;
        }
        for _ in 0..100 {
            keeps = keeps_next(keeps, keeps.max(KEPT_WORDS));
        }
        assert_eq!(keeps, SHARED_WORDS);
    }

    /// A tree of tuples of `width` with `depth` levels, in which every second leaf is the same shared list, and a large tuple.
    fn tree(heap: &mut Heap, width: usize, depth: usize, shared: Term) -> Term {
        if depth == 0 {
            return shared;
        }
        let children: Vec<Term> = (0..width)
            .map(|i| if i % 2 == 0 { tree(heap, width, depth - 1, shared) } else { heap.float(i as f64 + depth as f64) })
            .collect();
        heap.tuple(&children)
    }

    fn term(heap: &mut Heap) -> Term {
        let binary = heap.binary(&[7; 1000]);
        let list = heap.list(&[Term::small(1), binary, binary]);
        let tree = tree(heap, 6, 7, list);
        let large = heap.tuple(&vec![list; 2 * LARGE_WORDS]);
        let pairs: Vec<(Term, Term)> = (0..100).map(|n| (Term::small(n), tree)).collect();
        let map = map::from_pairs(heap, &pairs);
        heap.tuple(&[tree, large, map, list])
    }

    /// `{}` is one word: it may be the last object of a piece.
    #[test]
    fn nothing_is_written_after_the_end_of_a_piece() {
        let mut from = Heap::new();
        let mut slot = from.tuple(&[]);
        let after = from.cons(Term::small(111), Term::NIL);
        let mut memory = [77u64; 3];
        let start = memory.as_mut_ptr();
        let piece = Piece { start, top: start.wrapping_add(1), end: start.wrapping_add(2) };
        let mut copier = Copier::new(Moving::new(true, false), Some(piece));
        // SAFETY: a whole object, which no other thread accesses.
        unsafe { copier.visit(&mut slot) };
        assert_eq!(slot.ptr(), start.wrapping_add(1));
        assert_eq!(slot.as_tuple().map(<[Term]>::len), Some(0));
        assert_eq!((memory[2], after.head()), (77, Term::small(111)));
        from.clear();
    }

    /// Words of all objects reachable from a term, each counted once.
    fn words(term: Term) -> usize {
        let (mut todo, mut seen, mut words) = (vec![term], std::collections::HashSet::new(), 0);
        while let Some(term) = todo.pop() {
            if !term.is_pointer() || !seen.insert(term.raw()) {
                continue;
            }
            if term.is_cons() {
                words += 2;
                todo.extend([term.head(), term.tail()]);
            } else {
                let header = term.header();
                words += header.words();
                todo.extend((header.raw_words()..header.arity()).map(|i| term.slot(i)));
            }
        }
        words
    }

    /// `threads` threads copy from the same root: all get the same copy, which has each object once.
    fn copied_by(threads: usize) {
        let (mut here, mut there) = (Heap::new(), Heap::new());
        let (original, moved) = (term(&mut here), term(&mut there));
        let (expected, list) = (words(moved), there.off_heap.head as usize);
        let spans = Spans::default();
        let moving = Moving::new(true, threads > 1);
        // All have joined before one may find that everything is done.
        let have_roots = Barrier::new(threads);
        let charged = Charged::default();
        let copiers: Vec<(Term, Copier)> = std::thread::scope(|scope| {
            let work = || {
                let mut copier = Copier::new(moving, None);
                assert!(spans.join());
                let mut root = moved;
                copier.charge(&charged);
                // SAFETY: whole objects, which only the copiers change.
                unsafe {
                    copier.visit(&mut root);
                    have_roots.wait();
                    copier.drain(&spans);
                    copier.charge(null());
                    while let Some(span) = copier.take(&spans) {
                        copier.help_with(span, &spans);
                    }
                }
                (root, copier)
            };
            let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();

            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let mut old = Old::new();
        for (n, (root, mut copier)) in copiers.into_iter().enumerate() {
            assert!(exact_eq(root, original));
            assert_eq!(words(root), expected);
            if n == 0 {
                // SAFETY: the list is whole; its only object was copied.
                unsafe { copier.sweep(list as *mut u64) };
            }
            copier.hand_over(&mut old);
        }
        assert_eq!(old.words, expected);
        // Independent of which thread copied it.
        assert_eq!(charged.words(), expected);
        let binary = old.off_heap.head;
        // SAFETY: a list of one object, a reference to the binary.
        unsafe {
            assert_eq!((*binary.add(1), RefBin::refcount(*binary.add(3) as *const RefBin)), (0, 1));
        }
        old.off_heap.release_all();
        old.full.into_iter().chain(old.open).for_each(Piece::free);
        there.off_heap = OffHeap::new();
        here.clear();
        there.clear();
    }

    #[test]
    fn one_thread_copies_each_object_once() {
        copied_by(1);
    }

    #[test]
    fn several_threads_copy_each_object_once() {
        (0..20).for_each(|_| copied_by(3));
    }

    /// Only one cell of a list is known at a time, so one thread copies nearly all of it.
    #[test]
    fn a_long_list_is_not_passed_to_and_fro() {
        let mut heap = Heap::new();
        let mut list = Term::NIL;
        for n in 0..400_000 {
            let pair = heap.tuple(&[Term::small(n), Term::small(n)]);
            list = heap.cons(pair, list);
        }
        let (spans, passed) = (Spans::default(), AtomicU64::new(0));
        let have_roots = Barrier::new(2);
        let work = |root: Option<&mut Term>| {
            let mut copier = Copier::new(Moving::new(true, true), None);
            assert!(spans.join());
            // SAFETY: whole objects, which only the copiers change.
            unsafe {
                if let Some(root) = root {
                    copier.visit(root);
                }
                have_roots.wait();
                copier.drain(&spans);
                while let Some(span) = copier.take(&spans) {
                    passed.fetch_add(1, Ordering::Relaxed);
                    copier.help_with(span, &spans);
                }
            }
            copier
        };
        let copiers = std::thread::scope(|scope| {
            let other = scope.spawn(|| work(None));
            [work(Some(&mut list)), other.join().unwrap()]
        });
        assert_eq!(copiers.iter().map(|copier| copier.copied_words).sum::<usize>(), 400_000 * 5);
        assert_eq!(heddle_term::list::length(list), Some(400_000));
        let passed = passed.into_inner();
        assert!(passed < 40, "{passed} times");
        let mut old = Old::new();
        copiers.into_iter().for_each(|copier| copier.hand_over(&mut old));
        old.full.into_iter().chain(old.open).for_each(Piece::free);
        heap.clear();
    }

    #[test]
    fn what_was_not_copied_is_given_up() {
        let mut heap = Heap::new();
        heap.binary(&[1; 100]);
        let block = Term::boxed(heap.off_heap.head).word(2) as *mut RefBin;
        // SAFETY: the heap holds it; the list is whole.
        unsafe {
            RefBin::retain(block);
            let mut copier = Copier::new(Moving::new(true, false), None);
            copier.sweep(std::mem::replace(&mut heap.off_heap, OffHeap::new()).head);
            assert!(copier.off_heap.head.is_null());
            assert_eq!(RefBin::refcount(block), 1);
            RefBin::release(block);
        }
        heap.clear();
    }
}
