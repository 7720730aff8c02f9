//! A lock for what is read all the time and written seldom: then a reader writes nothing that others use.
//!
//! While the lock is biased, a reader only notes in a line of its own thread which lock it reads, and looks once more whether the
//! bias is still there. A writer takes the bias away and waits until no line names the lock. Note and look on one side, taking away
//! and looking on the other need a barrier between: the reader's is the light one, the writer pays for both (`barrier`), some
//! microseconds. So the bias is only given after many reads without a write (`PATIENCE`); without it this is an ordinary lock of
//! readers and writers. The idea is that of BRAVO (Dice and Kogan, 2019), with the lines per thread and the barrier of the system.

use crate::atomic::{AtomicBool, AtomicPtr, Ordering};
use crate::barrier;
use std::ptr::null_mut;

/// True if readers may pass the lock by.
pub struct Bias(AtomicBool);

impl Default for Bias {
    fn default() -> Bias {
        Bias(AtomicBool::new(false))
    }
}

impl Bias {
    fn name(&self) -> *mut () {
        std::ptr::from_ref(self).cast_mut().cast()
    }

    #[inline(always)]
    fn is_on(&self) -> bool {
        // Acquire: pairs with `give`; what was written under the lock before that is seen.
        self.0.load(Ordering::Acquire)
    }

    /// By a holder of the lock for reading.
    pub fn give(&self) {
        // Release: pairs with the Acquire in `is_on`.
        self.0.store(true, Ordering::Release);
    }

    /// A reader comes; `line` is its thread's, and names nothing. True if it may read until it calls `leave`.
    #[inline(always)]
    pub fn enter(&self, line: &AtomicPtr<()>) -> bool {
        line.store(self.name(), Ordering::Relaxed);
        barrier::light();
        let may = self.is_on();
        if !may {
            Bias::leave(line);
        }
        may
    }

    #[inline(always)]
    pub fn leave(line: &AtomicPtr<()>) {
        // Release: pairs with the look in `take_away`: the reads come before.
        line.store(null_mut(), Ordering::Release);
    }

    /// By the holder of the lock for writing: waits until no thread reads any more. `lines` is asked late: a thread that had none before
    /// sees that there is no bias.
    pub fn take_away<'a, I: Iterator<Item = &'a AtomicPtr<()>>>(&self, lines: impl FnOnce() -> I) {
        if !self.0.load(Ordering::Relaxed) {
            return;
        }
        self.0.store(false, Ordering::Relaxed);
        barrier::heavy();
        for line in lines() {
            let mut looks = 0;
            // Acquire: pairs with the Release in `leave`; the reads of that thread come before.
            while line.load(Ordering::Acquire) == self.name() {
                looks += 1;
                pause(looks);
            }
        }
    }
}

#[cfg(loom)]
fn pause(_: usize) {
    loom::thread::yield_now();
}
#[cfg(not(loom))]
fn pause(looks: usize) {
    if looks < 100 { std::hint::spin_loop() } else { std::thread::yield_now() }
}

#[cfg(not(loom))]
pub use lock::{ReadGuard, ReaderLock, WriteGuard};

#[cfg(not(loom))]
mod lock {
    use super::*;
    use crate::thread_slot::{self, Slot};
    use std::cell::UnsafeCell;
    use std::marker::PhantomData;
    use std::ops::{Deref, DerefMut};
    use std::ptr::NonNull;
    use std::sync::atomic::AtomicU16;
    use std::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError};

    /// Locks that a thread can read at a time without taking them; further ones it takes.
    const AT_A_TIME: usize = 3;

    /// Reads in a row that give the bias: they cost some 10 ns each, taking the bias away some 5,000 ns.
    const PATIENCE: u16 = 1000;

    #[repr(align(64))]
    struct Lines([AtomicPtr<()>; AT_A_TIME]);

    static LINES: [Lines; thread_slot::MAX] = [const { Lines([const { AtomicPtr::new(null_mut()) }; AT_A_TIME]) }; thread_slot::MAX];

    thread_local! {
        static MINE: (Slot, &'static Lines) = {
            let slot = Slot::mine();
            let lines = &LINES[slot.index()];
            (slot, lines)
        };
    }

    pub struct ReaderLock<T> {
        bias: Bias,
        /// Reads that are still to come before the bias. Counted down by readers one over the other: about right is enough.
        patience: AtomicU16,
        lock: RwLock<()>,
        value: UnsafeCell<T>,
    }

    // SAFETY: as RwLock: the value is given to one writer, or to readers, on any thread.
    unsafe impl<T: Send + Sync> Sync for ReaderLock<T> {}
    // SAFETY: as RwLock.
    unsafe impl<T: Send> Send for ReaderLock<T> {}

    enum Held<'a> {
        Noted(&'static AtomicPtr<()>),
        Taken { _guard: RwLockReadGuard<'a, ()> },
    }

    /// A pointer, not a reference: while a guard is dropped the lock is already given back, and a reference that is passed to a
    /// function must stay valid until the function returns. It is no `Send`: the guard ends on the thread that made it.
    pub struct ReadGuard<'a, T> {
        value: NonNull<T>,
        held: Held<'a>,
        _value: PhantomData<&'a T>,
    }

    pub struct WriteGuard<'a, T> {
        value: NonNull<T>,
        _guard: RwLockWriteGuard<'a, ()>,
        _value: PhantomData<&'a mut T>,
    }

    impl<T> ReaderLock<T> {
        pub const fn new(value: T) -> ReaderLock<T> {
            let bias = Bias(AtomicBool::new(false));
            ReaderLock { bias, patience: AtomicU16::new(PATIENCE), lock: RwLock::new(()), value: UnsafeCell::new(value) }
        }

        #[inline]
        pub fn read(&self) -> ReadGuard<'_, T> {
            let held = match self.note() {
                Some(line) => Held::Noted(line),
                None => self.take(),
            };
            ReadGuard { value: self.pointer(), held, _value: PhantomData }
        }

        #[inline(always)]
        fn pointer(&self) -> NonNull<T> {
            // SAFETY: the address of a value that is there.
            unsafe { NonNull::new_unchecked(self.value.get()) }
        }

        #[inline(always)]
        fn note(&self) -> Option<&'static AtomicPtr<()>> {
            if !self.bias.is_on() {
                return None;
            }
            // A thread that ends takes the lock.
            let lines = MINE.try_with(|mine| mine.1).ok()?;
            // Relaxed: this thread wrote them.
            let line = lines.0.iter().find(|line| line.load(Ordering::Relaxed).is_null())?;
            self.bias.enter(line).then_some(line)
        }

        /// None if a thread writes or waits to.
        #[inline]
        pub fn try_read(&self) -> Option<ReadGuard<'_, T>> {
            let held = match self.note() {
                Some(line) => Held::Noted(line),
                None => match self.lock.try_read() {
                    Ok(guard) => self.taken(guard),
                    Err(TryLockError::Poisoned(e)) => self.taken(e.into_inner()),
                    Err(TryLockError::WouldBlock) => return None,
                },
            };
            Some(ReadGuard { value: self.pointer(), held, _value: PhantomData })
        }

        #[cold]
        fn take(&self) -> Held<'_> {
            self.taken(self.lock.read().unwrap_or_else(|e| e.into_inner()))
        }

        #[inline]
        fn taken<'a>(&'a self, guard: RwLockReadGuard<'a, ()>) -> Held<'a> {
            let left = self.patience.load(Ordering::Relaxed);
            if left == 0 {
                self.bias.give();
            } else {
                self.patience.store(left - 1, Ordering::Relaxed);
            }
            Held::Taken { _guard: guard }
        }

        #[inline]
        pub fn write(&self) -> WriteGuard<'_, T> {
            self.written(self.lock.write().unwrap_or_else(|e| e.into_inner()))
        }

        /// None if a thread writes, or has taken it to read. Waits for readers that only noted it.
        #[inline]
        pub fn try_write(&self) -> Option<WriteGuard<'_, T>> {
            match self.lock.try_write() {
                Ok(guard) => Some(self.written(guard)),
                Err(TryLockError::Poisoned(e)) => Some(self.written(e.into_inner())),
                Err(TryLockError::WouldBlock) => None,
            }
        }

        #[inline(always)]
        fn written<'a>(&'a self, guard: RwLockWriteGuard<'a, ()>) -> WriteGuard<'a, T> {
            self.patience.store(PATIENCE, Ordering::Relaxed);
            self.bias.take_away(|| LINES[..thread_slot::used()].iter().flat_map(|lines| &lines.0));
            WriteGuard { value: self.pointer(), _guard: guard, _value: PhantomData }
        }

        pub fn get_mut(&mut self) -> &mut T {
            self.value.get_mut()
        }
    }

    impl<T> Deref for ReadGuard<'_, T> {
        type Target = T;
        #[inline(always)]
        fn deref(&self) -> &T {
            // SAFETY: writers are kept out by the lock that is held, or wait for the line (`Bias`), until the guard goes.
            unsafe { self.value.as_ref() }
        }
    }

    impl<T> Drop for ReadGuard<'_, T> {
        #[inline(always)]
        fn drop(&mut self) {
            if let Held::Noted(line) = self.held {
                Bias::leave(line);
            }
        }
    }

    impl<T> Deref for WriteGuard<'_, T> {
        type Target = T;
        #[inline(always)]
        fn deref(&self) -> &T {
            // SAFETY: the lock is held for writing, and nothing reads without it.
            unsafe { self.value.as_ref() }
        }
    }

    impl<T> DerefMut for WriteGuard<'_, T> {
        #[inline(always)]
        fn deref_mut(&mut self) -> &mut T {
            // SAFETY: the lock is held for writing, and nothing reads without it.
            unsafe { self.value.as_mut() }
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use std::sync::Arc;

        #[test]
        fn many_reads_bias_it_and_a_write_ends_that() {
            let lock = ReaderLock::new(7);
            assert!((0..=PATIENCE).all(|_| matches!(lock.read().held, Held::Taken { .. })));
            let guards: Vec<_> = (0..=AT_A_TIME).map(|_| lock.read()).collect();
            assert!(guards[..AT_A_TIME].iter().all(|guard| matches!(guard.held, Held::Noted(_))));
            assert!(matches!(guards[AT_A_TIME].held, Held::Taken { .. }), "no line is left");
            drop(guards);
            *lock.write() += 1;
            let guard = lock.read();
            assert!(matches!(guard.held, Held::Taken { .. }) && *guard == 8);
            assert!(lock.try_write().is_none());
        }

        /// Two values that a writer keeps equal, with a bias that comes and goes all the time.
        #[test]
        fn readers_see_no_write_half_done() {
            let lock = Arc::new(ReaderLock::new((0u64, 0u64)));
            let readers: Vec<_> = (0..3)
                .map(|_| {
                    let lock = lock.clone();
                    std::thread::spawn(move || {
                        let (mut noted, mut last) = (0, 0);
                        while last < 300 {
                            let guard = lock.read();
                            noted += matches!(guard.held, Held::Noted(_)) as u64;
                            assert_eq!(guard.0, guard.1);
                            assert!(guard.0 >= last);
                            last = guard.0;
                        }
                        noted
                    })
                })
                .collect();
            for n in 1..=300 {
                let mut guard = lock.write();
                guard.0 = n;
                std::hint::spin_loop();
                guard.1 = n;
                drop(guard);
                lock.patience.store(n as u16 % 5, Ordering::Relaxed);
                std::thread::yield_now();
            }
            assert!(readers.into_iter().map(|reader| reader.join().unwrap()).sum::<u64>() > 0, "no reader passed the lock by");
        }
    }
}
