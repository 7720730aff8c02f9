//! A record of what schedulers do, switched on when wanted (`heddle_stats:record(start)`): when each had work and had none, slept
//! and was woken, which scheduler it woke, what it stole and moved. When off, it costs reading a flag at each of these events, none
//! of which happens when a process is switched or a message is sent.
//!
//! Each thread writes into a ring of its own and overwrites the oldest entries. Readers take no lock: a reader copies the ring,
//! checks how far the writer came meanwhile, and drops what the writer may have overwritten.

use crate::base::time::monotonic_ns;
use crate::observe::figures;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering, fence};
use std::sync::{Mutex, OnceLock};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RecordedEvent {
    /// The scheduler found work after it had none; it has none.
    Busy,
    Idle,
    /// The scheduler goes to sleep; it is awake.
    Park,
    Unpark,
    /// It wakes this scheduler.
    WakeUp(usize),
    /// It took processes from this scheduler: the scheduler and their number.
    Steal(usize, usize),
    /// It moved processes along a migration path, from or to this scheduler: the scheduler and their number.
    Migrate(usize, usize),
}

pub struct Entry {
    pub ns: i64,
    /// An index as in `figures::all`.
    pub thread: usize,
    pub event: RecordedEvent,
}

/// The number of entries that a thread keeps.
const LENGTH: u64 = 1 << 13;

struct Slot {
    ns: AtomicI64,
    event: AtomicU64,
}

struct Ring {
    slots: Box<[Slot]>,
    /// The number of entries that were ever written. Release in `write`, Acquire in `read`.
    written: AtomicU64,
}

static ON: AtomicBool = AtomicBool::new(false);
/// Entries before this time are no part of the record.
static BEGAN: AtomicI64 = AtomicI64::new(i64::MAX);
/// Made when a record is first wanted: one a thread, as in `figures::all`. The last is for all threads that are not schedulers.
static RINGS: OnceLock<Box<[Ring]>> = OnceLock::new();
static OTHERS: Mutex<()> = Mutex::new(());

impl Ring {
    fn new() -> Ring {
        let slot = |_| Slot { ns: AtomicI64::new(0), event: AtomicU64::new(0) };
        Ring { slots: (0..LENGTH).map(slot).collect(), written: AtomicU64::new(0) }
    }

    fn write(&self, ns: i64, event: RecordedEvent) {
        let at = self.written.load(Ordering::Relaxed);
        let slot = &self.slots[(at % LENGTH) as usize];
        // Pairs with the fence in `read`: a reader that sees a store below also sees the last store of `written`.
        fence(Ordering::Release);
        slot.ns.store(ns, Ordering::Relaxed);
        slot.event.store(pack(event), Ordering::Relaxed);
        // Release: pairs with the first load in `read`. A reader that sees the number sees the entry.
        self.written.store(at + 1, Ordering::Release);
    }

    fn read(&self) -> Vec<(i64, RecordedEvent)> {
        let written = self.written.load(Ordering::Acquire);
        let first = written.saturating_sub(LENGTH);
        let entries: Vec<_> = (first..written)
            .map(|at| {
                let slot = &self.slots[(at % LENGTH) as usize];
                (slot.ns.load(Ordering::Relaxed), slot.event.load(Ordering::Relaxed))
            })
            .collect();
        // Acquire: pairs with the fence in `write`.
        fence(Ordering::Acquire);
        // What the writer has overwritten since, and the entry it may be writing now.
        let lost = (self.written.load(Ordering::Relaxed) + 1).saturating_sub(LENGTH).saturating_sub(first);
        entries.into_iter().skip(lost as usize).map(|(ns, event)| (ns, unpack(event))).collect()
    }
}

fn pack(event: RecordedEvent) -> u64 {
    let (kind, scheduler, count) = match event {
        RecordedEvent::Busy => (0, 0, 0),
        RecordedEvent::Idle => (1, 0, 0),
        RecordedEvent::Park => (2, 0, 0),
        RecordedEvent::Unpark => (3, 0, 0),
        RecordedEvent::WakeUp(scheduler) => (4, scheduler, 0),
        RecordedEvent::Steal(scheduler, count) => (5, scheduler, count),
        RecordedEvent::Migrate(scheduler, count) => (6, scheduler, count),
    };
    kind | (scheduler as u64) << 8 | (count as u64) << 32
}

fn unpack(word: u64) -> RecordedEvent {
    let (scheduler, count) = ((word >> 8) as usize & 0xff_ffff, (word >> 32) as usize);
    match word & 0xff {
        0 => RecordedEvent::Busy,
        1 => RecordedEvent::Idle,
        2 => RecordedEvent::Park,
        3 => RecordedEvent::Unpark,
        4 => RecordedEvent::WakeUp(scheduler),
        5 => RecordedEvent::Steal(scheduler, count),
        _ => RecordedEvent::Migrate(scheduler, count),
    }
}

/// Something happened to the calling thread.
#[inline(always)]
pub(crate) fn event(event: RecordedEvent) {
    // Relaxed: an event more or less, when the record is switched, does not matter.
    if heddle_memory::COUNTED && ON.load(Ordering::Relaxed) {
        write(event);
    }
}

#[cold]
#[inline(never)]
fn write(event: RecordedEvent) {
    let Some(rings) = RINGS.get() else { return };
    let number = figures::number();
    let _one_at_a_time = (number + 1 == rings.len()).then(|| OTHERS.lock().unwrap());
    rings[number].write(monotonic_ns(), event);
}

/// Begins a new record.
pub fn start() {
    RINGS.get_or_init(|| figures::all().iter().map(|_| Ring::new()).collect());
    BEGAN.store(monotonic_ns(), Ordering::Relaxed);
    // SeqCst orders no memory that writers need: they load it Relaxed, and find the rings in a OnceLock.
    ON.store(true, Ordering::SeqCst);
}

/// Ends the record. It can still be read.
pub fn stop() {
    // SeqCst: as in `start`.
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
        let all = [
            RecordedEvent::Busy,
            RecordedEvent::Idle,
            RecordedEvent::Park,
            RecordedEvent::Unpark,
            RecordedEvent::WakeUp(1023),
            RecordedEvent::Steal(63, 64),
            RecordedEvent::Migrate(2, 1),
        ];
        assert_eq!(all.map(|event| unpack(pack(event))), all);
    }

    #[test]
    fn the_newest_are_kept() {
        let ring = Ring::new();
        assert!(ring.read().is_empty());
        (0..LENGTH as i64 + 10).for_each(|ns| ring.write(ns, RecordedEvent::Steal(1, ns as usize)));
        let read = ring.read();
        // The oldest one might be being overwritten.
        assert_eq!(read.len() as u64, LENGTH - 1);
        assert!(read.iter().all(|&(ns, event)| event == RecordedEvent::Steal(1, ns as usize)));
        assert_eq!(read.last().unwrap().0, LENGTH as i64 + 9);
    }

    /// A reader beside the writer sees no entry that is half old and half new.
    #[test]
    fn what_is_read_is_whole() {
        let ring = Ring::new();
        std::thread::scope(|scope| {
            scope.spawn(|| (0..200_000i64).for_each(|ns| ring.write(ns, RecordedEvent::Steal(7, ns as usize))));
            for _ in 0..200 {
                let read = ring.read();
                assert!(read.iter().all(|&(ns, event)| event == RecordedEvent::Steal(7, ns as usize)));
                assert!(read.is_sorted_by(|a, b| a.0 + 1 == b.0));
            }
        });
    }
}
