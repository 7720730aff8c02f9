//! Counts messages, always: how many each thread sent, to the processes of which schedulers, and of which sizes. The figures are in
//! the thread's row of `heddle_memory`, which every thread that allocates has. So a message without data, as most are, costs one
//! addition once the address of the row is known.
//!
//! Messages are counted by the scheduler on which the receiver ran last. What that means for the sender is computed when the
//! figures are read.

use crate::base::cycles;
use crate::base::place::MAX_SCHEDULERS;
use heddle_memory::{COUNTED, Row, TALLIES, own_row};

/// Size classes of messages: none, 1, 2-3, 4-7, ... words.
pub(crate) const SIZES: usize = 64;

/// Tallies of a row: messages to other processes, by the scheduler on which the receiver ran last (`ProcShared::last_scheduler`).
const PLACES: usize = MAX_SCHEDULERS;
/// Messages to the sender itself.
const MYSELF: usize = PLACES;
/// Words of all messages.
const WORDS: usize = PLACES + 1;
/// Messages that have words, by size class.
const FIRST_SIZE: usize = PLACES + 2;

/// Messages whose copying was timed, by size class: how many, and the time in the unit of `cycles`.
const FIRST_TIMED: usize = FIRST_SIZE + SIZES;
const FIRST_TIME: usize = FIRST_TIMED + SIZES;
/// Messages of which nothing was copied because all of it is in the message area; those of which only a part was copied; words of
/// the regions of both.
const REFERRED: usize = FIRST_TIME + SIZES;
const PARTLY_REFERRED: usize = REFERRED + 1;
const REFERRED_WORDS: usize = REFERRED + 2;
/// Of these words and of those that were copied, the ones that were foreseen to be part of a message.
const FORESEEN_WORDS: usize = REFERRED + 3;

const _: () = assert!(PLACES.is_power_of_two() && FORESEEN_WORDS < TALLIES);

/// In each size class, the copying of the first message and of one in this many is timed: reading the clock twice costs as much as
/// copying a small message.
const TIMED_ONE_IN: u64 = 64;

/// A copy that took longer, in the unit of `cycles`, was interrupted: its thread lost the processor. As each timed copy stands for
/// many, it is left out.
const INTERRUPTED: u64 = 60_000;
const INTERRUPTED_PER_WORD: u64 = 60;

/// What a message costs.
#[derive(Clone, Copy)]
pub struct Cost {
    /// Words to copy.
    pub words: usize,
    /// Words of the regions of the message area that hold the rest.
    pub referred: usize,
    /// Of both, words that were foreseen to be part of a message when they were built.
    pub foreseen: usize,
}

impl Cost {
    pub(crate) const NOTHING: Cost = Cost::of_copy(0);

    /// The cost of a message that is copied whole.
    pub(crate) const fn of_copy(words: usize) -> Cost {
        Cost { words, referred: 0, foreseen: 0 }
    }
}

/// When a copy began, if it is timed.
pub struct Timed(Option<u64>);

impl Timed {
    pub const NO: Timed = Timed(None);

    #[inline(always)]
    pub(crate) fn is_wanted(&self) -> bool {
        self.0.is_some()
    }

    /// The copy, of `words` words, is done.
    #[inline(always)]
    pub(crate) fn end(self, words: usize) {
        if let Timed(Some(began)) = self {
            ended(began, words);
        }
    }
}

#[cold]
#[inline(never)]
fn ended(began: u64, words: usize) {
    let time = cycles::now().wrapping_sub(began);
    if time > INTERRUPTED + words as u64 * INTERRUPTED_PER_WORD {
        return;
    }
    let row = own_row();
    row.tally(FIRST_TIMED + size(words), 1);
    row.tally(FIRST_TIME + size(words), time);
}

#[cold]
#[inline(never)]
fn begin() -> Timed {
    Timed(Some(cycles::now()))
}

/// A message is about to be copied and sent to another process, which ran last on scheduler `place`.
#[inline(always)]
pub(crate) fn to(place: u16, cost: Cost) -> Timed {
    // Always below PLACES: the remainder costs less than telling the compiler that in another way.
    if COUNTED { count(place as usize % PLACES, cost) } else { Timed::NO }
}

/// A process is about to send itself a message.
#[inline(always)]
pub fn to_myself(cost: Cost) -> Timed {
    if COUNTED { count(MYSELF, cost) } else { Timed::NO }
}

#[inline(always)]
fn count(place: usize, cost: Cost) -> Timed {
    let row = own_row();
    row.tally(place, 1);
    if cost.referred != 0 {
        row.tally(if cost.words == 0 { REFERRED } else { PARTLY_REFERRED }, 1);
        row.tally(REFERRED_WORDS, cost.referred as u64);
    }
    if cost.foreseen != 0 {
        row.tally(FORESEEN_WORDS, cost.foreseen as u64);
    }
    // Most messages have no words: return early.
    if cost.words == 0 {
        return Timed::NO;
    }
    row.tally(WORDS, cost.words as u64);
    let of_the_size = row.tally(FIRST_SIZE + size(cost.words), 1);
    if of_the_size % TIMED_ONE_IN == 1 { begin() } else { Timed::NO }
}

/// The size class of a message of `words` words.
#[inline(always)]
fn size(words: usize) -> usize {
    (words << 1 | 1).ilog2() as usize % SIZES
}

/// Messages since the VM started.
pub struct Sent {
    pub to_self: u64,
    /// To processes that ran last on the sender's scheduler.
    pub to_same_scheduler: u64,
    /// To all other processes, and everything sent by threads that are not schedulers.
    pub to_other_scheduler: u64,
    /// Words that were copied.
    pub words: u64,
    pub sizes: [u64; SIZES],
    /// The time that copying took, estimated from the copies that were timed.
    pub copying_ns: u64,
    /// Messages of which nothing was copied, as all is in the message area; and those of which only a part was.
    pub by_reference: u64,
    pub partly_by_reference: u64,
    /// Words of the regions that both refer to: of an open region, what was built since the last message; else of the whole region,
    /// which small messages may share.
    pub words_by_reference: u64,
    /// Of these words and of those copied, the ones that were foreseen to be part of a message when they were built.
    pub words_foreseen: u64,
}

impl Sent {
    pub fn by_all() -> Sent {
        Sent::sum(heddle_memory::rows())
    }

    /// Sent by a scheduler thread; numbers are those of normal ones, then dirty ones for CPU, for I/O.
    pub fn by_scheduler(number: usize) -> Sent {
        Sent::sum(heddle_memory::rows().filter(|row| row.scheduler() == Some(number)))
    }

    fn sum<'a>(rows: impl Iterator<Item = &'a Row>) -> Sent {
        let mut sum = Sent {
            to_self: 0,
            to_same_scheduler: 0,
            to_other_scheduler: 0,
            words: 0,
            sizes: [0; SIZES],
            copying_ns: 0,
            by_reference: 0,
            partly_by_reference: 0,
            words_by_reference: 0,
            words_foreseen: 0,
        };
        let (mut timed, mut time) = ([0; SIZES], [0; SIZES]);
        for row in rows {
            let to_others: u64 = (0..PLACES).map(|place| row.tallied(place)).sum();
            // Numbers from PLACES on are dirty schedulers'.
            let same = row.scheduler().filter(|&number| number < PLACES).map_or(0, |number| row.tallied(number));
            let to_self = row.tallied(MYSELF);
            let mut with_words = 0;
            for (size, count) in sum.sizes.iter_mut().enumerate().skip(1) {
                let more = row.tallied(FIRST_SIZE + size);
                *count += more;
                with_words += more;
                timed[size] += row.tallied(FIRST_TIMED + size);
                time[size] += row.tallied(FIRST_TIME + size);
            }
            sum.by_reference += row.tallied(REFERRED);
            sum.partly_by_reference += row.tallied(PARTLY_REFERRED);
            sum.words_by_reference += row.tallied(REFERRED_WORDS);
            sum.words_foreseen += row.tallied(FORESEEN_WORDS);
            // The thread may be about to count a message.
            sum.sizes[0] += (to_others + to_self).saturating_sub(with_words);
            sum.to_self += to_self;
            sum.to_same_scheduler += same;
            sum.to_other_scheduler += to_others.saturating_sub(same);
            sum.words += row.tallied(WORDS);
        }
        sum.copying_ns = (1..SIZES).filter(|&size| timed[size] > 0).map(|size| mean(time[size], timed[size], sum.sizes[size])).sum();
        sum
    }
}

/// The ns that `count` copies take if `timed` of them took `time` cycles.
fn mean(time: u64, timed: u64, count: u64) -> u64 {
    (cycles::to_ns(time) as u128 * count as u128 / timed as u128) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_memory::mine;

    fn count(place: usize, words: usize) -> Timed {
        super::count(place, Cost::of_copy(words))
    }

    #[test]
    fn sizes_are_powers_of_two() {
        assert_eq!([0, 1, 2, 3, 4, 7, 8, (1 << 30) - 1, 1 << 30, 1 << 40].map(size), [0, 1, 2, 2, 3, 3, 4, 30, 31, 41]);
    }

    fn ways(sent: &Sent) -> [u64; 4] {
        [sent.to_self, sent.to_same_scheduler, sent.to_other_scheduler, sent.words]
    }

    #[test]
    fn a_message_is_counted_once_by_way_and_once_by_size() {
        let sent = || Sent::sum([mine()].into_iter());
        let before = sent();
        let grown = |ways: [u64; 4], sizes: [u64; 4]| {
            let now = sent();
            assert_eq!(std::array::from_fn(|i| self::ways(&now)[i] - self::ways(&before)[i]), ways);
            assert_eq!([0, 1, 2, 3].map(|size| now.sizes[size] - before.sizes[size]), sizes);
        };
        count(MYSELF, 0);
        // The receiver ran on a scheduler that is not this thread's.
        count(3, 3);
        grown([1, 0, 1, 3], [1, 0, 1, 0]);
        mine().is_of_scheduler(3);
        count(3, 3);
        count(4, 0);
        count(PLACES - 1, 4);
        grown([1, 2, 2, 10], [2, 0, 2, 1]);
        assert_eq!(ways(&Sent::by_scheduler(3)), ways(&sent()));
    }

    /// The number of such a scheduler may be that of another tally.
    #[test]
    fn a_dirty_scheduler_has_no_processes_of_its_own() {
        mine().is_of_scheduler(MYSELF);
        let before = ways(&Sent::by_scheduler(MYSELF));
        count(MYSELF, 0);
        count(5, 0);
        assert_eq!(ways(&Sent::by_scheduler(MYSELF)), [before[0] + 1, before[1], before[2] + 1, before[3]]);
    }

    #[test]
    fn what_lies_in_the_area_is_counted_apart() {
        let figures = |sent: &Sent| {
            [sent.by_reference, sent.partly_by_reference, sent.words_by_reference, sent.words_foreseen, sent.words, sent.sizes[0]]
        };
        let before = figures(&Sent::sum([mine()].into_iter()));
        for (words, referred, foreseen) in [(0, 100, 0), (7, 30, 20), (0, 0, 0), (7, 0, 0)] {
            super::count(5, Cost { words, referred, foreseen });
        }
        let now = figures(&Sent::sum([mine()].into_iter()));
        assert_eq!(std::array::from_fn(|i| now[i] - before[i]), [1, 1, 130, 20, 14, 2]);
    }

    /// A size that no other test sends: the first copy, and one in 64, are timed; the others are assumed to take as long.
    #[test]
    fn some_copies_are_timed() {
        cycles::init();
        let words = 1 << 50;
        let copying = || Sent::sum([mine()].into_iter()).copying_ns;
        let before = copying();
        let mut timed = 0;
        for _ in 0..200 {
            let began = count(9, words);
            if began.0.is_some() {
                timed += 1;
                std::thread::sleep(std::time::Duration::from_micros(100));
            }
            began.end(words);
        }
        assert_eq!(timed, 4);
        let ns = copying() - before;
        assert!((20_000_000..2_000_000_000).contains(&ns), "{ns}");
        // No copy of one word takes so long.
        let timed = || mine().tallied(FIRST_TIMED + size(1));
        let before = timed();
        Timed(Some(cycles::now())).end(1);
        Timed(Some(cycles::now().wrapping_sub(1 << 40))).end(1);
        assert_eq!(timed(), before + 1);
    }
}
