//! Taking arguments apart. Each function returns None for a term of another shape; the native decides which error that is.

use heddle_term::{Atom, Kind, Resource, Term, am, resource};
use std::any::Any;
use std::sync::Arc;

/// Elements of a proper list.
#[inline]
pub fn list(list: Term) -> Option<Vec<Term>> {
    let mut out = Vec::new();
    let mut t = list;
    while t.is_cons() {
        out.push(t.head());
        t = t.tail();
    }
    t.is_nil().then_some(out)
}

/// Length of a proper list.
#[inline]
pub fn length(list: Term) -> Option<usize> {
    let (mut n, mut t) = (0, list);
    while t.is_cons() {
        n += 1;
        t = t.tail();
    }
    t.is_nil().then_some(n)
}

#[inline]
pub fn boolean(term: Term) -> Option<bool> {
    match term.as_atom() {
        Some(am::TRUE) => Some(true),
        Some(am::FALSE) => Some(false),
        _ => None,
    }
}

/// A small non-negative integer.
#[inline]
pub fn count(term: Term) -> Option<usize> {
    term.as_small().and_then(|n| usize::try_from(n).ok())
}

/// Name and value of a two-element tuple whose first element is an atom.
#[inline]
pub fn option(term: Term) -> Option<(Atom, Term)> {
    match term.as_tuple() {
        Some([name, value]) => Some((name.as_atom()?, *value)),
        _ => None,
    }
}

/// The resource of type T that a magic reference refers to.
pub fn resource<T: Resource>(term: Term) -> Option<Arc<T>> {
    if !term.is_kind(Kind::MagicRef) {
        return None;
    }
    // SAFETY: a MagicRef's last word is a live ResourcePtr.
    let shared = unsafe { resource::share(term.word(3) as resource::ResourcePtr) };
    let any: Arc<dyn Any + Send + Sync> = shared;
    any.downcast::<T>().ok()
}

/// The same, borrowed for as long as the argument of the native (nothing is collected meanwhile).
pub fn borrowed_resource<T: Resource>(term: &Term) -> Option<&T> {
    if !term.is_kind(Kind::MagicRef) {
        return None;
    }
    // SAFETY: a MagicRef's last word points to its Arc, which lives as long as the reference.
    let shared: &Arc<dyn Resource> = unsafe { &*(term.word(3) as resource::ResourcePtr) };
    let any: &dyn Any = &**shared;
    any.downcast_ref::<T>()
}

/// The bytes of a binary: a bit string of whole bytes, at any bit offset.
pub fn binary(term: Term) -> Option<Vec<u8>> {
    heddle_term::bits::BitsView::of(term).filter(|b| b.is_binary()).map(|b| b.to_vec())
}
