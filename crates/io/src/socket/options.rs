//! `setopt` and `getopt`: options of the system, by the table or with values as they are (native).

use super::answer::{atom, closed, errno, error_invalid, int, invalid, last_errno, last_error, not_in_range, ok, ok_with};
use super::option_table::{self, Access};
use super::option_values::{self, decode, encode};
use super::socket::Socket;
use super::{bytes, otp_options};
use heddle_natives::{args, long};
use heddle_runtime::process::{NativeResult, Process};
use heddle_term::{Atom, Term};
use std::borrow::Cow;
use std::os::fd::RawFd;

heddle_runtime::natives! { TABLE:
    "prim_socket" => {
        "nif_setopt"/5 => setopt,
        "nif_getopt"/3 => getopt,
        "nif_getopt"/4 => getopt_native,
    }
}

/// Where an option belongs to.
enum Scope {
    /// The VM's own.
    Otp,
    System(i32),
}

/// Level and number of an option; `Err` has the answer for others.
fn option(p: &mut Process, level: Term, number: Term) -> Result<(Scope, i32), NativeResult> {
    let Some(known) = int(number) else { return Err(not_in_range(p, number)) };
    let scope = match level.as_atom().map(Atom::name) {
        Some("otp") => Scope::Otp,
        Some("socket") => Scope::System(libc::SOL_SOCKET),
        _ => match int(level) {
            Some(level) => Scope::System(level),
            None => return Err(not_in_range(p, level)),
        },
    };
    Ok((scope, known))
}

/// Sets an option of the system. An error is its number.
fn system_set(fd: RawFd, level: i32, number: i32, value: &[u8]) -> Result<(), i32> {
    // SAFETY: the value is as long as said.
    let code = unsafe { libc::setsockopt(fd, level, number, value.as_ptr().cast(), value.len() as libc::socklen_t) };
    if code == 0 { Ok(()) } else { Err(last_errno()) }
}

/// The same for an option that the system may change others with: setting `tos` changes `priority`, and then that is set back. Some
/// priorities only a privileged process may set; then it stays changed, as in stock.
fn set_alone(fd: RawFd, level: i32, number: i32, value: &[u8]) -> Result<(), i32> {
    if (level, number) != (libc::IPPROTO_IP, libc::IP_TOS) {
        return system_set(fd, level, number, value);
    }
    let before = super::open::system_int(fd, libc::SOL_SOCKET, libc::SO_PRIORITY);
    system_set(fd, level, number, value)?;
    match before.map(|before| system_set(fd, libc::SOL_SOCKET, libc::SO_PRIORITY, &before.to_ne_bytes())) {
        Some(Err(code)) if code != libc::EPERM => Err(code),
        _ => Ok(()),
    }
}

/// Fills the room with a value. Returns how much of it the value has; an error is a number.
fn system_get(fd: RawFd, level: i32, number: i32, room: &mut [u8]) -> Result<usize, i32> {
    let mut len = room.len() as libc::socklen_t;
    // SAFETY: the room is as large as said.
    let code = unsafe { libc::getsockopt(fd, level, number, room.as_mut_ptr().cast(), &raw mut len) };
    if code == 0 { Ok((len as usize).min(room.len())) } else { Err(last_errno()) }
}

/// (Socket, Level, Option, Value, IsNative)
fn setopt(p: &mut Process, a: &[Term]) -> NativeResult {
    let socket = Socket::of(p, a[0])?;
    let Some(is_native) = int(a[4]).map(|n| n != 0) else { return Err(p.badarg()) };
    let (scope, number) = match option(p, a[1], a[2]) {
        Ok(known) => known,
        Err(answer) => return answer,
    };
    let level = match scope {
        Scope::System(level) => level,
        Scope::Otp if is_native => return Err(p.badarg()),
        Scope::Otp => return otp_options::set(p, &socket, number, a[3]),
    };
    let write = socket.write();
    if !write.is_open() {
        return Ok(closed(&mut p.heap));
    }
    let value = if is_native {
        match native_value(a[3]) {
            Some(value) => value,
            None => return Ok(error_invalid(&mut p.heap, atom("value"))),
        }
    } else {
        match option_table::find(level, number).filter(|known| known.1 != Access::Get) {
            None => return Ok(invalid(&mut p.heap, "socket_option")),
            Some((kind, _)) => match encode(kind, a[3]) {
                Some(value) => value,
                None => return Ok(invalid(&mut p.heap, "value")),
            },
        }
    };
    match set_alone(socket.fd(), level, number, &value) {
        Ok(()) => Ok(ok()),
        Err(code) => Ok(errno(&mut p.heap, code)),
    }
}

/// Bytes, an integer or a truth value.
fn native_value(term: Term) -> Option<Vec<u8>> {
    let number = int(term).or_else(|| args::boolean(term).map(i32::from));
    bytes::of_data(&term).map(Cow::into_owned).or_else(|| number.map(|number| number.to_ne_bytes().to_vec()))
}

/// (Socket, Level, Option)
fn getopt(p: &mut Process, a: &[Term]) -> NativeResult {
    let socket = Socket::of(p, a[0])?;
    let (scope, number) = match option(p, a[1], a[2]) {
        Ok(known) => known,
        Err(answer) => return answer,
    };
    let Scope::System(level) = scope else { return otp_options::get(p, &socket, number) };
    let read = socket.read();
    if !read.is_open() {
        return Ok(closed(&mut p.heap));
    }
    let Some((kind, _)) = option_table::find(level, number).filter(|known| known.1 != Access::Set) else {
        return Ok(invalid(&mut p.heap, "socket_option"));
    };
    let mut room = vec![0; option_values::room_bytes(kind, read.control_bytes)];
    let value = match system_get(socket.fd(), level, number, &mut room) {
        // A value that is shorter than its kind, as one byte of a number, stands before zeros.
        Ok(len) => match kind {
            option_table::ValueKind::Text { .. } | option_table::ValueKind::PacketOptions => {
                decode(&mut p.heap, kind, socket.sort.domain, &room[..len])
            }
            _ => decode(&mut p.heap, kind, socket.sort.domain, &room),
        },
        Err(code) => return Ok(errno(&mut p.heap, code)),
    };
    match value {
        Some(value) => Ok(ok_with(&mut p.heap, value)),
        None => Ok(invalid(&mut p.heap, "socket_option")),
    }
}

/// (Socket, Level, Option, Spec): a number of bytes, `integer`, `boolean`, or a binary in which the value is written.
fn getopt_native(p: &mut Process, a: &[Term]) -> NativeResult {
    let socket = Socket::of(p, a[0])?;
    let (scope, number) = match option(p, a[1], a[2]) {
        Ok(known) => known,
        Err(answer) => return answer,
    };
    let Scope::System(level) = scope else { return Err(p.badarg()) };
    let read = socket.read();
    if !read.is_open() {
        return Ok(closed(&mut p.heap));
    }
    let fd = socket.fd();
    let name = a[3].as_atom().map(Atom::name);
    if let Some("integer" | "boolean") = name {
        let mut room = [0; 4];
        return match system_get(fd, level, number, &mut room) {
            Ok(_) => {
                let value = i32::from_ne_bytes(room);
                let value = if name == Some("integer") { Term::small(value.into()) } else { Term::bool(value != 0) };
                Ok(ok_with(&mut p.heap, value))
            }
            Err(code) => Ok(errno(&mut p.heap, code)),
        };
    }
    let mut room = match int(a[3]) {
        // Stock asks without room, and the system says that that is wrong.
        Some(0) => {
            // SAFETY: nulls, which the system refuses.
            let code = unsafe { libc::getsockopt(fd, level, number, std::ptr::null_mut(), std::ptr::null_mut()) };
            return Ok(if code == 0 { ok() } else { last_error(&mut p.heap) });
        }
        Some(bytes) if bytes > 0 => {
            long::room(p, bytes as usize)?;
            vec![0; bytes as usize]
        }
        Some(_) => return Ok(errno(&mut p.heap, libc::EINVAL)),
        None => match args::binary(a[3]) {
            Some(bytes) => bytes,
            None => return Ok(invalid(&mut p.heap, "value")),
        },
    };
    match system_get(fd, level, number, &mut room) {
        Ok(len) => {
            let value = p.heap.binary(&room[..len]);
            Ok(ok_with(&mut p.heap, value))
        }
        Err(code) => Ok(errno(&mut p.heap, code)),
    }
}
