//! The order of an ordered table: points in it, and entries of a `BTreeSet` that are compared by them.

use super::object::Owned;
use heddle_natives::spec::pattern::{Pattern, cmp_prefix};
use heddle_term::Term;
use heddle_term::order::cmp;
use std::borrow::Borrow;
use std::cmp::Ordering;
use std::ops::Bound;

/// A point in the order of keys: a key, or the edge of the keys that a partly bound key pattern can match.
#[derive(Clone, Copy)]
pub enum Point<'a> {
    Key(Term),
    Below(&'a Pattern),
    Above(&'a Pattern),
}

pub(super) trait Place {
    fn point(&self) -> Point<'_>;
}

/// A key as the trees order it. Most are integers of a word, which are compared in place.
pub(super) struct Key(pub Term);

impl Ord for Key {
    #[inline(always)]
    fn cmp(&self, other: &Key) -> Ordering {
        match (self.0.as_small(), other.0.as_small()) {
            (Some(a), Some(b)) => a.cmp(&b),
            _ => cmp(self.0, other.0),
        }
    }
}
impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Key) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl PartialEq for Key {
    fn eq(&self, other: &Key) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Key {}

/// The key lies beside the object, in the tree's node: a search looks at no object whose key is an immediate.
pub(super) struct Entry {
    key: Key,
    pub object: Owned,
}

impl Entry {
    pub fn new(object: Owned) -> Entry {
        Entry { key: Key(object.key), object }
    }
}

impl Place for Entry {
    fn point(&self) -> Point<'_> {
        Point::Key(self.key.0)
    }
}
impl Place for Point<'_> {
    fn point(&self) -> Point<'_> {
        *self
    }
}

pub(super) fn compare(a: Point, b: Point) -> Ordering {
    match (a, b) {
        (Point::Key(a), Point::Key(b)) => cmp(a, b),
        (Point::Below(p), Point::Key(k)) => cmp_prefix(p, k).then(Ordering::Less),
        (Point::Above(p), Point::Key(k)) => cmp_prefix(p, k).then(Ordering::Greater),
        (Point::Key(_), _) => compare(b, a).reverse(),
        (Point::Below(_), Point::Above(_)) => Ordering::Less,
        (Point::Above(_), Point::Below(_)) => Ordering::Greater,
        _ => Ordering::Equal,
    }
}

impl PartialEq for dyn Place + '_ {
    fn eq(&self, other: &Self) -> bool {
        compare(self.point(), other.point()) == Ordering::Equal
    }
}
impl Eq for dyn Place + '_ {}
impl PartialOrd for dyn Place + '_ {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for dyn Place + '_ {
    fn cmp(&self, other: &Self) -> Ordering {
        compare(self.point(), other.point())
    }
}
impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Entry {}
impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key.cmp(&other.key)
    }
}
impl Borrow<Key> for Entry {
    fn borrow(&self) -> &Key {
        &self.key
    }
}
impl<'a> Borrow<dyn Place + 'a> for Entry {
    fn borrow(&self) -> &(dyn Place + 'a) {
        self
    }
}

/// The keys that a traversal visits.
#[derive(Clone, Copy)]
pub struct Range<'a> {
    pub low: Option<Point<'a>>,
    pub high: Option<Point<'a>>,
}

impl Range<'_> {
    pub const ALL: Range<'static> = Range { low: None, high: None };
}

pub(super) fn as_place<'a>(bound: &'a Bound<Point<'a>>) -> Bound<&'a (dyn Place + 'a)> {
    match bound {
        Bound::Included(p) => Bound::Included(p as &dyn Place),
        Bound::Excluded(p) => Bound::Excluded(p as &dyn Place),
        Bound::Unbounded => Bound::Unbounded,
    }
}

/// True if nothing lies between the bounds: `BTreeSet::range` panics if they cross.
pub(super) fn is_empty(low: &Bound<Point>, high: &Bound<Point>) -> bool {
    let (Bound::Included(a) | Bound::Excluded(a), Bound::Included(b) | Bound::Excluded(b)) = (low, high) else { return false };
    match compare(*a, *b) {
        Ordering::Greater => true,
        Ordering::Equal => !matches!((low, high), (Bound::Included(_), Bound::Included(_))),
        Ordering::Less => false,
    }
}
