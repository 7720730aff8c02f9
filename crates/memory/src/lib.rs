//! The memory of everything: mimalloc, divided by what memory is for and by the thread that took it.
//!
//! Each kind of memory (`MemoryKind`) has a heap of its own in mimalloc, so blocks of different kinds share no page, and what is mapped,
//! in use and free can be told for each (`areas`). In each such heap every thread has pages of its own, from which it allocates
//! without a lock; a block that another thread frees goes on a list of its page, which the owner empties when it needs room.
//! What a thread allocated and freed it counts in a row of its own (`row`), where the crates above count as well.

mod areas;
mod blocks;
mod copy;
mod crowds;
mod failure;
pub mod foreign;
mod global;
pub mod huge;
#[cfg(not(any(miri, feature = "libc-malloc")))]
mod mi;
#[cfg(any(miri, feature = "libc-malloc"))]
#[path = "mi_checked.rs"]
mod mi;
mod mimalloc;
mod own_row;
mod recent;
mod room;
mod row;
mod rows;
pub mod space;
mod stamp;
mod system;

pub use areas::{Area, areas, thread_id};
pub use blocks::{allocate, allocate_large, allocate_recent, free, free_large, free_recent, resize, try_allocate};
pub use copy::copy_large;
pub use failure::{on_failure, out_of_memory};
pub use global::{Allocator, configure};
pub use mimalloc::message_area;
pub use own_row::own_row;
pub use recent::{RECENT_BYTES, common_bytes};
pub use room::{CHECKED_BYTES, fits};
pub use row::{Counts, Row, TALLIES};
pub use rows::{keep, kept_bytes, mine, rows, sum};
pub use stamp::Stamp;
pub use system::{System, leave_and_purge, resident_bytes, system};

/// False only in the build that bench/accounting compares with: there nothing is counted.
pub const COUNTED: bool = !cfg!(feature = "uncounted");

/// What memory is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MemoryKind {
    /// All that goes through Rust's allocator: tables, code, process structs, ports.
    Rest,
    /// Heaps of processes, and the fragments in which messages travel.
    Heap,
    /// Reference-counted binaries.
    Binary,
    /// Objects in ETS tables.
    Ets,
    /// Messages in the message area of the hybrid heap: their addresses are in a range of their own (`message_area`).
    Message,
}

impl MemoryKind {
    /// As messages name it.
    pub fn name(self) -> &'static str {
        match self {
            MemoryKind::Rest => "system",
            MemoryKind::Heap => "heap",
            MemoryKind::Binary => "binary",
            MemoryKind::Ets => "ets",
            MemoryKind::Message => "message",
        }
    }
}

pub const KINDS: [MemoryKind; 5] = [MemoryKind::Rest, MemoryKind::Heap, MemoryKind::Binary, MemoryKind::Ets, MemoryKind::Message];

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, MutexGuard, PoisonError};

    static ALONE: Mutex<()> = Mutex::new(());

    /// For tests that look at figures of the whole VM: no other of them runs meanwhile, here nor where one has failed.
    pub fn alone() -> MutexGuard<'static, ()> {
        ALONE.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
