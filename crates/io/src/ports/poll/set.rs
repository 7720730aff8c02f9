//! One set of descriptors: an epoll instance, the handlers, and a descriptor by which a wait is ended.

use super::{Handler, Interest};
use heddle_runtime::locks::LockClass;
use heddle_runtime::sched::polling::Descriptors;
use std::collections::HashMap;
use std::os::fd::RawFd;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

#[derive(Default)]
struct Entry {
    read: Option<Handler>,
    write: Option<Handler>,
    error: Option<Handler>,
    is_registered: bool,
    /// The events that the system reports for the descriptor.
    reported: i32,
}

pub const ENTRY_BYTES: usize = size_of::<(RawFd, Entry)>();

const READ: i32 = libc::EPOLLIN | libc::EPOLLRDHUP;
const WRITE: i32 = libc::EPOLLOUT;

impl Entry {
    fn handler(&mut self, interest: Interest) -> &mut Option<Handler> {
        match interest {
            Interest::Read => &mut self.read,
            Interest::Write => &mut self.write,
            Interest::Error => &mut self.error,
        }
    }

    /// The events that the handlers wait for.
    fn wanted(&self) -> i32 {
        let error = if self.error.is_some() { libc::EPOLLERR } else { 0 };
        error | (if self.read.is_some() { READ } else { 0 }) | (if self.write.is_some() { WRITE } else { 0 })
    }
}

pub(super) struct Set {
    epoll: RawFd,
    /// Readable, for an instant, after each `interrupt`.
    bell: RawFd,
    /// True: the system reports one event of a descriptor and then no more, so the thread that waits is told once although the port reads
    /// later. False: a descriptor is reported until nothing is left to read, even if no handler wants that (it is taken out then).
    /// Schedulers run the port before they wait again, so they need no system call to be told of the next packet.
    is_one_shot: bool,
    entries: Mutex<HashMap<RawFd, Entry, foldhash::fast::FixedState>>,
    /// The length of `entries`. SeqCst, all uses: a thread that adds a descriptor stores it and then looks whether a scheduler waits or
    /// the poll thread looks (`polling::added`); `backup::look` clears its flag and then reads it.
    known: AtomicUsize,
}

/// What epoll keeps for the bell, where it keeps the number for other descriptors.
const BELL: u64 = u64::MAX;
/// The system has no `epoll_pwait2`.
static IS_COARSE: AtomicBool = AtomicBool::new(false);
/// Most events that one wait takes.
const EVENTS: usize = 64;

impl Set {
    pub fn new(is_one_shot: bool) -> Set {
        // SAFETY: a plain system call.
        let epoll = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
        assert!(epoll >= 0, "epoll_create1: {}", std::io::Error::last_os_error());
        // SAFETY: a plain system call.
        let bell = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
        assert!(bell >= 0, "eventfd: {}", std::io::Error::last_os_error());
        // Edge triggered: each ring is reported once, and the counter need not be read.
        let mut event = libc::epoll_event { events: (libc::EPOLLIN | libc::EPOLLET) as u32, u64: BELL };
        // SAFETY: `event` is valid for the call.
        let added = unsafe { libc::epoll_ctl(epoll, libc::EPOLL_CTL_ADD, bell, &mut event) };
        assert!(added == 0, "epoll_ctl: {}", std::io::Error::last_os_error());
        Set { epoll, bell, is_one_shot, entries: Mutex::default(), known: AtomicUsize::new(0) }
    }

    fn control(&self, operation: i32, fd: RawFd, events: i32) -> std::io::Result<()> {
        let one_shot = if self.is_one_shot { libc::EPOLLONESHOT } else { 0 };
        let mut event = libc::epoll_event { events: (events | one_shot) as u32, u64: fd as u64 };
        // SAFETY: `event` is valid for the call.
        if unsafe { libc::epoll_ctl(self.epoll, operation, fd, &mut event) } < 0 { Err(std::io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Has the system report what the handlers of the entry want.
    fn apply(&self, fd: RawFd, entry: &mut Entry) -> std::io::Result<()> {
        let wanted = entry.wanted();
        if entry.is_registered && entry.reported & wanted == wanted {
            return Ok(());
        }
        let operation = if entry.is_registered { libc::EPOLL_CTL_MOD } else { libc::EPOLL_CTL_ADD };
        match self.control(operation, fd, wanted) {
            // The descriptor was closed, and its number belongs to another now.
            Err(error) if error.raw_os_error() == Some(libc::ENOENT) => self.control(libc::EPOLL_CTL_ADD, fd, wanted)?,
            other => other?,
        }
        (entry.is_registered, entry.reported) = (true, wanted);
        Ok(())
    }

    /// Calls `handler` once the descriptor is ready.
    pub fn add(&self, fd: RawFd, interest: Interest, handler: Handler) -> std::io::Result<()> {
        // Dropped after the lock: the drop of a handler may end what it belongs to, and that forgets its descriptor.
        let (_before, _failed);
        let mut entries = LockClass::PollSet.lock(&self.entries);
        let entry = entries.entry(fd).or_default();
        _before = entry.handler(interest).replace(handler);
        let applied = self.apply(fd, entry);
        _failed = if applied.is_err() { entries.remove(&fd) } else { None };
        self.known.store(entries.len(), Ordering::SeqCst);
        applied
    }

    /// Takes the handler away that waits for the descriptor. False if none does: it was never added, or is called.
    pub fn cancel(&self, fd: RawFd, interest: Interest) -> bool {
        let mut entries = LockClass::PollSet.lock(&self.entries);
        let handler = entries.get_mut(&fd).and_then(|entry| entry.handler(interest).take());
        drop(entries);
        handler.is_some()
    }

    pub fn forget(&self, fd: RawFd) {
        if self.known.load(Ordering::SeqCst) == 0 {
            return;
        }
        let mut entries = LockClass::PollSet.lock(&self.entries);
        let entry = entries.remove(&fd);
        if entry.as_ref().is_some_and(|entry| entry.is_registered) {
            let _ = self.control(libc::EPOLL_CTL_DEL, fd, 0);
        }
        self.known.store(entries.len(), Ordering::SeqCst);
        drop(entries);
        drop(entry);
    }

    /// Descriptors that a handler waits for, and all.
    pub fn counts(&self) -> (usize, usize) {
        let entries = LockClass::PollSet.lock(&self.entries);
        (entries.values().filter(|entry| entry.wanted() != 0).count(), entries.len())
    }

    /// The system reported `bits` of a descriptor: takes the handlers that wait for them.
    fn take(&self, fd: RawFd, bits: i32, ready: &mut Vec<Handler>) {
        let mut entries = LockClass::PollSet.lock(&self.entries);
        let Some(entry) = entries.get_mut(&fd) else { return };
        let is_end = bits & (libc::EPOLLHUP | libc::EPOLLERR) != 0;
        let before = ready.len();
        if bits & READ != 0 || is_end {
            ready.extend(entry.read.take());
        }
        if bits & WRITE != 0 || is_end {
            ready.extend(entry.write.take());
        }
        if bits & libc::EPOLLERR != 0 {
            ready.extend(entry.error.take());
        }
        if self.is_one_shot {
            entry.reported = 0;
            if entry.wanted() != 0 {
                let _ = self.apply(fd, entry);
            }
        } else if ready.len() == before && entry.is_registered {
            // No handler wants what is reported, and it would be reported again at once. (An end is, whatever is asked for.)
            let wanted = entry.wanted();
            let changed =
                if wanted == 0 { self.control(libc::EPOLL_CTL_DEL, fd, 0) } else { self.control(libc::EPOLL_CTL_MOD, fd, wanted) };
            (entry.is_registered, entry.reported) = (changed.is_ok() && wanted != 0, wanted);
        }
    }

    /// Waits as `Descriptors::wait`; None: without a limit.
    pub fn wait_for(&self, limit: Option<Duration>, ready: &mut Vec<Handler>) {
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; EVENTS];
        let count = match limit {
            None => self.wait_ms(-1, &mut events),
            Some(Duration::ZERO) => self.wait_ms(0, &mut events),
            Some(limit) => self.wait_exactly(limit, &mut events),
        };
        for event in &events[..count.max(0) as usize] {
            if event.u64 != BELL {
                self.take(event.u64 as RawFd, event.events as i32, ready);
            }
        }
    }

    fn wait_ms(&self, ms: i32, events: &mut [libc::epoll_event; EVENTS]) -> i32 {
        // SAFETY: the buffer has room for that many events.
        unsafe { libc::epoll_wait(self.epoll, events.as_mut_ptr(), EVENTS as i32, ms) }
    }

    /// With a limit in nanoseconds, or in milliseconds where the system is older than Linux 5.11 or denies the call.
    fn wait_exactly(&self, limit: Duration, events: &mut [libc::epoll_event; EVENTS]) -> i32 {
        // Relaxed: no other data depends on it.
        if !IS_COARSE.load(Ordering::Relaxed) {
            let seconds = limit.as_secs().min(i32::MAX as u64) as libc::time_t;
            let limit = libc::timespec { tv_sec: seconds, tv_nsec: limit.subsec_nanos() as libc::c_long };
            let (events, room) = (events.as_mut_ptr(), EVENTS as libc::c_long);
            let no_mask = std::ptr::null::<libc::sigset_t>();
            // SAFETY: the buffer has room for that many events, `limit` is valid for the call, and no signal mask is given.
            let count = unsafe {
                libc::syscall(libc::SYS_epoll_pwait2, self.epoll as libc::c_long, events, room, &raw const limit, no_mask, 0usize)
            };
            if count >= 0 || std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted {
                return count as i32;
            }
            IS_COARSE.store(true, Ordering::Relaxed);
        }
        self.wait_ms(limit.as_micros().div_ceil(1000).min(i32::MAX as u128) as i32, events)
    }
}

impl Descriptors for Set {
    fn is_used(&self) -> bool {
        self.known.load(Ordering::SeqCst) != 0
    }
    fn wait(&self, limit: Duration, ready: &mut Vec<Handler>) {
        self.wait_for(Some(limit), ready);
    }
    fn interrupt(&self) {
        let one = 1u64;
        // SAFETY: eight bytes are read from `one`. The counter is never full: that takes 2^64 rings.
        unsafe { libc::write(self.bell, (&raw const one).cast(), 8) };
    }
    fn start_backup(&self) {
        super::sets().of_thread.interrupt();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write, pipe};
    use std::os::fd::AsRawFd;
    use std::sync::Arc;
    use std::time::Instant;

    fn look(set: &Set) -> usize {
        let mut ready = Vec::new();
        set.wait(Duration::ZERO, &mut ready);
        ready.len()
    }

    fn nothing() -> Handler {
        Arc::new(|| ())
    }

    #[test]
    fn each_registration_is_for_one_event() {
        for is_one_shot in [false, true] {
            let set = Set::new(is_one_shot);
            let (mut reader, mut writer) = pipe().unwrap();
            let fd = reader.as_raw_fd();
            set.add(fd, Interest::Read, nothing()).unwrap();
            assert_eq!(look(&set), 0);
            writer.write_all(b"a").unwrap();
            assert_eq!([look(&set), look(&set), look(&set)], [1, 0, 0]);
            set.add(fd, Interest::Read, nothing()).unwrap();
            assert_eq!(look(&set), 1);
            reader.read_exact(&mut [0]).unwrap();
            set.add(fd, Interest::Read, nothing()).unwrap();
            assert_eq!(look(&set), 0);
            writer.write_all(b"b").unwrap();
            assert_eq!(look(&set), 1);
            set.forget(fd);
            assert!(!set.is_used());
        }
    }

    #[test]
    fn an_end_that_no_handler_wants_is_not_reported_without_end() {
        let set = Set::new(false);
        let (reader, writer) = pipe().unwrap();
        let fd = reader.as_raw_fd();
        set.add(fd, Interest::Read, nothing()).unwrap();
        drop(writer);
        assert_eq!(look(&set), 1);
        let begun = Instant::now();
        look(&set);
        let mut ready = Vec::new();
        set.wait(Duration::from_millis(50), &mut ready);
        assert!(ready.is_empty() && begun.elapsed() >= Duration::from_millis(49));
        set.add(fd, Interest::Read, nothing()).unwrap();
        assert_eq!(look(&set), 1);
    }

    #[test]
    fn both_interests_of_a_descriptor_are_told_apart() {
        let set = Set::new(false);
        let (here, mut there) = std::os::unix::net::UnixStream::pair().unwrap();
        let fd = here.as_raw_fd();
        set.add(fd, Interest::Read, nothing()).unwrap();
        set.add(fd, Interest::Write, nothing()).unwrap();
        assert_eq!([look(&set), look(&set)], [1, 0]);
        assert_eq!(set.counts(), (1, 1));
        there.write_all(b"a").unwrap();
        assert_eq!([look(&set), look(&set)], [1, 0]);
        assert_eq!(set.counts(), (0, 1));
    }

    #[test]
    fn a_cancelled_handler_is_not_called_and_one_that_was_called_cannot_be_cancelled() {
        for is_one_shot in [false, true] {
            let set = Set::new(is_one_shot);
            let (here, mut there) = std::os::unix::net::UnixStream::pair().unwrap();
            let fd = here.as_raw_fd();
            assert!(!set.cancel(fd, Interest::Read));
            set.add(fd, Interest::Read, nothing()).unwrap();
            set.add(fd, Interest::Write, nothing()).unwrap();
            assert!(set.cancel(fd, Interest::Read));
            there.write_all(b"a").unwrap();
            assert_eq!([look(&set), look(&set)], [1, 0]);
            assert!(!set.cancel(fd, Interest::Write));
            set.add(fd, Interest::Read, nothing()).unwrap();
            assert_eq!(look(&set), 1);
        }
    }

    #[test]
    fn a_handler_that_forgets_its_descriptor_when_it_is_dropped_may_be_replaced_cancelled_and_forgotten() {
        struct Forgets(&'static Set, RawFd);
        impl Drop for Forgets {
            fn drop(&mut self) {
                self.0.forget(self.1 + 1000);
            }
        }
        let set: &'static Set = Box::leak(Box::new(Set::new(false)));
        let (reader, _writer) = pipe().unwrap();
        let fd = reader.as_raw_fd();
        let handler = || -> Handler {
            let forgets = Forgets(set, fd);
            Arc::new(move || assert!(forgets.1 > 0))
        };
        set.add(fd, Interest::Read, handler()).unwrap();
        set.add(fd, Interest::Read, handler()).unwrap();
        assert!(set.cancel(fd, Interest::Read));
        set.add(fd, Interest::Read, handler()).unwrap();
        set.forget(fd);
        assert!(set.add(-1, Interest::Read, handler()).is_err());
        assert!(!set.is_used());
    }

    #[test]
    fn a_limit_below_a_millisecond_is_kept() {
        let set = Set::new(false);
        let limit = Duration::from_micros(300);
        let waited = |_| {
            let begun = Instant::now();
            set.wait(limit, &mut Vec::new());
            begun.elapsed()
        };
        // A thread may be late in most waits, but not in all.
        let shortest = (0..500).map(waited).min().unwrap();
        assert!(shortest >= limit);
        assert!(shortest < Duration::from_millis(1) || IS_COARSE.load(Ordering::Relaxed), "{shortest:?}");
    }

    #[test]
    fn an_interrupt_ends_one_wait_also_if_it_comes_first() {
        let set = Set::new(false);
        set.interrupt();
        let begun = Instant::now();
        set.wait(Duration::from_millis(20_000), &mut Vec::new());
        assert!(begun.elapsed() < Duration::from_secs(10));
        assert_eq!(look(&set), 0);
        let begun = Instant::now();
        set.wait(Duration::from_millis(50), &mut Vec::new());
        assert!(begun.elapsed() >= Duration::from_millis(49));
    }
}
