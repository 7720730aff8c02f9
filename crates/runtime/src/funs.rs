//! Fun entries: one per fun expression and module version, found by (module, md5, index). They live for ever; their code
//! pointer follows the module.

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
    let mut table = TABLE.lock().unwrap();
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
            stub: [AtomicUsize::new(crate::exports::undefined_lambda_handler()), AtomicUsize::new(0)],
        }));
        entry.stub[1].store(entry as *const FunEntry as usize, Ordering::Relaxed);
        unload(entry);
        entry
    })
}

pub fn unload(entry: &'static FunEntry) {
    entry.entry.store(entry.stub.as_ptr() as *mut u64, Ordering::Release);
}

pub fn is_loaded(entry: &FunEntry) -> bool {
    entry.entry.load(Ordering::Acquire).cast_const() != entry.stub.as_ptr().cast::<u64>()
}
