//! How connections begin: connecting, listening, accepting.

use super::address::Address;
use super::caller::Caller;
use super::operation::{FOREVER, Inet};
use super::options::Active;
use super::reason::{Reason, Reply, last_error, name_of};
use super::request::{Request, number};
use super::tcp::{Phase, Tcp};
use crate::ports::poll::Interest;
use crate::ports::port::Port;
use heddle_runtime::proctab;
use heddle_runtime::send::deliver;
use heddle_runtime::signal::{Signal, SignalBody};
use heddle_runtime::task::TaskNext;
use heddle_term::{Term, am};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::Arc;

impl Tcp {
    /// `[Time:32, Address]`. The reply is empty if the connection is there at once, else the reference of the answer, which comes when the
    /// other side has answered.
    pub(super) fn connect(&mut self, port: &Arc<Port>, caller: u64, data: &[u8]) -> Reply {
        let fd = self.socket.open_fd()?;
        match self.phase {
            Phase::Connected => return Err("eisconn"),
            Phase::Connecting => return Err("einval"),
            _ => {}
        }
        let mut request = Request(data);
        let time = request.number().ok_or("einval")?;
        let to = Address::parse(self.socket.family, &mut request)?;
        let (pointer, len) = to.pointer();
        // SAFETY: the address is as long as said.
        let done = unsafe { libc::connect(fd.as_raw_fd(), pointer, len) } == 0;
        let error = std::io::Error::last_os_error();
        let pending = matches!(error.raw_os_error(), Some(libc::EINPROGRESS | libc::EINTR));
        if !done && !pending {
            return Err(name_of(&error));
        }
        if done {
            self.phase = Phase::Connected;
            self.activated(port);
            return Ok(Vec::new());
        }
        let caller = self.call(caller, time);
        self.phase = Phase::Connecting;
        self.connecting = Some(caller);
        self.arm(port, Interest::Write);
        Ok(caller.reply())
    }

    /// The system has connected the socket, or failed to.
    fn connected(&mut self, port: &Arc<Port>) {
        let Some(fd) = &self.socket.fd else { return };
        let (mut code, mut len) = (0i32, size_of::<i32>() as libc::socklen_t);
        // SAFETY: room for one integer.
        unsafe { libc::getsockopt(fd.as_raw_fd(), libc::SOL_SOCKET, libc::SO_ERROR, (&raw mut code).cast(), &mut len) };
        let Some(caller) = self.connecting.take() else { return };
        if code == 0 {
            self.phase = Phase::Connected;
            caller.ok(port);
            self.activated(port);
        } else {
            self.phase = Phase::Open;
            caller.fail(port, crate::errno::name(code));
        }
    }

    /// `[Backlog:16]`
    pub(super) fn listen(&mut self, data: &[u8]) -> Reply {
        let fd = self.socket.open_fd()?;
        let &[high, low] = data else { return Err("einval") };
        // SAFETY: a plain system call.
        if unsafe { libc::listen(fd.as_raw_fd(), u16::from_be_bytes([high, low]) as i32) } < 0 {
            return Err(last_error());
        }
        self.phase = Phase::Listening;
        Ok(Vec::new())
    }

    /// `[Time:32]`; any number of processes may wait, and are served in turn.
    pub(super) fn accept(&mut self, port: &Arc<Port>, caller: u64, data: &[u8]) -> Reply {
        if self.phase != Phase::Listening || data.len() != 4 {
            return Err("einval");
        }
        let time = number(data, 0)?;
        if self.acceptors.iter().any(|other| other.pid == caller) {
            return Err("ealready");
        }
        let now = if time == 0 { self.accept_now(port, caller) } else { None };
        if let Some(reference) = now {
            return Ok(reference);
        }
        let caller = self.call(caller, time);
        self.acceptors.push_back(caller);
        self.accept_waiting(port);
        Ok(caller.reply())
    }

    /// Accepts a connection that is there already, unless another process waits for one.
    /// Returns the reference of the answer, or None if the caller has to wait.
    fn accept_now(&mut self, port: &Arc<Port>, caller: u64) -> Option<Vec<u8>> {
        if !self.acceptors.is_empty() {
            return None;
        }
        let accepted = self.accept_one()?;
        let caller = self.call(caller, FOREVER);
        self.hand_over(port, caller, accepted);
        Some(caller.reply())
    }

    fn accept_waiting(&mut self, port: &Arc<Port>) {
        // Processes that ended no longer wait.
        self.acceptors.retain(|caller| proctab::lookup(caller.pid).is_some());
        while let Some(&caller) = self.acceptors.front() {
            let Some(accepted) = self.accept_one() else { return self.arm(port, Interest::Read) };
            self.acceptors.pop_front();
            self.hand_over(port, caller, accepted);
        }
    }

    /// Accepts one connection. Returns None if there is none to accept.
    fn accept_one(&self) -> Option<Result<OwnedFd, Reason>> {
        let listener = self.socket.fd.as_ref()?.as_raw_fd();
        loop {
            let flags = libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
            // SAFETY: null pointers say that no address is wanted.
            let fd = unsafe { libc::accept4(listener, std::ptr::null_mut(), std::ptr::null_mut(), flags) };
            if fd >= 0 {
                // SAFETY: fresh and ours.
                return Some(Ok(unsafe { OwnedFd::from_raw_fd(fd) }));
            }
            let error = std::io::Error::last_os_error();
            match error.raw_os_error() {
                Some(libc::EWOULDBLOCK) => return None,
                // The other side gave up meanwhile, or a signal came: try again.
                Some(libc::EINTR | libc::ECONNABORTED) => {}
                _ => return Some(Err(name_of(&error))),
            }
        }
    }

    /// `{inet_async, Listener, Reference, {ok, Port}}`; the new port is the caller's.
    fn hand_over(&mut self, port: &Arc<Port>, caller: Caller, accepted: Result<OwnedFd, Reason>) {
        let fd = match accepted {
            Ok(fd) => fd,
            Err(reason) => {
                caller.fail(port, reason);
                return;
            }
        };
        let connection = Box::new(Tcp::accepted(fd, self));
        let Some(new) = crate::ports::open::with_driver(super::tcp::NAME, connection, caller.pid) else {
            caller.fail(port, "system_limit");
            return;
        };
        let linked = proctab::lookup(caller.pid).is_some_and(|to| deliver(to, Signal::new(SignalBody::Link { from: new.term() })).is_ok());
        let told = linked
            && caller.tell(port, |heap| {
                let new: Term = new.term();
                heap.tuple(&[am::OK.into(), new])
            });
        if !told {
            new.request(|_, _| TaskNext::done());
        }
    }

    /// Asks to be called when the descriptor is ready.
    pub(super) fn arm(&self, port: &Arc<Port>, interest: Interest) {
        if let Some(fd) = &self.socket.fd
            && !self.is_ignored
        {
            port.watch(fd.as_raw_fd(), interest);
        }
    }

    /// A descriptor is ready.
    pub(super) fn descriptor_ready(&mut self, port: &Arc<Port>, interest: Interest) {
        match interest {
            Interest::Read => self.readable(port),
            Interest::Write => self.writable(port),
            // It waits for no such event.
            Interest::Error => {}
        }
    }

    fn readable(&mut self, port: &Arc<Port>) {
        match self.phase {
            Phase::Listening => self.accept_waiting(port),
            Phase::Connected => self.take_input(port),
            _ => {}
        }
    }

    fn writable(&mut self, port: &Arc<Port>) {
        match self.phase {
            Phase::Connecting => self.connected(port),
            Phase::Connected => {
                self.flush(port);
                self.pump_channel(port);
            }
            _ => {}
        }
    }

    /// Called when `active` was set or the connection is there: delivers what has come and asks for more.
    pub(super) fn activated(&mut self, port: &Arc<Port>) {
        if self.socket.options.active == Active::Count(0) {
            self.become_passive(port);
        }
        match self.phase {
            Phase::Connected => self.take_input(port),
            Phase::Closed if self.socket.options.active != Active::No => {
                if let Some(reason @ "econnreset") = self.ended_for_receive {
                    self.tell_error(port, reason);
                }
                self.tell_end(port);
            }
            _ => {}
        }
    }
}
