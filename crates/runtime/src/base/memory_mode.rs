//! The memory architecture (`+hmem`), and questions about it that say what differs. Functions that have an arm for each architecture are in
//! [`heap::mode`](crate::heap::mode).

use heddle_abi::settings::SETTINGS;
use heddle_term::Heap;

pub use heddle_abi::settings::MemoryArchitecture as Mode;

/// The architecture of this VM. It is set before the first heap is made.
#[inline(always)]
pub fn memory_mode() -> Mode {
    SETTINGS.memory.get()
}

/// True if a collection is one of all processes: all threads wait for it and run it together, count it and verify the heap after it.
#[inline(always)]
pub fn collects_together() -> bool {
    memory_mode() == Mode::Shared
}

/// True if a message is a pointer to the sender's term. So a term that is sent must live until the receiver is done with it.
#[inline(always)]
pub(crate) fn sends_pointers() -> bool {
    memory_mode() == Mode::Shared
}

/// True if message queues list the messages that are roots of the next collection; else all messages are roots of their process.
#[inline(always)]
pub(crate) fn queues_list_roots() -> bool {
    memory_mode() == Mode::Shared
}

/// True if collections do not wait for natives on dirty threads. So these get copies of their arguments.
#[inline(always)]
pub fn moves_arguments() -> bool {
    memory_mode() == Mode::Shared
}

/// True if heaps hold regions of the message area.
#[inline(always)]
pub(crate) fn heaps_hold_regions() -> bool {
    memory_mode() == Mode::Hybrid
}

/// True if a message's fragment may become part of the heap.
#[inline(always)]
pub(crate) fn adopts_fragments(heap: &Heap) -> bool {
    !heap.lends_terms()
}
