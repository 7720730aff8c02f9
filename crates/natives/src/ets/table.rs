//! A table: its properties and its store.

use super::hash_store::{self, Copies, HashStore, place_of};
use super::object::{Change, Object, Owned};
use super::tree_store::{self, TreeStore};
use heddle_runtime::{Package, RefId};
use heddle_term::order::exact_eq;
use heddle_term::{Atom, Heap, Resource, Term};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Type {
    Set,
    OrderedSet,
    Bag,
    DuplicateBag,
}

impl Type {
    pub fn name(self) -> &'static str {
        match self {
            Type::Set => "set",
            Type::OrderedSet => "ordered_set",
            Type::Bag => "bag",
            Type::DuplicateBag => "duplicate_bag",
        }
    }
    pub fn is_bag(self) -> bool {
        matches!(self, Type::Bag | Type::DuplicateBag)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Protection {
    Private,
    Protected,
    Public,
}

pub enum Store {
    Hash(HashStore),
    Tree(TreeStore),
}

/// Who gets the table when its owner ends.
pub struct Heir {
    pub pid: u64,
    pub data: Package,
}

/// Processes that hold the table fixed, with how often, and since when the first does.
#[derive(Default)]
pub struct Fixations {
    pub since_system_us: i64,
    pub since_monotonic_ns: i64,
    pub by: Vec<(u64, usize)>,
}

pub struct Options {
    pub kind: Type,
    pub protection: Protection,
    pub named: bool,
    pub key_index: usize,
    pub heir: Option<(u64, Term)>,
    pub read_concurrency: bool,
    /// `true`, `false` or `auto`
    pub write_concurrency: Atom,
    pub decentralized: bool,
    pub compressed: bool,
}

pub struct Table {
    pub id: RefId,
    /// To make references from: set right after creation.
    me: std::sync::OnceLock<Weak<Table>>,
    name: AtomicU32,
    pub named: bool,
    pub kind: Type,
    /// Position of the key, from 0.
    pub key_index: usize,
    pub owner: AtomicU64,
    protection: AtomicU8,
    alive: AtomicBool,
    pub heir: Mutex<Option<Heir>>,
    pub fixations: Mutex<Fixations>,
    pub read_concurrency: bool,
    pub write_concurrency: Atom,
    pub decentralized: bool,
    pub compressed: bool,
    pub store: Store,
}

impl Resource for Table {
    fn type_name(&self) -> &'static str {
        "ets_table"
    }
}

/// Locks of a table: few for one that its owner alone uses, more where concurrency was asked for.
const SHARD_BITS_PRIVATE: u32 = 0;
const SHARD_BITS: u32 = 4;
const SHARD_BITS_CONCURRENT: u32 = 6;

/// What was in a table; freed when it is dropped.
pub enum Removed {
    Hash(#[allow(dead_code, reason = "only to be dropped")] hash_store::Removed),
    Tree(#[allow(dead_code, reason = "only to be dropped")] tree_store::Removed),
}

impl Table {
    pub fn create(name: Atom, owner: u64, options: &Options) -> Arc<Table> {
        let store = match options.kind {
            Type::OrderedSet => Store::Tree(TreeStore::default()),
            kind => {
                let copies = match kind {
                    Type::Bag => Copies::Distinct,
                    Type::DuplicateBag => Copies::Any,
                    _ => Copies::One,
                };
                let concurrent = options.read_concurrency || options.write_concurrency != heddle_term::am::FALSE;
                let bits = match options.protection {
                    Protection::Private => SHARD_BITS_PRIVATE,
                    _ if concurrent => SHARD_BITS_CONCURRENT,
                    _ => SHARD_BITS,
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
    /// True for the one caller that ends the table.
    pub fn kill(&self) -> bool {
        self.alive.swap(false, Ordering::AcqRel)
    }
    pub fn owner(&self) -> u64 {
        self.owner.load(Ordering::Acquire)
    }
    pub fn fixations(&self) -> MutexGuard<'_, Fixations> {
        self.fixations.lock().unwrap_or_else(|e| e.into_inner())
    }
    pub fn is_fixed(&self) -> bool {
        !self.fixations().by.is_empty()
    }

    pub fn reference(&self, heap: &mut Heap) -> Term {
        heap.magic_reference(self.id.words(), self.shared())
    }
    /// What programs know the table by: its name if it is a named one.
    pub fn public_id(&self, heap: &mut Heap) -> Term {
        if self.named { self.name().into() } else { self.reference(heap) }
    }

    // ---- objects ----

    /// Key of a tuple that may go into this table.
    pub fn key_of(&self, tuple: Term) -> Option<Term> {
        tuple.as_tuple()?.get(self.key_index).copied()
    }

    /// A stored form of `tuple`, which has a key.
    pub fn object(&self, tuple: Term) -> Owned {
        let hash = match self.store {
            Store::Hash(_) => place_of(tuple.slot(self.key_index)),
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
    pub fn insert_all(&self, objects: Vec<Owned>, only_new: bool) -> bool {
        match &self.store {
            Store::Hash(s) => s.insert_all(objects, only_new),
            Store::Tree(s) => s.insert_all(objects, only_new),
        }
    }
    /// Newest first.
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
        self.remove(key, |o| exact_eq(o.tuple, tuple))
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

    /// The list of a key's objects in the order of their insertion, copied to `heap`, before `tail`.
    pub fn lookup(&self, heap: &mut Heap, key: Term) -> Term {
        let mut list = Term::NIL;
        self.with_key(key, |object| {
            let copy = heap.copy(object.tuple);
            list = heap.cons(copy, list);
        });
        list
    }
}

/// Frees the contents of a table, elsewhere if they are many.
pub fn reap(count: usize, removed: Removed) {
    const AT_ONCE: usize = 2000;
    if count <= AT_ONCE {
        drop(removed);
        return;
    }
    static REAPER: Mutex<Option<std::sync::mpsc::Sender<Removed>>> = Mutex::new(None);
    let mut reaper = REAPER.lock().unwrap_or_else(|e| e.into_inner());
    let sender = reaper.get_or_insert_with(|| {
        let (sender, receiver) = std::sync::mpsc::channel::<Removed>();
        let _ = std::thread::Builder::new().name("ets_reaper".into()).spawn(move || receiver.into_iter().for_each(drop));
        sender
    });
    // Without a thread the receiver is gone: the error gives it back, to be freed here.
    drop(sender.send(removed));
}
