//! Natives on dirty threads, which may block, or take long: the world does not wait for them.
//!
//! What such a native gets is copied to memory of its own, and what it makes lies there, too, so the collector moves nothing that it
//! looks at. When it is back its result is copied into the shared heap. Its arguments stay among the roots meanwhile, for what is told
//! of them if it fails.

use super::chunk;
use super::world;
use crate::process::{Exception, NativeFn, NativeResult, Process};
use heddle_term::copy::{Keep, flat_size_to};
use heddle_term::{Heap, Term};

/// Larger arguments are not copied: the world waits for who gets them. (Guessed: what is copied in a millisecond. One that blocks gets
/// file names and bytes.)
const MOST_WORDS: usize = 128 * 1024;

/// Runs a native on a dirty thread with nothing of the shared heap in its hands. `args`: its registers, which may move meanwhile.
pub fn run(p: &mut Process, native: NativeFn, args: &mut [Term]) -> NativeResult {
    if args.iter().any(|&term| flat_size_to(term, Keep::live(), MOST_WORDS) > MOST_WORDS) {
        return native(p, args);
    }
    // The collector notes its mark there; the native may do as it likes with the rest.
    p.rare();
    // What is left of an earlier one.
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
    world::leave();
    let result = native(p, &copies);
    world::enter();
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
