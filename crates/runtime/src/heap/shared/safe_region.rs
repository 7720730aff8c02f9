//! Safe regions: natives on dirty threads that refer to nothing in the shared heap. They may block, or take long, and a collection does not
//! wait for them.
//!
//! The arguments of such a native are copied to memory of its own, and what it makes lies there, too. So the collector moves nothing that
//! the native accesses. When the native returns, its result is copied into the shared heap. The original arguments stay among the roots
//! meanwhile, for the stack trace if the native fails.

use super::chunk;
use super::safepoint;
use crate::process::{Exception, NativeResult, Process};
use heddle_term::copy::{Keep, flat_size_to};
use heddle_term::{Heap, Term};

/// Maximum size of arguments that are copied, in words. A native with larger ones runs without a safe region, and collections wait for it.
/// (Guessed: what is copied in a millisecond. A native that blocks gets file names and bytes.)
const MAX_WORDS: usize = 128 * 1024;

/// Runs a native on a dirty thread, without access to the shared heap. `args` are its registers, whose terms may move meanwhile.
pub fn run(p: &mut Process, native: impl FnOnce(&mut Process, &[Term]) -> NativeResult, args: &mut [Term]) -> NativeResult {
    if args.iter().any(|&term| flat_size_to(term, Keep::live(), MAX_WORDS) > MAX_WORDS) {
        return native(p, args);
    }
    // Allocated now, as the collector stores its stack mark there while the native changes other fields.
    p.rare();
    // These may still hold terms of an earlier native.
    p.exception = Exception::NONE;
    p.trap_args.clear();
    let mut heap = Heap::new();
    let copies: Vec<Term> = args.iter().map(|&term| heap.copy(term)).collect();
    p.saved.clear();
    p.saved.extend_from_slice(args);
    chunk::retire_fragments(p);
    let htop = p.heap.htop;
    let trailer = p.trailer();
    trailer.top = htop;
    debug_assert!(trailer.off_heap.is_null());
    trailer.off_heap = std::mem::replace(&mut p.heap, heap).off_heap.head;
    safepoint::leave();
    let result = native(p, &copies);
    safepoint::enter();
    args.copy_from_slice(&p.saved[..args.len()]);
    p.saved.clear();
    let mut made = std::mem::replace(&mut p.heap, Heap::new());
    let trailer = p.trailer();
    p.heap.htop = trailer.top;
    p.heap.off_heap.head = std::mem::replace(&mut trailer.off_heap, std::ptr::null_mut());
    p.sync_limit();
    let mut result = result;
    if let Ok(term) = &mut result {
        *term = p.heap.copy(*term);
    }
    let exception = &mut p.exception;
    let left =
        [&mut exception.reason, &mut exception.trace, &mut exception.cause, &mut exception.args, &mut exception.info, &mut p.exit_reason];
    for term in left.into_iter().chain(p.trap_args.iter_mut()) {
        if !term.is_none() {
            *term = p.heap.copy(*term);
        }
    }
    made.clear();
    result
}
