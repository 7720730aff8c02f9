//! Quiescent-state reclamation: memory that other threads may still look at is freed once every managed thread has passed a
//! point where it holds no borrowed pointer. Lookups write nothing shared.
//!
//! Each managed thread owns a slot with the global epoch it last saw, or OFFLINE while it sleeps or does not look at shared
//! structures. `retire` stamps garbage with the epoch after the current one; it is freed when all online slots have reached it.

use std::cell::{Cell, RefCell};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering, fence};

const OFFLINE: u64 = u64::MAX;
const SLOTS: usize = 2048;

#[repr(align(128))]
struct Slot(AtomicU64);

static EPOCH: AtomicU64 = AtomicU64::new(1);
static SLOT: [Slot; SLOTS] = [const { Slot(AtomicU64::new(OFFLINE)) }; SLOTS];
static NEXT_SLOT: AtomicU64 = AtomicU64::new(0);
static FREE_SLOTS: Mutex<Vec<usize>> = Mutex::new(Vec::new());

type Garbage = (u64, Box<dyn FnOnce() + Send>);

/// Left by threads that ended or could not free all of theirs.
static ORPHANS: Mutex<Vec<Garbage>> = Mutex::new(Vec::new());

struct Local {
    slot: usize,
    depth: Cell<u32>,
    garbage: RefCell<std::collections::VecDeque<Garbage>>,
}

impl Drop for Local {
    fn drop(&mut self) {
        SLOT[self.slot].0.store(OFFLINE, Ordering::Release);
        ORPHANS.lock().unwrap().extend(self.garbage.borrow_mut().drain(..));
        FREE_SLOTS.lock().unwrap().push(self.slot);
    }
}

thread_local! {
    static LOCAL: Local = Local {
        slot: FREE_SLOTS.lock().unwrap().pop().unwrap_or_else(|| {
            let n = NEXT_SLOT.fetch_add(1, Ordering::Relaxed) as usize;
            assert!(n < SLOTS, "more than {SLOTS} threads look at shared structures");
            n
        }),
        depth: const { Cell::new(0) },
        garbage: const { RefCell::new(std::collections::VecDeque::new()) },
    };
}

/// The calling thread goes online (a scheduler at start and after sleep): it may hold borrowed pointers from now on.
pub fn online() {
    LOCAL.with(|l| {
        SLOT[l.slot].0.store(EPOCH.load(Ordering::Relaxed), Ordering::Relaxed);
        // Pairs with the fence in `advance`: either it sees us online, or we see what was unlinked before.
        fence(Ordering::SeqCst);
        l.depth.set(1);
    });
}

/// The calling thread holds no borrowed pointer and will take none until `online`.
pub fn offline() {
    LOCAL.with(|l| {
        SLOT[l.slot].0.store(OFFLINE, Ordering::Release);
        l.depth.set(0);
    });
}

/// A quiescent state: the calling scheduler holds no borrowed pointer right now. Cheap: one load, one store.
#[inline]
pub fn quiescent() {
    LOCAL.with(|l| {
        // Release: our reads of shared memory come before it.
        SLOT[l.slot].0.store(EPOCH.load(Ordering::Acquire), Ordering::Release);
        if !l.garbage.borrow().is_empty() {
            collect(l);
        }
    });
}

/// For threads that are not schedulers: protects what they look up until the guard goes.
pub struct Guard(());

pub fn guard() -> Guard {
    LOCAL.with(|l| {
        let depth = l.depth.get();
        if depth == 0 {
            SLOT[l.slot].0.store(EPOCH.load(Ordering::Relaxed), Ordering::Relaxed);
            fence(Ordering::SeqCst);
        }
        l.depth.set(depth + 1);
    });
    Guard(())
}

impl Drop for Guard {
    fn drop(&mut self) {
        LOCAL.with(|l| {
            let depth = l.depth.get() - 1;
            l.depth.set(depth);
            if depth == 0 {
                SLOT[l.slot].0.store(OFFLINE, Ordering::Release);
            }
        });
    }
}

/// Frees something when no thread can still hold a pointer to it. It must have been unlinked before.
pub fn retire(free: impl FnOnce() + Send + 'static) {
    LOCAL.with(|l| {
        fence(Ordering::SeqCst);
        let epoch = EPOCH.load(Ordering::Relaxed) + 1;
        l.garbage.borrow_mut().push_back((epoch, Box::new(free)));
    });
}

/// The epoch in which everything unlinked before this call is out of every thread's sight: see `passed`.
pub fn next() -> u64 {
    fence(Ordering::SeqCst);
    EPOCH.load(Ordering::Relaxed) + 1
}

/// Has every online thread been quiescent in `epoch` or later?
pub fn passed(epoch: u64) -> bool {
    advance() >= epoch
}

/// Lowest epoch among online threads; also moves the global epoch on.
fn advance() -> u64 {
    let epoch = EPOCH.load(Ordering::Relaxed);
    fence(Ordering::SeqCst);
    let used = (NEXT_SLOT.load(Ordering::Relaxed) as usize).min(SLOTS);
    let lowest = SLOT[..used].iter().map(|s| s.0.load(Ordering::Acquire)).min().unwrap_or(OFFLINE);
    if lowest >= epoch {
        let _ = EPOCH.compare_exchange(epoch, epoch + 1, Ordering::AcqRel, Ordering::Relaxed);
    }
    lowest
}

fn collect(l: &Local) {
    let first = match l.garbage.borrow().front() {
        Some((epoch, _)) => *epoch,
        None => return,
    };
    let lowest = advance();
    if lowest < first {
        return;
    }
    loop {
        let ready = {
            let mut garbage = l.garbage.borrow_mut();
            match garbage.front() {
                Some((epoch, _)) if *epoch <= lowest => garbage.pop_front(),
                _ => None,
            }
        };
        match ready {
            Some((_, free)) => free(),
            None => break,
        }
    }
}
