//! A snapshot of what the schedulers have in hand, to find later if one has not come back since.

use super::{Stuck, ThreadKind, place};
use crate::base::qsbr;
use crate::process::proctab;
use crate::sched;
use crate::sched::AtWork;
use crate::sched::dirty;
use std::time::{Duration, Instant};

pub struct Snapshot {
    taken: Instant,
    works: Vec<(ThreadKind, usize, AtWork)>,
}

impl Snapshot {
    pub fn take() -> Snapshot {
        Snapshot { taken: Instant::now(), works: works().filter_map(|(kind, id, work)| Some((kind, id, work?))).collect() }
    }

    pub fn age(&self) -> Duration {
        self.taken.elapsed()
    }

    /// A thread that has the same work as in the snapshot, as a part of a sentence: None if all came back.
    pub fn stuck(&self) -> Option<String> {
        let has_stayed = |(kind, id, work): &(ThreadKind, usize, Option<AtWork>)| {
            self.works.iter().any(|before| (before.0, before.1, Some(before.2.beat)) == (*kind, *id, work.map(|work| work.beat)))
        };
        let (kind, id, work) = works().find(has_stayed)?;
        let pid = work.and_then(|work| work.pid);
        let ms = self.age().as_millis() as u64;
        Some(Stuck { kind, id, ms, pid, place: pid.and_then(place::of) }.text())
    }
}

/// The work of all threads. A dirty thread whose process can end meanwhile is left out, as it delays no other.
fn works() -> impl Iterator<Item = (ThreadKind, usize, Option<AtWork>)> {
    let options = sched::options();
    let normal = (0..options.schedulers).map(|index| (ThreadKind::Normal, index + 1, sched::at_work(index)));
    let dirty = |kind, first: usize, count: usize| {
        (0..count).map(move |index| (kind, index + 1, dirty::at_work(first + index).filter(|work| !is_let_go(work))))
    };
    let first = options.schedulers;
    normal.chain(dirty(ThreadKind::DirtyCpu, first, options.dirty_cpu)).chain(dirty(
        ThreadKind::DirtyIo,
        first + options.dirty_cpu,
        options.dirty_io,
    ))
}

fn is_let_go(work: &AtWork) -> bool {
    let is_held = |pid| proctab::lookup(pid).is_some_and(|p| !p.state.load().is_detached());
    work.pid.is_none_or(|pid| qsbr::look(|| !is_held(pid)).unwrap_or(false))
}
