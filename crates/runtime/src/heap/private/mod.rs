//! Private heaps: each process has one of its own, collected alone.

pub mod gc;
pub mod heap_growth;
pub mod long_gc;
pub(crate) mod off_heap;
pub mod verify;
