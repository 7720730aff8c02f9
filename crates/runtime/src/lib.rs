//! The runtime: processes, their memory, signals between them, schedulers, code tables. It does not know how an instruction
//! runs or what a native does.

pub mod balance;
pub mod code;
pub mod coverage;
pub mod dictionary;
pub mod dirty;
pub mod exit;
pub mod exports;
pub mod funs;
pub mod gc;
pub mod handle;
pub mod huge_pages;
pub mod inbox;
pub mod inner_queue;
pub mod links;
pub mod literals;
pub mod long_gc;
pub mod msacc;
pub mod names;
pub mod natives;
pub mod package;
mod parker;
pub mod process;
pub mod proctab;
pub mod qsbr;
pub mod refs;
pub mod registers;
pub mod run_queue;
pub mod sched;
pub mod send;
pub mod signal;
pub mod sizes;
pub mod spawn;
pub mod state;
pub mod system_monitor;
pub mod system_profile;
pub mod time;
pub mod timer;
pub mod timer_refs;
pub mod trace;
pub mod wall_time;
pub mod way_out;
pub mod zeal;

pub use package::Package;
pub use process::{Class, NativeFn, NativeResult, Outcome, Priority, ProcRef, Process, Thrown};
pub use signal::RefId;
