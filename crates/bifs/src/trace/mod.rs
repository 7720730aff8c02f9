//! The natives of tracing; what they set up works in `heddle_runtime::trace`.

pub mod actions;
pub mod arguments;
pub mod debugged;
pub mod erl_tracer;
pub mod info;
pub mod matching;
pub mod pattern;
pub mod process;
pub mod seq;
pub mod session;
pub mod system;
