//! One thread's part in copying: takes what moves to the old generation, and scans what it copied, after Cheney.
//!
//! Several may copy at a time. An object is copied first and claimed then, by a compare-and-swap of its first word for the
//! forwarding word; who comes second takes back his copy, which is the newest thing that he made. So nobody ever waits for anybody.

use super::charged::Charged;
use super::pieces::{LARGE_WORDS, Old, PIECE_WORDS, Piece};
use super::spans::{Span, Spans};
use crate::off_heap::for_each_moved;
use heddle_term::copy::share_off_heap;
use heddle_term::literal::{self, Leaving, RESERVED_BYTES};
use heddle_term::term::TAG_FORWARD;
use heddle_term::young::Range;
use heddle_term::{Header, Kind, OffHeap, Term};
use std::collections::HashMap;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU64, Ordering};

/// A thread scans so many words before it looks whether others have nothing to do.
const SHARED_WORDS: usize = 512;
/// Who gives a smaller span away and has nothing left before he has copied so much himself gave away all that he had: of one long list only
/// one cell is known at a time. He copies more than this before he does that again, and twice as much each time, up to the most.
const KEPT_WORDS: usize = 4 * 1024;
const MOST_KEPT_WORDS: usize = 1 << 24;
/// So many spans are scanned between two looks whether all others have nothing to do.
const LOOK_SPANS: usize = 64;

/// What a collection moves: all that is young, or all but literals.
#[derive(Clone, Copy)]
pub(super) struct Moving {
    pub is_major: bool,
    young: Range,
    literals: usize,
    /// Literals that are to be left.
    leaving: Option<&'static Leaving>,
    /// Several threads copy.
    pub is_parallel: bool,
}

impl Moving {
    pub fn new(is_major: bool, is_parallel: bool) -> Moving {
        Moving { is_major, young: Range::now(), literals: literal::base(), leaving: None, is_parallel }
    }

    /// All that refers to these literals refers to copies afterwards.
    pub fn off(leaving: &'static Leaving) -> Moving {
        Moving { leaving: Some(leaving), ..Moving::new(true, false) }
    }

    /// Of a pointer.
    #[inline(always)]
    fn moves(self, term: Term) -> bool {
        if self.is_major { (term.raw() as usize).wrapping_sub(self.literals) >= RESERVED_BYTES } else { self.young.contains(term) }
    }
}

pub(super) struct Copier {
    moving: Moving,
    /// Where it copies to; what lies behind `scanned` was not scanned yet.
    piece: Option<Piece>,
    scanned: *mut u64,
    /// Filled pieces.
    done: Vec<Piece>,
    /// What is to be scanned besides the piece.
    todo: Vec<Span>,
    /// Who is charged with what is copied now, and `copied_words` and `virtual_words` since when.
    charged: *const Charged,
    since: (usize, usize),
    /// Others may meet this thread at an object, so objects are claimed.
    claims: bool,
    /// Spans that were scanned, up to `LOOK_SPANS`.
    spans: usize,
    /// `copied_words` when a small span was given away, and what is to be copied since before the next one is.
    gave_at: usize,
    keeps: usize,
    /// Off-heap objects that survived.
    pub off_heap: OffHeap,
    last_off_heap: *mut u64,
    /// Copies of literals that are to be left.
    literals: HashMap<u64, Term>,
    pub copied_words: usize,
    /// Of binaries that those refer to.
    pub virtual_words: usize,
    /// What there was of the young generation where this thread made it empty.
    pub young_words: usize,
    /// Signals in the queues that were walked along.
    pub queued: usize,
}

/// The first word of an object that refers to a binary outside of the heap.
const BINARY: u64 = Header::new(Kind::BinRef, 3).raw();

// SAFETY: what it lists is the old generation's; it is one thread's at a time.
unsafe impl Send for Copier {}

impl Copier {
    /// `piece`: one to go on with.
    pub fn new(moving: Moving, piece: Option<Piece>) -> Copier {
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

    pub fn is_major(&self) -> bool {
        self.moving.is_major
    }

    /// Moves what a slot refers to, if it is to be moved.
    ///
    /// # Safety
    /// The slot holds a word that no other thread writes; what it refers to is a whole object.
    #[inline(always)]
    // SAFETY: the contract above.
    pub unsafe fn visit(&mut self, slot: *mut Term) {
        // SAFETY: by contract.
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

    #[inline(always)]
    // SAFETY: as `visit`.
    unsafe fn evacuate(&mut self, term: Term) -> Term {
        let src = term.ptr();
        // The first word is read and written atomically where several threads may meet there. Relaxed: the copy is only looked at by
        // who made it, or took it from him by `Spans`, until all are done.
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
            // Not so of `{}`, behind which a piece may end.
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
                self.virtual_words += crate::off_heap::virtual_words(dst);
            }
            Term::from_raw(dst as u64 | term.tag())
        }
    }

    /// Literals stay as they are, so what was copied is noted beside them.
    #[cold]
    // SAFETY: `term` is a literal, a whole object.
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

    /// Another thread was faster.
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

    /// The piece is full: what was not scanned in it is noted.
    fn close(&mut self) {
        if let Some(piece) = self.piece.take() {
            if self.scanned < piece.top {
                self.todo.push(Span { from: self.scanned, to: piece.top, charged: self.charged });
            }
            self.done.push(piece);
        }
    }

    /// Something to scan that this thread has.
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
    /// The world stands still, and what was copied are whole objects.
    // SAFETY: the contract above.
    pub unsafe fn drain(&mut self, others: &Spans) {
        while let Some(span) = self.next() {
            if self.moving.is_parallel && others.are_hungry() {
                self.look(others);
                if self.todo.first().is_some_and(|first| self.gives(first)) {
                    let first = self.todo.swap_remove(0);
                    self.give(first, others);
                }
            }
            // SAFETY: by contract.
            unsafe { self.scan(span, others) };
        }
    }

    /// One span, or, if others have nothing to do, its beginning.
    ///
    /// # Safety
    /// As `drain`.
    // SAFETY: the contract above.
    pub unsafe fn scan(&mut self, mut span: Span, others: &Spans) {
        while self.moving.is_parallel && span.words() > 1 {
            let is_small = span.words() <= SHARED_WORDS;
            if is_small && !(others.are_hungry() && self.gives(&span)) {
                break;
            }
            let some = if is_small { span.words() / 2 } else { SHARED_WORDS };
            // SAFETY: by contract.
            span.from = unsafe { self.scan_to(span.from, span.from.add(some)) };
            if span.from < span.to && others.are_hungry() && self.gives(&span) {
                return self.give(span, others);
            }
        }
        // SAFETY: by contract.
        unsafe { self.scan_to(span.from, span.to) };
    }

    /// Whether it is worth it.
    fn gives(&self, span: &Span) -> bool {
        span.words() > SHARED_WORDS || self.copied_words - self.gave_at >= self.keeps
    }

    fn give(&mut self, span: Span, others: &Spans) {
        self.gave_at = self.copied_words;
        // From here on somebody else copies as well.
        self.claims = true;
        others.give(span);
    }

    /// Others have nothing to do: if that is so of all of them, nobody is met until something is given to them.
    fn look(&mut self, others: &Spans) {
        self.spans += 1;
        if self.claims && self.spans >= LOOK_SPANS {
            self.spans = 0;
            self.claims = !others.is_alone();
        }
    }

    /// What is copied from here on, until the next call, is found by who has this. It stays where it is until all is copied.
    pub fn charge(&mut self, charged: *const Charged) {
        let (words, virtual_words) = (self.copied_words - self.since.0, self.virtual_words - self.since.1);
        if words != 0 && !self.charged.is_null() {
            // SAFETY: it stays where it is, and all may add to it.
            unsafe { &*self.charged }.add(words, virtual_words);
        }
        (self.charged, self.since) = (charged, (self.copied_words, self.virtual_words));
    }

    /// Scans something of others, and what that leads to.
    ///
    /// # Safety
    /// As `drain`.
    // SAFETY: the contract above.
    pub unsafe fn help_with(&mut self, span: Span, others: &Spans) {
        self.charge(span.charged);
        // SAFETY: by contract.
        unsafe {
            self.scan(span, others);
            self.drain(others);
        }
        self.charge(null());
    }

    /// Something of others, when nothing is left of its own; None when nobody has anything.
    pub fn take(&mut self, others: &Spans) -> Option<Span> {
        self.keeps = keeps_next(self.keeps, self.copied_words - self.gave_at);
        self.claims = self.moving.is_parallel;
        let span = others.take();
        self.gave_at = self.copied_words;
        span
    }

    /// Scans whole objects from `from` on until one ends at `to` or behind it: there.
    #[inline(always)]
    // SAFETY: as `drain`.
    unsafe fn scan_to(&mut self, mut from: *mut u64, to: *mut u64) -> *mut u64 {
        while from < to {
            // SAFETY: the span is whole objects, which this thread alone scans.
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

    /// What survived of a list of off-heap objects that moved goes on this one's list; the rest is given up.
    ///
    /// # Safety
    /// The list is whole, its objects lie where they were, and everything that lives was copied.
    // SAFETY: the contract above, which is that of `for_each_moved` and more.
    pub unsafe fn sweep(&mut self, list: *mut u64) {
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
                self.off_heap.virtual_words += crate::off_heap::virtual_words(moved);
            }
        };
        // SAFETY: by contract.
        unsafe { for_each_moved(list, sweep) };
    }

    /// All is done: what was made is part of the old generation.
    pub fn hand_over(mut self, old: &mut Old) {
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

/// What is to be copied before a small span is given away again, by who has nothing left and copied so much since.
fn keeps_next(keeps: usize, copied: usize) -> usize {
    if copied < keeps.max(KEPT_WORDS) { (2 * keeps).clamp(KEPT_WORDS, MOST_KEPT_WORDS) } else { (keeps / 2).max(SHARED_WORDS) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_term::order::exact_eq;
    use heddle_term::refbin::RefBin;
    use heddle_term::{Heap, map};
    use std::sync::Barrier;

    #[test]
    fn who_gives_in_vain_keeps_more_up_to_a_limit_and_less_when_it_was_worth_it() {
        let mut keeps = SHARED_WORDS;
        for _ in 0..100 {
            let more = keeps_next(keeps, 0);
            assert!(more > keeps || more == MOST_KEPT_WORDS);
            keeps = more;
        }
        for _ in 0..100 {
            keeps = keeps_next(keeps, keeps.max(KEPT_WORDS));
        }
        assert_eq!(keeps, SHARED_WORDS);
    }

    /// A tree of tuples of `width` with `depth` levels, in which each second leaf is one shared list; and a large tuple.
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

    /// `{}` is one word: it may be the last one of a piece.
    #[test]
    fn nothing_is_written_behind_the_end_of_a_piece() {
        let mut from = Heap::new();
        let mut slot = from.tuple(&[]);
        let behind = from.cons(Term::small(111), Term::NIL);
        let mut memory = [77u64; 3];
        let start = memory.as_mut_ptr();
        let piece = Piece { start, top: start.wrapping_add(1), end: start.wrapping_add(2) };
        let mut copier = Copier::new(Moving::new(true, false), Some(piece));
        // SAFETY: a whole object, which nobody else looks at.
        unsafe { copier.visit(&mut slot) };
        assert_eq!(slot.ptr(), start.wrapping_add(1));
        assert_eq!(slot.as_tuple().map(<[Term]>::len), Some(0));
        assert_eq!((memory[2], behind.head()), (77, Term::small(111)));
        from.clear();
    }

    /// Words of all objects that a term leads to, each once.
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

    /// Copied by so many threads, which are given the same roots: all of them get the same copy, which has each object once.
    fn copied_by(threads: usize) {
        let (mut here, mut there) = (Heap::new(), Heap::new());
        let (original, moved) = (term(&mut here), term(&mut there));
        let (expected, list) = (words(moved), there.off_heap.head as usize);
        let spans = Spans::default();
        let moving = Moving::new(true, threads > 1);
        // All are there before one may find that all is done.
        let have_roots = Barrier::new(threads);
        let charged = Charged::default();
        let copiers: Vec<(Term, Copier)> = std::thread::scope(|scope| {
            let work = || {
                let mut copier = Copier::new(moving, None);
                assert!(spans.join());
                let mut root = moved;
                copier.charge(&charged);
                // SAFETY: whole objects, which nobody changes but the copiers.
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
        // Whoever copied it.
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

    /// Of a list only one cell is known at a time: it stays with one thread, nearly always.
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
            // SAFETY: whole objects, which nobody changes but the copiers.
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
