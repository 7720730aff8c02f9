//! Work that may take long: it is counted in reductions, and a native with a large portion of it moves to a dirty scheduler.

use heddle_runtime::process::{Process, Thrown};
use heddle_runtime::sched;
use heddle_term::Term;
use heddle_term::copy::{Keep, flat_size_to};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Bytes (or steps that take about as long as a byte) that a normal scheduler works on at one go: less than a millisecond.
const HERE_BYTES: usize = 256 * 1024;
/// Bytes per reduction (guessed: copying and checking run at some bytes a nanosecond).
const BYTES_PER_REDUCTION: usize = 256;

/// How much of one kind of work a normal scheduler does at one go. Tests lower it, so that small portions move too.
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
    /// Sets a new limit, or (None) the usual one. Returns the limit before.
    pub fn set(&self, limit: Option<usize>) -> usize {
        // Relaxed: a thread that sees a new limit late does no harm.
        self.0.swap(limit.unwrap_or(HERE_BYTES), Relaxed)
    }
    /// `usual`, or less while the limit is lowered.
    #[inline]
    pub fn at_most(&self, usual: usize) -> usize {
        usual.min(self.0.load(Relaxed))
    }

    /// How much of `total` the calling thread does at one go: all of it on a dirty thread.
    #[inline]
    pub fn here(&self, total: usize) -> usize {
        if sched::on_dirty_thread() { total } else { self.at_most(total) }
    }

    /// As the function `work`, with this limit.
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

/// Counts finished work on this many bytes.
#[inline]
pub fn done(p: &mut Process, bytes: usize) {
    p.bump(bytes / BYTES_PER_REDUCTION);
}

/// Called before `bytes` steps of work, when nothing has been done yet: counts them, or moves the native to a dirty scheduler.
#[inline]
pub fn work(p: &mut Process, bytes: usize) -> Result<(), Thrown> {
    if bytes > HERE_BYTES && !sched::on_dirty_thread() {
        return Err(Thrown::DirtyCpu);
    }
    p.bump(bytes / BYTES_PER_REDUCTION);
    Ok(())
}

/// The same for work on every word of a term. The words of a term that is too large for a normal scheduler are not all counted here.
pub fn work_on(p: &mut Process, term: Term) -> Result<(), Thrown> {
    let words = flat_size_to(term, Keep::NOTHING, HERE_BYTES / 8);
    if words > HERE_BYTES / 8 && !sched::on_dirty_thread() {
        return Err(Thrown::DirtyCpu);
    }
    done(p, words * 8);
    Ok(())
}
