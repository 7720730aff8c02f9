//! A fence of which one side is cheap: for what happens all the time and must be ordered with what happens seldom.
//!
//! Two threads that each write one thing and then look at the other's both need a full fence between, so that one of them sees the
//! other. Linux lets the seldom side pay for both (membarrier: every running thread of this process executes a fence meanwhile):
//! then `light` only keeps the compiler from moving things. Where that call does not exist, both are fences.

#[cfg(not(loom))]
mod imp {
    use std::sync::OnceLock;
    use std::sync::atomic::{Ordering, compiler_fence, fence};

    const REGISTER_PRIVATE_EXPEDITED: libc::c_int = 1 << 4;
    const PRIVATE_EXPEDITED: libc::c_int = 1 << 3;

    fn membarrier(command: libc::c_int) -> bool {
        // SAFETY: a system call that touches no memory of ours.
        unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
    }

    /// Decided once, by the first call: both sides must mean the same.
    pub fn is_asymmetric() -> bool {
        static ASYMMETRIC: OnceLock<bool> = OnceLock::new();
        // Miri knows no such call.
        *ASYMMETRIC.get_or_init(|| !cfg!(miri) && membarrier(REGISTER_PRIVATE_EXPEDITED))
    }

    #[inline(always)]
    pub fn light() {
        // SeqCst: pairs with `heavy`, which makes the system run a fence on all cores where it can; then no instruction is needed here.
        if is_asymmetric() { compiler_fence(Ordering::SeqCst) } else { fence(Ordering::SeqCst) }
    }

    #[inline(always)]
    pub fn none() {
        // SeqCst for the compiler alone: the other side calls `heavy`, or is this thread.
        compiler_fence(Ordering::SeqCst);
    }

    pub fn heavy() {
        if !is_asymmetric() || !membarrier(PRIVATE_EXPEDITED) {
            // SeqCst: pairs with that of `light`.
            fence(Ordering::SeqCst);
        }
    }
}

#[cfg(loom)]
mod imp {
    pub fn is_asymmetric() -> bool {
        true
    }
    pub fn none() {
        light();
    }
    pub fn light() {
        // SeqCst, as in `heavy`: loom knows no barrier that one side leaves out.
        loom::sync::atomic::fence(loom::sync::atomic::Ordering::SeqCst);
    }
    pub fn heavy() {
        // SeqCst: pairs with that of `light`.
        loom::sync::atomic::fence(loom::sync::atomic::Ordering::SeqCst);
    }
}

/// Between a write and a look at what the other side writes, where both happen often.
#[inline(always)]
pub fn light() {
    imp::light();
}

/// True if `light` costs nothing.
pub fn is_asymmetric() -> bool {
    imp::is_asymmetric()
}

/// As `light`, for a caller that knows that it costs nothing.
#[inline(always)]
pub fn none() {
    imp::none();
}

/// The same for the side that does it seldom: takes microseconds.
pub fn heavy() {
    imp::heavy();
}
