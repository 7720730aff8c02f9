//! Numbers that are kept for names. It is a process of its own, since the numbers follow those of the predefined names.

use heddle_term::order::cmp_map_keys;
use heddle_term::{Atom, Term, am, atom};
use std::cmp::Ordering;

#[test]
fn a_reserved_atom_is_not_there_until_it_is_made() {
    let first = am::names().count();
    assert!(!atom::reserve(first + 1, &["reserved a"]));
    assert!(!atom::reserve(first, &["ok"]));
    assert!(atom::reserve(first, &["reserved a", "reserved b", "reserved c"]));
    assert_eq!((atom::count(), Atom::existing("reserved b")), (first, None));

    let other = Atom::new("no reserved name");
    let [b, a] = ["reserved b", "reserved a"].map(Atom::new);
    assert_eq!([a, b, other].map(Atom::index), [0, 1, 3].map(|n| n + first as u32));
    // In the order in which they were made.
    assert_eq!([other, b, a].map(Atom::rank), [0, 1, 2].map(|n| n + first as u32));
    assert_eq!(cmp_map_keys(Term::atom(a), Term::atom(b)), Ordering::Greater);
    assert_eq!(cmp_map_keys(Term::atom(other), Term::atom(b)), Ordering::Less);
    assert_eq!(cmp_map_keys(Term::atom(am::OK), Term::atom(other)), Ordering::Less);
    assert_eq!((atom::count(), Atom::existing("reserved b"), Atom::existing("reserved c")), (first + 3, Some(b), None));
    assert_eq!((Atom::of_rank(first as u32 + 1), Atom::of_rank(first as u32 + 3), Atom::of_rank(u32::MAX)), (Some(b), None, None));

    // What is reserved does not count for the limit.
    atom::set_limit(atom::count() + 1);
    assert_eq!(Atom::try_new("reserved c").map(Atom::rank), Ok(first as u32 + 3));
    assert_eq!(Atom::try_new("one more"), Err(atom::AtomError::TableFull));
}
