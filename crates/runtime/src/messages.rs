//! What is counted of messages, always: how many each thread sent, to whose schedulers, and of which sizes. The figures are in the
//! thread's row of `heddle_memory`, which every thread that allocates has: so a message without data, as most are, costs one addition
//! behind the address of the row.
//!
//! Counted is by where the receiver ran last. What that means for the sender is found when somebody asks.

use crate::placement::MAX_SCHEDULERS;
use crate::process::ProcRef;
use heddle_memory::{COUNTED, Row, TALLIES, own_row};
use std::sync::atomic::Ordering;

/// Sizes of messages: none, 1, 2-3, 4-7, ... words.
pub const SIZES: usize = 64;

/// Tallies of a row: messages to others, by the scheduler on which the receiver ran last (`ProcShared::last_scheduler`).
const PLACES: usize = MAX_SCHEDULERS;
/// Messages to the sender itself.
const MYSELF: usize = PLACES;
/// Words of all messages.
const WORDS: usize = PLACES + 1;
/// Of all messages that have words: by size.
const FIRST_SIZE: usize = PLACES + 2;

const _: () = assert!(PLACES.is_power_of_two() && FIRST_SIZE + SIZES <= TALLIES);

/// A message of so many words is about to be sent to somebody else.
#[inline(always)]
pub fn to(receiver: ProcRef, words: usize) {
    if COUNTED {
        // There are no more: the remainder costs less than to tell the compiler.
        count(receiver.last_scheduler.load(Ordering::Relaxed) as usize % PLACES, words);
    }
}

/// A process is about to send itself a message.
#[inline(always)]
pub fn to_myself(words: usize) {
    count(MYSELF, words);
}

#[inline(always)]
fn count(place: usize, words: usize) {
    let row = own_row();
    row.tally(place, 1);
    // Who sends one without words knows that soon: then it is all.
    if words != 0 {
        row.tally(FIRST_SIZE + size(words), 1);
        row.tally(WORDS, words as u64);
    }
}

/// The class of a message of so many words.
#[inline(always)]
fn size(words: usize) -> usize {
    (words << 1 | 1).ilog2() as usize % SIZES
}

/// Messages since the machine started.
pub struct Sent {
    pub to_self: u64,
    /// To processes that ran last on the sender's scheduler.
    pub to_same_scheduler: u64,
    /// To all others, and all that others than schedulers sent.
    pub to_other_scheduler: u64,
    /// That were copied.
    pub words: u64,
    pub sizes: [u64; SIZES],
}

impl Sent {
    pub fn by_all() -> Sent {
        Sent::sum(heddle_memory::rows())
    }

    /// By a scheduler thread: normal ones, dirty ones for CPU, for I/O.
    pub fn by_scheduler(number: usize) -> Sent {
        Sent::sum(heddle_memory::rows().filter(|row| row.scheduler() == Some(number)))
    }

    fn sum<'a>(rows: impl Iterator<Item = &'a Row>) -> Sent {
        let mut sum = Sent { to_self: 0, to_same_scheduler: 0, to_other_scheduler: 0, words: 0, sizes: [0; SIZES] };
        for row in rows {
            let to_others: u64 = (0..PLACES).map(|place| row.tallied(place)).sum();
            // Numbers from there on are dirty schedulers'.
            let same = row.scheduler().filter(|&number| number < PLACES).map_or(0, |number| row.tallied(number));
            let to_self = row.tallied(MYSELF);
            let mut with_words = 0;
            for (size, count) in sum.sizes.iter_mut().enumerate().skip(1) {
                let more = row.tallied(FIRST_SIZE + size);
                *count += more;
                with_words += more;
            }
            // Its thread may just send one.
            sum.sizes[0] += (to_others + to_self).saturating_sub(with_words);
            sum.to_self += to_self;
            sum.to_same_scheduler += same;
            sum.to_other_scheduler += to_others.saturating_sub(same);
            sum.words += row.tallied(WORDS);
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_memory::mine;

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
        // Nobody's scheduler.
        count(3, 3);
        grown([1, 0, 1, 3], [1, 0, 1, 0]);
        mine().is_of_scheduler(3);
        count(3, 3);
        count(4, 0);
        count(PLACES - 1, 4);
        grown([1, 2, 2, 10], [2, 0, 2, 1]);
        assert_eq!(ways(&Sent::by_scheduler(3)), ways(&sent()));
    }

    /// Its number may be that of another tally.
    #[test]
    fn a_dirty_scheduler_has_no_processes_of_its_own() {
        mine().is_of_scheduler(MYSELF);
        let before = ways(&Sent::by_scheduler(MYSELF));
        count(MYSELF, 0);
        count(5, 0);
        assert_eq!(ways(&Sent::by_scheduler(MYSELF)), [before[0] + 1, before[1], before[2] + 1, before[3]]);
    }
}
