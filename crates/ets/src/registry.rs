//! All tables: by name, by reference, by owner. Looking up takes no lock: names are an array by atom number, references
//! carry their table. Creation and deletion lock a part.

use super::table::{Removed, Table};
use foldhash::{HashMap, HashMapExt};
use heddle_runtime::RefId;
use heddle_runtime::lock_order::Ordered;
use heddle_runtime::locks::LockClass;
use heddle_runtime::qsbr::{self, Online};
use heddle_term::{Atom, Resource};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

const CHUNK: usize = 4096;
const CHUNKS: usize = heddle_term::atom::MAX_LIMIT / CHUNK;

/// Cells own an `Arc<Table>` (raw), or are null.
/// A chunk: Release in `cell_made`, Acquire in `cell`: its cells are null or set. A cell: Release in `set_cell`, AcqRel in `clear_cell`,
/// Acquire in `named`: the table that is seen is complete.
static NAMES: [AtomicPtr<AtomicPtr<Table>>; CHUNKS] = [const { AtomicPtr::new(std::ptr::null_mut()) }; CHUNKS];
static NAMING: Mutex<()> = Mutex::new(());

const PARTS: usize = 16;

#[derive(Default)]
pub struct Belongings {
    pub owned: Vec<Arc<Table>>,
    pub fixed: Vec<Arc<Table>>,
}

type Tables = Option<HashMap<RefId, Arc<Table>>>;
type Holders = Option<HashMap<u64, Belongings>>;

static TABLES: [Mutex<Tables>; PARTS] = [const { Mutex::new(None) }; PARTS];
static HOLDERS: [Mutex<Holders>; PARTS] = [const { Mutex::new(None) }; PARTS];
static COUNT: AtomicUsize = AtomicUsize::new(0);
/// Set once a table has come to a process by a gift or inheritance: from then on flags of processes do not tell all.
/// SeqCst with the state of processes: `transfer` sets this, and then looks if the new owner is ending. An ending process changes its state,
/// and then reads this. One of the two sees the other.
pub static TRANSFERRED: AtomicBool = AtomicBool::new(false);

fn lock<T>(mutex: &Mutex<T>) -> Ordered<MutexGuard<'_, T>> {
    LockClass::EtsNames.lock(mutex)
}

fn tables(id: RefId) -> Ordered<MutexGuard<'static, Tables>> {
    lock(&TABLES[id.0 as usize % PARTS])
}

fn cell(name: Atom) -> Option<&'static AtomicPtr<Table>> {
    let chunk = NAMES[name.index() as usize / CHUNK].load(Ordering::Acquire);
    if chunk.is_null() {
        return None;
    }
    // SAFETY: chunks have CHUNK cells and are never freed.
    Some(unsafe { &*chunk.add(name.index() as usize % CHUNK) })
}

/// The table of that name. Valid while the native runs: schedulers are online all through it, and cells give up their
/// table by quiescent-state reclamation.
pub fn named<'a>(name: Atom, _: Online<'a>) -> Option<&'a Table> {
    // Acquire: pairs with the Release in `set_cell`.
    let table = cell(name)?.load(Ordering::Acquire);
    // SAFETY: the scheduler is online while the native runs, so the table is not freed.
    unsafe { table.as_ref() }
}

fn cell_made(name: Atom) -> &'static AtomicPtr<Table> {
    let slot = &NAMES[name.index() as usize / CHUNK];
    // Acquire, and Release below: as in `cell`.
    if slot.load(Ordering::Acquire).is_null() {
        let chunk: Vec<AtomicPtr<Table>> = (0..CHUNK).map(|_| AtomicPtr::new(std::ptr::null_mut())).collect();
        // Release: pairs with the Acquire in `cell`; the cells are null.
        slot.store(Box::leak(chunk.into_boxed_slice()).as_mut_ptr(), Ordering::Release);
    }
    cell(name).expect("just made")
}

fn clear_cell(name: Atom) {
    let Some(cell) = cell(name) else { return };
    // AcqRel: pairs with the Release in `set_cell`; the table is seen.
    let old = cell.swap(std::ptr::null_mut(), Ordering::AcqRel) as usize;
    if old != 0 {
        // SAFETY: the cell owned it; readers may still look until they are quiescent.
        qsbr::retire(move || unsafe { drop(Arc::from_raw(old as *const Table)) });
    }
}

/// False if the name is taken.
fn set_cell(name: Atom, table: &Arc<Table>) -> bool {
    let cell = cell_made(name);
    // Acquire: pairs with AcqRel in `clear_cell`. All writers hold `NAMING`.
    if !cell.load(Ordering::Acquire).is_null() {
        return false;
    }
    // Release: pairs with the Acquire in `named`; the table is complete.
    cell.store(Arc::into_raw(Arc::clone(table)).cast_mut(), Ordering::Release);
    true
}

/// Makes a new table known. False if its name is taken.
pub fn publish(table: &Arc<Table>) -> bool {
    if table.named {
        let _naming = lock(&NAMING);
        if !set_cell(table.name(), table) {
            return false;
        }
    }
    tables(table.id).get_or_insert_with(HashMap::new).insert(table.id, Arc::clone(table));
    COUNT.fetch_add(1, Ordering::Relaxed);
    own(table.owner(), Arc::clone(table));
    true
}

/// False if the new name is taken.
pub fn rename(table: &Arc<Table>, name: Atom) -> bool {
    if table.named {
        let _naming = lock(&NAMING);
        if table.name() != name {
            if !set_cell(name, table) {
                return false;
            }
            clear_cell(table.name());
        }
        table.set_name(name);
        return true;
    }
    table.set_name(name);
    true
}

/// Takes a table out of everything; the result is what it held. The caller won `table.kill()`.
#[must_use]
pub fn remove(table: &Table) -> (usize, Removed) {
    if table.named {
        let _naming = lock(&NAMING);
        // Acquire: as in `named`.
        let is_its_own = cell(table.name()).is_some_and(|c| std::ptr::eq(c.load(Ordering::Acquire), table));
        if is_its_own {
            clear_cell(table.name());
        }
    }
    let known = tables(table.id).as_mut().and_then(|t| t.remove(&table.id));
    if known.is_some() {
        COUNT.fetch_sub(1, Ordering::Relaxed);
    }
    disown(table.owner(), table);
    let fixers: Vec<u64> = table.fixations().by.drain(..).map(|(pid, _)| pid).collect();
    for pid in fixers {
        holdings(pid, |b| b.fixed.retain(|t| !std::ptr::eq(&**t, table)));
    }
    table.empty()
}

pub fn by_id(id: RefId) -> Option<Arc<Table>> {
    tables(id).as_ref()?.get(&id).cloned()
}

/// The live resource of a reference's words, for references that came as text or bytes.
pub fn find_magic(words: [u32; 3]) -> Option<Arc<dyn Resource>> {
    by_id(RefId::from_words(words)).map(|t| t as Arc<dyn Resource>)
}

pub fn all() -> Vec<Arc<Table>> {
    TABLES.iter().flat_map(|part| lock(part).as_ref().map(|t| t.values().cloned().collect::<Vec<_>>()).unwrap_or_default()).collect()
}

pub fn count() -> usize {
    COUNT.load(Ordering::Relaxed)
}

// ---- tables by their owners ----

/// Runs `f` on what a process holds, alone.
pub fn holdings<R>(pid: u64, f: impl FnOnce(&mut Belongings) -> R) -> R {
    let mut part = lock(&HOLDERS[pid as usize % PARTS]);
    let holders = part.get_or_insert_with(HashMap::new);
    let belongings = holders.entry(pid).or_default();
    let result = f(belongings);
    if belongings.owned.is_empty() && belongings.fixed.is_empty() {
        holders.remove(&pid);
    }
    result
}

pub fn own(pid: u64, table: Arc<Table>) {
    holdings(pid, |b| b.owned.push(table));
}

/// True if it was there.
pub fn disown(pid: u64, table: &Table) -> bool {
    holdings(pid, |b| {
        let before = b.owned.len();
        b.owned.retain(|t| !std::ptr::eq(&**t, table));
        b.owned.len() != before
    })
}
