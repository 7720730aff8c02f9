//! A process: what its own scheduler may touch (`Process`) and what every thread may (`ProcShared`).
//!
//! One allocation, `ProcShared` first. A thread reaches it by a `ProcRef`, which it got from the process table or as the owner. The memory is
//! freed by quiescent-state reclamation (`qsbr`) after the process left the table and the last entry on a run queue that refers to it.
//!
//! # The owner
//!
//! One thread at a time owns a process. Owning begins and ends with a transition of `state`, whose AcqRel orders what the owners do:
//! - the creator, until `proctab::publish`
//! - the thread that set RUNNING (`start_running`, `start_out_of_turn`, `start_at_once`), until `stop_running`, `go_dirty` or `stop_helping`
//! - the dirty thread, while DIRTY is set without DETACHED: from `attach` until `detach` or `stop_running`
//! - the thread on which the process ends, until `set_free`
//! - the thread that stopped the world, for each process that no thread has: it may read everything, and the collector of the shared heap
//!   also changes terms and heap pointers
//!
//! # The fields of `ProcShared`: any thread may touch them
//!
//! - `state`: flags and the newest signal in one word. Written by any thread, by the transitions in `state.rs` and `inbox.rs` alone.
//! - `name`: read by any thread. Written by the thread that registers or unregisters the process, and by the owner when the process ends.
//! - `turn`: written by the owner; senders read it as a hint.
//! - `pid`: never written after the creation.
//! - `last_scheduler`: written by the scheduler that runs the process; wakers read it.
//! - `owner`: placement, ONCE and HANDLED. Written by the owner, read by any thread.
//! - `trace`: written by any thread that traces the process or gives it a token; the owner and senders read it.
//! - `local`: the `Process`, for the owner alone, by the unsafe `ProcRef::local`. One exception: `watch` reads `ip`, `stop` and `initial_call`
//!   of a process that runs, each once, by `local_ptr`, and takes nothing for granted of what it finds.
//!
//! # The fields of `Process`: the owner alone
//!
//! - `heap`, `stop`, `start`, `end`: heap and stack in one block. While the engine runs the process, the tops of heap and stack are in its
//!   registers; the fields are right in natives, in the collector, and between slices.
//! - `high_water`, `old_*`, `min_heap_words`, `vheap_limit_words`, `fullsweep_after`, `minor_count`, `held_words`, `grow`, `need_major`,
//!   `growth`: written by the collector (`heap`), and by the settings of `spawn_opt` and `process_flag`.
//! - `ip`, `stand`, `saved`: where the process goes on. Written by the engine at the end of a slice, read by it at the beginning of the next.
//! - `extra_reductions`: natives add to it; the engine subtracts it from the slice after each native, and clears it.
//! - `flags`: the bits `FLAG_*` below.
//! - `shared`: the block itself. Never written after the creation.
//! - `messages`: the signals that were taken from `state` and are not handled, or not received. Other threads only add to `state`.
//! - `timer`: what the process knows of its receive timer. The thread whose clock fires it reaches the timer's node, not this field.
//! - `priority`, `trap_exit`, `off_heap_messages`, `sensitive`, `error_handler`: settings of `spawn_opt` and `process_flag`, written by the
//!   creator and by natives of the process. `suspend_count`: written where the owner handles the signals of `suspend_process`.
//! - `missed_words`: written by the engine where it builds messages (hybrid heap), cleared at a send.
//! - `initial_call`, `parent`: never written after the spawn.
//! - `exception`, `trap_export`, `trap_args`, `exit_reason`: what a native leaves for the engine, which reads them at once; `exit_reason` stays
//!   until the process has ended.
//! - `group_leader`, `dictionary`, `relations`: natives of the process, and signals that it handles.
//! - `reductions`: written at the end of each slice.
//! - `rare`: made by the first use of one of its fields; freed when the process ends.
//!
//! Terms in these fields are roots of the collector (`heap::roots`): a new field that holds a term must be added there.

pub mod dictionary;
pub mod due;
mod exception;
pub mod growth;
pub mod host;
pub mod identity;
pub mod links;
pub mod names;
pub mod nodes;
pub mod proctab;
pub mod remote;
pub mod stack;
pub mod stack_mark;
pub mod state;
pub mod suspending;

pub use exception::{Exception, ExceptionClass};

use crate::base::level::{Level, Priority};
use crate::base::place::Place;
use crate::base::registers::Registers;
use crate::base::{qsbr, shutdown};
use crate::process::links::Relations;
use crate::process::state::ProcState;
use crate::signal::inner_queue::InnerQueue;
use heddle_abi::settings::DEFAULT_MIN_VHEAP_WORDS;
use heddle_term::code_cell::Mfa;
use heddle_term::open::Open;
use heddle_term::{Atom, Export, Heap, OffHeap, Term, am};
use std::cell::UnsafeCell;
use std::mem::offset_of;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, Ordering};

/// Words kept free below `stop`, so that a call may push its continuation (and a native its frame) without a check.
pub const STACK_SLACK_WORDS: usize = 8;

/// What other threads read and write is in one cache line, which holds nothing of `Process`: senders take that line from the
/// owner's core again and again while the process runs. The separation costs 64 bytes a process.
#[repr(C, align(64))]
pub struct ProcShared {
    pub state: ProcState,
    /// Atom index + 1 of the registered name, or 0. AcqRel where a name is claimed or given up, Release where it is set or cleared, Acquire in
    /// readers: the atom that is seen is there.
    pub name: AtomicU32,
    /// Counts, modulo 256, how often the process drained its inbox and found no long queue (`handle`). Written by the owner; other
    /// threads use it as a hint.
    turn: AtomicU8,
    /// 58-bit identity: payload of the pid term. For a port: its number, with the bit `identity::PORT`.
    pub pid: u64,
    /// The run queue that the process was last on, and is put on by a waker that has none.
    pub last_scheduler: AtomicU16,
    /// Written by the owner alone, read by all threads: `placed`, ONCE and HANDLED. Release in `place` and
    /// `end_handling`, Acquire in readers.
    owner: AtomicU16,
    /// All flags that any tracer set for it (`trace::flags`): 0 for most processes.
    pub trace: AtomicU32,
    local: UnsafeCell<Process>,
}

const _: () = assert!(offset_of!(ProcShared, local) == 64);

// SAFETY: fields are atomics or governed by the access contract above.
unsafe impl Sync for ProcShared {}
// SAFETY: as above.
unsafe impl Send for ProcShared {}

/// A process that is known to be alive or protected by the reader's quiescent-state window. Copyable; see `qsbr.rs` for how
/// long it may be kept.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct ProcRef(std::ptr::NonNull<ProcShared>);

// SAFETY: only shared fields are reachable without the unsafe `local`.
unsafe impl Send for ProcRef {}
// SAFETY: as above.
unsafe impl Sync for ProcRef {}

impl std::ops::Deref for ProcRef {
    type Target = ProcShared;
    #[inline(always)]
    fn deref(&self) -> &ProcShared {
        // SAFETY: a ProcRef is only kept inside a quiescent-state window or by the owner.
        unsafe { self.0.as_ref() }
    }
}

impl ProcRef {
    /// # Safety
    /// `ptr` is a live process block.
    // SAFETY: callers have it from a queue that keeps the process, from the table within a window, or from the process.
    pub(crate) unsafe fn from_ptr(ptr: *mut ProcShared) -> ProcRef {
        // SAFETY: the address of a live block is not null.
        ProcRef(unsafe { std::ptr::NonNull::new_unchecked(ptr) })
    }
    pub(crate) fn as_ptr(self) -> *mut ProcShared {
        self.0.as_ptr()
    }
    /// The part that belongs to the owner.
    ///
    /// # Safety
    /// The caller is the owner as the text at the top of this file defines it, and makes no second `&mut`.
    #[inline(always)]
    #[allow(clippy::mut_from_ref)]
    pub unsafe fn local<'a>(self) -> &'a mut Process {
        // SAFETY: the caller is the owner of the process, and makes no second `&mut`.
        unsafe { &mut *(*self.0.as_ptr()).local.get() }
    }
    /// The owner's part for other threads: it must be read as memory that another thread writes.
    pub(crate) fn local_ptr(self) -> *const Process {
        // SAFETY: the block is there as long as a ProcRef may be kept; no reference to the owner's part is made.
        unsafe { (*self.0.as_ptr()).local.get() }
    }
    /// Its pid, or the port that it is.
    pub fn pid_term(self) -> Term {
        identity::term_of(self.pid)
    }
}

/// `ProcShared::owner` bit: if the owner took signals (`state`: SIGNALS_TAKEN), it has handled them all.
const HANDLED: u16 = 1 << 15;
/// `ProcShared::owner` bit: the placement is one-shot and ends when the process reaches that scheduler.
const ONCE: u16 = 1 << 14;

impl ProcShared {
    /// True for a task with the identity of a port.
    pub fn is_port(&self) -> bool {
        self.pid & identity::PORT != 0
    }
    /// True if it does not run any more because the VM halts.
    #[inline(always)]
    pub(crate) fn is_halted(&self) -> bool {
        shutdown::has_begun() && !self.is_port()
    }
    /// The scheduler on which it ran last.
    #[inline(always)]
    pub(crate) fn ran_on(&self) -> u16 {
        // Relaxed: a thread that reads an older value counts for the scheduler before.
        self.last_scheduler.load(Ordering::Relaxed)
    }
    /// Where it should run (see `placement`), as index + 1; 0: anywhere.
    #[inline(always)]
    pub(crate) fn placed(&self) -> usize {
        // Relaxed: a thread that reads an older value brings the process to its previous place, and it goes on from there.
        (self.owner.load(Ordering::Relaxed) & !(HANDLED | ONCE)) as usize
    }
    /// True if the placement ends once the process got there.
    pub(crate) fn is_placed_once(&self) -> bool {
        self.owner.load(Ordering::Relaxed) & ONCE != 0
    }
    /// Called by the owner.
    pub(crate) fn place(&self, number: usize, once: bool) {
        assert!(number < ONCE as usize);
        let old = self.owner.load(Ordering::Relaxed);
        // Release: HANDLED may be set as before.
        self.owner.store((old & HANDLED) | if once { ONCE } else { 0 } | number as u16, Ordering::Release);
    }
    /// Called by the owner before it takes signals, and before it lets the process go: a scheduler that takes the process takes its
    /// signals at once.
    #[inline]
    pub(crate) fn begin_handling(&self) {
        // Relaxed: the change of the state word that follows publishes it.
        self.owner.store(self.owner.load(Ordering::Relaxed) & !HANDLED, Ordering::Relaxed);
    }
    /// Called by the owner when all signals it took are handled. If a signal ended the process, this is never called.
    #[inline]
    pub(crate) fn end_handling(&self) {
        // Release: a thread that finds the signals handled sees what they did.
        self.owner.store(self.owner.load(Ordering::Relaxed) | HANDLED, Ordering::Release);
    }
    /// Called by the owner when it drained the inbox and found only few signals.
    #[inline]
    pub(crate) fn begin_turn(&self) {
        // Relaxed: a hint.
        self.turn.store(self.turn.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }
    /// Changes when the owner drained the inbox and found only few signals.
    #[inline(always)]
    pub(crate) fn turn(&self) -> u8 {
        self.turn.load(Ordering::Relaxed)
    }
    /// True if no signal that the caller knows to be sent is unhandled, and none of them has ended the process. So what the caller
    /// sees of the process is what it would be told if it asked.
    pub fn has_heard_all(&self) -> bool {
        if self.state.has_signals() {
            return false;
        }
        // In this order: a thread that finds the word emptied of a signal also sees what the owner wrote before.
        let state = self.state.load();
        !state.is_exiting() && (!state.has_taken_signals() || self.owner.load(Ordering::Acquire) & HANDLED != 0)
    }
}

pub fn allocate(pid: u64, local: Process) -> ProcRef {
    let block = Box::new(ProcShared {
        state: ProcState::new(Level::of(local.priority)),
        name: AtomicU32::new(0),
        // The process that had the memory before mostly ended with another value.
        turn: AtomicU8::new(pid as u8),
        trace: AtomicU32::new(0),
        pid,
        last_scheduler: AtomicU16::new(0),
        owner: AtomicU16::new(0),
        local: UnsafeCell::new(local),
    });
    let ptr = Box::into_raw(block);
    // SAFETY: just allocated; no other thread knows it.
    unsafe {
        let p = ProcRef::from_ptr(ptr);
        p.local().shared = ptr;
        p
    }
}

/// # Safety
/// No thread can reach the block any more.
pub unsafe fn deallocate(p: ProcRef) {
    // SAFETY: by contract; came from Box::into_raw.
    drop(unsafe { Box::from_raw(p.as_ptr()) });
}

/// Frees the block when no thread can still hold a pointer to it.
///
/// # Safety
/// It was unlinked before: it is out of the process table and of all queues. It is retired once.
// SAFETY: the thread that sees the last reference go calls it: the exit, or the taker of a stale queue entry.
pub(crate) unsafe fn retire(p: ProcRef) {
    /// # Safety
    /// The contract of `deallocate`.
    // SAFETY: `retire_raw` calls it once, when no thread holds a pointer to the block.
    unsafe fn free(block: *mut ()) {
        // SAFETY: by contract; `retire` passes the block of a process.
        unsafe { deallocate(ProcRef::from_ptr(block.cast())) }
    }
    // SAFETY: by contract; a block may be freed on any thread.
    unsafe { qsbr::retire_raw(p.as_ptr().cast(), free) }
}

/// Why the engine returned from running a process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Used up its slice.
    Yield,
    /// Waits in `receive` (or hibernates).
    Wait,
    /// Ended; the reason is in `exit_reason`.
    Exit,
    /// Must go on on a dirty scheduler.
    DirtyCpu,
    DirtyIo,
    /// Handled signals and found itself suspended.
    Suspended,
}

/// How far a process has come, as its owner knows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u16)]
pub enum Stand {
    /// It never ran: nothing is saved. `apply` finds what it needs in `initial_call` and, on top of the stack, the argument list.
    Starting,
    /// Within a slice.
    Runs,
    /// After a slice that ended because the process waits.
    Waits,
    /// After a slice that ended otherwise: the process will go on.
    Stopped,
}

/// What a native left for the engine besides its result. `Err(Thrown)` says which.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Thrown {
    /// `Process::exception` holds class and reason.
    Exception,
    /// Call `Process::trap_export` with `trap_args` in tail position of the native.
    Trap,
    /// Yield, then call the same native again with `trap_args`.
    Again,
    /// Wait for any signal, then call the same native again with `trap_args`.
    WaitAgain,
    /// The process must end now with `exit_reason` (no catch stops it): exit signals that it handled itself.
    ExitNow,
    /// Run the same native again with the same arguments on a dirty scheduler.
    DirtyCpu,
    DirtyIo,
    /// The result is how many reductions are left of the slice.
    ReductionsLeft,
    /// The result is `true`, and as many reductions are left as the native counted.
    SetReductions,
    /// Run the same native again when `slice_used` says what the running slice has used.
    TellSlice,
}

pub type NativeResult = Result<Term, Thrown>;
pub type NativeFn = fn(&mut Process, &[Term]) -> NativeResult;

#[derive(Clone, Copy, PartialEq, Eq)]
pub struct MaxHeap {
    pub size_words: usize,
    pub kill: bool,
    pub error_logger: bool,
    pub include_shared_binaries: bool,
}

impl MaxHeap {
    pub const NONE: MaxHeap = MaxHeap { size_words: 0, kill: true, error_logger: true, include_shared_binaries: false };
}

impl Rare {
    fn new(max_heap: MaxHeap, min_vheap_words: usize) -> Box<Rare> {
        Box::new(Rare {
            max_heap,
            min_vheap_words,
            save_calls: 0,
            suspending: Vec::new(),
            slice_used: None,
            owned: Vec::new(),
            seq: Default::default(),
            meters: Vec::new(),
            due: Default::default(),
            held_back: None,
            floats: Vec::new(),
            mark: stack_mark::Mark::NONE,
            gap_words: 0,
            task: None,
            last_words: None,
            answer: None,
            open: Open::NONE,
        })
    }

    /// None if the options are the default ones.
    fn of(options: &SpawnOptions) -> Option<Box<Rare>> {
        let usual = options.max_heap == MaxHeap::NONE && options.min_vheap_words == DEFAULT_MIN_VHEAP_WORDS;
        (!usual).then(|| Rare::new(options.max_heap, options.min_vheap_words))
    }
}

/// Fields that few processes need; `Process::rare` makes them on first use.
pub struct Rare {
    pub max_heap: MaxHeap,
    pub min_vheap_words: usize,
    /// As set by process_flag; no calls are saved.
    pub save_calls: u32,
    /// Processes that this one suspended, and how often (`erlang:suspend_process`).
    pub suspending: Vec<suspending::Suspending>,
    /// Reductions the running slice has used, for a native that asked (`Thrown::TellSlice`); None when it has read them.
    pub slice_used: Option<u64>,
    /// Values that natives attach (open files): dropped at exit.
    pub owned: Vec<Box<dyn std::any::Any + Send>>,
    /// Sequential tracing.
    pub seq: crate::trace::token::SeqState,
    /// The metered functions that it is executing.
    pub meters: Vec<crate::trace::meter::Current>,
    /// What a dirty thread must do with it (FLAG_COLLECT).
    pub due: due::Due,
    /// Collections that others ask for, in a time in which they are not done (`long_gc::hold_back`).
    pub(crate) held_back: Option<Vec<due::DueTask>>,
    /// Float registers while it does not run (FLAG_FLOATS).
    pub floats: Vec<f64>,
    /// Which part of a large stack did not change.
    pub mark: stack_mark::Mark,
    /// Free words at the beginning of the young block: left by a collection that stayed in its block.
    pub gap_words: usize,
    /// The state of a native task (FLAG_TASK), a `task::Running`, while none of its call-backs runs.
    pub task: Option<Box<dyn std::any::Any>>,
    /// A port's message that is sent after its exit signals: receiver and message.
    pub last_words: Option<(u64, crate::Package)>,
    /// The answer to a waiting native of the process (`task::ask`).
    pub answer: Option<crate::Package>,
    /// The open region where it builds messages.
    pub open: Open,
}

/// The size decides what an idle process costs (see `bench/memory`): what most processes do not need belongs in `Rare`.
#[repr(C)]
pub struct Process {
    // --- hot: the engine touches these at every switch and native call ---
    pub heap: Heap,
    /// Top of the stack (its lowest used word).
    pub stop: *mut u64,
    /// The young block.
    pub start: *mut u64,
    pub end: *mut u64,
    /// Code cell where it goes on.
    pub ip: *const u64,
    /// Reductions that natives used beyond one; the engine subtracts and clears it.
    pub extra_reductions: u32,
    pub stand: Stand,
    pub flags: u16,
    pub shared: *mut ProcShared,
    pub messages: InnerQueue,
    /// X registers while it does not run.
    pub saved: Registers,

    // --- collector ---
    pub high_water: *mut u64,
    pub old_start: *mut u64,
    pub old_top: *mut u64,
    pub old_end: *mut u64,
    pub old_off_heap: OffHeap,
    pub min_heap_words: usize,
    /// Collect when off-heap data exceeds this.
    pub vheap_limit_words: usize,
    pub fullsweep_after: u16,
    pub minor_count: u16,
    /// Words of regions that it came to refer to since the last collection; negative after a look found that a collection does not
    /// pay yet (see `held_regions`).
    pub held_words: i32,
    /// The next collection takes the next larger size.
    pub grow: bool,
    pub need_major: bool,
    pub growth: growth::HeapGrowth,

    // --- settings, small ---
    pub priority: Priority,
    pub trap_exit: bool,
    pub off_heap_messages: bool,
    pub sensitive: bool,
    pub suspend_count: u32,
    /// Words that it built on its heap since it last sent a message with words, although they were foreseen to be part of a message
    /// (hybrid heap).
    pub missed_words: u32,
    pub error_handler: Atom,
    pub initial_call: Mfa,
    /// The receive timer: deadline handle and whether it fired.
    pub timer: crate::timer::ReceiveTimer,

    // --- exceptions and traps ---
    pub exception: Exception,
    pub trap_export: *const Export,
    pub trap_args: Registers,
    pub exit_reason: Term,

    // --- identity and relations ---
    pub group_leader: Term,
    pub parent: u64,
    pub dictionary: crate::process::dictionary::Dictionary,
    pub relations: Relations,
    /// All reductions so far, without the running slice.
    pub reductions: u64,
    rare: Option<Box<Rare>>,
}

// mimalloc has a size class of this many bytes and the next one is a quarter larger.
const _: () = assert!(size_of::<ProcShared>() <= 512);

/// `Process::flags` bit: owns ETS tables.
pub const FLAG_ETS: u16 = 1;
/// A native of it blocks on a dirty thread while another thread handles its signals: its heap must not move now.
pub const FLAG_DETACHED: u16 = 4;
/// A dirty thread must collect it before it goes on.
pub(crate) const FLAG_COLLECT: u16 = 8;
/// It stopped where float registers may be in use.
pub const FLAG_FLOATS: u16 = 16;
/// The process flag `async_dist`.
pub const FLAG_ASYNC_DIST: u16 = 32;
/// It is a native task: see `task`.
pub const FLAG_TASK: u16 = 64;
/// A signal that a task has just handled is its last: `exit_reason` is set.
pub(crate) const FLAG_ENDS: u16 = 128;
/// It waits for a busy port, or waited and has not tried again yet.
pub const FLAG_AT_PORT: u16 = 256;

/// It waits for a connection to another node with the result of a native, which has sent its signal.
pub const FLAG_HAS_RESULT: u16 = 2;

/// A program asked for a collection of the shared heap.
pub const FLAG_ASKED: u16 = 512;
/// Other processes may refer into its block of the shared heap (`shared::local_collection`).
pub(crate) const FLAG_PUBLISHED: u16 = 1024;
/// A process of another node spawned it: its parent is among the relations to other nodes, and `first_call` tells where it starts.
pub const FLAG_SPAWNED_BY_NODE: u16 = 16384;
/// It has loaded driver libraries, or waits until some are loaded or unloaded.
pub const FLAG_DRIVERS: u16 = 8192;
/// It waits in `hibernate/3`.
pub const FLAG_HIBERNATES: u16 = 2048;
/// `max_heap_size` was exceeded at the last collection: it exits at the next safe point.
pub const FLAG_OVER_LIMIT: u16 = 4096;

// SAFETY: a process moves between threads whole, under the contract at the top.
unsafe impl Send for Process {}

/// Where a process starts that another node has spawned: it receives its arguments, and applies the function to them.
pub const DIST_SPAWN_INIT: Mfa = Mfa { module: am::ERTS_INTERNAL, function: am::DIST_SPAWN_INIT, arity: 1 };

impl Process {
    pub fn pid(&self) -> u64 {
        self.shared().pid
    }
    /// The function that it calls when it starts. One that another node has spawned gets the arguments of `initial_call` there.
    pub fn first_call(&self) -> Mfa {
        if self.flags & FLAG_SPAWNED_BY_NODE != 0 { DIST_SPAWN_INIT } else { self.initial_call }
    }
    #[inline(always)]
    pub fn pid_term(&self) -> Term {
        identity::term_of(self.shared().pid)
    }
    /// Where machine code finds the number of a process: the offset of a pointer in the process, and that of the number in what it points to.
    pub const PID_AT: [usize; 2] = [std::mem::offset_of!(Process, shared), std::mem::offset_of!(ProcShared, pid)];

    #[inline(always)]
    pub fn shared(&self) -> &ProcShared {
        // SAFETY: the owner's block is alive while the owner runs.
        unsafe { &*self.shared }
    }
    pub fn proc_ref(&self) -> ProcRef {
        // SAFETY: the owner's block is alive while the owner runs.
        unsafe { ProcRef::from_ptr(self.shared) }
    }
    pub fn stack_words(&self) -> usize {
        (self.end as usize - self.stop as usize) / 8
    }
    pub fn heap_words(&self) -> usize {
        (self.end as usize - self.start as usize) / 8
    }
    /// Where the young heap begins: see `Rare::gap_words`.
    pub fn young_start(&self) -> *mut u64 {
        self.start.wrapping_add(self.rare.as_ref().map_or(0, |rare| rare.gap_words))
    }
    /// Free words between heap and stack, minus the slack.
    pub fn free_words(&self) -> isize {
        (self.stop as isize - self.heap.htop as isize) / 8 - STACK_SLACK_WORDS as isize
    }
    /// The process has no block from here on.
    pub(crate) fn forget_block(&mut self) {
        self.start = std::ptr::null_mut();
        self.end = std::ptr::null_mut();
        self.stop = std::ptr::null_mut();
        self.heap.htop = std::ptr::null_mut();
        self.heap.hlimit = std::ptr::null_mut();
        self.high_water = std::ptr::null_mut();
    }
    /// Must be called after `stop` was moved, before `heap.alloc` may follow.
    #[inline(always)]
    pub fn sync_limit(&mut self) {
        self.heap.hlimit = self.stop.wrapping_sub(STACK_SLACK_WORDS);
    }

    // ---- fields of few processes ----

    pub fn rare(&mut self) -> &mut Rare {
        self.rare.get_or_insert_with(|| Rare::new(MaxHeap::NONE, DEFAULT_MIN_VHEAP_WORDS))
    }
    /// The open region where it builds messages; null if it has none.
    #[inline(always)]
    pub fn open(&mut self) -> *mut Open {
        self.rare.as_mut().map_or(std::ptr::null_mut(), |rare| &raw mut rare.open)
    }
    /// `words` words are built on the heap, although they were foreseen to be part of a message.
    #[inline(always)]
    pub fn missed(&mut self, words: usize) {
        // May wrap around in a process that never sends: then one figure is wrong once.
        self.missed_words = self.missed_words.wrapping_add(words as u32);
    }
    pub fn rare_if_any(&self) -> Option<&Rare> {
        self.rare.as_deref()
    }
    pub fn take_rare(&mut self) -> Option<Box<Rare>> {
        self.rare.take()
    }
    pub fn min_vheap_words(&self) -> usize {
        self.rare.as_ref().map_or(DEFAULT_MIN_VHEAP_WORDS, |r| r.min_vheap_words)
    }
    #[inline]
    pub fn max_heap(&self) -> MaxHeap {
        self.rare.as_ref().map_or(MaxHeap::NONE, |r| r.max_heap)
    }

    // ---- what natives return ----

    #[cold]
    pub fn raise(&mut self, class: ExceptionClass, reason: Term) -> Thrown {
        self.exception = Exception { class, reason, ..Exception::NONE };
        Thrown::Exception
    }
    #[cold]
    pub fn error(&mut self, reason: impl Into<Term>) -> Thrown {
        let reason = reason.into();
        self.raise(ExceptionClass::Error, reason)
    }
    #[cold]
    pub fn badarg(&mut self) -> Thrown {
        self.error(am::BADARG)
    }
    /// badarg whose `error_info` map carries `cause => Cause`.
    #[cold]
    pub fn badarg_cause(&mut self, cause: impl Into<Term>) -> Thrown {
        self.error_cause(am::BADARG, cause)
    }
    #[cold]
    pub fn error_cause(&mut self, reason: impl Into<Term>, cause: impl Into<Term>) -> Thrown {
        let cause = cause.into();
        let thrown = self.error(reason);
        self.exception.cause = cause;
        thrown
    }
    #[cold]
    pub fn badarith(&mut self) -> Thrown {
        self.error(am::BADARITH)
    }
    #[cold]
    pub fn system_limit(&mut self) -> Thrown {
        self.error(am::SYSTEM_LIMIT)
    }
    /// `error:{Tag, Value}`, as in `{badmap, M}`.
    #[cold]
    pub fn error_tuple(&mut self, tag: Atom, value: Term) -> Thrown {
        let reason = self.heap.tuple(&[tag.into(), value]);
        self.error(reason)
    }
    /// Goes on in an Erlang function (or another native) with these arguments, in tail position.
    pub(crate) fn trap(&mut self, export: &'static Export, args: &[Term]) -> Thrown {
        self.trap_export = export;
        self.trap_args.clear();
        self.trap_args.extend_from_slice(args);
        Thrown::Trap
    }
    pub fn trap_to(&mut self, module: Atom, function: Atom, args: &[Term]) -> Thrown {
        let export = crate::code::exports::get(Mfa { module, function, arity: args.len() as u8 });
        self.trap(export, args)
    }
    /// The native's result is the message `{reference, result}` that answers a signal of this native. No message in the queue can
    /// be that, so the ones that are there are skipped.
    pub fn await_result(&mut self, reference: Term) -> Thrown {
        self.messages.pass_all();
        self.trap_to(am::ERTS_INTERNAL, Atom::new("await_result"), &[reference])
    }
    /// Yields, then runs this native again with other arguments (same arity).
    pub fn again(&mut self, args: &[Term]) -> Thrown {
        self.trap_args.clear();
        self.trap_args.extend_from_slice(args);
        Thrown::Again
    }
    /// Counts work done by a native; 1 reduction is about the work of one function call (roughly 1 µs at most).
    #[inline]
    pub fn bump(&mut self, reductions: usize) {
        self.extra_reductions = self.extra_reductions.saturating_add(reductions.min(1 << 30) as u32);
    }
}

/// The options of a new process.
pub struct SpawnOptions {
    pub priority: Priority,
    pub min_heap_words: usize,
    pub min_vheap_words: usize,
    pub fullsweep_after: u16,
    pub max_heap: MaxHeap,
    pub off_heap_messages: bool,
    pub async_dist: bool,
    /// See `placement`.
    pub place: Place,
}

impl Process {
    /// A process without heap block: `mode::init_block` allocates one.
    pub fn blank(initial_call: Mfa, group_leader: Term, parent: u64, options: &SpawnOptions) -> Process {
        use std::ptr::{null, null_mut};
        Process {
            heap: Heap::new(),
            stop: null_mut(),
            start: null_mut(),
            end: null_mut(),
            ip: null(),
            extra_reductions: 0,
            stand: Stand::Stopped,
            shared: null_mut(),
            messages: InnerQueue::new(),
            high_water: null_mut(),
            old_start: null_mut(),
            old_top: null_mut(),
            old_end: null_mut(),
            old_off_heap: OffHeap::new(),
            min_heap_words: options.min_heap_words,
            vheap_limit_words: options.min_vheap_words,
            fullsweep_after: options.fullsweep_after,
            minor_count: 0,
            held_words: 0,
            missed_words: 0,
            grow: false,
            need_major: false,
            growth: Default::default(),
            saved: Registers::new(),
            exception: Exception::NONE,
            trap_export: null(),
            trap_args: Registers::new(),
            exit_reason: Term::NONE,
            priority: options.priority,
            trap_exit: false,
            off_heap_messages: options.off_heap_messages,
            sensitive: false,
            error_handler: am::ERROR_HANDLER,
            initial_call,
            group_leader,
            parent,
            dictionary: Default::default(),
            relations: Default::default(),
            reductions: 0,
            suspend_count: 0,
            timer: Default::default(),
            flags: if options.async_dist { FLAG_ASYNC_DIST } else { 0 },
            rare: Rare::of(options),
        }
    }
}

impl Process {
    /// Asks the engine for a collection as soon as the running native has returned.
    pub fn request_collection(&mut self) {
        if self.heap.fragments.is_null() {
            let fragment = heddle_term::Fragment::in_heap(1);
            // SAFETY: a fresh fragment, empty.
            unsafe { self.heap.adopt(fragment) };
        }
    }
}
