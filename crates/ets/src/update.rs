//! Changing elements of stored objects: `update_counter` and `update_element`.

use super::access::{self, Right, cause};
use super::object::{Change, Object};
use super::table::Table;
use heddle_natives::args;
use heddle_runtime::process::{NativeResult, Process, Thrown};
use heddle_term::order::cmp;
use heddle_term::{Header, Kind, Term, big};
use smallvec::{SmallVec, smallvec};
use std::cmp::Ordering;

heddle_runtime::natives! { TABLE:
    "ets" => {
        "update_counter"/3 => update_counter_3,
        "update_counter"/4 => update_counter_4,
        "update_element"/3 => update_element_3,
        "update_element"/4 => update_element_4,
    }
}

/// What is wrong with the call: a cause that stock names, or no particular one.
enum Fault {
    Cause(&'static str),
    Plain,
}

impl Fault {
    fn raise(self, p: &mut Process) -> Thrown {
        match self {
            Fault::Cause(name) => cause(p, name),
            Fault::Plain => p.badarg(),
        }
    }
}

/// A tuple of these elements, in memory that lives as long as the result. It is then copied into the table.
fn tuple_of(elements: &[Term]) -> Vec<u64> {
    let mut words = Vec::with_capacity(1 + elements.len());
    words.push(Header::new(Kind::Tuple, elements.len()).raw());
    words.extend(elements.iter().map(|e| e.raw()));
    words
}

fn put(table: &Table, elements: &[Term]) -> Change {
    let words = tuple_of(elements);
    Change::Put(table.object(Term::boxed(words.as_ptr())))
}

/// Elements to change: the stored ones, or the default's with the key in its place.
fn start(table: &Table, object: Option<&Object>, key: Term, default: Option<Term>) -> Result<Vec<Term>, Fault> {
    if let Some(object) = object {
        return Ok(object.elements().to_vec());
    }
    let mut elements = default.and_then(Term::as_tuple).ok_or(Fault::Plain)?.to_vec();
    *elements.get_mut(table.key_index).ok_or(Fault::Cause("position"))? = key;
    Ok(elements)
}

/// Index of an element that may be changed.
fn index(table: &Table, position: Term, elements: usize) -> Result<usize, Fault> {
    let Some(position) = position.as_small() else { return Err(Fault::Plain) };
    if position < 1 || position as usize > elements {
        return Err(Fault::Cause("position"));
    }
    if position as usize - 1 == table.key_index {
        return Err(Fault::Cause("keypos"));
    }
    Ok(position as usize - 1)
}

struct Step {
    position: Term,
    increment: Term,
    /// Limit, and the value that is set beyond it.
    limit: Option<(Term, Term)>,
}

fn step(term: Term) -> Option<Step> {
    let step = match *term.as_tuple()? {
        [position, increment] => Step { position, increment, limit: None },
        [position, increment, threshold, value] => Step { position, increment, limit: Some((threshold, value)) },
        _ => return None,
    };
    let integers = step.increment.is_integer() && step.limit.is_none_or(|(t, v)| t.is_integer() && v.is_integer());
    integers.then_some(step)
}

fn count(p: &mut Process, value: Term, step: &Step) -> Result<Term, Fault> {
    if !value.is_integer() {
        return Err(Fault::Plain);
    }
    let sum = big::add(&mut p.heap, value, step.increment).map_err(|_| Fault::Plain)?;
    let Some((threshold, reset)) = step.limit else { return Ok(sum) };
    let beyond = if cmp(step.increment, Term::small(0)) == Ordering::Less { Ordering::Less } else { Ordering::Greater };
    Ok(if cmp(sum, threshold) == beyond { reset } else { sum })
}

fn update_counter(p: &mut Process, a: &[Term], default: Option<Term>) -> NativeResult {
    let table = access::table(p, &a[0], Right::Write)?;
    if table.kind.is_bag() {
        return Err(cause(p, "table_type"));
    }
    let many = a[2].is_list();
    let steps: Option<SmallVec<[Step; 1]>> = if many {
        args::list(a[2]).and_then(|list| list.into_iter().map(step).collect())
    } else if a[2].is_integer() {
        Some(smallvec![Step { position: Term::small(table.key_index as i64 + 2), increment: a[2], limit: None }])
    } else {
        step(a[2]).map(|s| smallvec![s])
    };
    if default.is_some_and(|d| !d.is_tuple()) {
        return Err(p.badarg());
    }
    let mut results = SmallVec::new();
    let mut fault = None;
    table.update(a[1], |object| match counters(p, table, object, a[1], steps.as_deref(), default, &mut results) {
        Ok(change) => change,
        Err(f) => {
            fault = Some(f);
            Change::Nothing
        }
    });
    if let Some(fault) = fault {
        access::still_there(p, a[0], table)?;
        return Err(fault.raise(p));
    }
    Ok(if many { p.heap.list(&results) } else { results[0] })
}

fn counters(
    p: &mut Process,
    table: &Table,
    object: Option<&Object>,
    key: Term,
    steps: Option<&[Step]>,
    default: Option<Term>,
    results: &mut SmallVec<[Term; 1]>,
) -> Result<Change, Fault> {
    if object.is_none() && default.is_none() {
        return Err(Fault::Cause("badkey"));
    }
    if let (Some(object), Some([step])) = (object, steps) {
        let index = index(table, step.position, object.elements().len())?;
        let value = count(p, object.elements()[index], step)?;
        if object.set_immediate(index, value) {
            results.push(value);
            return Ok(Change::Nothing);
        }
    }
    let mut elements = start(table, object, key, default)?;
    let steps = steps.ok_or(Fault::Plain)?;
    for step in steps {
        let index = index(table, step.position, elements.len())?;
        elements[index] = count(p, elements[index], step)?;
        results.push(p.heap.copy(elements[index]));
    }
    Ok(if object.is_some() && steps.is_empty() { Change::Nothing } else { put(table, &elements) })
}

fn update_counter_3(p: &mut Process, a: &[Term]) -> NativeResult {
    update_counter(p, a, None)
}
fn update_counter_4(p: &mut Process, a: &[Term]) -> NativeResult {
    update_counter(p, a, Some(a[3]))
}

fn update_element(p: &mut Process, a: &[Term], default: Option<Term>) -> NativeResult {
    let table = access::table(p, &a[0], Right::Write)?;
    if table.kind.is_bag() || default.is_some_and(|d| !d.is_tuple()) {
        return Err(p.badarg());
    }
    let changes = if a[2].is_list() { args::list(a[2]) } else { Some(vec![a[2]]) };
    let mut fault = None;
    let mut found = true;
    table.update(a[1], |object| {
        if object.is_none() && default.is_none() {
            found = false;
            return Change::Nothing;
        }
        if let (Some(object), Some(changes)) = (object, changes.as_deref())
            && change_in_place(table, object, changes)
        {
            return Change::Nothing;
        }
        match changed(table, object, a[1], changes.as_deref(), default) {
            Ok(elements) => put(table, &elements),
            Err(f) => {
                fault = Some(f);
                Change::Nothing
            }
        }
    });
    if let Some(fault) = fault {
        return Err(fault.raise(p));
    }
    if !found {
        access::still_there(p, a[0], table)?;
    }
    Ok(Term::bool(found))
}

/// Changes elements of a stored object in place, if no change needs memory: so an update does not copy the other elements.
fn change_in_place(table: &Table, object: &Object, changes: &[Term]) -> bool {
    let elements = object.elements();
    let place = |change: &Term| {
        let &[position, value] = change.as_tuple()? else { return None };
        let index = index(table, position, elements.len()).ok()?;
        (value.is_immediate() && elements[index].is_immediate()).then_some((index, value))
    };
    let places: Option<SmallVec<[(usize, Term); 2]>> = changes.iter().map(place).collect();
    places.is_some_and(|places| places.into_iter().all(|(index, value)| object.set_immediate(index, value)))
}

fn changed(table: &Table, object: Option<&Object>, key: Term, changes: Option<&[Term]>, default: Option<Term>) -> Result<Vec<Term>, Fault> {
    let mut elements = start(table, object, key, default)?;
    for change in changes.ok_or(Fault::Plain)? {
        let Some(&[position, value]) = change.as_tuple() else { return Err(Fault::Plain) };
        let index = index(table, position, elements.len())?;
        elements[index] = value;
    }
    Ok(elements)
}

fn update_element_3(p: &mut Process, a: &[Term]) -> NativeResult {
    update_element(p, a, None)
}
fn update_element_4(p: &mut Process, a: &[Term]) -> NativeResult {
    update_element(p, a, Some(a[3]))
}
