//! The areas that blocks lie in: mimalloc's pages, 64 KiB and more, each with blocks of one size.
//!
//! They are read while their threads use them: figures of one area may be of different moments. Descriptions of areas lie in memory
//! that is never given back, so reading one that just ended gives old figures at worst. Blocks above 2 GiB have no area.

use crate::mi::{mi_heap_area_t, mi_heap_t, mi_heap_visit_blocks};
use crate::{MemoryKind, mimalloc};
use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};

#[derive(Clone, Copy, Debug)]
pub struct Area {
    /// What `thread_id` gives for the thread that allocates from it; 0: none does, as it is full, or its thread ended.
    pub thread: usize,
    /// Of each of its blocks, also of one that was asked for with fewer bytes.
    pub block_bytes: usize,
    /// That were ever given out. Room for more that follows them was not touched yet.
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
pub fn areas(kind: MemoryKind) -> Vec<Area> {
    // Room is made before: what is allocated on the way would change what is visited.
    let mut found = Vec::with_capacity(count(kind) * 5 / 4 + 64);
    // SAFETY: the visitor gets `found` back and only pushes into the room that is there.
    unsafe { mi_heap_visit_blocks(mimalloc::heap(kind), false, Some(note), (&raw mut found).cast()) };
    found
}

/// The thread that allocates from it, or 0.
fn owner(area: &mi_heap_area_t) -> usize {
    // SAFETY: mimalloc's description of the page, whose first word is the owner, with flags in the lowest bits. It stays mapped.
    let owner = unsafe { (*area.reserved1.cast::<AtomicUsize>()).load(Ordering::Relaxed) };
    // 4: abandoned, and to be found.
    if owner & !3 == 4 { 0 } else { owner & !3 }
}

/// Word of that description: the first block of the list of those that others than the owner freed, linked by their first words, which count
/// as used until the owner takes them in; the lowest bit is a flag.
const FREED_BY_OTHERS: usize = 4;

/// How many are on that list. A thread that takes it in meanwhile may use the blocks for anything: what is read then is no address in the area,
/// or a wrong one, and the count is one of no moment, as all figures here.
fn freed_by_others(area: &mi_heap_area_t) -> usize {
    let blocks = area.blocks.addr()..area.blocks.addr() + area.committed;
    // SAFETY: mimalloc's description of the page (as of the version in Cargo.lock), which stays mapped.
    // Acquire: pairs with the Release with which mimalloc puts a freed block on this list.
    let mut next = unsafe { (*area.reserved1.cast::<AtomicUsize>().add(FREED_BY_OTHERS)).load(Ordering::Acquire) & !1 };
    let mut count = 0;
    while blocks.contains(&next) && next.is_multiple_of(8) && count < area.used {
        count += 1;
        // SAFETY: in a page of mimalloc's, which stays mapped, and read as others may write it.
        next = unsafe { (*(next as *const AtomicUsize)).load(Ordering::Relaxed) };
    }
    count
}

fn count(kind: MemoryKind) -> usize {
    let mut count = 0usize;
    // SAFETY: the visitor gets `count` back.
    unsafe { mi_heap_visit_blocks(mimalloc::heap(kind), false, Some(increment), (&raw mut count).cast()) };
    count
}

/// # Safety
/// Only for `count`, which passes a place to count in.
unsafe extern "C" fn increment(_: *const mi_heap_t, _: *const mi_heap_area_t, _: *mut c_void, _: usize, count: *mut c_void) -> bool {
    // SAFETY: the argument given by `count`.
    unsafe { *count.cast::<usize>() += 1 };
    true
}

/// # Safety
/// Only for `areas`, which passes an argument of the type that this function takes it for.
unsafe extern "C" fn note(_: *const mi_heap_t, area: *const mi_heap_area_t, _: *mut c_void, _: usize, found: *mut c_void) -> bool {
    // SAFETY: the argument given by `areas`, and a description that mimalloc made for this call.
    let (found, area) = unsafe { (&mut *found.cast::<Vec<Area>>(), &*area) };
    if area.full_block_size == 0 {
        return true;
    }
    let blocks = area.committed / area.full_block_size;
    let is_single = area.reserved / area.full_block_size <= 1;
    found.push(Area {
        thread: owner(area),
        block_bytes: area.full_block_size,
        blocks,
        is_single,
        used_blocks: (area.used - freed_by_others(area)).min(blocks),
    });
    found.len() < found.capacity()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{allocate, free};

    /// What `note` takes from mimalloc's own description: the owner of a page.
    #[test]
    fn areas_know_their_thread_and_how_many_blocks_are_used() {
        let sized = |bytes| areas(MemoryKind::Binary).into_iter().filter(|a| a.block_bytes == bytes).collect::<Vec<_>>();
        let used = |areas: &[Area]| areas.iter().map(|a| a.used_blocks).sum::<usize>();
        let before = used(&sized(768));
        let blocks: Vec<*mut u8> = (0..30).map(|_| allocate(MemoryKind::Binary, 760)).collect();
        let found = sized(768);
        assert_eq!(used(&found) - before, 30);
        assert!(found.iter().any(|a| a.thread == thread_id() && a.bytes() >= 30 * 768), "{found:?}");
        let other = std::thread::spawn(|| {
            let block = allocate(MemoryKind::Binary, 760);
            let mine = areas(MemoryKind::Binary).into_iter().filter(|a| a.thread == thread_id()).count();
            // SAFETY: just allocated.
            unsafe { free(MemoryKind::Binary, block, 760) };
            mine
        });
        assert!(other.join().unwrap() > 0);
        // SAFETY: blocks of that kind and size.
        blocks.into_iter().for_each(|b| unsafe { free(MemoryKind::Binary, b, 760) });
        assert_eq!(used(&sized(768)), before);
    }
    #[test]
    fn what_others_freed_is_no_longer_used() {
        let used = || areas(MemoryKind::Binary).iter().filter(|a| a.block_bytes == 1280).map(|a| a.used_blocks).sum::<usize>();
        let before = used();
        // Several areas: full ones and one with room.
        let mut blocks: Vec<usize> = (0..300).map(|_| allocate(MemoryKind::Binary, 1280) as usize).collect();
        assert_eq!(used() - before, 300);
        while !blocks.is_empty() {
            let some = blocks.split_off(blocks.len() - 20);
            // SAFETY: blocks of that kind and size.
            std::thread::spawn(move || some.into_iter().for_each(|b| unsafe { free(MemoryKind::Binary, b as *mut u8, 1280) }))
                .join()
                .unwrap();
            assert_eq!(used() - before, blocks.len());
        }
        // All of them are there again.
        let again: Vec<usize> = (0..300).map(|_| allocate(MemoryKind::Binary, 1280) as usize).collect();
        assert_eq!(used() - before, 300);
        // SAFETY: blocks of that kind and size.
        again.into_iter().for_each(|b| unsafe { free(MemoryKind::Binary, b as *mut u8, 1280) });
        assert_eq!(used(), before);
    }
}
