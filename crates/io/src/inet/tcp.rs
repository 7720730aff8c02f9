//! A stream socket: its state, and the requests of `port_control`.

use super::address::{self, Address};
use super::input::Receiving;
use super::options::{Active, SocketOptions};
use super::output::Output;
use super::{Caller, Reason, last_error, later, unlink_owner};
use crate::ports::driver::{After, Driver};
use crate::ports::poll::Interest;
use crate::ports::port::Port;
use heddle_runtime::task::{Context, Owned};
use heddle_term::{Atom, am};
use std::collections::VecDeque;
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd};
use std::sync::Arc;

/// The number that `prim_inet` adds to each operation.
const MAGIC: u32 = 0x03f1_a300;
/// The time of an operation without a limit.
const FOREVER: u32 = u32::MAX;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// There is no descriptor: the socket is not opened yet, or has ended.
    Closed,
    Open,
    Listening,
    Connecting,
    Connected,
}

pub struct Tcp {
    pub(super) fd: Option<OwnedFd>,
    pub(super) family: u8,
    pub(super) phase: Phase,
    pub(super) bound: bool,
    pub(super) options: SocketOptions,
    pub(super) input: Receiving,
    pub(super) output: Output,
    pub(super) connecting: Option<Caller>,
    pub(super) acceptors: VecDeque<Caller>,
    /// The other side closed while no process waited for input. The next receive fails for this reason, and the next send fails too, once
    /// each.
    pub(super) ended_for_receive: Option<Reason>,
    pub(super) ended_for_send: bool,
    /// The owner has been told that the other side sends no more. It is told once.
    pub(super) end_told: bool,
    /// The descriptor was given to another port (`inet:getfd`, `ignorefd`), which closes it.
    is_given_away: bool,
    /// The port must close, for this reason.
    pub(super) ends_port: Option<Atom>,
    next_reference: u16,
}

impl Default for Tcp {
    fn default() -> Tcp {
        Tcp {
            fd: None,
            family: 0,
            phase: Phase::Closed,
            bound: false,
            options: SocketOptions::default(),
            input: Receiving::default(),
            output: Output::default(),
            connecting: None,
            acceptors: VecDeque::new(),
            ended_for_receive: None,
            ended_for_send: false,
            end_told: false,
            is_given_away: false,
            ends_port: None,
            next_reference: 0,
        }
    }
}

impl Driver for Tcp {
    /// Data to send. Only processes send: the runtime's data for a tracer is refused.
    fn command(&mut self, port: &Arc<Port>, from: Option<u64>, data: Vec<u8>, context: &mut Context<'_>) -> Option<After> {
        self.send(port, from?, &data);
        Some(self.after(port, context))
    }

    /// The reply is `[1 | Reply]` or `[0 | Reason]`.
    fn control(
        &mut self,
        port: &Arc<Port>,
        caller: u64,
        operation: u32,
        data: &[u8],
        context: &mut Context<'_>,
    ) -> (Option<Vec<u8>>, After) {
        let (code, answer) = match self.request(port, caller, operation.wrapping_sub(MAGIC), data) {
            Ok(reply) => (1, reply),
            Err(reason) => (0, reason.as_bytes().to_vec()),
        };
        (Some([vec![code], answer].concat()), self.after(port, context))
    }

    fn ready(&mut self, port: &Arc<Port>, interest: Interest, context: &mut Context<'_>) -> After {
        self.descriptor_ready(port, interest);
        self.after(port, context)
    }

    /// Processes that wait get an error. Queued data is still written, unless it is discarded.
    fn close(&mut self, port: &Port, discards: bool) {
        let fd = self.abandon();
        let waiting = self.acceptors.drain(..).chain(self.connecting.take()).chain(self.input.forget());
        for caller in waiting {
            caller.fail(port, "closed");
        }
        self.output.finish(port, fd.filter(|_| !discards));
    }

    fn takes_force(&self) -> bool {
        true
    }
}

type Reply = Result<Vec<u8>, Reason>;

fn number(data: &[u8], at: usize) -> Result<u32, Reason> {
    Ok(u32::from_be_bytes(data.get(at..at + 4).ok_or("einval")?.try_into().map_err(|_| "einval")?))
}

impl Tcp {
    /// An accepted connection. It has its listener's options.
    pub(super) fn accepted(fd: OwnedFd, listener: &Tcp) -> Tcp {
        // The new owner decides when it wants messages.
        let mut options = listener.options.clone();
        options.active = Active::No;
        Tcp { fd: Some(fd), family: listener.family, phase: Phase::Connected, options, ..Tcp::default() }
    }

    /// Called after everything that the socket does: it may end the port.
    pub(super) fn after(&mut self, port: &Port, context: &mut Context<'_>) -> After {
        let Some(reason) = self.ends_port.take() else { return After::Continue };
        if reason == am::NORMAL {
            unlink_owner(port, context);
        }
        After::End(Owned::atom(reason))
    }

    fn request(&mut self, port: &Arc<Port>, caller: u64, operation: u32, data: &[u8]) -> Reply {
        match operation {
            1 => self.open(data),
            3 => self.connect(port, caller, number(data, 0)?, &data[4..]),
            4 => self.peer(),
            5 => Ok(Address::ask(self.fd()?, libc::getsockname)?.bytes()),
            6 => self.bind(data),
            7 => self.set_options(port, data),
            8 => self.options.get(self.fd.as_ref(), data),
            11 => self.statistics(data),
            12 => host_name(),
            13 => self.adopt(data),
            14 => Ok((self.fd()?.as_raw_fd() as u32).to_be_bytes().to_vec()),
            15 => Ok([(self.family as u32).to_be_bytes(), 1u32.to_be_bytes()].concat()),
            16 => Ok(self.status().to_be_bytes().to_vec()),
            24 => Ok(self.subscribe(caller, data)),
            26 => self.accept(port, caller, number(data, 0)?),
            27 => self.listen(data),
            28 => {
                self.is_given_away = *data.first().ok_or("einval")? != 0;
                crate::ports::poll::forget(self.fd()?.as_raw_fd());
                Ok(Vec::new())
            }
            42 => self.receive(port, caller, number(data, 0)?, number(data, 4)?),
            43 => self.unreceive(port, data),
            44 => self.shutdown(*data.first().ok_or("einval")?),
            _ => Err("exbadport"),
        }
    }

    pub(super) fn fd(&self) -> Result<&OwnedFd, Reason> {
        self.fd.as_ref().ok_or("einval")
    }

    fn open(&mut self, data: &[u8]) -> Reply {
        let &[family, 1, ..] = data else { return Err("einval") };
        let domain = address::domain(family).ok_or("eafnosupport")?;
        if self.fd.is_some() {
            return Err("einval");
        }
        // SAFETY: a plain system call.
        let fd = unsafe { libc::socket(domain, libc::SOCK_STREAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC, 0) };
        if fd < 0 {
            return Err(last_error());
        }
        // SAFETY: fresh and ours.
        self.fd = Some(unsafe { OwnedFd::from_raw_fd(fd) });
        (self.family, self.phase) = (family, Phase::Open);
        Ok(Vec::new())
    }

    /// Takes over a descriptor that the program has: `[Family, Type, Fd:32, Bound:32]`.
    fn adopt(&mut self, data: &[u8]) -> Reply {
        let &[family, 1, ..] = data else { return Err("einval") };
        let (fd, bound) = (number(data, 2)? as i32, number(data, 6)?);
        // SAFETY: a plain system call, which fails for what is no descriptor.
        if self.fd.is_some() || unsafe { libc::fcntl(fd, libc::F_GETFD) } < 0 {
            return Err("einval");
        }
        crate::ports::port::set_nonblocking(fd);
        // SAFETY: the program gave it away.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        let connected = Address::ask(&fd, libc::getpeername).is_ok();
        self.phase = if connected { Phase::Connected } else { Phase::Open };
        (self.family, self.bound, self.fd) = (family, bound != 0, Some(fd));
        Ok(Vec::new())
    }

    fn bind(&mut self, data: &[u8]) -> Reply {
        let to = Address::parse(self.family, data).ok_or("einval")?;
        let (pointer, len) = to.pointer();
        // SAFETY: the address is as long as said.
        if unsafe { libc::bind(self.fd()?.as_raw_fd(), pointer, len) } < 0 {
            return Err(last_error());
        }
        self.bound = true;
        Ok(Address::ask(self.fd()?, libc::getsockname)?.port().to_be_bytes().to_vec())
    }

    fn peer(&self) -> Reply {
        if self.phase != Phase::Connected {
            return Err("enotconn");
        }
        Ok(Address::ask(self.fd()?, libc::getpeername)?.bytes())
    }

    fn set_options(&mut self, port: &Arc<Port>, data: &[u8]) -> Reply {
        let activated = self.options.set(self.fd.as_ref(), data)?;
        if activated {
            self.activated(port);
        }
        Ok(Vec::new())
    }

    fn status(&self) -> u32 {
        match self.phase {
            Phase::Closed => 0,
            Phase::Open => 0x01 | (self.bound as u32) << 1,
            Phase::Listening => 0x09 | (!self.acceptors.is_empty() as u32) << 5,
            Phase::Connecting => 0x11,
            Phase::Connected => 0x05 | (self.output.is_busy() as u32) << 7,
        }
    }

    fn shutdown(&mut self, how: u8) -> Reply {
        if self.phase != Phase::Connected {
            return Err("enotconn");
        }
        if how != 0 && !self.output.is_empty() {
            // What is queued is written first.
            self.output.shut_after = true;
            if how == 1 {
                return Ok(Vec::new());
            }
        }
        let how = match how {
            0 => libc::SHUT_RD,
            1 => libc::SHUT_WR,
            2 if self.output.shut_after => libc::SHUT_RD,
            2 => libc::SHUT_RDWR,
            _ => return Err("einval"),
        };
        // SAFETY: a plain system call.
        if unsafe { libc::shutdown(self.fd()?.as_raw_fd(), how) } < 0 { Err(last_error()) } else { Ok(Vec::new()) }
    }

    /// `[1]`: the caller wants `{empty_out_q, Port}` once. The answer is how many bytes are queued; the caller is remembered only if there
    /// are any.
    fn subscribe(&mut self, caller: u64, data: &[u8]) -> Vec<u8> {
        let queued = self.output.queued_bytes() as u32;
        let mut reply = Vec::new();
        for _ in data.iter().filter(|&&what| what == 1) {
            if queued > 0 {
                self.output.subscribers.push(caller);
            }
            reply.push(1);
            reply.extend(queued.to_be_bytes());
        }
        reply
    }

    fn statistics(&self, data: &[u8]) -> Reply {
        let (received, sent) = (&self.input.traffic, &self.output.traffic);
        let mut reply = Vec::new();
        for &what in data {
            reply.push(what);
            let value = match what {
                1 => received.count,
                2 => received.largest,
                3 => received.average(),
                4 => received.deviation as u64,
                5 => sent.count,
                6 => sent.largest,
                7 => sent.average(),
                8 => self.output.queued_bytes() as u64,
                9 | 10 => {
                    reply.extend(if what == 9 { received.bytes } else { sent.bytes }.to_be_bytes());
                    continue;
                }
                _ => return Err("einval"),
            };
            reply.extend((value as u32).to_be_bytes());
        }
        Ok(reply)
    }

    /// Makes the reference of an operation. The operation fails after `time` ms, unless it is answered before.
    pub(super) fn call(&mut self, port: &Arc<Port>, pid: u64, time: u32) -> Caller {
        self.next_reference = self.next_reference.wrapping_add(1);
        let caller = Caller { pid, reference: self.next_reference };
        if time != FOREVER {
            later(Arc::downgrade(port), time as u64, move |tcp, port| tcp.timed_out(port, caller));
        }
        caller
    }

    fn timed_out(&mut self, port: &Arc<Port>, caller: Caller) {
        let is = |other: &Caller| other.reference == caller.reference && other.pid == caller.pid;
        let acceptors = self.acceptors.len();
        self.acceptors.retain(|other| !is(other));
        let mut waited = self.acceptors.len() < acceptors;
        waited |= self.input.stop_waiting(is);
        if self.connecting.as_ref().is_some_and(is) {
            self.connecting = None;
            self.abandon();
            waited = true;
        }
        if waited {
            caller.fail(port, "timeout");
        }
    }

    /// Parts from the descriptor. Returns it, unless it now belongs to another port.
    pub(super) fn abandon(&mut self) -> Option<OwnedFd> {
        let fd = self.fd.take()?;
        crate::ports::poll::forget(fd.as_raw_fd());
        self.phase = Phase::Closed;
        if self.is_given_away {
            let _ = fd.into_raw_fd();
            return None;
        }
        Some(fd)
    }
}

fn host_name() -> Reply {
    let mut name = [0u8; 256];
    // SAFETY: room for the name, which is cut where it is longer.
    if unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len() - 1) } < 0 {
        return Err(last_error());
    }
    Ok(name.iter().copied().take_while(|&b| b != 0).collect())
}
