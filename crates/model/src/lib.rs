//! Tests of a structure against a plain model of it, by random sequences of operations.
//!
//! A test implements [`Subject`]: both the structure and its model, an operation as data, and a step that applies one operation to
//! both and compares. [`run`] generates sequences whose sizes go up and down over every threshold that the subject lists, runs
//! `HEDDLE_MODEL_OPERATIONS` operations (100,000 unless set), and on a failure removes operations as long as it still fails.
//! Everything depends on the seed (`HEDDLE_MODEL_SEED`) alone. `HEDDLE_MODEL_SECONDS` bounds the time of one subject.

mod picker;

pub use picker::Picker;

use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Operations of one sequence: each sequence begins with a new subject.
const SEQUENCE: usize = if cfg!(miri) { 100 } else { 3000 };
/// An operation that takes longer is said to hang, and ends the test program: a hang cannot be shrunk.
const HANG: Duration = Duration::from_secs(if cfg!(miri) { 3600 } else { 60 });
/// Runs of a failing sequence that are spent on making it smaller.
const SHRINK_RUNS: usize = 3000;
/// Operations between two checks of all that the subject holds. One sequence of `CAREFUL` has a check after each.
const CHECK_EVERY: usize = 64;
const CAREFUL: u64 = 32;

/// Random numbers (xorshift64*), and the phase in which a sequence is.
pub struct Random {
    state: u64,
    phase: Phase,
}

/// While a phase lasts, keys come from a range, and insertions are more or less frequent than removals.
#[derive(Clone, Copy, Debug)]
pub struct Phase {
    /// Number of different keys.
    pub range: u64,
    /// Percentage of operations that add.
    pub grow: u64,
    left: u32,
}

impl Random {
    pub fn new(seed: u64) -> Random {
        Random { state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1, phase: Phase { range: 8, grow: 50, left: 0 } }
    }

    /// 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        self.state.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below `limit`, which is not 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        ((self.bits() as u128 * limit as u128) >> 64) as u64
    }

    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    pub fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }

    /// A key of this phase.
    pub fn key(&mut self) -> u64 {
        let range = self.phase.range;
        self.below(range)
    }

    /// True if the next operation should add something.
    pub fn grows(&mut self) -> bool {
        let grow = self.phase.grow;
        self.chance(grow)
    }

    /// Another range now and then: around one of `thresholds`, below it, or a few times as large.
    fn turn(&mut self, thresholds: &[u64]) {
        if self.phase.left > 0 {
            self.phase.left -= 1;
            return;
        }
        let threshold = self.one(thresholds).max(1);
        let range = match self.below(5) {
            0 => threshold / 2 + 1,
            1 => threshold + self.below(3),
            2 => threshold * 2 + 1,
            3 => 3,
            _ => threshold + threshold / 4 + 2,
        };
        let grow = self.one(&[5, 25, 50, 75, 95]);
        let left = 20 + self.below(3 * range.min(400)) as u32;
        self.phase = Phase { range, grow, left };
    }
}

/// A structure and its model.
pub trait Subject {
    type Operation: Clone + Debug;

    /// Sizes at which the structure changes its form. Not empty.
    const THRESHOLDS: &'static [u64];

    /// Both empty.
    fn new() -> Self;

    fn operation(random: &mut Random) -> Self::Operation;

    /// Applies an operation to both; panics where their answers differ.
    fn step(&mut self, operation: &Self::Operation);

    /// Compares all that both hold, and what must be true of the structure itself (its own `check`, where it has one). Called now and then,
    /// after each operation of some sequences, and at the end.
    fn check(&mut self) {}

    /// Frees what `Drop` does not.
    fn end(&mut self) {}
}

/// Runs the subject; panics with the smallest failing sequence that was found.
pub fn run<S: Subject>() {
    let operations = setting("HEDDLE_MODEL_OPERATIONS", 100_000);
    let seed = setting("HEDDLE_MODEL_SEED", 1);
    let end = std::env::var("HEDDLE_MODEL_SECONDS").ok().map(|s| Instant::now() + Duration::from_secs(s.parse().expect("seconds")));
    let mut done = 0;
    let now = Arc::new(AtomicU64::new(seed));
    let watch = Watch::start(std::any::type_name::<S>(), now.clone());
    for round in seed.. {
        now.store(round, Ordering::Relaxed);
        if done >= operations || end.is_some_and(|end| Instant::now() > end) {
            break;
        }
        let mut random = Random::new(round);
        let sequence: Vec<S::Operation> = (0..SEQUENCE)
            .map(|_| {
                random.turn(S::THRESHOLDS);
                S::operation(&mut random)
            })
            .collect();
        let every = if round % CAREFUL == 1 { 1 } else { CHECK_EVERY };
        if attempt::<S>(&sequence, every).is_err() {
            drop(watch);
            fail::<S>(round, sequence);
        }
        done += SEQUENCE as u64;
    }
    if operations > 1_000_000 {
        println!("{}: {done} operations", std::any::type_name::<S>());
    }
}

fn setting(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |text| text.parse().unwrap_or_else(|_| panic!("{name}={text} is no number")))
}

/// Ends the test program if one sequence takes too long; until it is dropped.
struct Watch(Arc<AtomicBool>);

impl Watch {
    /// `round` is the seed of the sequence that runs.
    fn start(name: &'static str, round: Arc<AtomicU64>) -> Watch {
        let ended = Arc::new(AtomicBool::new(false));
        let stop = ended.clone();
        std::thread::spawn(move || {
            let (mut seen, mut since) = (u64::MAX, Instant::now());
            while !stop.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(100));
                let now = round.load(Ordering::Relaxed);
                if now != seen {
                    (seen, since) = (now, Instant::now());
                } else if since.elapsed() > HANG {
                    eprintln!("{name} hangs in the sequence of HEDDLE_MODEL_SEED={seen}");
                    std::process::abort();
                }
            }
        });
        Watch(ended)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// How many operations a failing sequence ran.
fn attempt<S: Subject>(sequence: &[S::Operation], every: usize) -> Result<(), usize> {
    let mut at = 0;
    let result = catch_unwind(AssertUnwindSafe(|| {
        let mut subject = S::new();
        for operation in sequence {
            subject.step(operation);
            at += 1;
            if at % every == 0 {
                subject.check();
            }
        }
        subject.check();
        subject.end();
    }));
    result.map_err(|_| (at + 1).min(sequence.len()))
}

fn fail<S: Subject>(seed: u64, mut sequence: Vec<S::Operation>) -> ! {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    // A check that is called earlier finds it earlier, mostly.
    let every = if attempt::<S>(&sequence, 1).is_err() { 1 } else { CHECK_EVERY };
    let attempt = |sequence: &[S::Operation]| attempt::<S>(sequence, every);
    let (mut runs, mut part) = (0, 2);
    while runs < SHRINK_RUNS {
        if let Err(ran) = attempt(&sequence) {
            sequence.truncate(ran.max(1));
        }
        let size = (sequence.len() / part).max(1);
        let smaller = (0..sequence.len()).step_by(size).find_map(|at| {
            runs += 1;
            let mut less = sequence.clone();
            less.drain(at..(at + size).min(sequence.len()));
            attempt(&less).is_err().then_some(less)
        });
        match smaller {
            Some(less) => {
                sequence = less;
                part = (part - 1).max(2);
            }
            None if size == 1 => break,
            None => part *= 2,
        }
    }
    std::panic::set_hook(hook);
    println!("seed {seed}: these {} operations fail:", sequence.len());
    sequence.iter().for_each(|operation| println!("    {operation:?}"));
    let _ = attempt(&sequence);
    panic!("{} differs from its model (seed {seed}, {} operations)", std::any::type_name::<S>(), sequence.len());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stack that loses its fifth element.
    struct Broken(Vec<u64>, Vec<u64>);

    impl Subject for Broken {
        type Operation = Option<u64>;
        const THRESHOLDS: &'static [u64] = &[5];
        fn new() -> Self {
            Broken(Vec::new(), Vec::new())
        }
        fn operation(random: &mut Random) -> Option<u64> {
            random.grows().then(|| random.key())
        }
        fn step(&mut self, operation: &Option<u64>) {
            match operation {
                Some(n) => {
                    self.1.push(*n);
                    if self.0.len() != 4 {
                        self.0.push(*n);
                    }
                }
                None => assert_eq!(self.0.pop(), self.1.pop()),
            }
        }
        fn check(&mut self) {
            assert_eq!(self.0.len(), self.1.len());
        }
    }

    #[test]
    fn a_fault_is_found_and_shrunk_to_its_shortest_sequence() {
        let failed = catch_unwind(run::<Broken>).expect_err("the fault must be found");
        let text = failed.downcast_ref::<String>().expect("a message");
        assert!(text.ends_with("5 operations)"), "{text}");
    }
}
