//! Binaries: those of the library (`ErlNifBinary`), and those of terms.

use crate::env::Env;
use heddle_term::bits::BitsView;
use heddle_term::boxed::HEAP_BITS_MAX_BYTES;
use heddle_term::refbin::RefBin;
use heddle_term::{Heap, Term, am, list};
use libc::{c_int, size_t};
use std::ptr::null_mut;

/// `ErlNifBinary`.
#[repr(C)]
pub struct Binary {
    pub size: size_t,
    pub data: *mut u8,
    /// The block of a binary that belongs to the library; null if the data belongs to a term or to an environment.
    pub block: *mut RefBin,
    // Later versions have two more words, which libraries of version 2.0 do not have.
}

/// A binary of the library with these bytes.
///
/// # Safety
/// `to` is writable.
// SAFETY: functions of the interface call it, with a pointer that the library passes for a result.
pub unsafe fn fill(to: *mut Binary, bytes: &[u8]) -> c_int {
    // SAFETY: by contract.
    unsafe { own(to, RefBin::from_bytes(bytes), bytes.len()) };
    1
}

/// Makes `to` a binary of the library that owns a reference to the block.
///
/// # Safety
/// `to` is writable, and the caller has a reference to the block, which it passes on.
// SAFETY: `fill`, `enif_alloc_binary` and `enif_realloc_binary` call it with a block of their own, and the place that the library passes.
unsafe fn own(to: *mut Binary, block: *mut RefBin, size: size_t) {
    // SAFETY: `to` comes from the library, for the result; the block is live.
    unsafe { *to = Binary { size, data: RefBin::data(block), block } };
}

/// The library needs its binary no longer.
///
/// # Safety
/// A binary of the library.
// SAFETY: functions of the interface call it, with a pointer that the library passes.
pub unsafe fn give_up(binary: *mut Binary) {
    // SAFETY: by contract; the library had a reference.
    unsafe {
        let block = std::mem::replace(&mut (*binary).block, null_mut());
        if !block.is_null() {
            RefBin::release(block);
        }
    }
}

/// The bytes of a binary term: in place, or, if they do not begin at a byte, in memory of the environment.
///
/// # Safety
/// `env` is a live environment of the library.
// SAFETY: functions of the interface call it with the environment that the library passes.
unsafe fn inspect(env: *mut Env, term: Term) -> Option<(*mut u8, usize)> {
    let view = BitsView::of(term).filter(BitsView::is_binary)?;
    if let Some(bytes) = view.as_bytes() {
        return Some((bytes.as_ptr() as *mut u8, bytes.len()));
    }
    // SAFETY: the library's environment.
    let kept = unsafe { (*env).keep(view.to_vec()) };
    Some((kept.as_mut_ptr(), kept.len()))
}

/// A new binary, and the address to which the caller writes its bytes.
fn new(heap: &mut Heap, size: usize) -> (Term, *mut u8) {
    if size <= HEAP_BITS_MAX_BYTES {
        return heap.heap_bits(size as u64 * 8);
    }
    let block = RefBin::allocate(size);
    let term = heap.bin_ref(block, size as u64 * 8);
    // SAFETY: the term keeps the block.
    (term, unsafe { RefBin::data(block) })
}

api! { FUNCTIONS:
    fn enif_is_binary(_env: *mut Env, term: Term) -> c_int {
        term.is_binary() as c_int
    }
    fn enif_inspect_binary(env: *mut Env, term: Term, to: *mut Binary) -> c_int {
        let Some((data, size)) = inspect(env, term) else { return 0 };
        *to = Binary { size, data, block: null_mut() };
        1
    }
    fn enif_inspect_iolist_as_binary(env: *mut Env, term: Term, to: *mut Binary) -> c_int {
        let (data, size) = match inspect(env, term) {
            Some(found) => found,
            None if term.is_list() => {
                let Ok(bytes) = list::iolist_to_vec(term) else { return 0 };
                let kept = (*env).keep(bytes);
                (kept.as_mut_ptr(), kept.len())
            }
            None => return 0,
        };
        *to = Binary { size, data, block: null_mut() };
        1
    }
    fn enif_alloc_binary(size: size_t, to: *mut Binary) -> c_int {
        if !heddle_memory::fits(size) {
            return 0;
        }
        own(to, RefBin::allocate(size), size);
        1
    }
    fn enif_realloc_binary(binary: *mut Binary, size: size_t) -> c_int {
        if !heddle_memory::fits(size) {
            return 0;
        }
        let (block, data, old) = ((*binary).block, (*binary).data, (*binary).size);
        if !block.is_null() && RefBin::refcount(block) == 1 {
            own(binary, RefBin::grow(block, size), size);
            return 1;
        }
        let new = RefBin::allocate(size);
        std::ptr::copy_nonoverlapping(data, RefBin::data(new), old.min(size));
        if !block.is_null() {
            RefBin::release(block);
        }
        own(binary, new, size);
        1
    }
    fn enif_release_binary(binary: *mut Binary) {
        give_up(binary)
    }
    fn enif_make_binary(env: *mut Env, binary: *mut Binary) -> Term {
        let block = std::mem::replace(&mut (*binary).block, null_mut());
        let heap = &mut *(*env).heap;
        if block.is_null() {
            let (term, data) = new(heap, (*binary).size);
            std::ptr::copy_nonoverlapping((*binary).data, data, (*binary).size);
            return term;
        }
        // The data stays where it is: the library may read it as long as the term is there.
        heap.bin_ref(block, (*binary).size as u64 * 8)
    }
    fn enif_make_new_binary(env: *mut Env, size: size_t, to: *mut Term) -> *mut u8 {
        let (term, data) = new(&mut *(*env).heap, size);
        *to = term;
        data
    }
    fn enif_make_sub_binary(env: *mut Env, term: Term, position: size_t, size: size_t) -> Term {
        let whole = BitsView::of(term).filter(|view| position.checked_add(size).is_some_and(|end| end <= (view.size_bits / 8) as usize));
        if whole.is_none() {
            return (*env).raise(am::BADARG.into());
        }
        (*(*env).heap).sub_bits(term, position as u64 * 8, size as u64 * 8)
    }
}
