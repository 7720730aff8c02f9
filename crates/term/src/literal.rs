//! Literals: terms that no collector moves. They live in one reserved address range, so the question "may this object be
//! moved?" is one subtraction and one comparison.
//!
//! Memory is handed out by bumping; areas are never reused while a process could still point into them. A purged module's
//! area is kept (the address range is large, and pages of a small area cost what they hold).

use crate::copy::{copy_to, flat_size};
use crate::heap::OffHeap;
use crate::term::Term;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Reserved address space, in bytes; memory is only used as it is touched.
pub const RESERVED_BYTES: usize = 64 << 30;

static BASE: AtomicUsize = AtomicUsize::new(usize::MAX);
static NEXT: Mutex<Bump> = Mutex::new(Bump { next: 0, off_heap: OffHeap::new() });

struct Bump {
    next: usize,
    /// Off-heap objects inside literals; they live as long as the machine.
    off_heap: OffHeap,
}
// SAFETY: the raw list is only touched under the mutex.
unsafe impl Send for Bump {}

#[inline(always)]
pub fn is_literal(term: Term) -> bool {
    // Relaxed: set once before the first literal term exists; a thread that holds a literal got it after that.
    (term.raw() as usize).wrapping_sub(BASE.load(Ordering::Relaxed)) < RESERVED_BYTES
}

/// Bytes of literals handed out so far.
pub fn used_bytes() -> usize {
    let base = BASE.load(Ordering::Relaxed);
    if base == usize::MAX { 0 } else { NEXT.lock().unwrap().next - base }
}

/// Copies `term` into literal memory.
pub fn make_literal(term: Term) -> Term {
    let words = flat_size(term);
    if words == 0 {
        return term;
    }
    let mut bump = NEXT.lock().unwrap();
    if bump.next == 0 {
        bump.next = reserve();
    }
    let dest = bump.next as *mut u64;
    bump.next += words * 8;
    assert!(bump.next <= BASE.load(Ordering::Relaxed) + RESERVED_BYTES, "literal memory is used up ({RESERVED_BYTES} bytes)");
    // SAFETY: the words just reserved are ours alone.
    unsafe { copy_to(term, dest, &mut bump.off_heap) }
}

fn reserve() -> usize {
    // SAFETY: an anonymous private mapping of fresh address space.
    let ptr = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            RESERVED_BYTES,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            -1,
            0,
        )
    };
    assert!(ptr != libc::MAP_FAILED, "cannot reserve address space for literals: {}", std::io::Error::last_os_error());
    BASE.store(ptr as usize, Ordering::Release);
    ptr as usize
}
