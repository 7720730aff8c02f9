//! A piece of an ordered table, with a lock of its own, and the directory that tells which piece has a key.

use super::object::{Object, Owned};
use super::tree_order::{Entry, Point, compare};
use heddle_runtime::locks::LockClass;
use heddle_sync::reader_lock::{ReadGuard, ReaderLock, WriteGuard};
use heddle_term::order::cmp;
use heddle_term::{Header, Kind, Term};
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

pub(super) struct Contents {
    pub tree: BTreeSet<Entry>,
    /// Another piece has taken the place of this one: the caller must look into the directory again.
    pub replaced: bool,
}

/// In cache lines of its own, since other cores use the segments beside it.
#[repr(align(128))]
pub(super) struct Segment {
    contents: ReaderLock<Contents>,
    /// Rises with every wait for the lock, and falls slowly when none waits.
    contention: AtomicI32,
}

/// What one wait for the lock adds (guessed, as all figures here: a few waits in a hundred make a piece split).
const WAITED: i32 = 250;
const SPLIT_AT: i32 = 1000;
const JOIN_AT: i32 = -1000;

/// What to do with a segment after a change.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Advice {
    Keep,
    Split,
    Join,
}

impl Segment {
    pub fn new(tree: BTreeSet<Entry>) -> Arc<Segment> {
        Arc::new(Segment { contents: ReaderLock::new(Contents { tree, replaced: false }), contention: AtomicI32::new(0) })
    }

    pub fn read(&self) -> ReadGuard<'_, Contents> {
        LockClass::EtsTree.read_biased(&self.contents)
    }

    /// Takes the lock. Also returns what contention advises: more pieces, fewer, or no change.
    pub fn write(&self) -> (WriteGuard<'_, Contents>, Advice) {
        LockClass::EtsTree.tries();
        // Relaxed: a heuristic.
        let (guard, change) = match self.contents.try_write() {
            Some(guard) => (guard, -1),
            None => (LockClass::EtsTree.wait(|| self.contents.write()), WAITED),
        };
        let now = self.contention.load(Relaxed) + change;
        let advice = match now {
            SPLIT_AT.. => Advice::Split,
            ..=JOIN_AT => Advice::Join,
            _ => Advice::Keep,
        };
        self.contention.store(if advice == Advice::Keep { now } else { 0 }, Relaxed);
        (guard, advice)
    }

    pub fn try_write(&self) -> Option<WriteGuard<'_, Contents>> {
        self.contents.try_write()
    }
}

/// The pieces in order, and the lowest key of every piece but the first.
pub(super) struct Directory {
    pub lows: Vec<Arc<Owned>>,
    pub segments: Vec<Arc<Segment>>,
}

impl Directory {
    pub fn single(tree: BTreeSet<Entry>) -> Directory {
        Directory { lows: Vec::new(), segments: vec![Segment::new(tree)] }
    }

    /// The piece that has `key` if any has.
    pub fn of_key(&self, key: Term) -> usize {
        self.lows.partition_point(|low| cmp(low.key, key) != Ordering::Greater)
    }

    /// The first piece with anything at or above a lower bound.
    pub fn first_of(&self, low: &Bound<Point>) -> usize {
        match low {
            Bound::Unbounded => 0,
            Bound::Included(p) | Bound::Excluded(p) => self.lows.partition_point(|l| compare(Point::Key(l.key), *p) != Ordering::Greater),
        }
    }

    /// The last piece with anything at or below an upper bound.
    pub fn last_of(&self, high: &Bound<Point>) -> usize {
        match high {
            Bound::Unbounded => self.lows.len(),
            Bound::Included(p) => self.lows.partition_point(|l| compare(Point::Key(l.key), *p) != Ordering::Greater),
            Bound::Excluded(p) => self.lows.partition_point(|l| compare(Point::Key(l.key), *p) == Ordering::Less),
        }
    }

    /// With two pieces in place of piece `index`; `low` is the lowest key of the second.
    pub fn with_split(&self, index: usize, low: Owned, halves: [Arc<Segment>; 2]) -> Directory {
        let mut lows = self.lows.clone();
        lows.insert(index, Arc::new(low));
        let mut segments = self.segments.clone();
        segments.splice(index..=index, halves);
        Directory { lows, segments }
    }

    /// With one piece in place of `index` and its right neighbour.
    pub fn with_join(&self, index: usize, whole: Arc<Segment>) -> Directory {
        let mut lows = self.lows.clone();
        lows.remove(index);
        let mut segments = self.segments.clone();
        segments.splice(index..=index + 1, [whole]);
        Directory { lows, segments }
    }
}

/// An object that is only a copy of the key of `object`.
pub(super) fn key_only(object: &Object) -> Owned {
    let words = [Header::new(Kind::Tuple, 1).raw(), object.key.raw()];
    Owned::new(Term::boxed(words.as_ptr()), 0, 0)
}
