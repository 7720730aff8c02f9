//! What the crates of natives (`ets`, `io`, `bifs`) share: arguments taken apart, work that may take long, match specifications,
//! and causes of errors.

pub mod args;
pub mod causes;
pub mod long;
pub mod spec;

/// Makes the natives of this crate callable.
pub fn register() {
    heddle_runtime::natives::register(spec::natives::TABLE);
}
