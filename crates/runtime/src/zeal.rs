//! Test modes that make rare bugs common, chosen at start-up by `HEDDLE_ZEAL` (read by `cli`).

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

static GC: AtomicBool = AtomicBool::new(false);
static YIELD: AtomicBool = AtomicBool::new(false);

/// `gc`: collect at every point that may collect, poison from-space. `yield`: one reduction a slice. Comma separated.
pub fn set(modes: &str) -> Result<(), String> {
    for mode in modes.split(',').filter(|m| !m.is_empty()) {
        match mode {
            "gc" => GC.store(true, Ordering::Relaxed),
            "yield" => YIELD.store(true, Ordering::Relaxed),
            other => return Err(format!("HEDDLE_ZEAL: unknown mode '{other}' (use gc, yield, or gc,yield)")),
        }
    }
    Ok(())
}

#[inline(always)]
pub fn gc() -> bool {
    // Relaxed: set before any process runs.
    GC.load(Ordering::Relaxed)
}

/// Whether mode `gc` collects here. At every opportunity, but for deep stacks: a collection looks at all of a stack, and a
/// recursion without tail calls would take the square of its depth, so above `SHALLOW` words only so often that a collection
/// looks at `SHALLOW` words for each opportunity.
#[inline(always)]
pub fn collects(stack_words: usize) -> bool {
    gc() && (stack_words <= SHALLOW || is_turn(stack_words))
}

/// Guessed: some hundred frames.
const SHALLOW: usize = 4096;

#[cold]
fn is_turn(stack_words: usize) -> bool {
    thread_local! {
        static SAVED: Cell<usize> = const { Cell::new(0) };
    }
    SAVED.with(|saved| {
        let now = saved.get() + SHALLOW;
        let is_turn = now >= stack_words;
        saved.set(if is_turn { 0 } else { now });
        is_turn
    })
}

#[inline(always)]
pub fn yields() -> bool {
    // Relaxed: as above.
    YIELD.load(Ordering::Relaxed)
}

#[inline(always)]
pub fn slice() -> i64 {
    if yields() { 1 } else { 4000 }
}
