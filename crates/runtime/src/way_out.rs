//! How the machine ends: what was asked to run then, and the end.

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

/// Stops the machine: pending output was flushed by the caller.
pub fn exit_now(status: i32) -> ! {
    use std::io::Write;
    let _ = std::io::stdout().flush();
    run_at_exit();
    // SAFETY: ends the process without running destructors, which other threads may still need.
    unsafe { libc::_exit(status) }
}
