//! How large the heap of a process is, in words, whatever the memory architecture.

use crate::base::memory_mode;
use crate::heap::mode;
use crate::process::{FLAG_OVER_LIMIT, Process};
use heddle_term::area::{self, Region, Seen};

impl Process {
    pub fn used_words(&self) -> usize {
        // Null while a native of it runs with memory of its own (`shared::safe_region`).
        let top = if self.heap.htop.is_null() { mode::top_of(self) } else { self.heap.htop };
        (top as usize - self.young_start() as usize) / 8
    }
    /// Blocks, fragments, the regions it holds, and the messages in the queue unless they should stay off the heap.
    pub fn total_heap_words(&self) -> usize {
        let messages = if self.off_heap_messages { 0 } else { self.messages.words() };
        self.heap_words() + self.old_words() + self.heap.fragment_words + messages + self.shared_words()
    }
    /// Words of the regions of the message area that it holds, perhaps together with other processes.
    pub(crate) fn shared_words(&self) -> usize {
        let mut words = 0;
        if memory_mode::heaps_hold_regions() {
            let mut seen = Seen::default();
            for list in [&self.heap.off_heap, &self.old_off_heap] {
                // SAFETY: the lists are whole, and the regions on them are held.
                unsafe {
                    area::for_each_reference(list.head, |region, _| words += if seen.add(region) { Region::words(region) } else { 0 })
                };
            }
        }
        words
    }
    /// Sizes in words, under the names that tracing of collections and `process_info` show.
    pub fn heap_figures(&self) -> [(&'static str, usize); 11] {
        [
            ("old_heap_block_size", self.old_words()),
            ("heap_block_size", self.heap_words()),
            ("mbuf_size", self.heap.fragment_words),
            ("recent_size", (self.high_water as usize - self.start as usize) / 8),
            ("stack_size", self.stack_words()),
            ("old_heap_size", self.old_used_words()),
            ("heap_size", self.used_words()),
            ("bin_vheap_size", self.heap.off_heap.virtual_words),
            ("bin_vheap_block_size", self.vheap_limit_words),
            ("bin_old_vheap_size", self.old_off_heap.virtual_words),
            ("bin_old_vheap_block_size", self.min_vheap_words()),
        ]
    }
    /// Words of the old generation in use.
    pub(crate) fn old_used_words(&self) -> usize {
        mode::old_words(self).0
    }
    pub fn old_words(&self) -> usize {
        mode::old_words(self).1
    }
}

/// Notes it if the process has more words than it may have (`max_heap_size`).
pub(crate) fn check_max_heap(p: &mut Process) {
    let max_heap = p.max_heap();
    let max = max_heap.size_words;
    if max == 0 {
        return;
    }
    let mut total = p.total_heap_words();
    if max_heap.include_shared_binaries {
        total += p.heap.off_heap.virtual_words + p.old_off_heap.virtual_words + mode::old_virtual_words(p);
    }
    if total > max {
        p.flags |= FLAG_OVER_LIMIT;
    }
}
