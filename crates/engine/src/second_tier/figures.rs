//! What the second tier has done since the start.

use heddle_jit::{Counts, Left};
use heddle_runtime::process::{NativeResult, Process};
use heddle_term::{Atom, Term, map};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;

heddle_runtime::natives! { TABLE: "heddle_stats" => { "jit"/0 => jit } }

/// The sums by their names.
fn jit(p: &mut Process, _: &[Term]) -> NativeResult {
    let mut pairs: Vec<(Term, Term)> = COUNTS.named().map(|(name, number)| (Atom::new(name).into(), p.heap.unsigned(number))).into();
    let all = LEFT.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let left: Vec<(Term, Term)> = all.into_iter().map(|(left, count)| (name(p, left), p.heap.unsigned(count as u64))).collect();
    pairs.push((Atom::new("left").into(), map::from_pairs(&mut p.heap, &left)));
    Ok(map::from_pairs(&mut p.heap, &pairs))
}

/// The instruction, or the module, name and arity of the native.
fn name(p: &mut Process, left: Left) -> Term {
    match left {
        Left::Operation(op) => Atom::new(op.name()).into(),
        Left::Native(mfa) => p.heap.tuple(&[mfa.module.into(), mfa.function.into(), Term::small(mfa.arity.into())]),
    }
}

/// Places of compiled functions that are left to the first tier, by what they do.
static LEFT: LazyLock<Mutex<HashMap<Left, usize>>> = LazyLock::new(Mutex::default);

/// Sums over all modules. Relaxed: figures.
#[derive(Default)]
pub struct Sums {
    pub functions: AtomicU64,
    /// Functions that are left to the first tier.
    pub unfit: AtomicU64,
    pub segments: AtomicU64,
    pub with_frame: AtomicU64,
    /// Functions whose machine code was made before (`heddle precompile`).
    pub stored: AtomicU64,
    /// Functions whose machine code left as they were cold.
    pub thrown_away: AtomicU64,
    /// Searches for cold functions.
    pub sweeps: AtomicU64,
    /// Nanoseconds of CPU time that compiling took.
    pub compile_ns: AtomicU64,
}

/// CPU time of the calling thread.
pub fn thread_time() -> Duration {
    time_of(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// CPU time of all threads of the VM.
pub fn process_time() -> Duration {
    time_of(libc::CLOCK_PROCESS_CPUTIME_ID)
}

fn time_of(clock: libc::clockid_t) -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: both clocks are always there, and `time` is writable.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

pub static COUNTS: Sums = Sums {
    functions: AtomicU64::new(0),
    unfit: AtomicU64::new(0),
    segments: AtomicU64::new(0),
    with_frame: AtomicU64::new(0),
    stored: AtomicU64::new(0),
    thrown_away: AtomicU64::new(0),
    sweeps: AtomicU64::new(0),
    compile_ns: AtomicU64::new(0),
};

impl Sums {
    pub fn add(&self, counts: &Counts, time: Duration) {
        let add = |sum: &AtomicU64, more: u64| sum.fetch_add(more, Ordering::Relaxed);
        add(&self.functions, counts.functions as u64);
        add(&self.unfit, counts.unfit as u64);
        add(&self.segments, counts.segments as u64);
        add(&self.with_frame, counts.with_frame as u64);
        add(&self.compile_ns, time.as_nanos() as u64);
        let mut left = LEFT.lock().unwrap_or_else(PoisonError::into_inner);
        for (&what, &places) in &counts.left {
            *left.entry(what).or_default() += places;
        }
    }

    /// The sums by their names, and the bytes of machine code that there are now.
    pub fn named(&self) -> [(&'static str, u64); 9] {
        let of = |sum: &AtomicU64| sum.load(Ordering::Relaxed);
        [
            ("functions", of(&self.functions)),
            ("unfit", of(&self.unfit)),
            ("segments", of(&self.segments)),
            ("with_frame", of(&self.with_frame)),
            ("stored", of(&self.stored)),
            ("thrown_away", of(&self.thrown_away)),
            ("sweeps", of(&self.sweeps)),
            ("compile_ns", of(&self.compile_ns)),
            ("code_bytes", heddle_jit::used_bytes() as u64),
        ]
    }
}
