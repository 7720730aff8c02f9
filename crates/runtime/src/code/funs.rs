//! Fun entries: one per fun expression and module version, found by (module, md5, index). They are never freed; their code pointer
//! follows the module.

use crate::code::Instance;
use crate::observe::locks::LockClass;
use crate::process::Process;
use foldhash::fast::FixedState;
use heddle_term::Atom;
use heddle_term::code_cell::FunEntry;
use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

type Key = (Atom, [u8; 16], u32);

static TABLE: Mutex<Option<HashMap<Key, &'static FunEntry, FixedState>>> = Mutex::new(None);

pub struct FunInfo {
    pub module: Atom,
    pub function: Atom,
    pub arity: u8,
    pub num_free: u32,
    pub index: u32,
    pub old_uniq: u32,
    pub uniq: [u8; 16],
}

/// The entry, made if need be (its code is then a stub that calls `error_handler:undefined_lambda/3`).
pub fn get(info: &FunInfo) -> &'static FunEntry {
    let mut table = LockClass::Funs.lock(&TABLE);
    let table = table.get_or_insert_with(HashMap::default);
    table.entry((info.module, info.uniq, info.index)).or_insert_with(|| {
        let entry: &'static FunEntry = Box::leak(Box::new(FunEntry {
            entry: AtomicPtr::new(std::ptr::null_mut()),
            module: info.module,
            arity: info.arity,
            num_free: info.num_free,
            index: info.index,
            old_uniq: info.old_uniq,
            uniq: info.uniq,
            function: info.function,
            stub: [
                AtomicUsize::new(crate::code::exports::undefined_lambda_handler()),
                AtomicUsize::new(0),
                AtomicUsize::new(crate::code::exports::purging_lambda_handler()),
                AtomicUsize::new(0),
            ],
        }));
        entry.stub[1].store(entry as *const FunEntry as usize, Ordering::Relaxed);
        entry.stub[3].store(entry as *const FunEntry as usize, Ordering::Relaxed);
        unload(entry);
        entry
    })
}

/// True if the fun of this index, of the module with this MD5, has an entry.
pub fn is_there(module: Atom, uniq: [u8; 16], index: u32) -> bool {
    LockClass::Funs.lock(&TABLE).as_ref().is_some_and(|table| table.contains_key(&(module, uniq, index)))
}

pub(crate) fn unload(entry: &'static FunEntry) {
    entry.entry.store(entry.stub.as_ptr() as *mut u64, Ordering::Release);
}

/// Neither without code nor being purged.
pub fn is_loaded(entry: &FunEntry) -> bool {
    let stubs = entry.stub.as_ptr_range();
    // Acquire: pairs with the Release stores here and of a load.
    !(stubs.start.cast::<u64>()..stubs.end.cast::<u64>()).contains(&entry.entry.load(Ordering::Acquire).cast_const())
}

/// The funs of code whose on_load function is about to run, but for those of a version that is the same and loaded.
pub fn begin_on_load(pending: &Instance) {
    for &(entry, offset) in &pending.funs {
        if !is_loaded(entry) {
            // Release: pairs with the loads of calls.
            entry.entry.store(pending.code.as_ptr().wrapping_add(offset as usize).cast_mut(), Ordering::Release);
        }
    }
}

/// Processes that called a fun of code that is being purged. They wait until the purge is over.
static WAITING: Mutex<Vec<u64>> = Mutex::new(Vec::new());

fn purging_stub(entry: &FunEntry) -> *mut u64 {
    entry.stub[2..].as_ptr() as *mut u64
}

fn is_purging(entry: &FunEntry) -> bool {
    entry.entry.load(Ordering::Acquire) == purging_stub(entry)
}

/// From now on callers of the instance's funs wait, unless a newer version has taken them over.
pub fn start_purge(old: &Instance) {
    for &(entry, offset) in &old.funs {
        let here = old.code.as_ptr().wrapping_add(offset as usize).cast_mut();
        // Release: pairs with the loads of calls. Fails if the entry belongs to another version.
        let _ = entry.entry.compare_exchange(here, purging_stub(entry), Ordering::Release, Ordering::Relaxed);
    }
}

/// The purge ends: the funs have no code any longer (`gone`), or have it back. The processes that waited go on.
pub fn end_purge(old: &Instance, gone: bool) {
    let waiting = {
        let mut waiting = LockClass::Funs.lock(&WAITING);
        for &(entry, offset) in &old.funs {
            let here = old.code.as_ptr().wrapping_add(offset as usize).cast_mut();
            let next = if gone { entry.stub.as_ptr() as *mut u64 } else { here };
            for from in [purging_stub(entry), here] {
                // Release: as in `start_purge`.
                let _ = entry.entry.compare_exchange(from, next, Ordering::Release, Ordering::Relaxed);
            }
        }
        std::mem::take(&mut *waiting)
    };
    for pid in waiting {
        crate::signal::send::call_in(pid, |p| p.into_iter().for_each(|p| crate::signal::send::resume(p, 1)));
    }
}

/// Suspends the caller of a fun that is being purged. False if the purge is over already.
pub fn wait_for_purge(p: &mut Process, entry: &FunEntry) -> bool {
    let mut waiting = LockClass::Funs.lock(&WAITING);
    // Under the lock: `end_purge` either sees the process in the list, or has changed the entry.
    if !is_purging(entry) {
        return false;
    }
    waiting.push(p.pid());
    p.suspend_count += 1;
    p.shared().state.set_suspended(true);
    true
}
