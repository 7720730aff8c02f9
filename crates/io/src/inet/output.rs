//! Output of a socket: written at once as far as the descriptor takes it, and queued otherwise. A process that sends while much is queued
//! is answered when less is queued.

use super::input::Traffic;
use super::options::Active;
use super::tcp::{Phase, Tcp};
use super::{Reason, error, later, name_of};
use crate::packet::PacketKind;
use crate::ports::flush::Unsent;
use crate::ports::poll::{self, Interest};
use crate::ports::port::Port;
use crate::ports::queue::Queue;
use heddle_runtime::send::build_message;
use heddle_term::etf::{self, DecodeOptions};
use heddle_term::{Atom, Heap, Term, am};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::{Arc, Mutex};

#[derive(Default)]
pub struct Output {
    queue: Queue,
    /// Senders that will be answered when less is queued.
    senders: Vec<Sender>,
    pub subscribers: Vec<u64>,
    /// The connection is shut down for writing when all is written.
    pub shut_after: bool,
    pub traffic: Traffic,
}

/// A process that sent data, and the reference that it expects in the answer (external format).
#[derive(Clone)]
struct Sender {
    pid: u64,
    reference: Vec<u8>,
}

impl Sender {
    /// `{inet_reply, Port, Result, Reference}`.
    fn tell(&self, port: &Port, result: impl FnOnce(&mut Heap) -> Term) {
        build_message(self.pid, |heap| {
            let mut message = vec![Atom::new("inet_reply").into(), port.term(), result(heap)];
            let options = DecodeOptions { allow_trailing: true, ..Default::default() };
            message.extend(etf::decode(heap, &self.reference, &options).map(|decoded| decoded.term).ok());
            heap.tuple(&message)
        });
    }
    fn fail(&self, port: &Port, reason: Reason) {
        self.tell(port, |heap| error(heap, reason));
    }
}

impl Output {
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }
    pub fn queued_bytes(&self) -> usize {
        self.queue.bytes()
    }
    pub fn is_busy(&self) -> bool {
        !self.senders.is_empty()
    }

    /// Answers all waiting senders with an error: nothing more will be written.
    pub fn refuse_senders(&mut self, port: &Port, reason: Reason) {
        self.queue = Queue::default();
        for sender in self.senders.drain(..) {
            sender.fail(port, reason);
        }
    }

    /// Called when the port closes. What is queued is still written, and then the descriptor is closed.
    pub fn finish(&mut self, port: &Port, fd: Option<OwnedFd>) {
        let queue = std::mem::take(&mut self.queue);
        self.refuse_senders(port, "closed");
        if let Some(fd) = fd
            && !queue.is_empty()
        {
            linger(Arc::new(Mutex::new(Some(Rest { fd, queue, _unsent: Unsent::begin() }))));
        }
    }
}

/// What a closed port left to be written.
struct Rest {
    fd: OwnedFd,
    queue: Queue,
    /// Keeps the VM from halting before all is written. The last field, so the descriptor is closed first.
    _unsent: Unsent,
}

/// Writes a queue that has no port any more. An error ends that.
fn linger(rest: Arc<Mutex<Option<Rest>>>) {
    let mut held = rest.lock().unwrap();
    let Some(Rest { fd, queue, .. }) = &mut *held else { return };
    match queue.write(fd) {
        Ok(false) => {
            let rest = rest.clone();
            poll::once_at_any_time(fd.as_raw_fd(), Interest::Write, Arc::new(move || linger(rest.clone())));
        }
        _ => {
            poll::forget(fd.as_raw_fd());
            *held = None;
        }
    }
}

impl Tcp {
    /// Sends data: `<<Size:16, Reference:Size/binary, Data/binary>>`. The answer is a message. Another format ends the port, as in stock.
    pub fn send(&mut self, port: &Arc<Port>, pid: u64, command: &[u8]) {
        let parts = command.split_at_checked(2).and_then(|(size, rest)| {
            let size = u16::from_be_bytes([size[0], size[1]]) as usize;
            rest.split_at_checked(size)
        });
        let Some((reference, data)) = parts else {
            self.ends_port = Some(Atom::new("einval"));
            return;
        };
        let sender = Sender { pid, reference: reference.to_vec() };
        if self.phase != Phase::Connected {
            let closed = std::mem::take(&mut self.ended_for_send);
            if closed {
                self.ended_for_receive = None;
            }
            return sender.fail(port, if closed { "closed" } else { "enotconn" });
        }
        // The packet's length goes in front, if packets have one. As in stock, a length that is too large for its header is cut.
        let chunk = match self.options.framing(false).kind {
            PacketKind::Sized(n) => [&data.len().to_be_bytes()[8 - n..], data].concat(),
            _ => data.to_vec(),
        };
        self.send_chunk(port, sender, chunk);
    }

    fn send_chunk(&mut self, port: &Arc<Port>, sender: Sender, chunk: Vec<u8>) {
        self.output.traffic.add(chunk.len());
        let queued = self.output.queue.bytes();
        self.output.queue.push(chunk);
        if queued > 0 {
            // This data comes after that of other senders. The limit counts only here: one send alone never waits for itself.
            if self.output.queue.bytes() >= self.options.high {
                self.wait_for_room(port, sender);
            } else {
                sender.tell(port, |_| am::OK.into());
            }
            return;
        }
        self.output.senders.push(sender);
        self.write_queue(port, true);
    }

    fn wait_for_room(&mut self, port: &Arc<Port>, sender: Sender) {
        if let Some(ms) = self.options.send_timeout_ms {
            let sender = sender.clone();
            later(Arc::downgrade(port), ms, move |tcp, port| tcp.send_timed_out(port, &sender));
        }
        self.output.senders.push(sender);
    }

    fn send_timed_out(&mut self, port: &Arc<Port>, sender: &Sender) {
        let is = |other: &Sender| other.pid == sender.pid && other.reference == sender.reference;
        if let Some(at) = self.output.senders.iter().position(is) {
            self.output.senders.remove(at).fail(port, "timeout");
            if self.options.send_timeout_close {
                self.close_silently(port);
            }
        }
    }

    /// Closes the connection and drops what is queued. As in stock the owner gets no message: its send returns the error.
    fn close_silently(&mut self, port: &Arc<Port>) {
        self.output.refuse_senders(port, "closed");
        if let Some(caller) = self.input.forget() {
            caller.fail(port, "closed");
        }
        drop(self.abandon());
    }

    pub(super) fn flush(&mut self, port: &Arc<Port>) {
        self.write_queue(port, false);
    }

    /// Writes what the descriptor takes. `first`: only the last sender's data is in the queue, and that sender is answered however much the
    /// descriptor takes.
    fn write_queue(&mut self, port: &Arc<Port>, first: bool) {
        let Some(fd) = &self.fd else { return };
        match self.output.queue.write(fd) {
            Ok(all_out) => {
                if first || self.output.queue.bytes() <= self.options.low {
                    for sender in self.output.senders.drain(..) {
                        sender.tell(port, |_| am::OK.into());
                    }
                }
                if all_out { self.all_sent(port) } else { self.arm(port, Interest::Write) }
            }
            Err(e) => {
                // The other side is gone: reported as stock does.
                let gone = matches!(e.raw_os_error(), Some(libc::EPIPE)) || e.kind() == std::io::ErrorKind::ConnectionReset;
                let reason = if gone && !self.options.show_reset { "closed" } else { name_of(&e) };
                self.output.refuse_senders(port, reason);
                if reason == "closed" { self.broke(port) } else { self.fail(port, reason) }
            }
        }
    }

    /// The other side is gone, as a send found out. If the socket is passive, the next receive reports it.
    fn broke(&mut self, port: &Arc<Port>) {
        if self.options.active != Active::No {
            return self.tell_end(port);
        }
        drop(self.abandon());
        match self.input.forget() {
            Some(caller) => {
                caller.fail(port, "closed");
            }
            None => self.ended_for_receive = Some("closed"),
        }
    }

    fn all_sent(&mut self, port: &Arc<Port>) {
        for pid in std::mem::take(&mut self.output.subscribers) {
            build_message(pid, |heap| heap.tuple(&[Atom::new("empty_out_q").into(), port.term()]));
        }
        if std::mem::take(&mut self.output.shut_after)
            && let Some(fd) = &self.fd
        {
            // SAFETY: a plain system call.
            unsafe { libc::shutdown(fd.as_raw_fd(), libc::SHUT_WR) };
        }
    }
}
