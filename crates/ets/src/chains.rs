//! The chains of one shard of a hash table: a power of two of buckets, each a list of objects in the table's order (by place,
//! then by key). The caller holds the shard's lock: for reading in what only looks, for writing in what changes links.

use super::object::{Object, Owned};
use heddle_term::Term;
use heddle_term::hash::internal_hash;
use heddle_term::order::{cmp_exact, exact_eq};
use std::cmp::Ordering as Order;
use std::collections::HashSet;
use std::ptr::null_mut;

/// Bits of an object's place.
pub const PLACE_BITS: u32 = 58;
pub const PLACE_END: u64 = 1 << PLACE_BITS;

pub fn place_of(key: Term) -> u64 {
    internal_hash(key) >> (64 - PLACE_BITS)
}

pub(super) struct Chains {
    /// The heads of the buckets. Their number is a power of two, or 0.
    pub heads: Box<[*mut Object]>,
    /// Objects that were deleted while the table was fixed.
    pub kept: Option<Box<Kept>>,
    bits: u8,
    shard_bits: u8,
}

/// Which of `1 << bits` buckets of its shard, of which there are `1 << shard_bits`, a place is in.
#[inline(always)]
pub(super) fn bucket(place: u64, shard_bits: u32, bits: u32) -> usize {
    (((place << shard_bits) & (PLACE_END - 1)) >> (PLACE_BITS - bits)) as usize
}

fn empty_heads(bits: u32) -> Box<[*mut Object]> {
    vec![null_mut(); 1 << bits].into_boxed_slice()
}

/// Deleted objects that are not freed yet.
#[derive(Default)]
pub(super) struct Kept {
    pub count: usize,
    pub words: usize,
    pub objects: Vec<Owned>,
    /// Whole chains, of a table that was cleared.
    pub chains: Vec<*mut Object>,
    /// Places of all of these. A traversal may go on from a key that was deleted, but not from one that never was in the table.
    places: HashSet<u64, foldhash::fast::FixedState>,
}

// SAFETY: owns its objects.
unsafe impl Send for Kept {}

impl Kept {
    /// The `count` objects of a cleared table, in `chains`. They are not found by their places.
    pub fn cleared(count: usize, chains: Vec<*mut Object>) -> Kept {
        Kept { count, words: 0, objects: Vec::new(), chains, places: HashSet::default() }
    }

    pub fn push(&mut self, object: Owned) {
        self.count += 1;
        self.words += object.words();
        self.places.insert(object.hash);
        self.objects.push(object);
    }

    /// Keeps the chains of a table that is cleared while it is fixed.
    pub fn push_chains(&mut self, chains: Vec<*mut Object>) {
        let mut places = std::mem::take(&mut self.places);
        for_each_of(&chains, |object| {
            places.insert(object.hash);
        });
        self.places = places;
        self.chains.extend(chains);
    }

    /// True if an object of this place was deleted.
    pub fn had(&self, place: u64) -> bool {
        self.places.contains(&place)
    }

    pub fn for_each(&self, mut f: impl FnMut(&Object)) {
        self.objects.iter().for_each(|o| f(o));
        for_each_of(&self.chains, f);
    }

    /// Frees about `count` objects (chains as a whole); returns how many.
    pub fn free_some(&mut self, count: usize) -> usize {
        let alone = self.objects.len().min(count);
        self.objects.truncate(self.objects.len() - alone);
        let mut freed = alone;
        while freed < count
            && let Some(head) = self.chains.pop()
        {
            freed += free_chain(head);
        }
        freed
    }
}

fn for_each_of(chains: &[*mut Object], mut f: impl FnMut(&Object)) {
    for &head in chains {
        let mut object = head;
        while !object.is_null() {
            // SAFETY: the caller owns the chains.
            unsafe {
                f(&*object);
                object = (*object).next;
            }
        }
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.free_some(usize::MAX);
    }
}

// SAFETY: the chains own their objects, which are Send and Sync.
unsafe impl Send for Chains {}
// SAFETY: as above.
unsafe impl Sync for Chains {}

pub(super) const FIRST_BITS: u32 = 3;

impl Chains {
    /// Chains of a shard among `1 << shard_bits`, empty.
    pub(super) fn new(shard_bits: u32) -> Chains {
        Chains { heads: Box::default(), kept: None, bits: 0, shard_bits: shard_bits as u8 }
    }

    fn bits(&self) -> u32 {
        self.bits as u32
    }

    pub(super) fn bucket(&self, place: u64) -> usize {
        bucket(place, self.shard_bits as u32, self.bits())
    }

    /// What `bucket` needs. For a caller without the lock, which only wants to know where the head may lie.
    pub(super) fn outline(&self) -> (*mut *mut Object, u8) {
        (if self.heads.is_empty() { null_mut() } else { self.heads.as_ptr().cast_mut() }, self.bits)
    }

    /// The link to the first object that is not before (place, key), and true if that object has the key.
    pub(super) fn seek(&self, place: u64, key: Term) -> (*mut *mut Object, bool) {
        if self.heads.is_empty() {
            return (null_mut(), false);
        }
        let mut link = self.heads.as_ptr().wrapping_add(self.bucket(place)).cast_mut();
        // SAFETY: links and objects of our chains are live while the lock is held.
        unsafe {
            loop {
                let object = *link;
                if object.is_null() || (*object).hash > place {
                    return (link, false);
                }
                if (*object).hash == place {
                    if exact_eq((*object).key, key) {
                        return (link, true);
                    }
                    if cmp_exact((*object).key, key) == Order::Greater {
                        return (link, false);
                    }
                }
                link = &raw mut (*object).next;
            }
        }
    }

    /// First object at or after `place` in this shard.
    pub(super) fn at_or_after(&self, place: u64) -> *mut Object {
        if self.heads.is_empty() {
            return null_mut();
        }
        let first = self.bucket(place);
        for (i, &head) in self.heads[first..].iter().enumerate() {
            let mut object = head;
            // SAFETY: as in `seek`.
            unsafe {
                while i == 0 && !object.is_null() && (*object).hash < place {
                    object = (*object).next;
                }
            }
            if !object.is_null() {
                return object;
            }
        }
        null_mut()
    }

    /// The object after `object` in this shard's order.
    pub(super) fn after(&self, object: *mut Object) -> *mut Object {
        // SAFETY: as in `seek`.
        unsafe {
            if !(*object).next.is_null() {
                return (*object).next;
            }
            let bucket = self.bucket((*object).hash);
            self.heads[bucket + 1..].iter().copied().find(|o| !o.is_null()).unwrap_or(null_mut())
        }
    }

    /// Makes room for `count` objects: splits every chain at its middle place. True if that changed the outline.
    pub(super) fn grow_for(&mut self, count: usize) -> bool {
        let full = |chains: &Chains| 2 * count > chains.heads.len() && chains.bits() + (chains.shard_bits as u32) < 40;
        if !self.heads.is_empty() && !full(self) {
            return false;
        }
        if self.heads.is_empty() {
            self.bits = FIRST_BITS as u8;
            self.heads = empty_heads(FIRST_BITS);
        }
        while full(self) {
            self.set_bits(self.bits() + 1);
        }
        true
    }

    /// Merges chains if there is room for many more than `count` objects. True if that changed the outline.
    pub(super) fn shrink_for(&mut self, count: usize) -> bool {
        let before = self.bits;
        while self.bits() > FIRST_BITS && count < self.heads.len() / 8 {
            self.set_bits(self.bits() - 1);
        }
        self.bits != before
    }

    fn set_bits(&mut self, bits: u32) {
        let old = std::mem::replace(&mut self.heads, empty_heads(bits));
        self.bits = bits as u8;
        // Objects come in order, so each is the last of its new chain.
        let mut last: (usize, *mut Object) = (usize::MAX, null_mut());
        for head in old {
            let mut object = head;
            while !object.is_null() {
                // SAFETY: we own the chains.
                unsafe {
                    let next = std::mem::replace(&mut (*object).next, null_mut());
                    let bucket = self.bucket((*object).hash);
                    if bucket == last.0 {
                        (*last.1).next = object;
                    } else {
                        self.heads[bucket] = object;
                    }
                    last = (bucket, object);
                    object = next;
                }
            }
        }
    }

    pub(super) fn take_all(&mut self) -> Vec<*mut Object> {
        self.bits = 0;
        std::mem::take(&mut self.heads).into_vec()
    }

    /// The place for objects that are deleted while the table is fixed.
    pub(super) fn keep(&mut self) -> &mut Kept {
        self.kept.get_or_insert_default()
    }
}

impl Drop for Chains {
    fn drop(&mut self) {
        self.take_all().into_iter().for_each(|head| {
            free_chain(head);
        });
    }
}

fn free_chain(head: *mut Object) -> usize {
    let mut count = 0;
    let mut object = head;
    while !object.is_null() {
        // SAFETY: unlinked as a whole; each is owned by its chain.
        unsafe {
            let next = (*object).next;
            drop(Owned::from_raw(object));
            object = next;
        }
        count += 1;
    }
    count
}

/// The objects of a key from `first` on.
pub(super) struct Group {
    pub next: *mut Object,
    pub place: u64,
    pub key: Term,
}

impl Iterator for Group {
    type Item = *mut Object;
    fn next(&mut self) -> Option<*mut Object> {
        let object = self.next;
        // SAFETY: objects are live while the lock that the caller holds is held.
        unsafe {
            if object.is_null() || (*object).hash != self.place || !exact_eq((*object).key, self.key) {
                return None;
            }
            self.next = (*object).next;
        }
        Some(object)
    }
}

impl Chains {
    /// First object in a bucket after that of `place`.
    pub(super) fn at_or_after_bucket(&self, place: u64) -> *mut Object {
        if self.heads.is_empty() {
            return null_mut();
        }
        self.heads[self.bucket(place) + 1..].iter().copied().find(|o| !o.is_null()).unwrap_or(null_mut())
    }
}
