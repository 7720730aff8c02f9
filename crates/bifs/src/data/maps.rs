//! Maps.

use heddle_natives::long;
use heddle_runtime::process::{NativeResult, Process, Thrown};
use heddle_term::{Atom, Kind, Term, am, list, map};
use smallvec::SmallVec;

heddle_runtime::natives! { TABLE:
    "erlang" => {
        "map_size"/1 => map_size,
        "map_get"/2 => get,
        "is_map_key"/2 => is_key,
    }
    "maps" => {
        "find"/2 => find,
        "from_keys"/2 => from_keys,
        "from_list"/1 => from_list,
        "get"/2 => get,
        "is_key"/2 => is_key,
        "keys"/1 => keys,
        "merge"/2 => merge,
        "put"/3 => put,
        "remove"/2 => remove,
        "take"/2 => take,
        "update"/3 => update,
        "values"/1 => values,
    }
    "erts_debug" => { "map_info"/1 => map_info }
    "erts_internal" => {
        "map_next"/3 => map_next,
        "map_to_tuple_keys"/1 => map_to_tuple_keys,
        "map_hashmap_children"/1 => map_hashmap_children,
    }
}

const PAIRS_PER_REDUCTION: usize = 8;
/// Work on putting a pair into a map, as a number of bytes (hashing, and some allocations).
const PAIR_WORK: usize = 64;

fn check(p: &mut Process, term: Term) -> Result<(), Thrown> {
    if term.is_map() { Ok(()) } else { Err(p.error_tuple(am::BADMAP, term)) }
}

fn map_size(p: &mut Process, a: &[Term]) -> NativeResult {
    check(p, a[0])?;
    Ok(Term::small(map::size(a[0]) as i64))
}

fn get(p: &mut Process, a: &[Term]) -> NativeResult {
    check(p, a[1])?;
    match map::get(a[1], a[0]) {
        Some(value) => Ok(value),
        None => Err(p.error_tuple(am::BADKEY, a[0])),
    }
}

fn is_key(p: &mut Process, a: &[Term]) -> NativeResult {
    check(p, a[1])?;
    Ok(Term::bool(map::contains(a[1], a[0])))
}

fn find(p: &mut Process, a: &[Term]) -> NativeResult {
    check(p, a[1])?;
    Ok(match map::get(a[1], a[0]) {
        Some(value) => p.heap.tuple(&[am::OK.into(), value]),
        None => am::ERROR.into(),
    })
}

fn from_keys(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(keys) = list::to_vec(a[0]) else { return Err(p.badarg()) };
    let pairs: Vec<(Term, Term)> = keys.into_iter().map(|key| (key, a[1])).collect();
    long::work(p, pairs.len() * PAIR_WORK)?;
    Ok(map::from_pairs(&mut p.heap, &pairs))
}

fn from_list(p: &mut Process, a: &[Term]) -> NativeResult {
    let mut pairs: SmallVec<[(Term, Term); 16]> = SmallVec::new();
    let mut rest = a[0];
    while rest.is_cons() {
        let Some(&[key, value]) = rest.head().as_tuple() else { return Err(p.badarg()) };
        pairs.push((key, value));
        rest = rest.tail();
    }
    if !rest.is_nil() {
        return Err(p.badarg());
    }
    long::work(p, pairs.len() * PAIR_WORK)?;
    Ok(map::from_pairs(&mut p.heap, &pairs))
}

fn keys(p: &mut Process, a: &[Term]) -> NativeResult {
    check(p, a[0])?;
    long::work(p, map::size(a[0]) * 16)?;
    Ok(map::keys(&mut p.heap, a[0]))
}

fn values(p: &mut Process, a: &[Term]) -> NativeResult {
    check(p, a[0])?;
    long::work(p, map::size(a[0]) * 16)?;
    Ok(map::values(&mut p.heap, a[0]))
}

fn merge(p: &mut Process, a: &[Term]) -> NativeResult {
    check(p, a[0])?;
    check(p, a[1])?;
    // Pairs that only one map has are shared with it, with the part of the map around them.
    long::work(p, 2 * map::size(a[0]).min(map::size(a[1])) * PAIR_WORK)?;
    Ok(map::merge(&mut p.heap, a[0], a[1]))
}

fn put(p: &mut Process, a: &[Term]) -> NativeResult {
    check(p, a[2])?;
    Ok(map::put(&mut p.heap, a[2], a[0], a[1]))
}

fn remove(p: &mut Process, a: &[Term]) -> NativeResult {
    check(p, a[1])?;
    Ok(map::remove(&mut p.heap, a[1], a[0]))
}

fn take(p: &mut Process, a: &[Term]) -> NativeResult {
    check(p, a[1])?;
    Ok(match map::take(&mut p.heap, a[1], a[0]) {
        Some((value, rest)) => p.heap.tuple(&[value, rest]),
        None => am::ERROR.into(),
    })
}

fn update(p: &mut Process, a: &[Term]) -> NativeResult {
    check(p, a[2])?;
    match map::update(&mut p.heap, a[2], a[0], a[1]) {
        Some(map) => Ok(map),
        None => Err(p.error_tuple(am::BADKEY, a[0])),
    }
}

/// Pairs of one step of an iterator (as in stock), and of a step that makes a list.
const ITERATOR_BATCH: usize = 32;
const LIST_BATCH: usize = 1024;

/// map_next(Position, Map, iterator) is `{K, V, {K, V, ... [Position | Map]}}` or `none`; with a list for `iterator` it is the
/// pairs in front of that list, and `[Position, Map | List]` if there are more. A list as position names the keys to visit.
fn map_next(p: &mut Process, a: &[Term]) -> NativeResult {
    let (path, map, into) = (a[0], a[1], a[2]);
    let as_list = into.is_list();
    if !map.is_map() || !(as_list || into.is_atom_of(am::ITERATOR)) {
        return Err(p.badarg());
    }
    if path.is_list() {
        return if as_list { Err(p.badarg()) } else { chosen_keys(p, path, map) };
    }
    if map.is_kind(Kind::FlatMap) && path != Term::small(0) {
        return Err(p.badarg());
    }
    if map.is_kind(Kind::FlatMap) {
        p.bump(map::size(map) / PAIRS_PER_REDUCTION);
        return Ok(if as_list { map::pairs_before(&mut p.heap, map, into) } else { flat_chain(p, map) });
    }
    let limit = if as_list { LIST_BATCH } else { ITERATOR_BATCH };
    let Some((pairs, next)) = map::next_batch(&mut p.heap, map, path, limit) else { return Err(p.badarg()) };
    p.bump(pairs.len() / PAIRS_PER_REDUCTION);
    if as_list {
        let tuples: Vec<Term> = pairs.iter().map(|&(k, v)| p.heap.tuple(&[k, v])).collect();
        let list = tuples.iter().fold(into, |list, &tuple| p.heap.cons(tuple, list));
        return Ok(match next {
            Some(next) => p.heap.list_with_tail(&[next, map], list),
            None => list,
        });
    }
    let end = match next {
        Some(next) => p.heap.cons(next, map),
        None => am::NONE.into(),
    };
    Ok(chain(p, &pairs, end))
}

/// All pairs of a small map, as `{K, V, {K, V, ... none}}`.
fn flat_chain(p: &mut Process, map: Term) -> Term {
    let (keys, values) = map::flat_parts(map);
    keys.iter().zip(values).rev().fold(am::NONE.into(), |next, (&key, &value)| p.heap.tuple(&[key, value, next]))
}

fn chain(p: &mut Process, pairs: &[(Term, Term)], end: Term) -> Term {
    pairs.iter().rev().fold(end, |next, &(key, value)| p.heap.tuple(&[key, value, next]))
}

fn chosen_keys(p: &mut Process, keys: Term, map: Term) -> NativeResult {
    let mut pairs = Vec::new();
    let mut rest = keys;
    while rest.is_cons() && pairs.len() < ITERATOR_BATCH {
        let Some(value) = map::get(map, rest.head()) else { return Err(p.badarg()) };
        pairs.push((rest.head(), value));
        rest = rest.tail();
    }
    let end = if rest.is_nil() {
        Atom::new("none").into()
    } else if rest.is_cons() {
        p.heap.cons(rest, map)
    } else {
        return Err(p.badarg());
    };
    Ok(chain(p, &pairs, end))
}

fn map_to_tuple_keys(p: &mut Process, a: &[Term]) -> NativeResult {
    if a[0].is_kind(Kind::FlatMap) { Ok(a[0].slot(0)) } else { Err(p.badarg()) }
}

/// Children that a node of a large map can have, and the levels that `map_info` tells apart.
const NODE_CHILDREN: usize = 16;
const LEVELS: usize = 18;

/// How a large map is built: its depth, its nodes by their number of children, its pairs by their depth.
fn map_info(p: &mut Process, a: &[Term]) -> NativeResult {
    check(p, a[0])?;
    if !a[0].is_kind(Kind::HashMap) {
        return Err(p.badarg());
    }
    let (mut deepest, mut full) = (0, 0);
    let (mut partial, mut pairs) = ([0i64; NODE_CHILDREN], [0i64; LEVELS]);
    let mut todo = vec![(a[0], 0usize)];
    while let Some((node, depth)) = todo.pop() {
        if node.is_cons() {
            deepest = deepest.max(depth);
            pairs[depth.min(LEVELS - 1)] += 1;
            continue;
        }
        let first = node.is_kind(Kind::HashMap) as usize;
        let children = first..node.header().arity();
        match children.len() {
            NODE_CHILDREN => full += 1,
            n => partial[n - 1] += 1,
        }
        todo.extend(children.map(|i| (node.slot(i), depth + 1)));
    }
    let histogram = |p: &mut Process, counts: &[i64]| {
        let counts: Vec<Term> = counts.iter().map(|&n| Term::small(n)).collect();
        p.heap.tuple(&counts)
    };
    let none = histogram(p, &[0; NODE_CHILDREN]);
    let rows = [
        ("arrays", full, Term::NIL),
        ("collisions", 0, none),
        ("bitmaps", partial.iter().sum(), histogram(p, &partial)),
        ("leafs", pairs.iter().sum(), histogram(p, &pairs)),
    ];
    let mut list = vec![p.heap.tuple(&[Atom::new("depth").into(), Term::small(deepest as i64)])];
    for (name, count, by) in rows {
        list.push(p.heap.tuple(&[Atom::new(name).into(), Term::small(count), by]));
    }
    p.bump(pairs.iter().sum::<i64>() as usize / 10);
    Ok(p.heap.list(&list))
}

/// Children of a large map: pairs, and nodes as terms of their own.
fn map_hashmap_children(p: &mut Process, a: &[Term]) -> NativeResult {
    let first = match a[0].kind() {
        Some(Kind::HashMap) => 1,
        Some(Kind::HashNode) => 0,
        _ => return Err(p.badarg()),
    };
    let children: Vec<Term> = (first..a[0].header().arity()).map(|i| a[0].slot(i)).collect();
    Ok(p.heap.list(&children))
}
