//! Iteration over maps: `MapIter` in stored order, and `next_batch` that can be resumed from an integer.
//!
//! Flat maps go in key order. Tries go from the highest child to the lowest in `MapIter`, and the other way in
//! `next_batch`: `maps:to_list/1` builds its list from batches back to front, and so agrees with `maps:keys/1`.

use crate::boxed::Kind;
use crate::heap::Heap;
use crate::map;
use crate::term::Term;

enum State<'a> {
    Flat(&'a [Term], &'a [Term]),
    /// Nodes on the way, each with the number of children left (children `first .. left` are still to come).
    Trie(Vec<(Term, usize)>),
}

pub struct MapIter<'a>(State<'a>);

impl MapIter<'_> {
    /// The caller checked that `map` is a map.
    pub fn new(map: Term) -> Self {
        if map.is_kind(Kind::FlatMap) {
            let (keys, values) = map::flat_parts(map);
            return MapIter(State::Flat(keys, values));
        }
        let mut stack = Vec::with_capacity(8);
        stack.push((map, map.header().arity()));
        MapIter(State::Trie(stack))
    }

    /// Over the subtree of one child of a trie.
    pub(crate) fn of_node(node: Term) -> Self {
        MapIter(State::Trie(vec![(node, node.header().arity())]))
    }
}

fn first_child(node: Term) -> usize {
    node.is_kind(Kind::HashMap) as usize
}

impl Iterator for MapIter<'_> {
    type Item = (Term, Term);

    fn next(&mut self) -> Option<(Term, Term)> {
        match &mut self.0 {
            State::Flat(keys, values) => {
                let (key, value) = (*keys.first()?, *values.first()?);
                (*keys, *values) = (&keys[1..], &values[1..]);
                Some((key, value))
            }
            State::Trie(stack) => loop {
                let (node, left) = stack.last_mut()?;
                if *left <= first_child(*node) {
                    stack.pop();
                    continue;
                }
                *left -= 1;
                let child = node.slot(*left);
                if child.is_cons() {
                    return Some((child.head(), child.tail()));
                }
                let arity = child.header().arity();
                stack.push((child, arity));
            },
        }
    }
}

pub type PathEntry = (Term, Term);

/// Up to `limit` pairs from position `path` on (0 is the start), and the position of the next pair (None at the end).
///
/// A position holds one child number (4 bits) a trie level, the root's lowest. Any non-negative integer is accepted: it
/// means the first pair at or after that place. None if `path` is not such an integer. Flat maps are one batch.
pub fn next_batch(heap: &mut Heap, map: Term, path: Term, limit: usize) -> Option<(Vec<PathEntry>, Option<Term>)> {
    let digits = crate::big::magnitude_of(path)?;
    if map.is_kind(Kind::FlatMap) {
        return Some((MapIter::new(map).collect(), None));
    }
    let nibble_at = |level: usize| digits.get(level / 16).map_or(0, |d| (d >> (4 * (level % 16))) as u32 & 15);
    let mut pairs = Vec::with_capacity(limit.min(map::size(map)));
    // Nodes on the way, each with the next child number to visit.
    let mut stack: Vec<(Term, u32)> = vec![(map, nibble_at(0))];
    // True while the walk follows the given position.
    let mut following = true;
    loop {
        if leave_finished(&mut stack) {
            following = false;
        }
        let Some((node, number)) = stack.last_mut() else { break };
        let bitmap = node.header().aux();
        let rest = bitmap >> *number << *number;
        let found = rest.trailing_zeros();
        following &= found == *number;
        let child = node.slot(first_child(*node) + (bitmap & ((1 << found) - 1)).count_ones() as usize);
        if child.is_cons() {
            if pairs.len() == limit {
                *number = found;
                let levels: Vec<u32> = stack.iter().map(|&(_, n)| n).collect();
                return Some((pairs, Some(encode_path(heap, &levels))));
            }
            pairs.push((child.head(), child.tail()));
            *number = found + 1;
            following = false;
        } else {
            *number = found;
            let level = stack.len();
            // The parent's entry names the child we are in, until we come back.
            stack.push((child, if following { nibble_at(level) } else { 0 }));
        }
    }
    Some((pairs, None))
}

/// Drops nodes that have no further child and moves their parents on; true if there were any.
fn leave_finished(stack: &mut Vec<(Term, u32)>) -> bool {
    let before = stack.len();
    while let Some(&(node, number)) = stack.last() {
        if number < 16 && node.header().aux() >> number != 0 {
            break;
        }
        stack.pop();
        if let Some((_, parent)) = stack.last_mut() {
            *parent += 1;
        }
    }
    stack.len() != before
}

fn encode_path(heap: &mut Heap, levels: &[u32]) -> Term {
    let mut digits = vec![0u64; levels.len().div_ceil(16)];
    for (level, &number) in levels.iter().enumerate() {
        digits[level / 16] |= (number as u64) << (4 * (level % 16));
    }
    crate::big::from_digits(heap, false, &digits)
}
