//! Readiness of descriptors: two sets. Schedulers wait for the descriptors of ports and tasks themselves (`sched::polling`); a thread of
//! its own, the poll thread, waits for what must be heard while schedulers are busy or stopped (the terminal), and stands in for
//! schedulers that are all held.
//!
//! A registration is for one event: a handler registers again if it wants to hear more.

mod set;
mod thread;

/// Handlers are called on a scheduler or the poll thread, without any lock held.
pub use heddle_runtime::process::host::{Handler, Interest};
use heddle_runtime::qsbr;
use heddle_runtime::sched::polling;
use set::Set;
use std::os::fd::RawFd;
use std::sync::OnceLock;

pub const ENTRY_BYTES: usize = set::ENTRY_BYTES;

struct Sets {
    of_schedulers: Set,
    of_thread: Set,
}

static SETS: OnceLock<Sets> = OnceLock::new();

fn sets() -> &'static Sets {
    let mut is_new = false;
    let sets = SETS.get_or_init(|| {
        is_new = true;
        Sets { of_schedulers: Set::new(false), of_thread: Set::new(true) }
    });
    if is_new {
        polling::install(&sets.of_schedulers);
        std::thread::Builder::new().name("poller".into()).spawn(|| thread::run(sets)).expect("poll thread");
    }
    sets
}

/// Calls `handler` once, on a scheduler, when `fd` is ready. Regular files (which epoll refuses) are always ready: the handler runs at
/// once. Returns why it will not be called.
pub fn once(fd: RawFd, interest: Interest, handler: Handler) -> std::io::Result<()> {
    let sets = sets();
    let result = in_set(&sets.of_schedulers, fd, interest, handler);
    polling::added();
    result
}

/// The same on the poll thread, also while schedulers are busy or stopped.
pub fn once_at_any_time(fd: RawFd, interest: Interest, handler: Handler) {
    let _ = in_set(&sets().of_thread, fd, interest, handler);
}

fn in_set(set: &'static Set, fd: RawFd, interest: Interest, handler: Handler) -> std::io::Result<()> {
    match set.add(fd, interest, handler.clone()) {
        Err(error) if error.raw_os_error() == Some(libc::EPERM) => {
            std::thread::spawn(move || {
                let _guard = qsbr::guard();
                handler();
            });
            Ok(())
        }
        other => other,
    }
}

/// Takes the handler of `once` away. True if it will not be called; false if none waits, or if it is being called or was.
pub fn cancel(fd: RawFd, interest: Interest) -> bool {
    sets().of_schedulers.cancel(fd, interest)
}

/// Forgets the descriptor. Must be called before it is closed.
pub fn forget(fd: RawFd) {
    let sets = sets();
    sets.of_schedulers.forget(fd);
    sets.of_thread.forget(fd);
}

/// Descriptors that a handler waits for, and those that are known.
pub fn counts() -> (usize, usize) {
    let Some(sets) = SETS.get() else { return (0, 0) };
    let (awaited, known) = sets.of_schedulers.counts();
    let (more_awaited, more_known) = sets.of_thread.counts();
    (awaited + more_awaited, known + more_known)
}
