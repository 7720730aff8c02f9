//! The memory of processes: what heaps are made of, and the three memory architectures: heaps of their own (`private`), a shared area
//! for messages beside them (`hybrid`), one heap for all (`shared`).

pub mod blocks;
mod collection_kind;
mod evacuate;
pub mod gc;
pub mod heap_figures;
pub mod huge_pages;
pub mod hybrid;
pub mod literals;
pub mod mode;
pub mod private;
pub(crate) mod roots;
pub mod shared;

pub use collection_kind::CollectionKind;
