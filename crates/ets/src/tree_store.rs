//! Ordered tables: balanced trees, each with a lock and a range of the keys.
//!
//! A table starts with one piece. A piece splits in two if writers wait for each other there, and neighbours join if none waits,
//! whatever options the table was made with. The directory of pieces is replaced as a whole and read without a lock: a reader that finds a
//! piece that was replaced meanwhile looks again.

use super::object::{Change, Object, Owned, Verdict};
use super::tree_order::{Entry, Key, Place, as_place, is_empty};
pub use super::tree_order::{Point, Range};
use super::tree_segment::{Advice, Contents, Directory, Segment, key_only};
use heddle_runtime::locks::LockClass;
use heddle_runtime::qsbr;
use heddle_sync::reader_lock::WriteGuard;
use heddle_term::Term;
use std::collections::BTreeSet;
use std::collections::btree_set::IntoIter;
use std::ops::Bound;
use std::sync::atomic::{AtomicBool, AtomicIsize, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

pub struct TreeStore {
    /// AcqRel in `replace_directory`, Acquire in `directory`: what is in it is complete.
    directory: AtomicPtr<Directory>,
    /// The thread that replaces the directory holds this.
    resizing: Mutex<()>,
    /// Made for concurrent writers, as `ets:info` shows.
    concurrent: bool,
    counter: Counter,
    /// Counters that exist from the first split on, so that writers seldom share a cache line.
    more: OnceLock<Box<[Counter; COUNTERS]>>,
    /// Tests: split after every change, or split and join at random.
    pub force_split: AtomicBool,
    pub random_split_join: AtomicBool,
}

#[repr(align(128))]
#[derive(Default)]
struct Counter {
    objects: AtomicIsize,
    words: AtomicIsize,
}

/// All objects of a cleared table. They are freed when this is dropped, or piece by piece.
pub struct Removed(Vec<IntoIter<Entry>>);

impl Removed {
    /// Frees up to `count` objects; returns how many.
    pub fn free_some(&mut self, count: usize) -> usize {
        let mut freed = 0;
        while freed < count
            && let Some(tree) = self.0.last_mut()
        {
            let here = tree.take(count - freed).count();
            freed += here;
            if here == 0 {
                self.0.pop();
            }
        }
        freed
    }
}

/// Nodes of the tree: two words an object, and the room that is not used (approximate).
const NODE_WORDS: isize = 3;
const COUNTERS: usize = 16;
/// Most pieces of a table (guessed: some for each of many cores), and most objects of two that are joined.
const MAX_SEGMENTS: usize = 512;
const MAX_JOINED: usize = 2000;

static NEXT_SLOT: AtomicUsize = AtomicUsize::new(0);
thread_local! {
    static SLOT: usize = NEXT_SLOT.fetch_add(1, Ordering::Relaxed);
}

impl TreeStore {
    /// `concurrent`: made for concurrent writers.
    pub fn new(concurrent: bool) -> TreeStore {
        TreeStore {
            directory: AtomicPtr::new(Box::into_raw(Box::new(Directory::single(BTreeSet::new())))),
            resizing: Mutex::new(()),
            concurrent,
            counter: Counter::default(),
            more: OnceLock::new(),
            force_split: AtomicBool::new(false),
            random_split_join: AtomicBool::new(false),
        }
    }

    fn directory(&self) -> &Directory {
        // Acquire: pairs with the Release in `replace_directory`.
        // SAFETY: never null; a replaced one is retired, and callers are natives, which run between quiescent points.
        unsafe { &*self.directory.load(Ordering::Acquire) }
    }

    /// The caller holds `resizing`.
    fn replace_directory(&self, new: Directory) {
        let old = self.directory.swap(Box::into_raw(Box::new(new)), Ordering::AcqRel) as usize;
        // SAFETY: the table owned it; readers may still look until they are quiescent.
        qsbr::retire(move || unsafe { drop(Box::from_raw(old as *mut Directory)) });
    }

    fn counter(&self) -> &Counter {
        self.more.get().map_or(&self.counter, |more| &more[SLOT.with(|slot| slot % COUNTERS)])
    }
    fn counters(&self) -> impl Iterator<Item = &Counter> {
        std::iter::once(&self.counter).chain(self.more.get().into_iter().flat_map(|more| more.iter()))
    }
    // Relaxed: statistics.
    fn added(&self, object: &Object) {
        let counter = self.counter();
        counter.objects.fetch_add(1, Ordering::Relaxed);
        counter.words.fetch_add(object.words() as isize + NODE_WORDS, Ordering::Relaxed);
    }
    fn removed(&self, object: &Object) {
        let counter = self.counter();
        counter.objects.fetch_sub(1, Ordering::Relaxed);
        counter.words.fetch_sub(object.words() as isize + NODE_WORDS, Ordering::Relaxed);
    }
    pub fn size(&self) -> usize {
        self.counters().map(|c| c.objects.load(Ordering::Relaxed)).sum::<isize>().max(0) as usize
    }
    /// Without the objects.
    pub fn own_words(&self) -> usize {
        size_of::<Counter>() / 8 * self.counters().count() + NODE_WORDS as usize * self.size()
    }
    pub fn words(&self) -> usize {
        let own = size_of::<Counter>() / 8 * self.counters().count();
        own + self.counters().map(|c| c.words.load(Ordering::Relaxed)).sum::<isize>().max(0) as usize
    }

    /// How many pieces, and how many steps a search among them takes.
    pub fn pieces(&self) -> Option<(usize, usize)> {
        let count = self.directory().segments.len();
        self.concurrent.then_some((count, count.next_power_of_two().trailing_zeros() as usize))
    }

    // ---- one key ----

    fn reading<R>(&self, key: Term, f: impl FnOnce(&Contents) -> R) -> R {
        loop {
            let directory = self.directory();
            let contents = directory.segments[directory.of_key(key)].read();
            if !contents.replaced {
                return f(&contents);
            }
        }
    }

    fn writing<R>(&self, key: Term, f: impl FnOnce(&mut Contents) -> R) -> R {
        loop {
            let directory = self.directory();
            let segment = &directory.segments[directory.of_key(key)];
            let (mut contents, advice) = segment.write();
            if !contents.replaced {
                let result = f(&mut contents);
                // This piece may never be visited again: if keys only rise, empty pieces would stay and use up their number.
                let advice = if contents.tree.is_empty() && directory.segments.len() > 1 { Advice::Join } else { advice };
                self.adapt(key, segment, contents, advice);
                return result;
            }
        }
    }

    fn put(&self, contents: &mut Contents, object: Owned) -> Option<Entry> {
        self.added(&object);
        let old = contents.tree.replace(Entry::new(object));
        if let Some(old) = &old {
            self.removed(&old.object);
        }
        old
    }

    pub fn insert(&self, object: Owned) {
        let key = object.key;
        let old = self.writing(key, |contents| self.put(contents, object));
        drop(old);
    }

    pub fn with_key(&self, key: Term, f: impl FnMut(&Object)) {
        self.reading(key, |c| c.tree.get(&Key(key)).map(|e| &*e.object).into_iter().for_each(f));
    }

    pub fn contains(&self, key: Term) -> bool {
        self.reading(key, |c| c.tree.contains(&Key(key)))
    }

    pub fn remove(&self, key: Term, mut f: impl FnMut(&Object) -> bool) -> usize {
        let gone = self.writing(key, |contents| {
            // One descent of the tree if the object is selected, as it nearly always is.
            let old = contents.tree.take(&Key(key))?;
            if !f(&old.object) {
                contents.tree.insert(old);
                return None;
            }
            self.removed(&old.object);
            Some(old)
        });
        gone.is_some() as usize
    }

    pub fn update(&self, key: Term, f: impl FnOnce(Option<&Object>) -> Change) {
        let old = self.writing(key, |contents| {
            let change = f(contents.tree.get(&Key(key)).map(|e| &*e.object));
            if let Change::Put(object) = change { self.put(contents, object) } else { None }
        });
        drop(old);
    }

    // ---- several pieces at once ----

    /// As `insert_all` of the hash store.
    pub fn insert_all(&self, objects: Vec<Owned>, only_new: bool, is_there: impl Fn() -> bool) -> Option<bool> {
        loop {
            let directory = self.directory();
            let mut wanted: Vec<usize> = objects.iter().map(|o| directory.of_key(o.key)).collect();
            wanted.sort_unstable();
            wanted.dedup();
            // Always in rising order, so that two such calls cannot wait for each other.
            let mut guards: Vec<Guard> = wanted.iter().map(|&i| directory.segments[i].write().0).collect();
            if guards.iter().any(|contents| contents.replaced) {
                continue;
            }
            if !is_there() {
                return None;
            }
            let at = |key| wanted.binary_search(&directory.of_key(key)).expect("collected above");
            if only_new && objects.iter().any(|o| guards[at(o.key)].tree.contains(&Key(o.key))) {
                return Some(false);
            }
            let put = |object: Owned| {
                let index = at(object.key);
                self.put(&mut guards[index], object)
            };
            let old: Vec<Entry> = objects.into_iter().filter_map(put).collect();
            drop(guards);
            drop(old);
            return Some(true);
        }
    }

    pub fn clear(&self) -> (usize, Removed) {
        let _resizing = LockClass::EtsTreeShape.lock(&self.resizing);
        // None of these pieces is replaced while all are locked.
        let mut guards: Vec<Guard> = self.directory().segments.iter().map(|s| s.write().0).collect();
        // Counters change under the locks of pieces only.
        let mut count = 0;
        for counter in self.counters() {
            count += counter.objects.swap(0, Ordering::Relaxed);
            counter.words.store(0, Ordering::Relaxed);
        }
        let take = |contents: &mut Guard| {
            contents.replaced = true;
            std::mem::take(&mut contents.tree).into_iter()
        };
        let trees = guards.iter_mut().map(take).collect();
        self.replace_directory(Directory::single(BTreeSet::new()));
        (count.max(0) as usize, Removed(trees))
    }

    // ---- in order ----

    /// Visits the objects within the bounds until `f` answers that it has enough. True at the end.
    fn visit(&self, mut low: Bound<Point>, mut high: Bound<Point>, backward: bool, mut f: impl FnMut(&Object) -> bool) -> bool {
        // Edges of pieces become bounds, and their piece may be replaced during the traversal.
        let _guard = qsbr::guard();
        loop {
            if is_empty(&low, &high) {
                return true;
            }
            let directory = self.directory();
            let index = if backward { directory.last_of(&high) } else { directory.first_of(&low) };
            let contents = directory.segments[index].read();
            if contents.replaced {
                continue;
            }
            let mut iter = contents.tree.range::<dyn Place, _>((as_place(&low), as_place(&high)));
            while let Some(entry) = if backward { iter.next_back() } else { iter.next() } {
                if f(&entry.object) {
                    return false;
                }
            }
            drop(contents);
            if backward {
                let Some(edge) = index.checked_sub(1).map(|i| &directory.lows[i]) else { return true };
                high = Bound::Excluded(Point::Key(edge.key));
            } else {
                let Some(edge) = directory.lows.get(index) else { return true };
                low = Bound::Included(Point::Key(edge.key));
            }
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
        let (low, high) = TreeStore::bounds(Range::ALL, key, backward);
        let (mut f, mut result) = (Some(f), None);
        self.visit(low, high, backward, |object| {
            result = f.take().map(|f| f(object));
            true
        });
        result
    }

    /// Visits the objects of `range` after `from` until `f` answers that it has enough. True at the end of the range.
    pub fn scan(&self, range: Range, from: Option<Term>, backward: bool, f: impl FnMut(&Object) -> bool) -> bool {
        let (low, high) = TreeStore::bounds(range, from, backward);
        self.visit(low, high, backward, f)
    }

    /// As `scan` (forward), but `f` may have objects deleted or replaced (by one with the same key).
    pub fn scan_write(&self, range: Range, from: Option<Term>, mut f: impl FnMut(&Object) -> (Verdict, bool)) -> bool {
        let _guard = qsbr::guard();
        let (mut low, high) = TreeStore::bounds(range, from, false);
        loop {
            if is_empty(&low, &high) {
                return true;
            }
            let directory = self.directory();
            let index = directory.first_of(&low);
            let (mut contents, _) = directory.segments[index].write();
            if contents.replaced {
                continue;
            }
            if !self.scan_piece(&mut contents, (low, high), &mut f) {
                return false;
            }
            drop(contents);
            let Some(edge) = directory.lows.get(index) else { return true };
            low = Bound::Included(Point::Key(edge.key));
        }
    }

    fn scan_piece(
        &self,
        contents: &mut Contents,
        (low, high): (Bound<Point>, Bound<Point>),
        f: &mut impl FnMut(&Object) -> (Verdict, bool),
    ) -> bool {
        let mut ended = true;
        let mut gone: Vec<*const Object> = Vec::new();
        let mut fresh: Vec<Owned> = Vec::new();
        for entry in contents.tree.range::<dyn Place, _>((as_place(&low), as_place(&high))) {
            let (verdict, stop) = f(&entry.object);
            match verdict {
                Verdict::Keep => {}
                Verdict::Delete => gone.push(&*entry.object),
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
            if let Some(old) = contents.tree.take(&Key(key)) {
                self.removed(&old.object);
            }
        }
        for object in fresh {
            self.put(contents, object);
        }
        ended
    }

    /// The object at position `index` in key order.
    pub fn nth<R>(&self, index: usize, f: impl FnOnce(&Object) -> R) -> Option<R> {
        let (mut left, mut f, mut result) = (index, Some(f), None);
        self.visit(Bound::Unbounded, Bound::Unbounded, false, |object| {
            if left > 0 {
                left -= 1;
                return false;
            }
            result = f.take().map(|f| f(object));
            true
        });
        result
    }

    // ---- splitting and joining ----

    /// Called after a change of the piece of `key`, which is locked: makes more pieces if writers wait, and fewer if they do not.
    fn adapt(&self, key: Term, segment: &Arc<Segment>, mut contents: Guard, advice: Advice) {
        let advice = if self.force_split.load(Ordering::Relaxed) {
            Advice::Split
        } else if self.random_split_join.load(Ordering::Relaxed) {
            // The address of the tree's first object and its size are random enough.
            let mix = contents.tree.len().wrapping_mul(0x9e37_79b9) ^ contents.tree.first().map_or(0, |e| e.object.words());
            [Advice::Keep, Advice::Split, Advice::Join, Advice::Keep][mix >> 7 & 3]
        } else {
            advice
        };
        if advice == Advice::Keep {
            return;
        }
        // Not waited for: its holder may be waiting for our piece.
        let Ok(_resizing) = self.resizing.try_lock() else { return };
        // It may be newer than the directory by which we found the piece. The piece is in it all the same, since it was not replaced.
        let directory = self.directory();
        let index = directory.of_key(key);
        debug_assert!(Arc::ptr_eq(&directory.segments[index], segment));
        match advice {
            Advice::Split if directory.segments.len() < MAX_SEGMENTS => self.split(directory, index, &mut contents),
            Advice::Join => self.join(directory, index, &mut contents),
            _ => {}
        }
    }

    fn split(&self, directory: &Directory, index: usize, contents: &mut Contents) {
        let middle = contents.tree.len() / 2;
        let Some(low) = contents.tree.iter().nth(middle).filter(|_| middle > 0).map(|e| key_only(&e.object)) else { return };
        let upper = contents.tree.split_off(&Key(low.key));
        let lower = std::mem::take(&mut contents.tree);
        contents.replaced = true;
        self.more.get_or_init(Default::default);
        self.replace_directory(directory.with_split(index, low, [Segment::new(lower), Segment::new(upper)]));
    }

    fn join(&self, directory: &Directory, index: usize, contents: &mut Contents) {
        let Some(right) = directory.segments.get(index + 1) else { return };
        let Some(mut other) = right.try_write() else { return };
        if contents.tree.len() + other.tree.len() > MAX_JOINED {
            return;
        }
        let mut whole = std::mem::take(&mut contents.tree);
        // This takes no time if one is empty.
        whole.append(&mut other.tree);
        (contents.replaced, other.replaced) = (true, true);
        self.replace_directory(directory.with_join(index, Segment::new(whole)));
    }
}

type Guard<'a> = WriteGuard<'a, Contents>;

impl Drop for TreeStore {
    fn drop(&mut self) {
        // SAFETY: no reader is left, and the table owns it.
        drop(unsafe { Box::from_raw(*self.directory.get_mut()) });
    }
}
