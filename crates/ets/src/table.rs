//! A table: its properties and its store.

use super::hash_store::{self, Copies, HashStore, place_of};
use super::object::{Change, Object, Owned};
use super::reap;
use super::tree_store::{self, TreeStore};
use heddle_runtime::lock_order::Ordered;
use heddle_runtime::locks::LockClass;
use heddle_runtime::{Package, RefId, sched};
use heddle_term::order::exact_eq;
use heddle_term::{Atom, Heap, Resource, Term};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TableType {
    Set,
    OrderedSet,
    Bag,
    DuplicateBag,
}

impl TableType {
    pub fn name(self) -> &'static str {
        match self {
            TableType::Set => "set",
            TableType::OrderedSet => "ordered_set",
            TableType::Bag => "bag",
            TableType::DuplicateBag => "duplicate_bag",
        }
    }
    pub fn is_bag(self) -> bool {
        matches!(self, TableType::Bag | TableType::DuplicateBag)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Protection {
    Private,
    Protected,
    Public,
}

impl Protection {
    pub fn name(self) -> &'static str {
        match self {
            Protection::Private => "private",
            Protection::Protected => "protected",
            Protection::Public => "public",
        }
    }
}

pub enum Store {
    Hash(HashStore),
    Tree(Box<TreeStore>),
}

/// The process that gets the table when its owner ends.
pub struct Heir {
    pub pid: u64,
    pub data: Package,
}

/// Processes that hold the table fixed, how often each does, and since when the first one does.
#[derive(Default)]
pub struct Fixations {
    pub since_system_us: i64,
    pub since_monotonic_ns: i64,
    pub by: Vec<(u64, usize)>,
}

pub struct TableOptions {
    pub kind: TableType,
    pub protection: Protection,
    pub named: bool,
    pub key_index: usize,
    pub heir: Option<(u64, Term)>,
    pub read_concurrency: bool,
    /// `true`, `false` or `auto`
    pub write_concurrency: Atom,
    /// The number of locks, if a test asked for one.
    pub locks: Option<usize>,
    pub decentralized: bool,
    pub compressed: bool,
}

pub struct Table {
    pub id: RefId,
    /// For making references. Set right after creation.
    me: std::sync::OnceLock<Weak<Table>>,
    /// Release in `set_name`, Acquire in `name`.
    name: AtomicU32,
    pub named: bool,
    pub kind: TableType,
    /// Position of the key, from 0.
    pub key_index: usize,
    /// Release where the owner changes (`owner::transfer`), Acquire in `owner`: what the old owner did is seen.
    pub owner: AtomicU64,
    /// Release in `set_protection`, Acquire in `protection`.
    protection: AtomicU8,
    /// AcqRel in `kill`, of which one call wins; Acquire in `is_alive`.
    alive: AtomicBool,
    pub heir: Mutex<Option<Heir>>,
    pub fixations: Mutex<Fixations>,
    pub read_concurrency: bool,
    pub write_concurrency: Atom,
    pub locks: Option<usize>,
    pub decentralized: bool,
    pub compressed: bool,
    pub store: Store,
}

impl Resource for Table {
    fn type_name(&self) -> &'static str {
        "ets_table"
    }
}

/// Locks of a table, as a power of two: few if only its owner uses it, more if concurrency was asked for. `SHARD_BITS` is the most of other tables.
const SHARD_BITS_PRIVATE: u32 = 0;
const SHARD_BITS: u32 = 4;
const SHARD_BITS_CONCURRENT: u32 = 6;

/// Of other tables: two locks for each scheduler, since each lock takes time when a table is made and when it is deleted. Programs that make a
/// table for one piece of work (mnesia does for each transaction) are frequent.
fn shard_bits() -> u32 {
    sched::count().checked_ilog2().map_or(SHARD_BITS, |bits| (bits + 1).min(SHARD_BITS))
}

/// What was in a table. It is freed when this is dropped, or piece by piece.
pub enum Removed {
    Hash(hash_store::Removed),
    Tree(tree_store::Removed),
}

impl Removed {
    /// Frees about `count` objects; returns how many.
    pub fn free_some(&mut self, count: usize) -> usize {
        match self {
            Removed::Hash(r) => r.free_some(count),
            Removed::Tree(r) => r.free_some(count),
        }
    }
}

impl Table {
    pub fn create(name: Atom, owner: u64, options: &TableOptions) -> Arc<Table> {
        let store = match options.kind {
            TableType::OrderedSet => Store::Tree(Box::new(TreeStore::new(options.write_concurrency != heddle_term::am::FALSE))),
            kind => {
                let copies = match kind {
                    TableType::Bag => Copies::Distinct,
                    TableType::DuplicateBag => Copies::Any,
                    _ => Copies::One,
                };
                let concurrent = options.read_concurrency || options.write_concurrency != heddle_term::am::FALSE;
                let bits = match options.protection {
                    Protection::Private => SHARD_BITS_PRIVATE,
                    _ if options.locks.is_some() => options.locks.map_or(0, |n| n.ilog2()),
                    _ if concurrent => SHARD_BITS_CONCURRENT,
                    _ => shard_bits(),
                };
                Store::Hash(HashStore::new(bits, copies))
            }
        };
        let table = Arc::new(Table {
            id: heddle_runtime::refs::fresh(),
            me: std::sync::OnceLock::new(),
            name: AtomicU32::new(name.index()),
            named: options.named,
            kind: options.kind,
            key_index: options.key_index,
            owner: AtomicU64::new(owner),
            protection: AtomicU8::new(options.protection as u8),
            alive: AtomicBool::new(true),
            heir: Mutex::new(options.heir.map(|(pid, data)| Heir { pid, data: Package::new(data) })),
            fixations: Mutex::default(),
            read_concurrency: options.read_concurrency,
            write_concurrency: options.write_concurrency,
            locks: options.locks,
            decentralized: options.decentralized,
            compressed: options.compressed,
            store,
        });
        let _ = table.me.set(Arc::downgrade(&table));
        table
    }

    pub fn shared(&self) -> Arc<Table> {
        self.me.get().and_then(Weak::upgrade).expect("a table that is looked at is held")
    }

    pub fn name(&self) -> Atom {
        Atom::from_index(self.name.load(Ordering::Acquire))
    }
    pub fn set_name(&self, name: Atom) {
        self.name.store(name.index(), Ordering::Release);
    }
    pub fn protection(&self) -> Protection {
        match self.protection.load(Ordering::Acquire) {
            0 => Protection::Private,
            1 => Protection::Protected,
            _ => Protection::Public,
        }
    }
    pub fn set_protection(&self, protection: Protection) {
        self.protection.store(protection as u8, Ordering::Release);
    }
    pub fn is_alive(&self) -> bool {
        self.alive.load(Ordering::Acquire)
    }
    /// Ends the table. True for the one caller that did.
    pub fn kill(&self) -> bool {
        self.alive.swap(false, Ordering::AcqRel)
    }
    pub fn owner(&self) -> u64 {
        self.owner.load(Ordering::Acquire)
    }
    pub fn fixations(&self) -> Ordered<MutexGuard<'_, Fixations>> {
        LockClass::EtsFixations.lock(&self.fixations)
    }
    pub fn is_fixed(&self) -> bool {
        !self.fixations().by.is_empty()
    }

    pub fn reference(&self, heap: &mut Heap) -> Term {
        heap.magic_reference(self.id.words(), self.shared())
    }
    /// The term by which programs know the table: its name if it is named, else its reference.
    pub fn public_id(&self, heap: &mut Heap) -> Term {
        if self.named { self.name().into() } else { self.reference(heap) }
    }

    // ---- objects ----

    /// The key of a tuple, or None if the tuple is too short for this table.
    pub fn key_of(&self, tuple: Term) -> Option<Term> {
        tuple.as_tuple()?.get(self.key_index).copied()
    }

    /// Calls `f` for every object, also for deleted ones that a fixed table keeps.
    pub fn for_each(&self, mut f: impl FnMut(&Object)) {
        match &self.store {
            Store::Hash(s) => s.for_each(f),
            Store::Tree(s) => {
                s.scan(tree_store::Range::ALL, None, false, |object| {
                    f(object);
                    false
                });
            }
        }
    }

    /// Called when the table becomes fixed: a hash table keeps what is deleted from now on.
    pub fn keep_deleted(&self) {
        if let Store::Hash(s) = &self.store {
            s.keep_deleted();
        }
    }
    /// Called when the table is not fixed any more.
    pub fn give_up_kept(&self) {
        if let Store::Hash(s) = &self.store {
            let kept = s.give_up_kept();
            reap::reap(kept.count(), Removed::Hash(kept));
        }
    }

    /// A stored copy of `tuple`, which has a key.
    pub fn object(&self, tuple: Term) -> Owned {
        let hash = match &self.store {
            Store::Hash(store) => {
                let place = place_of(tuple.slot(self.key_index));
                // Lines that come from another core are fetched while the copy is made.
                store.expect_change(place);
                place
            }
            Store::Tree(_) => 0,
        };
        Owned::new(tuple, self.key_index, hash)
    }

    pub fn insert(&self, object: Owned) {
        match &self.store {
            Store::Hash(s) => s.insert(object),
            Store::Tree(s) => s.insert(object),
        }
    }
    /// Inserts all objects, or none if only new keys are wanted and one exists. Returns None if the table was deleted.
    pub fn insert_all(&self, objects: Vec<Owned>, only_new: bool) -> Option<bool> {
        match &self.store {
            Store::Hash(s) => s.insert_all(objects, only_new, || self.is_alive()),
            Store::Tree(s) => s.insert_all(objects, only_new, || self.is_alive()),
        }
    }
    /// Calls `f` for the objects of a key, newest first.
    pub fn with_key(&self, key: Term, f: impl FnMut(&Object)) {
        match &self.store {
            Store::Hash(s) => s.with_key(key, f),
            Store::Tree(s) => s.with_key(key, f),
        }
    }
    pub fn contains(&self, key: Term) -> bool {
        match &self.store {
            Store::Hash(s) => s.contains(key),
            Store::Tree(s) => s.contains(key),
        }
    }
    pub fn remove(&self, key: Term, f: impl FnMut(&Object) -> bool) -> usize {
        match &self.store {
            Store::Hash(s) => s.remove(key, f),
            Store::Tree(s) => s.remove(key, f),
        }
    }
    pub fn remove_object(&self, key: Term, tuple: Term) -> usize {
        self.remove(key, |o| exact_eq(o.tuple(), tuple))
    }
    pub fn update(&self, key: Term, f: impl FnOnce(Option<&Object>) -> Change) {
        match &self.store {
            Store::Hash(s) => s.update(key, f),
            Store::Tree(s) => s.update(key, f),
        }
    }
    pub fn clear(&self) -> (usize, Removed) {
        match &self.store {
            Store::Hash(s) => {
                let (n, removed) = s.clear();
                (n, Removed::Hash(removed))
            }
            Store::Tree(s) => {
                let (n, removed) = s.clear();
                (n, Removed::Tree(removed))
            }
        }
    }
    /// As `clear`, with what the table kept while it was fixed.
    pub fn empty(&self) -> (usize, Removed) {
        let Store::Hash(s) = &self.store else { return self.clear() };
        let mut all = s.give_up_kept();
        let (_, removed) = s.clear();
        all.append(removed);
        (all.count(), Removed::Hash(all))
    }
    pub fn size(&self) -> usize {
        match &self.store {
            Store::Hash(s) => s.size(),
            Store::Tree(s) => s.size(),
        }
    }
    pub fn words(&self) -> usize {
        let own = size_of::<Table>() / 8;
        own + match &self.store {
            Store::Hash(s) => s.words(),
            Store::Tree(s) => s.words(),
        }
    }

    /// Without the objects.
    pub fn own_words(&self) -> usize {
        size_of::<Table>() / 8
            + match &self.store {
                Store::Hash(s) => s.own_words(),
                Store::Tree(s) => s.own_words(),
            }
    }

    /// The list of a key's objects in the order of their insertion, copied to `heap`, before `tail`.
    pub fn lookup(&self, heap: &mut Heap, key: Term) -> Term {
        let mut list = Term::NIL;
        self.with_key(key, |object| {
            let copy = heap.copy(object.tuple());
            list = heap.cons(copy, list);
        });
        list
    }
}
