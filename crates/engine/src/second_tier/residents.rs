//! Functions that have machine code, and how those that are cold lose it when there is no room for more.
//!
//! Nothing is counted while there is room. When there is none, the entries of all compiled functions get an operation for a while that notes that the
//! function was entered (`ops::calls::enter_watched`), and goes on in its machine code. Functions that were not entered leave, those first that
//! were seen last the longest time ago: the first tier's operations come back into their cells, and their calls are counted again. No process
//! holds an address of machine code: return addresses are those of cells. So the memory is free when each thread has ended its slice.

use super::figures::COUNTS;
use super::worker::{cell, forget_instance};
use super::{Kept, OPERATIONS, counted};
use heddle_jit::CodeMemory;
use heddle_runtime::code::Instance;
use heddle_runtime::qsbr;
use heddle_runtime::trace::breakpoints;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

/// How long entries are watched (guessed: several slices of all that runs).
const WATCH: Duration = Duration::from_millis(20);
/// How long nothing is tried after nothing was cold (guessed).
const PAUSE: Duration = Duration::from_secs(1);
/// A sweep ends when it has freed this part of the limit (guessed).
const PART: usize = 8;
/// Milliseconds that the thread waits for memory that other threads may still run (guessed: slices are shorter).
const WAIT_MS: usize = 100;

/// Machine code of a function, and what its cells held before.
pub struct Installed {
    pub memory: CodeMemory,
    /// Address of the segment of the entry.
    pub address: usize,
    /// The first tier's operation of the entry.
    pub first: u64,
    /// Cells of other roots, with the first tier's operations.
    pub roots: Vec<(u32, u64)>,
}

struct Resident {
    instance: Weak<Instance>,
    entry: u32,
    /// The number of the sweep that last found it entered, or before which it was compiled.
    seen: u64,
}

/// All functions that were compiled one by one.
#[derive(Default)]
pub struct Residents {
    all: Vec<Resident>,
    sweeps: u64,
    not_before: Option<Instant>,
    /// What was thrown away is free when this epoch has passed.
    leaving: Option<u64>,
}

impl Residents {
    pub fn add(&mut self, instance: &Arc<Instance>, entry: u32) {
        self.all.push(Resident { instance: Arc::downgrade(instance), entry, seen: self.sweeps });
    }

    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Throws away machine code that is cold. Returns true if there is some room now. `calls`: their number after which a function comes back.
    pub fn make_room(&mut self, calls: u64) -> bool {
        let now = Instant::now();
        if self.all.is_empty() || self.not_before.is_some_and(|time| now < time) || !self.has_left() {
            return false;
        }
        self.sweeps += 1;
        self.all.retain(|resident| with(&resident.instance, |instance, kept| watch(instance, kept, resident.entry)).is_some());
        std::thread::sleep(WATCH);
        let freed = self.throw_away(calls);
        COUNTS.sweeps.fetch_add(1, Ordering::Relaxed);
        if freed == 0 {
            self.not_before = Some(now + PAUSE);
            return false;
        }
        self.has_left()
    }

    fn throw_away(&mut self, calls: u64) -> usize {
        let enough = heddle_jit::limit() / PART;
        let _guard = qsbr::guard();
        let sweep = self.sweeps;
        for resident in &mut self.all {
            if with(&resident.instance, |instance, _| was_entered(instance, resident.entry)) == Some(true) {
                resident.seen = sweep;
            }
        }
        self.all.sort_by_key(|resident| resident.seen);
        let mut freed = 0;
        self.all.retain(|resident| {
            with(&resident.instance, |instance, kept| {
                let is_cold = resident.seen < sweep && freed < enough;
                let bytes = if is_cold { remove(instance, kept, resident.entry, calls) } else { None };
                freed += bytes.unwrap_or(0);
                if bytes.is_none() {
                    stop_watching(instance, kept, resident.entry);
                }
                bytes.is_none()
            })
            .unwrap_or(false)
        });
        self.leaving = Some(qsbr::next());
        freed
    }

    /// Waits a while until what was thrown away is free. Returns false if it is not.
    fn has_left(&mut self) -> bool {
        let Some(epoch) = self.leaving else { return true };
        for _ in 0..WAIT_MS {
            let is_freed = {
                let _guard = qsbr::guard();
                qsbr::is_freed(epoch)
            };
            if is_freed {
                self.leaving = None;
                return true;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        false
    }
}

/// Runs `f` on the module, if it is still there.
fn with<R>(instance: &Weak<Instance>, f: impl FnOnce(&Instance, &Kept) -> R) -> Option<R> {
    let instance = instance.upgrade()?;
    let result = instance.machine_code.as_deref().and_then(Kept::of).map(|kept| f(&instance, kept));
    forget_instance(instance);
    result
}

fn entry_address(instance: &Instance, entry: u32) -> usize {
    instance.code.as_ptr() as usize + entry as usize * 8
}

/// The operations that count calls and that note them.
fn operations() -> Option<(u64, u64)> {
    OPERATIONS.get().map(|operations| (operations.count_call, operations.enter_watched))
}

/// From now on it is noted if the function is entered.
fn watch(instance: &Instance, kept: &Kept, entry: u32) {
    let (functions, Some((_, enter_watched))) = (kept.functions(), operations()) else { return };
    let Some(installed) = functions.get(&entry) else { return };
    cell(instance, counted::counter(entry)).store(counted::NOT_ENTERED, Ordering::Relaxed);
    breakpoints::replace(entry_address(instance, entry), installed.address as u64, enter_watched);
}

/// True if the function was entered since `watch`, or if that is not known.
fn was_entered(instance: &Instance, entry: u32) -> bool {
    let Some((count_call, enter_watched)) = operations() else { return true };
    let is_watched = [count_call, enter_watched].contains(&cell(instance, entry).load(Ordering::Relaxed));
    !is_watched || cell(instance, counted::counter(entry)).load(Ordering::Relaxed) != counted::NOT_ENTERED
}

fn stop_watching(instance: &Instance, kept: &Kept, entry: u32) {
    let (functions, Some((_, enter_watched))) = (kept.functions(), operations()) else { return };
    let Some(installed) = functions.get(&entry) else { return };
    breakpoints::replace(entry_address(instance, entry), enter_watched, installed.address as u64);
}

/// The first tier does the function again. Returns the bytes of its machine code. A function with a breakpoint keeps it, and the result is `None`.
fn remove(instance: &Instance, kept: &Kept, entry: u32, calls: u64) -> Option<usize> {
    let (count_call, _) = operations()?;
    let mut functions = kept.functions();
    breakpoints::while_free(entry_address(instance, entry), || {
        let installed = functions.remove(&entry)?;
        // A thread that read the operation of the entry before goes on in the machine code, or in the first tier.
        cell(instance, counted::original(entry)).store(installed.first, Ordering::Relaxed);
        cell(instance, counted::counter(entry)).store(calls, Ordering::Relaxed);
        // Release: a thread that counts sees the two cells.
        cell(instance, entry).store(count_call, Ordering::Release);
        for &(at, operation) in &installed.roots {
            cell(instance, at).store(operation, Ordering::Relaxed);
        }
        COUNTS.thrown_away.fetch_add(1, Ordering::Relaxed);
        let bytes = installed.memory.bytes();
        qsbr::retire(move || drop(installed.memory));
        Some(bytes)
    })
    .flatten()
}
