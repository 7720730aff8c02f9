//! Bit syntax: matching with contexts, and the construction of bitstrings.
//!
//! `integers`, `floats` and `utf` are the conversions between values and bits, without a process; `match_ctx`, `matching` and
//! `sized` read, `create`, `segment`, `append` and `old` (OTP 24) write. The `chain` files are the fast form of `create`.

pub mod append;
pub mod chain;
pub mod chain_segments;
pub mod chain_sizes;
pub mod create;
pub mod floats;
pub mod integers;
pub mod match_ctx;
pub mod matching;
pub mod old;
pub mod segment;
pub mod sized;
pub mod utf;

use crate::collect::make_room_keeping;
use crate::ctx::{Ctx, fits};
use heddle_term::Term;

/// Flags of a segment, as the operations see them.
pub const LITTLE: u64 = 2;
pub const SIGNED: u64 = 4;
/// Native byte order, which the loader resolves.
pub const NATIVE: u64 = 16;

/// The reductions for copying this many bytes: a kilobyte is about the work of a call (as in ERTS).
#[inline(always)]
pub fn copy_cost(bytes: u64) -> i64 {
    (bytes >> 10) as i64
}

/// After something was built: collects if the heap overflowed or `need` further words do not fit. Returns the value, moved.
///
/// # Safety
/// The tops are saved; `x[0..live]` are initialised; nothing but `value` is used afterwards.
#[inline(always)]
pub unsafe fn finish(c: *mut Ctx, live: usize, need: usize, value: Term) -> Term {
    // SAFETY: the tops are saved, `x[0..live]` are initialised, and only `value` is used afterwards.
    unsafe {
        let p = &mut *(*c).p;
        if p.heap.fragments.is_null()
            && fits(p.heap.htop, p.stop, need)
            && p.heap.off_heap.virtual_words <= p.vheap_limit_words
            && !heddle_runtime::zeal::gc()
        {
            return value;
        }
        make_room_keeping(c, need, live, value)
    }
}
