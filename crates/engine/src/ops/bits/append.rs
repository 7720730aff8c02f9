//! Room for bitstrings under construction, and appending in place.
//!
//! A block that may grow is owned by a BinRef whose size is the block's whole capacity; programs see only slices of it. A process that
//! moves `used_bits` from the end of its own slice owns the room after it, so bits that a slice shows never change.

use heddle_term::bits::{BitsView, copy_bits};
use heddle_term::boxed::HEAP_BITS_MAX_BYTES;
use heddle_term::refbin::RefBin;
use heddle_term::{Heap, Kind, Term};
use std::sync::atomic::Ordering;

/// Smallest block for appending (from ERTS).
pub const MIN_BYTES: usize = 256;

/// Larger bitstrings are a `system_limit`: no computer has the memory, and size arithmetic stays far from overflow.
pub const MAX_BITS: u64 = 1 << 45;

/// Larger ones are made only if the computer has the memory.
pub const CHECKED_BITS: u64 = heddle_memory::CHECKED_BYTES as u64 * 8;

/// Returns false for a size for which no computer, or not this one, has the memory.
#[cold]
pub fn has_room(bits: u64) -> bool {
    bits <= MAX_BITS && heddle_memory::fits(bits.div_ceil(8) as usize)
}

/// A bitstring under construction.
pub struct Target {
    pub term: Term,
    pub base: *mut u8,
    /// Where to write, in bits from `base`.
    pub at: u64,
}

/// A new bitstring of `bits` bits, all of which must be written. None if there is no memory for it.
pub fn fresh(heap: &mut Heap, bits: u64) -> Option<Target> {
    if bits >= CHECKED_BITS && !has_room(bits) {
        return None;
    }
    let bytes = bits.div_ceil(8) as usize;
    if bytes <= HEAP_BITS_MAX_BYTES {
        let (term, base) = heap.heap_bits(bits);
        return Some(Target { term, base, at: 0 });
    }
    let block = RefBin::allocate(bytes);
    // SAFETY: the block is ours and has that many bytes; the last one may stay partly unwritten.
    unsafe {
        let base = RefBin::data(block);
        *base.add(bytes - 1) = 0;
        Some(Target { term: heap.bin_ref(block, bits), base, at: 0 })
    }
}

/// An empty slice of a new block with room for `capacity_bytes`.
pub fn writable(heap: &mut Heap, capacity_bytes: usize) -> Target {
    let block = RefBin::allocate(capacity_bytes);
    // SAFETY: the block is ours.
    unsafe {
        RefBin::used_bits(block).store(0, Ordering::Relaxed);
        let base = RefBin::data(block);
        let owner = heap.bin_ref(block, RefBin::capacity_bytes(block) as u64 * 8);
        Target { term: heap.sub_bits(owner, 0, 0), base, at: 0 }
    }
}

/// `source` with room for `bits` more: in place if it is the newest slice of a block with room, else in a new block of twice the size, or
/// of just the size if the computer has no memory for twice. None if there is no memory for that either. The caller has checked that
/// `source` is a bitstring and that the sum is below `MAX_BITS`.
pub fn append(heap: &mut Heap, source: Term, bits: u64) -> Option<Target> {
    if let Some(target) = in_place(heap, source, bits) {
        return Some(target);
    }
    let Some(view) = BitsView::of(source) else { return fresh(heap, bits) };
    let size = view.size_bits + bits;
    let twice = if 2 * size < CHECKED_BITS || has_room(2 * size) { 2 * size } else { size };
    if twice == size && !has_room(size) {
        return None;
    }
    let target = writable(heap, (twice.div_ceil(8) as usize).max(MIN_BYTES));
    let owner = target.term.slot(2);
    // SAFETY: the block is ours and large enough.
    unsafe {
        // Release: pairs with the AcqRel exchange of the next writer, which sees the bytes below.
        RefBin::used_bits(owner.word(2) as *const RefBin).store(size, Ordering::Release);
        if view.size_bits & 7 != 0 {
            *target.base.add((view.size_bits / 8) as usize) = 0;
        }
        copy_bits(view.base, view.offset_bits, target.base, 0, view.size_bits);
        // The size of the slice, which no program has seen yet.
        *target.term.ptr().add(2) = size;
    }
    Some(Target { at: view.size_bits, ..target })
}

fn in_place(heap: &mut Heap, source: Term, bits: u64) -> Option<Target> {
    if !source.is_kind(Kind::SubBits) {
        return None;
    }
    let owner = source.slot(2);
    if !owner.is_kind(Kind::BinRef) {
        return None;
    }
    let block = owner.word(2) as *const RefBin;
    let (start, size) = (source.word(0), source.word(1));
    let end = start + size;
    // SAFETY: the owner keeps the block alive.
    unsafe {
        if end + bits > RefBin::capacity_bytes(block) as u64 * 8 {
            return None;
        }
        // Acquire and Release: the bits before `end` in a shared byte are read when the rest of that byte is written.
        RefBin::used_bits(block).compare_exchange(end, end + bits, Ordering::AcqRel, Ordering::Relaxed).ok()?;
        Some(Target { term: heap.sub_bits(owner, start, size + bits), base: RefBin::data(block), at: end })
    }
}

/// Returns the room of a failed append to its block, if nothing was built on it.
pub fn give_back(target: &Target, bits: u64) {
    let owner = target.term.slot(2);
    let end = target.term.word(0) + target.term.word(1);
    // SAFETY: the owner keeps the block alive.
    let used = unsafe { RefBin::used_bits(owner.word(2) as *const RefBin) };
    // AcqRel: pairs with the exchange of another writer, for which the room is free from here on.
    let _ = used.compare_exchange(end, end - bits, Ordering::AcqRel, Ordering::Relaxed);
}
