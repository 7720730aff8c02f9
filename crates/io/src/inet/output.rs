//! Output of a socket: written at once as far as the descriptor takes it, and queued otherwise. A process that sends while much is queued
//! is answered when less is queued.

use super::caller::Sender;
use super::deadline::Deadline;
use super::options::Active;
use super::reason::{Reason, name_of};
use super::sendfile::SendFile;
use super::system_options::system_set;
use super::tcp::{Phase, Tcp};
use crate::packet::PacketKind;
use crate::ports::channel::Channel;
use crate::ports::flush::Unfinished;
use crate::ports::poll::{self, Interest};
use crate::ports::port::Port;
use crate::ports::queue::Queue;
use heddle_term::Atom;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

/// Bytes that a channel gives at a time, and above which the socket takes no more of it (guessed: a large packet).
const CHANNEL_BYTES: usize = 128 << 10;
/// Times that a channel gives before processes have their turn: a peer that reads as fast as this node writes would hold the scheduler for all of a
/// large message (100 MB: 50 ms). A turn takes a quarter of a millisecond.
const CHANNEL_TURNS: usize = 4;

/// Bytes of a channel that the system keeps at most beside those that are on their way.
const UNSENT_BYTES: libc::c_int = 512 << 10;

#[derive(Default)]
pub struct Output {
    pub(super) queue: Queue,
    /// Senders that will be answered when less is queued.
    senders: Vec<Sender>,
    pub subscribers: Vec<u64>,
    /// The connection is shut down for writing when all is written.
    pub shut_after: bool,
    /// A file that is sent after what is queued.
    pub(super) file: Option<Box<SendFile>>,
}

impl Output {
    pub fn is_empty(&self) -> bool {
        self.queued_bytes() == 0 && self.file.is_none()
    }
    pub fn queued_bytes(&self) -> usize {
        self.queue.bytes() + self.file.as_ref().map_or(0, |file| file.after.bytes())
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
        if let Some(file) = self.file.take() {
            file.fail(port, reason);
        }
    }

    /// Writes what the descriptor takes, of the queue, of a file, and of what comes after the file. Returns true if all is written.
    fn write(&mut self, port: &Port, fd: &OwnedFd) -> std::io::Result<bool> {
        loop {
            if !self.queue.write(fd)? {
                return Ok(false);
            }
            let Some(file) = &mut self.file else { return Ok(true) };
            if !file.write(fd)? {
                return Ok(false);
            }
            if let Some(file) = self.file.take() {
                file.tell_sent(port);
                self.queue = file.after;
            }
        }
    }

    /// Called when the port closes. What is queued is still written, and then the descriptor is closed.
    pub fn finish(&mut self, port: &Port, fd: Option<OwnedFd>) {
        let queue = std::mem::take(&mut self.queue);
        self.refuse_senders(port, "closed");
        if let Some(fd) = fd
            && !queue.is_empty()
        {
            linger(Arc::new(Mutex::new(Some(Rest { fd, queue, _unsent: Unfinished::begin() }))));
        }
    }
}

/// What a closed port left to be written.
struct Rest {
    fd: OwnedFd,
    queue: Queue,
    /// Keeps the VM from halting before all is written. The last field, so the descriptor is closed first.
    _unsent: Unfinished,
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
    pub fn send(&mut self, port: &Arc<Port>, pid: u64, mut command: Vec<u8>) {
        let Some((sender, data)) = Sender::parse(pid, &command) else {
            self.socket.ends_port = Some(Atom::new("einval"));
            return;
        };
        if self.phase != Phase::Connected {
            let closed = std::mem::take(&mut self.ended_for_send);
            if closed {
                self.ended_for_receive = None;
            }
            return sender.fail(port, if closed { "closed" } else { "enotconn" });
        }
        let (bytes, mut from) = (data.len(), command.len() - data.len());
        // The packet's length goes in front, if packets have one: where the reference was, so nothing moves. As in stock, a length that is too
        // large for its header is cut.
        if let PacketKind::Sized(n) = self.socket.options.framing(false).kind {
            if from < n {
                command.splice(..0, [0; 8]);
                from += 8;
            }
            command[from - n..from].copy_from_slice(&bytes.to_be_bytes()[8 - n..]);
            from -= n;
        }
        self.socket.sent.add(command.len() - from);
        let comes_after = !self.output.is_empty();
        match &mut self.output.file {
            Some(file) => file.after.push_from(command, from),
            None => self.output.queue.push_from(command, from),
        }
        if comes_after {
            // This data comes after that of other senders. The limit counts only here: one send alone never waits for itself.
            // A sender that waits makes later ones wait, too, though less may be queued by now.
            if self.output.is_busy() || self.output.queued_bytes() >= self.socket.options.high {
                self.wait_for_room(sender);
            } else {
                sender.ok(port);
            }
            return;
        }
        if self.socket.options.delay_send {
            sender.ok(port);
            return self.arm(port, Interest::Write);
        }
        self.output.senders.push(sender);
        self.write_queue(port, true);
    }

    fn wait_for_room(&mut self, mut sender: Sender) {
        if let Some(ms) = self.socket.options.send_timeout_ms {
            sender.deadline = Deadline::after(ms);
            self.socket.timer.want(sender.deadline);
        }
        self.output.senders.push(sender);
    }

    /// As `expire`, for the senders that wait.
    pub(super) fn expire_sends(&mut self, port: &Arc<Port>, now: Deadline) -> Deadline {
        let before = self.output.senders.len();
        self.output.senders.retain(|sender| {
            let is_over = sender.deadline <= now;
            if is_over {
                sender.fail(port, "timeout");
            }
            !is_over
        });
        if self.output.senders.len() < before && self.socket.options.send_timeout_close {
            self.close_silently(port);
        }
        self.output.senders.iter().map(|sender| sender.deadline).min().unwrap_or(Deadline::NEVER)
    }

    /// Closes the connection and drops what is queued. As in stock the owner gets no message: its send returns the error.
    pub(super) fn close_silently(&mut self, port: &Arc<Port>) {
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
        let Some(fd) = &self.socket.fd else { return };
        if self.is_ignored {
            return;
        }
        match self.output.write(port, fd) {
            Ok(all_out) => {
                if first || self.output.queued_bytes() <= self.socket.options.low {
                    for sender in self.output.senders.drain(..) {
                        sender.ok(port);
                    }
                }
                if all_out { self.all_sent(port) } else { self.arm(port, Interest::Write) }
            }
            Err(e) => {
                // The other side is gone: reported as stock does.
                let gone = matches!(e.raw_os_error(), Some(libc::EPIPE)) || e.kind() == std::io::ErrorKind::ConnectionReset;
                let reason = if gone && !self.socket.options.show_reset { "closed" } else { name_of(&e) };
                // Where no sender waits for an answer, the next one is told.
                self.ended_for_send = !self.output.is_busy() && self.output.file.is_none();
                self.output.refuse_senders(port, reason);
                if reason == "closed" { self.broke(port) } else { self.fail(port, reason) }
            }
        }
    }

    /// The other side is gone, as a send found out. If the socket is passive, the next receive reports it.
    fn broke(&mut self, port: &Arc<Port>) {
        if self.socket.options.active != Active::No {
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

    /// What is in the system's buffer goes out before a small message that comes later, so the system is told to take no more than the network
    /// needs. (The system may refuse: then small messages wait longer.)
    pub(super) fn keep_little_unsent(&self) {
        if let Some(fd) = &self.socket.fd {
            system_set(fd, libc::IPPROTO_TCP, libc::TCP_NOTSENT_LOWAT, &UNSENT_BYTES.to_ne_bytes());
        }
    }

    /// Writes packets of the channel, as long as the descriptor takes them and it is this port's turn. The poller says when it goes on.
    pub(super) fn pump_channel(&mut self, port: &Arc<Port>) {
        let Some(channel) = self.channel.clone() else { return };
        let mut turns = 0;
        while self.phase == Phase::Connected && self.output.queued_bytes() < CHANNEL_BYTES {
            if turns == CHANNEL_TURNS {
                return self.arm(port, Interest::Write);
            }
            turns += 1;
            let was_empty = self.output.is_empty();
            if !self.take_of_channel(port, &*channel) {
                return;
            }
            if was_empty {
                self.flush(port);
            }
        }
    }

    /// Queues all that the channel has, for the VM halts. No process gives it more.
    pub(super) fn drain_channel(&mut self, port: &Port) {
        if let Some(channel) = self.channel.clone() {
            while self.phase == Phase::Connected && self.take_of_channel(port, &*channel) {}
        }
    }

    /// Queues some packets of the channel. Returns false if it has none.
    fn take_of_channel(&mut self, port: &Port, channel: &dyn Channel) -> bool {
        let pieces = channel.output(CHANNEL_BYTES);
        let bytes = pieces.iter().map(|piece| piece.as_bytes().len()).sum::<usize>();
        if bytes == 0 {
            return false;
        }
        self.socket.sent.add(bytes);
        port.bytes_out.fetch_add(bytes as u64, Ordering::Relaxed);
        pieces.into_iter().for_each(|piece| self.output.queue.push_piece(piece));
        true
    }

    /// The port of a channel is busy for other processes while one waits for room: there an answer that comes late is not enough, since the
    /// channel queues data, too.
    pub(super) fn hold_senders(&self, port: &Arc<Port>) {
        let is_busy = self.output.is_busy();
        if self.channel.is_some() && is_busy != port.gate.is_held() {
            port.set_busy(is_busy);
        }
    }

    fn all_sent(&mut self, port: &Arc<Port>) {
        for pid in std::mem::take(&mut self.output.subscribers) {
            port.send(pid, |heap| heap.tuple(&[Atom::new("empty_out_q").into(), port.term()]));
        }
        if std::mem::take(&mut self.output.shut_after)
            && let Some(fd) = &self.socket.fd
        {
            // SAFETY: a plain system call.
            unsafe { libc::shutdown(fd.as_raw_fd(), libc::SHUT_WR) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports;
    use crate::ports::channel::Piece;
    use heddle_term::Term;
    use std::sync::atomic::AtomicUsize;

    /// It always has something to write, until it was asked much too often.
    #[derive(Default)]
    struct Endless(AtomicUsize);

    impl Channel for Endless {
        fn input(&self, _: &[u8]) -> bool {
            true
        }
        fn output(&self, room: usize) -> Vec<Piece> {
            let is_asked = self.0.fetch_add(1, Ordering::Relaxed) < 10 * CHANNEL_TURNS;
            if is_asked { vec![Piece::Own(vec![0; room])] } else { Vec::new() }
        }
        fn ended(&self, _: Term) {}
    }

    #[test]
    fn a_channel_with_much_to_write_lets_others_have_their_turn() {
        // It takes all that is written.
        let file = std::fs::OpenOptions::new().write(true).open("/dev/null").unwrap();
        let mut tcp = Tcp::default();
        tcp.socket.fd = Some(OwnedFd::from(file));
        tcp.phase = Phase::Connected;
        let channel = Arc::new(Endless::default());
        tcp.channel = Some(channel.clone());
        tcp.pump_channel(&ports::without_task(Box::new(Tcp::default())));
        assert_eq!(channel.0.load(Ordering::Relaxed), CHANNEL_TURNS);
        assert!(tcp.output.is_empty());
    }
}
