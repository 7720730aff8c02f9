//! Options of a socket that the operating system keeps: most of them one integer, in a table; and the few that are more.

use super::address::{INET, INET6};
use super::ancillary;
use super::request::Request;
use libc::{IPPROTO_IP, IPPROTO_IPV6, IPPROTO_TCP, SOL_SOCKET};
use std::os::fd::{AsRawFd, OwnedFd};

const LINGER: u8 = 3;
pub const RECBUF: u8 = 7;
const MULTICAST_IF: u8 = 11;
const ADD_MEMBERSHIP: u8 = 14;
const DROP_MEMBERSHIP: u8 = 15;
const RAW: u8 = 34;
const DEVICE: u8 = 42;
pub const RECVTOS: u8 = 43;
pub const RECVTCLASS: u8 = 44;
const PKTOPTIONS: u8 = 45;
pub const RECVTTL: u8 = 47;
/// Largest reply to a request, in bytes.
pub const REPLY_MAX: usize = 64 << 10;

/// An option that is one integer for the system.
struct Row {
    code: u8,
    level: i32,
    name: i32,
    /// True if a program hears that the system refused the value. As in stock, most refusals are skipped.
    is_reported: bool,
}

const fn skipped(code: u8, level: i32, name: i32) -> Row {
    Row { code, level, name, is_reported: false }
}
const fn reported(code: u8, level: i32, name: i32) -> Row {
    Row { code, level, name, is_reported: true }
}

const TABLE: &[Row] = &[
    skipped(0, SOL_SOCKET, libc::SO_REUSEADDR),
    skipped(1, SOL_SOCKET, libc::SO_KEEPALIVE),
    skipped(2, SOL_SOCKET, libc::SO_DONTROUTE),
    skipped(4, SOL_SOCKET, libc::SO_BROADCAST),
    skipped(5, SOL_SOCKET, libc::SO_OOBINLINE),
    skipped(6, SOL_SOCKET, libc::SO_SNDBUF),
    skipped(RECBUF, SOL_SOCKET, libc::SO_RCVBUF),
    reported(8, SOL_SOCKET, libc::SO_PRIORITY),
    reported(9, IPPROTO_IP, libc::IP_TOS),
    skipped(10, IPPROTO_TCP, libc::TCP_NODELAY),
    skipped(12, IPPROTO_IP, libc::IP_MULTICAST_TTL),
    skipped(13, IPPROTO_IP, libc::IP_MULTICAST_LOOP),
    reported(16, IPPROTO_IPV6, libc::IPV6_V6ONLY),
    skipped(17, SOL_SOCKET, libc::SO_REUSEPORT),
    skipped(18, SOL_SOCKET, libc::SO_REUSEPORT),
    reported(41, IPPROTO_IPV6, libc::IPV6_TCLASS),
    reported(RECVTOS, IPPROTO_IP, libc::IP_RECVTOS),
    reported(RECVTCLASS, IPPROTO_IPV6, libc::IPV6_RECVTCLASS),
    reported(46, IPPROTO_IP, libc::IP_TTL),
    reported(RECVTTL, IPPROTO_IP, libc::IP_RECVTTL),
    skipped(48, IPPROTO_TCP, libc::TCP_CORK),
];

/// What became of an option.
#[derive(PartialEq, Eq, Debug)]
pub enum Outcome {
    Set,
    /// The system refused it, or there is no socket yet. The program does not hear of it.
    Skipped,
    /// Not an option of the system.
    Unknown,
}

/// Sets an option of a socket of this family. `value`: its first four bytes, which are taken already. Returns None if the request is wrong,
/// and if the system refused an option whose refusal is reported.
pub fn set(fd: Option<&OwnedFd>, family: u8, code: u8, value: u32, request: &mut Request) -> Option<Outcome> {
    let mut is_reported = false;
    let done = if let Some(row) = TABLE.iter().find(|row| row.code == code) {
        is_reported = row.is_reported;
        put(fd, row.level, row.name, &value.to_ne_bytes())
    } else {
        match code {
            LINGER => {
                let seconds = request.number()?;
                put(fd, SOL_SOCKET, libc::SO_LINGER, &[value.to_ne_bytes(), seconds.to_ne_bytes()].concat())
            }
            MULTICAST_IF => {
                let (level, name) = multicast_interface(family)?;
                // An address, or for IPv6 the number of an interface.
                let value = if family == INET { value.to_be_bytes() } else { value.to_ne_bytes() };
                put(fd, level, name, &value)
            }
            ADD_MEMBERSHIP | DROP_MEMBERSHIP => membership(fd, family, code == ADD_MEMBERSHIP, value, request)?,
            RAW => {
                let (name, len) = (request.number()?, request.number()? as usize);
                put(fd, value as i32, name as i32, request.bytes(len)?)
            }
            DEVICE => {
                let mut name = [0; libc::IFNAMSIZ];
                let given = request.bytes(value as usize)?;
                name.get_mut(..given.len())?.copy_from_slice(given);
                is_reported = true;
                put(fd, SOL_SOCKET, libc::SO_BINDTODEVICE, &name)
            }
            _ => return Some(Outcome::Unknown),
        }
    };
    match done {
        true => Some(Outcome::Set),
        false if is_reported => None,
        false => Some(Outcome::Skipped),
    }
}

/// Writes the option with its value, if the system has it: as in stock, what it does not have is left out. Returns false for what is not an option of
/// the system; None: the request is wrong.
pub fn get(fd: Option<&OwnedFd>, family: u8, code: u8, request: &mut Request, out: &mut Vec<u8>) -> Option<bool> {
    let mut put = |value: u32| {
        out.push(code);
        out.extend(value.to_be_bytes());
    };
    if let Some(row) = TABLE.iter().find(|row| row.code == code) {
        let mut value = [0; 4];
        if ask(fd, row.level, row.name, &mut value).is_some() {
            put(u32::from_ne_bytes(value));
        }
        return Some(true);
    }
    match code {
        LINGER => {
            let mut value = [0; 8];
            if ask(fd, SOL_SOCKET, libc::SO_LINGER, &mut value).is_some() {
                let (on, seconds) = value.split_at(4);
                put(u32::from_ne_bytes(on.try_into().ok()?));
                out.extend(u32::from_ne_bytes(seconds.try_into().ok()?).to_be_bytes());
            }
        }
        MULTICAST_IF => {
            let (level, name) = multicast_interface(family)?;
            let mut value = [0; 4];
            if ask(fd, level, name, &mut value).is_some() {
                put(if family == INET { u32::from_be_bytes(value) } else { u32::from_ne_bytes(value) });
                out.extend((family as u32).to_be_bytes());
            }
        }
        RAW => {
            let (level, name) = (request.number()?, request.number()?);
            let (is_given, len) = (request.byte()? != 0, request.number()? as usize);
            // With what is there, the status and its own numbers, the reply has a limit.
            if len.saturating_add(out.len() + 14) > REPLY_MAX {
                return None;
            }
            let mut value = if is_given { request.bytes(len)?.to_vec() } else { vec![0; len] };
            let Some(got) = ask(fd, level as i32, name as i32, &mut value) else { return Some(true) };
            out.push(code);
            out.extend([level, name, got as u32].iter().flat_map(|n| n.to_be_bytes()));
            out.extend(&value[..got]);
        }
        DEVICE => {
            let mut value = [0; libc::IFNAMSIZ];
            if let Some(len) = ask(fd, SOL_SOCKET, libc::SO_BINDTODEVICE, &mut value) {
                let name: Vec<u8> = value[..len].iter().copied().take_while(|&b| b != 0).collect();
                put(name.len() as u32);
                out.extend(name);
            }
        }
        PKTOPTIONS => {
            let (level, name) = match family {
                INET => (IPPROTO_IP, libc::IP_PKTOPTIONS),
                INET6 => (IPPROTO_IPV6, libc::IPV6_2292PKTOPTIONS),
                _ => return None,
            };
            let mut room = ancillary::Room::default();
            if let Some(len) = ask(fd, level, name, room.bytes()) {
                let items = room.items(len).fold(Vec::new(), |mut all, item| {
                    all.push(item.code);
                    all.extend((item.value as u32).to_be_bytes());
                    all
                });
                put(items.len() as u32);
                out.extend(items);
            }
        }
        _ => return Some(false),
    }
    Some(true)
}

fn multicast_interface(family: u8) -> Option<(i32, i32)> {
    match family {
        INET => Some((IPPROTO_IP, libc::IP_MULTICAST_IF)),
        INET6 => Some((IPPROTO_IPV6, libc::IPV6_MULTICAST_IF)),
        _ => None,
    }
}

/// `[Family:32, Interface:32, Group, Address]`, for IPv6 without the address.
fn membership(fd: Option<&OwnedFd>, family: u8, joins: bool, domain: u32, request: &mut Request) -> Option<bool> {
    let interface = request.number()?;
    match (domain as u8, family) {
        (INET, INET) if domain < 256 => {
            let (group, address) = (request.bytes(4)?, request.bytes(4)?);
            let value = [group, address, &interface.to_ne_bytes()].concat();
            const { assert!(size_of::<libc::ip_mreqn>() == 12) };
            Some(put(fd, IPPROTO_IP, if joins { libc::IP_ADD_MEMBERSHIP } else { libc::IP_DROP_MEMBERSHIP }, &value))
        }
        (INET6, INET6) if domain < 256 => {
            let value = [request.bytes(16)?, &interface.to_ne_bytes()].concat();
            const { assert!(size_of::<libc::ipv6_mreq>() == 20) };
            Some(put(fd, IPPROTO_IPV6, if joins { libc::IPV6_ADD_MEMBERSHIP } else { libc::IPV6_DROP_MEMBERSHIP }, &value))
        }
        _ => None,
    }
}

/// Sets an option. The type of service keeps the priority as it is, which the system would change with it.
fn put(fd: Option<&OwnedFd>, level: i32, name: i32, value: &[u8]) -> bool {
    let Some(fd) = fd else { return false };
    let mut priority = [0; 4];
    let changes_priority = (level, name) == (IPPROTO_IP, libc::IP_TOS);
    let old = if changes_priority { ask(Some(fd), SOL_SOCKET, libc::SO_PRIORITY, &mut priority) } else { None };
    if !system_set(fd, level, name, value) {
        return false;
    }
    if old.is_some() {
        // Some kernels begin with a priority that a program may not set. It is then left as it is.
        system_set(fd, SOL_SOCKET, libc::SO_PRIORITY, &priority);
    }
    true
}

pub(super) fn system_set(fd: &OwnedFd, level: i32, name: i32, value: &[u8]) -> bool {
    // SAFETY: the value is as long as said.
    unsafe { libc::setsockopt(fd.as_raw_fd(), level, name, value.as_ptr().cast(), value.len() as libc::socklen_t) == 0 }
}

/// Returns how many bytes the value has.
fn ask(fd: Option<&OwnedFd>, level: i32, name: i32, value: &mut [u8]) -> Option<usize> {
    let mut len = value.len() as libc::socklen_t;
    // SAFETY: `value` has room for `len` bytes.
    let done = unsafe { libc::getsockopt(fd?.as_raw_fd(), level, name, value.as_mut_ptr().cast(), &mut len) };
    (done == 0).then_some((len as usize).min(value.len()))
}
