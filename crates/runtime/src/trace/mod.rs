//! Tracing: which processes and functions are traced, by which tracers, and the messages that tracers get.
//!
//! A table lists the traced processes. A process itself only holds the union of its flags (`ProcShared::trace`), which each event tests: an
//! untraced process pays one load of its own memory and a branch. Any thread may set flags, and they take effect from the tracee's next
//! event on.
//!
//! A traced function has a breakpoint: see `breakpoints`.

pub mod breakpoints;
pub mod cells;
pub mod emit;
mod entries;
pub mod events;
pub mod flags;
pub mod frames;
pub mod meter;
pub mod meters;
#[cfg(test)]
mod model_tests;
pub mod request;
pub mod seq;
pub mod sessions;
pub mod spec;
pub mod system_monitor;
pub mod system_profile;
pub mod token;
pub mod tracees;
pub mod tracer;

pub use sessions::Session;
pub use spec::Spec;
pub use tracees::Traced;
pub use tracer::Tracer;
