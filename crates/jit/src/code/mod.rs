//! Machine code as Cranelift leaves it, and what is done with it until it can run.

pub mod frames;
pub mod memory;
