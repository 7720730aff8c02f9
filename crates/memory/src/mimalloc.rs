//! What mimalloc 3 offers and its Rust binding has no name for.

use crate::{KINDS, Kind};
use libmimalloc_sys::{mi_heap_new, mi_heap_t};
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

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
    /// As at the end of the thread, which may go on all the same.
    pub fn _mi_theap_collect_abandon(theap: *mut ThreadHeap);
}

static HEAPS: [AtomicPtr<mi_heap_t>; KINDS.len()] = [const { AtomicPtr::new(null_mut()) }; KINDS.len()];

/// The heap of a kind; made at first use, and there for good.
pub fn heap(kind: Kind) -> *mut mi_heap_t {
    let slot = &HEAPS[kind as usize];
    // Acquire: pairs with the exchange of who made it.
    let heap = slot.load(Ordering::Acquire);
    if !heap.is_null() {
        return heap;
    }
    // SAFETY: they ask for nothing.
    let new = unsafe { if kind == Kind::Rest { mi_heap_main() } else { mi_heap_new() } };
    assert!(!new.is_null(), "no memory for the heap of a kind of memory");
    match slot.compare_exchange(null_mut(), new, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => new,
        Err(other) => {
            if kind != Kind::Rest {
                // SAFETY: ours, and nobody else knows it.
                unsafe { libmimalloc_sys::mi_heap_delete(new) };
            }
            other
        }
    }
}
