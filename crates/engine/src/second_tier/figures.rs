//! What the second tier has done since the start.

use heddle_jit::Counts;
use heddle_runtime::process::{NativeResult, Process};
use heddle_term::{Atom, Term, map};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

heddle_runtime::natives! { TABLE: "heddle_stats" => { "jit"/0 => jit } }

/// The sums by their names.
fn jit(p: &mut Process, _: &[Term]) -> NativeResult {
    let pairs: Vec<(Term, Term)> = COUNTS.named().map(|(name, number)| (Atom::new(name).into(), p.heap.unsigned(number))).into();
    Ok(map::from_pairs(&mut p.heap, &pairs))
}

/// Sums over all modules. Relaxed: figures.
#[derive(Default)]
pub struct Sums {
    pub functions: AtomicU64,
    /// Functions that are left to the first tier.
    pub unfit: AtomicU64,
    pub segments: AtomicU64,
    pub with_frame: AtomicU64,
    /// Nanoseconds of CPU time that compiling took.
    pub compile_ns: AtomicU64,
}

/// CPU time of the calling thread.
pub fn thread_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the clock of the calling thread is always there, and `time` is writable.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

pub static COUNTS: Sums = Sums {
    functions: AtomicU64::new(0),
    unfit: AtomicU64::new(0),
    segments: AtomicU64::new(0),
    with_frame: AtomicU64::new(0),
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
    }

    /// The sums by their names, and the bytes of machine code that there are now.
    pub fn named(&self) -> [(&'static str, u64); 6] {
        let of = |sum: &AtomicU64| sum.load(Ordering::Relaxed);
        [
            ("functions", of(&self.functions)),
            ("unfit", of(&self.unfit)),
            ("segments", of(&self.segments)),
            ("with_frame", of(&self.with_frame)),
            ("compile_ns", of(&self.compile_ns)),
            ("code_bytes", heddle_jit::used_bytes() as u64),
        ]
    }
}
