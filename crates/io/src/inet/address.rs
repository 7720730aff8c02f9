//! Addresses as the driver's requests have them (family, port, bytes), and as system calls have them.

use super::reason::{Reason, last_error};
use super::request::Request;
use heddle_term::{Atom, Heap, Term};
use std::os::fd::{AsRawFd, OwnedFd};

const UNSPECIFIED: u8 = 0;
pub const INET: u8 = 1;
pub const INET6: u8 = 2;
const ANY: u8 = 3;
const LOOPBACK: u8 = 4;
pub const LOCAL: u8 = 5;
const UNKNOWN: u8 = 6;

/// The operating system's number for an address family of the protocol.
pub fn domain(family: u8) -> Option<i32> {
    match family {
        INET => Some(libc::AF_INET),
        INET6 => Some(libc::AF_INET6),
        LOCAL => Some(libc::AF_UNIX),
        _ => None,
    }
}

/// An address as system calls have it.
pub struct Address {
    storage: libc::sockaddr_storage,
    /// Bytes of it that count.
    len: libc::socklen_t,
}

/// Where the data of an address begins: after its family.
const DATA: usize = std::mem::offset_of!(libc::sockaddr, sa_data);

/// `getsockname` and `getpeername`.
type NameCall = unsafe extern "C" fn(i32, *mut libc::sockaddr, *mut libc::socklen_t) -> i32;

impl Address {
    /// Room for any address.
    pub fn empty() -> Address {
        // SAFETY: plain numbers, for which zeros are valid.
        Address { storage: unsafe { std::mem::zeroed() }, len: size_of::<libc::sockaddr_storage>() as libc::socklen_t }
    }

    fn of<T>(value: T, len: usize) -> Address {
        const { assert!(size_of::<T>() <= size_of::<libc::sockaddr_storage>()) };
        let mut address = Address::empty();
        // SAFETY: sockaddr_storage is as large and as aligned as any address.
        unsafe { std::ptr::write((&raw mut address.storage).cast::<T>(), value) };
        address.len = len as libc::socklen_t;
        address
    }

    /// `[Family, Port:16, Bytes]`, or `[local, Length, Path]`. `any` and `loopback` stand for addresses of the socket's own family. Takes the
    /// address from the front of the request.
    pub fn parse(family: u8, request: &mut Request) -> Result<Address, Reason> {
        const SHORT: Reason = "einval";
        let kind = request.byte().ok_or(SHORT)?;
        match kind {
            LOCAL => Address::local(request.name().ok_or(SHORT)?).ok_or(SHORT),
            INET | INET6 | ANY | LOOPBACK => {
                let port = request.short().ok_or(SHORT)?;
                match (kind, family) {
                    (INET, _) => Ok(Address::v4(request.number().ok_or(SHORT)?.to_be_bytes(), port)),
                    (INET6, _) => {
                        let ip: [u8; 16] = request.bytes(16).and_then(|ip| ip.try_into().ok()).ok_or(SHORT)?;
                        Ok(Address::v6(ip, port, request.number().unwrap_or(0), request.number().unwrap_or(0)))
                    }
                    (ANY, INET) => Ok(Address::v4([0; 4], port)),
                    (LOOPBACK, INET) => Ok(Address::v4([127, 0, 0, 1], port)),
                    (ANY, INET6) => Ok(Address::v6([0; 16], port, 0, 0)),
                    (LOOPBACK, INET6) => Ok(Address::v6(std::net::Ipv6Addr::LOCALHOST.octets(), port, 0, 0)),
                    _ => Err(SHORT),
                }
            }
            _ => Err("eafnosupport"),
        }
    }

    /// The address of no family. A datagram socket that is connected to it is not connected any more.
    pub fn unspecified() -> Address {
        Address { len: size_of::<libc::sa_family_t>() as libc::socklen_t, ..Address::empty() }
    }

    pub fn v4(ip: [u8; 4], port: u16) -> Address {
        let value = libc::sockaddr_in {
            sin_family: libc::AF_INET as libc::sa_family_t,
            sin_port: port.to_be(),
            sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes(ip) },
            sin_zero: [0; 8],
        };
        Address::of(value, size_of::<libc::sockaddr_in>())
    }

    pub fn v6(ip: [u8; 16], port: u16, flow: u32, scope: u32) -> Address {
        let value = libc::sockaddr_in6 {
            sin6_family: libc::AF_INET6 as libc::sa_family_t,
            sin6_port: port.to_be(),
            sin6_flowinfo: flow,
            sin6_addr: libc::in6_addr { s6_addr: ip },
            sin6_scope_id: scope,
        };
        Address::of(value, size_of::<libc::sockaddr_in6>())
    }

    fn local(path: &[u8]) -> Option<Address> {
        // SAFETY: plain numbers.
        let mut value: libc::sockaddr_un = unsafe { std::mem::zeroed() };
        value.sun_family = libc::AF_UNIX as libc::sa_family_t;
        // A path ends with a zero; an abstract name begins with one and needs no other.
        let needed = path.len() + path.first().is_none_or(|&first| first != 0) as usize;
        if needed > value.sun_path.len() {
            return None;
        }
        for (to, &from) in value.sun_path.iter_mut().zip(path) {
            *to = from as libc::c_char;
        }
        Some(Address::of(value, std::mem::offset_of!(libc::sockaddr_un, sun_path) + path.len()))
    }

    /// Returns the address that has these bytes after its family, or None if there are more of them than an address has.
    pub fn raw(family: libc::sa_family_t, data: &[u8]) -> Option<Address> {
        let mut address = Address::empty();
        address.storage.ss_family = family;
        let room = address.room().get_mut(DATA..)?.get_mut(..data.len())?;
        room.copy_from_slice(data);
        address.len = (DATA + data.len()) as libc::socklen_t;
        Some(address)
    }

    fn room(&mut self) -> &mut [u8] {
        // SAFETY: plain numbers, of which each byte is initialised and may have any value.
        unsafe { std::slice::from_raw_parts_mut((&raw mut self.storage).cast(), size_of::<libc::sockaddr_storage>()) }
    }

    /// The bytes that count: the family (two bytes, in the computer's order) and the data.
    pub fn as_bytes(&self) -> &[u8] {
        let len = (self.len as usize).min(size_of::<libc::sockaddr_storage>());
        // SAFETY: plain numbers, of which each byte is initialised.
        unsafe { std::slice::from_raw_parts((&raw const self.storage).cast(), len) }
    }

    /// Where a system call writes an address and its length, which is the room at first.
    pub fn target(&mut self) -> (*mut libc::sockaddr, &mut libc::socklen_t) {
        ((&raw mut self.storage).cast(), &mut self.len)
    }

    pub fn pointer(&self) -> (*const libc::sockaddr, libc::socklen_t) {
        ((&raw const self.storage).cast(), self.len)
    }

    /// The address that `getsockname` or `getpeername` returns.
    pub fn ask(fd: &OwnedFd, call: NameCall) -> Result<Address, Reason> {
        let mut address = Address::empty();
        let (room, len) = address.target();
        // SAFETY: room for any address.
        let done = unsafe { call(fd.as_raw_fd(), room, len) };
        if done < 0 { Err(last_error()) } else { Ok(address) }
    }

    pub fn family(&self) -> i32 {
        // A local socket without a name sends from an address of no bytes.
        if self.len == 0 { libc::AF_UNSPEC } else { self.storage.ss_family as i32 }
    }

    pub fn port(&self) -> u16 {
        // SAFETY: the family says what is there.
        unsafe {
            match self.family() {
                libc::AF_INET => u16::from_be((*(&raw const self.storage).cast::<libc::sockaddr_in>()).sin_port),
                libc::AF_INET6 => u16::from_be((*(&raw const self.storage).cast::<libc::sockaddr_in6>()).sin6_port),
                _ => 0,
            }
        }
    }

    /// `[Family, Port:16, Bytes]`, `[local, Length, Path]`, or only the family where there is no address.
    pub fn bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        match self.family() {
            libc::AF_INET => {
                out.push(INET);
                out.extend(self.port().to_be_bytes());
                out.extend(self.ip4());
            }
            libc::AF_INET6 => {
                out.push(INET6);
                out.extend(self.port().to_be_bytes());
                out.extend(self.ip6());
            }
            libc::AF_UNIX => {
                let path = self.path();
                out.extend([LOCAL, path.len() as u8]);
                out.extend(path);
            }
            libc::AF_UNSPEC => out.push(UNSPECIFIED),
            _ => out.push(UNKNOWN),
        }
        out
    }

    /// The address and the port as terms. What is not of the internet is `{Family, Name}` with port 0.
    pub fn terms(&self, heap: &mut Heap) -> (Term, Term) {
        let small = |n: u16| Term::small(n as i64);
        let other = |heap: &mut Heap, family: &str, name: &[u8]| {
            let name = heap.binary(name);
            heap.tuple(&[Atom::new(family).into(), name])
        };
        let address = match self.family() {
            libc::AF_INET => heap.tuple(&self.ip4().map(|b| small(b as u16))),
            libc::AF_INET6 => {
                let ip = self.ip6();
                let parts: Vec<Term> = ip.chunks_exact(2).map(|pair| small(u16::from_be_bytes([pair[0], pair[1]]))).collect();
                heap.tuple(&parts)
            }
            libc::AF_UNIX => other(heap, "local", &self.path()),
            libc::AF_UNSPEC => other(heap, "unspec", &[]),
            _ => other(heap, "undefined", &[]),
        };
        (address, small(self.port()))
    }

    fn ip4(&self) -> [u8; 4] {
        // SAFETY: an address of this family, as both callers know, or zeros; there is room for it.
        unsafe { (*(&raw const self.storage).cast::<libc::sockaddr_in>()).sin_addr.s_addr.to_ne_bytes() }
    }

    fn ip6(&self) -> [u8; 16] {
        // SAFETY: as above.
        unsafe { (*(&raw const self.storage).cast::<libc::sockaddr_in6>()).sin6_addr.s6_addr }
    }

    fn path(&self) -> Vec<u8> {
        // SAFETY: as above.
        let value = unsafe { &*(&raw const self.storage).cast::<libc::sockaddr_un>() };
        let from = std::mem::offset_of!(libc::sockaddr_un, sun_path);
        let len = (self.len as usize).saturating_sub(from).min(value.sun_path.len());
        let mut path: Vec<u8> = value.sun_path[..len].iter().map(|&c| c as u8).collect();
        // A path ends with a zero; an abstract name begins with one.
        if path.first().is_some_and(|&b| b != 0) {
            path.truncate(path.iter().position(|&b| b == 0).unwrap_or(path.len()));
        }
        path
    }
}
