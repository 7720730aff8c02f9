//! What another computer may make in the tables of this one.

use heddle_term::etf::{self, AtomBudget, BudgetError, DecodeError, DecodeOptions};
use heddle_term::{Atom, Heap, atom};
use std::sync::Mutex;

/// One test at a time: the limit of the atom table is for all.
static ALONE: Mutex<()> = Mutex::new(());

fn decode(bytes: &[u8], budget: &AtomBudget) -> Result<(), DecodeError> {
    let mut heap = Heap::new();
    let done = etf::decode_body(&mut heap, bytes, &DecodeOptions { atom_budget: Some(budget), ..DecodeOptions::default() });
    heap.clear();
    done.map(|_| ())
}

/// `fun lists:Name/Arity`
fn export(name: &str, arity: u8) -> Vec<u8> {
    [&[113, 119, 5][..], b"lists", &[119, name.len() as u8], name.as_bytes(), &[97, arity]].concat()
}

fn fun(index: u8) -> Vec<u8> {
    let mut bytes = vec![112, 0, 0, 0, 0, 1];
    bytes.extend_from_slice(&[7; 16]);
    bytes.extend_from_slice(&[0, 0, 0, index, 0, 0, 0, 0, 119, 5]);
    bytes.extend_from_slice(b"lists");
    bytes.extend_from_slice(&[97, 0, 97, 0, 88, 119, 1, b'x', 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1]);
    bytes
}

#[test]
fn functions_that_were_never_named_are_paid_for_once() {
    let _alone = ALONE.lock();
    let budget = AtomBudget::with_functions(100, 3);
    for _ in 0..3 {
        assert_eq!(decode(&export("seq", 2), &budget), Ok(()));
        assert_eq!(decode(&fun(1), &budget), Ok(()));
    }
    assert_eq!(decode(&fun(2), &budget), Ok(()));
    assert_eq!(decode(&fun(3), &budget), Err(DecodeError::FunctionBudget));
    assert_eq!(decode(&export("seq", 3), &budget), Err(DecodeError::FunctionBudget));
    assert_eq!(decode(&export("seq", 2), &budget), Ok(()));
}

#[test]
fn an_eighth_of_the_atom_table_is_left_for_the_node_itself() {
    let _alone = ALONE.lock();
    let budget = AtomBudget::new(usize::MAX);
    // The first atom comes with those that every node has.
    Atom::new("first");
    let limit = atom::limit();
    atom::set_limit((atom::count() + 1000) * 8 / 7);
    let made = (0..).map(|n| budget.atom(&format!("of_a_peer_{n}"))).take_while(Result::is_ok).count();
    assert!((900..=1001).contains(&made), "{made} atoms");
    assert_eq!(budget.atom("one_more_of_a_peer"), Err(BudgetError::TableFull));
    assert!(budget.atom("of_a_peer_0").is_ok());
    for n in 0..100 {
        assert!(Atom::try_new(&format!("of_this_node_{n}")).is_ok());
    }
    atom::set_limit(limit);
}
