//! Options of a socket: those of the operating system, in a table, and the driver's own. In a request each option is a byte that names it,
//! followed by its value, mostly 32 bits.

use super::Reason;
use crate::packet::{Framing, PacketKind};
use libc::{IPPROTO_IP, IPPROTO_IPV6, IPPROTO_TCP, SOL_SOCKET};
use std::os::fd::{AsRawFd, OwnedFd};

/// (code, level, name) of options that are one integer for the system.
const SYSTEM: &[(u8, i32, i32)] = &[
    (0, SOL_SOCKET, libc::SO_REUSEADDR),
    (1, SOL_SOCKET, libc::SO_KEEPALIVE),
    (2, SOL_SOCKET, libc::SO_DONTROUTE),
    (4, SOL_SOCKET, libc::SO_BROADCAST),
    (5, SOL_SOCKET, libc::SO_OOBINLINE),
    (6, SOL_SOCKET, libc::SO_SNDBUF),
    (RECBUF, SOL_SOCKET, libc::SO_RCVBUF),
    (8, SOL_SOCKET, libc::SO_PRIORITY),
    (9, IPPROTO_IP, libc::IP_TOS),
    (10, IPPROTO_TCP, libc::TCP_NODELAY),
    (12, IPPROTO_IP, libc::IP_MULTICAST_TTL),
    (13, IPPROTO_IP, libc::IP_MULTICAST_LOOP),
    (V6ONLY, IPPROTO_IPV6, libc::IPV6_V6ONLY),
    (17, SOL_SOCKET, libc::SO_REUSEPORT),
    (18, SOL_SOCKET, libc::SO_REUSEPORT),
    (41, IPPROTO_IPV6, libc::IPV6_TCLASS),
    (43, IPPROTO_IP, libc::IP_RECVTOS),
    (44, IPPROTO_IPV6, libc::IPV6_RECVTCLASS),
    (46, IPPROTO_IP, libc::IP_TTL),
    (47, IPPROTO_IP, libc::IP_RECVTTL),
    (48, IPPROTO_TCP, libc::TCP_CORK),
];
const LINGER: u8 = 3;
const RECBUF: u8 = 7;
const V6ONLY: u8 = 16;
const DEVICE: u8 = 42;
const READ_PACKETS: u8 = 33;
pub const ACTIVE: u8 = 22;
const RAW: u8 = 34;
/// Largest value of a raw option, in bytes.
const RAW_MAX: usize = 64 << 10;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Active {
    No,
    Yes,
    Once,
    /// Active for this many messages.
    Count(i16),
}

/// The driver's own options. An accepted socket begins with those of its listener.
#[derive(Clone)]
pub struct SocketOptions {
    /// Largest read, in bytes.
    pub buffer_bytes: usize,
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
    /// Options that are stored to be read again, without other effect: code and value.
    kept: Vec<(u8, u32)>,
}

/// Options without effect here, and their first values: exclusiveaddruse, delay_send, read_packets, message queue limits, read_ahead,
/// non_block_send, debug.
const KEPT: &[(u8, u32)] = &[(19, 0), (31, 0), (READ_PACKETS, 5), (36, 8192), (37, 4096), (49, 1), (50, 0), (99, 0)];

impl Default for SocketOptions {
    fn default() -> SocketOptions {
        SocketOptions {
            buffer_bytes: 1460,
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
            kept: KEPT.to_vec(),
        }
    }
}

/// A request, from the front of which numbers are taken.
struct Request<'a>(&'a [u8]);

impl Request<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }
    fn number(&mut self) -> Option<u32> {
        let (first, rest) = self.0.split_at_checked(4)?;
        self.0 = rest;
        Some(u32::from_be_bytes(first.try_into().ok()?))
    }
    fn bytes(&mut self, len: usize) -> Option<&[u8]> {
        let (first, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(first)
    }
}

fn system_set(fd: &OwnedFd, level: i32, name: i32, value: &[u8]) -> bool {
    // SAFETY: the value is as long as said.
    unsafe { libc::setsockopt(fd.as_raw_fd(), level, name, value.as_ptr().cast(), value.len() as libc::socklen_t) == 0 }
}

fn system_get(fd: &OwnedFd, level: i32, name: i32, value: &mut [u8]) -> Option<usize> {
    let mut len = value.len() as libc::socklen_t;
    // SAFETY: `value` has room for `len` bytes.
    let done = unsafe { libc::getsockopt(fd.as_raw_fd(), level, name, value.as_mut_ptr().cast(), &mut len) };
    (done == 0).then_some(len as usize)
}

impl SocketOptions {
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
            10 | 13 if !in_headers => PacketKind::Http,
            10 | 11 | 13 | 14 => PacketKind::HttpHeader,
            _ => PacketKind::Raw,
        };
        let is_line = matches!(kind, PacketKind::Line | PacketKind::Http | PacketKind::HttpHeader);
        let line_bytes = if is_line { self.buffer_bytes } else { 0 };
        Framing { kind, max_bytes: self.packet_bytes, line_bytes, delimiter: self.delimiter }
    }

    /// Sets the options of the request, in its order. Returns true if `active` was among them.
    pub fn set(&mut self, fd: Option<&OwnedFd>, request: &[u8]) -> Result<bool, Reason> {
        let mut request = Request(request);
        let mut activated = false;
        while let Some(code) = request.byte() {
            activated |= code == ACTIVE;
            self.set_one(fd, code, &mut request).ok_or("einval")?;
        }
        Ok(activated)
    }

    fn set_one(&mut self, fd: Option<&OwnedFd>, code: u8, request: &mut Request) -> Option<()> {
        let value = request.number()?;
        if let Some(&(_, level, name)) = SYSTEM.iter().find(|o| o.0 == code) {
            // As in stock, most options that the system refuses are skipped.
            if !system_set(fd?, level, name, &value.to_ne_bytes()) && code == V6ONLY {
                return None;
            }
            if code == RECBUF {
                self.buffer_bytes = self.buffer_bytes.max(value as usize);
            }
            return Some(());
        }
        match code {
            LINGER => {
                let seconds = request.number()?;
                let both = [value.to_ne_bytes(), seconds.to_ne_bytes()].concat();
                system_set(fd?, SOL_SOCKET, libc::SO_LINGER, &both);
            }
            RAW => {
                let (name, len) = (request.number()?, request.number()? as usize);
                system_set(fd?, value as i32, name as i32, request.bytes(len)?);
            }
            DEVICE => {
                if !system_set(fd?, SOL_SOCKET, libc::SO_BINDTODEVICE, request.bytes(value as usize)?) {
                    return None;
                }
            }
            20 => self.buffer_bytes = (value as usize).max(1),
            21 => self.header = value as usize,
            ACTIVE => {
                self.active = match value {
                    0 => Active::No,
                    1 => Active::Yes,
                    2 => Active::Once,
                    _ => {
                        let more = i16::from_be_bytes(request.bytes(2)?.try_into().ok()?);
                        let now = if let Active::Count(n) = self.active { n } else { 0 };
                        Active::Count(now.checked_add(more)?.max(0))
                    }
                }
            }
            // Packets of TLS (12) are not supported.
            23 if value <= 14 && value != 12 => self.packet = value as u8,
            24 => self.binary = value != 0,
            25 => self.term = value != 0,
            26 => self.exit_on_close = value != 0,
            27 => self.high = value as usize,
            28 => self.low = value as usize,
            30 => self.send_timeout_ms = (value != u32::MAX).then_some(value as u64),
            32 => self.packet_bytes = value as usize,
            35 => self.send_timeout_close = value != 0,
            39 => self.show_reset = value != 0,
            40 => self.delimiter = value as u8,
            _ => self.kept.iter_mut().find(|k| k.0 == code)?.1 = value,
        }
        Some(())
    }

    /// Returns the values of the options in the list. As in stock, those that the system does not have are left out.
    pub fn get(&self, fd: Option<&OwnedFd>, request: &[u8]) -> Result<Vec<u8>, Reason> {
        let mut request = Request(request);
        let mut out = Vec::new();
        while let Some(code) = request.byte() {
            self.get_one(fd, code, &mut request, &mut out).ok_or("einval")?;
        }
        Ok(out)
    }

    fn get_one(&self, fd: Option<&OwnedFd>, code: u8, request: &mut Request, out: &mut Vec<u8>) -> Option<()> {
        let mut put = |value: u32| {
            out.push(code);
            out.extend(value.to_be_bytes());
        };
        if let Some(&(_, level, name)) = SYSTEM.iter().find(|o| o.0 == code) {
            let mut value = [0; 4];
            // Skipped if there is no descriptor any more, as in stock.
            if fd.and_then(|fd| system_get(fd, level, name, &mut value)).is_some() {
                put(u32::from_ne_bytes(value));
            }
            return Some(());
        }
        match code {
            LINGER => {
                let mut value = [0; 8];
                system_get(fd?, SOL_SOCKET, libc::SO_LINGER, &mut value)?;
                put(u32::from_ne_bytes(value[..4].try_into().ok()?));
                out.extend(u32::from_ne_bytes(value[4..].try_into().ok()?).to_be_bytes());
            }
            RAW => {
                let (level, name) = (request.number()?, request.number()?);
                let (is_given, len) = (request.byte()? != 0, request.number()? as usize);
                if len > RAW_MAX {
                    return None;
                }
                let mut value = if is_given { request.bytes(len)?.to_vec() } else { vec![0; len] };
                let Some(got) = fd.and_then(|fd| system_get(fd, level as i32, name as i32, &mut value)) else { return Some(()) };
                out.push(code);
                out.extend([level, name, got as u32].iter().flat_map(|n| n.to_be_bytes()));
                out.extend(&value[..got]);
            }
            DEVICE => {
                let mut value = [0; 64];
                let len = system_get(fd?, SOL_SOCKET, libc::SO_BINDTODEVICE, &mut value)?;
                put(len as u32);
                out.extend(&value[..len]);
            }
            // These have no meaning for streams.
            READ_PACKETS | 38 | 45 => {}
            20 => put(self.buffer_bytes as u32),
            21 => put(self.header as u32),
            ACTIVE => match self.active {
                Active::No => put(0),
                Active::Yes => put(1),
                Active::Once => put(2),
                Active::Count(n) => {
                    put(3);
                    out.extend(n.to_be_bytes());
                }
            },
            23 => put(self.packet as u32),
            24 => put(self.binary as u32),
            25 => put(self.term as u32),
            26 => put(self.exit_on_close as u32),
            27 => put(self.high as u32),
            28 => put(self.low as u32),
            30 => put(self.send_timeout_ms.map_or(u32::MAX, |ms| ms as u32)),
            32 => put(self.packet_bytes as u32),
            35 => put(self.send_timeout_close as u32),
            39 => put(self.show_reset as u32),
            _ => put(self.kept.iter().find(|k| k.0 == code)?.1),
        }
        Some(())
    }
}
