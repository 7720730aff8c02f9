//! Two run queues, whose owners push, pop and steal from each other, against lists of what waits at each level.
//! Thresholds: a ring's buffer has 64 entries at first and doubles; 64 are taken at once.

use super::processes::make;
use crate::base::level::{CLASS_LEVELS, LEVELS, Level, Priority};
use crate::base::place::{MAX_SCHEDULERS, Place};
use crate::base::qsbr;
use crate::process::ProcRef;
use crate::sched::home as places;
use crate::sched::run_queue::{NextEntry, RunQueue};
use heddle_model::{Random, Subject, run};
use std::collections::VecDeque;

const QUEUES: usize = 2;
const NORMAL: usize = Level::NORMAL.number();
const LOW: usize = Level::LOW.number();
/// Levels from here on are fair: each entry gets its turn in the end.
const FAIR: usize = 16;
/// Maximum number of turns of others that an entry waits: 65 for each of the levels, and as many again of those that share turns.
const PASSED: usize = 65 * 32 * 2;

/// Makes a process that is in no table, and is bound to queue `home` if there is one.
fn place(p: ProcRef, home: Option<usize>) {
    places::put(&p, home.map_or(Place::Anywhere, |queue| Place::Private(MAX_SCHEDULERS + queue)));
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Brought {
    Process(usize, usize),
    Wanted(usize, usize),
}

/// By level, numbers of processes, oldest first.
struct Waiting {
    free: [VecDeque<usize>; LEVELS],
    bound: [VecDeque<usize>; LEVELS],
    wanted: [VecDeque<usize>; LEVELS],
    brought: Vec<Brought>,
    partner: Option<usize>,
    passed: [usize; LEVELS],
    longest: [usize; 4],
    /// A partner may have been in its ring for a moment, where thieves emptied a more urgent one.
    unsure: bool,
}

impl Waiting {
    fn new() -> Waiting {
        let lists = || std::array::from_fn(|_| VecDeque::new());
        Waiting {
            free: lists(),
            bound: lists(),
            wanted: lists(),
            brought: Vec::new(),
            partner: None,
            passed: [0; LEVELS],
            longest: [0; 4],
            unsure: false,
        }
    }

    fn push(&mut self, number: usize, level: usize, is_bound: bool) {
        if is_bound {
            self.bound[level].push_back(number);
            return;
        }
        self.free[level].push_back(number);
        let longest = &mut self.longest[level / CLASS_LEVELS];
        *longest = (*longest).max(self.free[level].len());
    }

    fn len_at(&self, level: usize) -> usize {
        self.free[level].len() + self.bound[level].len() + self.wanted[level].len()
    }

    fn sorted_len(&self) -> usize {
        (0..LEVELS).map(|level| self.len_at(level)).sum()
    }

    fn len(&self) -> usize {
        self.sorted_len() + self.brought.len()
    }

    fn own_len(&self) -> usize {
        (0..LEVELS).map(|level| self.bound[level].len() + self.wanted[level].len()).sum()
    }

    fn first(&self) -> Option<usize> {
        (0..LEVELS).find(|&level| self.len_at(level) > 0)
    }
}

struct Queues {
    tested: [RunQueue; QUEUES],
    model: [Waiting; QUEUES],
    /// By number: the process, the level of its entry, and its home.
    all: Vec<ProcRef>,
    level: Vec<usize>,
    home: Vec<Option<usize>>,
    /// Numbers of the processes that are in no queue.
    idle: Vec<usize>,
}

#[derive(Clone, Copy, Debug)]
enum Operation {
    /// Queue, level, home.
    Push(usize, usize, Option<usize>),
    Bring(usize, usize, Option<usize>),
    Want(usize, u64, Priority),
    WorkerCache(usize),
    Pop(usize, u64),
    /// Done by the other queue's owner.
    Steal(usize, usize),
    Pull(usize, usize),
    TakeBound(usize),
    Longest(usize),
}

impl Queues {
    fn number_of(&self, p: ProcRef) -> usize {
        p.pid as usize
    }

    fn is_bound(&self, number: usize, queue: usize) -> bool {
        self.home[number] == Some(queue)
    }

    /// A process that is in no queue gets that level and home, and is pushed.
    fn next(&mut self, level: usize, home: Option<usize>) -> (usize, ProcRef) {
        let number = self.idle.pop().unwrap_or_else(|| {
            self.all.push(pool(self.all.len()));
            self.level.push(0);
            self.home.push(None);
            self.all.len() - 1
        });
        place(self.all[number], home);
        (self.level[number], self.home[number]) = (level, home);
        (number, self.all[number])
    }

    fn push(&mut self, queue: usize, number: usize) {
        let level = self.level[number];
        let others = self.model[queue].sorted_len() > 0;
        // SAFETY: one thread is the owner of both.
        let more = unsafe { self.tested[queue].push(self.all[number], Level::new(level).expect("below 32")) };
        assert!(more || !others, "it is not alone");
        let is_bound = self.is_bound(number, queue);
        self.model[queue].push(number, level, is_bound);
    }

    fn pop(&mut self, queue: usize) {
        let brought = std::mem::take(&mut self.model[queue].brought);
        for one in brought {
            match one {
                Brought::Process(number, level) => {
                    let is_bound = self.is_bound(number, queue);
                    self.model[queue].push(number, level, is_bound);
                }
                Brought::Wanted(number, level) => self.model[queue].wanted[level].push_back(number),
            }
        }
        // SAFETY: one thread is the owner of both.
        let next = unsafe { self.tested[queue].pop() };
        if let Some(partner) = self.model[queue].partner.take() {
            if let Some(NextEntry::Process(p)) = next
                && self.number_of(p) == partner
                && self.model[queue].own_len() == 0
                && self.model[queue].first().is_none_or(|first| first >= NORMAL)
            {
                self.idle.push(partner);
                self.model[queue].unsure = true;
                assert_eq!(self.tested[queue].in_flight(), 1);
                return self.tested[queue].hold(0);
            }
            self.level[partner] = NORMAL;
            let is_bound = self.is_bound(partner, queue);
            self.model[queue].push(partner, NORMAL, is_bound);
        }
        let first = self.model[queue].first();
        let model = &mut self.model[queue];
        let Some(first) = first else { return assert!(next.is_none(), "an entry from nowhere") };
        let level = match next.expect("something waits") {
            NextEntry::Wanted(pid) => {
                assert_eq!(model.wanted[first].pop_front(), Some(pid as usize));
                first
            }
            NextEntry::Process(p) => {
                let (number, level) = (p.pid as usize, self.level[p.pid as usize]);
                // A ring that thieves emptied may count as occupied once more, and then another level has a turn first.
                assert!(first >= FAIR || model.wanted[first].is_empty(), "one that is wanted comes first");
                let lists = [&mut model.free[level], &mut model.bound[level]];
                let found = lists.into_iter().find(|list| list.front() == Some(&number)).expect("the oldest of its level");
                found.pop_front();
                self.idle.push(number);
                level
            }
        };
        assert!(level == first || first >= FAIR, "{level} before {first}");
        for other in FAIR..LEVELS {
            let waits = model.len_at(other) > 0;
            model.passed[other] = if other == level || !waits { 0 } else { model.passed[other] + 1 };
            let shares = other == LOW && model.len_at(NORMAL) > 0;
            // Entries that are more urgent than all of these levels may delay them without limit.
            if first < FAIR || shares {
                model.passed[other] = 0;
            }
            assert!(model.passed[other] <= PASSED, "{other} was passed {} times", model.passed[other]);
        }
        assert_eq!(self.tested[queue].in_flight(), 1);
        self.tested[queue].hold(0);
    }

    /// What a thief takes of a level.
    fn share_of(&mut self, queue: usize, level: usize, most: usize, share: usize, out: &mut Vec<usize>) {
        let list = &mut self.model[queue].free[level];
        let mut left = most;
        loop {
            let count = list.len().div_ceil(share).min(left).min(64);
            out.extend(list.drain(..count));
            left -= count;
            if count < 64 || left == 0 {
                return;
            }
        }
    }

    fn stolen(&mut self, from: usize, taken: Vec<ProcRef>, expected: Vec<usize>) {
        let numbers: Vec<usize> = taken.iter().map(|&p| self.number_of(p)).collect();
        assert_eq!(numbers, expected);
        let to = 1 - from;
        assert!(numbers.is_empty() || self.tested[to].in_flight() == numbers.len());
        numbers.into_iter().for_each(|number| self.push(to, number));
        self.tested[to].hold(0);
    }
}

thread_local! {
    static POOL: std::cell::RefCell<Vec<ProcRef>> = const { std::cell::RefCell::new(Vec::new()) };
}

/// The processes are used by one sequence after the other.
fn pool(number: usize) -> ProcRef {
    POOL.with_borrow_mut(|pool| {
        while pool.len() <= number {
            pool.push(make(pool.len() as u64));
        }
        pool[number]
    })
}

impl Subject for Queues {
    type Operation = Operation;
    const THRESHOLDS: &'static [u64] = &[1, 2, 32, 63, 64, 65, 128, 256, 400];

    fn new() -> Self {
        Queues {
            tested: std::array::from_fn(|queue| RunQueue::of(MAX_SCHEDULERS + queue)),
            model: std::array::from_fn(|_| Waiting::new()),
            all: Vec::new(),
            level: Vec::new(),
            home: Vec::new(),
            idle: Vec::new(),
        }
    }

    fn operation(random: &mut Random) -> Operation {
        let queue = random.below(10) as usize / 7;
        let mut levels = vec![NORMAL, NORMAL, NORMAL, LOW, 12];
        levels.extend([0, 4, 15, 16, 17, 24, 31, random.below(32) as usize]);
        let level = if random.chance(80) { levels[random.below(5) as usize] } else { random.one(&levels) };
        let home = if random.chance(10) { Some(random.below(2) as usize) } else { None };
        match random.below(100) {
            0..3 => Operation::Steal(queue, random.one(&[1, 2, 64, 64, 64, usize::MAX])),
            3 => Operation::Pull(queue, random.below(4) as usize),
            4 => Operation::TakeBound(queue),
            5 => Operation::Longest(queue),
            6..8 => Operation::WorkerCache(queue),
            8..11 => Operation::Want(queue, random.bits(), random.one(&[Priority::Max, Priority::High, Priority::Normal, Priority::Low])),
            11..16 => Operation::Bring(queue, level, home),
            // The size goes up to what the phase says.
            _ if random.grows() => Operation::Push(queue, level, home),
            _ => Operation::Pop(queue, random.key() / 16 + 1),
        }
    }

    fn step(&mut self, operation: &Operation) {
        match *operation {
            Operation::Push(queue, level, home) => {
                let (number, _) = self.next(level, home);
                self.push(queue, number);
            }
            Operation::Bring(queue, level, home) => {
                let (number, p) = self.next(level, home);
                self.tested[queue].bring(p, Level::new(level).expect("below 32"));
                self.model[queue].brought.push(Brought::Process(number, level));
            }
            Operation::Want(queue, which, priority) => {
                let number = which as usize % 1000;
                self.tested[queue].want(number as u64, priority);
                self.model[queue].brought.push(Brought::Wanted(number, Level::of(priority).number().min(NORMAL)));
            }
            Operation::WorkerCache(queue) => {
                if self.model[queue].partner.is_none() {
                    let (number, p) = self.next(NORMAL, None);
                    self.tested[queue].partner.runs();
                    let _ = self.tested[queue].partner.woke(p, true);
                    self.model[queue].partner = Some(number);
                }
            }
            Operation::Pop(queue, count) => (0..count).for_each(|_| self.pop(queue)),
            Operation::Steal(from, most) => {
                let taken = self.tested[from].steal(most, &self.tested[1 - from]);
                let mut expected = Vec::new();
                for level in 0..LEVELS {
                    if expected.len() < most {
                        self.share_of(from, level, most - expected.len(), 2, &mut expected);
                    }
                }
                if expected.is_empty() {
                    let (go, stay): (Vec<Brought>, Vec<Brought>) = std::mem::take(&mut self.model[from].brought)
                        .into_iter()
                        .partition(|brought| matches!(brought, Brought::Process(number, _) if self.home[*number] != Some(from)));
                    self.model[from].brought = stay;
                    expected.extend(go.into_iter().filter_map(|brought| match brought {
                        Brought::Process(number, _) => Some(number),
                        Brought::Wanted(..) => None,
                    }));
                }
                self.stolen(from, taken, expected);
            }
            Operation::Pull(from, class) => {
                let taken = self.tested[from].pull(class, &self.tested[1 - from]);
                let mut expected = Vec::new();
                for level in class * CLASS_LEVELS..(class + 1) * CLASS_LEVELS {
                    if expected.is_empty() {
                        self.share_of(from, level, 1, 1, &mut expected);
                    }
                }
                self.stolen(from, taken, expected);
            }
            Operation::TakeBound(queue) => {
                // SAFETY: one thread is the owner of both.
                let taken: Vec<usize> = unsafe { self.tested[queue].take_bound() }.into_iter().map(|p| self.number_of(p)).collect();
                let expected: Vec<usize> = self.model[queue].bound.iter_mut().flat_map(std::mem::take).collect();
                assert_eq!(taken, expected);
                self.tested[queue].hold(0);
                self.idle.extend(taken);
            }
            Operation::Longest(queue) => {
                let mut longest = self.tested[queue].take_longest();
                if std::mem::take(&mut self.model[queue].unsure) && longest[NORMAL / CLASS_LEVELS] == 1 {
                    longest[NORMAL / CLASS_LEVELS] = self.model[queue].longest[NORMAL / CLASS_LEVELS];
                }
                assert_eq!(longest, self.model[queue].longest);
                self.model[queue].longest = std::array::from_fn(|class| {
                    self.model[queue].free[class * CLASS_LEVELS..(class + 1) * CLASS_LEVELS].iter().map(VecDeque::len).sum()
                });
            }
        }
        for (tested, model) in self.tested.iter().zip(&self.model) {
            assert_eq!(tested.len(), model.len());
            assert_eq!(tested.is_empty(), model.len() == 0);
            assert_eq!(tested.len_for_others(), model.len() - model.own_len());
            assert_eq!(tested.partner.count(), usize::from(model.partner.is_some()));
            assert_eq!(tested.in_flight(), 0);
        }
    }

    fn check(&mut self) {
        for (tested, model) in self.tested.iter().zip(&self.model) {
            for class in 0..4 {
                let expected: usize = model.free[class * CLASS_LEVELS..(class + 1) * CLASS_LEVELS].iter().map(VecDeque::len).sum();
                assert_eq!(tested.len_of(class), expected);
            }
        }
        qsbr::quiescent();
    }

    fn end(&mut self) {
        for queue in 0..QUEUES {
            while self.model[queue].len() > 0 || self.model[queue].partner.is_some() {
                self.pop(queue);
            }
            self.pop(queue);
        }
        assert_eq!(self.idle.len(), self.all.len());
    }
}

#[test]
fn run_queues_behave_like_lists_by_level() {
    qsbr::online();
    run::<Queues>();
    qsbr::offline();
}
