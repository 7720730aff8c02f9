//! Test modes that make rare bugs common, chosen at start-up by `HEDDLE_ZEAL` (read by `cli`).

use std::sync::atomic::{AtomicBool, Ordering};

static GC: AtomicBool = AtomicBool::new(false);
static YIELD: AtomicBool = AtomicBool::new(false);

/// `gc`: collect at every point that may collect, poison from-space. `yield`: one reduction a slice. Comma separated.
pub fn set(modes: &str) -> Result<(), String> {
    for mode in modes.split(',').filter(|m| !m.is_empty()) {
        match mode {
            "gc" => {
                GC.store(true, Ordering::Relaxed);
                heddle_term::area::POISONS.store(true, Ordering::Relaxed);
            }
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

#[inline(always)]
pub fn yields() -> bool {
    // Relaxed: as above.
    YIELD.load(Ordering::Relaxed)
}

#[inline(always)]
pub fn slice() -> i64 {
    if yields() { 1 } else { 4000 }
}
