//! The second tier: makes machine code from the instructions of a module, with Cranelift.
//!
//! The code of the first tier is an array of cells (see `heddle_engine::ctx`). Machine code has the signature of the first tier's operations and takes
//! the place of an operation in a cell: at the entry of a function, after each call, and wherever the first tier comes back from an instruction that
//! the second does not know. Such a cell is a *root*. Return addresses remain addresses of cells. So stacks, stack traces, purging and
//! breakpoints are the same in both tiers, and each tier continues at a cell of the other by a jump.
//!
//! A *segment* is the code from one root to the places where it leaves: a call, a return, another root, or an *exit*. An exit stores the registers that
//! are still needed in the register file, and continues at the first tier's operation for the same instruction. All that is rare goes that
//! way: a collection, an integer that is not small, an exception.
//!
//! * `analysis`: effects of instructions, registers that are live, roots.
//! * `segment`: instructions to Cranelift's intermediate code.
//! * `code`: frames removed, addresses filled in, executable memory.
//! * `symbol`: what is filled in.
//! * `stored`: compiled functions as bytes.

mod analysis;
mod code;
mod compile;
mod host;
mod listing;
mod segment;
mod stored;
mod symbol;

pub use analysis::fit::unfit;
pub use analysis::left::Left;
pub use code::memory::{CodeError, CodeMemory, is_full, limit, set_limit, used_bytes};
pub use compile::{Compiled, Compiler, Counts, Place, features, restore};
pub use host::{Addresses, Host, MapGet, Source};
pub use listing::Shown;

/// Where an instruction has no cell of its own: it is part of the operation of an instruction before it.
pub const MERGED: u32 = u32::MAX;

/// X registers that compiled code knows. A function that uses a higher one is left to the first tier.
const X_LIMIT: u16 = 64;
