//! How urgent a schedulable thing is: 32 levels, 0 is the most urgent (Hedqvist, "A Parallel and Multithreaded ERLANG
//! Implementation", 1998, section 5.2.6). Each of Erlang's four priorities is the middle one of eight levels; those between are for
//! native tasks.

pub(crate) const LEVELS: usize = 32;
/// Levels that count as one Erlang priority: its own, and those around it.
pub(crate) const CLASS_LEVELS: usize = LEVELS / 4;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Priority {
    Max = 0,
    High = 1,
    Normal = 2,
    Low = 3,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Level(u8);

impl Level {
    pub(crate) const NORMAL: Level = Level::of(Priority::Normal);
    pub(crate) const LOW: Level = Level::of(Priority::Low);

    /// None if `number` is above 31.
    pub const fn new(number: usize) -> Option<Level> {
        if number < LEVELS { Some(Level(number as u8)) } else { None }
    }
    /// 4, 12, 20 or 28.
    pub const fn of(priority: Priority) -> Level {
        Level((priority as usize * CLASS_LEVELS + CLASS_LEVELS / 2) as u8)
    }
    pub const fn number(self) -> usize {
        self.0 as usize
    }
    /// The Erlang priority that the level counts as for `process_info` and the balance, which know only these.
    pub(crate) const fn class(self) -> Priority {
        match self.0 as usize / CLASS_LEVELS {
            0 => Priority::Max,
            1 => Priority::High,
            2 => Priority::Normal,
            _ => Priority::Low,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn erlangs_priorities_are_in_the_middle_of_their_class() {
        for (priority, number) in [(Priority::Max, 4), (Priority::High, 12), (Priority::Normal, 20), (Priority::Low, 28)] {
            assert_eq!(Level::of(priority).number(), number);
            assert_eq!(Level::of(priority).class(), priority);
        }
        assert!(Level::new(LEVELS).is_none());
        assert_eq!(Level::new(15).map(Level::class), Some(Priority::High));
    }
}
