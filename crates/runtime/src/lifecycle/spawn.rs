//! New processes.

use crate::base::level::Priority;
use crate::base::place::Place;
use crate::heap::mode;
use crate::process::proctab;
use crate::process::{self, MaxHeap, ProcRef, Process, SpawnOptions, Stand};
use heddle_abi::settings::SETTINGS;
use heddle_term::Term;
use heddle_term::code_cell::Mfa;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Default for new processes: minor collections between two major ones.
pub static FULLSWEEP_AFTER: AtomicU64 = AtomicU64::new(u16::MAX as u64);

/// Where a process starts and ends: code cells of the engine.
pub struct EntryPoints {
    /// Applies X0 (module), X1 (function), X2 (argument list).
    pub apply: *const u64,
    /// The continuation below the first frame: ends the process normally.
    pub exit: *const u64,
    /// Where native tasks stand: the code cell runs a slice of one (`task::slice`).
    pub task: *const u64,
}
// SAFETY: addresses of immortal cells.
unsafe impl Send for EntryPoints {}
// SAFETY: as above.
unsafe impl Sync for EntryPoints {}

pub static ENTRY_POINTS: OnceLock<EntryPoints> = OnceLock::new();

impl Default for SpawnOptions {
    fn default() -> Self {
        SpawnOptions {
            priority: Priority::Normal,
            min_heap_words: SETTINGS.min_heap_words.get(),
            min_vheap_words: SETTINGS.min_vheap_words.get(),
            fullsweep_after: FULLSWEEP_AFTER.load(Ordering::Relaxed) as u16,
            max_heap: default_max_heap(),
            off_heap_messages: SETTINGS.off_heap_messages.is_on(),
            async_dist: SETTINGS.async_dist.is_on(),
            place: Place::Anywhere,
        }
    }
}

/// The limit for new processes.
pub fn default_max_heap() -> MaxHeap {
    MaxHeap {
        size_words: SETTINGS.max_heap_words.get(),
        kill: SETTINGS.max_heap_kill.is_on(),
        error_logger: SETTINGS.max_heap_log.is_on(),
        include_shared_binaries: SETTINGS.max_heap_binaries.is_on(),
    }
}

/// Processes that are spawned meanwhile may get some of the new values and some of the old.
pub fn set_default_max_heap(max: MaxHeap) {
    SETTINGS.max_heap_words.set(max.size_words);
    SETTINGS.max_heap_kill.set(max.kill);
    SETTINGS.max_heap_log.set(max.error_logger);
    SETTINGS.max_heap_binaries.set(max.include_shared_binaries);
}

/// A process that will apply M:F to `args` (a proper list), not yet visible: the caller sets up links and monitors on it and
/// then calls `sched::start_process`. None when the process table is full.
pub fn create(mfa: Mfa, args: Term, parent: Option<&mut Process>, options: &SpawnOptions) -> Option<ProcRef> {
    let pid = proctab::reserve()?;
    let group_leader = parent.as_ref().map_or(Term::local_pid(pid), |p| p.group_leader);
    let parent_pid = parent.as_ref().map_or(pid, |p| p.pid());
    let mut local = Process::blank(mfa, Term::NONE, parent_pid, options);
    let args = mode::unpack_arguments(&mut local, parent, args, group_leader);
    Some(begin(pid, local, args, options))
}

/// Makes the process stand where it applies its function to `args`, which are in its heap.
fn begin(pid: u64, mut local: Process, args: Term, options: &SpawnOptions) -> ProcRef {
    let entry = ENTRY_POINTS.get().expect("engine started");
    local.ip = entry.apply;
    local.stop = local.stop.wrapping_sub(2);
    // SAFETY: the block was sized with slack for the stack.
    unsafe {
        *local.stop = args.raw();
        *local.stop.add(1) = entry.exit as u64 | heddle_term::term::TAG_CONTINUATION;
    }
    local.stand = Stand::Starting;
    local.sync_limit();
    let p = process::allocate(pid, local);
    crate::sched::home::put(&p, options.place);
    p
}
