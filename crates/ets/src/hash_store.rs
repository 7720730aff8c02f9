//! Hash tables: shards with a lock each, every shard a chained table that grows on its own.
//!
//! Objects have one total order: by hash (58 bits), then by key. The upper bits of the hash choose the shard, the next ones
//! the bucket, and chains are sorted, so walking shards and buckets in turn visits objects in that order, however the
//! tables grow meanwhile. A traversal that remembers where it was therefore sees every object that stays exactly once,
//! without any fixation.

use super::chains::{Chains, FIRST_BITS, Group, Kept, PLACE_BITS};
pub use super::chains::{PLACE_END, place_of};
use super::object::{Change, Object, Owned, Verdict};
use super::outlines::Outlines;
use heddle_runtime::locks::LockClass;
use heddle_sync::prefetch;
use heddle_sync::reader_lock::{ReadGuard, ReaderLock, WriteGuard};
use heddle_term::Term;
use heddle_term::order::exact_eq;
use smallvec::SmallVec;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Copies {
    /// One object per key.
    One,
    /// Several objects per key, no two of them equal.
    Distinct,
    Any,
}

pub struct HashStore {
    shards: Box<[Shard]>,
    outlines: Outlines,
    shard_bits: u32,
    copies: Copies,
    /// The table is fixed: deleted objects are kept, and it does not shrink.
    keeping: AtomicBool,
}

/// One cache line: a thread that takes the lock has the rest too.
#[repr(align(128))]
struct Shard {
    chains: ReaderLock<Chains>,
    count: AtomicUsize,
    words: AtomicUsize,
}

const _: () = assert!(size_of::<ReaderLock<Chains>>() + 2 * size_of::<AtomicUsize>() <= 64);

/// Objects that one change unlinked: mostly one.
type Gone = SmallVec<[Owned; 1]>;

/// Objects that were removed from a table. They are freed when this is dropped, or piece by piece.
pub struct Removed(Vec<Kept>);

impl Removed {
    pub fn append(&mut self, mut other: Removed) {
        self.0.append(&mut other.0);
    }
    pub fn count(&self) -> usize {
        self.0.iter().map(|kept| kept.count).sum()
    }
    /// Frees about `count` objects; returns how many.
    pub fn free_some(&mut self, count: usize) -> usize {
        let mut freed = 0;
        while freed < count
            && let Some(kept) = self.0.last_mut()
        {
            let here = kept.free_some(count - freed);
            freed += here;
            if here == 0 {
                self.0.pop();
            }
        }
        freed
    }
}

impl Shard {
    fn read(&self) -> ReadGuard<'_, Chains> {
        LockClass::EtsHash.read_biased(&self.chains)
    }
    fn write(&self) -> WriteGuard<'_, Chains> {
        LockClass::EtsHash.write_biased(&self.chains)
    }
    fn added(&self, object: &Object) {
        // Relaxed: statistics, written under the write lock.
        self.count.store(self.count.load(Relaxed) + 1, Relaxed);
        self.words.store(self.words.load(Relaxed) + object.words(), Relaxed);
    }
    fn removed(&self, object: &Object) {
        self.count.store(self.count.load(Relaxed) - 1, Relaxed);
        self.words.store(self.words.load(Relaxed) - object.words(), Relaxed);
    }

    /// Puts an object in, for which there is room. It takes the place of the one with its key if only one is allowed.
    fn put(&self, chains: &mut Chains, object: Owned, copies: Copies) {
        let (link, found) = chains.seek(object.hash, object.key);
        // SAFETY: we hold the write lock; `link` is a link of our chains.
        unsafe {
            if found && copies == Copies::One {
                self.replace(link, object);
                return;
            }
            if found && copies == Copies::Distinct {
                let mut other = *link;
                while !other.is_null() && (*other).hash == object.hash && exact_eq((*other).key, object.key) {
                    if exact_eq((*other).tuple(), object.tuple()) {
                        return;
                    }
                    other = (*other).next;
                }
            }
            self.added(&object);
            let raw = object.into_raw();
            (*raw).next = *link;
            *link = raw;
        }
    }

    /// # Safety
    /// `link` is a link to an object of the shard, whose write lock is held.
    unsafe fn replace(&self, link: *mut *mut Object, object: Owned) {
        // SAFETY: `link` is a link to an object of the shard, whose write lock is held.
        unsafe {
            let old = Owned::from_raw(*link);
            self.removed(&old);
            self.added(&object);
            let raw = object.into_raw();
            (*raw).next = old.next;
            *link = raw;
        }
    }

    /// # Safety
    /// As `replace`.
    unsafe fn unlink(&self, link: *mut *mut Object) -> Owned {
        // SAFETY: `link` is a link to an object of the shard, whose write lock is held.
        unsafe {
            let old = Owned::from_raw(*link);
            *link = old.next;
            self.removed(&old);
            old
        }
    }
}

impl HashStore {
    pub fn new(shard_bits: u32, copies: Copies) -> HashStore {
        let shards = (0..1usize << shard_bits)
            .map(|_| Shard { chains: ReaderLock::new(Chains::new(shard_bits)), count: AtomicUsize::new(0), words: AtomicUsize::new(0) })
            .collect();
        HashStore { shards, outlines: Outlines::new(1 << shard_bits), shard_bits, copies, keeping: AtomicBool::new(false) }
    }

    fn shard_index(&self, place: u64) -> usize {
        (place >> (PLACE_BITS - self.shard_bits)) as usize
    }
    fn shard(&self, place: u64) -> &Shard {
        &self.shards[self.shard_index(place)]
    }

    /// Prefetches for a change of the chain of `place` under the shard's lock.
    #[inline]
    pub fn expect_change(&self, place: u64) {
        let index = self.shard_index(place);
        prefetch::to_write(std::ptr::from_ref(&self.shards[index]).cast());
        prefetch::to_write(self.outlines.head(index, place, self.shard_bits));
    }

    /// Prefetches for a look at the chain of `place`.
    #[inline]
    fn expect_look(&self, index: usize, place: u64) {
        prefetch::to_read(self.outlines.head(index, place, self.shard_bits));
    }

    /// Puts an object into a shard, which grows if it must.
    fn put(&self, index: usize, chains: &mut Chains, object: Owned, copies: Copies) {
        let shard = &self.shards[index];
        if chains.grow_for(shard.count.load(Relaxed) + 1) {
            self.outlines.note(index, chains);
        }
        shard.put(chains, object, copies);
    }

    pub fn size(&self) -> usize {
        self.shards.iter().map(|s| s.count.load(Relaxed)).sum()
    }
    pub fn words(&self) -> usize {
        self.own_words() + self.shards.iter().map(|s| s.words.load(Relaxed)).sum::<usize>()
    }
    /// What must be true of it: each object is in the shard and the bucket of its place, each shard's are in order, and each key's are together
    /// and no more than there may be; count and words are those of its objects, words with those that are kept; there is a bucket for each half of an object.
    #[cfg(test)]
    pub fn check(&self) {
        for (index, shard) in self.shards.iter().enumerate() {
            let chains = shard.read();
            let (mut count, mut words, mut before) = (0, 0, None::<(u64, Term)>);
            for (bucket, &head) in chains.heads.iter().enumerate() {
                let mut object = head;
                // SAFETY: objects of the chains are live while the lock is held.
                while let Some(this) = unsafe { object.as_ref() } {
                    assert_eq!(((this.hash >> (PLACE_BITS - self.shard_bits)) as usize, chains.bucket(this.hash)), (index, bucket));
                    if let Some((place, key)) = before {
                        let order = place.cmp(&this.hash).then_with(|| heddle_term::order::cmp_exact(key, this.key));
                        assert!(order.is_lt() || order.is_eq() && self.copies != Copies::One, "{place} before {}", this.hash);
                    }
                    before = Some((this.hash, this.key));
                    (count, words, object) = (count + 1, words + this.words(), this.next);
                }
            }
            let kept_words = chains.kept.as_ref().map_or(0, |kept| kept.words);
            assert_eq!((count, words + kept_words), (shard.count.load(Relaxed), shard.words.load(Relaxed)));
            assert!(2 * count <= chains.heads.len(), "{count} in {} buckets", chains.heads.len());
        }
    }

    /// Without the objects.
    pub fn own_words(&self) -> usize {
        let own = (size_of::<Shard>() / 8) * self.shards.len() + self.outlines.words();
        // The first chains count from the start, so that a table that is empty again is as large as a new one.
        own + self.shards.iter().map(|s| s.read().heads.len().max(1 << FIRST_BITS)).sum::<usize>()
    }

    pub fn shards(&self) -> usize {
        self.shards.len()
    }

    // ---- fixed tables ----

    pub fn keep_deleted(&self) {
        self.keeping.store(true, Relaxed);
    }
    pub fn kept(&self) -> usize {
        self.shards.iter().filter_map(|s| s.read().kept.as_ref().map(|kept| kept.count)).sum()
    }
    /// Ends what `keep_deleted` began. Returns what was deleted meanwhile.
    pub fn give_up_kept(&self) -> Removed {
        self.keeping.store(false, Relaxed);
        let take = |index: usize| {
            let shard = &self.shards[index];
            let mut chains = shard.write();
            let kept = chains.kept.take().map(|kept| *kept);
            let words = kept.as_ref().map_or(0, |kept| kept.words);
            shard.words.store(shard.words.load(Relaxed) - words, Relaxed);
            self.shrink(index, &mut chains);
            kept
        };
        Removed((0..self.shards.len()).filter_map(take).collect())
    }

    fn shrink(&self, index: usize, chains: &mut Chains) {
        if chains.shrink_for(self.shards[index].count.load(Relaxed)) {
            self.outlines.note(index, chains);
        }
    }

    /// Keeps objects that were unlinked, if the table is fixed, or returns them so that they are freed without the lock.
    fn discard(&self, index: usize, chains: &mut Chains, gone: Gone) -> Gone {
        if !self.keeping.load(Relaxed) {
            self.shrink(index, chains);
            return gone;
        }
        let words: usize = gone.iter().map(|o| o.words()).sum();
        let all = &self.shards[index].words;
        all.store(all.load(Relaxed) + words, Relaxed);
        gone.into_iter().for_each(|o| chains.keep().push(o));
        Gone::new()
    }

    /// Calls `f` for every object, also for deleted ones that are kept.
    pub fn for_each(&self, mut f: impl FnMut(&Object)) {
        for shard in &self.shards {
            let chains = shard.read();
            let mut object = chains.at_or_after(0);
            while !object.is_null() {
                // SAFETY: the read lock is held.
                f(unsafe { &*object });
                object = chains.after(object);
            }
            chains.kept.iter().for_each(|kept| kept.for_each(&mut f));
        }
    }

    pub fn insert(&self, object: Owned) {
        let index = self.shard_index(object.hash);
        let mut chains = self.shards[index].write();
        self.put(index, &mut chains, object, self.copies);
    }

    /// Inserts all objects in one step, or none if only new keys are wanted and one exists. Returns None if the table does not exist any
    /// more. That is asked while no other process sees the new objects: one that sees them may delete the table at once.
    pub fn insert_all(&self, objects: Vec<Owned>, only_new: bool, is_there: impl Fn() -> bool) -> Option<bool> {
        let mut wanted: Vec<usize> = objects.iter().map(|o| self.shard_index(o.hash)).collect();
        wanted.sort_unstable();
        wanted.dedup();
        // Always in rising order, so that two such calls cannot wait for each other.
        let mut guards: Vec<_> = wanted.iter().map(|&i| self.shards[i].write()).collect();
        if !is_there() {
            return None;
        }
        let at = |o: &Owned| wanted.binary_search(&self.shard_index(o.hash)).expect("collected above");
        if only_new && objects.iter().any(|o| guards[at(o)].seek(o.hash, o.key).1) {
            return Some(false);
        }
        for object in objects {
            let index = at(&object);
            self.put(wanted[index], &mut guards[index], object, self.copies);
        }
        Some(true)
    }

    /// Calls `f` for the objects of a key, newest first.
    pub fn with_key(&self, key: Term, mut f: impl FnMut(&Object)) {
        let place = place_of(key);
        let index = self.shard_index(place);
        self.expect_look(index, place);
        let chains = self.shards[index].read();
        let (link, found) = chains.seek(place, key);
        if !found {
            return;
        }
        // SAFETY: the read lock is held.
        unsafe { Group { next: *link, place, key }.for_each(|o| f(&*o)) }
    }

    pub fn contains(&self, key: Term) -> bool {
        let place = place_of(key);
        self.shard(place).read().seek(place, key).1
    }

    /// Removes the objects of a key that `f` selects (newest first); returns how many.
    pub fn remove(&self, key: Term, mut f: impl FnMut(&Object) -> bool) -> usize {
        let place = place_of(key);
        let index = self.shard_index(place);
        let shard = &self.shards[index];
        self.expect_change(place);
        if shard.count.load(Relaxed) == 0 {
            return 0;
        }
        let mut chains = shard.write();
        let (mut link, found) = chains.seek(place, key);
        let mut gone = Gone::new();
        // SAFETY: the write lock is held.
        unsafe {
            while found && !(*link).is_null() && (**link).hash == place && exact_eq((**link).key, key) {
                if f(&**link) {
                    gone.push(shard.unlink(link));
                } else {
                    link = &raw mut (**link).next;
                }
            }
        }
        let count = gone.len();
        let gone = self.discard(index, &mut chains, gone);
        drop(chains);
        drop(gone);
        count
    }

    pub fn update(&self, key: Term, f: impl FnOnce(Option<&Object>) -> Change) {
        let place = place_of(key);
        let index = self.shard_index(place);
        // Most changes are in place, and leave the head as it is.
        self.expect_look(index, place);
        let mut chains = self.shards[index].write();
        let (link, found) = chains.seek(place, key);
        // SAFETY: the write lock is held.
        let change = f(found.then(|| unsafe { &**link }));
        if let Change::Put(object) = change {
            self.put(index, &mut chains, object, Copies::One);
        }
    }

    /// First object after those of `key` (or of all): calls `f` with it under the lock. `present` is set to true if the key is
    /// there, or was deleted while the table is fixed.
    pub fn next<R>(&self, key: Option<Term>, present: &mut bool, f: impl FnOnce(&Object) -> R) -> Option<R> {
        let start = key.map_or(0, place_of);
        let first_shard = self.shard_index(start);
        for (i, shard) in self.shards[first_shard..].iter().enumerate() {
            let chains = shard.read();
            let object = match key {
                Some(key) if i == 0 => {
                    let (link, found) = chains.seek(start, key);
                    *present = found || chains.kept.as_ref().is_some_and(|kept| kept.had(start));
                    // SAFETY: the read lock is held.
                    unsafe {
                        let mut object = if link.is_null() { null_mut() } else { *link };
                        while found && !object.is_null() && (*object).hash == start && exact_eq((*object).key, key) {
                            object = (*object).next;
                        }
                        // The chain may be at its end while later ones are not.
                        if object.is_null() { chains.at_or_after_bucket(start) } else { object }
                    }
                }
                _ => chains.at_or_after(shard_start(first_shard + i, self.shard_bits)),
            };
            if !object.is_null() {
                // SAFETY: the read lock is held.
                return Some(f(unsafe { &*object }));
            }
        }
        None
    }

    /// Visits objects from `place` on, newest of a key first, until `f` answers that it has enough; then goes on to the end
    /// of the equal places. Returns the place to go on at, or None at the end of the table.
    pub fn scan(&self, place: u64, mut f: impl FnMut(&Object) -> bool) -> Option<u64> {
        let mut enough = false;
        let first_shard = self.shard_index(place);
        for (i, shard) in self.shards[first_shard..].iter().enumerate() {
            if shard.count.load(Relaxed) == 0 {
                continue;
            }
            let chains = shard.read();
            let from = if i == 0 { place } else { shard_start(first_shard + i, self.shard_bits) };
            let mut object = chains.at_or_after(from);
            let mut last = u64::MAX;
            while !object.is_null() {
                // SAFETY: the read lock is held.
                let this = unsafe { &*object };
                if enough && this.hash != last {
                    return Some(this.hash);
                }
                last = this.hash;
                enough |= f(this);
                object = chains.after(object);
            }
            if enough {
                // The next call finds out if anything follows, as in stock.
                return (last + 1 < PLACE_END).then_some(last + 1);
            }
        }
        None
    }

    /// As `scan`, but `f` may have objects deleted or replaced (by one with the same key).
    pub fn scan_write(&self, place: u64, mut f: impl FnMut(&Object) -> (Verdict, bool)) -> Option<u64> {
        let mut enough = false;
        let first_shard = self.shard_index(place);
        for (i, shard) in self.shards[first_shard..].iter().enumerate() {
            if shard.count.load(Relaxed) == 0 {
                continue;
            }
            let mut gone = Gone::new();
            let mut chains = shard.write();
            let mut last = u64::MAX;
            let start = if i == 0 { place } else { shard_start(first_shard + i, self.shard_bits) };
            let mut next = None;
            'shard: for bucket in chains.bucket(start)..chains.heads.len() {
                let mut link = &raw mut chains.heads[bucket];
                // SAFETY: the write lock is held.
                unsafe {
                    while !(*link).is_null() {
                        let this = &**link;
                        if this.hash < start {
                            link = &raw mut (**link).next;
                            continue;
                        }
                        if enough && this.hash != last {
                            next = Some(this.hash);
                            break 'shard;
                        }
                        last = this.hash;
                        let (verdict, stop) = f(this);
                        enough |= stop;
                        match verdict {
                            Verdict::Keep => link = &raw mut (**link).next,
                            Verdict::Delete => gone.push(shard.unlink(link)),
                            Verdict::Replace(object) => {
                                shard.replace(link, object);
                                link = &raw mut (**link).next;
                            }
                        }
                    }
                }
            }
            let gone = self.discard(first_shard + i, &mut chains, gone);
            drop(chains);
            drop(gone);
            if next.is_some() {
                return next;
            }
            if enough {
                let next = shard_start(first_shard + i + 1, self.shard_bits);
                return (next < PLACE_END).then_some(next);
            }
        }
        None
    }

    /// Takes all objects out in one step. What a fixed table keeps is not in the result.
    pub fn clear(&self) -> (usize, Removed) {
        let mut guards: Vec<_> = self.shards.iter().map(|s| s.write()).collect();
        let count = self.size();
        let keeping = self.keeping.load(Relaxed);
        let mut removed = Vec::new();
        for (index, (shard, chains)) in self.shards.iter().zip(&mut guards).enumerate() {
            let here = shard.count.swap(0, Relaxed);
            let heads = chains.take_all();
            self.outlines.note(index, chains);
            if keeping {
                let kept = chains.keep();
                kept.count += here;
                kept.words = shard.words.load(Relaxed);
                kept.push_chains(heads);
            } else {
                shard.words.store(0, Relaxed);
                if !heads.is_empty() {
                    removed.push(Kept::cleared(here, heads));
                }
            }
        }
        (count, Removed(removed))
    }

    /// Buckets of all shards: their number, and the objects of bucket `index` given to `f`.
    pub fn bucket(&self, mut index: usize, mut f: impl FnMut(&Object)) -> Result<(), usize> {
        let mut total = 0;
        for shard in &self.shards {
            let chains = shard.read();
            let here = chains.heads.len().max(1);
            total += here;
            if index < here {
                let mut object = chains.heads.get(index).copied().unwrap_or(null_mut());
                while !object.is_null() {
                    // SAFETY: the read lock is held.
                    unsafe {
                        f(&*object);
                        object = (*object).next;
                    }
                }
                return Ok(());
            }
            index -= here;
        }
        Err(total)
    }

    /// Lengths of all chains.
    pub fn chain_lengths(&self) -> Vec<usize> {
        let mut lengths = Vec::new();
        for shard in &self.shards {
            let chains = shard.read();
            // A shard without chains gets its first ones with its first object.
            lengths.extend(std::iter::repeat_n(0, if chains.heads.is_empty() { 1 << FIRST_BITS } else { 0 }));
            for &head in &*chains.heads {
                let mut n = 0;
                let mut object = head;
                while !object.is_null() {
                    n += 1;
                    // SAFETY: the read lock is held.
                    object = unsafe { (*object).next };
                }
                lengths.push(n);
            }
        }
        lengths
    }
}

fn shard_start(index: usize, shard_bits: u32) -> u64 {
    (index as u64) << (PLACE_BITS - shard_bits)
}
