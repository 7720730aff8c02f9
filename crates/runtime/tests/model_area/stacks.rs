//! Compares a process that calls, writes its frame, returns and is unwound, with collections in between, with a list of frames; in each
//! of the three memory architectures. Thresholds in words of stack: the mark is at least 64 below the top; a stack of 4,096 stays where
//! it is in a collection.

use super::running::{self, process};
use heddle_model::{Random, Subject};
use heddle_runtime::CollectionKind;
use heddle_runtime::gc;
use heddle_runtime::process::Process;
use heddle_runtime::trace::cells::{CELLS, Cells};
use heddle_runtime::{qsbr, stack};
use heddle_term::term::TAG_CONTINUATION;
use heddle_term::{Term, list};

/// A small integer, or a list of integers: the first one, and their number.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Value {
    Small(i64),
    List(i64, usize),
}

/// Code that nothing runs; only the addresses of its cells are used.
static CODE: [u64; 64] = [0; 64];

struct Frame {
    slots: Vec<Value>,
    /// Cell of `CODE` to which it returns.
    to: usize,
}

pub struct Stacks {
    p: &'static mut Process,
    frames: Vec<Frame>,
    next: i64,
    checks: u64,
}

/// A stack of more frames is compared as a whole less often.
const DEEP: usize = 60;

#[derive(Clone, Copy, Debug)]
pub enum Operation {
    /// Calls: their number, the slots of each frame, and the elements of the list in each slot.
    Call(u64, usize, usize),
    /// The running function writes a slot: a new value, or that of another slot.
    Write(u64, Option<usize>),
    Return(u64),
    /// An exception removes this many frames at once.
    Unwind(u64),
    /// Builds garbage of this many words.
    Work(usize),
    Collect(CollectionKind),
}

fn cell(n: usize) -> *const u64 {
    &raw const CODE[n % CODE.len()]
}

fn is(term: Term, value: Value) -> bool {
    match value {
        Value::Small(n) => term == Term::small(n),
        Value::List(from, count) => list::to_vec(term).is_some_and(|all| all.into_iter().eq((from..from + count as i64).map(Term::small))),
    }
}

impl Stacks {
    fn room(&mut self, words: usize) {
        if self.p.free_words() < words as isize + 16 {
            gc::collect(self.p, &mut [], words + 16, CollectionKind::Automatic);
        }
    }

    fn make(&mut self, elements: usize) -> (Term, Value) {
        let from = self.next;
        self.next = (self.next + 1) % 1_000_000;
        match elements {
            0 => (Term::small(from), Value::Small(from)),
            count => {
                let all: Vec<i64> = (from..from + count as i64).collect();
                (self.p.heap.small_list(all.into_iter()), Value::List(from, count))
            }
        }
    }

    fn call(&mut self, slots: usize, elements: usize) {
        self.room(slots * (1 + 2 * elements) + 1);
        let to = self.next as usize % CODE.len();
        // A frame is written whole before a collection may come.
        let (terms, values): (Vec<Term>, Vec<Value>) = (0..slots).map(|_| self.make(elements)).unzip();
        self.p.stop = self.p.stop.wrapping_sub(slots + 1);
        // SAFETY: there is room for the frame.
        unsafe {
            terms.iter().enumerate().for_each(|(at, term)| *self.p.stop.add(at) = term.raw());
            *self.p.stop.add(slots) = cell(to) as u64 | TAG_CONTINUATION;
        }
        self.p.sync_limit();
        self.frames.push(Frame { slots: values, to });
    }

    fn give_up_frame(&mut self) -> Option<Frame> {
        let frame = self.frames.pop()?;
        self.p.stop = self.p.stop.wrapping_add(frame.slots.len() + 1);
        Some(frame)
    }
}

impl Subject for Stacks {
    type Operation = Operation;
    const THRESHOLDS: &'static [u64] = &[4, 16, 40, 300, 1000];

    fn new() -> Self {
        CELLS.get_or_init(cells);
        // SAFETY: this thread made it, and runs it alone.
        Stacks { p: unsafe { process(100).local() }, frames: Vec::new(), next: 0, checks: 0 }
    }

    fn operation(random: &mut Random) -> Operation {
        let elements = random.one(&[0, 0, 1, 3, 10]);
        match random.below(20) {
            0..3 => Operation::Collect(random.one(&[
                CollectionKind::Automatic,
                CollectionKind::Automatic,
                CollectionKind::Asked,
                CollectionKind::Shrink,
                CollectionKind::Major,
            ])),
            3..5 => Operation::Work(random.one(&[10, 100, 500])),
            5..8 => Operation::Write(random.bits(), random.chance(60).then_some(elements)),
            8 => Operation::Unwind(1 + random.key() / 4),
            _ if random.grows() => Operation::Call(1 + random.key() / 16, random.below(5) as usize, elements),
            _ => Operation::Return(1 + random.key() / 16),
        }
    }

    fn step(&mut self, operation: &Operation) {
        match *operation {
            Operation::Call(count, slots, elements) => (0..count).for_each(|_| self.call(slots, elements)),
            Operation::Write(which, elements) => {
                self.room(40);
                let Some(slots) = self.frames.last().map(|frame| frame.slots.len()).filter(|&slots| slots > 0) else { return };
                let at = which as usize % slots;
                let (term, value) = match elements {
                    Some(elements) => self.make(elements),
                    None => {
                        let from = (which >> 32) as usize % slots;
                        // SAFETY: a slot of the top frame.
                        (unsafe { Term::from_raw(*self.p.stop.add(from)) }, self.frames.last().expect("just seen").slots[from])
                    }
                };
                // SAFETY: as above.
                unsafe { *self.p.stop.add(at) = term.raw() };
                self.frames.last_mut().expect("just seen").slots[at] = value;
            }
            Operation::Return(count) => {
                for _ in 0..count {
                    let Some(frame) = self.give_up_frame() else { return };
                    // SAFETY: the word below the frame that went.
                    let word = unsafe { *self.p.stop.wrapping_sub(1) };
                    let to = (word - TAG_CONTINUATION) as *const u64;
                    // As the engine does in `mark_returned`.
                    let marked = CELLS.get().is_some_and(|cells| cells.mark == to);
                    let stop = self.p.stop;
                    let to = if marked { stack::returned_through(self.p, stop) } else { to };
                    assert_eq!(to, cell(frame.to));
                    self.p.sync_limit();
                }
            }
            Operation::Unwind(count) => {
                (0..count).for_each(|_| _ = self.give_up_frame());
                self.p.sync_limit();
            }
            Operation::Work(words) => {
                self.room(words);
                let _ = self.p.heap.small_list((0..words as i64 / 2).collect::<Vec<_>>().into_iter());
            }
            Operation::Collect(kind) => {
                gc::collect(self.p, &mut [], 16, kind);
            }
        }
        let expected: usize = self.frames.iter().map(|frame| frame.slots.len() + 1).sum();
        assert_eq!(self.p.stack_words(), expected);
    }

    fn check(&mut self) {
        self.checks += 1;
        if self.frames.len() > DEEP && !self.checks.is_multiple_of(32) {
            return;
        }
        let mut words = stack::words(self.p);
        for frame in self.frames.iter().rev() {
            for &value in &frame.slots {
                let (_, term) = words.next().expect("a slot");
                assert!(is(term, value), "{value:?}");
            }
            assert_eq!(words.next().map(|word| word.1.raw()), Some(cell(frame.to) as u64 | TAG_CONTINUATION));
        }
        assert!(words.next().is_none());
    }

    fn end(&mut self) {
        self.checks = 31;
        self.check();
        self.p.stop = self.p.end;
        drop(self.p.take_rare());
        running::end(self.p.proc_ref());
        qsbr::quiescent();
    }
}

/// The engine's cells that a stack may contain; nothing runs them either.
fn cells() -> Cells {
    static OWN: [u64; 8] = [0; 8];
    let at = |n: usize| &raw const OWN[n];
    Cells {
        breakpoint: 0,
        trampoline: 0,
        returned: at(1),
        returned_or_raised: at(2),
        return_to: at(3),
        time: at(4),
        memory: at(5),
        mark: at(6),
        row: OWN.as_ptr_range(),
    }
}
