//! Where the chains of a hash table lie, shard by shard, for a thread that has no lock yet. All threads read this and it changes only when
//! chains grow or shrink, so every core keeps a copy. A thread can prefetch the line of a chain's head while it waits for the shard's
//! lock. On a table that several cores write to, both lines come from another core half of the time; without this, one after the other.

use super::chains::{Chains, bucket};
use super::object::Object;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicU8, Ordering::Relaxed};

pub(super) struct Outlines(Box<[Outline]>);

/// Its parts need not be of one time: the address made of them is only prefetched.
struct Outline {
    heads: AtomicPtr<*mut Object>,
    bits: AtomicU8,
}

impl Outlines {
    pub(super) fn new(shards: usize) -> Outlines {
        Outlines((0..shards).map(|_| Outline { heads: AtomicPtr::new(null_mut()), bits: AtomicU8::new(0) }).collect())
    }

    /// Notes where the chains of a shard lie now.
    pub(super) fn note(&self, index: usize, chains: &Chains) {
        let (heads, bits) = chains.outline();
        self.0[index].heads.store(heads, Relaxed);
        self.0[index].bits.store(bits, Relaxed);
    }

    /// Where the head of the chain of `place` may be.
    #[inline(always)]
    pub(super) fn head(&self, index: usize, place: u64, shard_bits: u32) -> *const u8 {
        let outline = &self.0[index];
        outline.heads.load(Relaxed).wrapping_add(bucket(place, shard_bits, outline.bits.load(Relaxed) as u32)).cast()
    }

    pub(super) fn words(&self) -> usize {
        self.0.len() * size_of::<Outline>() / 8
    }
}
