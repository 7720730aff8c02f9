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
//!
//! Only the engine, `long_gc` and threads that handle signals call `collect`, at points where every live term is in one of the
//! roots (see "Rooting" in docs/memory.md).

use crate::base::sizes;
use crate::base::{cycles, time};
use crate::heap::hybrid::held_regions;
use crate::heap::private::heap_growth;
use crate::heap::private::off_heap::{Area, Promoted, Survivors, sweep};
use crate::heap::{CollectionKind, blocks, shared};
use crate::observe::figures;
use crate::observe::msacc::{self, State};
use crate::process::stack;
use crate::process::{FLAG_OVER_LIMIT, Process, STACK_SLACK_WORDS};
use crate::trace::system_monitor;
use crate::trace::{events, meters};
use heddle_abi::settings::{DEFAULT_MIN_HEAP_WORDS, SETTINGS};
use heddle_term::area::{self, Fixed, Region, Seen};
use heddle_term::copy::{relocate, share_off_heap};
use heddle_term::literal::Leaving;
use heddle_term::term::TAG_FORWARD;
use heddle_term::{Header, OffHeap, Term};
use std::collections::HashMap;
use std::ptr::null_mut;
use std::sync::atomic::Ordering;

/// Counts a collection for the calling thread: `began` by `cycles`, words copied, reclaimed, and live when it was done.
pub(crate) fn count(minor: bool, began: u64, copied: usize, reclaimed: usize, live: usize) {
    figures::count(|mine| {
        let time = cycles::now().wrapping_sub(began);
        let (count, words, times, pauses) = if minor {
            (&mine.minor_collections, &mine.minor_words, &mine.minor_time, &mine.collecting().minor)
        } else {
            (&mine.major_collections, &mine.major_words, &mine.major_time, &mine.collecting().major)
        };
        count.add(1);
        words.add(copied as u64);
        times.add(time);
        pauses.add(cycles::to_rough_ns(time));
        mine.words_reclaimed.add(reclaimed as u64);
        mine.last_live_words.set(live as u64);
    });
}

/// Allocates the block of a new process.
pub fn init_block(p: &mut Process, need_words: usize) {
    if shared::is_on() {
        return shared::init(p, need_words);
    }
    let words = sizes::at_least((need_words + STACK_SLACK_WORDS + 2).max(p.min_heap_words));
    p.start = blocks::allocate(words);
    p.end = p.start.wrapping_add(words);
    p.heap.htop = p.start;
    p.high_water = p.start;
    p.stop = p.end;
    p.sync_limit();
}

/// The process has no block from here on.
pub(crate) fn forget_block(p: &mut Process) {
    p.start = null_mut();
    p.end = null_mut();
    p.stop = null_mut();
    p.heap.htop = null_mut();
    p.heap.hlimit = null_mut();
    p.high_water = null_mut();
}

/// Frees everything a process holds in heaps.
pub fn free_all(p: &mut Process) {
    if shared::is_on() {
        return shared::abandon(p);
    }
    p.messages.clear();
    p.heap.clear();
    p.old_off_heap.release_all();
    blocks::poison(p.start, p.heap.htop);
    blocks::poison(p.stop, p.end);
    blocks::poison(p.old_start, p.old_top);
    blocks::free(p.start, p.end);
    blocks::free(p.old_start, p.old_end);
    forget_block(p);
    p.old_start = null_mut();
    p.old_top = null_mut();
    p.old_end = null_mut();
}

/// Added to each collection while collections are watched, in ms: for tests of that (`erts_debug:set_internal_state`).
pub static LONG_SLEEP_MS: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);

/// The words that a collection may have to look at.
pub fn words_to_look_at(p: &Process, kind: CollectionKind) -> usize {
    if shared::is_on() {
        // All threads collect a shared heap together, so it cannot be left to one.
        return 0;
    }
    let young = p.used_words() + p.heap.fragment_words;
    let full = kind == CollectionKind::Major
        || p.need_major
        || p.minor_count >= p.fullsweep_after
        || !p.old_start.is_null() && words(p.old_top, p.old_end) < words(p.young_start(), p.high_water);
    if full { young + words(p.old_start, p.old_top) } else { young }
}

/// Collects `p`. `live` are the X registers in use. Afterwards at least `need_words` words are free. Returns the work done, in
/// reductions; with a shared heap that of all processes.
pub fn collect(p: &mut Process, live: &mut [Term], need_words: usize, kind: CollectionKind) -> usize {
    let is_shared = shared::is_on();
    if is_shared && shared::has_room(p, live, need_words, kind) {
        return 1;
    }
    let state = msacc::enter(State::Gc);
    let start = cycles::now();
    let before = p.used_words() + p.heap.fragment_words + words(p.old_start, p.old_top);
    let metered = meters::on(p);
    if metered {
        meters::pause(p, crate::trace::meter::What::Memory, false);
    }
    let traced = p.shared().trace.load(Ordering::Relaxed) & crate::trace::flags::COLLECTIONS != 0;
    if traced {
        let minor = kind != CollectionKind::Major && !p.need_major && (is_shared || p.minor_count < p.fullsweep_after);
        events::collection(p, if minor { "gc_minor_start" } else { "gc_major_start" }, need_words);
    }
    let began = system_monitor::watches_collections().then(|| (time::monotonic_ns(), LONG_SLEEP_MS.load(Ordering::Relaxed)));
    if let Some((_, ms @ 1..)) = began {
        std::thread::sleep(std::time::Duration::from_millis(ms));
    }
    let mut done = false;
    let old_words = words(p.old_start, p.old_top);
    if is_shared {
        done = shared::collect(p, live, need_words, kind);
    } else if kind != CollectionKind::Major && !p.need_major && p.minor_count < p.fullsweep_after {
        done = minor(p, live, need_words, kind == CollectionKind::Shrink);
    }
    let minor = done;
    if !done && !is_shared {
        major(p, live, need_words, None, None);
    }
    p.sync_limit();
    let after = p.used_words() + words(p.old_start, p.old_top);
    if traced {
        events::collection(p, if minor { "gc_minor_end" } else { "gc_major_end" }, before.saturating_sub(after));
    }
    // A minor collection copies everything that is young after it, and what it promoted.
    if !is_shared {
        count(minor, start, if minor { after - old_words } else { after }, before.saturating_sub(after), after);
    }
    if metered {
        meters::pause(p, crate::trace::meter::What::Memory, true);
    }
    if let Some((began, _)) = began {
        system_monitor::collected(p, (time::monotonic_ns() - began) as u64);
    }
    system_monitor::check_heap(p);
    check_max_heap(p);
    msacc::enter(state);
    let is_checked = crate::base::zeal::gc() && (after < VERIFIED_WORDS || (p.minor_count as usize).is_multiple_of(CHECK_EVERY));
    if !is_shared && (is_checked || crate::base::zeal::verifies()) {
        crate::heap::private::verify::heap(p, live);
    }
    debug_assert!(p.free_words() >= need_words as isize);
    // With a shared heap the process waited while everything was copied: it pays for that, as do the processes that waited for its
    // slice to end.
    let words = if is_shared { shared::copied_words() } else { after };
    10 + words / 100
}

/// Compacts everything into the smallest block, stack dropped: for `hibernate/3`.
pub fn hibernate(p: &mut Process, live: &mut [Term]) {
    if shared::is_on() {
        return shared::hibernate(p);
    }
    let start = cycles::now();
    let before = p.used_words() + p.heap.fragment_words + words(p.old_start, p.old_top);
    p.stop = p.end;
    major(p, live, 0, Some(12), None);
    p.sync_limit();
    count(false, start, p.used_words(), before.saturating_sub(p.used_words()), p.used_words());
}

/// A full collection that also copies the literals which are leaving. No X registers are live.
pub fn collect_off_literals(p: &mut Process, leaving: &Leaving) {
    let start = cycles::now();
    major(p, &mut [], 0, None, Some(leaving));
    p.sync_limit();
    count(false, start, p.used_words(), 0, p.used_words());
    check_max_heap(p);
}

pub(crate) fn check_max_heap(p: &mut Process) {
    let max_heap = p.max_heap();
    let max = max_heap.size_words;
    if max == 0 {
        return;
    }
    let mut total = p.total_heap_words();
    if max_heap.include_shared_binaries {
        total += p.heap.off_heap.virtual_words + p.old_off_heap.virtual_words + shared::old_virtual_words_of(p);
    }
    if total > max {
        p.flags |= FLAG_OVER_LIMIT;
    }
}

fn words(from: *mut u64, to: *mut u64) -> usize {
    (to as usize - from as usize) / 8
}

/// Calls `f` on each root slot.
pub(crate) fn for_each_root(p: &mut Process, live: &mut [Term], f: &mut impl FnMut(&mut Term)) {
    stack::before_major(p);
    for_each_young_root(p, live, f);
}

/// Calls `f` on each root slot that may refer to something young (see `stack`); after `stack::before_major` that is each one.
pub(crate) fn for_each_young_root(p: &mut Process, live: &mut [Term], f: &mut impl FnMut(&mut Term)) {
    for x in live {
        f(x);
    }
    for_each_stack_root(p, f);
    for_each_far_root(p, f);
    for term in p.trap_args.iter_mut().chain(p.saved.iter_mut()) {
        f(term);
    }
    for term in [
        &mut p.exit_reason,
        &mut p.exception.reason,
        &mut p.exception.trace,
        &mut p.exception.cause,
        &mut p.exception.args,
        &mut p.exception.info,
    ] {
        f(term);
    }
}

/// The roots that natives do not write.
fn for_each_far_root(p: &mut Process, f: &mut impl FnMut(&mut Term)) {
    if shared::is_on() {
        // Messages are no such roots here: see `shared::roots`.
        p.messages.for_each_marker(&mut *f);
    } else {
        p.messages.for_each_root(&mut *f);
    }
    p.dictionary.for_each_root(&mut *f);
    f(&mut p.group_leader);
}

/// The roots of a process whose native is running with memory of its own for new terms (`shared::safe_region`).
pub(crate) fn for_each_root_in_safe_region(p: &mut Process, f: &mut impl FnMut(&mut Term)) {
    for_each_stack_root(p, f);
    for_each_far_root(p, f);
    for term in p.saved.iter_mut() {
        f(term);
    }
}

/// The part of the stack that is not clean.
fn for_each_stack_root(p: &mut Process, f: &mut impl FnMut(&mut Term)) {
    let mut slot = p.stop;
    let clean = p.end.wrapping_sub(stack::clean_words(p));
    while slot < clean {
        // SAFETY: the stack is initialised from `stop` to `end`; Term is transparent over u64.
        unsafe {
            f(&mut *slot.cast::<Term>());
            slot = slot.add(1);
        }
    }
}

/// Copies the object that `term` points to to `*top` and leaves a forwarding word; or follows one that is there.
///
/// # Safety
/// `term` points to a whole object in from-space; `*top` has room.
#[inline(always)]
pub(crate) unsafe fn evacuate(term: Term, top: &mut *mut u64) -> Term {
    let src = term.ptr();
    // SAFETY: `term` points to a whole object in from-space, and there is room for it at `*top`.
    unsafe {
        let first = *src;
        if first & 7 == TAG_FORWARD {
            return Term::from_raw((first & !7) | term.tag());
        }
        let dst = *top;
        if term.is_cons() {
            *dst = first;
            *dst.add(1) = *src.add(1);
            *top = dst.add(2);
        } else {
            let n = Header::from_raw(first).words();
            *dst = first;
            for i in 1..n {
                *dst.add(i) = *src.add(i);
            }
            *top = dst.add(n);
        }
        *src = dst as u64 | TAG_FORWARD;
        Term::from_raw(dst as u64 | term.tag())
    }
}

/// In zeal mode: one of this many minor collections (more with a large stack, which takes long) checks that the skipped parts may
/// be skipped.
const CHECK_EVERY: usize = 256;

/// In zeal mode: heaps of fewer words are verified after each collection, larger ones rarely.
const VERIFIED_WORDS: usize = 4096;

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
    let mut to_top = to_start;
    let old_scan_start = p.old_top;
    let mut old_top = p.old_top;

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
                    *slot = unsafe { evacuate(term, &mut old_top) };
                } else if fixed.contains(term) {
                    stays(term, fixed, &mut seen);
                } else if !old.contains(ptr) {
                    // SAFETY: young or in a fragment; to-space has room for everything young.
                    *slot = unsafe { evacuate(term, &mut to_top) };
                }
            }
        };
        for_each_young_root(p, live, &mut move_term);
    }
    stack::after_minor(p);
    let mut scan = to_start;
    let mut old_scan = old_scan_start;
    loop {
        // SAFETY: both areas hold whole objects up to their tops.
        unsafe {
            while old_scan < old_top {
                let word = Term::from_raw(*old_scan);
                if word.is_header() {
                    old_scan = old_scan.add(1 + Header::from_raw(word.raw()).raw_words());
                    continue;
                }
                if word.is_pointer() {
                    let ptr = word.ptr();
                    if mature.contains(ptr) {
                        *old_scan = evacuate(word, &mut old_top).raw();
                    } else if fixed.contains(word) {
                        stays(word, fixed, &mut seen);
                    } else if !old.contains(ptr) {
                        // Cannot happen (see the essay): what an object that survived refers to is older, or is promoted with it.
                        panic!("collector: an object that survived points to a younger one");
                    }
                }
                old_scan = old_scan.add(1);
            }
            while scan < to_top {
                let word = Term::from_raw(*scan);
                if word.is_header() {
                    scan = scan.add(1 + Header::from_raw(word.raw()).raw_words());
                    continue;
                }
                if word.is_pointer() {
                    let ptr = word.ptr();
                    if mature.contains(ptr) {
                        *scan = evacuate(word, &mut old_top).raw();
                    } else if fixed.contains(word) {
                        stays(word, fixed, &mut seen);
                    } else if !old.contains(ptr) {
                        *scan = evacuate(word, &mut to_top).raw();
                    }
                }
                scan = scan.add(1);
            }
            if old_scan == old_top && scan == to_top {
                break;
            }
        }
    }
    seen.close();
    tell_open(p, &mut seen);
    let mut to = Survivors { top: to_top, list: OffHeap::new(), seen: &mut seen };
    let mut promoted = Promoted { mature, top: old_top, area: Area::new(p.old_start, p.old_end), list: &mut p.old_off_heap };
    sweep(&mut p.heap.off_heap, &mut to, Some(&mut promoted));
    (to_top, p.old_top, p.heap.off_heap) = (to.top, promoted.top, to.list);

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

fn major(p: &mut Process, live: &mut [Term], need_words: usize, exact_min: Option<usize>, leaving: Option<&Leaving>) {
    let stack = p.stack_words();
    let (was_full, had) = (p.free_words() < need_words as isize, p.heap_words());
    let shared_words = leaving.map_or(0, |leaving| shared_words(p, leaving));
    let literals = leaving.map_or(0, Leaving::words) + shared_words;
    let collected = p.used_words() + words(p.old_start, p.old_top) + p.heap.fragment_words + fresh_words(p);
    let bound = collected + stack + need_words + STACK_SLACK_WORDS + literals;
    // A process with a large minimum heap size has it from now on; the default minimum is only kept if no more than that lives.
    let asked = p.min_heap_words > SETTINGS.min_heap_words.get() && exact_min.is_none();
    let mut size = sizes::at_least(bound.max(if asked { p.min_heap_words } else { 0 }));
    // The block was nearly full after the last collection, and would soon be full again: it grows, as in ERTS.
    if std::mem::take(&mut p.grow) && size == had && exact_min.is_none() {
        size = sizes::next_above(size);
    }
    let to_start = blocks::allocate(size);
    let mut to_top = to_start;
    let fixed = Fixed::now();
    let mut seen = Seen::default();
    let mut copies = LiteralCopies { copies_shared: shared_words != 0, ..LiteralCopies::default() };
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
    let mut scan = to_start;
    while scan < to_top {
        // SAFETY: to-space holds whole objects up to its top, and has room as above.
        unsafe {
            let word = Term::from_raw(*scan);
            if word.is_header() {
                scan = scan.add(1 + Header::from_raw(word.raw()).raw_words());
                continue;
            }
            if word.is_pointer() {
                if !fixed.contains(word) {
                    *scan = evacuate(word, &mut to_top).raw();
                } else if let Some(leaving) = leaving {
                    *scan = copies.copy(word, leaving, &mut to_top).raw();
                } else {
                    stays(word, fixed, &mut seen);
                }
            }
            scan = scan.add(1);
        }
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
    let wanted = match exact_min {
        Some(min) => used.max(min),
        // At most three quarters full after a full sweep (ERTS).
        None => sizes::at_least((used + used / 3).max(p.min_heap_words)).max(if was_full { had.min(held_regions::room(p)) } else { 0 }),
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

/// Copies of literals. A literal itself has no forwarding word, so the copies are noted here. The same goes for regions, if they
/// must be left.
#[derive(Default)]
struct LiteralCopies {
    copies: HashMap<u64, Term>,
    off_heap: OffHeap,
    copies_shared: bool,
    /// Regions that are still referred to.
    shared: Seen,
}

impl LiteralCopies {
    /// The literal itself, or its copy if it is leaving.
    ///
    /// # Safety
    /// `*top` has room for one copy of everything that is leaving.
    unsafe fn copy(&mut self, term: Term, leaving: &Leaving, top: &mut *mut u64) -> Term {
        let is_shared = area::contains(term);
        let is_left = if is_shared { self.copies_shared } else { leaving.contains(term.raw()) };
        if !is_left {
            if is_shared {
                // SAFETY: as in `stays`.
                unsafe { self.shared.note(term) };
            }
            return term;
        }
        if let Some(&copy) = self.copies.get(&term.raw()) {
            return copy;
        }
        let dst = *top;
        // SAFETY: by contract; a literal is a whole object.
        unsafe {
            let src = term.ptr();
            let n = if term.is_cons() { 2 } else { Header::from_raw(*src).words() };
            std::ptr::copy_nonoverlapping(src, dst, n);
            *top = dst.add(n);
            if !term.is_cons() && Header::from_raw(*dst).kind().is_off_heap() {
                share_off_heap(dst, &mut self.off_heap);
            }
        }
        let copy = Term::from_raw(dst as u64 | term.tag());
        self.copies.insert(term.raw(), copy);
        copy
    }

    /// Moves the off-heap objects among the copies to the process's list.
    fn hand_over(&mut self, to: &mut OffHeap) {
        to.virtual_words += self.off_heap.virtual_words;
        let mut object = std::mem::replace(&mut self.off_heap.head, null_mut());
        while !object.is_null() {
            // SAFETY: listed objects keep their link in the word after the header.
            unsafe {
                let next = *object.add(1) as *mut u64;
                to.push(object);
                object = next;
            }
        }
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
