//! Where terms meet the tables of the runtime: exports and fun entries by name, magic references by number. The runtime
//! installs its functions once at start-up; before that (and in tests) a small table here serves.

use crate::atom::Atom;
use crate::code_cell::{Export, FunEntry, Mfa};
use crate::resource::Resource;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

/// What the external format says of a local fun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FunKey {
    pub module: Atom,
    /// MD5 of the module.
    pub uniq: [u8; 16],
    pub index: u32,
    pub old_index: u32,
    pub old_uniq: u32,
    pub arity: u8,
    pub num_free: u32,
}

#[derive(Clone, Copy)]
pub struct CodeHooks {
    /// The export of this name, made if need be.
    pub find_export: fn(Mfa) -> &'static Export,
    /// True if the export exists and is loaded (or native): what option `safe` allows.
    pub is_known_export: fn(Mfa) -> bool,
    /// True if `find_export` makes nothing.
    pub has_export: fn(Mfa) -> bool,
    /// The entry of a fun, made (unloaded) if need be.
    pub find_fun_entry: fn(&FunKey) -> &'static FunEntry,
    /// True if `find_fun_entry` makes nothing.
    pub has_fun_entry: fn(&FunKey) -> bool,
    /// The live resource of a local reference, if that is a magic one.
    pub find_magic: fn([u32; 3]) -> Option<Arc<dyn Resource>>,
}

static INSTALLED: OnceLock<CodeHooks> = OnceLock::new();
static DEFAULT: CodeHooks = CodeHooks {
    find_export: default_export,
    is_known_export: |_| true,
    has_export: |mfa| EXPORTS.lock().unwrap().iter().any(|export| export.mfa == mfa),
    find_fun_entry: default_fun_entry,
    has_fun_entry: |key| FUNS.lock().unwrap().iter().any(|(known, _)| known == key),
    find_magic: |_| None,
};

/// To be called once, before anything is decoded; later calls change nothing.
pub fn install(hooks: CodeHooks) {
    let _ = INSTALLED.set(hooks);
}

pub fn hooks() -> &'static CodeHooks {
    INSTALLED.get().unwrap_or(&DEFAULT)
}

static EXPORTS: Mutex<Vec<&'static Export>> = Mutex::new(Vec::new());
static FUNS: Mutex<Vec<(FunKey, &'static FunEntry)>> = Mutex::new(Vec::new());

fn unloaded_export(mfa: Mfa) -> Export {
    Export {
        entry: AtomicPtr::default(),
        mfa,
        native: AtomicUsize::new(0),
        loaded: AtomicPtr::default(),
        stub: [const { AtomicUsize::new(0) }; 2],
    }
}

fn unloaded_entry(key: &FunKey, function: Atom) -> FunEntry {
    FunEntry {
        entry: AtomicPtr::default(),
        module: key.module,
        arity: key.arity,
        num_free: key.num_free,
        index: key.index,
        old_uniq: key.old_uniq,
        uniq: key.uniq,
        function,
        stub: [const { AtomicUsize::new(0) }; 4],
    }
}

/// For programs that decode all sorts of names, as fuzzers: one export, `lists:seq/2`, and one fun entry serve all of them, so no table grows.
pub const ONE_FOR_ALL: CodeHooks = CodeHooks {
    find_export: |_| {
        static ONE: OnceLock<Export> = OnceLock::new();
        ONE.get_or_init(|| unloaded_export(Mfa { module: Atom::new("lists"), function: Atom::new("seq"), arity: 2 }))
    },
    is_known_export: |_| true,
    has_export: |_| true,
    find_fun_entry: |key| {
        static ONE: OnceLock<FunEntry> = OnceLock::new();
        ONE.get_or_init(|| unloaded_entry(key, key.module))
    },
    has_fun_entry: |_| true,
    find_magic: |_| None,
};

fn default_export(mfa: Mfa) -> &'static Export {
    let mut table = EXPORTS.lock().unwrap();
    if let Some(export) = table.iter().find(|e| e.mfa == mfa) {
        return export;
    }
    let export: &'static Export = Box::leak(Box::new(unloaded_export(mfa)));
    table.push(export);
    export
}

fn default_fun_entry(key: &FunKey) -> &'static FunEntry {
    let mut table = FUNS.lock().unwrap();
    if let Some((_, entry)) = table.iter().find(|(k, _)| k == key) {
        return entry;
    }
    let entry: &'static FunEntry = Box::leak(Box::new(unloaded_entry(key, crate::am::EMPTY)));
    // A fuzzer could fill memory with entries; a table of this size is enough for tests.
    if table.len() < 10_000 {
        table.push((*key, entry));
    }
    // Relaxed: nothing is published through it.
    entry.entry.store(std::ptr::null_mut(), Ordering::Relaxed);
    entry
}
