//! Test modes that make rare bugs common, chosen at start-up by `HEDDLE_ZEAL` (read by `cli`).

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

static GC: AtomicBool = AtomicBool::new(false);
static YIELD: AtomicBool = AtomicBool::new(false);
static VERIFY: AtomicBool = AtomicBool::new(false);
/// Collections so far, counted while `verify` is on.
static COLLECTIONS: AtomicU64 = AtomicU64::new(0);

/// One of this many collections is verified.
const VERIFY_EVERY: u64 = 64;

/// Sets modes, which are separated by commas. `gc`: collect at every point that may collect, poison from-space, verify heaps.
/// `yield`: one reduction a slice. `verify`: verify a heap after one of 64 collections, and nothing else: for long runs.
pub fn set(modes: &str) -> Result<(), String> {
    for mode in modes.split(',').filter(|m| !m.is_empty()) {
        match mode {
            "gc" => {
                GC.store(true, Ordering::Relaxed);
                heddle_term::area::POISONS.store(true, Ordering::Relaxed);
            }
            "yield" => YIELD.store(true, Ordering::Relaxed),
            "verify" => VERIFY.store(true, Ordering::Relaxed),
            other => return Err(format!("HEDDLE_ZEAL: unknown mode '{other}' (use gc, yield, verify, or several with commas)")),
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
pub(crate) fn yields() -> bool {
    // Relaxed: as above.
    YIELD.load(Ordering::Relaxed)
}

/// After a collection: true if the heap must be verified although the mode is not `gc`.
#[inline(always)]
pub(crate) fn verifies() -> bool {
    // Relaxed: as above, and the count need not be exact.
    VERIFY.load(Ordering::Relaxed) && is_next(&COLLECTIONS)
}

fn is_next(collections: &AtomicU64) -> bool {
    collections.fetch_add(1, Ordering::Relaxed).is_multiple_of(VERIFY_EVERY)
}

#[inline(always)]
pub fn slice() -> i64 {
    if yields() { 1 } else { 4000 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_64_collections_is_verified_if_asked_for() {
        assert!(!verifies());
        set("verify").unwrap();
        // Collections of other tests count with the static counter, this test with its own.
        let mine = AtomicU64::new(0);
        assert_eq!((0..640).filter(|_| is_next(&mine)).count(), 10);
        assert!((0..64_000).any(|_| verifies()));
        VERIFY.store(false, Ordering::Relaxed);
        assert!(set("verify,gcc").unwrap_err().contains("unknown mode 'gcc'"));
    }
}
