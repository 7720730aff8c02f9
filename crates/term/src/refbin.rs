//! Reference-counted binary memory outside all heaps.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error, realloc};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering, fence};

/// Header of the block; the bytes follow it.
#[repr(C)]
pub struct RefBin {
    refcount: AtomicUsize,
    capacity_bytes: usize,
    /// Bits that are in use by the newest writer, for append in place: who moves this from the end of its own
    /// bitstring owns the room behind it.
    used_bits: AtomicU64,
}

/// Bytes held by all live RefBins (`erlang:memory(binary)`).
pub static TOTAL_BYTES: AtomicUsize = AtomicUsize::new(0);

impl RefBin {
    fn layout(capacity_bytes: usize) -> Layout {
        Layout::from_size_align(size_of::<RefBin>() + capacity_bytes, 16).expect("binary size")
    }

    /// A new block with one reference; its bytes are not initialised.
    pub fn allocate(capacity_bytes: usize) -> *mut RefBin {
        let layout = RefBin::layout(capacity_bytes);
        // SAFETY: the layout has a non-zero size.
        let block = unsafe { alloc(layout) }.cast::<RefBin>();
        if block.is_null() {
            handle_alloc_error(layout);
        }
        // SAFETY: fresh memory of the right size and alignment.
        unsafe {
            block.write(RefBin { refcount: AtomicUsize::new(1), capacity_bytes, used_bits: AtomicU64::new(capacity_bytes as u64 * 8) });
        }
        // Relaxed: a statistic.
        TOTAL_BYTES.fetch_add(capacity_bytes, Ordering::Relaxed);
        block
    }

    pub fn from_bytes(bytes: &[u8]) -> *mut RefBin {
        let block = RefBin::allocate(bytes.len());
        // SAFETY: the block has room for `bytes.len()` bytes and is not shared yet.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), RefBin::data(block), bytes.len()) };
        block
    }

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
        // SAFETY: by contract.
        unsafe { (*block).capacity_bytes }
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
        // SAFETY: by contract.
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
        // SAFETY: by contract. Release pairs with the Acquire fence below in the thread that frees.
        unsafe {
            if (*block).refcount.fetch_sub(1, Ordering::Release) == 1 {
                fence(Ordering::Acquire);
                let capacity = (*block).capacity_bytes;
                TOTAL_BYTES.fetch_sub(capacity, Ordering::Relaxed);
                dealloc(block.cast(), RefBin::layout(capacity));
            }
        }
    }
    /// Grows a block that nobody else references; returns its new address.
    ///
    /// # Safety
    /// The caller holds the only reference, and forgets the old address.
    pub unsafe fn grow(block: *mut RefBin, capacity_bytes: usize) -> *mut RefBin {
        // SAFETY: sole owner; the old layout is the one it was allocated with.
        unsafe {
            debug_assert!(RefBin::refcount(block) == 1);
            let old = (*block).capacity_bytes;
            let layout = RefBin::layout(capacity_bytes);
            let grown = realloc(block.cast(), RefBin::layout(old), layout.size()).cast::<RefBin>();
            if grown.is_null() {
                handle_alloc_error(layout);
            }
            (*grown).capacity_bytes = capacity_bytes;
            TOTAL_BYTES.fetch_add(capacity_bytes, Ordering::Relaxed);
            TOTAL_BYTES.fetch_sub(old, Ordering::Relaxed);
            grown
        }
    }
}
