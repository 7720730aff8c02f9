//! Maps. Up to 32 keys: a tuple of keys in internal order (shared between maps that differ in values only) and the values.
//! Above: a hash trie (`hamt`). A map has exactly one of the two shapes, decided by its size.

use crate::area::is_fixed;
use crate::boxed::{Header, Kind};
use crate::compare::differ;
use crate::hamt;
use crate::heap::Heap;
use crate::literal::is_literal;
use crate::order::{cmp_map_keys, exact_eq};
use crate::term::Term;
use smallvec::SmallVec;
use std::cmp::Ordering;
use std::sync::OnceLock;

pub use crate::map_iter::{MapIter, PathEntry, next_batch};

/// Most keys of a flat map (from ERTS; visible to programs).
pub const FLAT_MAX: usize = 32;

#[inline]
pub fn size(map: Term) -> usize {
    match map.header().kind() {
        Kind::FlatMap => map.header().arity() - 1,
        _ => map.slot(0).small_value() as usize,
    }
}

/// Keys (in stored order) and values of a flat map; the caller checked the kind.
#[inline(always)]
pub fn flat_parts<'a>(map: Term) -> (&'a [Term], &'a [Term]) {
    debug_assert!(map.is_kind(Kind::FlatMap));
    let n = map.header().arity() - 1;
    // SAFETY: a flat map has a tuple of n keys, then n values.
    unsafe {
        let keys = map.slot(0).ptr().add(1).cast::<Term>();
        (std::slice::from_raw_parts(keys, n), std::slice::from_raw_parts(map.ptr().add(2).cast::<Term>(), n))
    }
}

/// Position of a key in a flat map.
#[inline(always)]
fn flat_find(keys: &[Term], key: Term) -> Option<usize> {
    if key.is_immediate() {
        keys.iter().position(|&k| k == key)
    } else if key.is_kind(Kind::Tuple) {
        find_tuple(keys, key)
    } else {
        keys.iter().position(|&k| exact_eq(k, key))
    }
}

/// The same for a tuple. Tuples that differ mostly do so in a word that is no pointer, which takes no call to find out.
fn find_tuple(keys: &[Term], key: Term) -> Option<usize> {
    let header = key.header();
    let n = header.arity();
    if n == 2 && key.slot(0).is_immediate() && key.slot(1).is_immediate() {
        // {Name, Number}: the most frequent keys that are tuples. What is no pointer equals the same word only.
        let (first, second) = (key.slot(0), key.slot(1));
        return keys.iter().position(|&k| k.is_boxed() && k.header() == header && k.slot(1) == second && k.slot(0) == first);
    }
    keys.iter().position(|&k| {
        k == key
            || k.is_boxed()
                && k.header() == header
                && (0..n).all(|at| {
                    let (a, b) = (k.slot(at), key.slot(at));
                    a == b || !differ(a, b) && exact_eq(a, b)
                })
    })
}

/// Value of `key`. The caller checked that `map` is a map.
#[inline]
pub fn get(map: Term, key: Term) -> Option<Term> {
    if map.header().kind() == Kind::FlatMap {
        let (keys, values) = flat_parts(map);
        flat_find(keys, key).map(|i| values[i])
    } else {
        hamt::get(map, key)
    }
}

pub fn contains(map: Term, key: Term) -> bool {
    get(map, key).is_some()
}

/// The map without keys; one literal for all.
pub fn empty() -> Term {
    static EMPTY: OnceLock<u64> = OnceLock::new();
    Term::from_raw(*EMPTY.get_or_init(|| {
        let mut heap = Heap::new();
        let keys = heap.tuple(&[]);
        let map = flat_with_keys(&mut heap, keys, &[]);
        let literal = crate::literal::make_literal(map).raw();
        heap.clear();
        literal
    }))
}

/// A flat map over an existing tuple of keys in stored order.
#[inline]
pub fn flat_with_keys(heap: &mut Heap, keys: Term, values: &[Term]) -> Term {
    debug_assert!(keys.header().arity() == values.len());
    let ptr = heap.alloc(2 + values.len());
    // SAFETY: room for header, keys and values was just allocated.
    unsafe {
        *ptr = Header::new(Kind::FlatMap, 1 + values.len()).raw();
        *ptr.add(1) = keys.raw();
        std::ptr::copy_nonoverlapping(values.as_ptr().cast::<u64>(), ptr.add(2), values.len());
    }
    Term::boxed(ptr)
}

/// Keys must be sorted by `cmp_map_keys`, without doubles, at most 32.
fn flat_from_sorted(heap: &mut Heap, pairs: &[(Term, Term)]) -> Term {
    if pairs.is_empty() {
        return empty();
    }
    let n = pairs.len();
    let ptr = heap.alloc(1 + n + 2 + n);
    // SAFETY: the keys tuple and the map lie one after the other in the allocation.
    unsafe {
        let map = ptr.add(1 + n);
        *ptr = Header::new(Kind::Tuple, n).raw();
        *map = Header::new(Kind::FlatMap, 1 + n).raw();
        *map.add(1) = Term::boxed(ptr).raw();
        for (i, (key, value)) in pairs.iter().enumerate() {
            *ptr.add(1 + i) = key.raw();
            *map.add(2 + i) = value.raw();
        }
        Term::boxed(map)
    }
}

/// The map with `key` bound to `value`.
pub fn put(heap: &mut Heap, map: Term, key: Term, value: Term) -> Term {
    if map.header().kind() != Kind::FlatMap {
        return hamt::put(heap, map, key, value);
    }
    let (keys, values) = flat_parts(map);
    match flat_find(keys, key) {
        Some(at) => flat_replace(heap, map, at, value),
        None if keys.len() < FLAT_MAX => flat_merge(heap, keys, values, &[(key, value)]),
        None => {
            let mut pairs: Vec<(Term, Term)> = keys.iter().copied().zip(values.iter().copied()).collect();
            pairs.push((key, value));
            hamt::from_distinct(heap, &pairs)
        }
    }
}

/// The flat map with these keys and values and the pairs `added`, whose keys are others, in order. Written where it is to lie:
/// most maps grow key by key, so this is one of the most frequent things that programs do with maps.
fn flat_merge(heap: &mut Heap, keys: &[Term], values: &[Term], added: &[(Term, Term)]) -> Term {
    let n = keys.len() + added.len();
    let ptr = heap.alloc(1 + n + 2 + n);
    // SAFETY: room for the tuple of keys and for the map after it was just allocated; `from` and `to` only grow, to their ends.
    unsafe {
        let map = ptr.add(1 + n);
        *ptr = Header::new(Kind::Tuple, n).raw();
        *map = Header::new(Kind::FlatMap, 1 + n).raw();
        *map.add(1) = Term::boxed(ptr).raw();
        let (new_keys, new_values) = (ptr.add(1).cast::<Term>(), map.add(2).cast::<Term>());
        let (mut from, mut to) = (0, 0);
        for &(key, value) in added {
            let at = from + place(&keys[from..], key);
            std::ptr::copy_nonoverlapping(keys.as_ptr().add(from), new_keys.add(to), at - from);
            std::ptr::copy_nonoverlapping(values.as_ptr().add(from), new_values.add(to), at - from);
            to += at - from;
            from = at;
            *new_keys.add(to) = key;
            *new_values.add(to) = value;
            to += 1;
        }
        std::ptr::copy_nonoverlapping(keys.as_ptr().add(from), new_keys.add(to), keys.len() - from);
        std::ptr::copy_nonoverlapping(values.as_ptr().add(from), new_values.add(to), keys.len() - from);
        Term::boxed(map)
    }
}

/// How many of these keys, which are in order, come before `key`, which is none of them. Maps often grow at the end.
#[inline]
fn place(keys: &[Term], key: Term) -> usize {
    match keys.split_last() {
        Some((&last, before)) if cmp_map_keys(last, key) == Ordering::Greater => {
            before.partition_point(|&k| cmp_map_keys(k, key) == Ordering::Less)
        }
        _ => keys.len(),
    }
}

fn flat_replace(heap: &mut Heap, map: Term, at: usize, value: Term) -> Term {
    let (_, values) = flat_parts(map);
    if values[at] == value {
        return map;
    }
    let copy = flat_with_keys(heap, map.slot(0), values);
    // SAFETY: `at` is the position of a value in the fresh copy.
    unsafe { *copy.ptr().add(2 + at) = value.raw() };
    copy
}

/// The map with the value of an existing key replaced; None if the key is not there.
pub fn update(heap: &mut Heap, map: Term, key: Term, value: Term) -> Option<Term> {
    if map.header().kind() == Kind::FlatMap {
        let at = flat_find(flat_parts(map).0, key)?;
        return Some(flat_replace(heap, map, at, value));
    }
    hamt::get(map, key)?;
    Some(hamt::put(heap, map, key, value))
}

/// The flat map of these keys and values without those at a position.
fn flat_without(heap: &mut Heap, keys: &[Term], values: &[Term], at: usize) -> Term {
    let n = keys.len() - 1;
    if n == 0 {
        return empty();
    }
    let ptr = heap.alloc(1 + n + 2 + n);
    // SAFETY: room for the tuple of keys and for the map after it was just allocated.
    unsafe {
        let map = ptr.add(1 + n);
        *ptr = Header::new(Kind::Tuple, n).raw();
        *map = Header::new(Kind::FlatMap, 1 + n).raw();
        *map.add(1) = Term::boxed(ptr).raw();
        for (terms, to) in [(keys, ptr.add(1).cast::<Term>()), (values, map.add(2).cast::<Term>())] {
            std::ptr::copy_nonoverlapping(terms.as_ptr(), to, at);
            std::ptr::copy_nonoverlapping(terms.as_ptr().add(at + 1), to.add(at), n - at);
        }
        Term::boxed(map)
    }
}

/// The map without `key`, and the value it had; None if the key is not there.
pub fn take(heap: &mut Heap, map: Term, key: Term) -> Option<(Term, Term)> {
    if map.header().kind() != Kind::FlatMap {
        let (value, rest) = hamt::take(heap, map, key)?;
        return Some((value, rest));
    }
    let (keys, values) = flat_parts(map);
    let at = flat_find(keys, key)?;
    Some((values[at], flat_without(heap, keys, values, at)))
}

/// The map without `key` (the same map if it is not there).
pub fn remove(heap: &mut Heap, map: Term, key: Term) -> Term {
    take(heap, map, key).map_or(map, |(_, rest)| rest)
}

/// Several updates at once: `Map#{K => V, ...}`, or `Map#{K := V, ...}` when `exact` (then a missing key is the error).
pub fn update_many(heap: &mut Heap, map: Term, pairs: &[(Term, Term)], exact: bool) -> Result<Term, Term> {
    if map.header().kind() != Kind::FlatMap {
        let mut map = map;
        for &(key, value) in pairs {
            if exact && hamt::get(map, key).is_none() {
                return Err(key);
            }
            map = hamt::put(heap, map, key, value);
        }
        return Ok(map);
    }
    if let &[(key, value)] = pairs {
        return if exact { update(heap, map, key, value).ok_or(key) } else { Ok(put(heap, map, key, value)) };
    }
    let (keys, values) = flat_parts(map);
    let mut updated = [Term::NIL; FLAT_MAX];
    updated[..values.len()].copy_from_slice(values);
    let (mut added, mut count) = ([(Term::NIL, Term::NIL); FEW], 0);
    for &(key, value) in pairs {
        match flat_find(keys, key) {
            Some(at) => updated[at] = value,
            None if exact => return Err(key),
            None if count == FEW => return Ok(update_with_many(heap, keys, values, pairs)),
            None => count = insert_sorted(&mut added, count, (key, value)),
        }
    }
    let updated = &updated[..values.len()];
    if count == 0 {
        return Ok(if updated == values { map } else { flat_with_keys(heap, map.slot(0), updated) });
    }
    if keys.len() + count > FLAT_MAX {
        return Ok(update_with_many(heap, keys, values, pairs));
    }
    Ok(flat_merge(heap, keys, updated, &added[..count]))
}

/// As many new keys at once are put in order without memory of their own.
const FEW: usize = 8;

/// Puts a pair into the first `count` ones, which are in order, or replaces that with its key; how many there are now.
fn insert_sorted(pairs: &mut [(Term, Term); FEW], count: usize, pair: (Term, Term)) -> usize {
    let at = pairs[..count].partition_point(|p| cmp_map_keys(p.0, pair.0) == Ordering::Less);
    if at < count && exact_eq(pairs[at].0, pair.0) {
        pairs[at] = pair;
        return count;
    }
    pairs.copy_within(at..count, at + 1);
    pairs[at] = pair;
    count + 1
}

fn update_with_many(heap: &mut Heap, keys: &[Term], values: &[Term], pairs: &[(Term, Term)]) -> Term {
    let mut all: Vec<(Term, Term)> = keys.iter().copied().zip(values.iter().copied()).collect();
    all.extend_from_slice(pairs);
    from_pairs(heap, &all)
}

/// A map of these pairs; the last of equal keys wins.
pub fn from_pairs(heap: &mut Heap, pairs: &[(Term, Term)]) -> Term {
    from_pairs_counting(heap, pairs).0
}

/// As `from_pairs`; None if a key comes twice.
pub fn from_distinct_pairs(heap: &mut Heap, pairs: &[(Term, Term)]) -> Option<Term> {
    let (map, distinct) = from_pairs_counting(heap, pairs);
    distinct.then_some(map)
}

fn from_pairs_counting(heap: &mut Heap, pairs: &[(Term, Term)]) -> (Term, bool) {
    if pairs.len() > FLAT_MAX {
        let mut kept = Vec::new();
        let built = hamt::from_pairs(heap, pairs, &mut kept);
        return match built {
            Some(map) => (map, size(map) == pairs.len()),
            // Few distinct keys among many pairs.
            None => (flat_sorted(heap, &kept).0, false),
        };
    }
    flat_sorted(heap, pairs)
}

fn flat_sorted(heap: &mut Heap, pairs: &[(Term, Term)]) -> (Term, bool) {
    let sorted = pairs.windows(2).all(|w| cmp_map_keys(w[0].0, w[1].0) == Ordering::Less);
    if sorted {
        return (flat_from_sorted(heap, pairs), true);
    }
    if pairs.len() <= FEW {
        let (mut few, mut count) = ([(Term::NIL, Term::NIL); FEW], 0);
        for &pair in pairs {
            count = insert_sorted(&mut few, count, pair);
        }
        return (flat_from_sorted(heap, &few[..count]), count == pairs.len());
    }
    let mut pairs: SmallVec<[(Term, Term); FLAT_MAX]> = SmallVec::from_slice(pairs);
    // Stable, so the last of equal keys is the newest.
    pairs.sort_by(|a, b| cmp_map_keys(a.0, b.0));
    let before = pairs.len();
    pairs.reverse();
    pairs.dedup_by(|a, b| exact_eq(a.0, b.0));
    pairs.reverse();
    let distinct = pairs.len() == before;
    (flat_from_sorted(heap, &pairs), distinct)
}

/// A map from a list of keys and a list of values of the same length.
pub fn from_ks_vs(heap: &mut Heap, keys: &[Term], values: &[Term]) -> Term {
    debug_assert!(keys.len() == values.len());
    let pairs: Vec<(Term, Term)> = keys.iter().copied().zip(values.iter().copied()).collect();
    from_pairs(heap, &pairs)
}

/// Two maps with the same keys: `b` takes those of `a` where they are a literal, so that its own may go.
fn share_keys(a: Term, b: Term) {
    if size(a) == size(b) && is_literal(a.slot(0)) && !is_fixed(b) && !is_fixed(b.slot(0)) {
        // SAFETY: the word is the map's tuple of keys, replaced by an equal one; a literal may be referred to from anywhere.
        unsafe { *b.ptr().add(1) = a.slot(0).raw() };
    }
}

/// The merge of two flat maps; None if it is not flat. Both have their keys in order.
fn merge_flat(heap: &mut Heap, a: Term, b: Term) -> Option<Term> {
    let ((a_keys, a_values), (b_keys, b_values)) = (flat_parts(a), flat_parts(b));
    let (mut keys, mut values) = ([Term::NIL; FLAT_MAX], [Term::NIL; FLAT_MAX]);
    let (mut count, mut i, mut j) = (0, 0, 0);
    while i < a_keys.len() || j < b_keys.len() {
        if count == FLAT_MAX {
            return None;
        }
        let order = match (a_keys.get(i), b_keys.get(j)) {
            (Some(&x), Some(&y)) => cmp_map_keys(x, y),
            (Some(_), None) => Ordering::Less,
            _ => Ordering::Greater,
        };
        (keys[count], values[count]) = if order.is_gt() { (b_keys[j], b_values[j]) } else { (a_keys[i], a_values[i]) };
        if order.is_eq() {
            values[count] = b_values[j];
        }
        i += order.is_le() as usize;
        j += order.is_ge() as usize;
        count += 1;
    }
    if count == b_keys.len() {
        // Nothing of `a` is left: programs see that it is the very map (`erts_debug:same`).
        share_keys(a, b);
        return Some(b);
    }
    if count == a_keys.len() {
        return Some(if values[..count] == *a_values { a } else { flat_with_keys(heap, a.slot(0), &values[..count]) });
    }
    Some(flat_merge(heap, &keys[..count], &values[..count], &[]))
}

/// All pairs of both; where both have a key, `b`'s.
pub fn merge(heap: &mut Heap, a: Term, b: Term) -> Term {
    if a == b || size(a) == 0 {
        return b;
    }
    if size(b) == 0 {
        return a;
    }
    match (a.is_kind(Kind::FlatMap), b.is_kind(Kind::FlatMap)) {
        (true, true) => {
            if a.slot(0) == b.slot(0) {
                return b;
            }
            merge_flat(heap, a, b).unwrap_or_else(|| {
                let pairs: Vec<(Term, Term)> = MapIter::new(b).collect();
                update_many(heap, a, &pairs, false).unwrap_or(b)
            })
        }
        (false, true) => {
            let pairs: Vec<(Term, Term)> = MapIter::new(b).collect();
            update_many(heap, a, &pairs, false).unwrap_or(b)
        }
        (true, false) => {
            let mut map = b;
            for (key, value) in MapIter::new(a) {
                if hamt::get(b, key).is_none() {
                    map = hamt::put(heap, map, key, value);
                }
            }
            map
        }
        (false, false) => hamt::merge(heap, a, b),
    }
}

/// The keys as a list, in stored order.
pub fn keys(heap: &mut Heap, map: Term) -> Term {
    if map.is_kind(Kind::FlatMap) {
        return heap.list(flat_parts(map).0);
    }
    let keys: Vec<Term> = MapIter::new(map).map(|(k, _)| k).collect();
    heap.list(&keys)
}

/// The values as a list, in the order of `keys`.
pub fn values(heap: &mut Heap, map: Term) -> Term {
    if map.is_kind(Kind::FlatMap) {
        return heap.list(flat_parts(map).1);
    }
    let values: Vec<Term> = MapIter::new(map).map(|(_, v)| v).collect();
    heap.list(&values)
}

/// A list of `{Key, Value}`, in the order of `keys`.
pub fn to_list(heap: &mut Heap, map: Term) -> Term {
    if map.is_kind(Kind::FlatMap) {
        return pairs_before(heap, map, Term::NIL);
    }
    let pairs: Vec<Term> = MapIter::new(map).map(|(k, v)| heap.tuple(&[k, v])).collect();
    heap.list(&pairs)
}

/// The pairs `{Key, Value}` of a flat map, in stored order, before a list.
pub fn pairs_before(heap: &mut Heap, map: Term, tail: Term) -> Term {
    const CELL_WORDS: usize = 2;
    const PAIR_WORDS: usize = 3;
    let (keys, values) = flat_parts(map);
    let mut list = tail;
    let ptr = heap.alloc(keys.len() * (CELL_WORDS + PAIR_WORDS));
    for (at, (&key, &value)) in keys.iter().zip(values).enumerate().rev() {
        // SAFETY: there is room for a cell and a pair for each key.
        unsafe {
            let cell = ptr.add(at * (CELL_WORDS + PAIR_WORDS));
            let pair = cell.add(CELL_WORDS);
            *pair = Header::new(Kind::Tuple, 2).raw();
            *pair.add(1) = key.raw();
            *pair.add(2) = value.raw();
            *cell = Term::boxed(pair).raw();
            *cell.add(1) = list.raw();
            list = Term::cons(cell);
        }
    }
    list
}
