//! A collection of the shared heap. The world is stopped while it runs.
//!
//! 1. Everything reachable from the processes is copied to the old generation: in a minor collection from those that were remembered since the
//!    last one, in a major collection from all of them.
//! 2. Off-heap objects that were not copied are released. Blocks of processes are emptied, those of ended processes freed.
//! 3. In a major collection: some of the old generation's previous pieces are kept for objects that are promoted next. The rest is freed
//!    after the world was resumed.
//!
//! One thread runs the collection. Others that wait for its end help with the first two parts (`help`): they take processes, and spans of
//! each other. A thread that takes part finishes the first part only when all have.

use super::copier::{Copier, Moving};
use super::pieces::{self, OLD, Old, Piece};
use super::spans::Spans;
use super::{budget, chunk, idle, nursery, remembered, roots, safepoint, verify, zombies};
use crate::base::{affinity, cycles, zeal};
use crate::observe::figures;
use crate::process::ProcRef;
use crate::process::proctab;
use crate::sched;
use heddle_abi::settings::SETTINGS;
use heddle_term::literal::Leaving;
use heddle_term::{OffHeap, literal};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

/// Number of collections so far.
pub(super) static COUNT: AtomicU64 = AtomicU64::new(0);
/// Words that the last collection copied. Written by the thread that ran it, read by those that waited for it: the lock of `safepoint`
/// orders the two.
pub(super) static COPIED_WORDS: AtomicUsize = AtomicUsize::new(0);
/// The next collection is a major one and replaces the literals that are announced as leaving by copies.
pub(super) static LEAVES_LITERALS: AtomicBool = AtomicBool::new(false);

/// Wakes this many schedulers, so that they help. Set when the schedulers are there.
pub(crate) static WAKE: OnceLock<fn(usize)> = OnceLock::new();

/// The work that others may help with, or none. A thread that helps increments `CollectionWork::helpers` under this lock.
static WORK: Mutex<Option<&'static CollectionWork>> = Mutex::new(None);
/// True if `WORK` is set. Relaxed: a hint for waiting threads.
pub(super) static IS_OPEN: AtomicBool = AtomicBool::new(false);

/// With fewer words to copy it does not pay to wake other threads.
const PARALLEL_WORDS: usize = 16 * 1024;
/// The same limit for helpers that are already awake.
const PARALLEL_AT_ONCE_WORDS: usize = 4 * 1024;
/// Number of processes that a thread takes at a time: it walks along their queues together (`walk`).
const PROCESSES: usize = 8;
/// The thread that runs a collection spins this many times for the others to finish. Then it yields its core to them.
const LOOKS: usize = 200;

fn max_threads() -> usize {
    match SETTINGS.collecting_threads_max.get() {
        0 => affinity::processors(),
        most => most,
    }
}

/// Runs a collection, a major one if that was requested. No thread is inside. The caller frees the returned pieces after it has resumed the
/// world.
pub(super) fn run(asks_major: bool) -> Vec<Piece> {
    let began = cycles::now();
    figures::count(|mine| mine.collecting().stopping.add(cycles::to_rough_ns(nursery::since_request(began))));
    let mut old = OLD.lock().unwrap();
    let leaving = if LEAVES_LITERALS.swap(false, Ordering::Relaxed) { literal::leaving() } else { None };
    let is_major = asks_major || leaving.is_some() || old.is_due();
    let before = old.words;
    let mut from = Vec::new();
    let (copied, young) = collect(&mut old, &mut from, is_major, leaving);
    if is_major {
        old.was_collected(before + young);
        from = pieces::keep_some(from, old.growth_words());
    }
    COUNT.fetch_add(1, Ordering::Relaxed);
    COPIED_WORDS.store(copied, Ordering::Relaxed);
    if zeal::gc() || zeal::verifies() {
        verify::all(&old);
    }
    let time = cycles::now().wrapping_sub(began);
    let pause_ns = cycles::to_ns(time);
    if asks_major {
        budget::took(pause_ns);
    }
    idle::collected(&old, is_major, pause_ns as usize / 1000);
    nursery::collected(!is_major, began, copied, old.words);
    figures::collection(!is_major, began, copied, (before + young).saturating_sub(old.words), old.words);
    from
}

/// Returns the words copied, and the words that the young generation had. Pieces that nothing refers to any more are added to `from`.
fn collect(old: &mut Old, from: &mut Vec<Piece>, is_major: bool, leaving: Option<&'static Leaving>) -> (usize, usize) {
    let expected = if is_major { old.words } else { nursery::copied_last() };
    let is_worth_it = expected >= PARALLEL_WORDS || expected >= PARALLEL_AT_ONCE_WORDS && safepoint::has_spinning_waiters();
    let most = if leaving.is_none() && is_worth_it { max_threads() } else { 1 };
    let moving = match leaving {
        Some(leaving) => Moving::off(leaving),
        None => Moving::new(is_major, most > 1),
    };
    let mut off_heap = null_mut();
    if is_major {
        from.append(&mut old.full);
        from.append(&mut old.open);
        off_heap = std::mem::replace(&mut old.off_heap, OffHeap::new()).head;
        (old.words, old.queued) = (0, 0);
    }
    let work = CollectionWork::gather(moving, std::mem::take(&mut old.open), most);
    let mut copier = work.begin().expect("the first thread");
    // SAFETY: no thread uses it once `helpers` is 0 again, which is waited for below, and from then on no thread can find it.
    let shared: &'static CollectionWork = unsafe { &*std::ptr::from_ref(&work) };
    if most > 1 {
        *WORK.lock().unwrap() = Some(shared);
        IS_OPEN.store(true, Ordering::Relaxed);
        safepoint::call_helpers(most - 1);
        if is_major {
            WAKE.get().into_iter().for_each(|wake| wake(most));
        }
    }
    work.run(&mut copier);
    if most > 1 {
        IS_OPEN.store(false, Ordering::Relaxed);
        *WORK.lock().unwrap() = None;
        let mut looks = 0;
        while work.helpers.load(Ordering::Acquire) != 0 {
            looks += 1;
            if looks < LOOKS {
                std::hint::spin_loop();
            } else {
                std::thread::yield_now();
            }
        }
    }
    // SAFETY: the list was the old generation's, and all was copied.
    unsafe { copier.sweep(off_heap) };
    let mut words = (copier.copied_words, copier.young_words);
    copier.hand_over(old);
    old.open.append(&mut work.open.into_inner().unwrap());
    for helper in work.results.into_inner().unwrap() {
        words = (words.0 + helper.copied_words, words.1 + helper.young_words);
        helper.hand_over(old);
    }
    words
}

/// A thread that waits for the end of a collection helps, if help is wanted. Returns false if there was nothing to do for it.
pub(super) fn help() -> bool {
    let work = {
        let work = WORK.lock().unwrap();
        let Some(work) = *work else { return false };
        if work.helpers.load(Ordering::Relaxed) + 1 >= work.max_threads {
            return false;
        }
        // Under the lock, so the thread that takes the work back sees it.
        work.helpers.fetch_add(1, Ordering::Relaxed);
        work
    };
    let copier = work.begin();
    let helped = copier.is_some();
    if let Some(mut copier) = copier {
        work.run(&mut copier);
        work.results.lock().unwrap().push(copier);
    }
    // Release, paired with the Acquire load in `collect`: the thread that waits for the helpers sees their work.
    work.helpers.fetch_sub(1, Ordering::Release);
    helped
}

/// The processes that last ran on the schedulers of one thread. What they made is in the cache of its core, and their blocks are pages of
/// that thread's allocator. So this thread begins with them.
struct Partition {
    processes: Vec<ProcRef>,
    visited: Cursor,
    reclaimed: Cursor,
}

/// The index of the next process that no thread has taken, on a cache line of its own.
#[derive(Default)]
#[repr(align(128))]
struct Cursor(AtomicUsize);

impl Cursor {
    /// Takes the next processes, up to `PROCESSES`; None when all are taken.
    fn take<'a>(&self, processes: &'a [ProcRef]) -> Option<&'a [ProcRef]> {
        // Relaxed: each index is handed out once. The processes were written before the world stopped.
        let from = self.0.fetch_add(PROCESSES, Ordering::Relaxed);
        processes.get(from..).filter(|left| !left.is_empty()).map(|left| &left[..left.len().min(PROCESSES)])
    }
}

fn divide(processes: Vec<ProcRef>, partitions: usize) -> Vec<Partition> {
    let partition = |processes| Partition { processes, visited: Cursor::default(), reclaimed: Cursor::default() };
    if partitions == 1 {
        return vec![partition(processes)];
    }
    let mut lists = vec![Vec::new(); partitions];
    processes.into_iter().for_each(|p| lists[p.last_scheduler.load(Ordering::Relaxed) as usize % partitions].push(p));
    lists.into_iter().map(partition).collect()
}

/// The roots that must be visited, and how far the threads are with them.
struct CollectionWork {
    moving: Moving,
    partitions: Vec<Partition>,
    orphans: Mutex<*mut chunk::Trailer>,
    spans: Spans,
    /// Pieces that have room, for the threads that join.
    open: Mutex<Vec<Piece>>,
    max_threads: usize,
    /// Release in `help`, Acquire in `collect`, which sees the work of the helpers.
    helpers: AtomicUsize,
    results: Mutex<Vec<Copier>>,
}

// SAFETY: the blocks that it lists are taken under its lock, one by one.
unsafe impl Sync for CollectionWork {}

impl CollectionWork {
    /// Gathers all processes for a major collection, those remembered since the last collection for a minor one, and the orphans of all
    /// threads. The world is stopped.
    fn gather(moving: Moving, open: Vec<Piece>, max_threads: usize) -> CollectionWork {
        let mut processes = Vec::new();
        if moving.is_major {
            let mut worked = 0;
            remembered::take(|_| worked += 1);
            nursery::worked(worked);
            proctab::for_each(|p| processes.push(p));
            proctab::for_each_port(|p| processes.push(p));
        } else {
            remembered::take(|p| processes.push(p));
            nursery::worked(processes.len());
        }
        zombies::for_each(|p| processes.push(p));
        let mut orphans: *mut chunk::Trailer = null_mut();
        for line in safepoint::lines() {
            let mut orphan = line.orphans.swap(null_mut(), Ordering::Relaxed);
            while !orphan.is_null() {
                // SAFETY: listed blocks are the collector's now.
                unsafe {
                    let next = (*orphan).next;
                    (*orphan).next = orphans;
                    orphans = orphan;
                    orphan = next;
                }
            }
            line.unreported_words.store(0, Ordering::Relaxed);
        }
        CollectionWork {
            moving,
            partitions: divide(processes, max_threads),
            orphans: Mutex::new(orphans),
            spans: Spans::default(),
            open: Mutex::new(open),
            max_threads,
            helpers: AtomicUsize::new(0),
            results: Mutex::new(Vec::new()),
        }
    }

    /// The calling thread joins; None if the collection is already over.
    fn begin(&self) -> Option<Copier> {
        self.spans.join().then(|| Copier::new(self.moving, self.open.lock().unwrap().pop()))
    }

    /// Does the calling thread's share of both parts.
    fn run(&self, copier: &mut Copier) {
        let is_major = self.moving.is_major;
        let (theirs, mine) = self.partitions.split_at(sched::current_index().unwrap_or(0) % self.partitions.len());
        let partitions = || mine.iter().chain(theirs);
        // The second part begins when all threads have finished copying.
        // SAFETY: the world is stopped; each process, span and block is given to one thread.
        unsafe {
            for partition in partitions() {
                while let Some(some) = partition.visited.take(&partition.processes) {
                    roots::visit(some, copier, &self.spans);
                }
            }
            while let Some(span) = copier.take(&self.spans) {
                copier.help_with(span, &self.spans);
            }
            for partition in partitions() {
                while let Some(some) = partition.reclaimed.take(&partition.processes) {
                    some.iter().for_each(|&p| roots::reclaim(p, is_major, copier));
                }
            }
            while let Some(orphan) = self.next_orphan() {
                roots::reclaim_orphan(orphan, copier);
            }
        }
    }

    fn next_orphan(&self) -> Option<*mut chunk::Trailer> {
        let mut orphans = self.orphans.lock().unwrap();
        let orphan = *orphans;
        if orphan.is_null() {
            return None;
        }
        // SAFETY: as in `gather`.
        *orphans = unsafe { (*orphan).next };
        Some(orphan)
    }
}
