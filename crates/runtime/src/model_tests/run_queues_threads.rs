//! Run queues of several threads: nothing may be lost or doubled.

use super::processes::make;
use crate::base::level::{Level, Priority};
use crate::base::place::MAX_SCHEDULERS;
use crate::base::qsbr;
use crate::process::ProcRef;
use crate::sched::run_queue::{NextEntry, RunQueue};
use heddle_model::Random;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

const NORMAL: usize = Level::NORMAL.number();
const LOW: usize = Level::LOW.number();

/// Owners that push, pop and steal, and threads that bring.
#[test]
fn nothing_is_lost_or_doubled_between_several_threads() {
    const OWNERS: usize = 3;
    const BRINGERS: usize = 2;
    const PROCESSES: u64 = 500;
    const ROUNDS: usize = 30_000;
    let queues: &'static [RunQueue] = Vec::leak((0..OWNERS).map(|queue| RunQueue::of(MAX_SCHEDULERS + 10 + queue)).collect());
    let waits: &'static [AtomicBool] = Vec::leak((0..PROCESSES).map(|_| AtomicBool::new(true)).collect());
    let working: &'static AtomicUsize = Box::leak(Box::new(AtomicUsize::new(OWNERS)));
    let left: &'static std::sync::Mutex<Vec<ProcRef>> = Box::leak(Box::default());
    let levels = [4, 12, NORMAL, NORMAL, NORMAL, 24, LOW];
    for number in 0..PROCESSES {
        queues[number as usize % OWNERS].bring(make(number), Level::of(Priority::Normal));
    }
    let owner = move |me: usize| {
        qsbr::online();
        let mut random = Random::new(me as u64 + 1);
        let mut taken = |p: ProcRef| {
            assert!(waits[p.pid as usize].swap(false, Ordering::Relaxed), "{} is in two places", p.pid);
            let level = Level::new(levels[random.below(7) as usize]).expect("below 32");
            waits[p.pid as usize].store(true, Ordering::Relaxed);
            match random.below(8) {
                0 => left.lock().expect("no panic").push(p),
                1 => queues[random.below(OWNERS as u64) as usize].bring(p, level),
                // SAFETY: this thread is its owner.
                _ => drop(unsafe { queues[me].push(p, level) }),
            }
        };
        for round in 0..ROUNDS {
            let victim = &queues[round % OWNERS];
            if round % 7 == 0 && !std::ptr::eq(victim, &queues[me]) {
                for p in victim.steal(64, &queues[me]) {
                    taken(p);
                }
            }
            // SAFETY: this thread is its owner.
            if let Some(NextEntry::Process(p)) = unsafe { queues[me].pop() } {
                taken(p);
            }
            queues[me].hold(0);
            qsbr::quiescent();
        }
        working.fetch_sub(1, Ordering::Relaxed);
        qsbr::offline();
    };
    let bringer = move |me: usize| {
        let mut random = Random::new(me as u64 + 100);
        while working.load(Ordering::Relaxed) > 0 {
            let some: Vec<ProcRef> = left.lock().expect("no panic").drain(..).collect();
            some.into_iter().for_each(|p| queues[random.below(OWNERS as u64) as usize].bring(p, Level::NORMAL));
            std::thread::yield_now();
        }
    };
    std::thread::scope(|threads| {
        (0..OWNERS).for_each(|me| drop(threads.spawn(move || owner(me))));
        (0..BRINGERS).for_each(|me| drop(threads.spawn(move || bringer(me))));
    });
    let mut found: BTreeMap<u64, usize> = BTreeMap::new();
    left.lock().expect("no panic").drain(..).for_each(|p| *found.entry(p.pid).or_default() += 1);
    for queue in queues {
        // SAFETY: no other thread is left.
        while let Some(NextEntry::Process(p)) = unsafe { queue.pop() } {
            *found.entry(p.pid).or_default() += 1;
        }
        assert!(queue.is_empty());
    }
    assert!(found.len() as u64 == PROCESSES && found.values().all(|&n| n == 1), "{} of {PROCESSES}", found.len());
}
