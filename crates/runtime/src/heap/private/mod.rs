//! Private heaps: each process has one of its own, collected alone.

pub(in crate::heap) mod block;
pub(in crate::heap) mod collector;
pub mod heap_growth;
mod literal_copies;
pub mod long_gc;
pub(crate) mod off_heap;
pub mod verify;
