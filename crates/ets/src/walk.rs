//! Natives that go from key to key, or by slot.

use super::access::{self, Right};
use super::object::Object;
use super::table::Store;
use heddle_natives::args;
use heddle_runtime::process::{NativeResult, Process};
use heddle_term::{Atom, Term};

heddle_runtime::natives! { TABLE:
    "ets" => {
        "first"/1 => first,
        "first_lookup"/1 => first_lookup,
        "last"/1 => last,
        "last_lookup"/1 => last_lookup,
        "next"/2 => next,
        "next_lookup"/2 => next_lookup,
        "prev"/2 => prev,
        "prev_lookup"/2 => prev_lookup,
        "slot"/2 => slot,
    }
    "erts_internal" => {
        "ets_raw_first"/1 => first,
        "ets_raw_next"/2 => next,
        "ets_super_user"/1 => super_user,
    }
}

pub fn end_of_table() -> Term {
    Atom::new("$end_of_table").into()
}

/// The neighbour of `key` (or an end of the table): its key, with its objects if wanted.
fn neighbour(p: &mut Process, a: &[Term], backward: bool, with_objects: bool) -> NativeResult {
    let table = access::table(p, &a[0], Right::Read)?;
    let mut key = a.get(1).copied();
    // This atom is no key of an ordered table, even if it would have neighbours there.
    if key == Some(end_of_table()) && matches!(table.store, Store::Tree(_)) {
        return Err(p.badarg());
    }
    // Only the key that was asked for must be there.
    let mut asked = true;
    loop {
        let mut present = true;
        let copy = |object: &Object| p.heap.copy(object.key);
        let found = match &table.store {
            Store::Hash(s) => s.next(key, &mut present, copy),
            Store::Tree(s) => s.next(key, backward, copy),
        };
        if asked && !present {
            return Err(p.badarg());
        }
        let Some(found) = found else {
            access::still_there(p, a[0], table)?;
            return Ok(end_of_table());
        };
        if !with_objects {
            return Ok(found);
        }
        let objects = table.lookup(&mut p.heap, found);
        if !objects.is_nil() {
            return Ok(p.heap.tuple(&[found, objects]));
        }
        // The key was deleted between the two steps: go on to the key after it.
        (key, asked) = (Some(found), false);
    }
}

fn first(p: &mut Process, a: &[Term]) -> NativeResult {
    neighbour(p, &a[..1], false, false)
}
fn first_lookup(p: &mut Process, a: &[Term]) -> NativeResult {
    neighbour(p, &a[..1], false, true)
}
fn last(p: &mut Process, a: &[Term]) -> NativeResult {
    neighbour(p, &a[..1], true, false)
}
fn last_lookup(p: &mut Process, a: &[Term]) -> NativeResult {
    neighbour(p, &a[..1], true, true)
}
fn next(p: &mut Process, a: &[Term]) -> NativeResult {
    neighbour(p, a, false, false)
}
fn next_lookup(p: &mut Process, a: &[Term]) -> NativeResult {
    neighbour(p, a, false, true)
}
fn prev(p: &mut Process, a: &[Term]) -> NativeResult {
    neighbour(p, a, true, false)
}
fn prev_lookup(p: &mut Process, a: &[Term]) -> NativeResult {
    neighbour(p, a, true, true)
}

fn slot(p: &mut Process, a: &[Term]) -> NativeResult {
    let table = access::table(p, &a[0], Right::Read)?;
    let Some(index) = args::count(a[1]) else { return Err(p.badarg()) };
    match &table.store {
        Store::Tree(s) => match s.nth(index, |o| p.heap.copy(o.tuple())) {
            Some(object) => Ok(p.heap.list(&[object])),
            None if index == s.size() => Ok(end_of_table()),
            None => Err(p.badarg()),
        },
        Store::Hash(s) => {
            let mut list = Term::NIL;
            let found = s.bucket(index, |object| {
                let copy = p.heap.copy(object.tuple());
                list = p.heap.cons(copy, list);
            });
            match found {
                Ok(()) => Ok(list),
                Err(total) if total == index => Ok(end_of_table()),
                Err(_) => Err(p.badarg()),
            }
        }
    }
}

fn super_user(p: &mut Process, a: &[Term]) -> NativeResult {
    match args::boolean(a[0]) {
        Some(true) => p.flags |= access::FLAG_SUPER_USER,
        Some(false) => p.flags &= !access::FLAG_SUPER_USER,
        None => return Err(p.badarg()),
    }
    Ok(heddle_term::am::OK.into())
}
