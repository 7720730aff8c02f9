//! Work that may take long: it is counted in reductions, and big portions go to a dirty scheduler.

use heddle_runtime::process::{Process, Thrown};
use heddle_runtime::sched;
use heddle_term::Term;
use heddle_term::copy::{Keep, flat_size_to};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Bytes (or steps about as long as a byte) that a normal scheduler does at one go: below a millisecond.
const HERE_BYTES: usize = 256 * 1024;
/// Bytes a reduction (guessed: copying and checking run at some bytes a nanosecond).
const BYTES_PER_REDUCTION: usize = 256;

/// How much of one kind of work a normal scheduler does at one go. Tests lower it, to have small portions go elsewhere as well.
pub struct Limit(AtomicUsize);

/// Copying, comparing and searching binaries.
pub static BINARIES: Limit = Limit::new();
/// Conversions of characters.
pub static CHARACTERS: Limit = Limit::new();
/// Regular expressions.
pub static MATCHING: Limit = Limit::new();

impl Limit {
    const fn new() -> Limit {
        Limit(AtomicUsize::new(HERE_BYTES))
    }
    /// A new limit, or (None) the usual one again; what it was before.
    pub fn set(&self, limit: Option<usize>) -> usize {
        // Relaxed: a limit that comes late does no harm.
        self.0.swap(limit.unwrap_or(HERE_BYTES), Relaxed)
    }
    /// `usual`, or less while the limit is lowered.
    #[inline]
    pub fn at_most(&self, usual: usize) -> usize {
        usual.min(self.0.load(Relaxed))
    }

    /// How much of `total` the calling thread does at one go: all of it where work may be long.
    #[inline]
    pub fn here(&self, total: usize) -> usize {
        if sched::on_dirty_thread() { total } else { self.at_most(total) }
    }

    /// As `work`.
    #[inline]
    pub fn work(&self, p: &mut Process, bytes: usize) -> Result<(), Thrown> {
        if bytes > self.0.load(Relaxed) && !sched::on_dirty_thread() {
            return Err(Thrown::DirtyCpu);
        }
        p.bump(bytes / BYTES_PER_REDUCTION);
        Ok(())
    }
}

/// `system_limit` if the computer has no room for `bytes` more bytes. A native calls it before it makes something large.
#[inline]
pub fn room(p: &mut Process, bytes: usize) -> Result<(), Thrown> {
    if heddle_memory::fits(bytes) { Ok(()) } else { Err(p.system_limit()) }
}

/// Counts finished work on that number of bytes.
#[inline]
pub fn done(p: &mut Process, bytes: usize) {
    p.bump(bytes / BYTES_PER_REDUCTION);
}

/// To be called before `bytes` steps of work, when nothing was done yet: counts them, or moves the native elsewhere.
#[inline]
pub fn work(p: &mut Process, bytes: usize) -> Result<(), Thrown> {
    if bytes > HERE_BYTES && !sched::on_dirty_thread() {
        return Err(Thrown::DirtyCpu);
    }
    p.bump(bytes / BYTES_PER_REDUCTION);
    Ok(())
}

/// The same for work on every word of a term. Terms that are too large for here are not counted to their end here.
pub fn work_on(p: &mut Process, term: Term) -> Result<(), Thrown> {
    work(p, flat_size_to(term, Keep::NOTHING, HERE_BYTES / 8) * 8)
}
