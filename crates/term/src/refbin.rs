//! Reference-counted binary memory outside all heaps.

use heddle_memory::{MemoryKind, Stamp};
use std::any::Any;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering, fence};

/// Header of the block; the bytes follow it.
#[repr(C)]
pub struct RefBin {
    refcount: AtomicUsize,
    /// Bytes after the header, and the thread that allocated them.
    capacity: Stamp,
    /// Bits that are in use by the newest writer, for append in place: a writer that moves this from the end of its own
    /// bitstring owns the room after it. `FOREIGN`: the bytes are elsewhere, and an `Elsewhere` follows.
    used_bits: AtomicU64,
}

/// No bitstring ends there, so no writer appends to such a block.
const FOREIGN: u64 = u64::MAX;

/// Bytes that are not in the block, and what keeps them.
struct Elsewhere {
    data: *const u8,
    size_bytes: usize,
    owner: Box<dyn Any + Send + Sync>,
}

/// Where machine code finds the bytes of a block, and what it needs to know for writing them.
pub struct BytesLayout {
    pub refcount: usize,
    /// Offset of the word whose low bits (`capacity_mask`) are the bytes that the block has room for.
    pub capacity: usize,
    pub capacity_mask: u64,
    /// Offset of the word that is `foreign` if the bytes are not in the block.
    pub used_bits: usize,
    pub foreign: u64,
    /// Offset of the first byte in the block.
    pub inside: usize,
    /// Offset of the address of the first byte of a foreign block.
    pub outside: usize,
}

impl RefBin {
    pub const LAYOUT: BytesLayout = BytesLayout {
        refcount: std::mem::offset_of!(RefBin, refcount),
        capacity: std::mem::offset_of!(RefBin, capacity),
        capacity_mask: Stamp::SIZE_MASK,
        used_bits: std::mem::offset_of!(RefBin, used_bits),
        foreign: FOREIGN,
        inside: size_of::<RefBin>(),
        outside: size_of::<RefBin>() + std::mem::offset_of!(Elsewhere, data),
    };

    fn bytes(capacity_bytes: usize) -> usize {
        size_of::<RefBin>() + capacity_bytes
    }

    /// A new block with one reference; its bytes are not initialised.
    pub fn allocate(capacity_bytes: usize) -> *mut RefBin {
        let block = heddle_memory::allocate_large(MemoryKind::Binary, RefBin::bytes(capacity_bytes)).cast::<RefBin>();
        let (refcount, used_bits) = (AtomicUsize::new(1), AtomicU64::new(capacity_bytes as u64 * 8));
        // SAFETY: fresh memory of that many bytes, aligned as all blocks are.
        unsafe { block.write(RefBin { refcount, capacity: Stamp::new(capacity_bytes), used_bits }) };
        block
    }

    pub fn from_bytes(bytes: &[u8]) -> *mut RefBin {
        let block = RefBin::allocate(bytes.len());
        // SAFETY: the block has room for `bytes.len()` bytes and is not shared yet.
        unsafe { heddle_memory::copy_large(bytes.as_ptr(), RefBin::data(block), bytes.len()) };
        block
    }

    /// A block for bytes that `owner` keeps, with one reference. The owner is dropped with the last reference.
    ///
    /// # Safety
    /// The bytes are there and do not change as long as the owner is.
    pub unsafe fn foreign(data: *const u8, size_bytes: usize, owner: Box<dyn Any + Send + Sync>) -> *mut RefBin {
        let block = RefBin::allocate(size_of::<Elsewhere>());
        // SAFETY: the block has room for it, and is aligned as all blocks are; it is not shared yet.
        unsafe {
            block.add(1).cast::<Elsewhere>().write(Elsewhere { data, size_bytes, owner });
            (*block).used_bits = AtomicU64::new(FOREIGN);
        }
        block
    }

    #[inline(always)]
    unsafe fn elsewhere<'a>(block: *const RefBin) -> Option<&'a Elsewhere> {
        // SAFETY: by contract the block is live. Relaxed: a foreign block is so from the beginning.
        unsafe { ((*block).used_bits.load(Ordering::Relaxed) == FOREIGN).then(|| &*block.add(1).cast::<Elsewhere>()) }
    }

    /// What keeps the bytes of a foreign block.
    ///
    /// # Safety
    /// `block` must be live.
    pub unsafe fn owner<'a>(block: *const RefBin) -> Option<&'a (dyn Any + Send + Sync)> {
        // SAFETY: by contract.
        unsafe { RefBin::elsewhere(block) }.map(|elsewhere| &*elsewhere.owner)
    }

    /// The bytes of any block, to be read.
    ///
    /// # Safety
    /// `block` must be live.
    #[inline(always)]
    pub unsafe fn bytes_of(block: *const RefBin) -> *const u8 {
        // SAFETY: by contract.
        unsafe { RefBin::elsewhere(block).map_or_else(|| RefBin::data(block).cast_const(), |elsewhere| elsewhere.data) }
    }

    /// The number of bytes of any block.
    ///
    /// # Safety
    /// `block` must be live.
    pub unsafe fn size_bytes(block: *const RefBin) -> usize {
        // SAFETY: by contract.
        unsafe { RefBin::elsewhere(block).map_or_else(|| RefBin::capacity_bytes(block), |elsewhere| elsewhere.size_bytes) }
    }

    /// The bytes after the header, where the block itself has them: what a writer has made is such a block.
    ///
    /// # Safety
    /// `block` must be live.
    #[inline(always)]
    pub unsafe fn data(block: *const RefBin) -> *mut u8 {
        // SAFETY: the bytes follow the header in the same allocation.
        unsafe { block.add(1) as *mut u8 }
    }
    /// # Safety
    /// `block` must be live.
    #[inline(always)]
    pub unsafe fn capacity_bytes(block: *const RefBin) -> usize {
        // SAFETY: it is live, by contract.
        unsafe { (*block).capacity.size() }
    }
    /// # Safety
    /// `block` must be live.
    #[inline(always)]
    pub unsafe fn refcount(block: *const RefBin) -> usize {
        // SAFETY: by contract. Acquire: pairs with the Release in `release` of the reference that went away.
        unsafe { (*block).refcount.load(Ordering::Acquire) }
    }
    /// # Safety
    /// `block` must be live.
    #[inline(always)]
    pub unsafe fn used_bits<'a>(block: *const RefBin) -> &'a AtomicU64 {
        // SAFETY: the block is live.
        unsafe { &(*block).used_bits }
    }
    /// # Safety
    /// `block` must be live.
    #[inline]
    pub unsafe fn retain(block: *const RefBin) {
        // SAFETY: by contract. Relaxed: the caller already holds a reference.
        unsafe { (*block).refcount.fetch_add(1, Ordering::Relaxed) };
    }
    /// # Safety
    /// The caller gives up one reference of its own.
    pub unsafe fn release(block: *mut RefBin) {
        // SAFETY: the caller has a reference, and gives it up.
        unsafe {
            // Release: pairs with the Acquire fence below in the thread that frees.
            if (*block).refcount.fetch_sub(1, Ordering::Release) == 1 {
                // Acquire: pairs with the Release of the others.
                fence(Ordering::Acquire);
                if RefBin::elsewhere(block).is_some() {
                    block.add(1).cast::<Elsewhere>().drop_in_place();
                }
                let capacity = (*block).capacity;
                let bytes = RefBin::bytes(capacity.size());
                capacity.leaves(bytes);
                heddle_memory::free_large(MemoryKind::Binary, block.cast(), bytes);
            }
        }
    }
    /// Grows a block that has no other reference; returns its new address.
    ///
    /// # Safety
    /// The caller holds the only reference, and forgets the old address.
    pub unsafe fn grow(block: *mut RefBin, capacity_bytes: usize) -> *mut RefBin {
        // SAFETY: sole owner; the old layout is the one it was allocated with.
        unsafe {
            debug_assert!(RefBin::refcount(block) == 1);
            let old = RefBin::bytes((*block).capacity.size());
            let grown = heddle_memory::resize(MemoryKind::Binary, block.cast(), old, RefBin::bytes(capacity_bytes)).cast::<RefBin>();
            (*grown).capacity = Stamp::new(capacity_bytes);
            grown
        }
    }
}
