//! The functions of `mi`, by the C library's allocator: for Miri, which runs no C, and for AddressSanitizer, which watches what
//! `malloc` and `free` are called with. There are no heaps, areas or figures, and no range for messages (so there are private heaps alone).

pub use libmimalloc_sys::{mi_heap_area_t, mi_heap_t, mi_option_t};
use std::ffi::{c_char, c_long, c_void};
use std::ptr::{dangling_mut, null_mut};

/// The pages of one thread in one heap.
pub struct ThreadHeap;

/// What `mi_heap_visit_blocks` calls for each area.
type Visitor = unsafe extern "C" fn(*const mi_heap_t, *const mi_heap_area_t, *mut c_void, usize, *mut c_void) -> bool;

/// The contracts are those of the C library's functions of like names; the others touch nothing.
#[allow(clippy::missing_safety_doc)]
mod twins {
    use super::*;

    pub unsafe fn mi_malloc(size: usize) -> *mut c_void {
        // SAFETY: any size is good.
        unsafe { libc::malloc(size.max(1)) }
    }
    pub unsafe fn mi_zalloc(size: usize) -> *mut c_void {
        // SAFETY: any size is good.
        unsafe { libc::calloc(size.max(1), 1) }
    }
    pub unsafe fn mi_malloc_aligned(size: usize, align: usize) -> *mut c_void {
        let mut block = null_mut();
        // SAFETY: `block` is written here alone; callers give powers of two.
        let failed = unsafe { libc::posix_memalign(&raw mut block, align.max(16), size.max(1)) } != 0;
        if failed { null_mut() } else { block }
    }
    pub unsafe fn mi_zalloc_aligned(size: usize, align: usize) -> *mut c_void {
        // SAFETY: the block is fresh and has `size` bytes.
        unsafe {
            let block = mi_malloc_aligned(size, align);
            if !block.is_null() {
                block.cast::<u8>().write_bytes(0, size);
            }
            block
        }
    }
    pub unsafe fn mi_realloc(block: *mut c_void, size: usize) -> *mut c_void {
        // SAFETY: by contract a block of this allocator that is in use, or null.
        unsafe { libc::realloc(block, size.max(1)) }
    }
    pub unsafe fn mi_realloc_aligned(block: *mut c_void, size: usize, align: usize) -> *mut c_void {
        // SAFETY: by contract as in `mi_realloc`; both blocks have `size` bytes and are apart, and `moved` is used no more.
        unsafe {
            let moved = mi_realloc(block, size);
            if moved.is_null() || moved.addr().is_multiple_of(align) {
                return moved;
            }
            let aligned = mi_malloc_aligned(size, align);
            if !aligned.is_null() {
                aligned.cast::<u8>().copy_from_nonoverlapping(moved.cast(), size);
            }
            mi_free(moved);
            aligned
        }
    }
    pub unsafe fn mi_free(block: *mut c_void) {
        // SAFETY: by contract a block of this allocator that is in use, or null.
        unsafe { libc::free(block) }
    }
    pub unsafe fn mi_theap_malloc(_: *mut ThreadHeap, size: usize) -> *mut c_void {
        // SAFETY: any size is good.
        unsafe { mi_malloc(size) }
    }
    pub unsafe fn mi_theap_realloc(_: *mut ThreadHeap, block: *mut c_void, size: usize) -> *mut c_void {
        // SAFETY: by contract as in `mi_realloc`.
        unsafe { mi_realloc(block, size) }
    }
    pub unsafe fn mi_option_set_default(_: mi_option_t, _: c_long) {}
    pub unsafe fn mi_heap_new() -> *mut mi_heap_t {
        dangling_mut()
    }
    pub unsafe fn mi_heap_main() -> *mut mi_heap_t {
        dangling_mut()
    }
    pub unsafe fn mi_heap_new_in_arena(_: *mut c_void) -> *mut mi_heap_t {
        null_mut()
    }
    pub unsafe fn mi_heap_delete(_: *mut mi_heap_t) {}
    pub unsafe fn mi_heap_theap(_: *mut mi_heap_t) -> *mut ThreadHeap {
        dangling_mut()
    }
    pub unsafe fn mi_theap_collect(_: *mut ThreadHeap, _: bool) {}
    pub unsafe fn _mi_theap_collect_abandon(_: *mut ThreadHeap) {}
    pub unsafe fn mi_heap_visit_blocks(_: *mut mi_heap_t, _: bool, _: Option<Visitor>, _: *mut c_void) -> bool {
        true
    }
    pub unsafe fn mi_stats_get_json(_: usize, _: *mut c_char) -> *mut c_char {
        null_mut()
    }
    #[allow(clippy::too_many_arguments)]
    pub unsafe fn mi_manage_os_memory_ex(
        _: *mut c_void,
        _: usize,
        _: bool,
        _: bool,
        _: bool,
        _: i32,
        _: bool,
        _: *mut *mut c_void,
    ) -> bool {
        false
    }
}
pub use twins::*;
