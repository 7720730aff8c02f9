//! Bytes of a reference-counted block outside all heaps, held by something that is no term: a message on its way from or to another node.

use crate::bits::BitsView;
use crate::refbin::RefBin;
use crate::{Heap, Kind, Term};
use std::fmt::{Debug, Formatter};
use std::sync::atomic::Ordering;

/// Bytes of a block that may have other owners. They do not change.
pub struct HeldBytes {
    /// One reference is ours.
    block: *mut RefBin,
    at: *const u8,
    len: usize,
}

// SAFETY: the bytes do not change as long as the block is there, and blocks count their references atomically.
unsafe impl Send for HeldBytes {}
// SAFETY: as above.
unsafe impl Sync for HeldBytes {}

impl HeldBytes {
    /// The whole bytes of a bitstring that starts on a byte. Those of a small one, which lies on a heap, are copied.
    pub fn of(bits: Term) -> HeldBytes {
        let Some(view) = BitsView::of(bits) else { return HeldBytes::copy_of(&[]) };
        let (at, len) = (view.base.wrapping_add((view.offset_bits / 8) as usize), (view.size_bits / 8) as usize);
        let original = if bits.is_kind(Kind::SubBits) { bits.slot(2) } else { bits };
        if original.is_kind(Kind::BinRef) {
            let block = original.word(2) as *mut RefBin;
            // SAFETY: a BinRef owns a reference to a live block.
            unsafe { RefBin::retain(block) };
            return HeldBytes { block, at, len };
        }
        // SAFETY: the view has that many bytes.
        HeldBytes::copy_of(unsafe { std::slice::from_raw_parts(at, len) })
    }

    pub fn copy_of(bytes: &[u8]) -> HeldBytes {
        let mut builder = HeldBuilder::with_capacity(bytes.len());
        builder.append(bytes);
        builder.finish()
    }

    pub fn as_bytes(&self) -> &[u8] {
        // SAFETY: the block has these bytes, and we hold it.
        unsafe { std::slice::from_raw_parts(self.at, self.len) }
    }

    /// A binary of `part`, which keeps the whole block. None if these bytes are not of the block.
    pub fn binary(&self, heap: &mut Heap, part: &[u8]) -> Option<Term> {
        // SAFETY: we hold the block.
        let (base, size_bytes) = unsafe { (RefBin::bytes_of(self.block), RefBin::size_bytes(self.block)) };
        let start = (part.as_ptr() as usize).checked_sub(base as usize).filter(|start| start + part.len() <= size_bytes)?;
        // SAFETY: we hold the block. The term takes over the new reference.
        unsafe { RefBin::retain(self.block) };
        let whole = heap.bin_ref(self.block, (start + part.len()) as u64 * 8);
        Some(if start == 0 { whole } else { heap.sub_bits(whole, start as u64 * 8, part.len() as u64 * 8) })
    }
}

impl Debug for HeldBytes {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} bytes", self.len)
    }
}

impl Clone for HeldBytes {
    fn clone(&self) -> Self {
        // SAFETY: we hold the block.
        unsafe { RefBin::retain(self.block) };
        HeldBytes { block: self.block, at: self.at, len: self.len }
    }
}

impl Drop for HeldBytes {
    fn drop(&mut self) {
        // SAFETY: one reference is ours, and it is given up here.
        unsafe { RefBin::release(self.block) };
    }
}

/// Each growth may copy all bytes, while the expectation may be wrong (guessed). Room that is never filled takes addresses, but no memory.
const GROWTH: usize = 64;

/// A block that grows as bytes are appended.
pub struct HeldBuilder {
    /// The only reference is ours.
    block: *mut RefBin,
    /// Bytes that are filled.
    len: usize,
}

// SAFETY: nothing else refers to the block.
unsafe impl Send for HeldBuilder {}

impl HeldBuilder {
    pub fn with_capacity(bytes: usize) -> HeldBuilder {
        HeldBuilder { block: RefBin::allocate(bytes), len: 0 }
    }

    /// Bytes that were appended.
    pub fn len_bytes(&self) -> usize {
        self.len
    }

    /// Bytes that there is room for.
    pub fn capacity_bytes(&self) -> usize {
        // SAFETY: the block is live.
        unsafe { RefBin::capacity_bytes(self.block) }
    }

    /// Of a block that is expected to have `most` bytes at last. Where there is no room it becomes `GROWTH` times as large, but not larger than that
    /// unless it must.
    pub fn append_up_to(&mut self, bytes: &[u8], most: usize) {
        let needed = self.len + bytes.len();
        // SAFETY: the block is live.
        let capacity = unsafe { RefBin::capacity_bytes(self.block) };
        if needed > capacity {
            // SAFETY: the only reference is ours, and the old address is forgotten.
            self.block = unsafe { RefBin::grow(self.block, needed.max((GROWTH * capacity).min(most))) };
        }
        // SAFETY: the block has room for `needed` bytes, and no one else sees it.
        unsafe { heddle_memory::copy_large(bytes.as_ptr(), RefBin::data(self.block).add(self.len), bytes.len()) };
        self.len = needed;
    }

    pub fn append(&mut self, bytes: &[u8]) {
        self.append_up_to(bytes, self.len + bytes.len());
    }

    /// The bytes, which do not change any more.
    pub fn finish(self) -> HeldBytes {
        let (block, len) = (self.block, self.len);
        std::mem::forget(self);
        // SAFETY: the block is live.
        let at = unsafe {
            // No writer appends in the room after the bytes. Relaxed: nothing else sees the block yet.
            RefBin::used_bits(block).store(RefBin::capacity_bytes(block) as u64 * 8, Ordering::Relaxed);
            RefBin::data(block).cast_const()
        };
        HeldBytes { block, at, len }
    }
}

impl Clone for HeldBuilder {
    fn clone(&self) -> Self {
        let mut copy = HeldBuilder::with_capacity(self.capacity_bytes());
        // SAFETY: the block has these bytes, and we hold it.
        copy.append(unsafe { std::slice::from_raw_parts(RefBin::data(self.block), self.len) });
        copy
    }
}

impl Drop for HeldBuilder {
    fn drop(&mut self) {
        // SAFETY: the reference is ours, and it is given up here.
        unsafe { RefBin::release(self.block) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(bits: Term) -> Vec<u8> {
        BitsView::of(bits).expect("a bitstring").to_vec()
    }

    #[test]
    fn what_was_appended_is_there() {
        let mut builder = HeldBuilder::with_capacity(3);
        (0..100u8).for_each(|byte| builder.append_up_to(&[byte; 7], 500));
        assert_eq!(builder.len_bytes(), 700);
        let held = builder.finish();
        assert!(held.as_bytes().chunks(7).zip(0..).all(|(chunk, byte)| chunk == [byte; 7]));
    }

    #[test]
    fn a_binary_of_a_part_has_its_bytes_and_keeps_the_block() {
        let mut heap = Heap::new();
        let held = HeldBytes::copy_of(&(0..=255).collect::<Vec<u8>>());
        let part = held.binary(&mut heap, &held.as_bytes()[100..200]).expect("bytes of the block");
        let start = held.binary(&mut heap, &held.as_bytes()[..70]).expect("bytes of the block");
        assert!(held.binary(&mut heap, &[1, 2, 3]).is_none());
        drop(held);
        assert_eq!(bytes(part), (100..200).collect::<Vec<u8>>());
        assert_eq!(bytes(start), (0..70).collect::<Vec<u8>>());
        assert_eq!(HeldBytes::of(part).as_bytes(), (100..200).collect::<Vec<u8>>());
    }
}
