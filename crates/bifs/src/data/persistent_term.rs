//! Persistent terms: a table of literals, read without lock.
//!
//! Open addressing over slots that hold `{Key, Value}` tuples in literal memory. Writers take a lock. A table that gets full, or
//! nearly empty, is replaced; readers of the old one are waited for by quiescent-state reclamation. A term that was erased or
//! replaced is freed once no process refers to it (`heddle_runtime::literals`).

use heddle_runtime::locks::LockClass;
use heddle_runtime::process::{NativeResult, Process};
use heddle_runtime::{literal_areas, qsbr};
use heddle_term::hash::internal_hash;
use heddle_term::literal::{Area, keep_shared};
use heddle_term::{Atom, Term, am, map, order};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

heddle_runtime::natives! { TABLE:
    "persistent_term" => {
        "put"/2 => put,
        "get"/0 => get_0,
        "get"/1 => get_1,
        "get"/2 => get_2,
        "erase"/1 => erase,
        "info"/0 => info,
    }
    "erts_internal" => { "erase_persistent_terms"/0 => erase_all }
}

/// A slot without term: never used, or emptied.
const FREE: u64 = 0;
const ERASED: u64 = Term::NONE.raw();
const FIRST_SIZE: usize = 256;
/// A native that looks at all terms pays reductions for all slots of the table, of which at most every other one has a term.
const SLOTS_PER_REDUCTION: usize = 16;

struct Table {
    /// Release in `insert`, AcqRel in `put` and `erase`, Acquire in `find` and `words`: the tuple that is seen is whole.
    slots: Box<[AtomicU64]>,
}

/// What writers keep, under the lock.
struct Writer {
    count: usize,
    /// Slots that are not FREE.
    used: usize,
    words: usize,
    /// The memory of each tuple, by its word in the table.
    areas: BTreeMap<u64, Area>,
}

impl Writer {
    /// Hands the memory of a tuple that left the table to the collector of literals.
    fn give_up(&mut self, word: u64) {
        if let Some(area) = self.areas.remove(&word) {
            self.words -= area.words();
            literal_areas::give_up(vec![area]);
        }
    }
}

/// AcqRel in `resize`, Acquire in `table`: the slots of a table that is seen are filled.
static TABLE_PTR: AtomicPtr<Table> = AtomicPtr::new(std::ptr::null_mut());
static WRITER: Mutex<Writer> = Mutex::new(Writer { count: 0, used: 0, words: 0, areas: BTreeMap::new() });

fn table() -> Option<&'static Table> {
    // Acquire: pairs with the Release store in `resize`.
    let table = TABLE_PTR.load(Ordering::Acquire);
    // SAFETY: a table is freed only when no scheduler can hold it any more; natives run between quiescent states.
    unsafe { table.as_ref() }
}

/// The `{Key, Value}` of a slot's word.
fn entry(word: u64) -> Option<(Term, Term)> {
    if word == FREE || word == ERASED {
        return None;
    }
    match Term::from_raw(word).as_tuple() {
        Some(&[key, value]) => Some((key, value)),
        _ => None,
    }
}

impl Table {
    /// Slot and value of a key.
    fn find(&self, key: Term) -> Option<(&AtomicU64, Term)> {
        let mask = self.slots.len() - 1;
        let mut at = internal_hash(key) as usize & mask;
        loop {
            let slot = &self.slots[at];
            // Acquire: pairs with the Release store in `insert`; the tuple was written before.
            let word = slot.load(Ordering::Acquire);
            if word == FREE {
                return None;
            }
            if let Some((k, value)) = entry(word)
                && order::exact_eq(k, key)
            {
                return Some((slot, value));
            }
            at = (at + 1) & mask;
        }
    }

    /// Puts a tuple whose key is not there into a free slot.
    fn insert(&self, tuple: Term, key: Term) {
        let mask = self.slots.len() - 1;
        let mut at = internal_hash(key) as usize & mask;
        while self.slots[at].load(Ordering::Relaxed) != FREE {
            at = (at + 1) & mask;
        }
        self.slots[at].store(tuple.raw(), Ordering::Release);
    }

    fn words(&self) -> impl Iterator<Item = u64> {
        // Acquire: see `slots`.
        self.slots.iter().map(|slot| slot.load(Ordering::Acquire))
    }
}

/// A new table of the live entries, half full at most.
fn resize(writer: &mut Writer) -> &'static Table {
    let size = ((writer.count + 1) * 2).next_power_of_two().max(FIRST_SIZE);
    let new = Box::new(Table { slots: (0..size).map(|_| AtomicU64::new(FREE)).collect() });
    for word in table().into_iter().flat_map(Table::words) {
        if let Some((key, _)) = entry(word) {
            new.insert(Term::from_raw(word), key);
        }
    }
    writer.used = writer.count;
    let old = TABLE_PTR.swap(Box::into_raw(new), Ordering::AcqRel);
    if !old.is_null() {
        let old = old as usize;
        // SAFETY: unlinked just now; it came from Box::into_raw.
        qsbr::retire(move || drop(unsafe { Box::from_raw(old as *mut Table) }));
    }
    // SAFETY: just made.
    unsafe { &*TABLE_PTR.load(Ordering::Relaxed) }
}

fn put(p: &mut Process, a: &[Term]) -> NativeResult {
    let mut writer = LockClass::PersistentTerms.lock(&WRITER);
    let found = table().and_then(|t| t.find(a[0]));
    if let Some((_, old)) = found
        && order::exact_eq(old, a[1])
    {
        return Ok(am::OK.into());
    }
    let pair = p.heap.tuple(&[a[0], a[1]]);
    let (literal, area) = keep_shared(pair);
    let area = area.expect("a tuple needs memory");
    p.bump(area.words() / 32);
    writer.words += area.words();
    writer.areas.insert(literal.raw(), area);
    if let Some((slot, _)) = found {
        // AcqRel: pairs with the Acquire in `find`.
        let old = slot.swap(literal.raw(), Ordering::AcqRel);
        writer.give_up(old);
        return Ok(am::OK.into());
    }
    let table = match table() {
        Some(table) if (writer.used + 1) * 2 <= table.slots.len() => table,
        _ => resize(&mut writer),
    };
    table.insert(literal, literal.slot(0));
    writer.count += 1;
    writer.used += 1;
    Ok(am::OK.into())
}

/// The value of the key, which the runtime must not keep.
pub fn lookup(key: Term) -> Option<Term> {
    Some(table()?.find(key)?.1)
}

fn get_1(p: &mut Process, a: &[Term]) -> NativeResult {
    lookup(a[0]).ok_or_else(|| p.badarg())
}

fn get_2(_: &mut Process, a: &[Term]) -> NativeResult {
    Ok(lookup(a[0]).unwrap_or(a[1]))
}

fn get_0(p: &mut Process, _: &[Term]) -> NativeResult {
    p.bump(slots() / SLOTS_PER_REDUCTION);
    let all: Vec<Term> = table().into_iter().flat_map(Table::words).filter(|&w| entry(w).is_some()).map(Term::from_raw).collect();
    Ok(p.heap.list(&all))
}

fn erase(_: &mut Process, a: &[Term]) -> NativeResult {
    let mut writer = LockClass::PersistentTerms.lock(&WRITER);
    let Some((slot, _)) = table().and_then(|t| t.find(a[0])) else { return Ok(Term::bool(false)) };
    // AcqRel: pairs with the Acquire in `find`.
    let old = slot.swap(ERASED, Ordering::AcqRel);
    writer.count -= 1;
    writer.give_up(old);
    let size = slots();
    if size > FIRST_SIZE && writer.count * 4 < size {
        resize(&mut writer);
    }
    Ok(Term::bool(true))
}

fn erase_all(_: &mut Process, _: &[Term]) -> NativeResult {
    let mut writer = LockClass::PersistentTerms.lock(&WRITER);
    for slot in table().into_iter().flat_map(|t| t.slots.iter()) {
        if slot.load(Ordering::Relaxed) != FREE {
            // Release: pairs with the Acquire in `find`.
            slot.store(ERASED, Ordering::Release);
        }
    }
    writer.count = 0;
    writer.words = 0;
    literal_areas::give_up(std::mem::take(&mut writer.areas).into_values().collect());
    Ok(am::OK.into())
}

fn info(p: &mut Process, _: &[Term]) -> NativeResult {
    let writer = LockClass::PersistentTerms.lock(&WRITER);
    let memory = (writer.words + slots()) * 8;
    let pairs = [(Atom::new("count").into(), Term::small(writer.count as i64)), (Atom::new("memory").into(), Term::small(memory as i64))];
    Ok(map::from_pairs(&mut p.heap, &pairs))
}

/// Slots of the table: what `erts_debug:get_internal_state(persistent_term)` shows.
pub fn slots() -> usize {
    table().map_or(0, |t| t.slots.len())
}
