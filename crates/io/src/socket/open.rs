//! Opening sockets, from the system or from a descriptor that is there.

use super::address::{self, Domain};
use super::answer::{self, atom, field, int, invalid, last_errno, not_in_range, ok_with};
use super::counters::Sort;
use super::info::SETTINGS;
use super::socket::{Socket, Start};
use crate::inet::netns;
use heddle_natives::args;
use heddle_runtime::process::{NativeResult, Process};
use heddle_term::Term;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::Ordering;

heddle_runtime::natives! { TABLE:
    "prim_socket" => {
        "nif_open"/2 => from_descriptor,
        "nif_open"/4 => open,
    }
}

/// A truth value of the options, or what stands for its absence (and for anything else).
fn flag(options: Term, name: &str, otherwise: bool) -> bool {
    field(options, name).and_then(args::boolean).unwrap_or(otherwise)
}

/// An option of the system that is one integer.
pub fn system_int(fd: RawFd, level: i32, number: i32) -> Option<i32> {
    let (mut value, mut len) = (0i32, size_of::<i32>() as libc::socklen_t);
    // SAFETY: room for an integer, as large as said.
    let code = unsafe { libc::getsockopt(fd, level, number, (&raw mut value).cast(), &raw mut len) };
    (code == 0).then_some(value)
}

fn set_nonblocking(fd: RawFd) {
    // SAFETY: calls that look at the number alone.
    unsafe {
        let flags = libc::fcntl(fd, libc::F_GETFL);
        libc::fcntl(fd, libc::F_SETFL, flags | libc::O_NONBLOCK);
    }
}

/// The socket that a native opened.
fn opened(p: &mut Process, fd: OwnedFd, sort: Sort, options: Term, given: (RawFd, bool), is_connected: bool) -> Term {
    let start = Start {
        sort,
        owner: p.pid(),
        given_fd: given.0,
        owns_fd: given.1,
        is_debugged: flag(options, "debug", SETTINGS.debug_sockets.load(Ordering::Relaxed)),
        is_registered: flag(options, "use_registry", SETTINGS.use_registry()),
        is_connected,
    };
    let socket = Socket::new(fd, &start);
    let term = socket.term(&mut p.heap);
    ok_with(&mut p.heap, term)
}

/// (Domain, Type, Protocol, #{netns, debug, use_registry})
fn open(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(protocol) = int(a[2]) else { return not_in_range(p, a[2]) };
    if !a[3].is_map() {
        return Err(p.badarg());
    }
    let Some(domain) = address::domain(a[0]).map(Domain::number) else { return Ok(invalid(&mut p.heap, "domain")) };
    let Some(kind) = address::kind(a[1]) else { return Ok(invalid(&mut p.heap, "type")) };
    let create = || {
        // SAFETY: a call with numbers alone.
        let fd = unsafe { libc::socket(domain, kind | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK, protocol) };
        // SAFETY: the descriptor was opened just now, and nothing else has it.
        if fd < 0 { Err(crate::errno::name(last_errno())) } else { Ok(unsafe { OwnedFd::from_raw_fd(fd) }) }
    };
    // Anything but a path is no namespace, as in stock.
    let opened_fd = match field(a[3], "netns").and_then(args::binary) {
        Some(path) => netns::within(path.split(|&byte| byte == 0).next().unwrap_or_default(), create),
        None => create(),
    };
    match opened_fd {
        Ok(fd) => {
            use std::os::fd::AsRawFd;
            let protocol = match protocol {
                0 => system_int(fd.as_raw_fd(), libc::SOL_SOCKET, libc::SO_PROTOCOL).unwrap_or(0),
                protocol => protocol,
            };
            Ok(opened(p, fd, Sort { domain, kind, protocol }, a[3], (-1, true), false))
        }
        Err(reason) => Ok(answer::error(&mut p.heap, atom(reason))),
    }
}

/// (Descriptor, #{domain, type, protocol, dup, debug, use_registry}): what the system does not say of it, the options do.
fn from_descriptor(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(fd) = int(a[0]) else { return not_in_range(p, a[0]) };
    if !a[1].is_map() {
        return Err(p.badarg());
    }
    let said = |name: &str| field(a[1], name);
    let asked = |number| system_int(fd, libc::SOL_SOCKET, number);
    let domain = asked(libc::SO_DOMAIN).or_else(|| said("domain").and_then(address::domain).map(Domain::number));
    let Some(domain) = domain else { return Ok(invalid(&mut p.heap, "domain")) };
    let Some(kind) = asked(libc::SO_TYPE).or_else(|| said("type").and_then(address::kind)) else {
        return Ok(invalid(&mut p.heap, "type"));
    };
    let protocol = asked(libc::SO_PROTOCOL).or_else(|| said("protocol").and_then(int)).unwrap_or(0);
    let is_copied = flag(a[1], "dup", true);
    let own = if is_copied {
        // SAFETY: a call with numbers alone.
        let copy = unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 0) };
        if copy < 0 {
            return Ok(answer::last_error(&mut p.heap));
        }
        copy
    } else {
        fd
    };
    set_nonblocking(own);
    let mut peer = crate::inet::address::Address::empty();
    let (to, len) = peer.target();
    // SAFETY: room for any address.
    let is_connected = unsafe { libc::getpeername(own, to, len) } == 0;
    // SAFETY: a copy of our own, or one that the program keeps: then the socket never closes it.
    let own = unsafe { OwnedFd::from_raw_fd(own) };
    Ok(opened(p, own, Sort { domain, kind, protocol }, a[1], (fd, is_copied), is_connected))
}

/// `normal`, `fromfd`, or `{fromfd, Descriptor}` where it was copied.
pub fn creation(p: &mut Process, socket: &Socket) -> Term {
    match (socket.given_fd, socket.owns_fd) {
        (fd, _) if fd < 0 => atom("normal"),
        (fd, true) => p.heap.tuple(&[atom("fromfd"), Term::small(fd.into())]),
        (_, false) => atom("fromfd"),
    }
}
