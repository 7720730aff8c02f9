//! The runtime: processes, their memory, signals between them, schedulers, code tables. It does not know how an instruction
//! runs or what a native does.
//!
//! Its folders, lowest first: `base`, `observe`, `code`, `process`, `signal`, `heap`, `sched`, `timer`, `trace`, `lifecycle`, `task`,
//! `watch`. A folder uses those before it. The exceptions are listed in `tests/module-graph.txt`, each with its reason.
//! This file is the facade: what other crates use of the folders, they name by the paths that stand here.

mod base;
pub mod code;
mod heap;
mod lifecycle;
#[cfg(test)]
mod model_tests;
mod observe;
pub mod process;
pub mod sched;
pub mod signal;
pub mod task;
pub mod timer;
pub mod trace;
pub mod watch;

pub use base::{affinity, cycles, level, memory_mode, place, qsbr, refs, registers, shutdown, sizes, time, zeal};
pub use code::{coverage, exports, funs, literal_areas, natives, places};
pub use heap::hybrid::held_regions;
pub use heap::private::{heap_growth, long_gc, verify};
pub use heap::{blocks, gc, heap_figures, huge_pages, literals, mode, shared};
pub use lifecycle::{activity, exit, handle, spawn};
pub use observe::{figures, lock_order, locks, messages, msacc, pauses, record, wall_time};
pub use process::{dictionary, links, names, nodes, proctab, remote, stack, state};
pub use sched::{balance, blocking, dirty, placement, private_threads, run_queue, stop_world, worker_cache};
pub use signal::{inbox, inner_queue, package, send, send_remote, small, undecoded};
pub use timer::{time_offset, timer_refs};
pub use trace::{system_monitor, system_profile};

pub use heap::CollectionKind;
pub use heddle_sync::{alone, sequential};
pub use level::Priority;
pub use package::Package;
pub use process::{ExceptionClass, NativeFn, NativeResult, Outcome, ProcRef, Process, Thrown};
pub use refs::RefId;
