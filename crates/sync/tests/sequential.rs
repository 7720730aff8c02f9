//! The sequential machine, in a process of its own: the mode is chosen once.
#![cfg(not(loom))]

use heddle_sync::sequential;
use heddle_sync::word::{Number, Word};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

/// What is shared, and the thread that has the turn.
static SUM: AtomicU64 = AtomicU64::new(0);
static INSIDE: AtomicUsize = AtomicUsize::new(0);
static ENDED: AtomicBool = AtomicBool::new(false);

fn work(times: u64) {
    for _ in 0..times {
        assert_eq!(INSIDE.add(1, Ordering::Relaxed), 0, "two have the turn");
        SUM.add(1, Ordering::Relaxed);
        let seen = SUM.load(Ordering::Relaxed);
        assert_eq!(SUM.exchange(seen, seen + 2, Ordering::Relaxed, Ordering::Relaxed), Ok(seen));
        assert_eq!(SUM.exchange(seen, seen, Ordering::Relaxed, Ordering::Relaxed), Err(seen + 2));
        SUM.sub(2, Ordering::Relaxed);
        assert_eq!(INSIDE.sub(1, Ordering::Relaxed), 1);
    }
}

#[test]
fn nothing_is_lost_where_threads_take_turns_and_all_get_theirs() {
    sequential::choose();
    assert!(sequential::is_on());
    // One has it nearly all the time, as a scheduler, and the others come in between; they end only if they do.
    let scheduler = std::thread::spawn(|| {
        sequential::enter();
        let mut rounds = 0u64;
        while !ENDED.load(Ordering::Relaxed) {
            work(10);
            rounds += 1;
            sequential::offer();
        }
        sequential::leave();
        rounds * 10
    });
    let others: Vec<_> = (0..4)
        .map(|_| {
            std::thread::spawn(|| {
                for _ in 0..200 {
                    sequential::enter();
                    work(50);
                    sequential::leave();
                    std::thread::sleep(Duration::from_micros(10));
                }
            })
        })
        .collect();
    for other in others {
        other.join().unwrap();
    }
    ENDED.store(true, Ordering::Relaxed);
    let by_scheduler = scheduler.join().unwrap();
    assert_eq!(SUM.load(Ordering::Relaxed), 4 * 200 * 50 + by_scheduler);
}
