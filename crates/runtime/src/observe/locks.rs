//! Locks that count the threads that wait for them, and for how long, by class of lock and by thread: always, as OTP's `lcnt` shows
//! it.
//!
//! A lock is tried first. Only a thread that does not get it reads the clock and counts, and that thread waits anyway. Acquisitions
//! that do not wait are counted from the first use of `lcnt` on (`clear`, `counted`), while any category is counted. Before that,
//! an acquisition costs reading one flag.

use crate::base::time::monotonic_ns;
use crate::observe::figures::{self, Figure, Figures};
use crate::observe::lock_order::Ordered;
use heddle_memory::COUNTED;
use heddle_sync::reader_lock::{ReadGuard, ReaderLock, WriteGuard};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError};

/// Classes of the locks that Erlang code may wait for, in the order of CLASSES. Debug builds check the order in which threads take locks of
/// different classes (`lock_order`); biased locks are not among them.
#[derive(Clone, Copy)]
#[repr(u8)]
pub enum LockClass {
    EtsHash,
    EtsTree,
    EtsTreeShape,
    EtsTable,
    EtsFixations,
    EtsNames,
    Names,
    Modules,
    CodeRanges,
    CodeChange,
    Exports,
    Funs,
    PersistentTerms,
    Literals,
    Ports,
    Port,
    PollSet,
    File,
    Environment,
    DirtyQueue,
    OutsideTimers,
    SocketRead,
    SocketWrite,
}

/// How `lcnt` shows a class: under the name that ERTS has for a lock with this purpose, if there is one.
pub struct Row {
    pub name: &'static str,
    pub kind: &'static str,
    pub category: &'static str,
}

const fn row(name: &'static str, kind: &'static str, category: &'static str) -> Row {
    Row { name, kind, category }
}

pub const CLASSES: [Row; 23] = [
    row("db_hash_slot", "rw_mutex", "db"),
    row("erl_db_catree_base_node", "rw_mutex", "db"),
    row("erl_db_catree_route_node", "mutex", "db"),
    row("db_tab", "mutex", "db"),
    row("db_tab_fix", "mutex", "db"),
    row("meta_name_tab", "mutex", "db"),
    row("reg_tab", "mutex", "process"),
    row("module_tab", "mutex", "generic"),
    row("code_ranges", "rw_mutex", "generic"),
    row("code_write_permission", "mutex", "generic"),
    row("export_tab", "mutex", "generic"),
    row("fun_tab", "mutex", "generic"),
    row("persistent_term_delete_permission", "mutex", "generic"),
    row("literal_areas", "mutex", "generic"),
    row("port_table", "rw_mutex", "io"),
    row("port_lock", "mutex", "io"),
    row("pollset", "mutex", "io"),
    row("file", "mutex", "io"),
    row("environ", "rw_mutex", "generic"),
    row("dirty_run_queue", "mutex", "scheduler"),
    row("timer_wheel", "mutex", "scheduler"),
    row("esock.r", "mutex", "io"),
    row("esock.w", "mutex", "io"),
];

/// The categories of `lcnt_control(mask)`, in its order.
pub const CATEGORIES: [&str; 8] = ["scheduler", "process", "io", "generic", "distribution", "debug", "db", "allocator"];
/// The categories that are counted, as bits.
static MASK: AtomicU8 = AtomicU8::new(u8::MAX);
/// True if figures of locks that are gone should be kept. Here they always are, so this only stores what was set.
pub static COPY_SAVE: AtomicBool = AtomicBool::new(false);

/// Number of classes of wait times: powers of two of nanoseconds; the last class has all longer ones.
pub(crate) const DURATIONS: usize = 30;

/// True if acquisitions are counted. Relaxed: a few more or less at the moment when it changes do not matter.
static TRIES_ARE_COUNTED: AtomicBool = AtomicBool::new(false);

/// What a thread waited for locks of a class.
#[derive(Default)]
pub struct Waits {
    /// Acquisitions, as far as they are counted.
    pub tries: Figure,
    pub count: Figure,
    pub ns: Figure,
    pub durations: [Figure; DURATIONS],
}

impl LockClass {
    #[inline]
    pub fn lock<T: ?Sized>(self, mutex: &Mutex<T>) -> Ordered<MutexGuard<'_, T>> {
        Ordered::new(self, || self.lock_counted(mutex))
    }

    #[inline]
    fn lock_counted<T: ?Sized>(self, mutex: &Mutex<T>) -> MutexGuard<'_, T> {
        self.tries();
        if !COUNTED {
            return mutex.lock().unwrap_or_else(PoisonError::into_inner);
        }
        match mutex.try_lock() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(e)) => e.into_inner(),
            Err(TryLockError::WouldBlock) => self.wait(|| mutex.lock().unwrap_or_else(PoisonError::into_inner)),
        }
    }

    #[inline]
    pub fn read<T: ?Sized>(self, lock: &RwLock<T>) -> Ordered<RwLockReadGuard<'_, T>> {
        Ordered::new(self, || self.read_counted(lock))
    }

    #[inline]
    fn read_counted<T: ?Sized>(self, lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
        self.tries();
        if !COUNTED {
            return lock.read().unwrap_or_else(PoisonError::into_inner);
        }
        match lock.try_read() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(e)) => e.into_inner(),
            Err(TryLockError::WouldBlock) => self.wait(|| lock.read().unwrap_or_else(PoisonError::into_inner)),
        }
    }

    #[inline]
    pub fn write<T: ?Sized>(self, lock: &RwLock<T>) -> Ordered<RwLockWriteGuard<'_, T>> {
        Ordered::new(self, || self.write_counted(lock))
    }

    #[inline]
    fn write_counted<T: ?Sized>(self, lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
        self.tries();
        if !COUNTED {
            return lock.write().unwrap_or_else(PoisonError::into_inner);
        }
        match lock.try_write() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(e)) => e.into_inner(),
            Err(TryLockError::WouldBlock) => self.wait(|| lock.write().unwrap_or_else(PoisonError::into_inner)),
        }
    }

    /// A reader that passes a biased lock does not count as waiting. The time that a writer waits for such readers is not counted
    /// either.
    #[inline]
    pub fn read_biased<T>(self, lock: &ReaderLock<T>) -> ReadGuard<'_, T> {
        self.tries();
        lock.try_read().unwrap_or_else(|| self.wait(|| lock.read()))
    }

    #[inline]
    pub fn write_biased<T>(self, lock: &ReaderLock<T>) -> WriteGuard<'_, T> {
        self.tries();
        lock.try_write().unwrap_or_else(|| self.wait(|| lock.write()))
    }

    /// A thread is about to take a lock of this class.
    #[inline(always)]
    pub fn tries(self) {
        if TRIES_ARE_COUNTED.load(Ordering::Relaxed) {
            self.count_try();
        }
    }

    #[cold]
    #[inline(never)]
    fn count_try(self) {
        if is_counted(CLASSES[self as usize].category) {
            figures::count(|mine| mine.locks[self as usize].tries.add(1));
        }
    }

    /// For a thread that tried the lock itself without success, after calling `tries`.
    #[cold]
    #[inline(never)]
    pub fn wait<R>(self, lock: impl FnOnce() -> R) -> R {
        if !is_counted(CLASSES[self as usize].category) {
            return lock();
        }
        let began = monotonic_ns();
        let guard = lock();
        let ns = (monotonic_ns() - began) as u64;
        figures::count(|mine| mine.locks[self as usize].add(ns));
        guard
    }
}

impl Waits {
    fn add(&self, ns: u64) {
        self.count.add(1);
        self.ns.add(ns);
        self.durations[(ns.max(1).ilog2() as usize).min(DURATIONS - 1)].add(1);
    }

    pub(crate) fn read(&self) -> Waited {
        Waited {
            tries: self.tries.get(),
            count: self.count.get(),
            ns: self.ns.get(),
            durations: std::array::from_fn(|i| self.durations[i].get()),
        }
    }
}

/// A reading of `Waits`.
#[derive(Clone, Default)]
pub struct Waited {
    pub tries: u64,
    pub count: u64,
    pub ns: u64,
    pub durations: [u64; DURATIONS],
}

impl Waited {
    fn since(&self, before: &Waited) -> Waited {
        Waited {
            tries: self.tries - before.tries,
            count: self.count - before.count,
            ns: self.ns - before.ns,
            durations: std::array::from_fn(|i| self.durations[i] - before.durations[i]),
        }
    }
}

fn bit(category: &str) -> Option<u8> {
    CATEGORIES.iter().position(|name| *name == category).map(|i| 1 << i)
}

pub fn is_counted(category: &str) -> bool {
    bit(category).is_some_and(|bit| MASK.load(Ordering::Relaxed) & bit != 0)
}

/// Counts these categories from now on, and no others. The error is the first category that does not exist.
pub fn set_counted<'a>(categories: impl IntoIterator<Item = &'a str>) -> Result<(), &'a str> {
    let mut mask = 0;
    for category in categories {
        mask |= bit(category).ok_or(category)?;
    }
    MASK.store(mask, Ordering::Relaxed);
    TRIES_ARE_COUNTED.store(mask != 0, Ordering::Relaxed);
    Ok(())
}

/// What had been counted when the counters were last cleared, by thread and class, and when that was. Each figure is written by its
/// thread alone, so it is not set to zero.
struct Cleared {
    at: i64,
    waited: Vec<Vec<Waited>>,
}

static CLEARED: Mutex<Option<Cleared>> = Mutex::new(None);

fn read(figures: &Figures) -> Vec<Waited> {
    figures.locks.iter().map(Waits::read).collect()
}

/// Counts from zero again.
pub fn clear() {
    *CLEARED.lock().unwrap() = Some(Cleared::now());
}

impl Cleared {
    fn now() -> Cleared {
        TRIES_ARE_COUNTED.store(MASK.load(Ordering::Relaxed) != 0, Ordering::Relaxed);
        Cleared { at: monotonic_ns(), waited: figures::all().iter().map(read).collect() }
    }
}

/// The nanoseconds of counting, and what was counted, by thread (as `figures::all`) and class. The first call begins to count.
pub fn counted() -> (u64, Vec<Vec<Waited>>) {
    let mut cleared = CLEARED.lock().unwrap();
    let cleared = cleared.get_or_insert_with(Cleared::now);
    let mut waited: Vec<Vec<Waited>> = figures::all().iter().map(read).collect();
    for (now, then) in waited.iter_mut().zip(&cleared.waited) {
        for (now, then) in now.iter_mut().zip(then) {
            *now = now.since(then);
        }
    }
    ((monotonic_ns() - cleared.at) as u64, waited)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// A wait is counted with the time it took, in its class and in no other; an acquisition without waiting is not.
    #[test]
    fn only_waits_are_counted() {
        figures::init(2);
        let lock = Mutex::new(0);
        let waits = |class: LockClass| figures::sum(|f| f.locks[class as usize].count.get());
        let (before, other) = (waits(LockClass::File), waits(LockClass::Environment));
        *LockClass::File.lock(&lock) += 1;
        assert_eq!(waits(LockClass::File), before);
        let ns = figures::sum(|f| f.locks[LockClass::File as usize].ns.get());
        std::thread::scope(|scope| {
            let guard = lock.lock().unwrap();
            scope.spawn(|| *LockClass::File.lock(&lock) += 1);
            std::thread::sleep(Duration::from_millis(30));
            drop(guard);
        });
        assert_eq!(*lock.lock().unwrap(), 2);
        assert_eq!((waits(LockClass::File), waits(LockClass::Environment)), (before + 1, other));
        assert!(figures::sum(|f| f.locks[LockClass::File as usize].ns.get()) - ns > 1_000_000);
    }

    #[test]
    fn a_wait_is_in_the_slot_of_its_power_of_two() {
        let waits = Waits::default();
        [0, 1, 2, 3, 1 << 20, u64::MAX >> 20].into_iter().for_each(|ns| waits.add(ns));
        let read = waits.read();
        assert_eq!((read.count, read.durations[0], read.durations[1], read.durations[20], read.durations[29]), (6, 2, 2, 1, 1));
    }

    #[test]
    fn classes_are_in_categories() {
        assert!(CLASSES.iter().all(|class| bit(class.category).is_some()));
        assert_eq!(CLASSES.len(), LockClass::SocketWrite as usize + 1);
        assert_eq!(CLASSES[LockClass::Port as usize].name, "port_lock");
        assert_eq!(set_counted(["db", "nonsense", "io"]), Err("nonsense"));
    }
}
