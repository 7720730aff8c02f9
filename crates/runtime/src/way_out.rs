//! How the machine ends: what was asked to run then, and the end.

use crate::process::ProcShared;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

static AT_EXIT: std::sync::Mutex<Vec<fn()>> = std::sync::Mutex::new(Vec::new());

/// `f` runs on every orderly way out.
pub fn at_exit(f: fn()) {
    AT_EXIT.lock().unwrap().push(f);
}

/// What `at_exit` was told; also for ways out that are not orderly.
pub fn run_at_exit() {
    if let Ok(hooks) = AT_EXIT.try_lock() {
        hooks.iter().for_each(|f| f());
    }
}

/// The machine halts as soon as the ports are done.
static HALTS: AtomicBool = AtomicBool::new(false);

/// From now on processes run no more, only ports do. False if it was said before.
pub fn begin_halt() -> bool {
    !HALTS.swap(true, Ordering::SeqCst)
}

/// Whether the process does not run any more because the machine halts.
#[inline(always)]
pub(crate) fn holds(p: &ProcShared) -> bool {
    HALTS.load(Ordering::Relaxed) && !p.is_port()
}

/// Ends the machine with a slogan, and mostly a crash dump: whoever can write one installs this.
pub static CRASH: OnceLock<fn(&str) -> !> = OnceLock::new();

pub(crate) fn crash(slogan: &str) -> ! {
    if let Some(crash) = CRASH.get() {
        crash(slogan);
    }
    heddle_term::complain!("{slogan}\n");
    exit_now(1)
}

/// Stops the machine. Whatever is pending was brought out by the caller, or is lost: nothing here waits for anybody.
pub fn exit_now(status: i32) -> ! {
    run_at_exit();
    // SAFETY: ends the process without running destructors, which other threads may still need.
    unsafe { libc::_exit(status) }
}
