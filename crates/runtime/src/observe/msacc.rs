//! Microstate accounting: what each thread of the VM does with its time, as `statistics(microstate_accounting)` and OTP's `msacc`
//! show it. A thread says when it goes from one state to another. While the accounting is off, that costs reading a flag. Only
//! `sleep` is always kept, so that a thread that sleeps when the accounting begins is counted as asleep.
//!
//! The account of a thread is written by the thread alone. Readers take no lock: `version` is odd while the account is written, and
//! a reader that finds it odd or changed reads again.

use crate::base::time::monotonic_ns;
use heddle_memory::COUNTED;
use std::cell::Cell;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering, fence};

#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum ThreadState {
    /// Work other than running processes: timers, freeing the memory of deleted tables.
    Aux,
    /// Handling events of file descriptors.
    CheckIo,
    /// Running a process, its natives included.
    Emulator,
    Gc,
    Other,
    /// Running a port.
    Port,
    Sleep,
}

pub const STATES: [(&str, ThreadState); 7] = [
    ("aux", ThreadState::Aux),
    ("check_io", ThreadState::CheckIo),
    ("emulator", ThreadState::Emulator),
    ("gc", ThreadState::Gc),
    ("other", ThreadState::Other),
    ("port", ThreadState::Port),
    ("sleep", ThreadState::Sleep),
];

struct Account {
    kind: &'static str,
    id: usize,
    /// Odd while the thread changes the account. Release at the end of `change`, with a Release fence after the first store; `read` has
    /// an Acquire load and an Acquire fence: if it finds the same even version twice, it saw no change.
    version: AtomicU64,
    state: AtomicU8,
    /// When the thread entered the state, or the accounting began.
    since: AtomicU64,
    /// The accounting period that `since` and `spent` belong to.
    epoch: AtomicU64,
    spent: [AtomicU64; STATES.len()],
}

static ACCOUNTS: Mutex<Vec<&'static Account>> = Mutex::new(Vec::new());
static ON: AtomicBool = AtomicBool::new(false);
/// What was counted in all earlier periods, one row a thread. Held while the accounting is switched.
static ENDED: Mutex<Vec<Spent>> = Mutex::new(Vec::new());
/// Incremented when the accounting begins, so that no thread adds time before that. AcqRel in `begin`, Acquire in `change` and `counted`:
/// `BEGAN` is seen.
static EPOCH: AtomicU64 = AtomicU64::new(0);
static BEGAN: AtomicU64 = AtomicU64::new(0);

/// Nanoseconds in each state, in the order of STATES.
type Spent = [u64; STATES.len()];

thread_local! {
    static MINE: Cell<Option<&'static Account>> = const { Cell::new(None) };
}

fn now() -> u64 {
    monotonic_ns() as u64
}

/// The calling thread is one of those that are shown; it begins asleep.
pub fn register(kind: &'static str, id: usize) {
    let account: &'static Account = Box::leak(Box::new(Account {
        kind,
        id,
        version: AtomicU64::new(0),
        state: AtomicU8::new(ThreadState::Sleep as u8),
        since: AtomicU64::new(0),
        epoch: AtomicU64::new(0),
        spent: Default::default(),
    }));
    ACCOUNTS.lock().unwrap().push(account);
    MINE.set(Some(account));
}

/// The calling thread goes into this state. Returns the state it was in, to go back to.
#[inline(always)]
pub fn enter(state: ThreadState) -> ThreadState {
    // Relaxed: a change that is missed or counted wrongly while the accounting is switched is worth one slice.
    if COUNTED && ON.load(Ordering::Relaxed) { change(state) } else { ThreadState::Other }
}

/// As `enter`, and remembered while the accounting is off.
pub fn sleep(asleep: bool) {
    let state = if asleep { ThreadState::Sleep } else { ThreadState::Other };
    if !COUNTED {
        return;
    }
    if ON.load(Ordering::Relaxed) {
        change(state);
    } else if let Some(account) = MINE.get() {
        account.state.store(state as u8, Ordering::Relaxed);
    }
}

#[cold]
fn change(state: ThreadState) -> ThreadState {
    let Some(account) = MINE.get() else { return ThreadState::Other };
    let before = account.state.load(Ordering::Relaxed);
    let now = now();
    let version = account.version.load(Ordering::Relaxed);
    account.version.store(version + 1, Ordering::Relaxed);
    // Release fence, see `version`: the odd version is seen before anything that follows.
    fence(Ordering::Release);
    let epoch = EPOCH.load(Ordering::Acquire);
    if account.epoch.swap(epoch, Ordering::Relaxed) != epoch {
        account.spent.iter().for_each(|spent| spent.store(0, Ordering::Relaxed));
        account.since.store(BEGAN.load(Ordering::Relaxed), Ordering::Relaxed);
    }
    let spent = &account.spent[before as usize];
    let since = account.since.swap(now, Ordering::Relaxed);
    spent.store(spent.load(Ordering::Relaxed) + now.saturating_sub(since), Ordering::Relaxed);
    account.state.store(state as u8, Ordering::Relaxed);
    account.version.store(version + 2, Ordering::Release);
    STATES.iter().map(|(_, s)| *s).find(|s| *s as u8 == before).unwrap_or(ThreadState::Other)
}

impl Account {
    /// What the thread spent in the accounting period `epoch`, up to `now`.
    fn read(&self, epoch: u64, now: u64) -> Spent {
        loop {
            let version = self.version.load(Ordering::Acquire);
            let mut spent = [0; STATES.len()];
            let mut since = BEGAN.load(Ordering::Relaxed);
            if self.epoch.load(Ordering::Relaxed) == epoch {
                spent = std::array::from_fn(|i| self.spent[i].load(Ordering::Relaxed));
                since = self.since.load(Ordering::Relaxed);
            }
            let state = self.state.load(Ordering::Relaxed) as usize;
            // Acquire fence, see `version`: what was read above is read before the version is read again.
            fence(Ordering::Acquire);
            if version.is_multiple_of(2) && self.version.load(Ordering::Relaxed) == version {
                spent[state] += now.saturating_sub(since);
                return spent;
            }
            std::hint::spin_loop();
        }
    }
}

fn counted() -> Vec<Spent> {
    let (epoch, now) = (EPOCH.load(Ordering::Acquire), now());
    ACCOUNTS.lock().unwrap().iter().map(|account| account.read(epoch, now)).collect()
}

fn begin() {
    BEGAN.store(now(), Ordering::Relaxed);
    EPOCH.fetch_add(1, Ordering::AcqRel);
}

fn add(sums: &mut Vec<Spent>, more: Vec<Spent>) {
    sums.resize(more.len(), [0; STATES.len()]);
    for (sum, more) in sums.iter_mut().zip(more) {
        sum.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
    }
}

/// Switches the accounting on or off. `tell` then tells the schedulers. Returns true if it was on before.
pub(crate) fn switch(on: bool, tell: impl FnOnce()) -> bool {
    let mut ended = ENDED.lock().unwrap();
    let before = ON.load(Ordering::Relaxed);
    if on && !before {
        begin();
    } else if before && !on {
        add(&mut ended, counted());
    }
    // SeqCst orders no other memory that readers need: they load it Relaxed.
    ON.store(on, Ordering::SeqCst);
    tell();
    before
}

/// Forgets what was counted. Returns true if the accounting is on.
pub fn reset() -> bool {
    let mut ended = ENDED.lock().unwrap();
    ended.clear();
    if ON.load(Ordering::Relaxed) {
        begin();
    }
    ON.load(Ordering::Relaxed)
}

/// Kind and number of each thread, and the nanoseconds it spent in each state.
pub fn figures() -> Vec<(&'static str, usize, Spent)> {
    let ended = ENDED.lock().unwrap();
    let mut sums = ended.clone();
    if ON.load(Ordering::Relaxed) {
        add(&mut sums, counted());
    }
    let threads: Vec<_> = ACCOUNTS.lock().unwrap().clone();
    sums.resize(threads.len(), [0; STATES.len()]);
    threads.iter().zip(sums).map(|(account, spent)| (account.kind, account.id, spent)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// States follow each other, time goes to the right one, and nothing is counted while it is off or after a reset.
    #[test]
    fn time_goes_where_it_was_spent() {
        register("test", 7);
        let mine = || figures().into_iter().find(|(kind, id, _)| (*kind, *id) == ("test", 7)).unwrap().2;
        let nap = || std::thread::sleep(std::time::Duration::from_millis(20));
        assert_eq!(mine(), [0; 7]);
        assert!(!switch(true, || ()));
        nap();
        sleep(false);
        let before = enter(ThreadState::Gc);
        nap();
        enter(before);
        assert!(switch(false, || ()));
        let spent = mine();
        let ms = 1_000_000;
        assert!(spent[ThreadState::Sleep as usize] >= 20 * ms && spent[ThreadState::Gc as usize] >= 20 * ms, "{spent:?}");
        assert_eq!(spent[ThreadState::Port as usize], 0);
        nap();
        assert_eq!(mine(), spent, "counted while it was off");
        assert!(!switch(true, || ()));
        nap();
        assert!(mine()[ThreadState::Other as usize] >= spent[ThreadState::Other as usize] + 20 * ms);
        assert!(reset());
        assert!(mine().iter().sum::<u64>() < 10 * ms);
        assert!(switch(false, || ()));
        assert!(!reset());
        assert_eq!(mine(), [0; 7]);
    }
}
