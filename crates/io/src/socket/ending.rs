//! How sockets end, and what becomes of them when processes do.

use super::counters;
use super::messages;
use super::requestors::{Requestor, Requestors};
use super::socket::{ReadSide, Socket, WriteSide, state};
use super::watch;
use crate::ports::poll::{self, Interest};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl Socket {
    /// All that wait get an error; the current one does not.
    pub fn abort_waiting(self: &Arc<Socket>, all: &mut Requestors, reason: &str) {
        all.current = None;
        all.drain().for_each(|other| messages::abort(self, other, reason));
    }

    /// The same, with the current one if it has not been told that the socket is ready.
    fn abort_all(self: &Arc<Socket>, all: &mut Requestors, interest: Interest) {
        if let Some(current) = all.current
            && self.cancel_select(interest)
        {
            messages::abort(self, current, "closed");
        }
        self.abort_waiting(all, "closed");
    }

    /// The socket is open no more: nothing is waited for, and all that wait get `closed`. The descriptor stays.
    pub fn stop(self: &Arc<Socket>, read: &mut ReadSide, write: &mut WriteSide) {
        read.state |= state::CLOSING;
        write.state |= state::CLOSING;
        self.abort_all(&mut write.writers, Interest::Write);
        if let Some(connector) = write.connector.take()
            && self.cancel_select(Interest::Write)
        {
            messages::abort(self, connector, "closed");
        }
        self.abort_all(&mut read.readers, Interest::Read);
        self.abort_all(&mut read.acceptors, Interest::Read);
        // A descriptor that is the program's may be another socket's too, which may wait for it.
        if self.owns_fd {
            poll::forget(self.fd());
        }
    }

    /// Takes the descriptor out, after `stop`, and forgets what belongs to it. The caller closes what this returns when it has let the
    /// locks go: that may take time.
    pub fn take_fd(self: &Arc<Socket>, read: &mut ReadSide, write: &mut WriteSide) -> Option<OwnedFd> {
        let fd = self.fd.swap(-1, Ordering::Relaxed);
        read.state |= state::CLOSED;
        write.state |= state::CLOSED;
        self.owner.store(0, Ordering::Relaxed);
        read.partial = None;
        write.meta = None;
        write.file = None;
        counters::count(self.sort, -1);
        for pid in std::mem::take(&mut read.watched) {
            watch::forget(&raw const **self, pid);
        }
        if self.is_registered.load(Ordering::Relaxed) {
            messages::registry_delete(self);
        }
        // SAFETY: the socket had the descriptor, and has it no more.
        (fd >= 0 && self.owns_fd).then(|| unsafe { OwnedFd::from_raw_fd(fd) })
    }

    /// A process has ended that the socket watched.
    pub fn process_ended(self: &Arc<Socket>, pid: u64) {
        let (mut read, mut write) = self.both();
        read.watched.retain(|&other| other != pid);
        if read.state & state::CLOSED != 0 {
            return;
        }
        let was_closer = read.closer == pid;
        if was_closer {
            read.closer = 0;
        }
        let was_owner = self.owner() == pid;
        if was_owner {
            self.owner.store(0, Ordering::Relaxed);
        }
        if was_closer || was_owner && read.is_open() {
            if read.is_open() {
                self.stop(&mut read, &mut write);
            }
            let fd = self.take_fd(&mut read, &mut write);
            drop((read, write));
            close_without_waiting(fd);
            return;
        }
        if !read.is_open() {
            return;
        }
        if write.connector.is_some_and(|connector| connector.pid == pid) {
            write.connector = None;
            write.state &= !state::CONNECTING;
            self.cancel_select(Interest::Write);
        }
        let is = |current: Option<Requestor>| current.is_some_and(|current| current.pid == pid);
        read.readers.unqueue(pid, None);
        read.acceptors.unqueue(pid, None);
        write.writers.unqueue(pid, None);
        if is(read.readers.current) {
            self.cancel_select(Interest::Read);
            self.next_reader(&mut read);
        }
        if is(read.acceptors.current) {
            self.cancel_select(Interest::Read);
            self.next_acceptor(&mut read);
        }
        if is(write.writers.current) {
            self.cancel_select(Interest::Write);
            self.next_writer(&mut write);
        }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        let myself: *const Socket = self;
        let watched = self.read.get_mut().map_or_else(|_| Vec::new(), |read| std::mem::take(&mut read.watched));
        watched.into_iter().for_each(|pid| watch::forget(myself, pid));
        let fd = *self.fd.get_mut();
        if fd < 0 {
            return;
        }
        counters::count(self.sort, -1);
        if self.owns_fd {
            poll::forget(fd);
            // SAFETY: the socket had the descriptor, and is gone.
            close_without_waiting(Some(unsafe { OwnedFd::from_raw_fd(fd) }));
        }
    }
}

/// True if closing the descriptor may wait until its bytes are sent.
pub fn lingers(fd: RawFd) -> bool {
    let mut linger = libc::linger { l_onoff: 0, l_linger: 0 };
    let mut len = size_of::<libc::linger>() as libc::socklen_t;
    // SAFETY: room for the value, as large as said.
    let code = unsafe { libc::getsockopt(fd, libc::SOL_SOCKET, libc::SO_LINGER, (&raw mut linger).cast(), &raw mut len) };
    code == 0 && linger.l_onoff != 0 && linger.l_linger > 0
}

/// Closes the descriptor, on a thread of its own if that may wait.
fn close_without_waiting(fd: Option<OwnedFd>) {
    if let Some(fd) = fd.filter(|fd| lingers(fd.as_raw_fd())) {
        // Without a thread it is closed here.
        let _ = std::thread::Builder::new().name("closer".into()).spawn(move || drop(fd));
    }
}
