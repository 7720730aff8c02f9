//! Fun terms: access to their parts, and building them.

use crate::boxed::{Header, Kind};
use crate::code_cell::{Export, FunEntry};
use crate::heap::Heap;
use crate::term::Term;

/// The entry of a local fun; the caller checked `Kind::Fun`.
#[inline]
pub fn entry(fun: Term) -> &'static FunEntry {
    debug_assert!(fun.is_kind(Kind::Fun));
    // SAFETY: a Fun's first word is the address of an entry, and entries are never freed.
    unsafe { &*(fun.word(0) as *const FunEntry) }
}

/// The export of `fun M:F/A`; the caller checked `Kind::ExportFun`.
#[inline]
pub fn export(fun: Term) -> &'static Export {
    debug_assert!(fun.is_kind(Kind::ExportFun));
    // SAFETY: an ExportFun's first word is the address of an export, and exports are never freed.
    unsafe { &*(fun.word(0) as *const Export) }
}

/// Creator and free variables of a local fun.
#[inline]
pub fn creator_and_free<'a>(fun: Term) -> (Term, &'a [Term]) {
    debug_assert!(fun.is_kind(Kind::Fun));
    let free = fun.header().arity() - 2;
    // SAFETY: after the entry and the creator come the free variables.
    (fun.slot(1), unsafe { std::slice::from_raw_parts(fun.ptr().add(3).cast::<Term>(), free) })
}

/// A local fun with its free variables.
pub fn make(heap: &mut Heap, entry: &'static FunEntry, creator: Term, free: &[Term]) -> Term {
    let ptr = heap.alloc(3 + free.len());
    // SAFETY: room for header, entry, creator and free variables was just allocated.
    unsafe {
        *ptr = Header::with_aux(Kind::Fun, 2 + free.len(), entry.arity as u32).raw();
        *ptr.add(1) = std::ptr::from_ref(entry) as u64;
        *ptr.add(2) = creator.raw();
        std::ptr::copy_nonoverlapping(free.as_ptr().cast::<u64>(), ptr.add(3), free.len());
    }
    Term::boxed(ptr)
}

/// `fun M:F/A`.
pub fn make_export(heap: &mut Heap, export: &'static Export) -> Term {
    let ptr = heap.alloc(2);
    // SAFETY: two words were just allocated.
    unsafe {
        *ptr = Header::with_aux(Kind::ExportFun, 1, export.mfa.arity as u32).raw();
        *ptr.add(1) = std::ptr::from_ref(export) as u64;
    }
    Term::boxed(ptr)
}
