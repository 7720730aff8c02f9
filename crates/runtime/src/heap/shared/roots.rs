//! Visits the roots of processes, and empties their parts of the young generation after everything alive was copied.

use super::chunk;
use super::copier::Copier;
use super::remembered;
use super::spans::Spans;
use super::walk::{self, WALKS, Walk};
use crate::heap::{blocks, heap_figures, roots};
use crate::process::stack;
use crate::process::{FLAG_PUBLISHED, ProcRef, Process};
use heddle_term::{Fragment, Term};
use std::ptr::{null, null_mut};

/// A major collection walks along both queues of a process.
const QUEUES: usize = 2;

/// Copies everything reachable from the processes. Afterwards their stacks are clean below a new mark.
///
/// # Safety
/// The world is stopped, and only the calling thread visits the processes.
pub(super) unsafe fn visit(processes: &[ProcRef], copier: &mut Copier, others: &Spans) {
    let is_major = copier.is_major();
    for group in processes.chunks(WALKS / QUEUES) {
        let mut walks = [(group[0], Walk::NOWHERE); WALKS];
        let mut count = 0;
        for &p in group {
            // SAFETY: the world is stopped, and only this thread visits the process.
            unsafe {
                visit_one(p, copier, others);
                let local = p.local();
                if local.start.is_null() {
                    continue;
                }
                let inner = if is_major { local.messages.first() } else { null_mut() };
                let inbox = if is_major || p.state.is_referred() { p.state.latest() } else { null_mut() };
                for walk in [Walk::along(inner, None), Walk::along(inbox, Some(!is_major))] {
                    if !walk.is_over() {
                        walks[count] = (p, walk);
                        count += 1;
                    }
                }
            }
        }
        // SAFETY: the world is stopped, and only this thread visits the processes of these queues.
        unsafe { visit_queues(&mut walks[..count], copier, others) };
    }
}

/// # Safety
/// As `visit`, of the processes that the queues belong to.
unsafe fn visit_queues(mut walks: &mut [(ProcRef, Walk)], copier: &mut Copier, others: &Spans) {
    while !walks.is_empty() {
        // SAFETY: the world is stopped, and only this thread visits the processes of these queues.
        unsafe {
            walk::read_ahead(walks);
            for (p, walk) in walks.iter_mut() {
                copier.charge(&p.local().trailer().old);
                copier.queued += walk.visit(|slot| copier.visit(slot));
                copier.drain(others);
                copier.charge(null());
            }
        }
        let mut left = 0;
        for at in 0..walks.len() {
            if !walks[at].1.is_over() {
                walks.swap(left, at);
                left += 1;
            }
        }
        walks = &mut walks[..left];
    }
}

/// Visits all roots of a process except messages and signals in its queues.
///
/// # Safety
/// As `visit`.
unsafe fn visit_one(p: ProcRef, copier: &mut Copier, others: &Spans) {
    let is_major = copier.is_major();
    // SAFETY: the world is stopped, so the process does not run, and only this thread visits it.
    let local = unsafe { p.local() };
    if local.start.is_null() {
        return;
    }
    let trailer = local.trailer();
    if is_major {
        trailer.old.set(0, 0);
        trailer.reductions = local.reductions;
    }
    copier.charge(&trailer.old);
    if is_major {
        stack::before_major(local);
    } else {
        stack::before_minor(local);
    }
    // SAFETY: root slots are the process', and what they refer to are whole objects.
    let mut f = |slot: &mut Term| unsafe { copier.visit(slot) };
    if local.is_in_safe_region() {
        roots::for_each_root_in_safe_region(local, &mut f);
    } else {
        roots::for_each_young_root(local, &mut [], &mut f);
    }
    // What is new is old from here on. In a major collection `for_each_young_root` has visited these roots already. A second visit would
    // move the copies again.
    if is_major {
        local.messages.for_each_new_root(|_| ());
    } else {
        local.messages.for_each_new_root(&mut f);
    }
    stack::all_is_old(local);
    // SAFETY: the world is stopped, and what was copied consists of whole objects.
    unsafe { copier.drain(others) };
    copier.charge(null());
}

/// Everything alive was copied: releases the off-heap objects that died, and empties the process' part of the young generation.
///
/// # Safety
/// As `visit`, for the second part of a collection.
pub(super) unsafe fn reclaim(p: ProcRef, is_major: bool, copier: &mut Copier) {
    // SAFETY: the world is stopped, so the process does not run, and only this thread visits it.
    let local = unsafe { p.local() };
    if local.start.is_null() {
        return;
    }
    let is_in_safe_region = local.is_in_safe_region();
    let (start, top) = (local.start, if is_in_safe_region { local.trailer().top } else { local.heap.htop });
    let mut used = (top as usize - start as usize) / 8;
    // SAFETY: the lists and blocks are the process' own, and nothing refers to them any more.
    unsafe {
        copier.sweep(std::mem::replace(&mut local.trailer().off_heap, null_mut()));
        if !is_in_safe_region {
            copier.sweep(std::mem::replace(&mut local.heap.off_heap.head, null_mut()));
            local.heap.off_heap.virtual_words = 0;
            chunk::retire_fragments(local);
        }
        used += local.trailer().retired_words;
        free_retired(local.trailer());
    }
    local.trailer().made_words += used;
    copier.young_words += used;
    blocks::poison(start, top);
    if is_in_safe_region {
        local.trailer().top = start;
    } else {
        local.heap.htop = start;
        local.flags &= !FLAG_PUBLISHED;
        let state = p.state.load();
        chunk::fit(local, used, !state.is_running() && !state.is_active());
    }
    local.minor_count = if is_major { 0 } else { local.minor_count + 1 };
    local.need_major &= !is_major;
    heap_figures::check_max_heap(local);
    remembered::collected(p);
}

/// # Safety
/// Nothing refers to the blocks and fragments that the trailer lists.
unsafe fn free_retired(trailer: &mut chunk::Trailer) {
    trailer.retired_words = 0;
    let mut retired = std::mem::replace(&mut trailer.retired, null_mut());
    while !retired.is_null() {
        // SAFETY: a retired block's trailer stands after its end, and says where it begins.
        unsafe {
            let next = (*retired).next;
            blocks::poison((*retired).start, (*retired).top);
            chunk::free((*retired).start, retired.cast());
            retired = next;
        }
    }
    let mut fragment = std::mem::replace(&mut trailer.fragments, null_mut());
    while !fragment.is_null() {
        // SAFETY: fragments on the list are live, and in the young generation.
        unsafe {
            let next = (*fragment).next;
            blocks::poison(Fragment::start(fragment), Fragment::start(fragment).add((*fragment).used_words));
            Fragment::free_young(fragment);
            fragment = next;
        }
    }
}

/// As `reclaim`, for a process that ended. Frees its block as well.
///
/// # Safety
/// As `reclaim`; the block is on no list any more.
pub(super) unsafe fn reclaim_orphan(orphan: *mut chunk::Trailer, copier: &mut Copier) {
    // SAFETY: the world is stopped, and the block is on no list any more.
    unsafe {
        copier.young_words += (*orphan).retired_words + ((*orphan).top as usize - (*orphan).start as usize) / 8;
        copier.sweep(std::mem::replace(&mut (*orphan).off_heap, null_mut()));
        free_retired(&mut *orphan);
        blocks::poison((*orphan).start, (*orphan).top);
        chunk::free((*orphan).start, orphan.cast());
    }
}

impl Process {
    /// True if a native of the process runs in a safe region: collections do not wait for it.
    pub(super) fn is_in_safe_region(&self) -> bool {
        self.heap.hlimit.is_null()
    }
}
