//! What the terms that were made say of the lives of other nodes.

use heddle_term::ident::PidView;
use heddle_term::{Atom, Heap, lives};

#[test]
fn a_term_names_the_life_of_its_node() {
    let node = Atom::new("named@lives");
    let mut heap = Heap::new();
    let mut name = |creation| _ = PidView { node, creation, number: 1, serial: 0 }.to_term(&mut heap);
    assert!(!lives::is_named(node.index(), 7));
    name(7);
    assert!(lives::is_named(node.index(), 7) && !lives::is_named(node.index(), 8));
    // The latest ones of a node that has very many are remembered.
    (100..200).for_each(&mut name);
    assert!(!lives::is_named(node.index(), 7) && lives::is_named(node.index(), 199));
    heap.clear();
}
