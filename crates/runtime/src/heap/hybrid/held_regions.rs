//! When it pays to collect a process because of the regions of the message area that it holds.
//!
//! A message in the area takes only a few words of its receiver's heap. So the heap is rarely full, and what was received and built
//! meanwhile stays: memory that other processes could reuse while it is in the cache. So a process that came to refer to much of
//! the area is collected when it waits, as a private heap with that many words would be. Only regions count that no process holds
//! but this one and their builder, which follows the same rule. So a process that forwards a large message is not collected for it.

use crate::base::memory_mode;
use crate::base::sizes;
use crate::process::Process;
use heddle_term::Term;
use heddle_term::area::{self, Region, Seen, for_each_reference};

/// The words of regions that a process may hold before its heap is full. Looking at a small heap costs less than filling these
/// words.
const MAX_WORDS: i32 = 2048;

/// The number of off-heap objects that are looked at.
const MAX_OBJECTS: usize = 64;

/// A heap grows to at most this many words because of the regions its process holds. Beyond that, the time between two collections
/// is long enough to pay for them.
const MAX_ROOM_WORDS: usize = 4185;

/// The heap of `p` refers from now on to a region of `words` words.
pub fn more(p: &mut Process, words: usize) {
    add(&mut p.held_words, words);
}

#[inline(always)]
pub(crate) fn add(held_words: &mut i32, words: usize) {
    *held_words = held_words.saturating_add(i32::try_from(words).unwrap_or(i32::MAX));
}

/// True if `p` should be collected now.
#[inline(always)]
pub fn pays(p: &mut Process) -> bool {
    p.held_words > MAX_WORDS && look(p)
}

/// Finds the words of regions that only the process has come to hold since its last collection, and returns true if they are worth
/// a collection. If not, the next look comes after as many more words as this look found in regions that others hold as well, since
/// most of those will still be held then. (Without that, a process that forwards a large message again and again spends much of its
/// time here, looking at all it has forwarded since its last collection.)
#[cold]
#[inline(never)]
fn look(p: &mut Process) -> bool {
    // The process may build in the open region, so that one does not count.
    // SAFETY: the pointer is null or that of a live open region.
    let open = unsafe { p.open().as_ref() };
    let mature = p.young_start()..p.high_water;
    let (mut alone, mut others, mut object) = (0, 0, p.heap.off_heap.head.cast_const());
    for _ in 0..MAX_OBJECTS {
        if object.is_null() || mature.contains(&object.cast_mut()) {
            break;
        }
        // SAFETY: the list is whole, and the regions on it are held.
        unsafe {
            if let Some((region, times)) = area::reference(object) {
                let words = Region::words(region);
                match Region::is_held_alone(region, times) {
                    true if open.is_some_and(|open| open.is_in(region)) => {}
                    true => alone += words,
                    false => others += words,
                }
            }
            object = *object.add(1) as *const u64;
        }
    }
    let pays = alone > MAX_WORDS as usize && alone > p.used_words();
    if !pays {
        p.held_words = 0;
        add(&mut p.held_words, others);
        p.held_words = -p.held_words;
    }
    pays
}

/// The size that a heap may have although little in it lives, in words. With private heaps it would be larger, because the regions
/// that the process holds would be in it. A smaller heap would be full all the time, if a process that holds large messages or
/// arguments allocates in proportion to them.
#[inline(always)]
pub(crate) fn room(p: &Process) -> usize {
    if memory_mode::heaps_hold_regions() { held_room(p) } else { 0 }
}

#[inline(never)]
fn held_room(p: &Process) -> usize {
    let mut words = 0;
    for list in [&p.heap.off_heap, &p.old_off_heap] {
        let mut object = list.head.cast_const();
        for _ in 0..MAX_OBJECTS {
            if object.is_null() || words >= MAX_ROOM_WORDS {
                break;
            }
            // SAFETY: the list is whole, and the regions on it are held.
            unsafe {
                words += area::reference(object).map_or(0, |(region, _)| Region::words(region));
                object = *object.add(1) as *const u64;
            }
        }
    }
    sizes::at_least(words.min(MAX_ROOM_WORDS))
}

/// Calls `f` on each object that owns something outside the heap, and that is in the process' heap or in a region that it holds.
pub(in crate::heap) fn for_each_off_heap_object(p: &mut Process, mut f: impl FnMut(Term)) {
    let mut lists = vec![p.heap.off_heap.head.cast_const(), p.old_off_heap.head.cast_const()];
    // SAFETY: the process holds the regions on its lists, which do not change meanwhile; each region is looked at once.
    unsafe {
        let (heads, mut seen) = (lists.clone(), Seen::default());
        for head in heads {
            for_each_reference(head, |region, _| Region::for_each(region, &mut seen, |region| lists.push(Region::listed(region))));
        }
    }
    for list in lists {
        let mut object = list;
        while !object.is_null() {
            f(Term::boxed(object.cast_mut()));
            // SAFETY: off-heap objects keep their link in the word after the header, in regions too.
            object = unsafe { *object.add(1) as *const u64 };
        }
    }
}
