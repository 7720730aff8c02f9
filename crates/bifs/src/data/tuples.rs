//! Tuples.

use heddle_natives::long;
use heddle_runtime::process::{NativeResult, Process};
use heddle_term::{Term, list};

heddle_runtime::natives! { TABLE:
    "erlang" => {
        "element"/2 => element,
        "setelement"/3 => setelement,
        "tuple_size"/1 => tuple_size,
        "list_to_tuple"/1 => list_to_tuple,
        "tuple_to_list"/1 => tuple_to_list,
        "make_tuple"/2 => make_tuple,
        "make_tuple"/3 => make_tuple_3,
        "append_element"/2 => append_element,
        "insert_element"/3 => insert_element,
        "delete_element"/2 => delete_element,
    }
}

/// Largest tuple (from ERTS).
const MAX_SIZE: usize = 16_777_215;

/// A position of 1 to `last` as an index.
fn index(term: Term, last: usize) -> Option<usize> {
    let n = usize::try_from(term.as_small()?).ok()?;
    (1..=last).contains(&n).then(|| n - 1)
}

fn element(p: &mut Process, a: &[Term]) -> NativeResult {
    match a[1].as_tuple().and_then(|t| Some(t[index(a[0], t.len())?])) {
        Some(value) => Ok(value),
        None => Err(p.badarg()),
    }
}

fn setelement(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(elements) = a[1].as_tuple() else { return Err(p.badarg()) };
    let Some(at) = index(a[0], elements.len()) else { return Err(p.badarg()) };
    long::work(p, elements.len() * 8)?;
    let copy = p.heap.tuple(elements);
    // SAFETY: `at` is the position of an element in the fresh copy.
    unsafe { *copy.ptr().add(1 + at) = a[2].raw() };
    Ok(copy)
}

fn tuple_size(p: &mut Process, a: &[Term]) -> NativeResult {
    match a[0].as_tuple() {
        Some(elements) => Ok(Term::small(elements.len() as i64)),
        None => Err(p.badarg()),
    }
}

fn list_to_tuple(p: &mut Process, a: &[Term]) -> NativeResult {
    match list::length(a[0]) {
        Some(count) if count <= MAX_SIZE => {
            long::work(p, count * 8)?;
            Ok(list::to_tuple(&mut p.heap, a[0], count))
        }
        _ => Err(p.badarg()),
    }
}

fn tuple_to_list(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(elements) = a[0].as_tuple() else { return Err(p.badarg()) };
    long::work(p, elements.len() * 8)?;
    Ok(p.heap.list(elements))
}

fn size(term: Term) -> Option<usize> {
    term.as_small().and_then(|n| usize::try_from(n).ok()).filter(|&n| n <= MAX_SIZE)
}

fn make_tuple(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(size) = size(a[0]) else { return Err(p.badarg()) };
    long::work(p, size * 8)?;
    Ok(p.heap.tuple(&vec![a[1]; size]))
}

fn make_tuple_3(p: &mut Process, a: &[Term]) -> NativeResult {
    let (Some(size), Some(settings)) = (size(a[0]), list::to_vec(a[2])) else { return Err(p.badarg()) };
    let mut elements = vec![a[1]; size];
    for setting in settings {
        let Some(&[position, value]) = setting.as_tuple() else { return Err(p.badarg()) };
        let Some(at) = index(position, size) else { return Err(p.badarg()) };
        elements[at] = value;
    }
    long::work(p, size * 8)?;
    Ok(p.heap.tuple(&elements))
}

fn inserted(p: &mut Process, elements: &[Term], at: usize, value: Term) -> NativeResult {
    if elements.len() == MAX_SIZE {
        return Err(p.badarg());
    }
    let mut copy = Vec::with_capacity(elements.len() + 1);
    copy.extend_from_slice(&elements[..at]);
    copy.push(value);
    copy.extend_from_slice(&elements[at..]);
    long::work(p, copy.len() * 8)?;
    Ok(p.heap.tuple(&copy))
}

fn append_element(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(elements) = a[0].as_tuple() else { return Err(p.badarg()) };
    inserted(p, elements, elements.len(), a[1])
}

fn insert_element(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(elements) = a[1].as_tuple() else { return Err(p.badarg()) };
    let Some(at) = index(a[0], elements.len() + 1) else { return Err(p.badarg()) };
    inserted(p, elements, at, a[2])
}

fn delete_element(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(elements) = a[1].as_tuple() else { return Err(p.badarg()) };
    let Some(at) = index(a[0], elements.len()) else { return Err(p.badarg()) };
    let mut copy = elements.to_vec();
    copy.remove(at);
    Ok(p.heap.tuple(&copy))
}
