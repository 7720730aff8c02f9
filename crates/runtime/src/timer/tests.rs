//! The wheel on a clock of its own, the slab, and timers of several threads.

use super::node::Node;
use super::slab::{self, CHUNK_NODES, Directory, Slab};
use super::wheel::Wheel;
use super::{Action, Handle, Wheels, node};
use crate::Package;
use crate::base::qsbr;
use crate::base::time::ticks_ms;
use heddle_term::Term;
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier, Mutex};
use std::time::Duration;

pub(crate) struct Clock {
    pub wheel: Wheel,
    directory: Directory,
    pub now: u64,
}

impl Clock {
    pub(crate) fn at(now: u64) -> Clock {
        let mut wheel = Wheel::new();
        wheel.advance(now, u64::MAX, |_, _| unreachable!());
        Clock { wheel, directory: Directory::new(0), now }
    }

    /// A timer whose sequence number says its deadline.
    pub(crate) fn set(&mut self, deadline: u64) -> *const Node {
        let node = self.wheel.take_node(&self.directory).unwrap();
        // SAFETY: just taken.
        unsafe {
            let kind = (*node).fill(deadline, Action::Receive { pid: deadline });
            (*node).claim.open(kind);
            self.wheel.link(&*node);
        }
        node
    }

    pub(crate) fn cancel(&mut self, node: *const Node) {
        // SAFETY: nodes stay as long as their directory.
        let node = unsafe { &*node };
        let (generation, kind) = node.claim.seen().unwrap();
        assert!(node.claim.take(generation, kind));
        assert!(self.wheel.remove(node));
        self.wheel.slab.give_back(&self.directory, node);
    }

    /// Deadlines of those that are due after `step` ms more.
    pub(crate) fn step(&mut self, step: u64) -> Vec<u64> {
        self.now += step;
        self.wheel.advance(self.now, u64::MAX, |wheel, node| wheel.slab.give_back(&self.directory, node));
        let mut out = Vec::new();
        while let Some((_, Action::Receive { pid })) = self.wheel.next_due(|wheel, node| wheel.slab.give_back(&self.directory, node)) {
            out.push(pid);
        }
        out
    }

    /// Each with the time at which it was fired.
    fn fire_all(&mut self, step: u64) -> Vec<(u64, u64)> {
        let mut out = Vec::new();
        while !self.wheel.is_empty() {
            let due = self.step(step);
            out.extend(due.into_iter().map(|deadline| (deadline, self.now)));
        }
        out
    }
}

#[test]
fn fires_on_the_tick() {
    let deadlines = [1001, 1002, 1255, 1256, 1257, 1511, 1512, 2000, 66000, 66536, 70000, 131072, 131073];
    let mut clock = Clock::at(1000);
    for deadline in deadlines {
        clock.set(deadline);
    }
    assert_eq!(clock.fire_all(1), deadlines.map(|deadline| (deadline, deadline)));
}

#[test]
fn never_early_and_at_most_one_step_late() {
    for (seed, step) in [(37, 7), (101, 1), (977, 300)] {
        let mut clock = Clock::at(1000);
        let deadlines: Vec<u64> = (0..500u64).map(|i| 1001 + (i * i * seed) % 90_000).collect();
        let nodes: Vec<_> = deadlines.iter().map(|&deadline| clock.set(deadline)).collect();
        // Every third is cancelled.
        nodes.iter().step_by(3).for_each(|&node| clock.cancel(node));
        let mut expected: Vec<u64> = deadlines.iter().enumerate().filter(|(i, _)| i % 3 != 0).map(|(_, &d)| d).collect();
        let mut fired = clock.fire_all(step);
        for &(deadline, at) in &fired {
            assert!(at >= deadline && at < deadline + step, "{deadline} fired at {at}");
        }
        expected.sort();
        fired.sort();
        assert_eq!(fired.into_iter().map(|(deadline, _)| deadline).collect::<Vec<_>>(), expected);
    }
}

#[test]
fn time_may_leap() {
    let mut clock = Clock::at(5);
    let deadlines = [6, 300, 70_000, 1 << 20, 1 << 33, (1 << 33) + 1, 1 << 41];
    for deadline in deadlines {
        clock.set(deadline);
    }
    assert_eq!(clock.wheel.until_next(u64::MAX), 1);
    assert_eq!(clock.step(69_994), [6, 300]);
    assert_eq!(clock.step(1), [70_000]);
    assert_eq!(clock.step(1 << 20), [1 << 20]);
    // Farther than the wheel reaches, and all at once.
    assert_eq!(clock.step(1 << 40), [1 << 33, (1 << 33) + 1]);
    assert_eq!(clock.step((1 << 41) - clock.now - 1), []);
    assert_eq!(clock.step(1), [1 << 41]);
    assert!(clock.wheel.is_empty());
}

#[test]
fn it_says_when_to_look_next() {
    let mut clock = Clock::at(1000);
    assert_eq!(clock.wheel.until_next(10_000), 10_000);
    clock.set(1_003);
    assert_eq!(clock.wheel.until_next(10_000), 3);
    assert_eq!(clock.step(3), [1_003]);
    let far = clock.set(1_000_000);
    // Where it waits comes down first.
    let mut looks = 0;
    while clock.wheel.until_next(u64::MAX) != u64::MAX && looks < 5 {
        let next = clock.wheel.until_next(u64::MAX);
        looks += 1;
        if clock.step(next).is_empty() {
            assert!(clock.now < 1_000_000);
        } else {
            assert_eq!(clock.now, 1_000_000);
        }
    }
    assert!(looks <= 3, "{looks} looks for one timer");
    assert!(clock.wheel.is_empty());
    let _ = far;
}

#[test]
fn those_of_one_tick_fire_in_the_order_in_which_they_were_set() {
    let mut clock = Clock::at(0);
    let nodes: Vec<_> = (0..10).map(|_| clock.set(5)).collect();
    // SAFETY: nodes stay as long as their directory.
    let order: Vec<_> = nodes.iter().map(|&node| unsafe { (*node).index }).collect();
    clock.wheel.advance(5, u64::MAX, |_, _| unreachable!());
    let mut found = Vec::new();
    while clock.wheel.next_due(|_, node| found.push(node.index)).is_some() {}
    assert_eq!(found, order);
}

#[test]
fn fresh_ones_count_from_the_next_look() {
    let mut clock = Clock::at(100);
    let node = clock.wheel.take_node(&clock.directory).unwrap();
    // SAFETY: just taken.
    unsafe {
        let kind = (*node).fill(20, Action::Receive { pid: 1 });
        (*node).claim.open(kind);
        clock.wheel.link_fresh(&*node);
    }
    assert_eq!(clock.step(50), []);
    assert_eq!(clock.step(20), []);
    assert_eq!(clock.step(1), [1]);
}

#[test]
fn chunks_come_and_go_and_old_handles_find_nothing() {
    let directory = Directory::new(0);
    let mut slab = Slab::new();
    let mut generations = HashSet::new();
    for round in 0..3 {
        let nodes: Vec<_> = (0..10 * CHUNK_NODES + 1).map(|_| slab.take(&directory).unwrap()).collect();
        assert_eq!(slab.chunks(), 11);
        let distinct: HashSet<u32> = nodes
            .iter()
            .map(|&node| {
                // SAFETY: just taken.
                let node = unsafe { &*node };
                assert!(generations.insert((node.index, node.claim.generation())), "round {round}");
                assert!(std::ptr::eq(directory.find(node.index).unwrap(), node));
                node.index
            })
            .collect();
        assert_eq!(distinct.len(), nodes.len());
        // In another order.
        for start in 0..7 {
            for &node in nodes.iter().skip(start).step_by(7) {
                slab.give_back(&directory, node);
            }
        }
        assert_eq!(slab.chunks(), 1, "all but one are freed");
    }
    assert_eq!(directory.find(u32::MAX).map(|_| ()), None);
}

fn leaked(count: usize, wake: fn(usize)) -> &'static Wheels {
    Box::leak(Box::new(Wheels::new(count, wake)))
}

/// Sends of these tests go to the number of the timer, which is their message too.
fn set(wheels: &Wheels, deadline: u64, number: u64) -> Handle {
    let timer = wheels.reserve();
    let handle = timer.handle();
    wheels.set(timer, deadline, Action::Send { dest: Term::small(number as i64), message: Package::immediate(Term::small(number as i64)) });
    handle
}

fn fire(wheels: &Wheels, fired: &Mutex<Vec<u64>>) {
    wheels.look(1);
    while let Some((_, action)) = wheels.next_due() {
        match action {
            Action::Send { dest, .. } => fired.lock().unwrap().push(dest.small_value() as u64),
            _ => panic!("a timer of another kind"),
        }
    }
}

#[test]
fn each_timer_is_fired_or_cancelled_once_by_one_of_all_that_try() {
    const OWNERS: usize = 2;
    const OTHERS: usize = 3;
    const EACH: u64 = 20_000;
    let wheels = leaked(OWNERS, |_| ());
    let fired: &'static Mutex<Vec<u64>> = Box::leak(Box::default());
    let cancelled: &'static Mutex<Vec<u64>> = Box::leak(Box::default());
    let done: &'static AtomicUsize = Box::leak(Box::default());
    let number: &'static AtomicU64 = Box::leak(Box::default());
    // Each thread sets timers, keeps some handles, and sends the others to the next thread, which tries to cancel them as well.
    let (senders, receivers): (Vec<_>, Vec<_>) = (0..OWNERS + OTHERS).map(|_| channel::<(Handle, u64)>()).unzip();
    let threads: Vec<_> = receivers
        .into_iter()
        .enumerate()
        .map(|(thread, receiver)| {
            let next = senders[(thread + 1) % (OWNERS + OTHERS)].clone();
            std::thread::spawn(move || {
                let owner = thread < OWNERS;
                if owner {
                    qsbr::online();
                    wheels.own(thread);
                }
                let cancel = |handle, number| {
                    if wheels.cancel_send(handle).is_some() {
                        cancelled.lock().unwrap().push(number);
                    }
                    assert_eq!(wheels.cancel_send(handle).map(|(left, _)| left), None);
                };
                for i in 0..EACH {
                    let _guard = qsbr::guard();
                    let mine = number.fetch_add(1, Ordering::Relaxed);
                    let handle = set(wheels, ticks_ms() + i % 5, mine);
                    if i % 2 == 0 {
                        // A thread that is done receives no more.
                        let _ = next.send((handle, mine));
                    }
                    if i % 3 == 0 {
                        cancel(handle, mine);
                    }
                    for (handle, number) in receiver.try_iter().take(3) {
                        if number % 2 == 0 {
                            wheels.read_send(handle).inspect(|(_, dest)| assert_eq!(dest.small_value() as u64, number));
                        }
                        cancel(handle, number);
                    }
                    if owner && i % 64 == 0 {
                        fire(wheels, fired);
                        qsbr::quiescent();
                    }
                }
                done.fetch_add(1, Ordering::SeqCst);
                while owner && (done.load(Ordering::SeqCst) < OWNERS + OTHERS || wheels.look(1000) < 1000) {
                    fire(wheels, fired);
                    qsbr::quiescent();
                }
                if owner {
                    fire(wheels, fired);
                    qsbr::offline();
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    let mut all = std::mem::take(&mut *fired.lock().unwrap());
    assert!(!all.is_empty());
    let cancelled = std::mem::take(&mut *cancelled.lock().unwrap());
    assert!(!cancelled.is_empty());
    all.extend(cancelled);
    all.sort();
    assert!(all.iter().copied().eq(0..(OWNERS + OTHERS) as u64 * EACH));
}

#[test]
fn a_sleeping_owner_is_told_before_many_that_are_cancelled_lie_about() {
    static WOKEN: AtomicUsize = AtomicUsize::new(0);
    // Other tests have timers from outside as well.
    const FIRST: u64 = 1 << 40;
    let wheels = leaked(2, |index| {
        assert_eq!(index, 0);
        WOKEN.fetch_add(1, Ordering::SeqCst);
    });
    let handles: &'static Mutex<Vec<Handle>> = Box::leak(Box::default());
    let (set_all, cancelled_all) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
    let owner = {
        let (set_all, cancelled_all) = (set_all.clone(), cancelled_all.clone());
        std::thread::spawn(move || {
            qsbr::online();
            wheels.own(0);
            *handles.lock().unwrap() = (FIRST..FIRST + 100_000).map(|i| set(wheels, ticks_ms() + 3_600_000, i)).collect();
            let mut messages = 0;
            wheels.for_each_message(|message| messages += (message == Term::small(FIRST as i64 + 5)) as usize);
            assert_eq!(messages, 1);
            qsbr::offline();
            set_all.wait();
            cancelled_all.wait();
            qsbr::online();
            assert_eq!(wheels.look(10), 10, "nothing is under way");
            qsbr::offline();
        })
    };
    set_all.wait();
    {
        let _guard = qsbr::guard();
        for handle in handles.lock().unwrap().drain(..) {
            assert!(wheels.cancel_send(handle).is_some_and(|(left, _)| left > 3_500_000));
        }
        let mut left = 0;
        wheels.for_each_send(|_, dest| left += (dest.small_value() as u64 >= FIRST) as usize);
        assert_eq!(left, 0);
    }
    assert!(WOKEN.load(Ordering::SeqCst) >= 60, "it was woken {} times", WOKEN.load(Ordering::SeqCst));
    cancelled_all.wait();
    owner.join().unwrap();
}

#[test]
fn a_timer_from_outside_wakes_its_owner_and_may_be_cancelled_before_it_comes() {
    static WOKEN: AtomicBool = AtomicBool::new(false);
    let wheels = leaked(1, |_| WOKEN.store(true, Ordering::SeqCst));
    let outsider = std::thread::spawn(|| {
        let _guard = qsbr::guard();
        let early = set(wheels, ticks_ms() + 1, 7);
        assert!(WOKEN.load(Ordering::SeqCst));
        assert!(wheels.is_brought(0));
        assert!(wheels.cancel_send(early).is_some());
        assert!(wheels.cancel_send(early).is_none());
        set(wheels, ticks_ms() + 1, 8);
        let reserved = wheels.reserve();
        let handle = reserved.handle();
        reserved.give_up();
        assert!(wheels.cancel_send(handle).is_none());
        assert_ne!(wheels.reserve().handle(), handle);
    });
    outsider.join().unwrap();
    qsbr::online();
    wheels.own(0);
    let fired = Mutex::default();
    std::thread::sleep(Duration::from_millis(5));
    fire(wheels, &fired);
    assert_eq!(*fired.lock().unwrap(), [8]);
    assert!(!wheels.is_brought(0));
    qsbr::offline();
}

#[test]
fn timers_from_outside_leave_no_memory() {
    const MANY: u64 = 50_000;
    // Not those that another test looks for.
    const FIRST: u64 = 1 << 39;
    let wheels = leaked(1, |_| ());
    let before = slab::outside().chunks();
    let outsiders: Vec<_> = (0..4)
        .map(|i| {
            std::thread::spawn(move || {
                let _guard = qsbr::guard();
                (0..MANY).map(|n| set(wheels, ticks_ms() + 3_600_000, FIRST + i * MANY + n)).collect::<Vec<Handle>>()
            })
        })
        .collect();
    let handles: Vec<Handle> = outsiders.into_iter().flat_map(|outsider| outsider.join().unwrap()).collect();
    assert!(slab::outside().chunks() >= 4 * MANY as usize / CHUNK_NODES);
    qsbr::online();
    wheels.own(0);
    assert!(handles.into_iter().all(|handle| wheels.cancel_send(handle).is_some()));
    wheels.look(10);
    // Of other tests some may be there.
    assert!(slab::outside().chunks() <= before + 20, "{} {before}", slab::outside().chunks());
    qsbr::offline();
}

#[test]
fn a_handle_that_was_made_up_is_harmless() {
    let wheels = leaked(1, |_| ());
    qsbr::online();
    wheels.own(0);
    let (receive, _) = wheels.set_receive(1, 50);
    let send = set(wheels, ticks_ms() + 50, 9);
    let guess = |handle: Handle, generation: u64, index: u32| Handle {
        generation: std::num::NonZeroU64::new(handle.generation.get() + generation).unwrap(),
        index: handle.index + index,
        ..handle
    };
    for handle in [receive, guess(send, 1, 0), guess(send, 0, 1), guess(send, 0, 1 << 26), Handle { wheel: 9, ..send }] {
        assert!(wheels.cancel_send(handle).is_none());
        assert!(wheels.read_send(handle).is_none());
    }
    assert_eq!(node::SEND, 1);
    wheels.cancel_receive(send);
    assert!(wheels.read_send(send).is_some_and(|(left, dest)| left <= 50 && dest == Term::small(9)));
    wheels.cancel_receive(receive);
    assert!(wheels.cancel_send(send).is_some());
    assert_eq!(wheels.look(77), 77);
    qsbr::offline();
}

#[test]
fn a_timer_that_is_cancelled_too_late_has_done_what_it_says() {
    let wheels = leaked(1, |_| ());
    qsbr::online();
    wheels.own(0);
    let handle = set(wheels, ticks_ms(), 7);
    let (is_taken, taken) = channel();
    let is_told: &'static AtomicUsize = Box::leak(Box::default());
    let other = std::thread::spawn(move || {
        taken.recv().unwrap();
        assert!(wheels.cancel_send(handle).is_none());
        is_told.store(1, Ordering::SeqCst);
    });
    while wheels.look(1) > 0 {}
    wheels.in_turn(|| {
        assert!(wheels.next_due().is_some());
        is_taken.send(()).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(50));
        assert_eq!(is_told.load(Ordering::SeqCst), 0);
    });
    other.join().unwrap();
    assert_eq!(is_told.load(Ordering::SeqCst), 1);
    qsbr::offline();
}
