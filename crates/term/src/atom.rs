//! The atom table: names to numbers and back. Atoms are never removed. Reads take no lock: the name index is replaced as a
//! whole when it grows (old ones are kept, their sizes form a geometric series), and the entries lie in chunks that never
//! move.
//!
//! Numbers can be reserved for names that machine code from a file knows (`reserve`). Such an atom is not there for programs until it is made. So
//! beside its number an atom has a rank: how many atoms were there when it was made. Programs see the order of ranks, in small maps.

use heddle_abi::settings::SETTINGS;
use std::hash::{BuildHasher, Hasher};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, Once};

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(transparent)]
pub struct Atom(u32);

#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub enum AtomError {
    /// More than 255 characters: `system_limit`.
    TooLong,
    /// The table has reached its limit (`+t`, default 1,048,576): the VM stops, as stock's does.
    TableFull,
}

pub const MAX_CHARACTERS: usize = 255;
/// Largest limit that can be asked for.
pub const MAX_LIMIT: usize = CHUNK * CHUNKS;

const CHUNK: usize = 4096;
const CHUNKS: usize = 8192;

struct Entry {
    name: &'static str,
    hash: u64,
    /// `RESERVED` until the atom is made. Release in `make`, Acquire in `lookup`. Relaxed where an atom is at hand: it was made before.
    rank: AtomicU32,
}

/// The rank of an atom that is not there yet.
const RESERVED: u32 = u32::MAX;

struct Index {
    /// Atom number + 1, or 0.
    /// Release in `place`, Acquire in `lookup`: a thread that sees the number sees the entry.
    slots: Box<[AtomicU32]>,
}

/// Release in `place` where a chunk is made, Acquire in `entry`. An atom is known only after its entry was written.
static ENTRIES: [AtomicPtr<Entry>; CHUNKS] = [const { AtomicPtr::new(std::ptr::null_mut()) }; CHUNKS];
/// Release in `grow`, Acquire in all readers: the slots of an index that is seen are filled.
static INDEX: AtomicPtr<Index> = AtomicPtr::new(std::ptr::null_mut());
/// Numbers that are taken. Release in `place_kept`. Readers load Relaxed: they only compare or count.
static NUMBERS: AtomicUsize = AtomicUsize::new(0);
/// Atoms that are there. Release in `make`. Readers load Relaxed: they only compare or count.
static COUNT: AtomicUsize = AtomicUsize::new(0);
/// True if ranks differ from numbers. Relaxed: it changes before there are atoms that it is true of.
static IS_RANKED: AtomicBool = AtomicBool::new(false);
static WRITER: Mutex<()> = Mutex::new(());
/// Done when the predefined names are in the table.
static FILLED: Once = Once::new();
static BYTES: AtomicUsize = AtomicUsize::new(0);

fn hash_name(name: &str) -> u64 {
    let mut hasher = foldhash::fast::FixedState::default().build_hasher();
    hasher.write(name.as_bytes());
    let hash = hasher.finish();
    #[cfg(any(test, feature = "narrow-hash"))]
    let hash = crate::hash::narrow::of_name(hash);
    hash
}

fn entry(index: u32) -> &'static Entry {
    // Acquire: pairs with the Release store of the chunk in `insert`.
    let chunk = ENTRIES[index as usize / CHUNK].load(Ordering::Acquire);
    debug_assert!(!chunk.is_null());
    // SAFETY: an atom number is only handed out after its entry was written; chunks are never freed.
    unsafe { &*chunk.add(index as usize % CHUNK) }
}

/// The atom of this name, if it is there.
fn lookup(name: &str, hash: u64) -> Option<Atom> {
    find(name, hash).filter(|atom| entry(atom.0).rank.load(Ordering::Acquire) != RESERVED)
}

/// The atom of this name, which may be reserved.
fn find(name: &str, hash: u64) -> Option<Atom> {
    // Acquire: pairs with the Release store in `insert`/`grow`.
    let index = INDEX.load(Ordering::Acquire);
    if index.is_null() {
        return None;
    }
    // SAFETY: published indices are never freed.
    let slots = unsafe { &(&*index).slots };
    let mask = slots.len() - 1;
    let mut at = hash as usize & mask;
    loop {
        match slots[at].load(Ordering::Acquire) {
            0 => return None,
            n => {
                let candidate = entry(n - 1);
                if candidate.hash == hash && candidate.name == name {
                    return Some(Atom(n - 1));
                }
            }
        }
        at = (at + 1) & mask;
    }
}

/// Puts the predefined names in, at the first use of the table. A thread that comes meanwhile waits until all are there.
#[inline]
fn fill() {
    FILLED.call_once(|| {
        let _guard = WRITER.lock().unwrap();
        grow(1 << 15);
        for name in crate::am::names() {
            place(name, hash_name(name));
        }
    });
}

fn insert(name: &str, hash: u64) -> Result<Atom, AtomError> {
    fill();
    let _guard = WRITER.lock().unwrap();
    if let Some(atom) = lookup(name, hash) {
        return Ok(atom);
    }
    if COUNT.load(Ordering::Relaxed) >= limit() {
        return Err(AtomError::TableFull);
    }
    if let Some(atom) = find(name, hash) {
        return Ok(make(atom));
    }
    if NUMBERS.load(Ordering::Relaxed) >= MAX_LIMIT {
        return Err(AtomError::TableFull);
    }
    Ok(place(name, hash))
}

/// Keeps the numbers from `first` on for these names. Returns false, and keeps none or not all, if they are taken, or if there is an atom with
/// such a name.
pub fn reserve(first: usize, names: &[&'static str]) -> bool {
    fill();
    let _guard = WRITER.lock().unwrap();
    if NUMBERS.load(Ordering::Relaxed) != first || first + names.len() > MAX_LIMIT {
        return false;
    }
    IS_RANKED.store(true, Ordering::Relaxed);
    names.iter().all(|&name| {
        let hash = hash_name(name);
        let is_new = find(name, hash).is_none();
        if is_new {
            place_kept(name, hash);
        }
        is_new
    })
}

/// The atom, which has its number, is there from now on; the writer lock is held.
fn make(atom: Atom) -> Atom {
    let (entry, rank) = (entry(atom.0), COUNT.load(Ordering::Relaxed));
    BYTES.fetch_add(entry.name.len(), Ordering::Relaxed);
    entry.rank.store(rank as u32, Ordering::Release);
    COUNT.store(rank + 1, Ordering::Release);
    atom
}

/// Appends a name that is not there yet, and makes its atom; the writer lock is held.
fn place(name: &str, hash: u64) -> Atom {
    make(place_kept(Box::leak(name.to_owned().into_boxed_str()), hash))
}

/// Appends a name that is not there yet; the writer lock is held.
fn place_kept(name: &'static str, hash: u64) -> Atom {
    let number = NUMBERS.load(Ordering::Relaxed);
    let cell = &ENTRIES[number / CHUNK];
    if cell.load(Ordering::Relaxed).is_null() {
        let chunk: Vec<Entry> = (0..CHUNK).map(|_| Entry { name: "", hash: 0, rank: AtomicU32::new(RESERVED) }).collect();
        // Release: pairs with the Acquire in `entry`.
        cell.store(Box::leak(chunk.into_boxed_slice()).as_mut_ptr(), Ordering::Release);
    }
    // SAFETY: the chunk is there, and the slot lies in it. No thread reads the slot before the index has its number, and the writer lock is held.
    unsafe { *cell.load(Ordering::Relaxed).add(number % CHUNK) = Entry { name, hash, rank: AtomicU32::new(RESERVED) } };
    NUMBERS.store(number + 1, Ordering::Release);
    // SAFETY: published indices are never freed.
    let len = unsafe { &*INDEX.load(Ordering::Relaxed) }.slots.len();
    if (number + 1) * 2 > len {
        grow(len * 2);
    } else {
        link(number as u32, hash);
    }
    Atom(number as u32)
}

fn link(number: u32, hash: u64) {
    // SAFETY: published indices are never freed.
    let slots = unsafe { &(&*INDEX.load(Ordering::Relaxed)).slots };
    link_into(slots, number, hash);
}

fn link_into(slots: &[AtomicU32], number: u32, hash: u64) {
    let mask = slots.len() - 1;
    let mut at = hash as usize & mask;
    while slots[at].load(Ordering::Relaxed) != 0 {
        at = (at + 1) & mask;
    }
    // Release: pairs with the Acquire in `lookup`; the entry was written before.
    slots[at].store(number + 1, Ordering::Release);
}

fn grow(len: usize) {
    let slots: Box<[AtomicU32]> = (0..len).map(|_| AtomicU32::new(0)).collect();
    for number in 0..NUMBERS.load(Ordering::Relaxed) as u32 {
        link_into(&slots, number, entry(number).hash);
    }
    // The old index is left to readers that may still walk it.
    INDEX.store(Box::into_raw(Box::new(Index { slots })), Ordering::Release);
}

impl Atom {
    #[inline(always)]
    pub const fn index(self) -> u32 {
        self.0
    }
    #[inline(always)]
    pub const fn from_index(index: u32) -> Atom {
        Atom(index)
    }

    /// The atom of this name, made if need be.
    pub fn try_new(name: &str) -> Result<Atom, AtomError> {
        let hash = hash_name(name);
        if let Some(atom) = lookup(name, hash) {
            return Ok(atom);
        }
        if name.len() > MAX_CHARACTERS && name.chars().count() > MAX_CHARACTERS {
            return Err(AtomError::TooLong);
        }
        insert(name, hash)
    }

    /// The atom of a name that is known to be short; stops the VM when the table is full.
    pub fn new(name: &str) -> Atom {
        match Atom::try_new(name) {
            Ok(atom) => atom,
            Err(AtomError::TooLong) => panic!("atom name too long: {name}"),
            Err(AtomError::TableFull) => table_full(),
        }
    }

    /// The atom of this name if it exists already.
    pub fn existing(name: &str) -> Option<Atom> {
        fill();
        lookup(name, hash_name(name))
    }

    pub fn name(self) -> &'static str {
        fill();
        entry(self.0).name
    }

    /// The order in which atoms were made.
    #[inline(always)]
    pub fn cmp_age(self, other: Atom) -> std::cmp::Ordering {
        if IS_RANKED.load(Ordering::Relaxed) { self.rank().cmp(&other.rank()) } else { self.0.cmp(&other.0) }
    }

    /// How many atoms were there when it was made.
    pub fn rank(self) -> u32 {
        entry(self.0).rank.load(Ordering::Relaxed)
    }

    /// The atom with this rank.
    pub fn of_rank(rank: u32) -> Option<Atom> {
        if rank as usize >= count() {
            return None;
        }
        (0..NUMBERS.load(Ordering::Relaxed) as u32).map(Atom).find(|atom| atom.rank() == rank)
    }

    /// Order of atoms as terms: by their characters (code points).
    pub fn cmp_name(self, other: Atom) -> std::cmp::Ordering {
        if self == other { std::cmp::Ordering::Equal } else { self.name().as_bytes().cmp(other.name().as_bytes()) }
    }
}

impl std::fmt::Debug for Atom {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "'{}'", self.name())
    }
}

/// Stops the VM as stock does when no atom number is left.
pub fn table_full() -> ! {
    crate::complain!("no more index entries in atom_tab (max={})\n", limit());
    crate::complain!("Raise the limit with +t N, or find the code that makes atoms from input (list_to_atom, binary_to_atom).\n");
    std::process::exit(1)
}

/// Atoms that are there.
pub fn count() -> usize {
    COUNT.load(Ordering::Relaxed)
}
pub fn limit() -> usize {
    SETTINGS.atom_limit.get().min(MAX_LIMIT)
}
pub fn set_limit(limit: usize) {
    SETTINGS.atom_limit.set(limit);
}
/// What must be true of the table: each atom is found by its name, from where the index says, the index has each once and room for as many
/// again, and each rank is had once. No thread makes atoms meanwhile.
#[cfg(any(test, feature = "narrow-hash"))]
pub fn check() {
    // SAFETY: published indices are never freed.
    let slots = unsafe { &(&*INDEX.load(Ordering::Acquire)).slots };
    let mut numbers: Vec<u32> = slots.iter().map(|slot| slot.load(Ordering::Relaxed)).filter(|&n| n != 0).collect();
    numbers.sort_unstable();
    let all = NUMBERS.load(Ordering::Relaxed);
    assert!(numbers.iter().copied().eq(1..=all as u32), "{} of {all} are in the index", numbers.len());
    assert!(all * 2 <= slots.len());
    let (mut bytes, mut ranks) = (0, Vec::new());
    for number in 0..all as u32 {
        let atom = Atom(number);
        let &Entry { name, hash, .. } = entry(number);
        assert!(hash == hash_name(name) && find(name, hash) == Some(atom), "{name}");
        let is_there = atom.rank() != RESERVED;
        assert_eq!(lookup(name, hash), is_there.then_some(atom), "{name}");
        if is_there {
            bytes += name.len();
            ranks.push(atom.rank());
        }
    }
    ranks.sort_unstable();
    assert!(ranks.into_iter().eq(0..count() as u32));
    assert_eq!(bytes, name_bytes());
}

/// Bytes of the entries that are taken, reserved ones too, without the names.
pub fn entry_bytes() -> usize {
    NUMBERS.load(Ordering::Relaxed) * size_of::<Entry>()
}

/// Bytes of the names of all atoms that are there.
pub fn name_bytes() -> usize {
    BYTES.load(Ordering::Relaxed)
}
