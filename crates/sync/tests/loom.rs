//! The structures in all interleavings that the memory model allows, up to a number of preemptions: `make loom`.
#![cfg(loom)]

use heddle_sync::idle::IdleSet;
use heddle_sync::ring::Ring;
use heddle_sync::stack::Stack;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use loom::thread;

fn model(f: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(f);
}

/// Buffers are kept to the end: when they may be freed is `qsbr`'s concern.
fn push(ring: &Ring, entry: u64) -> Option<heddle_sync::ring::Retired> {
    // SAFETY: only the thread that stands for the owner calls it.
    unsafe { ring.push(entry) }.1
}

#[test]
fn each_entry_of_a_ring_is_taken_once_while_it_grows() {
    model(|| {
        let ring = Arc::new(Ring::default());
        let mut kept = vec![push(&ring, 1), push(&ring, 2)];
        let thief = {
            let ring = ring.clone();
            thread::spawn(move || {
                let mut out = [0; 2];
                let count = ring.take(2, 2, &mut out);
                out[..count].to_vec()
            })
        };
        // The third makes it grow, unless the thief was there before.
        kept.push(push(&ring, 3));
        let mut mine: Vec<u64> = ring.pop().into_iter().collect();
        let stolen = thief.join().unwrap();
        assert!(stolen.is_sorted());
        mine.extend(std::iter::from_fn(|| ring.pop()));
        assert!(mine.is_sorted());
        mine.extend(stolen);
        mine.sort();
        assert_eq!(mine, [1, 2, 3]);
    });
}

#[test]
fn a_slot_is_not_written_again_before_who_takes_it_has_read_it() {
    model(|| {
        let ring = Arc::new(Ring::default());
        let mut kept = vec![push(&ring, 1)];
        let thieves: Vec<_> = (0..2)
            .map(|_| {
                let ring = ring.clone();
                thread::spawn(move || ring.pop())
            })
            .collect();
        kept.push(push(&ring, 2));
        kept.push(push(&ring, 3));
        let mut found: Vec<u64> = thieves.into_iter().filter_map(|t| t.join().unwrap()).collect();
        found.extend(std::iter::from_fn(|| ring.pop()));
        found.sort();
        assert_eq!(found, [1, 2, 3]);
    });
}

#[test]
fn all_that_is_put_on_a_stack_is_taken_once_and_in_order() {
    model(|| {
        let stack = Arc::new(Stack::default());
        let other = {
            let stack = stack.clone();
            thread::spawn(move || {
                stack.push(10);
                stack.push(11);
            })
        };
        stack.push(20);
        let mut found = stack.take();
        other.join().unwrap();
        found.extend(stack.take());
        assert_eq!(found.len(), 3);
        assert!(found.iter().position(|&v| v == 10) < found.iter().position(|&v| v == 11));
    });
}

/// Two bring work, one sleeps when it finds none: whatever happens, it is awake with the work, or has been woken.
#[test]
fn nobody_sleeps_beside_work() {
    model(|| {
        let idle = Arc::new(IdleSet::new(1));
        let work = Arc::new(AtomicUsize::new(0));
        let token = Arc::new(AtomicBool::new(false));
        let wakers: Vec<_> = (0..2)
            .map(|_| {
                let (idle, work, token) = (idle.clone(), work.clone(), token.clone());
                thread::spawn(move || {
                    work.fetch_add(1, Ordering::Relaxed);
                    if idle.wake_any(1).is_some() {
                        token.store(true, Ordering::Relaxed);
                    }
                })
            })
            .collect();
        idle.enter(0);
        let saw_work = work.load(Ordering::Relaxed) > 0;
        for waker in wakers {
            waker.join().unwrap();
        }
        assert!(saw_work || token.load(Ordering::Relaxed), "it sleeps, and there is work");
        idle.leave(0);
        assert_eq!(idle.count(), 0);
    });
}
