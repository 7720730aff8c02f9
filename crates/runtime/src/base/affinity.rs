//! Which logical processor each scheduler thread is bound to (`+sbt`).

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};

struct Thread {
    /// The operating system's identifier, once the thread runs.
    id: Option<libc::pid_t>,
    bound_to: Option<u32>,
}

/// One entry a scheduler.
static THREADS: Mutex<Vec<Thread>> = Mutex::new(Vec::new());

type Set = libc::cpu_set_t;
/// The number of processors that a set has room for.
const MAX_CPUS: usize = size_of::<Set>() * 8;

/// The processors that the VM may run on, as it was started.
fn allowed() -> &'static Set {
    static ALLOWED: OnceLock<Set> = OnceLock::new();
    ALLOWED.get_or_init(|| {
        // SAFETY: a set of bits; all zeros are the empty one.
        let mut set: Set = unsafe { std::mem::zeroed() };
        // SAFETY: a valid destination of that size.
        unsafe { libc::sched_getaffinity(0, size_of::<Set>(), &mut set) };
        set
    })
}

/// To be called before any thread is bound.
pub fn init(schedulers: usize) {
    allowed();
    processors();
    THREADS.lock().unwrap().extend((0..schedulers).map(|_| Thread { id: None, bound_to: None }));
}

/// The number of processors the VM may use. It is read before threads are bound: a bound thread, and a program it starts, would
/// find one.
pub fn processors() -> usize {
    static PROCESSORS: OnceLock<usize> = OnceLock::new();
    *PROCESSORS.get_or_init(|| std::thread::available_parallelism().map_or(1, |n| n.get()))
}

static ANY_BOUND: AtomicBool = AtomicBool::new(false);

/// True if a thread or program that the calling thread starts has to call `free`.
pub fn is_any_bound() -> bool {
    // Relaxed: if the calling thread is bound, it was bound before it starts anything; otherwise the answer does not matter.
    ANY_BOUND.load(Ordering::Relaxed)
}

/// Unbinds the calling thread, which may have been started by a bound one. Also called in a child before `exec`.
pub fn free() {
    if is_any_bound() {
        // SAFETY: a valid set of that size.
        unsafe { libc::sched_setaffinity(0, size_of::<Set>(), allowed()) };
    }
}

/// True if threads may be bound to this processor.
pub fn is_available(cpu: u32) -> bool {
    // SAFETY: within the set.
    (cpu as usize) < MAX_CPUS && unsafe { libc::CPU_ISSET(cpu as usize, allowed()) }
}

/// The calling thread is the scheduler of this number.
pub(crate) fn begins(scheduler: usize) {
    let mut threads = THREADS.lock().unwrap();
    let Some(thread) = threads.get_mut(scheduler) else { return };
    // SAFETY: no arguments, cannot fail.
    thread.id = Some(unsafe { libc::gettid() });
    if thread.bound_to.is_some() {
        thread.bind();
    }
    ask_for_short_slices();
}

/// The slice that a scheduler thread asks the system for (Linux 6.12 and later), in ns. If a thread is woken on a core where
/// another thread of the VM runs, it gets the core after that time. With the usual slices it can wait for the next tick of the
/// system's clock, 4 ms. The thread's share of the core does not change.
const SLICE_NS: u64 = 250_000;

/// For the calling thread, not for programs that it starts. If the system refuses, or does not know the call, nothing changes.
fn ask_for_short_slices() {
    let size = size_of::<libc::sched_attr>() as u32;
    // SAFETY: the structure consists of numbers, and zeros are valid ones.
    let mut attributes: libc::sched_attr = unsafe { std::mem::zeroed() };
    // SAFETY: a valid destination of that size; 0 is the calling thread.
    let known = unsafe { libc::syscall(libc::SYS_sched_getattr, 0, &mut attributes, size, 0) } == 0;
    // A setting that children do not inherit also resets a negative niceness in children. So a thread with a negative niceness
    // keeps it, and has the usual slices.
    if known && attributes.sched_policy == libc::SCHED_OTHER as u32 && attributes.sched_nice >= 0 {
        attributes.sched_runtime = SLICE_NS;
        attributes.sched_flags |= libc::SCHED_FLAG_RESET_ON_FORK as u64;
        // SAFETY: the attributes are what the system returned, apart from the slice and a flag.
        unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &attributes, 0) };
    }
}

/// Binds each scheduler to its processor, or unbinds it.
pub fn bind(processors: impl Fn(usize) -> Option<u32>) {
    for (scheduler, thread) in THREADS.lock().unwrap().iter_mut().enumerate() {
        let processor = processors(scheduler);
        if thread.bound_to != processor {
            thread.bound_to = processor;
            ANY_BOUND.fetch_or(processor.is_some(), Ordering::Relaxed);
            thread.bind();
        }
    }
}

/// The processor that each scheduler is bound to.
pub fn bindings() -> Vec<Option<u32>> {
    THREADS.lock().unwrap().iter().map(|thread| thread.bound_to).collect()
}

impl Thread {
    fn bind(&mut self) {
        let Some(id) = self.id else { return };
        let set = match self.bound_to {
            None => *allowed(),
            Some(cpu) => {
                // SAFETY: as in `allowed`.
                let mut set: Set = unsafe { std::mem::zeroed() };
                // SAFETY: `is_available`, so within the set.
                unsafe { libc::CPU_SET(cpu as usize, &mut set) };
                set
            }
        };
        // SAFETY: a valid set of that size; a thread that is gone is an error.
        if unsafe { libc::sched_setaffinity(id, size_of::<Set>(), &set) } != 0 {
            self.bound_to = None;
        }
    }
}
