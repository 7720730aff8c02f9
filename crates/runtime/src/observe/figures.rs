//! What each thread counts of its own work, always: collections, steals, waits for locks. (For messages see `messages`.)
//!
//! A figure is written by its thread alone, with a plain load and a plain store, in cache lines of that thread. A reader adds up
//! the figures of all threads. So counting takes no locked instruction and no shared cache line. Threads that are not schedulers
//! (such as the poll thread, or one that frees tables) are few and count rarely: they share one row under a lock.

use crate::base::cycles;
use crate::observe::locks::{self, Waits};
use crate::observe::pauses::Pauses;
use heddle_memory::COUNTED;
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};

/// Written by one thread.
#[derive(Default)]
pub struct Figure(AtomicU64);

impl Figure {
    #[inline(always)]
    pub(crate) fn add(&self, more: u64) {
        // Relaxed: a statistic. No read-modify-write: no other thread writes it.
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(more), Ordering::Relaxed);
    }

    /// Called by the figure's own thread.
    pub(crate) fn set(&self, value: u64) {
        self.0.store(value, Ordering::Relaxed);
    }

    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

#[derive(Default)]
#[repr(align(128))]
pub struct Figures {
    /// The row's index: normal scheduler threads first, then dirty ones for CPU, for I/O; last the row of all other threads.
    number: u16,
    pub minor_collections: Figure,
    pub major_collections: Figure,
    /// Words that survived them.
    pub minor_words: Figure,
    pub major_words: Figure,
    pub words_reclaimed: Figure,
    /// Live words of the process that was collected last, old data included.
    pub last_live_words: Figure,
    /// In the unit of `cycles`.
    pub minor_time: Figure,
    pub major_time: Figure,
    /// Of a thread that has collected.
    pauses: OnceLock<Box<Pauses>>,
    /// Processes that this scheduler moved to itself, or away from itself, along migration paths.
    pub migrations: Figure,
    /// How often other threads woke the scheduler, how often it went to sleep, how often it looked for work at others.
    pub wake_ups: Figure,
    pub parks: Figure,
    pub searches: Figure,
    /// How often it began to be alone (`heddle_sync::alone`).
    pub claims: Figure,
    pub locks: [Waits; locks::CLASSES.len()],
}

static ALL: OnceLock<Box<[Figures]>> = OnceLock::new();
static OTHERS: Mutex<()> = Mutex::new(());

thread_local! {
    static MINE: Cell<Option<&'static Figures>> = const { Cell::new(None) };
}

/// Makes rows for `threads` scheduler threads, and one for all others.
pub fn init(threads: usize) {
    let _ = ALL.set((0..=threads).map(|number| Figures { number: number as u16, ..Figures::default() }).collect());
    crate::base::cycles::init();
}

/// The calling thread is scheduler thread `number`.
pub(crate) fn register(number: usize) {
    MINE.set(ALL.get().and_then(|all| all.get(number)));
    let row = heddle_memory::mine();
    row.is_of_scheduler(number);
    row.open_recent();
}

/// All rows: normal schedulers, dirty ones for CPU and for I/O, and last the row of all other threads.
pub fn all() -> &'static [Figures] {
    ALL.get().map_or(&[], |all| all)
}

/// The row of a scheduler thread.
pub fn of(number: usize) -> &'static Figures {
    &all()[number]
}

/// The sum over all threads.
pub fn sum(figure: impl Fn(&Figures) -> u64) -> u64 {
    all().iter().map(figure).sum()
}

/// The row of the calling thread.
pub(crate) fn number() -> usize {
    MINE.get().map_or_else(|| all().len() - 1, |mine| mine.number as usize)
}

/// Counts something for the calling thread.
#[inline(always)]
pub fn count(f: impl FnOnce(&Figures)) {
    match MINE.get() {
        _ if !COUNTED => {}
        Some(mine) => f(mine),
        None => count_for_others(f),
    }
}

#[cold]
#[inline(never)]
fn count_for_others(f: impl FnOnce(&Figures)) {
    if let Some(others) = all().last() {
        let _one_at_a_time = OTHERS.lock().unwrap();
        f(others);
    }
}

impl Figures {
    /// The row's index, see the field.
    pub fn number(&self) -> usize {
        self.number as usize
    }

    pub fn collections(&self) -> u64 {
        self.minor_collections.get() + self.major_collections.get()
    }

    /// Called by the row's own thread.
    pub(crate) fn collecting(&self) -> &Pauses {
        self.pauses.get_or_init(Box::default)
    }

    /// None if the thread has never collected.
    pub fn pauses(&self) -> Option<&Pauses> {
        self.pauses.get().map(|pauses| &**pauses)
    }

    pub fn lock_waits(&self) -> u64 {
        self.locks.iter().map(|waits| waits.count.get()).sum()
    }

    pub fn lock_wait_ns(&self) -> u64 {
        self.locks.iter().map(|waits| waits.ns.get()).sum()
    }
}

/// Counts a collection for the calling thread: `began` by `cycles`, words copied, reclaimed, and live when it was done.
pub(crate) fn collection(minor: bool, began: u64, copied: usize, reclaimed: usize, live: usize) {
    count(|mine| {
        let time = cycles::now().wrapping_sub(began);
        let (count, words, times, pauses) = if minor {
            (&mine.minor_collections, &mine.minor_words, &mine.minor_time, &mine.collecting().minor)
        } else {
            (&mine.major_collections, &mine.major_words, &mine.major_time, &mine.collecting().major)
        };
        count.add(1);
        words.add(copied as u64);
        times.add(time);
        pauses.add(cycles::to_rough_ns(time));
        mine.words_reclaimed.add(reclaimed as u64);
        mine.last_live_words.set(live as u64);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Threads that are not schedulers add to the same row, one at a time.
    #[test]
    fn nothing_that_other_threads_count_is_lost() {
        init(2);
        let row = all().last().unwrap();
        let before = row.searches.get();
        let threads: Vec<_> = (0..4).map(|_| std::thread::spawn(|| (0..1000).for_each(|_| count(|f| f.searches.add(1))))).collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(row.searches.get() - before, 4000);
        std::thread::spawn(|| {
            register(1);
            let before = of(1).parks.get();
            count(|f| f.parks.add(3));
            assert_eq!(of(1).parks.get() - before, 3);
        })
        .join()
        .unwrap();
    }
}
