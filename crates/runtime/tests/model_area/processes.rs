//! Compares processes with trees: they build terms on their heaps and in open regions, send them, keep what they were sent, and collect,
//! in each of the three memory architectures. The operations cross these thresholds, in words: a message of more than 16 is shared, one
//! of 32 is built in an open region, which has 245 or more; a fragment above 256 is adopted; a process that holds 2,048 is collected
//! where it waits. A copy refers to at most 16 regions.

use super::running::{self, process};
use heddle_memory::MemoryKind;
use heddle_model::{Random, Subject};
use heddle_runtime::CollectionKind;
use heddle_runtime::gc;
use heddle_runtime::literals::Switched;
use heddle_runtime::messages::Timed;
use heddle_runtime::mode;
use heddle_runtime::process::Process;
use heddle_runtime::signal::Signal;
use heddle_runtime::{Package, held_regions, literal_areas, literals, qsbr};
use heddle_term::bits::BitsView;
use heddle_term::literal::{self, Area};
use heddle_term::{Heap, Term, area};
use std::collections::{BTreeMap, VecDeque};
use std::ptr::null_mut;
use std::rc::Rc;

/// What a term should be.
#[derive(Clone, Debug)]
enum Tree {
    Numbers(i64, usize),
    Tuple(Rc<Vec<Tree>>),
    Bytes(u8, usize),
    Literal,
}

const LITERAL: std::ops::RangeInclusive<i64> = 1..=40;

fn is(term: Term, tree: &Tree) -> bool {
    let are = |mut found: Term, from: i64, count: usize| {
        for n in 0..count as i64 {
            if !found.is_cons() || found.head() != Term::small(from + n) {
                return false;
            }
            found = found.tail();
        }
        found.is_nil()
    };
    match tree {
        Tree::Numbers(from, count) => are(term, *from, *count),
        Tree::Literal => are(term, *LITERAL.start(), LITERAL.count()),
        Tree::Bytes(byte, count) => BitsView::of(term).is_some_and(|view| view.to_vec() == vec![*byte; *count]),
        Tree::Tuple(trees) => term
            .as_tuple()
            .is_some_and(|terms| terms.len() == trees.len() && terms.iter().zip(trees.iter()).all(|(&term, tree)| is(term, tree))),
    }
}

fn words(tree: &Tree) -> usize {
    match tree {
        Tree::Numbers(_, count) => 2 * count,
        Tree::Tuple(trees) => 1 + trees.iter().map(|t| 1 + words(t)).sum::<usize>(),
        Tree::Bytes(_, count) => 2 + count / 8,
        Tree::Literal => 0,
    }
}

/// Maximum words of a term: wrapping it again and again would double it each time.
const MAX_WORDS: usize = 6000;
const PROCESSES: usize = 3;
const SLOTS: u64 = 24;

struct One {
    p: &'static mut Process,
    kept: BTreeMap<u64, Tree>,
    sent: VecDeque<Tree>,
}

pub struct Processes {
    all: Vec<One>,
    /// Options, reasons and the like.
    stored: Vec<(Package, Tree)>,
    literal: Option<(Term, Area)>,
    leaving: bool,
    next: i64,
    /// Bytes that failed sequences left in the area.
    before_bytes: usize,
}

#[derive(Clone, Copy, Debug)]
pub enum Operation {
    /// Process, slot, elements.
    List(usize, u64, u64),
    Bytes(usize, u64, u64),
    Literal(usize, u64),
    /// Process, slot, the other slots that the tuple refers to.
    Wrap(usize, u64, [u64; 3]),
    /// A tuple of all that the process keeps: it refers to more regions than a copy may.
    Gather(usize, u64),
    /// A list that is built to be sent.
    Direct(usize, u64, u64),
    /// As `Direct`, but the list is not sent.
    Waste(usize, u64),
    Send(usize, u64, usize),
    Receive(usize, u64),
    Skip(usize),
    Store(usize, u64, bool),
    Fetch(usize, u64, u64),
    Forget(usize, u64),
    Collect(usize, u64),
    Wait(usize),
    Leave,
}

/// Calls `literals::switch` as the process of OTP's module does. True if there is a batch to ask for.
fn switch() -> bool {
    for _ in 0..1000 {
        match literals::switch() {
            Switched::Yes => return true,
            Switched::No => return false,
            Switched::NotYet => qsbr::quiescent(),
        }
    }
    panic!("it never ends");
}

impl Processes {
    fn keep(&mut self, process: usize, slot: u64, term: Term, tree: Tree) {
        assert!(is(term, &tree));
        let one = &mut self.all[process];
        one.p.dictionary.put(Term::small(slot as i64), term);
        one.p.sync_limit();
        one.kept.insert(slot, tree);
    }

    /// As the engine does: first makes room.
    fn room(&mut self, process: usize, words: usize) {
        let p = &mut *self.all[process].p;
        if p.free_words() < words as isize {
            gc::collect(p, &mut [], words, CollectionKind::Automatic);
        }
    }

    fn pick(&mut self, process: usize, which: u64) -> Option<(Term, Tree)> {
        let one = &mut self.all[process];
        let (&slot, tree) = one.kept.iter().nth(which as usize % one.kept.len().max(1))?;
        let term = one.p.dictionary.get(Term::small(slot as i64)).expect("it was kept");
        Some((term, tree.clone()))
    }

    /// As `ops::direct`: the place of a list cell.
    fn direct(p: &mut Process, head: Term, tail: Term) -> Term {
        if !area::is_there() {
            return p.heap.cons(head, tail);
        }
        let place = {
            let open = &mut p.rare().open;
            if !open.takes(head) || !open.takes(tail) {
                None
            } else {
                let at = open.room(2);
                match at.is_null() {
                    false => Some(at),
                    true if open.contains(tail) => None,
                    true => {
                        let mut list = std::mem::take(&mut p.heap.off_heap);
                        let at = p.rare().open.begin(2, &mut list);
                        p.heap.off_heap = list;
                        if !at.is_null() {
                            let words = p.rare().open.free_words();
                            held_regions::more(p, words);
                        }
                        (!at.is_null()).then_some(at)
                    }
                }
            }
        };
        let Some(at) = place else {
            p.missed(2);
            return p.heap.cons(head, tail);
        };
        // SAFETY: room for a cell that is ours.
        unsafe {
            *at = head.raw();
            *at.add(1) = tail.raw();
        }
        Term::cons(at)
    }

    /// Literals are leaving, or have left: see `heddle_runtime::literals`.
    fn leave(&mut self) {
        if self.leaving {
            for one in &mut self.all {
                literals::copy_off(one.p);
            }
            self.leaving = false;
            assert!(!switch());
        } else if let Some((_, area)) = self.literal.take() {
            literal_areas::give_up(vec![area]);
            self.leaving = true;
            assert!(switch());
        }
    }

    fn literal(&mut self) -> Option<Term> {
        if self.leaving {
            return None;
        }
        let (term, _) = self.literal.get_or_insert_with(|| {
            let mut heap = Heap::new();
            let numbers: Vec<Term> = LITERAL.map(Term::small).collect();
            let (term, area) = literal::keep(heap.list(&numbers));
            heap.clear();
            (term, area.expect("a list needs memory"))
        });
        Some(*term)
    }
}

impl Subject for Processes {
    type Operation = Operation;
    const THRESHOLDS: &'static [u64] = &[4, 8, 16, 32, 60, 122, 128, 350, 1024];

    fn new() -> Self {
        // What a failed sequence left.
        while switch() {}
        // SAFETY: this thread made it, and runs it alone.
        let one = |_| One { p: unsafe { process(100).local() }, kept: BTreeMap::new(), sent: VecDeque::new() };
        let before_bytes = heddle_memory::sum(MemoryKind::Message);
        Processes {
            all: (0..PROCESSES as u64).map(one).collect(),
            stored: Vec::new(),
            literal: None,
            leaving: false,
            next: 0,
            before_bytes,
        }
    }

    fn operation(random: &mut Random) -> Operation {
        let (p, slot) = (random.below(PROCESSES as u64) as usize, random.below(SLOTS));
        let size = 1 + random.key();
        match random.below(60) {
            0..4 => Operation::List(p, slot, size),
            4..6 => Operation::Bytes(p, slot, size * 8),
            6..8 => Operation::Literal(p, slot),
            8 => Operation::Gather(p, slot),
            9..16 => Operation::Wrap(p, slot, std::array::from_fn(|_| random.below(SLOTS + 6))),
            16..24 => Operation::Direct(p, slot, size),
            24 => Operation::Waste(p, size),
            25..32 => Operation::Send(p, random.bits(), random.below(PROCESSES as u64) as usize),
            32..42 => Operation::Receive(p, slot),
            42 => Operation::Skip(p),
            43..45 => Operation::Store(p, random.bits(), random.chance(50)),
            45..47 => Operation::Fetch(p, slot, random.bits()),
            47..50 => Operation::Collect(p, random.below(4)),
            50..52 => Operation::Wait(p),
            52 if random.chance(40) => Operation::Leave,
            _ if random.grows() => Operation::Send(p, random.bits(), p),
            _ => Operation::Forget(p, slot),
        }
    }

    fn step(&mut self, operation: &Operation) {
        let from = self.next * 10_000;
        self.next = (self.next + 1) % 1000;
        match *operation {
            Operation::List(process, slot, count) => {
                self.room(process, 2 * count as usize);
                let term = self.all[process].p.heap.small_list((from..from + count as i64).collect::<Vec<_>>().into_iter());
                self.keep(process, slot, term, Tree::Numbers(from, count as usize));
            }
            Operation::Bytes(process, slot, count) => {
                let byte = from as u8;
                let term = self.all[process].p.heap.binary(&vec![byte; count as usize]);
                self.keep(process, slot, term, Tree::Bytes(byte, count as usize));
            }
            Operation::Literal(process, slot) => {
                if let Some(term) = self.literal() {
                    self.keep(process, slot, term, Tree::Literal);
                }
            }
            Operation::Wrap(process, slot, which) => {
                self.room(process, 4);
                let parts: Vec<(Term, Tree)> = which.iter().filter_map(|&which| self.pick(process, which)).collect();
                let tree = Tree::Tuple(Rc::new(parts.iter().map(|part| part.1.clone()).collect()));
                if words(&tree) > MAX_WORDS {
                    return;
                }
                let term = self.all[process].p.heap.tuple(&parts.iter().map(|part| part.0).collect::<Vec<_>>());
                self.keep(process, slot, term, tree);
            }
            Operation::Gather(process, slot) => {
                self.room(process, SLOTS as usize + 1);
                let count = self.all[process].kept.len() as u64;
                let parts: Vec<(Term, Tree)> = (0..count).filter_map(|which| self.pick(process, which)).collect();
                let tree = Tree::Tuple(Rc::new(parts.iter().map(|part| part.1.clone()).collect()));
                if words(&tree) <= MAX_WORDS {
                    let term = self.all[process].p.heap.tuple(&parts.iter().map(|part| part.0).collect::<Vec<_>>());
                    self.keep(process, slot, term, tree);
                }
            }
            Operation::Direct(process, slot, count) => {
                self.room(process, 2 * count as usize);
                let p = &mut *self.all[process].p;
                let term = (from..from + count as i64).rev().fold(Term::NIL, |tail, n| Self::direct(p, Term::small(n), tail));
                self.keep(process, slot, term, Tree::Numbers(from, count as usize));
            }
            Operation::Waste(process, count) => {
                self.room(process, 2 * count as usize);
                let p = &mut *self.all[process].p;
                (0..count as i64).fold(Term::NIL, |tail, n| Self::direct(p, Term::small(n), tail));
                gc::collect(p, &mut [], 0, CollectionKind::Automatic);
            }
            Operation::Send(process, which, to) => {
                let Some((term, tree)) = self.pick(process, which) else { return };
                let package = mode::pack_data(self.all[process].p, term, |_| Timed::NO);
                assert!(is(package.term(), &tree));
                let to = &mut self.all[to];
                to.p.messages.append(Signal::message(package));
                to.sent.push_back(tree);
            }
            Operation::Receive(process, slot) => {
                let one = &mut self.all[process];
                one.p.messages.restart();
                let found = one.p.messages.peek(&mut one.p.heap, &mut one.p.held_words);
                assert_eq!(found.is_some(), !one.sent.is_empty());
                let (Some(term), Some(tree)) = (found, one.sent.pop_front()) else { return };
                self.keep(process, slot, term, tree);
                self.all[process].p.messages.remove();
            }
            Operation::Skip(process) => {
                // The message is looked at, and stays in the queue.
                let one = &mut self.all[process];
                one.p.messages.restart();
                if let Some(term) = one.p.messages.peek(&mut one.p.heap, &mut one.p.held_words) {
                    assert!(is(term, &one.sent[0]));
                    one.p.sync_limit();
                }
            }
            Operation::Store(process, which, several) => {
                let Some((term, tree)) = self.pick(process, which) else { return };
                let package = if several { mode::pack_for_several(term) } else { Package::new(term) };
                assert!(is(package.term(), &tree));
                if self.stored.len() > 10 {
                    self.stored.remove(0);
                }
                self.stored.push((package, tree));
            }
            Operation::Fetch(process, slot, which) => {
                let Some((package, tree)) = self.stored.get(which as usize % self.stored.len().max(1)).cloned() else { return };
                let term = package.unpack(&mut self.all[process].p.heap);
                self.keep(process, slot, term, tree);
            }
            Operation::Forget(process, slot) => {
                let one = &mut self.all[process];
                assert_eq!(one.p.dictionary.erase(Term::small(slot as i64)).is_some(), one.kept.remove(&slot).is_some());
            }
            Operation::Collect(process, kind) => {
                let kind = [CollectionKind::Automatic, CollectionKind::Asked, CollectionKind::Shrink, CollectionKind::Major][kind as usize];
                let p = &mut *self.all[process].p;
                p.messages.restart();
                gc::collect(p, &mut [], 0, kind);
            }
            Operation::Wait(process) => {
                let p = &mut *self.all[process].p;
                if held_regions::pays(p) {
                    gc::collect(p, &mut [], 0, CollectionKind::Shrink);
                }
            }
            Operation::Leave => self.leave(),
        }
    }

    fn check(&mut self) {
        for one in &mut self.all {
            for (&slot, tree) in &one.kept {
                let term = one.p.dictionary.get(Term::small(slot as i64)).expect("it was kept");
                assert!(is(term, tree), "slot {slot}");
            }
            // The process builds in an open region, which it holds as a builder does.
            // SAFETY: the lists are whole; there is an open region if the pointer is not null.
            unsafe {
                if let Some(open) = one.p.open().as_ref().filter(|open| !open.is_in(null_mut())) {
                    let mut holds = 0;
                    for list in [&one.p.heap.off_heap, &one.p.old_off_heap] {
                        area::for_each_reference(list.head, |region, times| holds += if open.is_in(region) { times } else { 0 });
                    }
                    assert_eq!(holds / area::BUILDER, 1);
                }
            }
            let sent: Vec<Term> = one.p.messages.terms().collect();
            assert!(sent.len() == one.sent.len() && sent.iter().zip(&one.sent).all(|(&term, tree)| is(term, tree)));
        }
        assert!(self.stored.iter().all(|(package, tree)| is(package.term(), tree)));
    }

    fn end(&mut self) {
        self.stored.clear();
        if self.leaving {
            self.leave();
        }
        for one in self.all.drain(..) {
            one.p.dictionary.clear();
            drop(one.p.take_rare());
            running::end(one.p.proc_ref());
        }
        if let Some((_, area)) = self.literal.take() {
            // SAFETY: nothing is left that could refer to it.
            unsafe { area.free() };
        }
        // With other heaps this is memory of messages on their way, of which other threads may keep some for their next message.
        let is_counted = area::is_there();
        assert!(!is_counted || heddle_memory::sum(MemoryKind::Message) == self.before_bytes, "bytes of regions that are not referred to");
    }
}
