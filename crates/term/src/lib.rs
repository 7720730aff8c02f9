//! Terms: the tagged word, boxed layouts, heaps to build them in, and what is defined on terms alone.

pub mod am;
pub mod atom;
pub mod big;
mod big_bits;
mod big_convert;
pub mod bits;
pub mod boxed;
pub mod code_cell;
mod compare;
pub mod copy;
pub mod fun;
mod hamt;
pub mod hash;
pub mod heap;
pub mod ident;
pub mod literal;
pub mod map;
mod map_iter;
pub mod node;
pub mod order;
mod phash;
pub mod refbin;
pub mod resource;
pub mod term;

pub use atom::Atom;
pub use boxed::{Header, Kind};
pub use code_cell::{Export, FunEntry, Mfa};
pub use heap::{Fragment, Heap, OffHeap};
pub use resource::Resource;
pub use term::Term;
