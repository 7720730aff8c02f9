//! The message area by itself. One test: there is one area a program, and it is wanted before the first literal.

use heddle_memory::MemoryKind;
use heddle_term::area::{self, Region, Seen};
use heddle_term::copy::Keep;
use heddle_term::holding::{HoldingCopy, in_place};
use heddle_term::{Heap, Term, literal};
use std::ptr::null_mut;

fn bytes() -> usize {
    heddle_memory::sum(MemoryKind::Message)
}

fn list(heap: &mut Heap, n: i64) -> Term {
    heap.small_list((0..n).collect::<Vec<_>>().into_iter())
}

#[test]
fn regions_are_found_held_and_given_up() {
    area::want(area::MAX_BYTES);
    let mut heap = Heap::new();
    let text = heap.string("kept");
    let text = literal::make_literal(text);
    assert!(area::is_there() && !area::contains(text) && area::is_fixed(text));

    // Of many sizes, each found from each of its cells.
    let mut regions = Vec::new();
    for n in (10..2000).step_by(37) {
        let original = list(&mut heap, n);
        let (copy, region) = HoldingCopy::of(original, Keep::shared()).to_region(0).unwrap();
        regions.push((copy, region, n));
    }
    for &(copy, region, n) in &regions {
        let (mut cell, mut seen) = (copy, 0);
        while cell.is_cons() {
            assert!(area::contains(cell) && area::is_fixed(cell));
            // SAFETY: the region is held.
            unsafe { assert_eq!(Region::of(cell), region) };
            assert_eq!(cell.head(), Term::small(seen));
            (cell, seen) = (cell.tail(), seen + 1);
        }
        assert_eq!(seen, n);
    }

    // What is in the area is not copied again; a message around it holds it, and what it holds.
    let (inner, inner_region, _) = regions[0];
    assert_eq!(
        [inner, text, Term::small(1)].map(|term| in_place(term, Keep::shared())),
        [Some(inner_region), Some(null_mut()), Some(null_mut())]
    );
    assert_eq!(in_place(heap.tuple(&[inner]), Keep::shared()), None);
    let around = heap.tuple(&[inner, text, Term::small(1)]);
    let (middle, middle_region) = HoldingCopy::of(around, Keep::shared()).to_region(0).unwrap();
    let around = heap.tuple(&[middle, middle]);
    let (outer, outer_region) = HoldingCopy::of(around, Keep::shared()).to_region(0).unwrap();
    let mut reached = Seen::default();
    // SAFETY: they are held.
    unsafe {
        assert!(Region::has_literals(outer_region) && !Region::has_literals(inner_region));
        Region::for_each(outer_region, &mut reached, |_| ());
        assert_eq!(Region::words(outer_region), 3 + 2 * area::REFERENCE_WORDS);
    }
    assert_eq!(reached.len(), 3);
    // SAFETY: each is given up by this one, which holds it; the outer one still holds two of them.
    unsafe {
        Region::release(middle_region, 1);
        Region::release(inner_region, 1);
    }
    assert_eq!(outer.slot(0).slot(0).head(), Term::small(0));

    // Heaps hold what can be reached, each once for the region that was taken twice.
    let mut receiver = Heap::new();
    // SAFETY: it is held; the second hold is made for it.
    unsafe {
        Region::hold(outer_region, 1);
        receiver.hold(outer_region);
        receiver.hold(outer_region);
    }
    let mut held = Vec::new();
    // SAFETY: the list is whole.
    unsafe { area::for_each_reference(receiver.off_heap.head, |region, times| held.push((region, times))) };
    assert_eq!(held, [(outer_region, 2), (held[1].0, 1), (held[2].0, 1)]);
    assert!(held[1..].iter().all(|&(region, _)| region == inner_region || region == middle_region));

    // A message that would hold many regions is copied whole.
    let parts: Vec<Term> = regions[1..].iter().map(|&(copy, ..)| copy).collect();
    let all = heap.tuple(&parts);
    let whole = HoldingCopy::of(all, Keep::shared());
    assert_eq!(whole.words(), heddle_term::copy::flat_size(all));
    let few = heap.tuple(&parts[..3]);
    assert_eq!(HoldingCopy::of(few, Keep::shared()).words(), 4 + 3 * area::REFERENCE_WORDS);

    // Nothing is left when nothing is held.
    assert!(bytes() > 0);
    receiver.clear();
    for &(_, region, _) in &regions[1..] {
        // SAFETY: held by this one alone.
        unsafe { Region::release(region, 1) };
    }
    assert_eq!(bytes(), 0);

    places_are_used_again(&mut heap);
}

/// Regions of all sizes come and go where others were: each is found from each of its cells all the same.
fn places_are_used_again(heap: &mut Heap) {
    let mut random = 1u64;
    let mut next = |below: u64| {
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (random >> 33) % below
    };
    let longest = list(heap, 70_000);
    let mut cells = vec![longest];
    while let Some(cell) = cells.last().map(|cell| cell.tail()).filter(|cell| cell.is_cons()) {
        cells.push(cell);
    }
    let mut held: Vec<(Term, *mut Region)> = Vec::new();
    for round in 0..3000 {
        let cells_wanted = match next(20) {
            0 => next(70_000),
            1..4 => next(3000),
            _ => next(60),
        };
        let original = cells[cells.len() - 1 - cells_wanted as usize];
        held.push(HoldingCopy::of(original, Keep::shared()).to_region(0).unwrap());
        let keeps = if round % 500 < 250 { 150 } else { 20 };
        while held.len() > keeps {
            let (_, region) = held.swap_remove(next(held.len() as u64) as usize);
            // SAFETY: held by this one alone.
            unsafe { Region::release(region, 1) };
        }
        let (mut cell, region) = held[next(held.len() as u64) as usize];
        while cell.is_cons() {
            // SAFETY: the region is held.
            unsafe { assert_eq!(Region::of(cell), region, "round {round}") };
            cell = cell.tail();
        }
    }
    for (_, region) in held {
        // SAFETY: held by this one alone.
        unsafe { Region::release(region, 1) };
    }
    assert_eq!(bytes(), 0);
}

#[test]
fn what_was_seen_is_known_however_much_it_is() {
    let mut seen = Seen::default();
    // (Never looked at.)
    let region = |n: usize| std::ptr::without_provenance_mut::<Region>(n * 64);
    for n in 1..40 {
        assert!(seen.get(region(n)).is_none());
        assert!(seen.add(region(n)) && !seen.add(region(n)));
        assert_eq!((seen.len(), seen.regions().count()), (n, n));
        *seen.get(region(n)).unwrap() = std::ptr::without_provenance_mut(n);
    }
    assert!((1..40).all(|n| seen.get(region(n)).is_some_and(|what| what.addr() == n)));
}
