//! Lists: `++`, `--`, and the natives of module `lists`.

use heddle_natives::long;
use heddle_runtime::process::{NativeResult, Process, Thrown};
use heddle_term::hash::internal_hash;
use heddle_term::{Kind, Term, am, list, order};
use smallvec::SmallVec;
use std::collections::HashMap;

heddle_runtime::natives! { TABLE:
    "erlang" => {
        "++"/2 => append,
        "append"/2 => append,
        "--"/2 => subtract,
        "subtract"/2 => subtract,
        "hd"/1 => hd,
        "tl"/1 => tl,
        "length"/1 => length,
    }
    "lists" => {
        "reverse"/2 => reverse,
        "member"/2 => member,
        "keyfind"/3 => keyfind,
        "keymember"/3 => keymember,
        "keysearch"/3 => keysearch,
    }
}

/// Cells a native handles in one reduction (guessed: some nanoseconds a cell).
const CELLS_PER_REDUCTION: usize = 16;
/// Work on a cell, as a number of bytes.
const CELL_WORK: usize = 16;
/// Cells after which a native yields.
const SLICE_CELLS: usize = 32_000;

fn append(p: &mut Process, a: &[Term]) -> NativeResult {
    if a[0].is_nil() {
        return Ok(a[1]);
    }
    let Some(count) = list::length(a[0]) else { return Err(p.badarg()) };
    if a[1].is_nil() {
        p.bump(count / CELLS_PER_REDUCTION);
        return Ok(a[0]);
    }
    long::work(p, count * CELL_WORK)?;
    Ok(list::copy_before(&mut p.heap, a[0], count, a[1]))
}

/// Below this length of one of the lists a search of it is quicker than a table.
const SHORT: usize = 12;

fn subtract(p: &mut Process, a: &[Term]) -> NativeResult {
    let (Some(from), Some(what)) = (list::length(a[0]), list::length(a[1])) else { return Err(p.badarg()) };
    p.bump((from + what) / CELLS_PER_REDUCTION);
    if from == 0 || what == 0 {
        return Ok(a[0]);
    }
    if from <= SHORT {
        return subtract_from_short(p, a[0], a[1]);
    }
    if what <= SHORT {
        return subtract_short(p, a[0], a[1]);
    }
    long::work(p, (from + what) * 4 * CELL_WORK)?;
    let (from, what) = (list::to_vec(a[0]).unwrap_or_default(), list::to_vec(a[1]).unwrap_or_default());
    let kept = subtract_long(&from, &what);
    Ok(p.heap.list(&kept))
}

/// `--` with a short first list: goes through the second list until nothing is left of the first.
fn subtract_from_short(p: &mut Process, from: Term, what: Term) -> NativeResult {
    let mut left: SmallVec<[Term; SHORT]> = cells(from).collect();
    let mut looked_at = 0;
    for w in cells(what) {
        looked_at += 1;
        if let Some(at) = left.iter().position(|&x| order::exact_eq(x, w)) {
            left.remove(at);
            if left.is_empty() {
                break;
            }
        }
        here(p, looked_at)?;
    }
    p.bump(looked_at / CELLS_PER_REDUCTION);
    Ok(p.heap.list(&left))
}

/// `--` with a short second list: goes through the first list until all of the second was found. The rest stays as it is.
fn subtract_short(p: &mut Process, from: Term, what: Term) -> NativeResult {
    let mut what: SmallVec<[Term; SHORT]> = cells(what).collect();
    let mut kept = Vec::new();
    let mut rest = from;
    while rest.is_cons() && !what.is_empty() {
        let x = rest.head();
        match what.iter().position(|&w| order::exact_eq(w, x)) {
            Some(at) => {
                what.swap_remove(at);
            }
            None => kept.push(x),
        }
        rest = rest.tail();
        here(p, kept.len())?;
    }
    p.bump(kept.len() / CELLS_PER_REDUCTION);
    Ok(p.heap.list_with_tail(&kept, rest))
}

/// The elements of a proper list.
fn cells(list: Term) -> impl Iterator<Item = Term> {
    std::iter::successors(Some(list).filter(|l| l.is_cons()), |l| Some(l.tail()).filter(|l| l.is_cons())).map(Term::head)
}

/// Once a call has looked at `SLICE_CELLS` cells, its work counts as long and begins again on a dirty scheduler.
fn here(p: &mut Process, cells: usize) -> Result<(), Thrown> {
    if cells == SLICE_CELLS { long::work(p, cells * 4 * CELL_WORK) } else { Ok(()) }
}

fn subtract_long(from: &[Term], what: &[Term]) -> Vec<Term> {
    let mut table: HashMap<u64, Vec<(Term, usize)>, foldhash::fast::FixedState> = HashMap::default();
    for &w in what {
        let bucket = table.entry(internal_hash(w)).or_default();
        match bucket.iter_mut().find(|(t, _)| order::exact_eq(*t, w)) {
            Some((_, count)) => *count += 1,
            None => bucket.push((w, 1)),
        }
    }
    let mut keep = |&x: &Term| {
        let found = table.get_mut(&internal_hash(x)).and_then(|b| b.iter_mut().find(|(t, n)| *n > 0 && order::exact_eq(*t, x)));
        match found {
            Some((_, count)) => {
                *count -= 1;
                false
            }
            None => true,
        }
    };
    from.iter().copied().filter(|x| keep(x)).collect()
}

fn hd(p: &mut Process, a: &[Term]) -> NativeResult {
    if a[0].is_cons() { Ok(a[0].head()) } else { Err(p.badarg()) }
}

fn tl(p: &mut Process, a: &[Term]) -> NativeResult {
    if a[0].is_cons() { Ok(a[0].tail()) } else { Err(p.badarg()) }
}

fn length(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(count) = list::length(a[0]) else { return Err(p.badarg()) };
    p.bump(count / CELLS_PER_REDUCTION);
    Ok(Term::small(count as i64))
}

/// Marks the argument with which `reverse` is called again after a yield.
const PROPER: Term = Term::catch_marker(0);

fn reverse(p: &mut Process, a: &[Term]) -> NativeResult {
    // A call after a yield gets the rest of the list with `PROPER`, a term that no program has, as its first element: the list is
    // known to be proper. The first call looks for the end of the list before it yields, as an error has to show the arguments that the
    // program gave.
    let (mut rest, is_proper) = if a[0].is_cons() && a[0].head() == PROPER { (a[0].tail(), true) } else { (a[0], false) };
    let mut out = a[1];
    let mut count = 0;
    while rest.is_cons() {
        out = p.heap.cons(rest.head(), out);
        rest = rest.tail();
        count += 1;
        if count == SLICE_CELLS && (is_proper || list::length(rest).is_some()) {
            p.bump(count / CELLS_PER_REDUCTION);
            let rest = p.heap.cons(PROPER, rest);
            return Err(p.again(&[rest, out]));
        }
    }
    debug_assert!(rest.is_nil() || !is_proper);
    if !rest.is_nil() {
        return Err(p.badarg());
    }
    p.bump(count / CELLS_PER_REDUCTION);
    Ok(out)
}

fn member(p: &mut Process, a: &[Term]) -> NativeResult {
    let (key, mut rest) = (a[0], a[1]);
    let mut count = 0;
    while rest.is_cons() {
        let head = rest.head();
        if head == key || (key.is_pointer() && order::exact_eq(head, key)) {
            p.bump(count / CELLS_PER_REDUCTION);
            return Ok(Term::bool(true));
        }
        rest = rest.tail();
        count += 1;
        if count == SLICE_CELLS {
            p.bump(count / CELLS_PER_REDUCTION);
            return Err(p.again(&[key, rest]));
        }
    }
    p.bump(count / CELLS_PER_REDUCTION);
    if rest.is_nil() { Ok(Term::bool(false)) } else { Err(p.badarg()) }
}

/// The first tuple of the list whose element at the position equals (`==`) the key.
fn key_search(p: &mut Process, a: &[Term], done: fn(&mut Process, Option<Term>) -> Term) -> NativeResult {
    let Some(position) = a[1].as_small().and_then(|n| usize::try_from(n).ok()).filter(|&n| n > 0) else { return Err(p.badarg()) };
    let (key, mut rest) = (a[0], a[2]);
    // An atom or another immediate term that is no number equals itself alone.
    let is_name = key.is_immediate() && !key.is_small();
    let mut count = 0;
    while rest.is_cons() {
        let tuple = rest.head();
        if tuple.is_boxed() {
            let header = tuple.header();
            if header.kind() == Kind::Tuple && position <= header.arity() {
                let element = tuple.slot(position - 1);
                if element == key || !is_name && order::eq(element, key) {
                    p.bump(count / CELLS_PER_REDUCTION);
                    return Ok(done(p, Some(tuple)));
                }
            }
        }
        rest = rest.tail();
        count += 1;
        if count == SLICE_CELLS {
            p.bump(count / CELLS_PER_REDUCTION);
            return Err(p.again(&[key, a[1], rest]));
        }
    }
    p.bump(count / CELLS_PER_REDUCTION);
    if rest.is_nil() { Ok(done(p, None)) } else { Err(p.badarg()) }
}

fn keyfind(p: &mut Process, a: &[Term]) -> NativeResult {
    key_search(p, a, |_, found| found.unwrap_or(Term::bool(false)))
}

fn keymember(p: &mut Process, a: &[Term]) -> NativeResult {
    key_search(p, a, |_, found| Term::bool(found.is_some()))
}

fn keysearch(p: &mut Process, a: &[Term]) -> NativeResult {
    key_search(p, a, |p, found| match found {
        Some(tuple) => p.heap.tuple(&[heddle_term::Atom::new("value").into(), tuple]),
        None => am::FALSE.into(),
    })
}
