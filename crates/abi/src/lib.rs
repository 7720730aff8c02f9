//! Tables that several crates read and that are written once, here.
//!
//! Knows nothing of terms, files or processes.
#![forbid(unsafe_code)]

pub mod flags;
pub mod natives;
pub mod opcodes;
pub mod settings;
