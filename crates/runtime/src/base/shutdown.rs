//! How the VM ends: the hooks that run then, and the end itself.

use std::sync::atomic::{AtomicBool, Ordering};

/// A list of listeners.
static AT_EXIT: std::sync::Mutex<Vec<fn()>> = std::sync::Mutex::new(Vec::new());

/// `f` runs whenever the VM ends in an orderly way.
pub fn at_exit(f: fn()) {
    AT_EXIT.lock().unwrap().push(f);
}

/// Runs the hooks of `at_exit`; also for an end that is not orderly.
pub fn run_at_exit() {
    if let Ok(hooks) = AT_EXIT.try_lock() {
        hooks.iter().for_each(|f| f());
    }
}

/// What runs before a crash dump is written. Set at most once.
pub static AT_CRASH: std::sync::OnceLock<fn()> = std::sync::OnceLock::new();

/// The VM halts as soon as the ports are done.
/// The SeqCst of the swap orders no other memory: one call of `begin` returns true. Readers load Relaxed.
static HALTS: AtomicBool = AtomicBool::new(false);

/// From now on processes do not run any more; only ports do. False if the VM was halting already.
pub fn begin() -> bool {
    !HALTS.swap(true, Ordering::SeqCst)
}

/// True if `begin` was called.
#[inline(always)]
pub(crate) fn has_begun() -> bool {
    HALTS.load(Ordering::Relaxed)
}

/// Stops the VM. The caller has written out what is pending, or it is lost: this function waits for nothing.
pub fn exit_now(status: i32) -> ! {
    run_at_exit();
    // SAFETY: ends the process without running destructors, which other threads may still need.
    unsafe { libc::_exit(status) }
}
