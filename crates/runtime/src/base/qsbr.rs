//! Quiescent-state reclamation: memory that other threads may still look at is freed once every managed thread has passed a point
//! where it holds no borrowed pointer. Lookups write nothing shared.
//!
//! Each managed thread owns a slot with the global epoch it last saw, or OFFLINE while it sleeps or does not look at shared
//! structures. In sequential mode (`heddle_sync::sequential`) a thread has the turn as long as it is online. `retire` stamps
//! garbage with the epoch after the current one; it is freed when all online slots have reached that epoch.
//!
//! A thread frees what it retired itself, at its quiescent states. A thread that is about to sleep, or has no quiescent states,
//! must not keep garbage meanwhile: it tidies up (`tidy`) and wakes up soon for what others may still look at, or leaves that to
//! other threads (`Guard`).

use heddle_sync::alone;
use heddle_sync::barrier;
use heddle_sync::sequential;
use heddle_sync::thread_slot::{self, Slot};
use heddle_sync::word::Word;
use heddle_term::Term;
use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

const OFFLINE: u64 = u64::MAX;

#[repr(align(128))]
struct ThreadEpoch {
    /// The global epoch that the thread last saw, or OFFLINE. Release where the thread is quiescent or goes offline, Acquire in `advance`: its
    /// reads of shared structures come before what is freed then.
    epoch: AtomicU64,
    /// The epoch of the oldest garbage that the thread keeps, or NONE. Written by the thread alone with Release; `is_freed` reads
    /// it with Acquire: what the thread freed is freed.
    oldest: AtomicU64,
}

const NONE: u64 = u64::MAX;

/// AcqRel in `advance`, Acquire where a thread takes the epoch as seen: what was unlinked before that epoch is seen as unlinked.
static EPOCH: AtomicU64 = AtomicU64::new(1);
static SLOT: [ThreadEpoch; thread_slot::MAX] =
    [const { ThreadEpoch { epoch: AtomicU64::new(OFFLINE), oldest: AtomicU64::new(NONE) } }; thread_slot::MAX];

/// Not needed in sequential mode: turns are ordered anyway.
#[inline(always)]
fn full_fence() {
    if !sequential::is_on() {
        // SeqCst: the fence of `online` pairs with that of `advance`.
        fence(Ordering::SeqCst);
    }
}

/// The garbage, with the epoch that all threads must have seen.
type Garbage = (u64, Unlinked);

/// Something unlinked, and the function that frees it.
struct Unlinked {
    what: *mut (),
    // SAFETY: `Unlinked::free` alone calls it, once, when no thread can hold a pointer to `what`.
    free: unsafe fn(*mut ()),
}

// SAFETY: `retire_raw` demands that any thread may free it; the closure of `retire` is Send.
unsafe impl Send for Unlinked {}

impl Unlinked {
    fn free(self) {
        // SAFETY: by the contract of `retire_raw`, and no thread can hold a pointer to it any more.
        unsafe { (self.free)(self.what) }
    }
}

/// What a thread that goes online or offline also says to the shared heap (`shared::want`).
pub(crate) struct Inside {
    pub(crate) enter: fn(),
    pub(crate) leave: fn(),
}

/// Empty unless the VM has a shared heap. Set before the first thread goes online.
static INSIDE: OnceLock<Inside> = OnceLock::new();

pub(crate) fn set_inside(inside: Inside) {
    let _ = INSIDE.set(inside);
}

/// Garbage of threads that ended or left it to others. Every thread that collects also frees some of it.
static ORPHANS: Mutex<Vec<Garbage>> = Mutex::new(Vec::new());
static ANY_ORPHANS: AtomicBool = AtomicBool::new(false);
/// The number of threads that are freeing orphans, outside the lock. Release in `collect_orphans`, Acquire in `is_freed`.
static FREEING_ORPHANS: AtomicUsize = AtomicUsize::new(0);

struct Local {
    slot: Slot,
    depth: Cell<u32>,
    garbage: RefCell<std::collections::VecDeque<Garbage>>,
    /// True while garbage is being freed. It is out of the queue then, and still counts as kept.
    is_freeing: Cell<bool>,
}

/// Entries that a thread always has room for.
const FEW: usize = 64;

impl Local {
    fn has_garbage(&self) -> bool {
        !self.garbage.borrow().is_empty()
    }

    /// Takes the oldest garbage that may be freed, as every online thread was quiescent in `lowest`.
    fn ready(&self, lowest: u64) -> Option<Unlinked> {
        // Nothing stays borrowed, because freeing it may retire more.
        let (_, unlinked) = self.garbage.borrow_mut().pop_front_if(|(epoch, _)| *epoch <= lowest)?;
        Some(unlinked)
    }

    #[cold]
    fn leave_to_others(&self) {
        let mut orphans = ORPHANS.lock().unwrap();
        orphans.extend(self.garbage.borrow_mut().drain(..));
        // Relaxed: the orphans themselves are read under the lock.
        ANY_ORPHANS.store(true, Ordering::Relaxed);
        self.publish_oldest();
    }

    /// Release: a thread that sees that nothing older is left also sees that it is freed, or among the orphans.
    fn publish_oldest(&self) {
        let oldest = self.garbage.borrow().front().map_or(NONE, |(epoch, _)| *epoch);
        SLOT[self.slot.index()].oldest.store(oldest, Ordering::Release);
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        SLOT[self.slot.index()].epoch.store(OFFLINE, Ordering::Release);
        if self.has_garbage() {
            self.leave_to_others();
        }
    }
}

thread_local! {
    static LOCAL: Local = Local {
        slot: Slot::mine(),
        depth: const { Cell::new(0) },
        garbage: const { RefCell::new(std::collections::VecDeque::new()) },
        is_freeing: const { Cell::new(false) },
    };
}

/// The calling thread goes online (a scheduler at start and after sleep): it may hold borrowed pointers from now on.
pub fn online() {
    sequential::enter();
    alone::set_online(true);
    LOCAL.with(|l| {
        SLOT[l.slot.index()].epoch.store(EPOCH.load(Ordering::Relaxed), Ordering::Relaxed);
        // Pairs with the fence in `advance`: either it sees us online, or we see what was unlinked before.
        full_fence();
        l.depth.set(1);
    });
    if let Some(inside) = INSIDE.get() {
        (inside.enter)();
    }
}

/// The calling thread holds no borrowed pointer and will take none until `online`.
pub fn offline() {
    // Before going offline: other threads then come online in the cheap way.
    alone::give_up();
    if let Some(inside) = INSIDE.get() {
        (inside.leave)();
    }
    LOCAL.with(|l| {
        SLOT[l.slot.index()].epoch.store(OFFLINE, Ordering::Release);
        l.depth.set(0);
    });
    alone::set_online(false);
    sequential::leave();
}

/// As `offline`, by a thread that may block for long: leaves its garbage to other threads.
pub(crate) fn offline_for_long() {
    LOCAL.with(|l| {
        if l.has_garbage() {
            l.leave_to_others();
        }
    });
    offline();
}

/// A quiescent state: the calling scheduler holds no borrowed pointer right now. Cheap: one load, one store.
#[inline]
pub fn quiescent() {
    sequential::offer();
    LOCAL.with(|l| {
        // Release: our earlier reads of shared memory come before it.
        SLOT[l.slot.index()].epoch.store(EPOCH.load(Ordering::Acquire), Ordering::Release);
        if l.has_garbage() {
            collect(l);
        }
    });
}

/// The calling thread is online, holds no borrowed pointer and is about to sleep. Frees the garbage that may be freed, also what
/// threads left to others. Returns true if some of its own garbage remains, which others may still look at.
pub(crate) fn tidy() -> bool {
    LOCAL.with(|l| {
        if !l.has_garbage() && !ANY_ORPHANS.load(Ordering::Relaxed) {
            return false;
        }
        // The first pass moves the epoch on; the second finds that it passed, if no other thread is online.
        for _ in 0..2 {
            SLOT[l.slot.index()].epoch.store(EPOCH.load(Ordering::Acquire), Ordering::Release);
            collect(l);
        }
        l.has_garbage()
    })
}

/// Debug builds: stops if the calling thread is not online. Then what it looks up may be freed while it looks at it.
#[inline(always)]
#[track_caller]
pub fn check_online() {
    debug_assert!(is_online(), "a look-up by a thread that is not online: it needs `qsbr::guard` or `qsbr::look`");
}

#[cfg_attr(not(debug_assertions), allow(dead_code))]
fn is_online() -> bool {
    // Relaxed: only this thread writes it. Not checked: a thread that ends and has no slot any more, and threads that take turns, of which one
    // may have to look without (`look`).
    sequential::is_on() || LOCAL.try_with(|l| SLOT[l.slot.index()].epoch.load(Ordering::Relaxed) != OFFLINE).unwrap_or(true)
}

/// Frees room for garbage that the calling thread needed once and does not need now.
pub(crate) fn shrink() {
    LOCAL.with(|l| l.garbage.borrow_mut().shrink_to(FEW));
}

/// Proof that the calling thread is online, and stays so for `'a`: what is looked up with it may be kept as long. Of no size.
#[derive(Clone, Copy)]
pub struct Online<'a>(PhantomData<(&'a (), *const ())>);

impl<'a> Online<'a> {
    /// In a native: its arguments are there as long as its call, and that is within one slice. The lifetime must be that of an argument.
    #[inline(always)]
    pub fn in_native(_: &'a Term) -> Online<'a> {
        check_online();
        Online(PhantomData)
    }
}

/// For threads that are not schedulers: protects what they look up until the guard is dropped. Garbage of theirs that cannot be
/// freed then is left to others.
pub struct Guard(());

pub fn guard() -> Guard {
    LOCAL.with(|l| {
        let depth = l.depth.get();
        if depth == 0 {
            sequential::enter();
            alone::set_online(true);
            SLOT[l.slot.index()].epoch.store(EPOCH.load(Ordering::Relaxed), Ordering::Relaxed);
            full_fence();
        }
        l.depth.set(depth + 1);
    });
    Guard(())
}

/// Runs `f`, which only reads what it looks up, protected as by a guard but without the turn: in sequential mode, the thread that
/// has the turn may not give it back. None if that is impossible. `f` calls neither `look` nor `guard`.
pub fn look<R>(f: impl FnOnce() -> R) -> Option<R> {
    // The thread that has the turn has no fence between what it unlinks and its read of the slots, so this side must pay for both.
    if sequential::is_on() && !barrier::is_asymmetric() {
        return None;
    }
    LOCAL.with(|l| {
        if l.depth.get() > 0 {
            return Some(f());
        }
        SLOT[l.slot.index()].epoch.store(EPOCH.load(Ordering::Relaxed), Ordering::Relaxed);
        // Pairs with the fence in `advance`, as in `guard`.
        barrier::heavy();
        let result = f();
        SLOT[l.slot.index()].epoch.store(OFFLINE, Ordering::Release);
        Some(result)
    })
}

impl Drop for Guard {
    fn drop(&mut self) {
        LOCAL.with(|l| {
            let depth = l.depth.get() - 1;
            l.depth.set(depth);
            if depth == 0 {
                if l.has_garbage() {
                    l.leave_to_others();
                }
                SLOT[l.slot.index()].epoch.store(OFFLINE, Ordering::Release);
                alone::set_online(false);
                sequential::leave();
            }
        });
    }
}

/// Runs `f`, which only waits, while others may have the turn. What the caller looked up stays valid. Returns what `f` returns.
pub fn while_others_go<R>(f: impl FnOnce() -> R) -> R {
    let has_turn = LOCAL.with(|l| l.depth.get() > 0);
    if has_turn {
        sequential::leave();
    }
    let result = f();
    if has_turn {
        sequential::enter();
    }
    result
}

/// Called by a thread that is online and in the middle of no operation on a shared word. True if it is the only online thread: then
/// its changes of such words need not be atomic until another thread comes online (`heddle_sync::alone`).
pub(crate) fn claim() -> bool {
    LOCAL.with(|l| {
        let mine = l.slot.index();
        // Acquire: sees what the others did before they went offline. (A thread with a slot at or above `used` has a fence between
        // taking the slot and its first shared word.)
        let is_away = |(index, slot): (usize, &ThreadEpoch)| index == mine || slot.epoch.load(Ordering::Acquire) == OFFLINE;
        let are_away = || SLOT[..thread_slot::used()].iter().enumerate().all(is_away);
        are_away() && alone::claim(are_away)
    })
}

/// Frees something when no thread can still hold a pointer to it. It must have been unlinked before.
pub fn retire<F: FnOnce() + Send + 'static>(free: F) {
    /// # Safety
    /// `boxed` is a box of an `F`, and belongs to the caller.
    // SAFETY: `retire` makes the box for this function, and `Unlinked::free` consumes the entry, so it runs once.
    unsafe fn run<F: FnOnce()>(boxed: *mut ()) {
        // SAFETY: `boxed` is a box of an `F`, and belongs to the caller.
        unsafe { Box::from_raw(boxed.cast::<F>())() }
    }
    put(Unlinked { what: Box::into_raw(Box::new(free)).cast(), free: run::<F> });
}

/// As `retire`, for what needs no box: calls `free` on `what`.
///
/// # Safety
/// `free` may be called on `what` once, on any thread, when no thread holds a pointer to it. It was unlinked before.
// SAFETY: the one caller, `process::retire`, passes a process block and the function that frees one.
pub(crate) unsafe fn retire_raw(what: *mut (), free: unsafe fn(*mut ())) {
    put(Unlinked { what, free });
}

fn put(unlinked: Unlinked) {
    LOCAL.with(|l| {
        full_fence();
        let epoch = EPOCH.load(Ordering::Relaxed) + 1;
        let mut garbage = l.garbage.borrow_mut();
        garbage.push_back((epoch, unlinked));
        let is_oldest = garbage.len() == 1;
        drop(garbage);
        if is_oldest && !l.is_freeing.get() {
            l.publish_oldest();
        }
    });
}

/// The epoch in which no thread can see anything that was unlinked before this call: see `passed`.
pub fn next() -> u64 {
    full_fence();
    EPOCH.load(Ordering::Relaxed) + 1
}

/// True if every online thread has been quiescent in `epoch` or later.
pub fn passed(epoch: u64) -> bool {
    advance() >= epoch
}

/// True if everything is freed that was retired before `epoch` came from `next`. Other threads free their own garbage at their next
/// quiescent state or, if they sleep, some milliseconds later.
pub fn is_freed(epoch: u64) -> bool {
    if !passed(epoch) {
        return false;
    }
    // The threads' own garbage first: it may go from there to the orphans, and not back.
    let is_kept = |slot: &ThreadEpoch| slot.oldest.load(Ordering::Acquire) <= epoch;
    if SLOT[..thread_slot::used()].iter().any(is_kept) {
        return false;
    }
    // No other thread may come by and free the orphans.
    collect_orphans(epoch);
    let orphans = ORPHANS.lock().unwrap();
    // Acquire: sees what the other threads freed.
    FREEING_ORPHANS.load(Ordering::Acquire) == 0 && orphans.iter().all(|(of, _)| *of > epoch)
}

/// The lowest epoch among online threads; also moves the global epoch on.
fn advance() -> u64 {
    let epoch = EPOCH.load(Ordering::Relaxed);
    full_fence();
    let lowest = SLOT[..thread_slot::used()].iter().map(|s| s.epoch.load(Ordering::Acquire)).min().unwrap_or(OFFLINE);
    if lowest >= epoch {
        let _ = EPOCH.exchange(epoch, epoch + 1, Ordering::AcqRel, Ordering::Relaxed);
    }
    lowest
}

fn collect(l: &Local) {
    let lowest = advance();
    while let Some(unlinked) = l.ready(lowest) {
        l.is_freeing.set(true);
        unlinked.free();
    }
    if l.is_freeing.replace(false) {
        l.publish_oldest();
    }
    if ANY_ORPHANS.load(Ordering::Relaxed) {
        collect_orphans(lowest);
    }
}

#[cold]
fn collect_orphans(lowest: u64) {
    let Ok(mut orphans) = ORPHANS.try_lock() else { return };
    let ready: Vec<Garbage> = orphans.extract_if(.., |(epoch, _)| *epoch <= lowest).collect();
    ANY_ORPHANS.store(!orphans.is_empty(), Ordering::Relaxed);
    // Relaxed: under the lock.
    FREEING_ORPHANS.fetch_add(1, Ordering::Relaxed);
    drop(orphans);
    ready.into_iter().for_each(|(_, unlinked)| unlinked.free());
    FREEING_ORPHANS.fetch_sub(1, Ordering::Release);
}

/// The calling thread is about to end: waits a while until its garbage may be freed. What may not be freed is left to others.
pub(crate) fn end() {
    if let Some(inside) = INSIDE.get() {
        // It has no process any more. Threads that wait for a collection would otherwise wait for this thread, and this one for
        // them.
        (inside.leave)();
    }
    for _ in 0..LAST_LOOKS {
        quiescent();
        if LOCAL.with(|l| !l.has_garbage()) {
            break;
        }
        while_others_go(|| std::thread::sleep(Duration::from_millis(1)));
    }
    offline();
}

const LAST_LOOKS: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::mpsc::channel;
    use std::time::Instant;

    /// Repeats the passes of a thread that keeps no garbage itself. (Threads of other tests may be online for a while.)
    fn within_a_while(is_done: impl Fn() -> bool) -> bool {
        let begin = Instant::now();
        while !is_done() && begin.elapsed() < Duration::from_secs(20) {
            online();
            tidy();
            offline();
            std::thread::sleep(Duration::from_millis(1));
        }
        is_done()
    }

    #[test]
    fn garbage_of_a_thread_that_sleeps_is_freed_by_others() {
        let freed = Arc::new(AtomicBool::new(false));
        let sign = Arc::clone(&freed);
        let (wake, sleep) = channel::<()>();
        let sleeper = std::thread::spawn(move || {
            let guard = guard();
            retire(move || sign.store(true, Ordering::SeqCst));
            drop(guard);
            let _ = sleep.recv();
        });
        assert!(within_a_while(|| freed.load(Ordering::SeqCst)));
        drop(wake);
        sleeper.join().unwrap();
    }

    #[test]
    fn garbage_of_a_thread_that_blocks_is_freed_meanwhile() {
        static IS_FREED: AtomicBool = AtomicBool::new(false);
        let (tell, told) = channel::<()>();
        let (wake, blocked) = channel::<()>();
        let other = std::thread::spawn(move || {
            online();
            retire(|| IS_FREED.store(true, Ordering::SeqCst));
            offline_for_long();
            tell.send(()).unwrap();
            let _ = blocked.recv();
        });
        told.recv().unwrap();
        let epoch = next();
        assert!(within_a_while(|| is_freed(epoch)));
        assert!(IS_FREED.load(Ordering::SeqCst));
        drop(wake);
        other.join().unwrap();
    }

    #[test]
    fn garbage_is_freed_when_its_thread_and_those_it_was_left_to_have_freed_it() {
        static FREED: AtomicU64 = AtomicU64::new(0);
        let (tell, told) = channel::<()>();
        let (go_on, wait) = channel::<()>();
        let other = std::thread::spawn(move || {
            online();
            retire(|| _ = FREED.fetch_add(1, Ordering::SeqCst));
            offline();
            tell.send(()).unwrap();
            // The thread sleeps, and keeps its garbage.
            wait.recv().unwrap();
            online();
            while tidy() {
                std::thread::sleep(Duration::from_millis(1));
            }
            offline();
            let guard = guard();
            retire(|| {
                std::thread::sleep(Duration::from_millis(20));
                FREED.fetch_add(1, Ordering::SeqCst);
            });
            drop(guard);
        });
        told.recv().unwrap();
        let epoch = next();
        assert!(within_a_while(|| passed(epoch)));
        assert!(!is_freed(epoch), "another thread keeps it");
        assert_eq!(FREED.load(Ordering::SeqCst), 0);
        go_on.send(()).unwrap();
        assert!(within_a_while(|| is_freed(epoch)));
        assert!(FREED.load(Ordering::SeqCst) >= 1);
        other.join().unwrap();
        let epoch = next();
        assert!(within_a_while(|| is_freed(epoch)));
        assert_eq!(FREED.load(Ordering::SeqCst), 2);
    }

    #[test]
    fn a_thread_about_to_sleep_frees_its_garbage_and_orphans_and_keeps_no_room() {
        static FREED: AtomicU64 = AtomicU64::new(0);
        online();
        (0..10_000).for_each(|_| retire(|| _ = FREED.fetch_add(1, Ordering::SeqCst)));
        let mut looks = 0;
        while tidy() && looks < 20_000 {
            looks += 1;
            std::thread::sleep(Duration::from_millis(1));
        }
        offline();
        assert_eq!(FREED.load(Ordering::SeqCst), 10_000);
        let room = || LOCAL.with(|l| l.garbage.borrow().capacity());
        assert!(room() >= 10_000);
        shrink();
        assert!(room() <= FEW, "{}", room());
    }
}
