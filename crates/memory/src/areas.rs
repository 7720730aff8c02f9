//! The areas that blocks lie in: mimalloc's pages, 64 KiB and more, each with blocks of one size.
//!
//! They are read while their threads use them: figures of one area may be of different moments. Descriptions of areas lie in memory
//! that is never given back, so reading one that just ended gives old figures at worst. Blocks above 2 GiB have no area.

use crate::{Kind, mimalloc};
use libmimalloc_sys::{mi_heap_area_t, mi_heap_t, mi_heap_visit_blocks};
use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};

#[derive(Clone, Copy, Debug)]
pub struct Area {
    /// What `thread_id` gives for the thread that allocates from it; 0: none does, as it is full, or its thread ended.
    pub thread: usize,
    /// Of its blocks; one that is asked for with fewer bytes gets so many.
    pub block_bytes: usize,
    /// That were ever given out. Room for more that is behind them was not touched yet.
    pub blocks: usize,
    /// There is no room for another block.
    pub is_single: bool,
    pub used_blocks: usize,
}

impl Area {
    pub fn bytes(&self) -> usize {
        self.block_bytes * self.blocks
    }

    pub fn used_bytes(&self) -> usize {
        self.block_bytes * self.used_blocks
    }
}

/// What tells the calling thread from others that live.
pub fn thread_id() -> usize {
    // SAFETY: it asks for nothing.
    unsafe { libc::pthread_self() as usize }
}

/// All areas of a kind.
pub fn areas(kind: Kind) -> Vec<Area> {
    // Room is made before: what is allocated on the way would change what is visited.
    let mut found = Vec::with_capacity(count(kind) * 5 / 4 + 64);
    // SAFETY: the visitor gets `found` back and only pushes into the room that is there.
    unsafe { mi_heap_visit_blocks(mimalloc::heap(kind), false, Some(note), (&raw mut found).cast()) };
    found
}

fn count(kind: Kind) -> usize {
    let mut count = 0usize;
    // SAFETY: the visitor gets `count` back.
    unsafe { mi_heap_visit_blocks(mimalloc::heap(kind), false, Some(increment), (&raw mut count).cast()) };
    count
}

// SAFETY: for `count` alone, which passes a place to count in.
unsafe extern "C" fn increment(_: *const mi_heap_t, _: *const mi_heap_area_t, _: *mut c_void, _: usize, count: *mut c_void) -> bool {
    // SAFETY: the argument given by `count`.
    unsafe { *count.cast::<usize>() += 1 };
    true
}

// SAFETY: for `areas` alone, which passes what the visitor takes it for.
unsafe extern "C" fn note(_: *const mi_heap_t, area: *const mi_heap_area_t, _: *mut c_void, _: usize, found: *mut c_void) -> bool {
    // SAFETY: the argument given by `areas`, and a description that mimalloc made for this call.
    let (found, area) = unsafe { (&mut *found.cast::<Vec<Area>>(), &*area) };
    if area.full_block_size == 0 {
        return true;
    }
    // SAFETY: mimalloc's description of the page, whose first word is the owner, with flags in the lowest bits. It stays mapped.
    let owner = unsafe { (*area.reserved1.cast::<AtomicUsize>()).load(Ordering::Relaxed) };
    let blocks = area.committed / area.full_block_size;
    let is_single = area.reserved / area.full_block_size <= 1;
    // 4: abandoned, and to be found.
    let thread = if owner & !3 == 4 { 0 } else { owner & !3 };
    found.push(Area { thread, block_bytes: area.full_block_size, blocks, is_single, used_blocks: area.used.min(blocks) });
    found.len() < found.capacity()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{allocate, free};

    /// What `note` takes from mimalloc's own description: the owner of a page.
    #[test]
    fn areas_know_their_thread_and_how_many_blocks_are_used() {
        let sized = |bytes| areas(Kind::Binary).into_iter().filter(|a| a.block_bytes == bytes).collect::<Vec<_>>();
        let used = |areas: &[Area]| areas.iter().map(|a| a.used_blocks).sum::<usize>();
        let before = used(&sized(768));
        let blocks: Vec<*mut u8> = (0..30).map(|_| allocate(Kind::Binary, 760)).collect();
        let found = sized(768);
        assert_eq!(used(&found) - before, 30);
        assert!(found.iter().any(|a| a.thread == thread_id() && a.bytes() >= 30 * 768), "{found:?}");
        let other = std::thread::spawn(|| {
            let block = allocate(Kind::Binary, 760);
            let mine = areas(Kind::Binary).into_iter().filter(|a| a.thread == thread_id()).count();
            // SAFETY: just allocated.
            unsafe { free(Kind::Binary, block, 760) };
            mine
        });
        assert!(other.join().unwrap() > 0);
        // SAFETY: blocks of that kind and size.
        blocks.into_iter().for_each(|b| unsafe { free(Kind::Binary, b, 760) });
        assert_eq!(used(&sized(768)), before);
    }
}
