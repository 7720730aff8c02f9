//! Where literals and the message area lie if the process may not have the address space that is reserved for them otherwise (`ulimit -v`).
//!
//! Being a literal is a question of the address: from the first one on, `literal::RESERVED_BYTES` bytes. Where that many cannot be
//! reserved, less is mapped, in a part of the address space that nothing else uses: the allocator takes addresses up to 30 TiB (its
//! hints), the program lies above 85 TiB, and the system maps downwards from 128 TiB. So nothing else comes to lie after what is mapped.

use std::ptr::without_provenance_mut;

/// 48 TiB.
const BASE: usize = 48 << 40;
/// With a limit to the address space: the literals have one part of that in this many.
pub const LITERAL_SHARES: usize = 8;
/// Of the message area, or the young generation of the shared heap.
pub const MESSAGE_SHARES: usize = 4;

/// Maps `bytes` bytes, `distance_bytes` after the quiet part's beginning. Returns where that is.
pub fn map(distance_bytes: usize, bytes: usize) -> Option<usize> {
    let (rights, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE);
    let wanted = BASE + distance_bytes;
    // SAFETY: fresh address space: the system refuses it where anything lies.
    let ptr = unsafe { libc::mmap(without_provenance_mut(wanted), bytes, rights, flags | libc::MAP_FIXED_NOREPLACE, -1, 0) };
    (ptr != libc::MAP_FAILED && ptr as usize == wanted).then_some(wanted)
}

/// The VM cannot start.
pub fn fail(what: &str, error: &std::io::Error) -> ! {
    crate::complain!("heddle: cannot reserve address space for {what}: {error} (`ulimit -v` says how much there may be: allow more)\n");
    std::process::exit(1)
}
