//! The engine's safepoints: where it calls the collector. In addition only `long_gc`, and processes that a signal asks to collect, call
//! `gc::collect`, with a process that is saved as a whole.

use crate::ctx::{Ctx, leave_at};
use heddle_runtime::CollectionKind;
use heddle_runtime::gc;
use heddle_runtime::process::{FLAG_FLOATS, FLAG_OVER_LIMIT, Process};
use heddle_runtime::{held_regions, long_gc, zeal};
use heddle_term::Term;

/// Makes room for `need` words. The tops were saved; they must be loaded again afterwards.
///
/// # Safety
/// `x[0..live]` are initialised terms; tops are saved in the process.
#[cold]
#[inline(never)]
pub unsafe fn make_room(c: *mut Ctx, need: usize, live: usize) {
    // SAFETY: a process runs; `x[0..live]` are initialised terms, and the tops are saved.
    unsafe {
        let p = &mut *(*c).p;
        let cost = gc::collect(p, &mut (&mut (*c).x)[..live], need, CollectionKind::Automatic);
        p.bump(cost);
        if p.flags & FLAG_OVER_LIMIT != 0 {
            p.bump(zeal::slice() as usize);
        }
    }
}

/// Returns the reductions that are left: 0 for a process above its `max_heap_size`, so that it ends soon, at the beginning of its next
/// slice.
pub fn left_over_limit(p: &Process, r: i64) -> i64 {
    if p.flags & FLAG_OVER_LIMIT != 0 { 0 } else { r }
}

/// Before `make_room` at an operation that can run again: leaves a collection that may take long to a dirty thread. If true, the
/// slice is over (OUT_YIELD) and the operation runs again afterwards.
///
/// # Safety
/// As `make_room`. The operation at `ip` has done nothing yet, and needs no more than the live registers and the floats.
pub unsafe fn put_off(ip: *const u64, c: *mut Ctx, need: usize, live: usize, r: i64) -> bool {
    // SAFETY: a process runs; `x[0..live]` are initialised terms, and the operation at `ip` can run again.
    unsafe {
        let p = &mut *(*c).p;
        if !long_gc::is_long(p, CollectionKind::Automatic) {
            return false;
        }
        long_gc::put_off(p, need, CollectionKind::Automatic);
        leave_at(c, ip, live, r);
        // Unlike at a call, float registers may be in use. Those after the last one ever used are zero.
        let floats = (*c).f.iter().rposition(|f| f.to_bits() != 0).map_or(0, |last| last + 1);
        if floats > 0 {
            p.flags |= FLAG_FLOATS;
            p.rare().floats = (&(*c).f)[..floats].to_vec();
        }
        true
    }
}

/// Collects now, or, if that may take long, ends the slice soon and collects after it. Nothing needs room.
///
/// # Safety
/// As `make_room`.
#[cold]
#[inline(never)]
pub unsafe fn tidy(c: *mut Ctx, live: usize) {
    // SAFETY: a process runs; `x[0..live]` are initialised terms, and the tops are saved.
    unsafe {
        let p = &mut *(*c).p;
        if p.heap.fragment_words <= p.heap_words() && long_gc::is_long(p, CollectionKind::Automatic) {
            long_gc::put_off(p, 0, CollectionKind::Automatic);
            p.bump(zeal::slice() as usize);
        } else {
            make_room(c, 0, live);
        }
    }
}

/// At the end of a slice, when all live terms are in the process: collects what natives left beside the heap, now or on a dirty thread.
pub fn tidy_saved(p: &mut Process) {
    if p.heap.fragments.is_null() && p.heap.off_heap.virtual_words <= p.vheap_limit_words && !held_regions::pays(p) {
        return;
    }
    if long_gc::is_long(p, CollectionKind::Automatic) {
        long_gc::put_off(p, 0, CollectionKind::Automatic);
    } else {
        gc::collect(p, &mut [], 0, CollectionKind::Automatic);
    }
}

/// After a native: collects when it overflowed into fragments, when it attached much off-heap data, or in zeal mode.
///
/// # Safety
/// As `make_room`.
#[inline(always)]
pub unsafe fn after_native(c: *mut Ctx, live: usize) {
    // SAFETY: a process runs; `x[0..live]` are initialised terms, and the tops are saved.
    unsafe {
        let p = &mut *(*c).p;
        if !p.heap.fragments.is_null() || p.heap.off_heap.virtual_words > p.vheap_limit_words || zeal::gc() {
            tidy(c, live);
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
        if need == 0 {
            tidy(c, live + 1);
        } else {
            make_room(c, need, live + 1);
        }
        (*c).x[live]
    }
}
