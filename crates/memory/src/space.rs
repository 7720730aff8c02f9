//! Address space: how much of it this process may have (`ulimit -v`), and what is reserved of it ahead of use.

/// An ordinary node does not start with less.
pub const MIN_BYTES: usize = 1 << 30;

/// In bytes; None: there is no limit.
pub fn limit_bytes() -> Option<usize> {
    // Miri has no getrlimit.
    if cfg!(miri) {
        return None;
    }
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: room for the answer.
    let known = unsafe { libc::getrlimit(libc::RLIMIT_AS, &mut limit) } == 0;
    (known && limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur as usize)
}

/// Bytes that a part of the VM should reserve of those that it would like: with a limit on address space, at most one of `shares` equal shares of it.
pub fn share(wanted_bytes: usize, shares: usize) -> usize {
    limit_bytes().map_or(wanted_bytes, |limit| wanted_bytes.min(limit / shares))
}
