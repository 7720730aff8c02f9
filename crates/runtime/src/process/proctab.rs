//! The process table: identity to process; and a second table for ports, which are processes too (`task`) with numbers of their
//! own. Readers take no lock and write nothing. Identities count upwards; the slot of one is its remainder by the table size, so
//! numbers are not reused until the table was gone through (as in ERTS).

#[cfg(test)]
mod model_tests;

use crate::base::qsbr;
use crate::process::identity::{LARGEST, PORT, id_of};
use crate::process::{ProcRef, ProcShared};
use heddle_sync::prefetch;
use heddle_sync::word::{Number, Word};
use heddle_term::Term;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};

/// Read by all threads and never written; what changes is in `Numbers`, on other cache lines.
struct Table {
    /// AcqRel in `reserve`, Release where a process is entered or leaves (`give_back`), Acquire in readers: the process that is seen is
    /// complete.
    slots: Box<[AtomicPtr<ProcShared>]>,
    limit: usize,
}

struct Numbers {
    next: AtomicU64,
    /// `set_next` was called: any slot may be in use.
    jumped: AtomicBool,
    count: AtomicUsize,
}

static PROCESS_TABLE: OnceLock<Table> = OnceLock::new();
static PORT_TABLE: OnceLock<Table> = OnceLock::new();
static PROCESS_NUMBERS: Numbers = Numbers::from(0);
/// Port 0 is the program spawner of stock; ours is not a port of its own.
static PORT_NUMBERS: Numbers = Numbers::from(1);

impl Numbers {
    const fn from(first: u64) -> Numbers {
        Numbers { next: AtomicU64::new(first), jumped: AtomicBool::new(false), count: AtomicUsize::new(0) }
    }
}

impl Table {
    fn new(limit: usize) -> Table {
        let layout = std::alloc::Layout::array::<AtomicPtr<ProcShared>>(limit).expect("process table");
        // SAFETY: zeroed memory is a slice of null pointers; pages are only used as they are touched.
        let slots = unsafe {
            let ptr = std::alloc::alloc_zeroed(layout).cast::<AtomicPtr<ProcShared>>();
            assert!(!ptr.is_null(), "no memory for a table of {limit} processes or ports (use a smaller +P or +Q)");
            Box::from_raw(std::ptr::slice_from_raw_parts_mut(ptr, limit))
        };
        Table { slots, limit }
    }

    /// The slot of an identity or a number alike: the bit of ports is above the bits that count.
    #[inline(always)]
    fn slot(&self, id: u64) -> &AtomicPtr<ProcShared> {
        &self.slots[id as usize & (self.limit - 1)]
    }

    #[inline(always)]
    fn reserve(&self, numbers: &Numbers) -> Option<u64> {
        if numbers.count.add(1, Ordering::Relaxed) >= self.limit {
            numbers.count.sub(1, Ordering::Relaxed);
            return None;
        }
        let taken = std::ptr::without_provenance_mut::<ProcShared>(1);
        loop {
            let number = numbers.next.add(1, Ordering::Relaxed) & LARGEST;
            let slot = self.slot(number);
            if slot.load(Ordering::Relaxed).is_null()
                // AcqRel: pairs with the Release in `give_back`.
                && slot.exchange(std::ptr::null_mut(), taken, Ordering::AcqRel, Ordering::Relaxed).is_ok()
            {
                return Some(number);
            }
        }
    }

    #[inline(always)]
    fn lookup(&self, id: u64, then: impl FnOnce(*mut ProcShared)) -> Option<ProcRef> {
        qsbr::check_online();
        // Acquire: pairs with the Release where the process is entered.
        let ptr = self.slot(id).load(Ordering::Acquire);
        then(ptr);
        if ptr.addr() <= 1 {
            return None;
        }
        // SAFETY: published blocks are live until the reader's next quiescent state, and the reader is online.
        let p = unsafe { ProcRef::from_ptr(ptr) };
        (p.pid == id).then_some(p)
    }

    fn next(&self, numbers: &Numbers) -> u64 {
        let mut number = numbers.next.load(Ordering::Relaxed) & LARGEST;
        while !self.slot(number).load(Ordering::Relaxed).is_null() && numbers.count.load(Ordering::Relaxed) < self.limit {
            number = (number + 1) & LARGEST;
        }
        number
    }

    fn for_each(&self, numbers: &Numbers, mut f: impl FnMut(ProcRef)) {
        let all = numbers.jumped.load(Ordering::Relaxed);
        qsbr::check_online();
        let used = if all { self.limit } else { (numbers.next.load(Ordering::Relaxed) as usize).min(self.limit) };
        for slot in &self.slots[..used] {
            // Acquire: as in `lookup`.
            let ptr = slot.load(Ordering::Acquire);
            if ptr.addr() > 1 {
                // SAFETY: as in `lookup`.
                f(unsafe { ProcRef::from_ptr(ptr) });
            }
        }
    }
}

impl Numbers {
    fn set_next(&self, number: u64) {
        self.jumped.store(true, Ordering::Relaxed);
        self.next.store(number, Ordering::Relaxed);
    }
}

/// The limits are those of `+P` and `+Q`: rounded up to a power of two, as in ERTS.
pub fn init(limit: usize, port_limit: usize) {
    let rounded = |limit: usize| limit.clamp(1024, 1 << 27).next_power_of_two();
    let _ = PROCESS_TABLE.set(Table::new(rounded(limit)));
    let _ = PORT_TABLE.set(Table::new(rounded(port_limit)));
}

fn processes() -> &'static Table {
    PROCESS_TABLE.get().expect("process table")
}
fn ports() -> &'static Table {
    PORT_TABLE.get().expect("port table")
}

pub fn limit() -> usize {
    processes().limit
}
pub fn count() -> usize {
    PROCESS_NUMBERS.count.load(Ordering::Relaxed)
}
pub fn port_limit() -> usize {
    ports().limit
}
pub fn port_count() -> usize {
    PORT_NUMBERS.count.load(Ordering::Relaxed)
}

/// Reserves an identity for a process; None if the table is full. `publish` or `give_back` must follow.
#[inline(always)]
pub fn reserve() -> Option<u64> {
    processes().reserve(&PROCESS_NUMBERS)
}

/// The same for a port: the identity has the bit `PORT`.
pub fn reserve_port() -> Option<u64> {
    Some(ports().reserve(&PORT_NUMBERS)? | PORT)
}

/// A reserved identity is not needed.
#[inline]
pub fn give_back(id: u64) {
    if id & PORT != 0 {
        return give_back_port(id);
    }
    // Release: what used the process comes before; pairs with AcqRel in `reserve`.
    processes().slot(id).store(std::ptr::null_mut(), Ordering::Release);
    PROCESS_NUMBERS.count.sub(1, Ordering::Relaxed);
}

#[cold]
fn give_back_port(id: u64) {
    // Release: as in `give_back`.
    ports().slot(id).store(std::ptr::null_mut(), Ordering::Release);
    PORT_NUMBERS.count.sub(1, Ordering::Relaxed);
}

/// Makes the process visible under its identity. With a shared heap it must be remembered before, if its initial data may be young
/// (`sched::start_process`).
pub fn publish(p: ProcRef) {
    let table = if p.is_port() { ports() } else { processes() };
    // Release: pairs with the Acquire in `lookup`.
    table.slot(p.pid).store(p.as_ptr(), Ordering::Release);
}

/// Takes the process out of the table; the caller retires the memory.
pub fn remove(p: ProcRef) {
    give_back(p.pid);
}

/// The process of this identity, if alive. Valid until the caller's next quiescent state.
#[inline]
pub fn lookup(id: u64) -> Option<ProcRef> {
    let found = processes().lookup(id, |_| ());
    if found.is_none() && id & PORT != 0 {
        return lookup_port(id);
    }
    found
}

/// As `lookup`, for a caller that is about to send to the process: prefetches, to be written, the cache line that the caller reads
/// first and then changes.
#[inline(always)]
pub(crate) fn lookup_to_send(pid: u64) -> Option<ProcRef> {
    processes().lookup(pid, |ptr| prefetch::to_write(ptr.cast()))
}

#[cold]
fn lookup_port(id: u64) -> Option<ProcRef> {
    ports().lookup(id, |_| ())
}

/// The process or port that a local pid or port names, if alive.
pub fn find(term: Term) -> Option<ProcRef> {
    lookup(id_of(term))
}

/// The identity that the next process gets, if no other thread takes it before.
pub fn next() -> u64 {
    processes().next(&PROCESS_NUMBERS)
}
/// The number that the next port gets, if no other thread takes it before.
pub fn next_port() -> u64 {
    ports().next(&PORT_NUMBERS)
}

/// Identities are given out from `pid` on (for tests). Returns the next one.
pub fn set_next(pid: u64) -> u64 {
    PROCESS_NUMBERS.set_next(pid);
    next()
}
/// The same for the numbers of ports.
pub fn set_next_port(number: u64) -> u64 {
    PORT_NUMBERS.set_next(number);
    next_port()
}

/// The process or port in a slot.
pub(crate) fn in_slot(slot: usize, is_port: bool) -> Option<ProcRef> {
    let table = if is_port { ports() } else { processes() };
    let ptr = table.slots[slot].load(Ordering::Acquire);
    // SAFETY: as in `lookup`.
    (ptr.addr() > 1).then(|| unsafe { ProcRef::from_ptr(ptr) })
}

/// All live processes, by rising slot. A snapshot in the sense that a process alive during the whole walk is seen.
pub fn for_each(f: impl FnMut(ProcRef)) {
    processes().for_each(&PROCESS_NUMBERS, f);
}
/// The same for ports.
pub fn for_each_port(f: impl FnMut(ProcRef)) {
    ports().for_each(&PORT_NUMBERS, f);
}
