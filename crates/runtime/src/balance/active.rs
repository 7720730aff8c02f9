//! Computes how many schedulers should be active in the next period. The load is kept on few of them, and the others sleep. After J. Zhang,
//! "Characterizing the Scalability of Erlang VM on Many-core Processors", 2011, section 3.3.3.
//!
//! It is easier for a scheduler to become active than to become inactive: one that was woken in a period stays active, and a rise is kept
//! until the load has fallen by a tenth.

/// What the check observed in a period.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    pub online: usize,
    /// Number of schedulers that never waited for work in the period. The next field: in its second half.
    pub busy_all_period: usize,
    pub busy_second_half: usize,
    /// Number of active schedulers when the period began, and now.
    pub active_then: usize,
    pub active_now: usize,
    /// Reductions of all schedulers in the period, and the length of a period in reductions.
    pub reductions: u64,
    pub period: u64,
    /// Reductions beyond whole periods from which on one more scheduler is active. The study's formula rounds down, as if this were a whole
    /// period: then the work of almost two schedulers is put on one.
    pub rest: u64,
    /// The greatest length of any queue in the period.
    pub longest: usize,
    /// The last scheduler, counted from 1, that has something waiting on its queue now; 0 if none has. Not in the study: a scheduler with
    /// work that becomes inactive has to give all of it away, and the others give it back when they have too much.
    pub last_in_use: usize,
    /// Multi-scheduling was blocked and has been unblocked.
    pub unblocked: bool,
}

/// The state when the number of active schedulers last rose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rise {
    pub active: usize,
    pub reductions: u64,
    pub longest: usize,
}

impl Rise {
    /// True if the load is still more than nine tenths of what it was.
    fn lasts(&self, seen: &Seen) -> bool {
        seen.reductions * 10 > self.reductions * 9 && seen.longest * 10 > self.longest * 9
    }
}

/// Returns the number of active schedulers for the next period. Notes a rise in `rise`.
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
    fn a_rest_of_work_may_need_another_scheduler() {
        let seen = Seen { busy_second_half: 1, reductions: 2 * P + P / 2, rest: P / 4, ..SEEN };
        assert_eq!(next(&seen, &mut Rise::default()), 3);
        assert_eq!(next(&Seen { reductions: 2 * P + P / 5, ..seen }, &mut Rise::default()), 2);
    }

    #[test]
    fn no_scheduler_with_work_becomes_inactive() {
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
