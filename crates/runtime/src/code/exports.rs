//! The export table: M:F/A to the cell that calls go through. Lookups take no lock; cells are never freed.

use crate::observe::locks::LockClass;
use foldhash::fast::FixedState;
use heddle_term::code_cell::{Export, Mfa};
use std::hash::BuildHasher;
use std::sync::Mutex;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

struct Index {
    /// Release in `place`, Acquire in readers: the export that is seen is complete.
    slots: Box<[AtomicPtr<Export>]>,
}

/// Release in `grow`, Acquire in readers: the slots of an index that is seen are filled.
static INDEX: AtomicPtr<Index> = AtomicPtr::new(std::ptr::null_mut());
static COUNT: AtomicUsize = AtomicUsize::new(0);
static WRITER: Mutex<()> = Mutex::new(());

/// Code cell for the stub of exports whose function is not loaded: set by the engine before anything is loaded.
/// The cell's second word is the address of the export.
static UNDEFINED_HANDLER: OnceLock<usize> = OnceLock::new();
static UNDEFINED_FUN_HANDLER: OnceLock<usize> = OnceLock::new();
static PURGING_FUN_HANDLER: OnceLock<usize> = OnceLock::new();

/// The engine's instruction words for "call error_handler:undefined_function/3" and ".../undefined_lambda", and the one for a fun
/// whose code is being purged.
pub fn set_undefined_handlers(function: usize, lambda: usize, purging: usize) {
    let _ = UNDEFINED_HANDLER.set(function);
    let _ = UNDEFINED_FUN_HANDLER.set(lambda);
    let _ = PURGING_FUN_HANDLER.set(purging);
}

pub(crate) fn purging_lambda_handler() -> usize {
    *PURGING_FUN_HANDLER.get().expect("engine started")
}

pub(crate) fn undefined_lambda_handler() -> usize {
    *UNDEFINED_FUN_HANDLER.get().expect("engine started")
}

fn hash(mfa: &Mfa) -> usize {
    FixedState::default().hash_one((mfa.module.index() as u64) << 32 | mfa.function.index() as u64 ^ (mfa.arity as u64) << 56) as usize
}

/// The cell of an M:F/A that was named before.
#[inline]
pub fn find(mfa: Mfa) -> Option<&'static Export> {
    // Acquire: pairs with the Release stores below.
    let index = INDEX.load(Ordering::Acquire);
    if index.is_null() {
        return None;
    }
    // SAFETY: published indices are never freed.
    let slots = unsafe { &(&*index).slots };
    let mask = slots.len() - 1;
    let mut at = hash(&mfa) & mask;
    loop {
        let export = slots[at].load(Ordering::Acquire);
        if export.is_null() {
            return None;
        }
        // SAFETY: exports are never freed.
        let export = unsafe { &*export };
        if export.mfa == mfa {
            return Some(export);
        }
        at = (at + 1) & mask;
    }
}

/// The cell of an M:F/A, made if need be (pointing to its stub).
pub fn get(mfa: Mfa) -> &'static Export {
    if let Some(export) = find(mfa) {
        return export;
    }
    let _guard = LockClass::Exports.lock(&WRITER);
    if let Some(export) = find(mfa) {
        return export;
    }
    let count = COUNT.load(Ordering::Relaxed);
    let index = INDEX.load(Ordering::Relaxed);
    // SAFETY: published indices are never freed.
    if index.is_null() || (count + 1) * 2 > unsafe { &*index }.slots.len() {
        grow(count);
    }
    let export: &'static Export = Box::leak(Box::new(Export {
        entry: AtomicPtr::new(std::ptr::null_mut()),
        mfa,
        native: AtomicUsize::new(0),
        loaded: AtomicPtr::new(std::ptr::null_mut()),
        stub: [AtomicUsize::new(*UNDEFINED_HANDLER.get().expect("engine started")), AtomicUsize::new(0)],
    }));
    export.stub[1].store(export as *const Export as usize, Ordering::Relaxed);
    export.entry.store(export.stub.as_ptr() as *mut u64, Ordering::Release);
    // SAFETY: published indices are never freed.
    place(unsafe { &(&*INDEX.load(Ordering::Relaxed)).slots }, export);
    COUNT.store(count + 1, Ordering::Relaxed);
    export
}

fn place(slots: &[AtomicPtr<Export>], export: &'static Export) {
    let mask = slots.len() - 1;
    let mut at = hash(&export.mfa) & mask;
    while !slots[at].load(Ordering::Relaxed).is_null() {
        at = (at + 1) & mask;
    }
    slots[at].store(export as *const Export as *mut Export, Ordering::Release);
}

fn grow(count: usize) {
    let len = ((count + 1) * 4).next_power_of_two().max(1 << 14);
    let slots: Box<[AtomicPtr<Export>]> = (0..len).map(|_| AtomicPtr::new(std::ptr::null_mut())).collect();
    for_each(|export| place(&slots, export));
    INDEX.store(Box::into_raw(Box::new(Index { slots })), Ordering::Release);
}

pub fn for_each(mut f: impl FnMut(&'static Export)) {
    let index = INDEX.load(Ordering::Acquire);
    if index.is_null() {
        return;
    }
    // SAFETY: published indices and exports are never freed.
    for slot in unsafe { &(&*index).slots } {
        // Acquire: pairs with the Release in `place`.
        let export = slot.load(Ordering::Acquire);
        if !export.is_null() {
            // SAFETY: as above.
            f(unsafe { &*export });
        }
    }
}

/// Checks what must be true of the table: each export is found by its name, there are as many as were counted, and at most half of
/// the index is used. No thread may make exports meanwhile. Returns their number.
pub fn check() -> usize {
    let mut count = 0;
    for_each(|export| {
        count += 1;
        assert!(find(export.mfa).is_some_and(|found| std::ptr::eq(found, export)));
        assert!(!export.entry.load(Ordering::Acquire).is_null());
    });
    assert_eq!(count, COUNT.load(Ordering::Relaxed));
    // SAFETY: published indices are never freed.
    assert!(unsafe { INDEX.load(Ordering::Acquire).as_ref() }.is_none_or(|index| count * 2 <= index.slots.len()));
    count
}

/// Points the cell to its stub again (module deleted).
pub fn unload(export: &'static Export) {
    export.loaded.store(std::ptr::null_mut(), Ordering::Release);
    export.entry.store(export.stub.as_ptr() as *mut u64, Ordering::Release);
}

/// True if a call through the cell reaches loaded code.
pub fn is_loaded(export: &Export) -> bool {
    !export.loaded.load(Ordering::Acquire).is_null()
}
