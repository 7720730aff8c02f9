//! Ordered tables: a balanced tree behind one lock. Everything the rest of ETS needs of it goes through the methods of
//! `TreeStore`, so that a tree with finer locks can take its place.

use super::object::{Change, Object, Owned, Verdict};
use super::spec::pattern::{Pattern, cmp_prefix};
use heddle_term::Term;
use heddle_term::order::cmp;
use std::borrow::Borrow;
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::ops::Bound;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

/// A point in the order of keys: a key, or the edge of the keys that a partly bound key pattern can match.
#[derive(Clone, Copy)]
pub enum Point<'a> {
    Key(Term),
    Below(&'a Pattern),
    Above(&'a Pattern),
}

trait Place {
    fn point(&self) -> Point<'_>;
}

struct Entry(Owned);

impl Place for Entry {
    fn point(&self) -> Point<'_> {
        Point::Key(self.0.key)
    }
}
impl Place for Point<'_> {
    fn point(&self) -> Point<'_> {
        *self
    }
}

fn compare(a: Point, b: Point) -> Ordering {
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
        cmp(self.0.key, other.0.key)
    }
}
impl<'a> Borrow<dyn Place + 'a> for Entry {
    fn borrow(&self) -> &(dyn Place + 'a) {
        self
    }
}

/// The keys a traversal visits.
#[derive(Clone, Copy)]
pub struct Range<'a> {
    pub low: Option<Point<'a>>,
    pub high: Option<Point<'a>>,
}

impl Range<'_> {
    pub const ALL: Range<'static> = Range { low: None, high: None };
}

#[derive(Default)]
pub struct TreeStore {
    tree: RwLock<BTreeSet<Entry>>,
    count: AtomicUsize,
    words: AtomicUsize,
}

/// Everything a cleared table held; freed when it is dropped.
pub struct Removed(#[allow(dead_code, reason = "only to be dropped")] BTreeSet<Entry>);

/// Nodes of the tree, a word or two an object (approximate).
const NODE_WORDS: usize = 2;

impl TreeStore {
    fn read(&self) -> RwLockReadGuard<'_, BTreeSet<Entry>> {
        self.tree.read().unwrap_or_else(|e| e.into_inner())
    }
    fn write(&self) -> RwLockWriteGuard<'_, BTreeSet<Entry>> {
        self.tree.write().unwrap_or_else(|e| e.into_inner())
    }
    pub fn size(&self) -> usize {
        self.count.load(Relaxed)
    }
    pub fn words(&self) -> usize {
        self.words.load(Relaxed)
    }

    // Relaxed: statistics, written under the write lock.
    fn added(&self, object: &Object) {
        self.count.store(self.count.load(Relaxed) + 1, Relaxed);
        self.words.store(self.words.load(Relaxed) + object.words() + NODE_WORDS, Relaxed);
    }
    fn removed(&self, object: &Object) {
        self.count.store(self.count.load(Relaxed) - 1, Relaxed);
        self.words.store(self.words.load(Relaxed) - object.words() - NODE_WORDS, Relaxed);
    }

    fn put(&self, tree: &mut BTreeSet<Entry>, object: Owned) -> Option<Entry> {
        self.added(&object);
        let old = tree.replace(Entry(object));
        if let Some(old) = &old {
            self.removed(&old.0);
        }
        old
    }

    pub fn insert(&self, object: Owned) {
        let mut tree = self.write();
        let old = self.put(&mut tree, object);
        drop(tree);
        drop(old);
    }

    pub fn insert_all(&self, objects: Vec<Owned>, only_new: bool) -> bool {
        let mut tree = self.write();
        if only_new && objects.iter().any(|o| tree.contains(&Point::Key(o.key) as &dyn Place)) {
            return false;
        }
        for object in objects {
            self.put(&mut tree, object);
        }
        true
    }

    pub fn with_key(&self, key: Term, f: impl FnMut(&Object)) {
        self.read().get(&Point::Key(key) as &dyn Place).map(|e| &*e.0).into_iter().for_each(f);
    }

    pub fn contains(&self, key: Term) -> bool {
        self.read().contains(&Point::Key(key) as &dyn Place)
    }

    pub fn remove(&self, key: Term, mut f: impl FnMut(&Object) -> bool) -> usize {
        if self.size() == 0 {
            return 0;
        }
        let mut tree = self.write();
        // One descent where it is wanted, as nearly always.
        let Some(old) = tree.take(&Point::Key(key) as &dyn Place) else { return 0 };
        if !f(&old.0) {
            tree.insert(old);
            return 0;
        }
        self.removed(&old.0);
        drop(tree);
        1
    }

    pub fn update(&self, key: Term, f: impl FnOnce(Option<&Object>) -> Change) {
        let mut tree = self.write();
        let change = f(tree.get(&Point::Key(key) as &dyn Place).map(|e| &*e.0));
        if let Change::Put(object) = change {
            self.put(&mut tree, object);
        }
    }

    fn bounds<'a>(range: Range<'a>, from: Option<Term>, backward: bool) -> (Bound<Point<'a>>, Bound<Point<'a>>) {
        let mut low = range.low.map_or(Bound::Unbounded, Bound::Included);
        let mut high = range.high.map_or(Bound::Unbounded, Bound::Included);
        if let Some(key) = from {
            // The key at which a traversal stopped lies within the range: it is the nearer bound.
            let bound = Bound::Excluded(Point::Key(key));
            if backward { high = bound } else { low = bound }
        }
        (low, high)
    }

    /// Neighbour of `key`, or the end of the table, in the given direction.
    pub fn next<R>(&self, key: Option<Term>, backward: bool, f: impl FnOnce(&Object) -> R) -> Option<R> {
        let tree = self.read();
        let (low, high) = TreeStore::bounds(Range::ALL, key, backward);
        let mut iter = tree.range::<dyn Place, _>((as_place(&low), as_place(&high)));
        let entry = if backward { iter.next_back() } else { iter.next() };
        entry.map(|e| f(&e.0))
    }

    /// Visits the objects of `range` behind `from` until `f` answers that it has enough. True at the end of the range.
    pub fn scan(&self, range: Range, from: Option<Term>, backward: bool, mut f: impl FnMut(&Object) -> bool) -> bool {
        let tree = self.read();
        let (low, high) = TreeStore::bounds(range, from, backward);
        if is_empty(&low, &high) {
            return true;
        }
        let mut iter = tree.range::<dyn Place, _>((as_place(&low), as_place(&high)));
        loop {
            let entry = if backward { iter.next_back() } else { iter.next() };
            match entry {
                None => return true,
                Some(e) if f(&e.0) => return false,
                Some(_) => {}
            }
        }
    }

    /// As `scan` (forward), but `f` may have objects deleted or replaced (by one with the same key).
    pub fn scan_write(&self, range: Range, from: Option<Term>, mut f: impl FnMut(&Object) -> (Verdict, bool)) -> bool {
        let mut tree = self.write();
        let (low, high) = TreeStore::bounds(range, from, false);
        if is_empty(&low, &high) {
            return true;
        }
        let mut ended = true;
        let mut gone: Vec<*const Object> = Vec::new();
        let mut fresh: Vec<Owned> = Vec::new();
        for entry in tree.range::<dyn Place, _>((as_place(&low), as_place(&high))) {
            let (verdict, stop) = f(&entry.0);
            match verdict {
                Verdict::Keep => {}
                Verdict::Delete => gone.push(&*entry.0),
                Verdict::Replace(object) => fresh.push(object),
            }
            if stop {
                ended = false;
                break;
            }
        }
        for object in gone {
            // SAFETY: still in the tree, which we hold locked; taken once.
            let key = unsafe { (*object).key };
            if let Some(old) = tree.take(&Point::Key(key) as &dyn Place) {
                self.removed(&old.0);
            }
        }
        for object in fresh {
            self.put(&mut tree, object);
        }
        ended
    }

    pub fn clear(&self) -> (usize, Removed) {
        let mut tree = self.write();
        let count = self.size();
        self.count.store(0, Relaxed);
        self.words.store(0, Relaxed);
        (count, Removed(std::mem::take(&mut tree)))
    }

    /// The object at position `index` in key order.
    pub fn nth<R>(&self, index: usize, f: impl FnOnce(&Object) -> R) -> Option<R> {
        self.read().iter().nth(index).map(|e| f(&e.0))
    }
}

fn as_place<'a>(bound: &'a Bound<Point<'a>>) -> Bound<&'a (dyn Place + 'a)> {
    match bound {
        Bound::Included(p) => Bound::Included(p as &dyn Place),
        Bound::Excluded(p) => Bound::Excluded(p as &dyn Place),
        Bound::Unbounded => Bound::Unbounded,
    }
}

/// `BTreeSet::range` does not take bounds that cross.
fn is_empty(low: &Bound<Point>, high: &Bound<Point>) -> bool {
    let (Bound::Included(a) | Bound::Excluded(a), Bound::Included(b) | Bound::Excluded(b)) = (low, high) else { return false };
    match compare(*a, *b) {
        Ordering::Greater => true,
        Ordering::Equal => !matches!((low, high), (Bound::Included(_), Bound::Included(_))),
        Ordering::Less => false,
    }
}
