//! The process table: identity to process. Readers take no lock and write nothing. The identity counts upwards; its slot is
//! its remainder by the table size, so numbers are not reused until the table was gone through (as in ERTS).

use crate::process::{ProcRef, ProcShared};
use heddle_sync::sequential::{Number, Word};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};

pub const DEFAULT_LIMIT: usize = 1 << 20;

/// A pid's payload has 58 bits.
const LARGEST: u64 = (1 << 58) - 1;

struct Table {
    slots: Box<[AtomicPtr<ProcShared>]>,
    limit: usize,
}

static TABLE: OnceLock<Table> = OnceLock::new();
static NEXT: AtomicU64 = AtomicU64::new(0);
/// `set_next` was called: slots are in use wherever they are.
static JUMPED: AtomicBool = AtomicBool::new(false);
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// `limit` as given with `+P`: rounded up to a power of two, as in ERTS.
pub fn init(limit: usize) {
    let limit = limit.clamp(1024, 1 << 27).next_power_of_two();
    let layout = std::alloc::Layout::array::<AtomicPtr<ProcShared>>(limit).expect("process table");
    // SAFETY: zeroed memory is a slice of null pointers; pages are only used as they are touched.
    let slots = unsafe {
        let ptr = std::alloc::alloc_zeroed(layout).cast::<AtomicPtr<ProcShared>>();
        assert!(!ptr.is_null(), "no memory for a process table of {limit} (use a smaller +P)");
        Box::from_raw(std::ptr::slice_from_raw_parts_mut(ptr, limit))
    };
    let _ = TABLE.set(Table { slots, limit });
}

fn table() -> &'static Table {
    TABLE.get().expect("process table")
}

pub fn limit() -> usize {
    table().limit
}
pub fn count() -> usize {
    COUNT.load(Ordering::Relaxed)
}

/// Reserves an identity; None when the table is full. `publish` or `give_back` must follow.
#[inline(always)]
pub fn reserve() -> Option<u64> {
    let t = table();
    if COUNT.add(1, Ordering::Relaxed) >= t.limit {
        COUNT.sub(1, Ordering::Relaxed);
        return None;
    }
    let taken = std::ptr::without_provenance_mut::<ProcShared>(1);
    loop {
        let pid = NEXT.add(1, Ordering::Relaxed) & LARGEST;
        let slot = &t.slots[pid as usize & (t.limit - 1)];
        if slot.load(Ordering::Relaxed).is_null() && slot.exchange(std::ptr::null_mut(), taken, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        {
            return Some(pid);
        }
    }
}

/// What was reserved is not needed.
pub fn give_back(pid: u64) {
    table().slots[pid as usize & (table().limit - 1)].store(std::ptr::null_mut(), Ordering::Release);
    COUNT.sub(1, Ordering::Relaxed);
}

/// Makes the process visible under its identity.
pub fn publish(p: ProcRef) {
    // Release: pairs with the Acquire in `lookup`.
    table().slots[p.pid as usize & (table().limit - 1)].store(p.as_ptr(), Ordering::Release);
}

/// Takes it out; the caller retires the memory.
pub fn remove(p: ProcRef) {
    give_back(p.pid);
}

/// The process of this identity, if alive. Valid until the caller's next quiescent state.
#[inline]
pub fn lookup(pid: u64) -> Option<ProcRef> {
    let t = table();
    let ptr = t.slots[pid as usize & (t.limit - 1)].load(Ordering::Acquire);
    if ptr.addr() <= 1 {
        return None;
    }
    // SAFETY: published blocks are live until the reader's next quiescent state.
    let p = unsafe { ProcRef::from_ptr(ptr) };
    (p.pid == pid).then_some(p)
}

/// The identity that the next process gets, if nobody else takes it before.
pub fn next() -> u64 {
    let t = table();
    let mut pid = NEXT.load(Ordering::Relaxed) & LARGEST;
    while !t.slots[pid as usize & (t.limit - 1)].load(Ordering::Relaxed).is_null() && count() < t.limit {
        pid = (pid + 1) & LARGEST;
    }
    pid
}

/// Identities are given out from `pid` on (for tests). What the next one is.
pub fn set_next(pid: u64) -> u64 {
    JUMPED.store(true, Ordering::Relaxed);
    NEXT.store(pid, Ordering::Relaxed);
    next()
}

/// All live processes, by rising slot. A snapshot in the sense that a process alive during the whole walk is seen.
pub fn for_each(mut f: impl FnMut(ProcRef)) {
    let t = table();
    let used = if JUMPED.load(Ordering::Relaxed) { t.limit } else { (NEXT.load(Ordering::Relaxed) as usize).min(t.limit) };
    for slot in &t.slots[..used] {
        let ptr = slot.load(Ordering::Acquire);
        if ptr.addr() > 1 {
            // SAFETY: as in `lookup`.
            f(unsafe { ProcRef::from_ptr(ptr) });
        }
    }
}
