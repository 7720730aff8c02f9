//! Collections of a private heap, without an engine.

mod running;

use heddle_runtime::CollectionKind;
use heddle_runtime::process::{Process, STACK_SLACK_WORDS};
use heddle_runtime::{gc, proctab, qsbr};
use heddle_term::Term;

/// The block's words after a major collection, and true if more than three quarters of them are used.
fn collect(p: &mut Process, live: &mut [Term]) -> (usize, bool) {
    gc::collect(p, live, 0, CollectionKind::Major);
    let block = p.heap_words();
    let used = p.used_words() + p.stack_words() + STACK_SLACK_WORDS;
    (block, used + used / 3 > block)
}

/// After two major collections in a row the block has room: otherwise the next few words would need another one.
#[test]
fn a_block_that_was_nearly_full_is_larger_after_the_next_major_collection() {
    proctab::init(1024, 1024);
    qsbr::online();
    let mut nearly_full = 0;
    for n in 20..600 {
        let shared = running::process(100);
        // SAFETY: this thread made it, and runs it alone.
        let p = unsafe { shared.local() };
        let numbers: Vec<Term> = (0..n).map(Term::small).collect();
        let mut live = [p.heap.list(&numbers)];
        let (first, is_nearly_full) = collect(p, &mut live);
        let (second, _) = collect(p, &mut live);
        if is_nearly_full {
            nearly_full += 1;
            assert!(second > first, "{n} elements, a block of {first} words, then {second}");
        }
        assert!(3 * p.used_words() > second || second <= 233, "{n} elements, a block of {second} words");
        running::end(shared);
    }
    assert!(nearly_full > 20, "{nearly_full}");
    qsbr::offline();
}

/// What was made in a block comes again: the block stays while a quarter of it is in use, and not longer.
#[test]
fn a_block_that_is_a_quarter_full_stays() {
    proctab::init(1024, 1024);
    qsbr::online();
    let shared = running::process(100);
    // SAFETY: this thread made it, and runs it alone.
    let p = unsafe { shared.local() };
    let list = |p: &mut Process, count: i64| p.heap.list(&(0..count).map(Term::small).collect::<Vec<_>>());
    let mut live = [list(p, 10_000)];
    let (full, _) = collect(p, &mut live);
    assert!(full >= 20_000, "a block of {full} words");
    live = [list(p, full as i64 * 3 / 20)];
    let (kept, _) = collect(p, &mut live);
    assert!(kept >= full, "a block of {full} words, then {kept} with {} in use", p.used_words());
    live = [list(p, full as i64 / 20)];
    let (left, _) = collect(p, &mut live);
    assert!(left < full / 2, "a block of {full} words, then {left} with {} in use", p.used_words());
    running::end(shared);
    qsbr::offline();
}
