//! The code cells of the engine that tracing needs, and how a trace frame is recognised by them.

use heddle_term::Term;
use heddle_term::term::TAG_CONTINUATION;
use std::ops::Range;
use std::sync::OnceLock;

/// Terms of a trace frame, without its continuation.
pub const WORDS: usize = 5;

/// Code cells of the engine.
pub struct Cells {
    /// Operation for a function's first cell.
    pub breakpoint: u64,
    /// Operation of an export's trampoline.
    pub trampoline: u64,
    /// Return addresses of functions whose returns are reported: returns only, or exceptions as well.
    pub returned: *const u64,
    pub returned_or_raised: *const u64,
    /// `return_to`.
    pub return_to: *const u64,
    /// Return addresses of metered functions.
    pub time: *const u64,
    pub memory: *const u64,
    /// The target of a return address that the collector marked: see `stack`.
    pub mark: *const u64,
    /// All addresses from `returned` on lie in this range.
    pub row: Range<*const u64>,
}
// SAFETY: addresses of immortal cells.
unsafe impl Send for Cells {}
// SAFETY: as above.
unsafe impl Sync for Cells {}

pub static CELLS: OnceLock<Cells> = OnceLock::new();

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum FrameKind {
    Returned,
    ReturnedOrRaised,
    ReturnTo,
    Time,
    Memory,
}

/// The kind of trace frame that a word of the stack begins.
#[inline(always)]
pub fn kind(word: Term) -> Option<FrameKind> {
    let cells = CELLS.get()?;
    let target = word.raw().wrapping_sub(TAG_CONTINUATION) as *const u64;
    if cells.row.contains(&target) { kind_of(cells, target) } else { None }
}

#[cold]
#[inline(never)]
fn kind_of(cells: &Cells, target: *const u64) -> Option<FrameKind> {
    if target == cells.returned {
        Some(FrameKind::Returned)
    } else if target == cells.returned_or_raised {
        Some(FrameKind::ReturnedOrRaised)
    } else if target == cells.return_to {
        Some(FrameKind::ReturnTo)
    } else if target == cells.time {
        Some(FrameKind::Time)
    } else if target == cells.memory {
        Some(FrameKind::Memory)
    } else {
        None
    }
}
