//! The engine: loader and interpreter.

pub mod code_natives;
mod collect;
pub mod ctx;
mod header;
pub mod heddle_modules;
pub mod loader;
mod native_code;
pub mod ops;
pub mod profile;
pub mod run;
pub mod second_tier;

pub use native_code::install as install_natives;
pub use run::{Interpreter, init};
