//! A datagram socket: its requests, and sending. What comes in is in `datagrams`.

use super::address::Address;
use super::ancillary::Room;
use super::caller::{Caller, Sender};
use super::deadline::Deadline;
use super::kind::Kind;
use super::operation::{FOREVER, Inet};
use super::options::Active;
use super::reason::{Reason, Reply, last_error, name_of};
use super::request::{Request, number};
use super::socket::Socket;
use super::traffic::statistics;
use crate::ports::driver::{After, Driver};
use crate::ports::poll::Interest;
use crate::ports::port::Port;
use heddle_runtime::proctab;
use heddle_runtime::task::Context;
use heddle_term::Atom;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;

pub const NAME: &str = "udp_inet";

pub struct Udp {
    pub(super) socket: Socket,
    /// There is one address to which all goes and from which all comes.
    is_connected: bool,
    /// The process that waits for a datagram.
    pub(super) waiting: Option<Caller>,
}

impl Default for Udp {
    fn default() -> Udp {
        Udp { socket: Socket::new(Kind::Datagram), is_connected: false, waiting: None }
    }
}

impl Driver for Udp {
    /// A datagram to send. Only processes send: the runtime's data for a tracer is refused.
    fn command(&mut self, port: &Arc<Port>, from: Option<u64>, data: Vec<u8>, context: &mut Context<'_>) -> Option<After> {
        port.bytes_out.fetch_add(data.len() as u64, Ordering::Relaxed);
        match Sender::parse(from?, &data) {
            Some((sender, rest)) => match self.send(rest) {
                Ok(()) => sender.ok(port),
                Err(reason) => sender.fail(port, reason),
            },
            // As in stock another format ends the port.
            None => self.socket.ends_port = Some(Atom::new("einval")),
        }
        Some(self.after(port, context))
    }

    fn control(
        &mut self,
        port: &Arc<Port>,
        caller: u64,
        operation: u32,
        data: &[u8],
        context: &mut Context<'_>,
    ) -> (Option<Vec<u8>>, After) {
        let reply = self.answer(port, caller, operation, data);
        (Some(reply), self.after(port, context))
    }

    fn ready(&mut self, port: &Arc<Port>, _: Interest, context: &mut Context<'_>) -> After {
        self.take_input(port);
        self.after(port, context)
    }

    fn timeout(&mut self, port: &Arc<Port>, context: &mut Context<'_>) -> After {
        self.time_passed(port, context)
    }

    fn close(&mut self, port: &Port, _discards: bool) {
        self.shut(port);
    }

    fn takes_force(&self) -> bool {
        true
    }
}

impl Inet for Udp {
    fn socket(&mut self) -> &mut Socket {
        &mut self.socket
    }

    fn request(&mut self, port: &Arc<Port>, caller: u64, operation: u32, data: &[u8]) -> Reply {
        match operation {
            1 => self.socket.open(data)?,
            2 => self.shut(port),
            3 => self.connect(data)?,
            7 => {
                let socket = &mut self.socket;
                if socket.options.set(socket.fd.as_ref(), socket.family, data)? {
                    self.activated(port);
                }
            }
            11 => return statistics(&self.socket.received, &self.socket.sent, 0, data).ok_or("einval"),
            13 => self.socket.adopt(data)?,
            16 => return Ok((self.socket.is_open() as u32 | (self.is_connected as u32) << 2).to_be_bytes().to_vec()),
            24 => return nothing_queued(data),
            // Descriptors of connections can be left alone, those of datagram sockets cannot.
            28 if !self.is_connected => return Err("enotconn"),
            28 => return Err("einval"),
            60 => return self.receive(port, caller, data),
            _ => return self.socket.request(self.is_connected, operation, data),
        }
        Ok(Vec::new())
    }

    fn expire(&mut self, port: &Arc<Port>, now: Deadline) -> Deadline {
        if let Some(caller) = self.waiting.take_if(|caller| caller.deadline <= now) {
            caller.fail(port, "timeout");
        }
        self.waiting.map_or(Deadline::NEVER, |caller| caller.deadline)
    }
}

/// Nothing is ever queued, so an event that the queue is empty is not waited for.
fn nothing_queued(data: &[u8]) -> Reply {
    if data.iter().any(|&event| event != 1) {
        return Err("einval");
    }
    Ok(data.iter().flat_map(|&event| [event, 0, 0, 0, 0]).collect())
}

impl Udp {
    /// `[Time:32, Address]`; nothing: the socket is connected no more.
    fn connect(&mut self, data: &[u8]) -> Result<(), Reason> {
        let fd = self.socket.open_fd()?;
        if data.is_empty() {
            disconnect(fd);
            self.is_connected = false;
            return Ok(());
        }
        let mut request = Request(data);
        request.number().ok_or("einval")?;
        let to = Address::parse(self.socket.family, &mut request)?;
        if self.is_connected {
            // Else the system keeps the old address of this end.
            disconnect(fd);
        }
        let done = connect(fd, &to);
        let reason = last_error();
        self.is_connected = done;
        if !done {
            disconnect(fd);
            return Err(reason);
        }
        Ok(())
    }

    /// `[Time:32, Length:32]`. The length means nothing: a datagram comes as a whole.
    fn receive(&mut self, port: &Arc<Port>, caller: u64, data: &[u8]) -> Reply {
        self.socket.open_fd()?;
        if self.socket.options.active != Active::No || data.len() != 8 {
            return Err("einval");
        }
        // A process that ended no longer waits.
        if self.waiting.is_some_and(|other| proctab::lookup(other.pid).is_some()) {
            return Err("ealready");
        }
        let time = number(data, 0)?;
        let caller = self.call(caller, if time == 0 { FOREVER } else { time });
        self.waiting = Some(caller);
        self.take_input(port);
        if time == 0
            && let Some(caller) = self.waiting.take()
        {
            caller.fail(port, "timeout");
        }
        Ok(caller.reply())
    }

    /// `[Address, Length:32, AncillaryData, Data]`. The address means nothing if the socket is connected.
    fn send(&mut self, command: &[u8]) -> Result<(), Reason> {
        let fd = self.socket.fd.as_ref().ok_or("einval")?;
        let mut request = Request(command);
        let to = Address::parse(self.socket.family, &mut request)?;
        let len = request.number().ok_or("einval")? as usize;
        let ancillary = request.bytes(len).ok_or("einval")?;
        let mut room = Room::default();
        let control_bytes = room.fill(ancillary).ok_or("einval")?;
        let data = request.0;
        self.socket.sent.add(data.len());

        let (pointer, len) = if self.is_connected { (std::ptr::null(), 0) } else { to.pointer() };
        let mut part = libc::iovec { iov_base: data.as_ptr().cast_mut().cast(), iov_len: data.len() };
        // SAFETY: plain numbers and pointers, for which zeros are valid.
        let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
        (message.msg_name, message.msg_namelen) = (pointer.cast_mut().cast(), len);
        (message.msg_iov, message.msg_iovlen) = (&mut part, 1);
        if control_bytes > 0 {
            (message.msg_control, message.msg_controllen) = (room.bytes().as_mut_ptr().cast(), control_bytes);
        }
        loop {
            // SAFETY: address, data and control messages live until the call returns, and are as long as said. The call does not change them.
            let n = unsafe { libc::sendmsg(fd.as_raw_fd(), &message, 0) };
            if n >= 0 {
                crate::ports::BYTES_OUT.fetch_add(n as u64, Ordering::Relaxed);
                return Ok(());
            }
            let error = std::io::Error::last_os_error();
            if error.kind() != std::io::ErrorKind::Interrupted {
                return Err(name_of(&error));
            }
        }
    }

    /// Asks to be called when there is a datagram.
    pub(super) fn arm(&self, port: &Arc<Port>) {
        if let Some(fd) = &self.socket.fd {
            port.watch(fd.as_raw_fd(), Interest::Read);
        }
    }

    fn shut(&mut self, port: &Port) {
        drop(self.socket.abandon());
        self.is_connected = false;
        if let Some(caller) = self.waiting.take() {
            caller.fail(port, "closed");
        }
    }
}

fn connect(fd: &OwnedFd, to: &Address) -> bool {
    let (pointer, len) = to.pointer();
    // SAFETY: the address is as long as said.
    unsafe { libc::connect(fd.as_raw_fd(), pointer, len) == 0 }
}

fn disconnect(fd: &OwnedFd) {
    connect(fd, &Address::unspecified());
}
