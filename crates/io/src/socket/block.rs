//! The memory of a binary that is being received: when all is there, the binary is made of it without a copy.

use heddle_term::refbin::RefBin;
use heddle_term::{Heap, Term};

/// A block that this owns alone, and of which the first bytes are written.
pub struct Block {
    block: *mut RefBin,
    capacity_bytes: usize,
    filled_bytes: usize,
}

// SAFETY: nothing else has the block.
unsafe impl Send for Block {}

/// A binary of at most that many bytes is copied to the heap.
const COPIED_BYTES: usize = 64;

impl Block {
    pub fn new(capacity_bytes: usize) -> Block {
        Block { block: RefBin::allocate(capacity_bytes), capacity_bytes, filled_bytes: 0 }
    }

    /// A block of another size that begins with these bytes.
    pub fn with(capacity_bytes: usize, bytes: &[u8]) -> Block {
        let mut block = Block::new(capacity_bytes.max(bytes.len()));
        // SAFETY: there is room for the bytes.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), block.end().0, bytes.len()) };
        block.filled_bytes = bytes.len();
        block
    }

    pub fn capacity_bytes(&self) -> usize {
        self.capacity_bytes
    }

    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the block lives, and that many bytes of it are written.
        unsafe { std::slice::from_raw_parts(RefBin::data(self.block), self.filled_bytes) }
    }

    /// Where the next byte goes, and how many there is room for.
    pub fn end(&mut self) -> (*mut u8, usize) {
        // SAFETY: the block lives; no more than its room is written.
        let end = unsafe { RefBin::data(self.block).add(self.filled_bytes) };
        (end, self.capacity_bytes - self.filled_bytes)
    }

    /// # Safety
    /// `more_bytes` bytes were written at the end.
    // SAFETY: `receive` calls it with what the system says that it wrote there.
    pub unsafe fn filled(&mut self, more_bytes: usize) {
        debug_assert!(more_bytes <= self.capacity_bytes - self.filled_bytes);
        self.filled_bytes += more_bytes;
    }

    /// The binary. Its bytes are copied where most of the block would be empty.
    pub fn into_term(self, heap: &mut Heap) -> Term {
        if self.filled_bytes <= COPIED_BYTES || self.filled_bytes < self.capacity_bytes / 2 {
            return heap.binary(self.bytes());
        }
        let block = std::mem::ManuallyDrop::new(self);
        heap.bin_ref(block.block, block.filled_bytes as u64 * 8)
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: the reference that the block was made with.
        unsafe { RefBin::release(self.block) };
    }
}

#[cfg(test)]
mod tests {
    use super::Block;
    use heddle_term::Heap;
    use heddle_term::bits::BitsView;

    #[test]
    fn a_binary_is_what_was_filled_in() {
        let mut heap = Heap::new();
        for (capacity, bytes) in [(10, 3), (1000, 3), (1000, 999), (1000, 1000), (64, 0)] {
            let data: Vec<u8> = (0..bytes).map(|n| n as u8).collect();
            let (first, second) = data.split_at(bytes / 2);
            let mut block = Block::with(capacity, first);
            let (end, room) = block.end();
            assert_eq!(room, capacity - first.len());
            // SAFETY: there is room for the bytes, and they are written.
            unsafe {
                std::ptr::copy_nonoverlapping(second.as_ptr(), end, second.len());
                block.filled(second.len());
            }
            assert_eq!(block.bytes(), data);
            assert_eq!(BitsView::of(block.into_term(&mut heap)).unwrap().to_vec(), data);
        }
    }
}
