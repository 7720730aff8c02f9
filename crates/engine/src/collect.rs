//! The engine's doors to the collector: the only callers of `gc::collect`.

use crate::ctx::Ctx;
use heddle_runtime::gc::{self, Kind};
use heddle_term::Term;

/// Makes room for `need` words. The tops were saved; load them again afterwards.
///
/// # Safety
/// `x[0..live]` are initialised terms; tops are saved in the process.
#[cold]
#[inline(never)]
pub unsafe fn make_room(c: *mut Ctx, need: usize, live: usize) {
    // SAFETY: by contract.
    unsafe {
        let p = &mut *(*c).p;
        let cost = gc::collect(p, &mut (&mut (*c).x)[..live], need, Kind::Automatic);
        p.bump(cost);
    }
}

/// After a native: collects when it overflowed into fragments, when it attached much off-heap data, or in zeal mode.
///
/// # Safety
/// As `make_room`.
#[inline(always)]
pub unsafe fn after_native(c: *mut Ctx, live: usize) {
    // SAFETY: by contract.
    unsafe {
        let p = &mut *(*c).p;
        if !p.heap.fragments.is_null() || p.heap.off_heap.virtual_words > p.vheap_limit_words || heddle_runtime::zeal::gc() {
            make_room(c, 0, live);
        }
    }
}

/// A collection that keeps one further term alive: returns it moved.
///
/// # Safety
/// As `make_room`, with live < 1023.
#[cold]
#[inline(never)]
pub unsafe fn make_room_keeping(c: *mut Ctx, need: usize, live: usize, keep: Term) -> Term {
    // SAFETY: by contract; the register above the live ones is dead.
    unsafe {
        (*c).x[live] = keep;
        make_room(c, need, live + 1);
        (*c).x[live]
    }
}
