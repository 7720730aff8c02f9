//! When it pays to collect a process for what it holds of the message area.
//!
//! A message there takes a few words of its receiver's heap. So the heap is not full for long, and what was received and built
//! meanwhile stays: memory that others could use again while it is in the cache. So a process that came to refer to so many words
//! is collected where it waits, as a private heap would be that had them; but only for regions that nobody else holds but their
//! builders, who are in the same case. So who forwards a large message is not collected for it.

use crate::process::Process;
use crate::sizes;
use heddle_term::area::{self, Region};

/// A process may hold regions of so many words together until its heap is full. To look at a small heap costs less than to fill them.
const MOST_WORDS: i32 = 2048;

/// Off-heap objects that are looked at.
const MOST_OBJECTS: usize = 64;

/// A heap grows to so many words for what its process holds. With more the time between two collections is long enough for what they cost.
const MOST_ROOM_WORDS: usize = 4185;

/// The heap of `p` refers to a region of so many words from now on.
pub fn more(p: &mut Process, words: usize) {
    add(&mut p.held_words, words);
}

#[inline(always)]
pub(crate) fn add(held_words: &mut i32, words: usize) {
    *held_words = held_words.saturating_add(i32::try_from(words).unwrap_or(i32::MAX));
}

/// Whether to collect `p` now.
#[inline(always)]
pub fn pays(p: &mut Process) -> bool {
    p.held_words > MOST_WORDS && look(p)
}

/// Finds what the process alone holds since its last collection. If that is too little, the next look is as many words away as this one
/// found that others hold as well: most of them will be there then. (Who forwarded a message of 200,000 words again and again looked each
/// time at all that he had forwarded since his last collection, which was an eighth of his time.)
#[cold]
#[inline(never)]
fn look(p: &mut Process) -> bool {
    // In that it may go on.
    // SAFETY: there is an open one if it is not null.
    let open = unsafe { p.open().as_ref() };
    let mature = p.young_start()..p.high_water;
    let (mut alone, mut others, mut object) = (0, 0, p.heap.off_heap.head.cast_const());
    for _ in 0..MOST_OBJECTS {
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
    let pays = alone > MOST_WORDS as usize && alone > p.used_words();
    if !pays {
        p.held_words = 0;
        add(&mut p.held_words, others);
        p.held_words = -p.held_words;
    }
    pays
}

/// So large a heap may be that little lives on: with private heaps it would be larger, because what the process holds would be in it. A
/// smaller one is full all the time, if who holds large messages or arguments allocates as much as they let it.
#[inline(always)]
pub(crate) fn room(p: &Process) -> usize {
    if area::is_there() { held_room(p) } else { 0 }
}

#[inline(never)]
fn held_room(p: &Process) -> usize {
    let mut words = 0;
    for list in [&p.heap.off_heap, &p.old_off_heap] {
        let mut object = list.head.cast_const();
        for _ in 0..MOST_OBJECTS {
            if object.is_null() || words >= MOST_ROOM_WORDS {
                break;
            }
            // SAFETY: the list is whole, and the regions on it are held.
            unsafe {
                words += area::reference(object).map_or(0, |(region, _)| Region::words(region));
                object = *object.add(1) as *const u64;
            }
        }
    }
    sizes::at_least(words.min(MOST_ROOM_WORDS))
}
