//! The poller: one thread that waits for descriptors (epoll) and calls back what registered them. Registrations are one-shot:
//! a handler says whether it wants to hear again.

use heddle_runtime::locks::Class;
use heddle_runtime::msacc::{self, State};
use heddle_runtime::qsbr;
use std::collections::HashMap;
use std::os::fd::RawFd;
use std::sync::{Mutex, OnceLock};

/// Handlers are called on the poller thread, without any lock held.
pub use heddle_runtime::task::poll::{Handler, Interest};

#[derive(Default)]
struct Entry {
    read: Option<Handler>,
    write: Option<Handler>,
    registered: bool,
}

pub const ENTRY_BYTES: usize = size_of::<(RawFd, Entry)>();

struct Poller {
    epoll: RawFd,
    entries: Mutex<HashMap<RawFd, Entry>>,
}

static POLLER: OnceLock<Poller> = OnceLock::new();

fn poller() -> &'static Poller {
    POLLER.get_or_init(|| {
        // SAFETY: a plain system call.
        let epoll = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
        assert!(epoll >= 0, "epoll_create1: {}", std::io::Error::last_os_error());
        std::thread::Builder::new().name("poller".into()).spawn(run).expect("poller thread");
        Poller { epoll, entries: Mutex::default() }
    })
}

impl Poller {
    fn apply(&self, fd: RawFd, entry: &mut Entry) -> std::io::Result<()> {
        let mut events = 0;
        if entry.read.is_some() {
            events |= libc::EPOLLIN | libc::EPOLLRDHUP;
        }
        if entry.write.is_some() {
            events |= libc::EPOLLOUT;
        }
        let mut event = libc::epoll_event { events: (events | libc::EPOLLONESHOT) as u32, u64: fd as u64 };
        let op = if entry.registered { libc::EPOLL_CTL_MOD } else { libc::EPOLL_CTL_ADD };
        // SAFETY: `event` is valid for the call.
        if unsafe { libc::epoll_ctl(self.epoll, op, fd, &mut event) } < 0 {
            let error = std::io::Error::last_os_error();
            // The descriptor was closed and its number opened again, and the poller was not told.
            if error.raw_os_error() == Some(libc::ENOENT) {
                // SAFETY: as above.
                if unsafe { libc::epoll_ctl(self.epoll, libc::EPOLL_CTL_ADD, fd, &mut event) } == 0 {
                    entry.registered = true;
                    return Ok(());
                }
            }
            return Err(error);
        }
        entry.registered = true;
        Ok(())
    }
}

/// Calls `handler` once when `fd` is ready. Regular files (which epoll refuses) are always ready: the handler runs at once.
pub fn once(fd: RawFd, interest: Interest, handler: Handler) {
    let _ = try_once(fd, interest, handler);
}

/// The same; returns an error if the handler will not be called.
pub fn try_once(fd: RawFd, interest: Interest, handler: Handler) -> std::io::Result<()> {
    let p = poller();
    let applied = {
        let mut entries = Class::PollSet.lock(&p.entries);
        let entry = entries.entry(fd).or_default();
        match interest {
            Interest::Read => entry.read = Some(handler.clone()),
            Interest::Write => entry.write = Some(handler.clone()),
        }
        p.apply(fd, entry).inspect_err(|_| drop(entries.remove(&fd)))
    };
    match applied {
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

/// Forgets the descriptor; to be called before it is closed.
pub fn forget(fd: RawFd) {
    let p = poller();
    let mut entries = Class::PollSet.lock(&p.entries);
    if entries.remove(&fd).is_some_and(|e| e.registered) {
        // SAFETY: a plain system call; the event pointer may be null for DEL.
        unsafe { libc::epoll_ctl(p.epoll, libc::EPOLL_CTL_DEL, fd, std::ptr::null_mut()) };
    }
}

/// The number of descriptors with a handler that waits, and of all known ones.
pub fn counts() -> (usize, usize) {
    let Some(poller) = POLLER.get() else { return (0, 0) };
    let entries = Class::PollSet.lock(&poller.entries);
    (entries.values().filter(|e| e.read.is_some() || e.write.is_some()).count(), entries.len())
}

fn run() {
    let p = poller();
    heddle_runtime::affinity::free();
    msacc::register("poll", 0);
    let mut events = [libc::epoll_event { events: 0, u64: 0 }; 64];
    loop {
        // SAFETY: the buffer has room for 64 events.
        let n = unsafe { libc::epoll_wait(p.epoll, events.as_mut_ptr(), 64, -1) };
        msacc::sleep(false);
        msacc::enter(State::CheckIo);
        for event in &events[..n.max(0) as usize] {
            let fd = event.u64 as RawFd;
            let bits = event.events as i32;
            let end = bits & (libc::EPOLLHUP | libc::EPOLLERR) != 0;
            let mut ready = Vec::new();
            {
                let mut entries = Class::PollSet.lock(&p.entries);
                let Some(entry) = entries.get_mut(&fd) else { continue };
                if bits & (libc::EPOLLIN | libc::EPOLLRDHUP) != 0 || end {
                    ready.extend(entry.read.take());
                }
                if bits & libc::EPOLLOUT != 0 || end {
                    ready.extend(entry.write.take());
                }
                if entry.read.is_some() || entry.write.is_some() {
                    let _ = p.apply(fd, entry);
                }
            }
            for handler in ready {
                msacc::enter(State::Port);
                // Taken before the handler takes a port's lock: the thread that has the turn (`sync::sequential`) may wait for that lock.
                let _guard = qsbr::guard();
                handler();
                msacc::enter(State::CheckIo);
            }
        }
        msacc::sleep(true);
    }
}
