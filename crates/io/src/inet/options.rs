//! Options of a socket: those that the driver itself keeps; the rest are those of the system (`system_options`). In a request each option is a byte that names it,
//! followed by its value, mostly 32 bits.

use super::kind::Kind;
use super::reason::Reason;
use super::request::Request;
use super::system_options::{self, Outcome, RECBUF, RECVTCLASS, RECVTOS, RECVTTL, REPLY_MAX};
use crate::packet::{Framing, PacketKind};
use std::os::fd::OwnedFd;

const HIGH: u8 = 27;
const LOW: u8 = 28;
const SEND_TIMEOUT: u8 = 30;
const DELAY_SEND: u8 = 31;
const READ_PACKETS: u8 = 33;
const SEND_TIMEOUT_CLOSE: u8 = 35;
const MSGQ_HIGH: u8 = 36;
const MSGQ_LOW: u8 = 37;
const NETNS: u8 = 38;
const SHOW_RESET: u8 = 39;
const READ_AHEAD: u8 = 49;
pub const ACTIVE: u8 = 22;
/// Options that only streams have.
const OF_STREAMS: &[u8] = &[HIGH, LOW, SEND_TIMEOUT, SEND_TIMEOUT_CLOSE, DELAY_SEND, SHOW_RESET, READ_AHEAD];
/// A datagram has no more bytes than this, so a buffer for datagrams grows no further by itself.
const DATAGRAM_MAX: usize = 64 << 10;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Active {
    No,
    Yes,
    Once,
    /// Active for this many messages.
    Count(i16),
}

impl Active {
    /// What `active` is after a message has been delivered. `Count(0)` becomes passive and says so.
    pub fn after_message(self) -> Active {
        match self {
            Active::Once => Active::No,
            Active::Count(n) => Active::Count(n - 1),
            other => other,
        }
    }
}

/// The driver's own options. An accepted socket begins with those of its listener.
#[derive(Clone)]
pub struct SocketOptions {
    pub kind: Kind,
    /// Largest read, in bytes.
    pub buffer_bytes: usize,
    /// A program has set the size of the buffer, so it does not follow that of the system's buffer.
    buffer_is_set: bool,
    /// If false, no byte is read before the packet that it belongs to is wanted, unless packets are raw.
    pub read_ahead: bool,
    /// Most datagrams that are read before other descriptors have their turn.
    pub read_packets: usize,
    /// Bits for RECVTOS, RECVTCLASS and RECVTTL: datagrams come with ancillary data.
    ancillary: u8,
    /// Path of the file of the network namespace in which the socket is made.
    pub netns: Option<Vec<u8>>,
    /// How many bytes at the start of a packet come as a list, before the binary with the rest.
    pub header: usize,
    pub active: Active,
    packet: u8,
    pub packet_bytes: usize,
    pub delimiter: u8,
    pub binary: bool,
    /// Data as `{tcp, S, Data}`, else `{S, {data, Data}}`.
    pub term: bool,
    pub exit_on_close: bool,
    /// A connection that was reset is reported as `econnreset`, not as closed.
    pub show_reset: bool,
    pub high: usize,
    pub low: usize,
    pub send_timeout_ms: Option<u64>,
    pub send_timeout_close: bool,
    /// Data is not written at once, but with what else comes until the poller has its turn.
    pub delay_send: bool,
    /// Options that are stored to be read again, without other effect: code and value.
    kept: [(u8, u32); KEPT.len()],
}

/// Options without effect here, and their first values: exclusiveaddruse (of another system), message queue limits,
/// non_block_send (of SCTP), debug.
const KEPT: [(u8, u32); 5] = [(19, 0), (MSGQ_HIGH, 8192), (MSGQ_LOW, 4096), (50, 0), (99, 0)];
/// These are never stored, so they keep their first value.
const CONSTANT: &[u8] = &[19, 50];

/// How far reads grow by themselves while each finds as many bytes as it asks for.
const LARGEST_READ: usize = 64 << 10;

impl SocketOptions {
    /// How many bytes a read asks for after one that asked for `bytes` and got them all. A size that a program has set is kept.
    pub fn more_than(&self, bytes: usize) -> usize {
        let largest = if self.buffer_is_set { 0 } else { LARGEST_READ };
        bytes.saturating_mul(4).min(largest.max(self.buffer_bytes))
    }

    pub fn new(kind: Kind) -> SocketOptions {
        SocketOptions {
            kind,
            buffer_bytes: 1460,
            buffer_is_set: false,
            read_ahead: true,
            read_packets: 5,
            ancillary: 0,
            netns: None,
            header: 0,
            active: Active::No,
            packet: 0,
            packet_bytes: 0,
            delimiter: b'\n',
            binary: false,
            term: true,
            exit_on_close: true,
            show_reset: false,
            high: 8192,
            low: 4096,
            send_timeout_ms: None,
            send_timeout_close: false,
            delay_send: false,
            kept: KEPT,
        }
    }

    /// If packets are lines of HTTP, which are delivered as terms: true if strings in them are binaries.
    pub fn http(&self) -> Option<bool> {
        matches!(self.packet, 10 | 11 | 13 | 14).then_some(self.packet > 12)
    }

    /// How bytes are cut into packets. `in_headers`: the first line of an HTTP message has come.
    pub fn framing(&self, in_headers: bool) -> Framing {
        let kind = match self.packet {
            1 => PacketKind::Sized(1),
            2 => PacketKind::Sized(2),
            3 => PacketKind::Sized(4),
            4 => PacketKind::Asn1,
            5 => PacketKind::SunRm,
            6 => PacketKind::Cdr,
            7 => PacketKind::FastCgi,
            8 => PacketKind::Line,
            9 => PacketKind::Tpkt,
            12 => PacketKind::Tls,
            10 | 13 if !in_headers => PacketKind::Http,
            10 | 11 | 13 | 14 => PacketKind::HttpHeader,
            _ => PacketKind::Raw,
        };
        let is_line = matches!(kind, PacketKind::Line | PacketKind::Http | PacketKind::HttpHeader);
        let line_bytes = if is_line { self.buffer_bytes } else { 0 };
        Framing { kind, max_bytes: self.packet_bytes, line_bytes, delimiter: self.delimiter }
    }

    /// True if datagrams come with ancillary data.
    pub fn has_ancillary(&self) -> bool {
        self.ancillary != 0
    }

    /// True if the option has a meaning for the type of the socket.
    fn applies(&self, code: u8) -> bool {
        match self.kind {
            Kind::Stream => code != READ_PACKETS,
            Kind::Datagram => !OF_STREAMS.contains(&code),
        }
    }

    /// Sets the options of the request, in its order. Returns true if `active` was among them.
    pub fn set(&mut self, fd: Option<&OwnedFd>, family: u8, request: &[u8]) -> Result<bool, Reason> {
        let mut request = Request(request);
        let mut activated = false;
        while let Some(code) = request.byte() {
            activated |= code == ACTIVE;
            self.set_one(fd, family, code, &mut request).ok_or("einval")?;
        }
        Ok(activated)
    }

    fn set_one(&mut self, fd: Option<&OwnedFd>, family: u8, code: u8, request: &mut Request) -> Option<()> {
        let value = request.number()?;
        let outcome = system_options::set(fd, family, code, value, request)?;
        if outcome != Outcome::Unknown {
            self.system_has(code, value, outcome == Outcome::Set);
            return Some(());
        }
        // Numbers have a sign, also where a negative one makes no sense.
        let size = (value as i32).max(0) as usize;
        match code {
            20 => (self.buffer_bytes, self.buffer_is_set) = (size.max(1), true),
            21 => self.header = size,
            ACTIVE => {
                self.active = match value {
                    0 => Active::No,
                    1 => Active::Yes,
                    2 => Active::Once,
                    3 => {
                        let more = request.short()? as i16;
                        let now = if let Active::Count(n) = self.active { n } else { 0 };
                        Active::Count(now.checked_add(more)?.max(0))
                    }
                    _ => return None,
                }
            }
            23 if value <= 14 => self.packet = value as u8,
            24 => self.binary = value != 0,
            25 => self.term = value != 0,
            26 => self.exit_on_close = value != 0,
            32 => self.packet_bytes = size,
            NETNS => self.netns = Some(request.bytes(value as usize)?.to_vec()),
            40 => self.delimiter = value as u8,
            MSGQ_HIGH | MSGQ_LOW if size == 0 => return None,
            READ_PACKETS if self.kind == Kind::Datagram && size == 0 => return None,
            code if !self.applies(code) => {}
            HIGH => (self.high, self.low) = (size, self.low.min(size)),
            LOW => (self.low, self.high) = (size, self.high.max(size)),
            SEND_TIMEOUT => self.send_timeout_ms = (value != u32::MAX).then_some(value as u64),
            READ_AHEAD => self.read_ahead = value != 0,
            READ_PACKETS => self.read_packets = size,
            SEND_TIMEOUT_CLOSE => self.send_timeout_close = value != 0,
            DELAY_SEND => self.delay_send = value != 0,
            SHOW_RESET => self.show_reset = value != 0,
            _ => {
                let kept = self.kept.iter_mut().find(|k| k.0 == code)?;
                if !CONSTANT.contains(&code) {
                    kept.1 = value;
                }
            }
        }
        Some(())
    }

    /// The system was given an option. `is_set`: it took it.
    fn system_has(&mut self, code: u8, value: u32, is_set: bool) {
        let size = (value as i32).max(0) as usize;
        match code {
            RECBUF if !self.buffer_is_set => {
                let is_large = self.kind == Kind::Datagram && size > DATAGRAM_MAX;
                self.buffer_bytes = if is_large { DATAGRAM_MAX } else { self.buffer_bytes.max(size) };
            }
            RECVTOS | RECVTCLASS | RECVTTL if is_set => {
                let bit = 1 << (code - RECVTOS);
                self.ancillary = if value != 0 { self.ancillary | bit } else { self.ancillary & !bit };
            }
            _ => {}
        }
    }

    /// Returns the values of the options in the list. As in stock, those that the system does not have are left out.
    pub fn get(&self, fd: Option<&OwnedFd>, family: u8, request: &[u8]) -> Result<Vec<u8>, Reason> {
        let mut request = Request(request);
        let mut out = Vec::new();
        while let Some(code) = request.byte() {
            self.get_one(fd, family, code, &mut request, &mut out).ok_or("einval")?;
            if out.len() >= REPLY_MAX {
                return Err("einval");
            }
        }
        Ok(out)
    }

    fn get_one(&self, fd: Option<&OwnedFd>, family: u8, code: u8, request: &mut Request, out: &mut Vec<u8>) -> Option<()> {
        if system_options::get(fd, family, code, request, out)? || !self.applies(code) {
            return Some(());
        }
        let value = match code {
            20 => self.buffer_bytes as u32,
            21 => self.header as u32,
            ACTIVE => match self.active {
                Active::No => 0,
                Active::Yes => 1,
                Active::Once => 2,
                Active::Count(n) => {
                    out.extend([&[code, 0, 0, 0, 3], &n.to_be_bytes()[..]].concat());
                    return Some(());
                }
            },
            23 => self.packet as u32,
            24 => self.binary as u32,
            25 => self.term as u32,
            26 => self.exit_on_close as u32,
            HIGH => self.high as u32,
            LOW => self.low as u32,
            SEND_TIMEOUT => self.send_timeout_ms.map_or(u32::MAX, |ms| ms as u32),
            32 => self.packet_bytes as u32,
            READ_AHEAD => self.read_ahead as u32,
            READ_PACKETS => self.read_packets as u32,
            SEND_TIMEOUT_CLOSE => self.send_timeout_close as u32,
            DELAY_SEND => self.delay_send as u32,
            NETNS => {
                if let Some(path) = &self.netns {
                    out.extend([&[code], &(path.len() as u32).to_be_bytes()[..], path].concat());
                }
                return Some(());
            }
            SHOW_RESET => self.show_reset as u32,
            _ => self.kept.iter().find(|k| k.0 == code)?.1,
        };
        out.push(code);
        out.extend(value.to_be_bytes());
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_grow_unless_the_size_of_the_buffer_is_set() {
        let mut options = SocketOptions::new(Kind::Stream);
        assert_eq!([1460, 5840, 23_360, 65_536].map(|bytes| options.more_than(bytes)), [5840, 23_360, 65_536, 65_536]);
        options.set(None, 0, &[20, 0, 0, 5, 180]).unwrap();
        assert_eq!(options.more_than(1460), 1460);
        options.set(None, 0, &[20, 0, 2, 0, 0]).unwrap();
        assert_eq!(options.more_than(131_072), 131_072);
    }
}
