//! A scheduler without work: it searches the queues of others, then sleeps. One that found work lets woken schedulers run first.

use super::after_slice;
use super::contention::{self, Rounds};
use super::home::{self, online};
use super::polling;
use super::run::counted;
use super::table::{Scheduler, Vm, share, vm};
use super::waking::{BURST, coming, wake_another, wake_inactive, wake_one};
use crate::base::stop_requests;
use crate::base::{qsbr, time};
use crate::observe::{figures, msacc, record};
use crate::sched::run_queue::NextEntry;
use crate::sched::{balance, dirty, purge};
use crate::trace::system_profile;
use heddle_abi::settings::SETTINGS;
use std::sync::OnceLock;
use std::sync::atomic::{Ordering, fence};
use std::time::{Duration, Instant};

/// Looks at the others' queues, for a while if `spin`.
///
/// `answered`: the scheduler slept until a packet came, and has done what came of it. The thread that sent the packet may have been taken
/// off this core for that, and waits: the search lets it go on first.
pub(super) fn find_work(index: usize, spin: bool, answered: bool) -> Option<NextEntry> {
    let vm = vm();
    let me = &vm.schedulers[index];
    let n = vm.schedulers.len();
    if n == 1 {
        // Before it goes to sleep, which takes longer than the look.
        polling::look();
        // SAFETY: this thread owns the queue.
        return unsafe { me.queue.pop() };
    }
    figures::of(index).searches.add(1);
    // SeqCst orders no other memory: readers load Relaxed, for a guess.
    let is_first = vm.spinning.fetch_add(1, Ordering::SeqCst) == 0;
    let mut found = None;
    // A queue with a sole process whose owner takes nothing: how many it had taken then, and since when.
    let mut lonely: Option<(usize, u64, Instant)> = None;
    let crowded = n > cores() && balance::active() > cores();
    // Dirty threads compute: as many as there are want cores as well.
    let gives_core = crowded || is_beside_dirty();
    // The first scheduler that searches looks in each round, so it sees a packet at once. Looks of the others would only wait for each other in
    // the system, and where threads with work want the core, looks only take time from these.
    let look_rounds = if is_first && !gives_core { 1 } else { LOOK_ROUNDS };
    let rounds = match SETTINGS.spin_rounds.get() {
        _ if !spin || contention::is_contended() => 1,
        rounds if gives_core => rounds.min(CROWDED_ROUNDS),
        rounds => rounds,
    };
    let mut time = Rounds::begin();
    'spin: for round in 0..rounds {
        if round % look_rounds == 0 {
            polling::look();
        }
        // SAFETY: this is the queue's owner.
        found = unsafe { me.queue.pop() };
        if found.is_some() {
            break;
        }
        if after_slice::run() {
            continue;
        }
        if let Some((victim, taken, since)) = lonely {
            let queue = &vm.schedulers[victim].queue;
            if queue.len_for_others() != 1 || queue.taken.load(Ordering::Relaxed) != taken {
                lonely = None;
            } else if since.elapsed() > LONELY {
                found = take_from(index, victim);
                if found.is_some() {
                    break;
                }
                lonely = None;
            }
        }
        // Each round begins elsewhere: one that cannot be helped (what waits there is bound) must not hide the others.
        for step in 0..n {
            let victim = (index + round + step) % n;
            let queue = &vm.schedulers[victim].queue;
            match queue.len_for_others() {
                0 => {}
                _ if victim == index => {}
                // Its owner runs another process, if it has a core at all: that may take longer than to move this one.
                1 if crowded && queue.in_flight() != 0 => {
                    found = take_from(index, victim);
                    if found.is_some() {
                        break 'spin;
                    }
                }
                1 if lonely.is_none() => lonely = Some((victim, queue.taken.load(Ordering::Relaxed), Instant::now())),
                1 => {}
                _ => {
                    found = take_from(index, victim);
                    if found.is_some() {
                        break 'spin;
                    }
                }
            }
        }
        if gives_core {
            // Waiting here only takes time from those with work.
            std::thread::yield_now();
        } else {
            for part in 0..(if round < 8 { 2 } else { 8 }) {
                if is_first && part != 0 {
                    polling::look();
                }
                for _ in 0..25 {
                    std::hint::spin_loop();
                }
            }
            if round % 4 == 3 || (answered && round == 0) {
                std::thread::yield_now();
            }
        }
        qsbr::quiescent();
        // A process that blocks multi-scheduling waits for a quiescent state. After that this scheduler must take nothing.
        if !me.share.takes_work() || time.has_lost_core() {
            break;
        }
    }
    // SeqCst: as above, where it is incremented.
    vm.spinning.fetch_sub(1, Ordering::SeqCst);
    if found.is_some() {
        // There may be more where that came from. SeqCst: the decrement comes before these looks at the queues. The other side, a
        // thread that puts a process on a queue and then looks at `spinning`, has the light barrier of `wake_one`.
        fence(Ordering::SeqCst);
        let most = vm.schedulers.iter().map(|s| s.queue.len_for_others()).max().unwrap_or(0);
        if most >= 2 {
            let comes = if crowded { wake_another(vm) } else { wake_one() };
            // All active schedulers are awake and still many processes wait: wakes an inactive one, as a push does. (The scheduler that
            // pushes may have no core now.)
            if !comes && most >= BURST {
                wake_inactive();
            }
        }
    }
    found
}

/// True if active schedulers and running dirty CPU threads outnumber the cores.
fn is_beside_dirty() -> bool {
    let dirty = dirty::running()[0];
    dirty != 0 && dirty + balance::active() > cores()
}

/// After how many rounds a scheduler looks at the descriptors again if another one searches too, or if threads with work want the core. A look is
/// a system call.
const LOOK_ROUNDS: usize = 8;
/// Rounds of looking where working threads outnumber cores. Each round then yields the core, and a long search slows down the threads
/// that have work.
const CROWDED_ROUNDS: usize = 10;
/// An inactive scheduler becomes active where processes wait for one that took none in this time: a native may hold it.
const STUCK_MS: u64 = 10;
/// A process that waited this long on a queue whose owner takes nothing may be stolen alone.
const LONELY: Duration = Duration::from_micros(30);

pub(super) fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(crate::base::affinity::processors)
}

fn take_from(index: usize, victim: usize) -> Option<NextEntry> {
    let vm = vm();
    let me = &vm.schedulers[index];
    let mut stolen = vm.schedulers[victim].queue.steal(64, &me.queue).into_iter();
    let first = stolen.next()?;
    let mut count = 1;
    for p in stolen {
        // SAFETY: the thief is the owner of its own queue.
        unsafe { me.queue.push(p, p.state.load().queue_level()) };
        count += 1;
    }
    me.queue.hold(1);
    counted(&me.stolen, count);
    record::event(record::RecordedEvent::Steal(victim, count as usize));
    Some(NextEntry::Process(first))
}

/// True if the scheduler may run processes that are not placed on it.
pub(crate) fn takes_work(index: usize) -> bool {
    share(index).takes_work()
}

/// How a sleep ended.
#[derive(Default)]
pub(super) struct Sleep {
    /// There is something to do, as far as the scheduler knows.
    pub is_needed: bool,
    /// The scheduler was woken by another thread: it counts as coming.
    pub is_woken: bool,
    /// A descriptor was ready, and its handler has been called.
    pub is_told: bool,
}

/// Sleeps until there is something to do.
pub(super) fn park(index: usize, wait_ms: u64) -> Sleep {
    let vm = vm();
    let me = &vm.schedulers[index];
    me.parker.belongs_to_me();
    after_slice::run();
    vm.idle.enter(index);
    // One more look: a thread that did not see this scheduler among the idle has pushed before this.
    let is_active = takes_work(index);
    // Of the inactive schedulers only the first helps: all of them would look a hundred times a second.
    let helps = index < online() && !home::is_closed(index) && (is_active || index == balance::active() || home::is_any_closed());
    let work = !me.queue.is_empty()
        || vm.wheels.is_brought(index)
        || (is_active && vm.schedulers.iter().any(|s| s.queue.len_for_others() >= 2))
        || stop_requests::is_requested();
    let keeps_garbage = !work && qsbr::tidy();
    // What is freed there may wake a process.
    let work = work || !me.queue.is_empty();
    let mut is_needed = work;
    let mut ready = Vec::new();
    if !work {
        qsbr::offline();
        if vm.idle.count() == vm.schedulers.len() {
            // What comes next must reach all schedulers at first.
            balance::end_oversubscription();
        }
        // A single process on another queue may need help although no thread wakes this one: looks again soon while others are busy.
        let waiting = vm.schedulers.iter().find(|s| helps && s.queue.len_for_others() != 0);
        let taken = waiting.map(|s| s.queue.taken.load(Ordering::Relaxed));
        let ms = if waiting.is_some() { wait_ms.min(if is_active { 1 } else { STUCK_MS }) } else { wait_ms };
        let ms = purge::before_sleep(ms, keeps_garbage);
        let told = system_profile::on(system_profile::SCHEDULERS);
        if told {
            system_profile::scheduler(index + 1, false);
        }
        msacc::sleep(true);
        figures::of(index).parks.add(1);
        record::event(record::RecordedEvent::Park);
        let ms = ms.max(1);
        let until = time::ticks_ms() + ms;
        // Not whole milliseconds: timers are due when a tick begins, and such a wait would end up to one later.
        let limit = time::until_tick(until, ms);
        if is_active && polling::enter(index) {
            me.parker.park_in(|| polling::wait(limit, &mut ready));
            polling::leave();
        } else {
            me.parker.park(limit);
        }
        record::event(record::RecordedEvent::Unpark);
        msacc::sleep(false);
        // (A scheduler that was woken before the time was over looks again.)
        is_needed = time::ticks_ms() >= until
            && waiting.is_some_and(|s| s.queue.len_for_others() != 0 && Some(s.queue.taken.load(Ordering::Relaxed)) == taken);
        if is_needed && !is_active {
            balance::activate(index);
        }
        if told {
            system_profile::scheduler(index + 1, true);
        }
        qsbr::online();
    }
    let is_woken = vm.idle.leave(index);
    let is_told = !ready.is_empty();
    if is_told {
        polling::call(ready);
    }
    figures::of(index).wake_ups.add(is_woken as u64);
    Sleep { is_needed: is_woken || is_needed, is_woken, is_told }
}

/// The calling scheduler, which was woken if `comes`, works now or found nothing to do.
pub(super) fn came(vm: &Vm, comes: bool) {
    if comes {
        vm.coming.fetch_sub(1, Ordering::Relaxed);
    }
}

/// With more schedulers than cores: lets woken schedulers run before the caller runs what it found, so that a burst reaches all soon.
#[cold]
pub(super) fn let_others_come(vm: &Vm) {
    for _ in 0..TURNS {
        if coming(vm) == 0 && vm.spinning.load(Ordering::Relaxed) == 0 {
            return;
        }
        std::thread::yield_now();
    }
}

/// A scheduler found work and ran a process of it. A scheduler that searches may have no core, so the caller yields its own: a burst
/// reaches all soon. `left`: for how many more processes the caller does so. Returns the new number.
#[cold]
pub(super) fn give_way(vm: &Vm, me: &Scheduler, left: u32) -> u32 {
    if me.queue.is_empty() {
        return 0;
    }
    let is_first = left == GIVES_WAY;
    let is_looked_for = me.queue.len() >= 2 && vm.spinning.load(Ordering::Relaxed) != 0;
    if is_first || is_looked_for {
        std::thread::yield_now();
    }
    left - 1
}

/// For how many processes a scheduler that found work yields its core after each.
pub(super) const GIVES_WAY: u32 = 8;

/// How often a scheduler gives its core away before it runs its first process: each turn may be a slice of the system's.
const TURNS: usize = 4;
