//! A stream socket: its state, and the requests of `port_control`.

use super::address::Address;
use super::caller::Caller;
use super::deadline::Deadline;
use super::input::Receiving;
use super::kind::Kind;
use super::operation::Inet;
use super::options::Active;
use super::output::Output;
use super::reason::{Reason, Reply, last_error};
use super::socket::Socket;
use super::traffic::statistics;
use crate::ports::channel::Channel;
use crate::ports::driver::{After, Driver};
use crate::ports::flush;
use crate::ports::poll::Interest;
use crate::ports::port::Port;
use heddle_runtime::proctab;
use heddle_runtime::task::Context;
use std::collections::VecDeque;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;

pub const NAME: &str = "tcp_inet";

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
    pub(super) socket: Socket,
    pub(super) phase: Phase,
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
    /// The descriptor is left alone (`ignorefd`): the port neither reads from it nor writes to it.
    pub(super) is_ignored: bool,
    /// The connection to another node whose packets go over the socket.
    pub(super) channel: Option<Arc<dyn Channel>>,
}

impl Default for Tcp {
    fn default() -> Tcp {
        Tcp::with(Socket::new(Kind::Stream), Phase::Closed)
    }
}

impl Driver for Tcp {
    /// Data to send. Only processes send: the runtime's data for a tracer is refused.
    fn command(&mut self, port: &Arc<Port>, from: Option<u64>, data: Vec<u8>, context: &mut Context<'_>) -> Option<After> {
        port.bytes_out.fetch_add(data.len() as u64, Ordering::Relaxed);
        self.send(port, from?, data);
        self.hold_senders(port);
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

    fn ready(&mut self, port: &Arc<Port>, interest: Interest, context: &mut Context<'_>) -> After {
        self.descriptor_ready(port, interest);
        self.hold_senders(port);
        self.after(port, context)
    }

    fn timeout(&mut self, port: &Arc<Port>, context: &mut Context<'_>) -> After {
        self.time_passed(port, context)
    }

    fn queued(&self) -> usize {
        self.output.queued_bytes()
    }

    fn carry(&mut self, channel: Arc<dyn Channel>) -> bool {
        let can = self.phase == Phase::Connected && self.channel.is_none();
        if can {
            self.channel = Some(channel);
            self.keep_little_unsent();
        }
        can
    }

    fn pump(&mut self, port: &Arc<Port>, context: &mut Context<'_>) -> After {
        self.pump_channel(port);
        self.hold_senders(port);
        self.after(port, context)
    }

    /// Processes that wait get an error. Queued data is still written, unless it is discarded: the port was killed, a file was being sent, the
    /// socket lingers for no time, or the node at the other end broke the protocol.
    fn close(&mut self, port: &Port, discards: bool) {
        let is_unwanted = self.channel.as_ref().is_some_and(|channel| channel.discards());
        let discards = discards || is_unwanted || self.output.file.is_some() || self.socket.lingers_not();
        if !discards && flush::is_halting() {
            self.drain_channel(port);
        }
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

impl Inet for Tcp {
    fn socket(&mut self) -> &mut Socket {
        &mut self.socket
    }

    fn request(&mut self, port: &Arc<Port>, caller: u64, operation: u32, data: &[u8]) -> Reply {
        match operation {
            1 => {
                self.socket.open(data)?;
                self.phase = Phase::Open;
                Ok(Vec::new())
            }
            2 => {
                self.close_silently(port);
                Ok(Vec::new())
            }
            3 => self.connect(port, caller, data),
            7 => self.set_options(port, data),
            11 => {
                let socket = &self.socket;
                statistics(&socket.received, &socket.sent, self.output.queued_bytes(), data).ok_or("einval")
            }
            13 => self.adopt(data),
            16 => Ok(self.status().to_be_bytes().to_vec()),
            24 => self.subscribe(caller, data).ok_or("einval"),
            26 => self.accept(port, caller, data),
            27 => self.listen(data),
            28 => self.ignore(port, *data.first().ok_or("einval")?),
            42 => self.receive(port, caller, data),
            43 => self.unreceive(port, data),
            44 => self.shutdown(data),
            45 => self.send_file(port, caller, data),
            _ => self.socket.request(self.phase == Phase::Connected, operation, data),
        }
    }

    fn expire(&mut self, port: &Arc<Port>, now: Deadline) -> Deadline {
        let mut next = Deadline::NEVER;
        let mut is_over = |caller: &Caller| {
            let is_over = caller.deadline <= now;
            if is_over {
                caller.fail(port, "timeout");
            } else {
                next = next.min(caller.deadline);
            }
            is_over
        };
        self.acceptors.retain(|caller| !is_over(caller));
        self.input.stop_waiting(&mut is_over);
        let fails = self.connecting.take_if(|caller| is_over(caller)).is_some();
        if fails {
            self.abandon();
        }
        next.min(self.expire_sends(port, now))
    }
}

impl Tcp {
    fn with(socket: Socket, phase: Phase) -> Tcp {
        Tcp {
            socket,
            phase,
            input: Receiving::default(),
            output: Output::default(),
            connecting: None,
            acceptors: VecDeque::new(),
            ended_for_receive: None,
            ended_for_send: false,
            end_told: false,
            is_ignored: false,
            channel: None,
        }
    }

    /// An accepted connection. It has its listener's options.
    pub(super) fn accepted(fd: OwnedFd, listener: &Tcp) -> Tcp {
        // The new owner decides when it wants messages.
        let mut options = listener.socket.options.clone();
        options.active = Active::No;
        Tcp::with(Socket::with(Some(fd), listener.socket.family, options), Phase::Connected)
    }

    fn adopt(&mut self, data: &[u8]) -> Reply {
        self.socket.adopt(data)?;
        let connected = Address::ask(self.socket.open_fd()?, libc::getpeername).is_ok();
        self.phase = if connected { Phase::Connected } else { Phase::Open };
        Ok(Vec::new())
    }

    /// Leaves the descriptor alone, or takes it up again. Only connections can be left alone.
    fn ignore(&mut self, port: &Arc<Port>, ignores: u8) -> Reply {
        if self.phase != Phase::Connected {
            return Err("enotconn");
        }
        match (ignores, self.is_ignored) {
            (1, false) => {
                crate::ports::poll::forget(self.socket.open_fd()?.as_raw_fd());
                self.is_ignored = true;
            }
            (0, true) => {
                self.is_ignored = false;
                self.take_input(port);
                self.flush(port);
            }
            _ => return Err("einval"),
        }
        Ok(Vec::new())
    }

    fn set_options(&mut self, port: &Arc<Port>, data: &[u8]) -> Reply {
        let socket = &mut self.socket;
        let activated = socket.options.set(socket.fd.as_ref(), socket.family, data)?;
        if activated {
            self.activated(port);
        }
        Ok(Vec::new())
    }

    fn status(&mut self) -> u32 {
        // Processes that ended no longer wait.
        self.acceptors.retain(|caller| proctab::lookup(caller.pid).is_some());
        match self.phase {
            Phase::Closed => 0,
            Phase::Open => 0x01,
            Phase::Listening => 0x09 | (!self.acceptors.is_empty() as u32) << 5,
            Phase::Connecting => 0x11,
            Phase::Connected => 0x05 | (self.output.is_busy() as u32) << 7,
        }
    }

    fn shutdown(&mut self, data: &[u8]) -> Reply {
        if self.phase != Phase::Connected {
            return Err("enotconn");
        }
        let &[how] = data else { return Err("einval") };
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
        if unsafe { libc::shutdown(self.socket.open_fd()?.as_raw_fd(), how) } < 0 { Err(last_error()) } else { Ok(Vec::new()) }
    }

    /// `[1]`: the caller wants `{empty_out_q, Port}` once. The answer is how many bytes are queued; the caller is remembered only if there
    /// are any.
    /// None for another event.
    fn subscribe(&mut self, caller: u64, data: &[u8]) -> Option<Vec<u8>> {
        let queued = self.output.queued_bytes() as u32;
        let mut reply = Vec::new();
        for &what in data {
            if what != 1 {
                return None;
            }
            if queued > 0 {
                self.output.subscribers.push(caller);
            }
            reply.push(1);
            reply.extend(queued.to_be_bytes());
        }
        Some(reply)
    }

    /// Parts from the descriptor. Returns it, or a copy if the port must not close it.
    pub(super) fn abandon(&mut self) -> Option<OwnedFd> {
        let fd = self.socket.abandon()?;
        self.phase = Phase::Closed;
        Some(fd)
    }
}
