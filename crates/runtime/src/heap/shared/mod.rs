//! The shared heap (`+hmem shared`): one heap for all processes, after J. Wilhelmsson, "Exploring Alternative Memory Architectures for
//! Erlang", 2002, section 4 "Shared Heap".
//!
//! **Young generation.** Each process allocates in a block of its own, with its stack at the other end, as with private heaps: the engine
//! does not see a difference (`chunk`). All blocks lie in one range of addresses (`heddle_term::young`). A message is a pointer to the
//! sender's term, and so are the arguments of a new process. The sender may go on, or end, without a copy being made.
//!
//! **Old generation.** It consists of pieces that only the collector fills (`pieces`). A minor collection moves everything that it finds
//! alive to the old generation at once. So after it no block holds a live object, and a process that has not run since then refers to
//! nothing young. A minor collection therefore visits only the processes that ran, or were sent something, since the last one
//! (`remembered`; section 4.4 of the thesis), and of their stacks only the part that changed (`stack`; section 8). A major collection
//! copies everything but literals.
//!
//! **Old objects never refer to young ones.** Terms are immutable. What a native writes while it builds a term is all young, because
//! nothing is collected before the native returns. These are the cases that could break the rule, and why they do not:
//! - Appending to a binary in place: the words that change (the address of the bytes, and a size) are not pointers to terms. But several
//!   processes may have the binary. So the fast path, which takes the binary for the process' own, is closed (`area::is_fixed` says yes of
//!   everything). The slow path claims the room after the bytes with a compare-and-swap and never moves them.
//! - `map::merge` lets a map take a literal for its keys. It must not be changed, for the same reason.
//! - Match contexts change their position, which is not a pointer, and no other process has them.
//! - Magic references and off-heap lists: their links lead from object to object of one generation, and are not terms.
//! - `update_record` and `set_tuple_element` write to a tuple that the same operation, or the one before, has just made.
//! - Fragments, funs, maps under construction are filled before any thread could collect.
//! - The dictionary, message queues, registers and named fields are roots, and every collection visits them.
//!
//! The test mode `gc` verifies this after collections (`verify`).
//!
//! **Local collections.** A process collects its block alone if nothing else refers into the block (`local_collection`). What survives
//! stays in the young generation.
//!
//! **Stopping the world.** Collections run while no thread accesses a process (`safepoint`). Natives on dirty threads run meanwhile, on
//! copies of their arguments (`safe_region`). A process that has ended for all others while a dirty thread still has it stays among the
//! roots (`zombies`). Each root is visited exactly once: a major collection moves everything that is not a literal, so a second visit would
//! move the copy again.
//!
//! Nothing is collected in the middle of a native, or while signals are handled (`safepoint::hold`): messages that were taken from the
//! inbox and are in no queue yet are not roots. A collection that is requested then is noted, as collections for dirty threads are with
//! private heaps (`long_gc`). But here the thread that runs the process does it, before or after the slice: all threads wait for a
//! collection anyway, and a process that is asked again and again, each time before its turn, would never run.
//!
//! **What is not in the heap**: data in transit that belongs to no process yet (timers, ports, `exit/2`, answers) is copied to memory of
//! its own, as with private heaps, and the receiver copies it into the heap. So no root leads there, and what is neither young nor a
//! literal is old. The exit reason of a process is in its heap: signals refer to it, and the collector visits the inboxes that hold them.
//!
//! The test mode `gc` runs a collection at every eighth safepoint of all processes, and a major one at every 1024th. (With one at every
//! safepoint the test programs would take an hour, because each stops all schedulers.)

pub mod budget;
mod charged;
mod chunk;
pub mod collection;
mod copier;
pub(crate) mod idle;
mod local_collection;
pub mod nursery;
mod pieces;
mod remembered;
mod request;
pub mod retained;
mod roots;
pub mod safe_region;
pub mod safepoint;
mod spans;
mod verify;
mod walk;
mod words;
pub(crate) mod zombies;

pub use chunk::{abandon, init};
pub(crate) use local_collection::publish;
pub(crate) use pieces::let_go;
pub use remembered::remember;
pub use request::{collect, has_room, hibernate, leave_literals, rests_since_major};
pub use safepoint::want;
pub use words::{collections, made_words_of, old_virtual_words_of, old_words, old_words_of, retired_words_of};
pub(crate) use words::{copied_words, top_of};
