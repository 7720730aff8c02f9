//! The roots of a process: see "Rooting" in docs/memory.md.

use crate::base::memory_mode;
use crate::process::{Process, stack};
use heddle_term::Term;

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
    if memory_mode::queues_list_roots() {
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
