//! A heap of mimalloc for each kind of memory, and where messages lie.

use crate::mi::{mi_heap_delete, mi_heap_main, mi_heap_new, mi_heap_new_in_arena, mi_heap_t, mi_manage_os_memory_ex};
use crate::{KINDS, MemoryKind};
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

/// Where `MemoryKind::Message` lies, or null: anywhere.
static MESSAGE_ARENA: AtomicPtr<c_void> = AtomicPtr::new(null_mut());

/// From now on blocks of `MemoryKind::Message` lie in this range and nowhere else, and nothing else does. False if mimalloc does not want it.
///
/// # Safety
/// The range is mapped, zero, readable and writable, not in use, and it stays. No block of the kind was asked for yet.
pub unsafe fn message_area(start: *mut u8, bytes: usize) -> bool {
    let mut arena = null_mut();
    // SAFETY: by contract the range is mimalloc's from here on.
    let taken = unsafe { mi_manage_os_memory_ex(start.cast(), bytes, true, false, true, -1, true, &raw mut arena) };
    // Release: pairs with the load by the thread that makes the heap.
    MESSAGE_ARENA.store(arena, Ordering::Release);
    taken && !arena.is_null()
}

fn new_heap(kind: MemoryKind) -> *mut mi_heap_t {
    // Acquire: pairs with the store by the thread that gave the range.
    let arena = MESSAGE_ARENA.load(Ordering::Acquire);
    // SAFETY: the arena is one of mimalloc's, which stays; the others ask for nothing.
    unsafe {
        match kind {
            MemoryKind::Rest => mi_heap_main(),
            MemoryKind::Message if !arena.is_null() => mi_heap_new_in_arena(arena),
            _ => mi_heap_new(),
        }
    }
}

/// AcqRel and Acquire of the exchange in `heap`: the thread that loses sees the heap that the other one made.
/// The exchange in `heap` is AcqRel, its failure and the first read Acquire: a heap that is seen is made.
static HEAPS: [AtomicPtr<mi_heap_t>; KINDS.len()] = [const { AtomicPtr::new(null_mut()) }; KINDS.len()];

/// The heap of a kind; made at first use, and there for good.
pub fn heap(kind: MemoryKind) -> *mut mi_heap_t {
    let slot = &HEAPS[kind as usize];
    // Acquire: pairs with the exchange by the thread that made it.
    let heap = slot.load(Ordering::Acquire);
    if !heap.is_null() {
        return heap;
    }
    let new = new_heap(kind);
    assert!(!new.is_null(), "no memory for the heap of a kind of memory");
    // AcqRel and Acquire: as `HEAPS` says.
    match slot.compare_exchange(null_mut(), new, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => new,
        Err(other) => {
            if kind != MemoryKind::Rest {
                // SAFETY: ours, and no other thread knows it.
                unsafe { mi_heap_delete(new) };
            }
            other
        }
    }
}
