//! The first use of the atom table, beside a second thread. It is a process of its own, since a process fills its table once.

use heddle_term::{Atom, atom};

#[test]
fn a_thread_that_comes_while_the_table_is_filled_waits_for_it() {
    let names: Vec<&str> = include_str!("../src/predefined_atoms.txt").lines().collect();
    let last = names.len() - 1;
    std::thread::scope(|scope| {
        scope.spawn(|| assert_eq!(Atom::from_index(0).name(), names[0]));
        while atom::count() == 0 {
            std::hint::spin_loop();
        }
        assert_eq!(Atom::from_index(last as u32).name(), names[last]);
    });
    assert_eq!(Atom::existing(names[0]), Some(Atom::from_index(0)));
}
