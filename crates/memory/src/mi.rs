//! The functions of mimalloc that this crate calls: the binding's, and those that it has no name for.

pub use libmimalloc_sys::{
    mi_free, mi_heap_area_t, mi_heap_delete, mi_heap_new, mi_heap_t, mi_heap_visit_blocks, mi_malloc, mi_malloc_aligned,
    mi_option_set_default, mi_option_t, mi_realloc, mi_realloc_aligned, mi_stats_get_json, mi_zalloc, mi_zalloc_aligned,
};
use std::ffi::c_void;

/// The pages of one thread in one heap.
#[repr(C)]
pub struct ThreadHeap {
    _opaque: [u8; 0],
}

// SAFETY: declared as mimalloc declares them (see the version in Cargo.lock).
unsafe extern "C" {
    pub fn mi_heap_main() -> *mut mi_heap_t;
    /// The calling thread's; made if there is none.
    pub fn mi_heap_theap(heap: *mut mi_heap_t) -> *mut ThreadHeap;
    pub fn mi_theap_malloc(theap: *mut ThreadHeap, size: usize) -> *mut c_void;
    pub fn mi_theap_realloc(theap: *mut ThreadHeap, block: *mut c_void, size: usize) -> *mut c_void;
    pub fn mi_theap_collect(theap: *mut ThreadHeap, force: bool);
    pub fn mi_manage_os_memory_ex(
        start: *mut c_void,
        size: usize,
        is_committed: bool,
        is_pinned: bool,
        is_zero: bool,
        numa_node: i32,
        exclusive: bool,
        arena: *mut *mut c_void,
    ) -> bool;
    /// As at the end of the thread, which may go on all the same.
    pub fn _mi_theap_collect_abandon(theap: *mut ThreadHeap);
    pub fn mi_heap_new_in_arena(arena: *mut c_void) -> *mut mi_heap_t;
}
