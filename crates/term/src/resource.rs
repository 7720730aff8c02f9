//! What a magic reference points to: a Rust object shared by the terms that name it.

use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};

/// An object of a magic reference. Dropped when the last reference term and the last `Arc` are gone.
pub trait Resource: Any + Send + Sync {
    /// For `erlang:display/1` and dumps.
    fn type_name(&self) -> &'static str;
}

/// The thin pointer that a `MagicRef` object stores; owns one `Arc`.
pub type ResourcePtr = *mut Arc<dyn Resource>;

pub fn into_raw(resource: Arc<dyn Resource>) -> ResourcePtr {
    Box::into_raw(Box::new(resource))
}

/// # Safety
/// `ptr` comes from `into_raw` and is not used again.
pub unsafe fn release(ptr: ResourcePtr) {
    // SAFETY: `ptr` comes from `into_raw` and is not used again.
    drop(unsafe { Box::from_raw(ptr) });
}

/// # Safety
/// `ptr` comes from `into_raw` and was not released.
pub unsafe fn share(ptr: ResourcePtr) -> Arc<dyn Resource> {
    // SAFETY: `ptr` comes from `into_raw` and was not released.
    unsafe { Arc::clone(&*ptr) }
}

/// Resources whose references were written as bytes or text, by the words of the reference: a process that reads it again gets the
/// resource, if it is still there.
static WRITTEN: Mutex<Option<Written>> = Mutex::new(None);

struct Written {
    table: HashMap<[u32; 3], Weak<dyn Resource>>,
    /// Size at which the dead are thrown out.
    sweep_at: usize,
}

const FIRST_SWEEP: usize = 1024;

/// Notes that a magic reference leaves the terms of this VM.
pub fn remember(words: [u32; 3], resource: &Arc<dyn Resource>) {
    let mut written = WRITTEN.lock().unwrap();
    let written = written.get_or_insert_with(|| Written { table: HashMap::new(), sweep_at: FIRST_SWEEP });
    if written.table.len() >= written.sweep_at {
        written.table.retain(|_, weak| weak.strong_count() > 0);
        written.sweep_at = FIRST_SWEEP.max(2 * written.table.len());
    }
    written.table.entry(words).or_insert_with(|| Arc::downgrade(resource));
}

/// True if a reference with these words was written as one to a resource, which may be gone. Forgotten after some time.
pub fn is_written(words: [u32; 3]) -> bool {
    WRITTEN.lock().unwrap().as_ref().is_some_and(|written| written.table.contains_key(&words))
}

/// The live resource of a reference that was written before.
pub fn recall(words: [u32; 3]) -> Option<Arc<dyn Resource>> {
    WRITTEN.lock().unwrap().as_ref()?.table.get(&words)?.upgrade()
}

/// As `remember`, for a term; anything but a magic reference is ignored.
pub fn remember_term(term: crate::Term) {
    if term.is_kind(crate::Kind::MagicRef)
        && let Some(words) = crate::ident::local_ref_words(term)
    {
        // SAFETY: a MagicRef's last word is a live ResourcePtr.
        remember(words, unsafe { &*(term.word(3) as ResourcePtr) });
    }
}
