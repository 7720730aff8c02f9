//! Natives that insert, look up and delete objects.

use super::access::{self, Right, cause, still_there};
use super::object::Owned;
use super::table::Table;
use heddle_natives::args;
use heddle_natives::long;
use heddle_runtime::process::{NativeResult, Process, Thrown};
use heddle_term::list::ListIter;
use heddle_term::{Term, am};

heddle_runtime::natives! { TABLE:
    "ets" => {
        "insert"/2 => insert,
        "insert_new"/2 => insert_new,
        "lookup"/2 => lookup,
        "lookup_element"/3 => lookup_element_3,
        "lookup_element"/4 => lookup_element_4,
        "member"/2 => member,
        "take"/2 => take,
        "delete"/2 => delete,
        "delete_object"/2 => delete_object,
    }
    "erts_internal" => {
        "ets_lookup_binary_info"/2 => lookup_binary_info,
    }
}

/// Work on putting an object into a table, measured in bytes (copying, hashing, and an allocation).
const OBJECT_WORK: usize = 64;

/// Copies of all tuples of a list, made before anything is locked. A native with a long list moves to a dirty scheduler. `badarg` if an
/// element is no object for the table.
fn objects(p: &mut Process, table: &Table, list: Term) -> Result<Vec<Owned>, Thrown> {
    let mut iter = ListIter::new(list);
    let mut count = 0;
    for tuple in iter.by_ref() {
        if table.key_of(tuple).is_none() {
            return Err(p.badarg());
        }
        count += 1;
    }
    if !iter.rest.is_nil() {
        return Err(p.badarg());
    }
    long::work(p, count * OBJECT_WORK)?;
    p.bump(count);
    Ok(ListIter::new(list).map(|tuple| table.object(tuple)).collect())
}

/// A process that sees the new object may delete the table before this returns: the insert has succeeded all the same.
fn insert(p: &mut Process, a: &[Term]) -> NativeResult {
    let table = access::table(p, &a[0], Right::Write)?;
    if table.key_of(a[1]).is_some() {
        table.insert(table.object(a[1]));
    } else if a[1].is_list() {
        insert_list(p, a, table, false)?;
    } else {
        return Err(p.badarg());
    }
    Ok(Term::bool(true))
}

/// Inserts all objects of a list. False if only new keys are wanted and one exists.
fn insert_list(p: &mut Process, a: &[Term], table: &Table, only_new: bool) -> Result<bool, Thrown> {
    let objects = objects(p, table, a[1])?;
    table.insert_all(objects, only_new).ok_or_else(|| access::missing(p, a[0]))
}

fn insert_new(p: &mut Process, a: &[Term]) -> NativeResult {
    let table = access::table(p, &a[0], Right::Write)?;
    let done = if table.key_of(a[1]).is_some() {
        !table.contains(a[1].slot(table.key_index))
            && table.insert_all(vec![table.object(a[1])], true).ok_or_else(|| access::missing(p, a[0]))?
    } else if a[1].is_list() {
        insert_list(p, a, table, true)?
    } else {
        return Err(p.badarg());
    };
    Ok(Term::bool(done))
}

fn lookup(p: &mut Process, a: &[Term]) -> NativeResult {
    let table = access::table(p, &a[0], Right::Read)?;
    let list = table.lookup(&mut p.heap, a[1]);
    if list.is_nil() {
        still_there(p, a[0], table)?;
    }
    Ok(list)
}

fn element(p: &mut Process, a: &[Term], default: Option<Term>) -> NativeResult {
    let table = access::table(p, &a[0], Right::Read)?;
    let Some(index) = args::count(a[2]).and_then(|n| n.checked_sub(1)) else { return Err(p.badarg()) };
    let mut list = Term::NIL;
    let mut last = None;
    let mut out_of_range = false;
    table.with_key(a[1], |object| match object.elements().get(index) {
        None => out_of_range = true,
        Some(&value) => {
            let value = p.heap.copy(value);
            if table.kind.is_bag() {
                list = p.heap.cons(value, list);
            }
            last = Some(value);
        }
    });
    match last {
        _ if out_of_range => Err(p.badarg()),
        Some(value) => Ok(if table.kind.is_bag() { list } else { value }),
        None => {
            still_there(p, a[0], table)?;
            default.ok_or_else(|| cause(p, "badkey"))
        }
    }
}

fn lookup_element_3(p: &mut Process, a: &[Term]) -> NativeResult {
    element(p, a, None)
}

fn lookup_element_4(p: &mut Process, a: &[Term]) -> NativeResult {
    element(p, a, Some(a[3]))
}

fn member(p: &mut Process, a: &[Term]) -> NativeResult {
    let table = access::table(p, &a[0], Right::Read)?;
    let there = table.contains(a[1]);
    if !there {
        still_there(p, a[0], table)?;
    }
    Ok(Term::bool(there))
}

fn take(p: &mut Process, a: &[Term]) -> NativeResult {
    let table = access::table(p, &a[0], Right::Write)?;
    let mut list = Term::NIL;
    table.remove(a[1], |object| {
        let copy = p.heap.copy(object.tuple());
        list = p.heap.cons(copy, list);
        true
    });
    Ok(list)
}

fn delete(p: &mut Process, a: &[Term]) -> NativeResult {
    let table = access::table(p, &a[0], Right::Write)?;
    table.remove(a[1], |_| true);
    Ok(Term::bool(true))
}

fn delete_object(p: &mut Process, a: &[Term]) -> NativeResult {
    let table = access::table(p, &a[0], Right::Write)?;
    if !a[1].is_tuple() {
        return Err(p.badarg());
    }
    if let Some(key) = table.key_of(a[1]) {
        table.remove_object(key, a[1]);
    }
    Ok(Term::bool(true))
}

/// Binaries that the objects of a key refer to.
fn lookup_binary_info(p: &mut Process, a: &[Term]) -> NativeResult {
    let table = access::table(p, &a[0], Right::Read)?;
    if !table.contains(a[1]) {
        return Ok(am::UNDEFINED.into());
    }
    Ok(super::info::binaries(p, |f| table.with_key(a[1], f)))
}
