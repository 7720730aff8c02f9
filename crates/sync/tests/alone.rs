//! One that is alone, and others that come in, on the computer itself: in a process of its own, as there is one of it.
#![cfg(not(loom))]

use heddle_sync::alone;
use heddle_sync::word::{Number, Word};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
use std::time::Duration;

const OTHERS: usize = 3;
const ROUNDS: u64 = 10_000;

static SUM: AtomicU64 = AtomicU64::new(0);
static ENDED: AtomicBool = AtomicBool::new(false);
/// Of those that come in.
static ONLINE: [AtomicBool; OTHERS] = [const { AtomicBool::new(false) }; OTHERS];

/// Changes the word by each of the ways that there are, by 4 in all.
fn work() {
    SUM.add(1, Ordering::Relaxed);
    SUM.add(2, Ordering::Relaxed);
    SUM.sub(1, Ordering::Relaxed);
    SUM.change(|sum| Some(sum + 1));
    SUM.change(|_| None);
    let mut seen = SUM.load(Ordering::Relaxed);
    while let Err(now) = SUM.exchange(seen, seen + 1, Ordering::Relaxed, Ordering::Relaxed) {
        seen = now;
    }
}

#[test]
fn nothing_is_lost_where_others_come_in_at_any_time() {
    let at_home = std::thread::spawn(|| {
        alone::set_online(true);
        let (mut rounds, mut claims) = (0u64, 0);
        while !ENDED.load(Ordering::Relaxed) {
            claims += alone::claim(|| ONLINE.iter().all(|is_online| !is_online.load(Ordering::Acquire))) as u64;
            for _ in 0..100 {
                work();
            }
            rounds += 100;
            if rounds % 500 == 0 {
                alone::give_up();
            }
        }
        (rounds, claims)
    });
    let others: Vec<_> = ONLINE
        .iter()
        .map(|is_online| {
            std::thread::spawn(move || {
                for _ in 0..ROUNDS {
                    alone::set_online(true);
                    is_online.store(true, Ordering::Relaxed);
                    fence(Ordering::SeqCst);
                    work();
                    alone::set_online(false);
                    is_online.store(false, Ordering::Release);
                    std::thread::sleep(Duration::from_micros(20));
                }
            })
        })
        .collect();
    for other in others {
        other.join().unwrap();
    }
    ENDED.store(true, Ordering::Relaxed);
    let (rounds, claims) = at_home.join().unwrap();
    assert_eq!(SUM.load(Ordering::Relaxed), 4 * (rounds + OTHERS as u64 * ROUNDS));
    // (It is never so where one side cannot pay for both: see `barrier`.)
    assert!(claims > 0 || !heddle_sync::barrier::is_asymmetric(), "it was never alone");
}
