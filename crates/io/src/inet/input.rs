//! Input of a socket: read when a process wants it, cut into packets, and given to the owner (active) or to the process that asked (passive).

use super::caller::Caller;
use super::operation::{FOREVER, Inet};
use super::options::Active;
use super::reason::{Reply, name_of};
use super::request::number;
use super::tcp::{Phase, Tcp};
use crate::packet::{Framing, NextPacket, PacketKind};
use crate::packet::{http, tls};
use crate::ports::poll::Interest;
use crate::ports::port::Port;
use heddle_term::{Atom, Heap, Term, am};
use std::cell::RefCell;
use std::os::fd::AsRawFd;
use std::sync::Arc;

/// Largest packet that a receive may ask for.
const LARGEST: usize = 64 << 20;
/// Reads before other descriptors have their turn.
const READS: usize = 16;
/// The same where nothing is read ahead, which may be one byte at a time.
const EXACT_READS: usize = 4096;

/// A buffer larger than this is not kept for other sockets.
const KEPT_BYTES: usize = 256 << 10;

thread_local! {
    /// Where a thread reads, for a socket of which no byte waits. So a socket without input has no buffer.
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

#[derive(Default)]
pub struct Receiving {
    buffer: Vec<u8>,
    /// The first line of an HTTP message has come. Its headers follow.
    in_headers: bool,
    /// The process that waits for input, and for how many bytes (0: any number).
    waiting: Option<(Caller, usize)>,
    /// How many bytes the next read asks for, if it goes into a binary of its own; 0: the last read returned little.
    pub(super) bulk_bytes: usize,
}

impl Receiving {
    pub fn stop_waiting(&mut self, is: &mut impl FnMut(&Caller) -> bool) -> bool {
        self.waiting.take_if(|(caller, _)| is(caller)).is_some()
    }

    pub fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }

    /// Drops what came and was not delivered.
    pub fn clear(&mut self) {
        self.buffer.clear();
    }

    /// How many bytes a process waits for (0: any number); None if no process waits.
    pub fn wanted_bytes(&self) -> Option<usize> {
        self.waiting.map(|(_, bytes)| bytes)
    }

    /// Adds what came to what waits for more.
    pub fn keep(&mut self, data: &[u8]) {
        self.buffer.extend_from_slice(data);
    }

    pub fn forget(&mut self) -> Option<Caller> {
        self.buffer = Vec::new();
        self.waiting.take().map(|(caller, _)| caller)
    }
}

/// Where the next packet is in the buffer, or what is missing.
enum Found {
    Packet { from: usize, to: usize, total: usize },
    Missing(usize),
    Invalid,
}

/// How much of the requested bytes a read returned.
pub enum Read {
    All,
    Less,
    Nothing,
}

/// Data as a list, or as a binary whose first `header` bytes come as a list before it.
pub fn data_term(heap: &mut Heap, data: &[u8], header: usize, is_binary: bool) -> Term {
    if !is_binary || data.len() < header {
        return heap.byte_list(data);
    }
    let (head, rest) = data.split_at(header);
    let rest = heap.binary(rest);
    let head: Vec<Term> = head.iter().map(|&b| Term::small(b as i64)).collect();
    heap.list_with_tail(&head, rest)
}

impl Tcp {
    /// `[Time:32, Length:32]`; length 0: the next packet, or any number of bytes.
    pub(super) fn receive(&mut self, port: &Arc<Port>, caller: u64, data: &[u8]) -> Reply {
        if self.phase != Phase::Connected {
            return Err(self.ended_for_receive.take().inspect(|_| self.ended_for_send = false).unwrap_or("enotconn"));
        }
        if data.len() != 8 {
            return Err("einval");
        }
        let (time, length) = (number(data, 0)?, number(data, 4)?);
        let length = length as usize;
        if self.socket.options.active != Active::No || self.framing().kind != PacketKind::Raw && length != 0 {
            return Err("einval");
        }
        if length > LARGEST {
            return Err("enomem");
        }
        if self.input.waiting.is_some() {
            return Err("ealready");
        }
        let caller = self.call(caller, if time == 0 { FOREVER } else { time });
        self.input.waiting = Some((caller, length));
        self.take_input(port);
        if time == 0 && self.input.stop_waiting(&mut |other: &Caller| other.reference == caller.reference) {
            caller.fail(port, "timeout");
        }
        Ok(caller.reply())
    }

    /// Puts bytes back, as if they had just come.
    pub(super) fn unreceive(&mut self, port: &Arc<Port>, data: &[u8]) -> Reply {
        if self.phase != Phase::Connected {
            return Err("enotconn");
        }
        self.input.buffer.splice(..0, data.iter().copied());
        self.take_input(port);
        Ok(Vec::new())
    }

    pub(super) fn framing(&self) -> Framing {
        self.socket.options.framing(self.input.in_headers)
    }

    fn is_wanted(&self) -> bool {
        let is_wanted = self.socket.options.active != Active::No || self.input.waiting.is_some() || self.channel.is_some();
        self.phase == Phase::Connected && !self.is_ignored && is_wanted
    }

    /// Reads and delivers packets, as long as a process wants them and there is input.
    pub(super) fn take_input(&mut self, port: &Arc<Port>) {
        if self.input.buffer.capacity() == 0 {
            self.input.buffer = BUFFER.take();
        }
        self.take_packets(port);
        // Another socket may have the room. What waits for the rest of its packet stays, in a buffer of its own where that is small.
        let buffer = &mut self.input.buffer;
        if buffer.len() < buffer.capacity() / 4 {
            let rest = buffer.to_vec();
            let mut room = std::mem::replace(buffer, rest);
            if room.capacity() <= KEPT_BYTES {
                room.clear();
                BUFFER.set(room);
            }
        }
    }

    fn take_packets(&mut self, port: &Arc<Port>) {
        for _ in 0..if self.socket.options.read_ahead { READS } else { EXACT_READS } {
            let missing = match self.deliver_packets(port) {
                Some(missing) => missing,
                None => return,
            };
            let read = match self.block_bytes() {
                Some(bytes) => self.read_block(port, bytes),
                None => self.read(port, missing),
            };
            match read {
                Read::All => {}
                Read::Less => {
                    // There is no more now. The poller reports more; another read would be a system call that finds nothing.
                    if self.deliver_packets(port).is_some() {
                        self.arm(port, Interest::Read);
                    }
                    return;
                }
                Read::Nothing => return,
            }
        }
        // The last read may have completed a packet, and nothing more may come.
        if self.deliver_packets(port).is_some() {
            self.arm(port, Interest::Read);
        }
    }

    /// Delivers the whole packets in the buffer while they are wanted.
    /// Returns how many bytes the next one lacks, or None if nothing more is wanted.
    fn deliver_packets(&mut self, port: &Arc<Port>) -> Option<usize> {
        let mut buffer = std::mem::take(&mut self.input.buffer);
        let mut at = 0;
        let missing = loop {
            if !self.is_wanted() {
                break None;
            }
            match self.find(&buffer[at..]) {
                Found::Missing(bytes) => break Some(bytes),
                Found::Packet { from, to, total } => {
                    let packet = &buffer[at + from..at + to];
                    at += total;
                    self.socket.received.add(packet.len());
                    self.deliver(port, packet);
                }
                Found::Invalid => {
                    self.fail(port, "emsgsize");
                    return None;
                }
            }
        };
        buffer.drain(..at);
        self.input.buffer = buffer;
        missing
    }

    fn find(&self, rest: &[u8]) -> Found {
        let framing = self.framing();
        if framing.kind == PacketKind::Raw {
            let wanted = self.input.waiting.map_or(0, |(_, length)| length);
            return match wanted {
                0 if rest.is_empty() => Found::Missing(0),
                0 => Found::Packet { from: 0, to: rest.len(), total: rest.len() },
                n if rest.len() < n => Found::Missing(n - rest.len()),
                n => Found::Packet { from: 0, to: n, total: n },
            };
        }
        match framing.next(rest) {
            NextPacket::Packet { header, total, trailer } => Found::Packet { from: header, to: total - trailer, total },
            NextPacket::More(Some(size)) => Found::Missing(size - rest.len()),
            NextPacket::More(None) if self.socket.options.read_ahead => Found::Missing(0),
            NextPacket::More(None) => Found::Missing(framing.header_missing(rest.len())),
            NextPacket::Invalid => Found::Invalid,
        }
    }

    /// One read. The end of the input or an error ends the socket. If there is nothing to read, the poller waits for more.
    fn read(&mut self, port: &Arc<Port>, missing: usize) -> Read {
        let Some(fd) = self.socket.fd.as_ref().map(|fd| fd.as_raw_fd()) else { return Read::Nothing };
        let options = &self.socket.options;
        let is_exact = missing > 0 && !options.read_ahead && self.framing().kind != PacketKind::Raw;
        let wanted = match missing {
            _ if is_exact => missing,
            _ if missing < options.buffer_bytes => options.buffer_bytes,
            _ if self.framing().kind == PacketKind::Raw => missing,
            // The rest of a large packet, and the beginning of the next one: else each packet would take two reads.
            _ => missing.saturating_add(options.buffer_bytes),
        };
        let wanted = wanted.min(LARGEST);
        let old = self.input.buffer.len();
        self.input.buffer.reserve(wanted);
        // SAFETY: `wanted` bytes of room were reserved; the length is set to what was written.
        let n = unsafe {
            let n = libc::read(fd, self.input.buffer.as_mut_ptr().add(old).cast(), wanted);
            self.input.buffer.set_len(old + n.max(0) as usize);
            n
        };
        self.input.bulk_bytes = if n as usize == wanted { self.socket.options.more_than(wanted) } else { 0 };
        self.outcome(port, n, wanted)
    }

    /// What a read of `wanted` bytes means that returned `n`.
    pub(super) fn outcome(&mut self, port: &Arc<Port>, n: isize, wanted: usize) -> Read {
        if n > 0 {
            crate::ports::BYTES_IN.fetch_add(n as u64, std::sync::atomic::Ordering::Relaxed);
            return if n as usize == wanted { Read::All } else { Read::Less };
        }
        let error = std::io::Error::last_os_error();
        match error.raw_os_error() {
            _ if n == 0 => self.ended(port),
            Some(libc::EWOULDBLOCK | libc::EINTR) => self.arm(port, Interest::Read),
            Some(libc::ECONNRESET) if !self.socket.options.show_reset => self.ended(port),
            _ => self.fail(port, name_of(&error)),
        }
        Read::Nothing
    }

    fn data(&self, heap: &mut Heap, port: &Port, packet: &[u8], is_binary: bool) -> Term {
        if self.framing().kind == PacketKind::Tls {
            return tls::term(heap, port.term(), packet);
        }
        if let Some(binary_strings) = self.socket.options.http() {
            return http::parse(heap, packet, self.framing().kind == PacketKind::HttpHeader, binary_strings);
        }
        data_term(heap, packet, self.socket.options.header, is_binary)
    }

    fn deliver(&mut self, port: &Arc<Port>, packet: &[u8]) {
        if let Some(channel) = &self.channel {
            if !channel.input(packet) {
                self.socket.ends_port = Some(Atom::new("killed"));
            }
            return;
        }
        self.give(port, |tcp, heap, is_binary| tcp.data(heap, port, packet, is_binary));
        if self.socket.options.http().is_some() {
            // Headers end with an empty line.
            self.input.in_headers = !matches!(packet, b"\r\n" | b"\n");
        }
    }

    /// Sends a packet to the process that waits, else to the owner. `data` makes its term, as a binary or (false) as a list.
    pub(super) fn give(&mut self, port: &Arc<Port>, data: impl FnOnce(&Tcp, &mut Heap, bool) -> Term) {
        if let Some((caller, _)) = self.input.waiting.take() {
            caller.tell(port, |heap| {
                let data = data(self, heap, self.socket.options.binary);
                heap.tuple(&[am::OK.into(), data])
            });
            return;
        }
        self.tell_owner(port, |heap| {
            if self.socket.options.term {
                let data = data(self, heap, self.socket.options.binary);
                if self.framing().kind == PacketKind::Tls {
                    return data;
                }
                let tag = if self.socket.options.http().is_some() { "http" } else { "tcp" };
                return heap.tuple(&[Atom::new(tag).into(), port.term(), data]);
            }
            let data = data(self, heap, port.binary);
            let inner = heap.tuple(&[Atom::new("data").into(), data]);
            heap.tuple(&[port.term(), inner])
        });
        self.socket.options.active = self.socket.options.active.after_message();
        if self.socket.options.active == Active::Count(0) {
            self.become_passive(port);
        }
    }

    pub(super) fn become_passive(&mut self, port: &Arc<Port>) {
        self.socket.options.active = Active::No;
        self.tell_owner(port, |heap| heap.tuple(&[Atom::new("tcp_passive").into(), port.term()]));
    }

    pub(super) fn tell_owner(&self, port: &Arc<Port>, what: impl FnOnce(&mut Heap) -> Term) {
        port.send(port.owner(), what);
    }
}
