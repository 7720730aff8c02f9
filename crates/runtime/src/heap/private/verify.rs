//! Checks a whole heap between collections: does every pointer lead to an object of the process?
//!
//! Too slow to be always on: `HEDDLE_ZEAL=gc` has it done after each collection (of a large heap only after some),
//! `HEDDLE_ZEAL=verify` after one of 64.

use crate::heap::roots;
use crate::process::Process;
use heddle_term::area::{self, Region, Seen};
use heddle_term::boxed::for_each_slot;
use heddle_term::{Fragment, Term};
use std::ops::Range;

/// Stops the VM if a term of `p` refers to memory that is not the process's, or to a region that the process does not hold.
pub(crate) fn heap(p: &mut Process, live: &mut [Term]) {
    let mut blocks: Vec<Range<usize>> = vec![p.young_start() as usize..p.heap.htop as usize, p.old_start as usize..p.old_top as usize];
    let mut fragment = p.heap.fragments;
    while !fragment.is_null() {
        // SAFETY: fragments on the list are live.
        unsafe {
            let start = Fragment::start(fragment);
            blocks.push(start as usize..start.add((*fragment).used_words) as usize);
            fragment = (*fragment).next;
        }
    }
    let mut held = Seen::default();
    for list in [&p.heap.off_heap, &p.old_off_heap] {
        // SAFETY: the lists are whole.
        unsafe { area::for_each_reference(list.head, |region, _| _ = held.add(region)) };
    }
    let pid = p.pid_term();
    let mut check = |term: Term, place: &str| {
        if !term.is_pointer() {
            return;
        }
        let at = term.ptr() as usize;
        if area::contains(term) {
            // SAFETY: only the map of beginnings is read; the region is then looked up among those that are held.
            let region = unsafe { Region::of(term) };
            assert!(held.get(region).is_some(), "heap of {pid:?}: {place} refers to a region that is not held, by {:#x}", term.raw());
        } else if !area::is_fixed(term) {
            assert!(
                blocks.iter().any(|block| block.contains(&at)),
                "heap of {pid:?}: {place} refers to {:#x}, which is nowhere",
                term.raw()
            );
        }
    };
    for block in &blocks {
        // SAFETY: blocks are whole objects up to their tops.
        unsafe { for_each_slot(block.start as *mut u64, block.end as *mut u64, |slot| check(*slot, "an object")) };
    }
    // SAFETY: there is an open region if it is not null; what is built in it is whole objects.
    unsafe {
        if let Some(open) = p.open().as_ref() {
            let built = open.built();
            for_each_slot(built.start, built.end, |slot| {
                assert!(open.takes(*slot), "open region of {pid:?} refers to {:#x}, which is elsewhere", (*slot).raw());
            });
        }
    }
    roots::for_each_young_root(p, live, &mut |slot: &mut Term| check(*slot, "a root"));
}
