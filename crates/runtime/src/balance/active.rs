//! How many schedulers are to be active in the next period (seed 000 §3.3.3): load is kept on few of them, the others sleep.
//!
//! It is easier to become active than to become inactive: who was woken in a period stays, and a rise is kept until the load has
//! fallen by a tenth.

/// What was seen in a period.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    pub online: usize,
    /// Schedulers that never waited for work in the period; in its second half.
    pub busy_all_period: usize,
    pub busy_second_half: usize,
    /// Active ones when it began, and now.
    pub active_then: usize,
    pub active_now: usize,
    /// Reductions of all schedulers, and those that the period is long.
    pub reductions: u64,
    pub period: u64,
    /// Reductions beyond whole periods that are one more scheduler's. The study's formula rounds down (a whole period): then what
    /// almost two have to do is put on one.
    pub rest: u64,
    /// Of all queues, the greatest length that any had.
    pub longest: usize,
    /// The last scheduler on whose queue something waits now, counted from 1; 0: none. Not in the study: to make one inactive that
    /// has work is to carry all of it elsewhere, and back when the others find that it is too much.
    pub last_in_use: usize,
    /// Multi-scheduling was blocked, and is not any more.
    pub unblocked: bool,
}

/// What was when the number rose last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rise {
    pub active: usize,
    pub reductions: u64,
    pub longest: usize,
}

impl Rise {
    /// The load is still nine tenths of what it was.
    fn lasts(&self, seen: &Seen) -> bool {
        seen.reductions * 10 > self.reductions * 9 && seen.longest * 10 > self.longest * 9
    }
}

/// The number for the next period. Notes a rise.
pub fn next(seen: &Seen, rise: &mut Rise) -> usize {
    let has_risen = seen.active_now > seen.active_then;
    if has_risen {
        *rise = Rise { active: seen.active_now, reductions: seen.reductions, longest: seen.longest };
    }
    if seen.busy_second_half == seen.online || seen.unblocked {
        return seen.online;
    }
    let by_load = if seen.busy_all_period > 0 {
        ((seen.reductions + seen.period - seen.rest) / seen.period) as usize
    } else {
        seen.active_then.saturating_sub(1)
    };
    let wanted = if has_risen {
        seen.active_now
    } else if by_load < rise.active && rise.lasts(seen) {
        rise.active
    } else {
        by_load
    };
    wanted.clamp(seen.busy_second_half.max(seen.last_in_use).max(1), seen.online)
}

#[cfg(test)]
mod tests {
    use super::{Rise, Seen, next};

    const P: u64 = 4_000_000;
    const SEEN: Seen = Seen {
        online: 8,
        busy_all_period: 2,
        busy_second_half: 2,
        active_then: 4,
        active_now: 4,
        reductions: 3 * P,
        period: P,
        rest: P,
        longest: 10,
        last_in_use: 0,
        unblocked: false,
    };

    #[test]
    fn all_are_active_when_none_waited_or_scheduling_was_blocked() {
        assert_eq!(next(&Seen { busy_second_half: 8, ..SEEN }, &mut Rise::default()), 8);
        assert_eq!(next(&Seen { unblocked: true, reductions: 0, ..SEEN }, &mut Rise::default()), 8);
    }

    #[test]
    fn the_load_decides_within_limits() {
        assert_eq!(next(&SEEN, &mut Rise::default()), 3);
        assert_eq!(next(&Seen { reductions: P / 2, ..SEEN }, &mut Rise::default()), 2);
        assert_eq!(next(&Seen { reductions: 20 * P, ..SEEN }, &mut Rise::default()), 8);
        assert_eq!(next(&Seen { busy_second_half: 0, busy_all_period: 1, reductions: 0, ..SEEN }, &mut Rise::default()), 1);
    }

    #[test]
    fn what_is_left_over_may_be_worth_another_one() {
        let seen = Seen { busy_second_half: 1, reductions: 2 * P + P / 2, rest: P / 4, ..SEEN };
        assert_eq!(next(&seen, &mut Rise::default()), 3);
        assert_eq!(next(&Seen { reductions: 2 * P + P / 5, ..seen }, &mut Rise::default()), 2);
    }

    #[test]
    fn nobody_with_work_becomes_inactive() {
        let idle = Seen { busy_all_period: 0, busy_second_half: 0, ..SEEN };
        assert_eq!(next(&Seen { last_in_use: 7, ..idle }, &mut Rise::default()), 7);
    }

    #[test]
    fn one_fewer_when_all_waited() {
        let idle = Seen { busy_all_period: 0, busy_second_half: 0, ..SEEN };
        assert_eq!(next(&idle, &mut Rise::default()), 3);
        assert_eq!(next(&Seen { active_then: 1, active_now: 1, ..idle }, &mut Rise::default()), 1);
    }

    #[test]
    fn a_rise_is_kept_while_the_load_lasts() {
        let mut rise = Rise::default();
        assert_eq!(next(&Seen { active_now: 6, ..SEEN }, &mut rise), 6);
        assert_eq!(rise, Rise { active: 6, reductions: 3 * P, longest: 10 });
        let later = Seen { active_then: 6, active_now: 6, ..SEEN };
        assert_eq!(next(&Seen { reductions: 3 * P * 92 / 100, ..later }, &mut rise), 6);
        assert_eq!(next(&Seen { reductions: 3 * P * 89 / 100, ..later }, &mut rise), 2);
        assert_eq!(next(&Seen { longest: 9, ..later }, &mut rise), 3);
    }
}
