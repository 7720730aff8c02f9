//! A record of what schedulers do, switched on for a look (`heddle_stats:record(start)`): when each had work and had none, slept
//! and was woken, whom it woke, what it stole and moved. Off, it costs one look at a flag at each of these, none of which happens
//! when a process is switched or a message is sent.
//!
//! Each thread writes into a ring of its own and overwrites what is oldest. A reader takes no part: it reads the ring, looks how
//! far the writer came meanwhile, and forgets what that may have overwritten.

use crate::figures;
use crate::time::monotonic_ns;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering, fence};
use std::sync::{Mutex, OnceLock};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// It found work after it had none; it has none.
    Busy,
    Idle,
    /// It goes to sleep, it is awake.
    Park,
    Unpark,
    /// It wakes this scheduler.
    WakeUp(usize),
    /// It took so many processes from this scheduler.
    Steal(usize, usize),
    /// So many processes moved along a migration path, by its doing, from or to this scheduler.
    Migrate(usize, usize),
}

pub struct Entry {
    pub ns: i64,
    /// As `figures::all`.
    pub thread: usize,
    pub event: Event,
}

/// Entries of a thread.
const LENGTH: u64 = 1 << 13;

struct Slot {
    ns: AtomicI64,
    event: AtomicU64,
}

struct Ring {
    slots: Box<[Slot]>,
    /// How many were ever written.
    written: AtomicU64,
}

static ON: AtomicBool = AtomicBool::new(false);
/// What came before is no part of the record.
static BEGAN: AtomicI64 = AtomicI64::new(i64::MAX);
/// Made when a record is first wanted, by thread as `figures::all`. The last is for all threads that are no schedulers.
static RINGS: OnceLock<Box<[Ring]>> = OnceLock::new();
static OTHERS: Mutex<()> = Mutex::new(());

impl Ring {
    fn new() -> Ring {
        let slot = |_| Slot { ns: AtomicI64::new(0), event: AtomicU64::new(0) };
        Ring { slots: (0..LENGTH).map(slot).collect(), written: AtomicU64::new(0) }
    }

    fn write(&self, ns: i64, event: Event) {
        let at = self.written.load(Ordering::Relaxed);
        let slot = &self.slots[(at % LENGTH) as usize];
        // Pairs with the fence in `read`: who sees what follows sees the last store of `written` as well.
        fence(Ordering::Release);
        slot.ns.store(ns, Ordering::Relaxed);
        slot.event.store(pack(event), Ordering::Relaxed);
        // Release: pairs with the first load in `read`, who sees the number sees the entry.
        self.written.store(at + 1, Ordering::Release);
    }

    fn read(&self) -> Vec<(i64, Event)> {
        let written = self.written.load(Ordering::Acquire);
        let first = written.saturating_sub(LENGTH);
        let entries: Vec<_> = (first..written)
            .map(|at| {
                let slot = &self.slots[(at % LENGTH) as usize];
                (slot.ns.load(Ordering::Relaxed), slot.event.load(Ordering::Relaxed))
            })
            .collect();
        fence(Ordering::Acquire);
        // What the writer has overwritten since, and the one that it may be writing.
        let lost = (self.written.load(Ordering::Relaxed) + 1).saturating_sub(LENGTH).saturating_sub(first);
        entries.into_iter().skip(lost as usize).map(|(ns, event)| (ns, unpack(event))).collect()
    }
}

fn pack(event: Event) -> u64 {
    let (kind, scheduler, count) = match event {
        Event::Busy => (0, 0, 0),
        Event::Idle => (1, 0, 0),
        Event::Park => (2, 0, 0),
        Event::Unpark => (3, 0, 0),
        Event::WakeUp(scheduler) => (4, scheduler, 0),
        Event::Steal(scheduler, count) => (5, scheduler, count),
        Event::Migrate(scheduler, count) => (6, scheduler, count),
    };
    kind | (scheduler as u64) << 8 | (count as u64) << 32
}

fn unpack(word: u64) -> Event {
    let (scheduler, count) = ((word >> 8) as usize & 0xff_ffff, (word >> 32) as usize);
    match word & 0xff {
        0 => Event::Busy,
        1 => Event::Idle,
        2 => Event::Park,
        3 => Event::Unpark,
        4 => Event::WakeUp(scheduler),
        5 => Event::Steal(scheduler, count),
        _ => Event::Migrate(scheduler, count),
    }
}

/// Something happened to the calling thread.
#[inline(always)]
pub fn event(event: Event) {
    // Relaxed: an event more or less when it is switched.
    if heddle_memory::COUNTED && ON.load(Ordering::Relaxed) {
        write(event);
    }
}

#[cold]
#[inline(never)]
fn write(event: Event) {
    let Some(rings) = RINGS.get() else { return };
    let number = figures::number();
    let _one_at_a_time = (number + 1 == rings.len()).then(|| OTHERS.lock().unwrap());
    rings[number].write(monotonic_ns(), event);
}

/// Begins a new record.
pub fn start() {
    RINGS.get_or_init(|| figures::all().iter().map(|_| Ring::new()).collect());
    BEGAN.store(monotonic_ns(), Ordering::Relaxed);
    ON.store(true, Ordering::SeqCst);
}

/// Ends the record. It can still be read.
pub fn stop() {
    ON.store(false, Ordering::SeqCst);
}

/// What is in the record, in order of time.
pub fn events() -> Vec<Entry> {
    let began = BEGAN.load(Ordering::Relaxed);
    let mut all: Vec<Entry> = Vec::new();
    for (thread, ring) in RINGS.get().into_iter().flatten().enumerate() {
        all.extend(ring.read().into_iter().filter(|(ns, _)| *ns >= began).map(|(ns, event)| Entry { ns, thread, event }));
    }
    all.sort_by_key(|entry| entry.ns);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_back_as_they_were_written() {
        let all = [Event::Busy, Event::Idle, Event::Park, Event::Unpark, Event::WakeUp(1023), Event::Steal(63, 64), Event::Migrate(2, 1)];
        assert_eq!(all.map(|event| unpack(pack(event))), all);
    }

    #[test]
    fn the_newest_are_kept() {
        let ring = Ring::new();
        assert!(ring.read().is_empty());
        (0..LENGTH as i64 + 10).for_each(|ns| ring.write(ns, Event::Steal(1, ns as usize)));
        let read = ring.read();
        // The oldest one might be being overwritten.
        assert_eq!(read.len() as u64, LENGTH - 1);
        assert!(read.iter().all(|&(ns, event)| event == Event::Steal(1, ns as usize)));
        assert_eq!(read.last().unwrap().0, LENGTH as i64 + 9);
    }

    /// A reader beside the writer sees no entry that is half old and half new.
    #[test]
    fn what_is_read_is_whole() {
        let ring = Ring::new();
        std::thread::scope(|scope| {
            scope.spawn(|| (0..200_000i64).for_each(|ns| ring.write(ns, Event::Steal(7, ns as usize))));
            for _ in 0..200 {
                let read = ring.read();
                assert!(read.iter().all(|&(ns, event)| event == Event::Steal(7, ns as usize)));
                assert!(read.is_sorted_by(|a, b| a.0 + 1 == b.0));
            }
        });
    }
}
