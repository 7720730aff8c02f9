//! What a magic reference points to: a Rust object shared by the terms that name it.

use std::any::Any;
use std::sync::Arc;

/// An object behind a magic reference. Dropped when the last reference term and the last `Arc` are gone.
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
    // SAFETY: by contract.
    drop(unsafe { Box::from_raw(ptr) });
}

/// # Safety
/// `ptr` comes from `into_raw` and was not released.
pub unsafe fn share(ptr: ResourcePtr) -> Arc<dyn Resource> {
    // SAFETY: by contract.
    unsafe { Arc::clone(&*ptr) }
}
