//! The structures in all interleavings that the memory model allows, up to a number of preemptions: `make loom`.
#![cfg(loom)]

use heddle_sync::alone::{Alone, Number};
use heddle_sync::claim::Claim;
use heddle_sync::depot::Depot;
use heddle_sync::flagged_stack::{FlaggedStack, Node};
use heddle_sync::idle::IdleSet;
use heddle_sync::pile::Pile;
use heddle_sync::reader_lock::Bias;
use heddle_sync::ring::Ring;
use heddle_sync::stack::Stack;
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering, fence};
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
fn a_slot_is_not_written_again_before_its_taker_has_read_it() {
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
fn no_thread_sleeps_beside_work() {
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

/// What the lock protects, and the lines of two threads. The model sees it if a read and a write are not ordered.
#[derive(Default)]
struct Biased {
    bias: Bias,
    lines: [AtomicPtr<()>; 2],
    value: UnsafeCell<usize>,
}

#[test]
fn a_writer_waits_for_readers_that_passed_the_lock_by() {
    model(|| {
        let shared = Arc::new(Biased::default());
        shared.bias.give();
        let readers: Vec<_> = (0..2)
            .map(|n| {
                let shared = shared.clone();
                thread::spawn(move || {
                    if shared.bias.enter(&shared.lines[n]) {
                        // SAFETY: what is tested: no thread writes now.
                        shared.value.with(|value| unsafe { value.read() });
                        Bias::leave(&shared.lines[n]);
                    }
                })
            })
            .collect();
        shared.bias.take_away(|| shared.lines.iter());
        // SAFETY: what is tested: no thread reads now.
        shared.value.with_mut(|value| unsafe { value.write(1) });
        for reader in readers {
            reader.join().unwrap();
        }
    });
}

#[test]
fn a_reader_that_passes_the_lock_by_sees_what_was_written_before_the_bias() {
    model(|| {
        let shared = Arc::new(Biased::default());
        let writer = {
            let shared = shared.clone();
            thread::spawn(move || {
                // SAFETY: without a bias no thread reads.
                shared.value.with_mut(|value| unsafe { value.write(1) });
                shared.bias.give();
            })
        };
        if shared.bias.enter(&shared.lines[0]) {
            // SAFETY: what is tested: the write comes before.
            assert_eq!(shared.value.with(|value| unsafe { value.read() }), 1);
            Bias::leave(&shared.lines[0]);
        }
        writer.join().unwrap();
    });
}

/// Two put things on a pile, one takes twice: each thing comes once, with what was written to it before.
#[test]
fn all_that_is_put_on_a_pile_is_taken_once() {
    struct Thing {
        link: AtomicU64,
        value: UnsafeCell<u64>,
    }
    model(|| {
        let things: Arc<Vec<Thing>> = Arc::new((0..4).map(|_| Thing { link: AtomicU64::new(0), value: UnsafeCell::new(0) }).collect());
        let pile = Arc::new(Pile::default());
        let put = |things: &[Thing], pile: &Pile, address: u64| {
            // SAFETY: no other thread knows of the thing before it is on the pile.
            things[address as usize].value.with_mut(|value| unsafe { *value = address * 10 });
            pile.push(address, &things[address as usize].link)
        };
        let other = {
            let (things, pile) = (things.clone(), pile.clone());
            thread::spawn(move || {
                put(&things, &pile, 1);
                put(&things, &pile, 2);
            })
        };
        assert!(put(&things, &pile, 3) <= 3);
        let take = || {
            let mut found = Vec::new();
            let mut address = pile.take();
            while address != 0 {
                let thing = &things[address as usize];
                // SAFETY: its taker has it to itself.
                thing.value.with(|value| assert_eq!(unsafe { *value }, address * 10));
                found.push(address);
                address = thing.link.load(Ordering::Relaxed);
            }
            found
        };
        let mut found = take();
        other.join().unwrap();
        found.extend(take());
        found.sort();
        assert_eq!(found, [1, 2, 3]);
    });
}

/// A place as timers use it: what only its holder touches, and what all may read.
struct Place {
    claim: Claim,
    load: UnsafeCell<u64>,
    deadline: AtomicU64,
}

impl Place {
    fn set(&self, value: u64) {
        self.claim.prepare();
        self.deadline.store(value, Ordering::Relaxed);
        // SAFETY: the caller has the place to itself, as the model checks.
        self.load.with_mut(|load| unsafe { *load = value });
        self.claim.open(1);
    }
    fn take(&self, generation: u64) -> Option<u64> {
        // SAFETY: its taker has it to itself, as the model checks.
        self.claim.take(generation, 1).then(|| self.load.with(|load| unsafe { *load }))
    }
}

/// The owner fires what is there and sets the next; others cancel and read the first, which they know by its generation.
#[test]
fn a_claim_is_taken_once_and_only_by_its_generation() {
    model(|| {
        let place = Arc::new(Place { claim: Claim::new(5), load: UnsafeCell::new(0), deadline: AtomicU64::new(0) });
        place.set(100);
        let returned = Arc::new(AtomicBool::new(false));
        let canceller = {
            let (place, returned) = (place.clone(), returned.clone());
            thread::spawn(move || {
                let got = place.take(5);
                // Stands for the pile.
                returned.store(got.is_some(), Ordering::Release);
                got
            })
        };
        let reader = {
            let place = place.clone();
            thread::spawn(move || place.claim.read(5, || place.deadline.load(Ordering::Relaxed)))
        };
        let fired = place.take(5);
        if fired.is_some() || returned.load(Ordering::Acquire) {
            assert!(place.claim.renew());
            place.set(200);
        }
        let cancelled = canceller.join().unwrap();
        assert_eq!(fired.into_iter().chain(cancelled).collect::<Vec<_>>(), [100]);
        assert!(reader.join().unwrap().is_none_or(|deadline| deadline == 100));
        if place.claim.generation() == 6 {
            assert_eq!(place.take(6), Some(200));
        }
    });
}

/// A thread that only has a look lets none take it meanwhile, and keeps none from it for good.
#[test]
fn a_look_is_not_disturbed() {
    model(|| {
        let place = Arc::new(Place { claim: Claim::new(5), load: UnsafeCell::new(0), deadline: AtomicU64::new(0) });
        place.set(100);
        let other = {
            let place = place.clone();
            thread::spawn(move || {
                let got = place.take(5);
                if got.is_some() {
                    assert!(place.claim.renew());
                    place.set(200);
                }
                got
            })
        };
        if place.claim.hold(5, 1) {
            // SAFETY: it is held, as the model checks.
            place.load.with(|load| assert_eq!(unsafe { *load }, 100));
            place.claim.let_go();
        }
        assert_eq!(other.join().unwrap(), Some(100));
    });
}

/// The state of a receiver: on a queue, running, to run again.
const QUEUED: u32 = 1;
const RUNNING: u32 = 2;
const AGAIN: u32 = 4;

#[derive(Default)]
#[repr(align(16))]
struct Letter {
    text: u64,
    next: UnsafeCell<Option<usize>>,
}

// SAFETY: aligned so; `next` is as it was set last.
unsafe impl Node for Letter {
    // SAFETY: by contract the caller's alone.
    unsafe fn set_next(letter: *mut Letter, next: *mut Letter) {
        // SAFETY: as above.
        unsafe { (*letter).next.with_mut(|field| *field = (!next.is_null()).then_some(next.expose_provenance())) };
    }
}

struct Mailbox {
    letters: FlaggedStack<Letter>,
    /// Entries on the run queue.
    entries: AtomicUsize,
}

impl Mailbox {
    fn send(&self, text: u64) {
        let letter = Box::into_raw(Box::new(Letter { text, ..Letter::default() }));
        // SAFETY: just made.
        let change = unsafe { self.letters.push(letter, |f| if f & (QUEUED | RUNNING) == 0 { f | QUEUED } else { f | AGAIN }) };
        let (old, new) = change.expect("it is not closed");
        self.entries.fetch_add((new & !old & QUEUED) as usize, Ordering::Relaxed);
    }

    /// Runs it if it is queued: what it is sent meanwhile is for the next time.
    fn run(&self, heard: &mut Vec<u64>) {
        if self.entries.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1)).is_err() {
            return;
        }
        let ((old, _), mut first) = self.letters.take(|f, any| (f & !(QUEUED | AGAIN) | RUNNING, any));
        assert_eq!(old & (QUEUED | RUNNING), QUEUED);
        let mut letters = Vec::new();
        while !first.is_null() {
            // SAFETY: it was taken, so it is ours.
            let letter = unsafe { Box::from_raw(first) };
            letters.push(letter.text);
            // SAFETY: as above.
            first = letter.next.with(|next| unsafe { *next }).map_or(std::ptr::null_mut(), std::ptr::with_exposed_provenance_mut);
        }
        heard.extend(letters.into_iter().rev());
        let (_, new) = self.letters.change(|f| if f & AGAIN != 0 { QUEUED } else { 0 });
        self.entries.fetch_add((new & QUEUED) as usize, Ordering::Relaxed);
    }
}

/// Two send to one that runs meanwhile: each letter comes, those of one sender in order, and no receiver waits beside a letter.
#[test]
fn a_receiver_hears_what_is_sent_and_is_queued_once() {
    model(|| {
        let mailbox = Arc::new(Mailbox { letters: FlaggedStack::new(0), entries: AtomicUsize::new(0) });
        let senders = [vec![10, 11], vec![20]].map(|texts| {
            let mailbox = mailbox.clone();
            thread::spawn(move || texts.into_iter().for_each(|text| mailbox.send(text)))
        });
        let mut heard = Vec::new();
        mailbox.run(&mut heard);
        mailbox.run(&mut heard);
        for sender in senders {
            sender.join().unwrap();
        }
        while mailbox.entries.load(Ordering::Relaxed) > 0 {
            assert_eq!(mailbox.entries.load(Ordering::Relaxed), 1, "it is queued twice");
            mailbox.run(&mut heard);
        }
        assert_eq!(mailbox.letters.flags(Ordering::Relaxed), 0);
        assert!(heard.iter().position(|&v| v == 10) < heard.iter().position(|&v| v == 11));
        heard.sort();
        assert_eq!(heard, [10, 11, 20]);
    });
}

/// A receiver that ends takes what came before, and what comes later is its sender's.
#[test]
fn each_letter_to_a_receiver_that_ends_is_had_by_one() {
    model(|| {
        let letters = Arc::new(FlaggedStack::new(RUNNING));
        let sender = {
            let letters = letters.clone();
            thread::spawn(move || {
                let letter = Box::into_raw(Box::new(Letter::default()));
                // SAFETY: just made.
                let change = unsafe { letters.push(letter, |f| f | AGAIN) };
                if change.is_none() {
                    // SAFETY: it is ours as before.
                    drop(unsafe { Box::from_raw(letter) });
                }
                change.is_some()
            })
        };
        letters.change(|f| f & !AGAIN);
        let last: *mut Letter = letters.close();
        assert_eq!(sender.join().unwrap(), !last.is_null());
        if !last.is_null() {
            // SAFETY: it was taken, so it is ours.
            drop(unsafe { Box::from_raw(last) });
        }
    });
}

/// Threads that come online to change a word, and may find themselves alone.
struct Sum {
    alone: Alone,
    online: Vec<AtomicBool>,
    sum: AtomicU64,
}

impl Sum {
    fn new(threads: usize) -> Arc<Sum> {
        let online = (0..threads).map(|_| AtomicBool::new(false)).collect();
        Arc::new(Sum { alone: Alone::new(), online, sum: AtomicU64::new(0) })
    }

    /// As `runtime::qsbr`.
    fn come(&self, me: usize) {
        self.online[me].store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
    }

    fn go(&self, me: usize, gives_up: bool) {
        if gives_up {
            self.alone.give_up(Number::of(me));
        }
        self.online[me].store(false, Ordering::Release);
    }

    fn claim(&self, me: usize) -> bool {
        let is_away = |(other, is_online): (usize, &AtomicBool)| other == me || !is_online.load(Ordering::Acquire);
        self.alone.claim(Number::of(me), || self.online.iter().enumerate().all(is_away))
    }

    /// As `word`.
    fn add(&self, me: usize) {
        if self.alone.enter(Number::of(me)) {
            self.sum.store(self.sum.load(Ordering::Relaxed) + 1, Ordering::Release);
            self.alone.leave();
        } else {
            self.sum.fetch_add(1, Ordering::AcqRel);
        }
    }
}

/// One is alone while another comes in, twice: they change the same, and nothing is lost.
#[test]
fn what_one_changes_alone_and_another_that_comes_in_adds_up() {
    model(|| {
        let sum = Sum::new(2);
        let other = {
            let sum = sum.clone();
            thread::spawn(move || {
                for _ in 0..2 {
                    sum.come(1);
                    sum.add(1);
                    sum.go(1, false);
                }
            })
        };
        sum.come(0);
        sum.claim(0);
        sum.add(0);
        sum.claim(0);
        sum.add(0);
        other.join().unwrap();
        assert_eq!(sum.sum.load(Ordering::Relaxed), 4);
    });
}

/// Two come in where one is alone, which changed something and is about to change it again. (It does not do so in this model, as the model does
/// not let two wait for one without end.)
#[test]
fn of_two_that_come_in_neither_is_too_early() {
    model(|| {
        let sum = Sum::new(3);
        sum.come(0);
        assert!(sum.claim(0));
        sum.add(0);
        let others = [1, 2].map(|me| {
            let sum = sum.clone();
            thread::spawn(move || {
                sum.come(me);
                sum.add(me);
                sum.go(me, true);
            })
        });
        sum.claim(0);
        for other in others {
            other.join().unwrap();
        }
        sum.claim(0);
        sum.add(0);
        assert_eq!(sum.sum.load(Ordering::Relaxed), 4);
    });
}

/// Two claim at the same time, and one after the other.
#[test]
fn of_two_that_claim_one_at_most_is_alone() {
    model(|| {
        let sum = Sum::new(2);
        let other = {
            let sum = sum.clone();
            thread::spawn(move || {
                sum.come(1);
                sum.claim(1);
                sum.add(1);
                sum.go(1, true);
            })
        };
        sum.come(0);
        sum.claim(0);
        sum.add(0);
        // A thread that comes back need not claim again.
        sum.go(0, false);
        sum.come(0);
        sum.add(0);
        other.join().unwrap();
        assert_eq!(sum.sum.load(Ordering::Relaxed), 3);
        assert!(sum.claim(0) || !sum.alone.enter(Number::of(1)));
    });
}

#[test]
fn each_batch_of_a_depot_is_taken_once_and_what_is_in_it_is_seen() {
    model(|| {
        let depot = Arc::new(Depot::<2>::new());
        let batches: [Arc<UnsafeCell<u64>>; 2] = std::array::from_fn(|_| Arc::new(UnsafeCell::new(0)));
        let kept = batches.clone();
        let addresses: [usize; 2] = std::array::from_fn(|n| Arc::as_ptr(&batches[n]).addr());
        let both = move |depot: &Depot<2>, n: usize| {
            // SAFETY: not in the depot yet: ours alone.
            batches[n].with_mut(|value| unsafe { *value = n as u64 + 1 });
            assert!(depot.put(Arc::as_ptr(&batches[n]).cast::<u8>().cast_mut()));
            let taken = depot.take().addr();
            let which = addresses.iter().position(|&address| address == taken)?;
            // SAFETY: taken, so ours alone.
            assert_eq!(batches[which].with_mut(|value| unsafe { std::mem::take(&mut *value) }), which as u64 + 1);
            Some(which)
        };
        let other = {
            let (depot, both) = (depot.clone(), both.clone());
            thread::spawn(move || both(&depot, 1))
        };
        let mut taken: Vec<usize> = both(&depot, 0).into_iter().collect();
        taken.extend(other.join().unwrap());
        // What was not found is there still.
        let left = std::iter::from_fn(|| Some(depot.take().addr()).filter(|&address| address != 0));
        taken.extend(left.map(|address| addresses.iter().position(|&a| a == address).unwrap()));
        taken.sort();
        assert_eq!(taken, [0, 1]);
        drop(kept);
    });
}
