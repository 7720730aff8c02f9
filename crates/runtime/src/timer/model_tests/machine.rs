//! Receive timers and timers that send, of two schedulers and a thread without a wheel, against lists of deadlines. One thread is all three in
//! turn, and moves the clock. Thresholds: a chunk of 512 nodes, the levels of the wheel (256 slots each), the next look at the clock.

use super::distance;
use crate::base::qsbr;
use crate::signal::package::Package;
use crate::timer::{Action, Handle, MINE, ReceivePhase, ReceiveTimer, Wheels, clock, receive};
use heddle_model::{Picker, Random, Subject, run};
use heddle_term::Term;
use std::cell::Cell;
use std::collections::BTreeMap;

const WHEELS: usize = 2;
/// The wheels' owners and a thread that has none.
const THREADS: usize = WHEELS + 1;

/// Where a timer that is set waits, and until when.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Waits {
    /// Set from the next look of that wheel on, for this many ms from then.
    Look(usize, u64),
    Until(usize, u64),
}

#[derive(Default)]
struct Process {
    timer: ReceiveTimer,
    waits: Option<Waits>,
    phase: ReceivePhase,
    /// Which of its timers is set.
    round: u64,
}

struct Machine {
    wheels: &'static Wheels,
    /// The state of each thread while it is not the one that runs.
    lists: [u64; THREADS],
    now: u64,
    processes: BTreeMap<u64, Process>,
    /// Signals of receive timers that fired, on their way: process, handle, which of its timers.
    signals: Vec<(u64, Handle, u64)>,
    /// By number, which is also destination and message: deadline, wheel.
    sends: BTreeMap<u64, (Handle, u64, usize)>,
    /// The numbers of those, to pick one.
    numbers: Picker<u64>,
    over: Vec<Handle>,
    next: u64,
}

#[derive(Clone, Copy, Debug)]
enum Operation {
    SetReceive(usize, u64, u64),
    CancelReceive(usize, u64),
    Deliver(u64),
    SetSend(usize, u64),
    CancelSend(usize, u64),
    GiveUp(usize),
    ReadSend(u64),
    Old(usize, u64),
    /// The clock moves so far, and that thread looks.
    Look(usize, u64),
}

thread_local! {
    // Wheels stay for good; those of a sequence that ended well serve the next, with the lists and the time.
    static IDLE: Cell<Option<(&'static Wheels, [u64; THREADS], u64)>> = const { Cell::new(None) };
}

impl Machine {
    /// The calling thread is this one from now on.
    fn on<T>(&mut self, thread: usize, f: impl FnOnce(&mut Machine) -> T) -> T {
        MINE.set(self.wheels.seats.get(thread));
        receive::exchange_list(self.lists[thread]);
        let result = f(self);
        self.lists[thread] = receive::exchange_list(receive::NO_LIST);
        MINE.set(None);
        result
    }

    fn move_clock(&mut self, ms: u64) {
        self.now += ms;
        clock::set(self.now);
    }

    fn look(&mut self, thread: usize) {
        let until = self.wheels.look(u64::MAX);
        if thread >= WHEELS {
            return;
        }
        let mut expected = Vec::new();
        for (&pid, process) in &mut self.processes {
            match process.waits {
                Some(Waits::Until(wheel, deadline)) if wheel == thread && deadline <= self.now => {
                    process.waits = None;
                    expected.push((pid, process.round));
                }
                Some(Waits::Look(wheel, ms)) if wheel == thread => process.waits = Some(Waits::Until(wheel, self.now + ms + 1)),
                _ => {}
            }
        }
        let due: Vec<u64> = self.sends.iter().filter(|(_, s)| s.2 == thread && s.1 <= self.now).map(|(&n, _)| n).collect();
        assert_eq!(until == 0, !(expected.is_empty() && due.is_empty()));
        let (mut receives, mut sends) = (Vec::new(), Vec::new());
        while let Some((handle, action)) = self.wheels.next_due() {
            match action {
                Action::Receive { pid } => receives.push((pid, handle)),
                Action::Send { dest, message } => {
                    assert_eq!(dest, message.term());
                    sends.push(dest.small_value() as u64);
                }
                Action::Run(_) => panic!("nothing of that kind was set"),
            }
        }
        receives.sort_by_key(|r| r.0);
        sends.sort();
        assert_eq!(receives.iter().map(|r| r.0).collect::<Vec<_>>(), expected.iter().map(|e| e.0).collect::<Vec<_>>());
        assert_eq!(sends, due);
        self.signals.extend(receives.iter().zip(expected).map(|(&(pid, handle), (_, round))| (pid, handle, round)));
        for number in due {
            self.over.push(self.sends.remove(&number).expect("due").0);
            self.numbers.remove(number);
        }
        // What waits next: never later than what is due first.
        let waiting = self.processes.values().filter_map(|p| p.waits).filter_map(|w| match w {
            Waits::Until(wheel, at) if wheel == thread => Some(at),
            _ => None,
        });
        let first = waiting.chain(self.sends.values().filter(|s| s.2 == thread).map(|s| s.1)).min();
        let next = self.wheels.until_next(u64::MAX);
        assert!(first.is_none_or(|first| next <= first - self.now), "the next look is in {next} ms");
    }

    fn cancel_send(&mut self, which: u64) {
        let Some(number) = self.numbers.pick(which) else { return };
        self.numbers.remove(number);
        let (handle, deadline, _) = self.sends.remove(&number).expect("just seen");
        let left = deadline.saturating_sub(self.now + 1);
        assert_eq!(self.wheels.cancel_send(handle), Some((left, Term::small(number as i64))));
        assert_eq!(self.wheels.cancel_send(handle), None);
        self.over.push(handle);
    }
}

impl Subject for Machine {
    type Operation = Operation;
    const THRESHOLDS: &'static [u64] = &[2, 16, 256, 511, 512, 513, 1024];

    fn new() -> Self {
        let (wheels, lists, now) = IDLE.take().unwrap_or_else(|| {
            let wheels: &'static Wheels = Box::leak(Box::new(Wheels::new(WHEELS, |_| ())));
            let lists = std::array::from_fn(|thread| {
                if thread < WHEELS {
                    wheels.own(thread);
                    MINE.set(None);
                }
                receive::exchange_list(receive::NO_LIST)
            });
            (wheels, lists, 1000)
        });
        clock::set(now);
        let mut machine = Machine {
            wheels,
            lists,
            now,
            processes: BTreeMap::new(),
            signals: Vec::new(),
            sends: BTreeMap::new(),
            numbers: Picker::new(),
            over: Vec::new(),
            next: 1,
        };
        (0..WHEELS).for_each(|thread| machine.on(thread, |machine| machine.look(thread)));
        machine
    }

    fn operation(random: &mut Random) -> Operation {
        let thread = random.below(THREADS as u64) as usize;
        // Mostly the process stays where it is.
        let home = |pid: u64, random: &mut Random| if random.chance(80) { pid as usize % WHEELS } else { thread };
        match random.below(24) {
            0..3 => Operation::Look(thread, if random.chance(10) { distance(random) } else { random.below(40) }),
            3..5 => Operation::Deliver(random.bits()),
            5 => Operation::ReadSend(random.bits()),
            6 => Operation::Old(thread, random.bits()),
            7 => Operation::GiveUp(thread),
            8..15 => {
                let pid = random.key();
                let home = home(pid, random);
                if random.grows() {
                    Operation::SetReceive(home, pid, distance(random) % (1 << 32))
                } else {
                    Operation::CancelReceive(home, pid)
                }
            }
            _ if random.grows() => Operation::SetSend(thread, distance(random)),
            _ => Operation::CancelSend(thread, random.bits()),
        }
    }

    fn step(&mut self, operation: &Operation) {
        let wheels = self.wheels;
        match *operation {
            Operation::SetReceive(thread, pid, ms) => self.on(thread, |machine| {
                let process = machine.processes.entry(pid).or_default();
                if process.phase != ReceivePhase::None {
                    process.timer.cancel(|| wheels);
                }
                process.timer.set(|| wheels, pid, ms);
                process.phase = ReceivePhase::Runs;
                process.round += 1;
                process.waits = Some(match thread < WHEELS {
                    true => Waits::Look(thread, ms),
                    false => Waits::Until(0, machine.now + ms + 1),
                });
            }),
            Operation::CancelReceive(thread, pid) => self.on(thread, |machine| {
                if let Some(process) = machine.processes.get_mut(&pid) {
                    process.timer.cancel(|| wheels);
                    (process.waits, process.phase) = (None, ReceivePhase::None);
                }
            }),
            Operation::Deliver(which) if !self.signals.is_empty() => {
                let (pid, handle, round) = self.signals.swap_remove(which as usize % self.signals.len());
                let process = self.processes.get_mut(&pid).expect("it set a timer");
                process.timer.fired(handle);
                if process.phase == ReceivePhase::Runs && process.round == round {
                    process.phase = ReceivePhase::Fired;
                }
                assert_eq!(process.timer.phase, process.phase);
            }
            Operation::Deliver(_) => {}
            Operation::SetSend(thread, after) => self.on(thread, |machine| {
                let (number, deadline) = (machine.next, machine.now + after);
                machine.next += 1;
                let timer = wheels.reserve();
                let handle = timer.handle();
                assert_eq!(Handle::of(handle.reference()), Some(handle));
                let term = Term::small(number as i64);
                wheels.set(timer, deadline, Action::Send { dest: term, message: Package::immediate(term) });
                machine.sends.insert(number, (handle, deadline, if thread < WHEELS { thread } else { 0 }));
                machine.numbers.insert(number);
            }),
            Operation::CancelSend(thread, which) => self.on(thread, |machine| machine.cancel_send(which)),
            Operation::GiveUp(thread) => self.on(thread, |machine| {
                let timer = wheels.reserve();
                machine.over.push(timer.handle());
                timer.give_up();
            }),
            Operation::ReadSend(which) => {
                let Some(number) = self.numbers.pick(which) else { return };
                let (handle, deadline, _) = self.sends[&number];
                let left = deadline.saturating_sub(self.now + 1);
                assert_eq!(wheels.read_send(handle), Some((left, Term::small(number as i64))));
            }
            Operation::Old(thread, which) if !self.over.is_empty() => self.on(thread, |machine| {
                let handle = machine.over[which as usize % machine.over.len()];
                assert_eq!(wheels.read_send(handle), None);
                assert_eq!(wheels.cancel_send(handle), None);
            }),
            Operation::Old(..) => {}
            Operation::Look(thread, ms) => {
                self.move_clock(ms);
                self.on(thread, |machine| machine.look(thread));
            }
        }
        if let Operation::SetReceive(_, pid, _) | Operation::CancelReceive(_, pid) = *operation {
            self.processes.get(&pid).inspect(|process| assert_eq!(process.timer.phase, process.phase));
        }
    }

    fn check(&mut self) {
        self.processes.values().for_each(|process| assert_eq!(process.timer.phase, process.phase));
        let mut met = Vec::new();
        // Those from outside are of all tests: as long as it is not one of ours, it is another's.
        self.wheels.for_each_send(|handle, dest| {
            let number = dest.as_small().unwrap_or(-1) as u64;
            let is_ours = self.sends.get(&number).is_some_and(|sent| sent.0 == handle);
            assert!(is_ours || handle.is_outside(), "{handle:?} is over");
            if is_ours {
                met.push(number);
            }
        });
        met.sort();
        assert_eq!(met, self.sends.keys().copied().collect::<Vec<_>>());
        for (thread, seat) in self.wheels.seats.iter().enumerate() {
            self.on(thread, |_| {
                seat.wheel().check();
                seat.wheel().slab.check(&seat.directory);
            });
        }
    }

    fn end(&mut self) {
        while !self.sends.is_empty() {
            self.on(WHEELS, |machine| machine.cancel_send(0));
        }
        let pids: Vec<u64> = self.processes.keys().copied().collect();
        for pid in pids {
            self.step(&Operation::CancelReceive(pid as usize % THREADS, pid));
        }
        for thread in (0..WHEELS).rev() {
            self.on(thread, |machine| machine.look(thread));
            let seat = &self.wheels.seats[thread];
            self.on(thread, |_| {
                assert!(seat.wheel().is_empty());
                assert_eq!(seat.wheel().slab.check(&seat.directory), 0);
            });
        }
        // Chunks that were freed can go.
        qsbr::quiescent();
        IDLE.set(Some((self.wheels, self.lists, self.now)));
    }
}

#[test]
fn timers_of_several_threads_behave_like_lists_of_deadlines() {
    qsbr::online();
    run::<Machine>();
    qsbr::offline();
}
