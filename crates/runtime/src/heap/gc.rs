//! Collections as the rest of the VM asks for them, whatever the memory architecture, and what is told of them: figures, trace
//! messages, `system_monitor`, the limit of a process.
//!
//! Only the engine, `long_gc` and threads that handle signals call `collect`, at points where every live term is in one of the
//! roots (see "Rooting" in docs/memory.md).

use crate::base::memory_mode;
use crate::base::{cycles, time};
use crate::heap::heap_figures::check_max_heap;
use crate::heap::private::collector::{CHECK_EVERY, Fit, major, words};
use crate::heap::{CollectionKind, mode, shared};
use crate::observe::figures;
use crate::observe::msacc::{self, ThreadState};
use crate::process::Process;
use crate::trace::{events, meters, system_monitor};
use heddle_term::Term;
use heddle_term::literal::Leaving;
use std::sync::atomic::Ordering;

/// In zeal mode: heaps of fewer words are verified after each collection, larger ones rarely.
const VERIFIED_WORDS: usize = 4096;

/// Added to each collection while collections are watched, in ms: for tests of that (`erts_debug:set_internal_state`).
pub static LONG_SLEEP_MS: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);

/// The words that a collection may have to look at.
pub(crate) fn words_to_look_at(p: &Process, kind: CollectionKind) -> usize {
    if memory_mode::collects_together() {
        // It cannot be left to one thread.
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
/// reductions; if all processes are collected together, the work for all.
pub fn collect(p: &mut Process, live: &mut [Term], need_words: usize, kind: CollectionKind) -> usize {
    if mode::has_room(p, live, need_words, kind) {
        return 1;
    }
    let of_all = memory_mode::collects_together();
    let state = msacc::enter(ThreadState::Gc);
    let start = cycles::now();
    let before = p.used_words() + p.heap.fragment_words + words(p.old_start, p.old_top);
    let metered = meters::on(p);
    if metered {
        meters::pause(p, crate::trace::meter::MeterKind::Memory, false);
    }
    let traced = p.shared().trace.load(Ordering::Relaxed) & crate::trace::flags::COLLECTIONS != 0;
    if traced {
        let minor = kind != CollectionKind::Major && !p.need_major && (of_all || p.minor_count < p.fullsweep_after);
        events::collection(p, if minor { "gc_minor_start" } else { "gc_major_start" }, need_words);
    }
    let began = system_monitor::watches_collections().then(|| (time::monotonic_ns(), LONG_SLEEP_MS.load(Ordering::Relaxed)));
    if let Some((_, ms @ 1..)) = began {
        std::thread::sleep(std::time::Duration::from_millis(ms));
    }
    let old_words = words(p.old_start, p.old_top);
    let minor = mode::collect(p, live, need_words, kind);
    p.sync_limit();
    let after = p.used_words() + words(p.old_start, p.old_top);
    if traced {
        events::collection(p, if minor { "gc_minor_end" } else { "gc_major_end" }, before.saturating_sub(after));
    }
    // A minor collection copies everything that is young after it, and what it promoted.
    if !of_all {
        figures::collection(minor, start, if minor { after - old_words } else { after }, before.saturating_sub(after), after);
    }
    if metered {
        meters::pause(p, crate::trace::meter::MeterKind::Memory, true);
    }
    if let Some((began, _)) = began {
        system_monitor::collected(p, (time::monotonic_ns() - began) as u64);
    }
    system_monitor::check_heap(p);
    check_max_heap(p);
    msacc::enter(state);
    let is_checked = crate::base::zeal::gc() && (after < VERIFIED_WORDS || (p.minor_count as usize).is_multiple_of(CHECK_EVERY));
    if !of_all && (is_checked || crate::base::zeal::verifies()) {
        crate::heap::private::verify::heap(p, live);
    }
    debug_assert!(p.free_words() >= need_words as isize);
    // If everything was copied the process waited for all of that: it pays for it, as do the processes that waited for its slice to end.
    let words = if of_all { shared::copied_words() } else { after };
    10 + words / 100
}

/// Compacts everything into the smallest block, stack dropped: for `hibernate/3`.
pub fn hibernate(p: &mut Process, live: &mut [Term]) {
    if memory_mode::collects_together() {
        return shared::hibernate(p);
    }
    let start = cycles::now();
    let before = p.used_words() + p.heap.fragment_words + words(p.old_start, p.old_top);
    p.stop = p.end;
    major(p, live, 0, Fit::Least(12), None);
    p.sync_limit();
    figures::collection(false, start, p.used_words(), before.saturating_sub(p.used_words()), p.used_words());
}

/// A full collection that also copies the literals which are leaving. No X registers are live.
pub(crate) fn collect_off_literals(p: &mut Process, leaving: &Leaving) {
    let start = cycles::now();
    major(p, &mut [], 0, Fit::Close, Some(leaving));
    p.sync_limit();
    figures::collection(false, start, p.used_words(), 0, p.used_words());
    check_max_heap(p);
}
