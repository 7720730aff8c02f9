//! The private-heap collector: generational copying, after Cheney (Wilhelmsson, "Exploring Alternative Memory Architectures for
//! Erlang", 2002, section 3; Zhang, "Characterizing the Scalability of Erlang VM on Many-core Processors", 2011, section 3.5.6;
//! sizes and rules as in ERTS).
//!
//! Young block `[start, htop)`, old block `[old_start, old_top)`, fragments beside the young block. `high_water` is where the young
//! heap ended after the last collection: what is below has survived once and is promoted by the next minor collection. Terms are
//! immutable and natives write heap objects only while building them, so old objects never point to younger ones. A fragment may be
//! younger than the objects below `high_water`, but is only referenced from objects made after it, which are above `high_water`.
//!
//! Phases of a minor collection:
//!  1. choose the size of to-space (enough for everything young, so copying cannot fail);
//!  2. evacuate the roots: live X registers, the part of the stack that is not clean (see `stack`), dictionary, adopted
//!     messages, named fields;
//!  3. scan to-space and the newly promoted part of the old block until nothing is left (Cheney);
//!  4. sweep the off-heap list: what was not moved is released;
//!  5. move the stack, free from-space and fragments (poisoned first in zeal mode);
//! 6. fit the block: if the block is larger than needed, it is replaced by one of the right size in one linear pass.
//!
//! Moving a large stack costs more than copying what a collection finds alive. If there is room, to-space is then a free part of
//! the block itself, above the young heap or in the gap that such a collection left below it, and the stack stays
//! (`room_in_block`).
//!
//! A major collection evacuates both generations into one new young block.

use super::literal_copies::LiteralCopies;
use crate::base::sizes;
use crate::heap::evacuate::{evacuate, scan};
use crate::heap::hybrid::held_regions;
use crate::heap::private::heap_growth;
use crate::heap::private::off_heap::{Area, Promoted, Survivors, sweep};
use crate::heap::roots::{for_each_root, for_each_young_root};
use crate::heap::{CollectionKind, blocks};
use crate::process::stack;
use crate::process::{Process, STACK_SLACK_WORDS};
use heddle_abi::settings::{DEFAULT_MIN_HEAP_WORDS, SETTINGS};
use heddle_term::area::{self, Fixed, Region, Seen};
use heddle_term::copy::relocate;
use heddle_term::literal::Leaving;
use heddle_term::{OffHeap, Term};
use std::ptr::null_mut;

pub(in crate::heap) fn words(from: *mut u64, to: *mut u64) -> usize {
    (to as usize - from as usize) / 8
}

/// In zeal mode: one of this many minor collections (more with a large stack, which takes long) checks that the skipped parts may
/// be skipped.
pub(in crate::heap) const CHECK_EVERY: usize = 256;

/// Stops the VM if the clean part of the stack refers to something young.
fn check_clean(p: &Process, old: &Area) {
    let clean = stack::clean_words(p);
    let deep = p.stack_words() - clean;
    for (slot, term) in stack::words(p).skip(deep) {
        let young = term.is_pointer() && !old.contains(term.ptr()) && !area::is_fixed(term);
        assert!(!young, "collector: {:?} refers to a young term from {slot:?}, {clean} words of its stack are clean", p.pid_term());
    }
}

/// Minimum words of an old block, unless the process may have a smaller heap. A large minimum heap size (`min_heap_size`, `+hms`)
/// asks for rare collections, not for a second large block for the little that survives.
const OLD_WORDS: usize = DEFAULT_MIN_HEAP_WORDS;

/// Collects as `kind` asks, and returns true if that was a minor collection.
pub(in crate::heap) fn collect(p: &mut Process, live: &mut [Term], need_words: usize, kind: CollectionKind) -> bool {
    let is_minor = kind != CollectionKind::Major
        && !p.need_major
        && p.minor_count < p.fullsweep_after
        && minor(p, live, need_words, kind == CollectionKind::Shrink);
    if !is_minor {
        major(p, live, need_words, if kind == CollectionKind::Shrink { Fit::Close } else { Fit::Roomy }, None);
    }
    is_minor
}

/// Where the next object goes, in to-space and in the old block.
struct Tops {
    young: *mut u64,
    old: *mut u64,
}

/// False if a major collection is needed instead.
fn minor(p: &mut Process, live: &mut [Term], need_words: usize, rests: bool) -> bool {
    let mature_words = words(p.young_start(), p.high_water);
    if mature_words > 0 && p.old_start.is_null() {
        // When the old block is full, the whole stack is visited, so with a large stack the block must not be small.
        let young = if heap_growth::is_enlarged(p) { mature_words.max(heap_growth::usual_words(p)) } else { p.used_words() };
        let size = sizes::at_least(young.max(p.min_heap_words.min(OLD_WORDS)).max(p.stack_words() / 8));
        p.old_start = blocks::allocate(size);
        p.old_top = p.old_start;
        p.old_end = p.old_start.wrapping_add(size);
    }
    if words(p.old_top, p.old_end) < mature_words {
        return false;
    }
    let stack = p.stack_words();
    let was_full = p.free_words() < need_words as isize;
    // True if what natives made beside the heap, or what messages brought, would not have had room in it.
    let was_overfull = p.free_words() < p.heap.fragment_words as isize;
    let bound = p.used_words() - mature_words + p.heap.fragment_words + fresh_words(p) + stack + need_words + STACK_SLACK_WORDS;
    let mut usual = if rests { heap_growth::usual_words(p) } else { p.heap_words() };
    if std::mem::take(&mut p.grow) && !rests {
        usual = sizes::next_above(usual);
    }
    let mut size = if bound <= usual { usual } else { sizes::at_least(bound) };
    let young_words = p.used_words() - mature_words + p.heap.fragment_words + fresh_words(p);
    let in_block = if usual == p.heap_words() { room_in_block(p, young_words, need_words) } else { None };
    let to_start = match in_block {
        Some(to_start) => {
            size = usual;
            to_start
        }
        None => blocks::allocate(size),
    };
    let mut tops = Tops { young: to_start, old: p.old_top };
    let (mut young_scan, mut old_scan) = (to_start, p.old_top);

    stack::before_minor(p);
    let mature = Area::new(p.young_start(), p.high_water);
    let old = Area::new(p.old_start, p.old_end);
    if crate::base::zeal::gc() && (p.minor_count as usize).is_multiple_of(CHECK_EVERY.max(stack::clean_words(p) / 64)) {
        check_clean(p, &old);
    }
    let fixed = Fixed::now();
    let mut seen = Seen::default();
    {
        let mut move_term = |slot: &mut Term| {
            let term = *slot;
            if term.is_pointer() {
                let ptr = term.ptr();
                if mature.contains(ptr) {
                    // SAFETY: young, whole, and the old block has room for everything mature.
                    *slot = unsafe { evacuate(term, &mut tops.old) };
                } else if fixed.contains(term) {
                    stays(term, fixed, &mut seen);
                } else if !old.contains(ptr) {
                    // SAFETY: young or in a fragment; to-space has room for everything young.
                    *slot = unsafe { evacuate(term, &mut tops.young) };
                }
            }
        };
        for_each_young_root(p, live, &mut move_term);
    }
    stack::after_minor(p);
    loop {
        // SAFETY: both areas hold whole objects up to their tops, and have room for everything mature and for everything young.
        unsafe {
            old_scan = scan(
                old_scan,
                &mut tops,
                |tops| tops.old,
                |tops, at, word| {
                    let ptr = word.ptr();
                    if mature.contains(ptr) {
                        *at = evacuate(word, &mut tops.old).raw();
                    } else if fixed.contains(word) {
                        stays(word, fixed, &mut seen);
                    } else if !old.contains(ptr) {
                        // Cannot happen (see the module's text): what an object that survived refers to is older, or is promoted with it.
                        panic!("collector: an object that survived points to a younger one");
                    }
                },
            );
            young_scan = scan(
                young_scan,
                &mut tops,
                |tops| tops.young,
                |tops, at, word| {
                    let ptr = word.ptr();
                    if mature.contains(ptr) {
                        *at = evacuate(word, &mut tops.old).raw();
                    } else if fixed.contains(word) {
                        stays(word, fixed, &mut seen);
                    } else if !old.contains(ptr) {
                        *at = evacuate(word, &mut tops.young).raw();
                    }
                },
            );
        }
        if old_scan == tops.old && young_scan == tops.young {
            break;
        }
    }
    seen.close();
    tell_open(p, &mut seen);
    let mut to = Survivors { top: tops.young, list: OffHeap::new(), seen: &mut seen };
    let mut promoted = Promoted { mature, top: tops.old, area: Area::new(p.old_start, p.old_end), list: &mut p.old_off_heap };
    sweep(&mut p.heap.off_heap, &mut to, Some(&mut promoted));
    let to_top = to.top;
    (p.old_top, p.heap.off_heap) = (promoted.top, to.list);

    if in_block.is_some() {
        stay(p, to_start, to_top);
    } else {
        install(p, to_start, to_top, size, stack);
    }
    p.minor_count += 1;

    // Fit the block: see the essay, phase 6.
    let used = p.used_words() + stack + need_words + STACK_SLACK_WORDS;
    if rests {
        usual = usual.max(sizes::at_least(used + used / 3));
        heap_growth::forget(p);
    }
    if size > usual && used * 4 <= usual * 3 {
        resize(p, live, usual);
    } else if used * 4 > p.heap_words() * 3 || was_full && held_regions::room(p) > p.heap_words() {
        p.grow = true;
    }
    if was_full || was_overfull {
        heap_growth::filled(p);
    }
    fit_vheap(p);
    true
}

/// Words of references to open regions that the collection adds to the heap.
fn fresh_words(p: &Process) -> usize {
    p.rare_if_any().map_or(0, |rare| rare.open.fresh_words())
}

/// Notes the regions that the collection has met. Moves the open region's reference to the heap: what refers to the region was made
/// after that reference, so it is promoted no earlier (`sweep_reference`).
fn tell_open(p: &mut Process, seen: &mut Seen) {
    // SAFETY: the pointer is null or that of a live open region.
    if let Some(open) = unsafe { p.open().as_mut() } {
        let unsent = open.collected(seen);
        p.missed(unsent);
    }
}

/// A smaller stack is moved with the rest.
const LARGE_STACK_WORDS: usize = 4096;

/// To-space in the young block itself for all that may survive, if the stack is large and there is enough room besides.
fn room_in_block(p: &Process, survive_words: usize, need_words: usize) -> Option<*mut u64> {
    let free_words = words(p.heap.htop, p.stop);
    if p.stack_words() < LARGE_STACK_WORDS || free_words < need_words + STACK_SLACK_WORDS {
        return None;
    }
    if words(p.start, p.young_start()) >= survive_words {
        return Some(p.start);
    }
    (free_words >= survive_words + need_words + STACK_SLACK_WORDS).then_some(p.heap.htop)
}

/// The words from `to_start` to `to_top`, in the young block, are the young heap from now on. The previous one, and fragments, are
/// freed.
fn stay(p: &mut Process, to_start: *mut u64, to_top: *mut u64) {
    p.heap.free_fragments();
    blocks::poison(p.young_start(), p.heap.htop);
    p.rare().gap_words = words(p.start, to_start);
    p.heap.htop = to_top;
    p.high_water = to_top;
}

/// How large the block is after a full sweep.
#[derive(Clone, Copy)]
pub(in crate::heap) enum Fit {
    /// As small as what lives allows, but not smaller than this many words.
    Least(usize),
    /// At most three quarters full.
    Close,
    /// Smaller only if less than a quarter of it is in use, and then at most half full, as in ERTS. A process that filled the block once will
    /// fill it again, and to move to a smaller block costs a second copy of all that lives.
    Roomy,
}

pub(in crate::heap) fn major(p: &mut Process, live: &mut [Term], need_words: usize, fit: Fit, leaving: Option<&Leaving>) {
    let stack = p.stack_words();
    let (was_full, had) = (p.free_words() < need_words as isize, p.heap_words());
    let shared_words = leaving.map_or(0, |leaving| shared_words(p, leaving));
    let literals = leaving.map_or(0, Leaving::words) + shared_words;
    let collected = p.used_words() + words(p.old_start, p.old_top) + p.heap.fragment_words + fresh_words(p);
    let bound = collected + stack + need_words + STACK_SLACK_WORDS + literals;
    let is_exact = matches!(fit, Fit::Least(_));
    // A process with a large minimum heap size has it from now on; the default minimum is only kept if no more than that lives.
    let asked = p.min_heap_words > SETTINGS.min_heap_words.get() && !is_exact;
    let mut size = sizes::at_least(bound.max(if asked { p.min_heap_words } else { 0 }));
    // The block was nearly full after the last collection, and would soon be full again: it grows, as in ERTS.
    if std::mem::take(&mut p.grow) && size == had && !is_exact {
        size = sizes::next_above(size);
    }
    let to_start = blocks::allocate(size);
    let mut to_top = to_start;
    let fixed = Fixed::now();
    let mut seen = Seen::default();
    let mut copies = LiteralCopies::new(shared_words != 0);
    for_each_root(p, live, &mut |slot: &mut Term| {
        let term = *slot;
        if term.is_pointer() {
            if !fixed.contains(term) {
                // SAFETY: in from-space, whole; to-space has room for everything.
                *slot = unsafe { evacuate(term, &mut to_top) };
            } else if let Some(leaving) = leaving {
                // SAFETY: to-space has room for all that leaves.
                *slot = unsafe { copies.copy(term, leaving, &mut to_top) };
            } else {
                stays(term, fixed, &mut seen);
            }
        }
    });
    // SAFETY: to-space holds whole objects up to its top, and has room as above.
    unsafe {
        scan(
            to_start,
            &mut to_top,
            |top| *top,
            |top, at, word| {
                if !fixed.contains(word) {
                    *at = evacuate(word, top).raw();
                } else if let Some(leaving) = leaving {
                    *at = copies.copy(word, leaving, top).raw();
                } else {
                    stays(word, fixed, &mut seen);
                }
            },
        );
    }
    let seen = if leaving.is_some() { &mut copies.shared } else { &mut seen };
    seen.close();
    tell_open(p, seen);
    let mut to = Survivors { top: to_top, list: OffHeap::new(), seen };
    sweep(&mut p.heap.off_heap, &mut to, None);
    sweep(&mut p.old_off_heap, &mut to, None);
    (to_top, p.heap.off_heap) = (to.top, to.list);
    copies.hand_over(&mut p.heap.off_heap);

    blocks::poison(p.old_start, p.old_top);
    blocks::free(p.old_start, p.old_end);
    p.old_start = null_mut();
    p.old_top = null_mut();
    p.old_end = null_mut();
    install(p, to_start, to_top, size, stack);
    p.minor_count = 0;
    p.need_major = false;
    heap_growth::forget(p);

    let used = p.used_words() + stack + need_words + STACK_SLACK_WORDS;
    // At most three quarters full (ERTS: else it grows at the next full sweep).
    let close = sizes::at_least((used + used / 3).max(p.min_heap_words)).max(if was_full { had.min(held_regions::room(p)) } else { 0 });
    let wanted = match fit {
        Fit::Least(min) => used.max(min),
        Fit::Roomy if used * 4 >= p.heap_words() => close.max(p.heap_words()),
        Fit::Roomy => close.max(sizes::at_least(used * 2)),
        Fit::Close => close,
    };
    if wanted < p.heap_words() {
        resize(p, live, wanted);
    } else if wanted > p.heap_words() {
        p.grow = true;
    }
    fit_vheap(p);
}

/// Words of the regions that the process refers to, if one of them refers to literals that are leaving: then all of them are
/// copied, because regions are not written to. Else 0.
fn shared_words(p: &Process, leaving: &Leaving) -> usize {
    let (mut words, mut found) = (0, false);
    let mut seen = Seen::default();
    for list in [&p.heap.off_heap, &p.old_off_heap] {
        // SAFETY: the lists are the process's, which holds their regions, and those that these refer to.
        unsafe {
            area::for_each_reference(list.head, |region, _| {
                found |= Region::refers_to(region, leaving);
                Region::for_each(region, &mut seen, |region| words += Region::words(region));
            });
        }
    }
    if found { words } else { 0 }
}

/// The term does not move. If it is in the message area, notes that its region is still referred to.
#[inline(always)]
fn stays(term: Term, fixed: Fixed, seen: &mut Seen) {
    if fixed.is_shared(term) {
        // SAFETY: the process refers to it, so it holds its region until the sweep.
        unsafe { seen.note(term) };
    }
}

/// Makes to-space the young block: the stack moves to its end; from-space and fragments are freed.
fn install(p: &mut Process, to_start: *mut u64, to_top: *mut u64, size: usize, stack: usize) {
    let end = to_start.wrapping_add(size);
    let stop = end.wrapping_sub(stack);
    // SAFETY: both stacks have `stack` words; to-space was sized for it.
    unsafe { std::ptr::copy_nonoverlapping(p.stop, stop, stack) };
    p.heap.free_fragments();
    blocks::poison(p.start, p.heap.htop);
    blocks::poison(p.stop, p.end);
    blocks::free(p.start, p.end);
    no_gap(p);
    p.start = to_start;
    p.end = end;
    p.stop = stop;
    p.heap.htop = to_top;
    p.high_water = to_top;
}

/// The young heap begins where its block begins; the block is a new one from here on.
fn no_gap(p: &mut Process) {
    if p.young_start() != p.start {
        p.rare().gap_words = 0;
    }
}

/// Replaces the young block (no fragments) by one of `size` words. One linear pass corrects every pointer into it.
fn resize(p: &mut Process, live: &mut [Term], size: usize) {
    let used = p.used_words();
    let stack = p.stack_words();
    debug_assert!(used + stack + STACK_SLACK_WORDS <= size && p.heap.fragments.is_null());
    let start = blocks::allocate(size);
    let young = p.young_start();
    let from = Area::new(young, p.heap.htop);
    // SAFETY: the new block has room for the young ones; nothing but the slots corrected below points into the old one.
    let delta = unsafe { relocate(young, used, start) };
    let (old_start, old_end, from_top, from_stop) = (p.start, p.end, p.heap.htop, p.stop);
    let end = start.wrapping_add(size);
    let stop = end.wrapping_sub(stack);
    // SAFETY: both stacks have `stack` words.
    unsafe { std::ptr::copy_nonoverlapping(p.stop, stop, stack) };
    no_gap(p);
    p.start = start;
    p.end = end;
    p.stop = stop;
    p.heap.htop = start.wrapping_add(used);
    p.high_water = p.heap.htop;
    let mut fix = |slot: &mut Term| {
        if slot.is_pointer() && from.contains(slot.ptr()) {
            *slot = Term::from_raw(slot.raw().wrapping_add(delta));
        }
    };
    for_each_young_root(p, live, &mut fix);
    // Off-heap links are raw addresses of objects in the block.
    let shift = |ptr: *mut u64| if from.contains(ptr) { (ptr as u64).wrapping_add(delta) as *mut u64 } else { ptr };
    p.heap.off_heap.head = shift(p.heap.off_heap.head);
    let mut object = p.heap.off_heap.head;
    while !object.is_null() {
        // SAFETY: the object was moved whole.
        unsafe {
            let next = shift(*object.add(1) as *mut u64);
            *object.add(1) = next as u64;
            object = next;
        }
    }
    blocks::poison(old_start, from_top);
    blocks::poison(from_stop, old_end);
    blocks::free(old_start, old_end);
}

fn fit_vheap(p: &mut Process) {
    p.held_words = 0;
    let live = p.heap.off_heap.virtual_words + p.old_off_heap.virtual_words;
    if p.old_off_heap.virtual_words > p.vheap_limit_words {
        // Only a full sweep can find dead binaries that were promoted.
        p.need_major = p.minor_count > 0;
    }
    p.vheap_limit_words = if live * 4 > p.vheap_limit_words * 3 {
        sizes::next_above(live * 4 / 3)
    } else if live * 4 < p.vheap_limit_words {
        sizes::at_least((live * 2).max(p.min_vheap_words()))
    } else {
        p.vheap_limit_words
    };
}
