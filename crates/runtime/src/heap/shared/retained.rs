//! Finds what a process refers to in the shared heap by walking: its objects there have no place of their own.

use super::old_virtual_words_of;
use crate::heap::private::off_heap;
use crate::heap::roots;
use crate::process::Process;
use crate::process::stack;
use heddle_term::Term;
use heddle_term::literal::is_literal;
use std::collections::HashSet;

/// Processes with a larger `max_heap_size` are measured by a major collection, as a walk takes longer. (Guessed.)
const WALKED_WORDS: usize = 1024 * 1024;

/// Calls `f` once on each boxed object reachable from the process, apart from literals.
pub fn for_each_object_of(p: &mut Process, mut f: impl FnMut(Term)) {
    walk(p, |term| {
        if !term.is_cons() {
            f(term);
        }
        true
    });
}

/// Calls `f` once on each object reachable from the process, cons cells included, until `f` returns false.
fn walk(p: &mut Process, mut f: impl FnMut(Term) -> bool) {
    let mut todo = Vec::new();
    let mut note = |slot: &mut Term| todo.push(*slot);
    stack::words(p).for_each(|(_, mut word)| note(&mut word));
    roots::for_each_young_root(p, &mut [], &mut note);
    p.messages.for_each_bare(&mut note);
    let mut seen = HashSet::new();
    while let Some(term) = todo.pop() {
        if !term.is_pointer() || is_literal(term) || !seen.insert(term.raw()) {
            continue;
        }
        if !f(term) {
            return;
        }
        if term.is_cons() {
            todo.extend([term.head(), term.tail()]);
            continue;
        }
        let header = term.header();
        todo.extend((header.raw_words()..header.arity()).map(|i| term.slot(i)));
    }
}

/// For a process that seems to have more than its `max_heap_size`: true if it really has. The estimate counts the words that the process
/// was the first to refer to (`old_words`) from one major collection to the next, even those that died meanwhile, and counts the block as a
/// whole. Called by the thread that runs the process, with its registers saved.
pub(crate) fn is_over_limit(p: &mut Process) -> bool {
    let limit = p.max_heap();
    let is_over =
        |words: usize, virtual_words: usize| words + if limit.include_shared_binaries { virtual_words } else { 0 } > limit.size_words;
    // After a major collection nothing dead is counted.
    if p.minor_count == 0 {
        return is_over(p.stack_words() + p.old_words(), old_virtual_words_of(p));
    }
    if limit.size_words > WALKED_WORDS {
        p.need_major = true;
        return false;
    }
    let (mut words, mut virtual_words) = (0, 0);
    let stack_words = p.stack_words();
    walk(p, |term| {
        if term.is_cons() {
            words += 2;
        } else {
            words += term.header().words();
            // SAFETY: a boxed object, whole: the thread runs the process, so nothing is collected.
            virtual_words += unsafe { off_heap::virtual_words(term.ptr()) };
        }
        !is_over(stack_words + words, virtual_words)
    });
    if is_over(stack_words + words, virtual_words) {
        return true;
    }
    let trailer = p.trailer();
    trailer.old.set(trailer.old.words().min(words), trailer.old.virtual_words().min(virtual_words));
    false
}
