//! Computes how many schedulers should be active in the next period. The load is kept on few of them, and the others sleep. After J. Zhang,
//! "Characterizing the Scalability of Erlang VM on Many-core Processors", 2011, section 3.3.3.
//!
//! It is easier for a scheduler to become active than to become inactive: one that was woken in a period stays active, and a rise is kept
//! until the load has fallen by a tenth.

/// What the check observed in a period.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PeriodSummary {
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
pub(crate) struct Rise {
    pub active: usize,
    pub reductions: u64,
    pub longest: usize,
}

impl Rise {
    /// True if the load is still more than nine tenths of what it was.
    fn lasts(&self, summary: &PeriodSummary) -> bool {
        summary.reductions * 10 > self.reductions * 9 && summary.longest * 10 > self.longest * 9
    }
}

/// Returns the number of active schedulers for the next period. Notes a rise in `rise`.
pub(crate) fn next(summary: &PeriodSummary, rise: &mut Rise) -> usize {
    let has_risen = summary.active_now > summary.active_then;
    if has_risen {
        *rise = Rise { active: summary.active_now, reductions: summary.reductions, longest: summary.longest };
    }
    if summary.busy_second_half == summary.online || summary.unblocked {
        return summary.online;
    }
    let by_load = if summary.busy_all_period > 0 {
        ((summary.reductions + summary.period - summary.rest) / summary.period) as usize
    } else {
        summary.active_then.saturating_sub(1)
    };
    let wanted = if has_risen {
        summary.active_now
    } else if by_load < rise.active && rise.lasts(summary) {
        rise.active
    } else {
        by_load
    };
    wanted.clamp(summary.busy_second_half.max(summary.last_in_use).max(1), summary.online)
}

#[cfg(test)]
mod tests {
    use super::{PeriodSummary, Rise, next};

    const P: u64 = 4_000_000;
    const SUMMARY: PeriodSummary = PeriodSummary {
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
        assert_eq!(next(&PeriodSummary { busy_second_half: 8, ..SUMMARY }, &mut Rise::default()), 8);
        assert_eq!(next(&PeriodSummary { unblocked: true, reductions: 0, ..SUMMARY }, &mut Rise::default()), 8);
    }

    #[test]
    fn the_load_decides_within_limits() {
        assert_eq!(next(&SUMMARY, &mut Rise::default()), 3);
        assert_eq!(next(&PeriodSummary { reductions: P / 2, ..SUMMARY }, &mut Rise::default()), 2);
        assert_eq!(next(&PeriodSummary { reductions: 20 * P, ..SUMMARY }, &mut Rise::default()), 8);
        assert_eq!(next(&PeriodSummary { busy_second_half: 0, busy_all_period: 1, reductions: 0, ..SUMMARY }, &mut Rise::default()), 1);
    }

    #[test]
    fn a_rest_of_work_may_need_another_scheduler() {
        let summary = PeriodSummary { busy_second_half: 1, reductions: 2 * P + P / 2, rest: P / 4, ..SUMMARY };
        assert_eq!(next(&summary, &mut Rise::default()), 3);
        assert_eq!(next(&PeriodSummary { reductions: 2 * P + P / 5, ..summary }, &mut Rise::default()), 2);
    }

    #[test]
    fn no_scheduler_with_work_becomes_inactive() {
        let idle = PeriodSummary { busy_all_period: 0, busy_second_half: 0, ..SUMMARY };
        assert_eq!(next(&PeriodSummary { last_in_use: 7, ..idle }, &mut Rise::default()), 7);
    }

    #[test]
    fn one_fewer_when_all_waited() {
        let idle = PeriodSummary { busy_all_period: 0, busy_second_half: 0, ..SUMMARY };
        assert_eq!(next(&idle, &mut Rise::default()), 3);
        assert_eq!(next(&PeriodSummary { active_then: 1, active_now: 1, ..idle }, &mut Rise::default()), 1);
    }

    #[test]
    fn a_rise_is_kept_while_the_load_lasts() {
        let mut rise = Rise::default();
        assert_eq!(next(&PeriodSummary { active_now: 6, ..SUMMARY }, &mut rise), 6);
        assert_eq!(rise, Rise { active: 6, reductions: 3 * P, longest: 10 });
        let later = PeriodSummary { active_then: 6, active_now: 6, ..SUMMARY };
        assert_eq!(next(&PeriodSummary { reductions: 3 * P * 92 / 100, ..later }, &mut rise), 6);
        assert_eq!(next(&PeriodSummary { reductions: 3 * P * 89 / 100, ..later }, &mut rise), 2);
        assert_eq!(next(&PeriodSummary { longest: 9, ..later }, &mut rise), 3);
    }
}
