//! Before the first literal is made no address is a literal's or a region's, not even a low one. A program of its own: other tests make literals.

use heddle_term::copy::Keep;
use heddle_term::{Heap, Term, area, literal};

#[test]
fn no_address_is_within_a_range_that_is_not_there() {
    for address in [8_u64, 1 << 20, 1 << 33, (16 << 30) - 16, 0x7fff_ffff_fff0] {
        // Only the address is looked at.
        let term = Term::boxed(address as *const u64);
        assert!(!literal::is_literal(term), "{address:#x}");
        assert!(!area::contains(term) && !area::is_fixed(term), "{address:#x}");
        assert!(!Keep::live().keeps_all_of(term) && !Keep::shared().keeps_all_of(term), "{address:#x}");
    }
    let mut heap = Heap::new();
    let text = heap.string("a");
    let (kept, _) = literal::keep(text);
    assert!(literal::is_literal(kept) && !literal::is_literal(text));
    heap.clear();
}
