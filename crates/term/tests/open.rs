//! Open regions by themselves: how large they are, and when they end. One test: there is one area a program, and it is wanted before
//! the first literal.

use heddle_term::area::{self, REFERENCE_WORDS, Region, Seen};
use heddle_term::heap::OffHeap;
use heddle_term::open::Open;
use heddle_term::{Heap, Term, literal};
use std::ptr::null_mut;

#[test]
fn regions_are_as_large_as_messages_were() {
    area::want(area::MIN_BYTES);
    let _ = literal::make_literal(Heap::new().tuple(&[Term::NIL]));
    let (mut open, mut list) = (Open::NONE, OffHeap::new());
    // Nothing is known; then a first message was sent. There is room for small ones besides.
    assert!(open.begin(3, &mut list).is_null());
    open.copied(500, 600);
    let at = open.begin(2, &mut list);
    assert!(!at.is_null() && open.free_words() == 498 + 64 && open.fresh_words() == REFERENCE_WORDS);
    let cell = Term::cons(at);
    assert!(open.takes(cell) && open.takes(Term::NIL) && area::contains(cell));
    assert!(!open.takes(Term::cons(at.wrapping_add(564))));
    // SAFETY: the region is held by its reference.
    let region = unsafe { Region::of(cell) };
    // Sent; another like it has no room, so the next has a region of its own. It may be smaller.
    assert!(!open.room(298).is_null() && open.is_in(region) && !open.is_in(null_mut()));
    assert_eq!((open.sends(), open.is_in(region)), (300, false));
    assert!(open.room(1).is_null() && !open.takes(cell));
    assert!(!open.begin(300, &mut list).is_null() && open.free_words() == 75 + 64);
    // Of a small one a copy is sent.
    assert!(!open.room(10).is_null());
    open.sends_copy();
    assert!(open.unsent_words() == 0 && open.built().is_empty());
    // It outgrows that: the rest was copied.
    let at = open.begin(2, &mut list);
    assert!(!at.is_null() && open.room(500).is_null());
    open.copied(500, 498);
    assert!(!open.begin(4, &mut list).is_null() && open.free_words() == 496 + 64);
    // What is not sent, though all room is used, was judged wrongly.
    assert!(!open.room(560).is_null() && open.begin(2, &mut list).is_null() && open.begin(2, &mut list).is_null());
    // Small ones share a region until it is full, or unknown to a collection.
    // 36 words, and the two tuples for which there was no region.
    open.copied(40, 36 + 2 + 2);
    let first = open.begin(40, &mut list);
    // SAFETY: as above.
    let region = unsafe { Region::of(Term::cons(first)) };
    assert!(open.is_in(region) && open.sends() == 40);
    assert_eq!(open.room(40), first.wrapping_add(40));
    let mut seen = Seen::default();
    seen.add(region);
    assert_eq!(open.collected(&mut seen), 0);
    assert!(open.fresh_words() == 0 && !open.room(1).is_null());
    assert_eq!(open.collected(&mut Seen::default()), 41);
    assert!(open.room(1).is_null() && open.built().is_empty());
    list.release_all();
    assert_eq!(heddle_memory::sum(heddle_memory::MemoryKind::Message), 0);
}
