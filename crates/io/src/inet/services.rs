//! Ports and names of services, as the system knows them (`/etc/services`).

use super::reason::Reply;
use super::request::Request;
use std::ffi::{CStr, CString};
use std::mem::MaybeUninit;

// SAFETY: declared as in the system's netdb.h.
unsafe extern "C" {
    fn getservbyname_r(
        name: *const libc::c_char,
        protocol: *const libc::c_char,
        entry: *mut libc::servent,
        room: *mut libc::c_char,
        room_bytes: libc::size_t,
        found: *mut *mut libc::servent,
    ) -> i32;
    fn getservbyport_r(
        port: i32,
        protocol: *const libc::c_char,
        entry: *mut libc::servent,
        room: *mut libc::c_char,
        room_bytes: libc::size_t,
        found: *mut *mut libc::servent,
    ) -> i32;
}

/// Bytes for the names in an entry.
const ROOM: usize = 8 << 10;

type Lookup<'a> = &'a mut dyn FnMut(*mut libc::servent, *mut libc::c_char, *mut *mut libc::servent) -> i32;

/// Has `ask` fill in an entry, and takes from it what `take` wants.
fn look_up<R>(ask: Lookup<'_>, take: impl FnOnce(&libc::servent) -> R) -> Option<R> {
    let mut entry = MaybeUninit::<libc::servent>::uninit();
    let mut room = vec![0; ROOM];
    let mut found = std::ptr::null_mut();
    if ask(entry.as_mut_ptr(), room.as_mut_ptr(), &mut found) != 0 || found.is_null() {
        return None;
    }
    // SAFETY: the system filled the entry in; its pointers go into `room`.
    Some(take(unsafe { &*found }))
}

/// The port of a service. Without a protocol: of any.
pub fn port(name: &CStr, protocol: Option<&CStr>) -> Option<u16> {
    let protocol = protocol.map_or(std::ptr::null(), CStr::as_ptr);
    // SAFETY: texts that end with a zero, or null for no protocol; room of ROOM bytes.
    let ask: Lookup = &mut |entry, room, found| unsafe { getservbyname_r(name.as_ptr(), protocol, entry, room, ROOM, found) };
    look_up(ask, |entry| u16::from_be(entry.s_port as u16))
}

/// The name of the service at a port. Without a protocol: of any.
pub fn name(port: u16, protocol: Option<&CStr>) -> Option<Vec<u8>> {
    let (port, protocol) = (port.to_be() as i32, protocol.map_or(std::ptr::null(), CStr::as_ptr));
    // SAFETY: as in `port`.
    let ask: Lookup = &mut |entry, room, found| unsafe { getservbyport_r(port, protocol, entry, room, ROOM, found) };
    // SAFETY: a text that ends with a zero, while the entry lives.
    look_up(ask, |entry| unsafe { CStr::from_ptr(entry.s_name) }.to_bytes().to_vec())
}

/// `[Length, Name, Length, Protocol]`; the reply is the port's number.
pub fn port_of(request: &mut Request) -> Reply {
    let (Some(name), Some(protocol)) = (text(request), text(request)) else { return Err("einval") };
    Ok(port(&name, Some(&protocol)).ok_or("einval")?.to_be_bytes().to_vec())
}

/// `[Port:16, Length, Protocol]`; the reply is the name.
pub fn name_of(request: &mut Request) -> Reply {
    let (Some(port), Some(protocol)) = (request.short(), text(request)) else { return Err("einval") };
    name(port, Some(&protocol)).ok_or("einval")
}

/// A name of the request, up to its first zero.
fn text(request: &mut Request) -> Option<CString> {
    let bytes: Vec<u8> = request.name()?.iter().copied().take_while(|&b| b != 0).collect();
    CString::new(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_has_a_port_and_a_port_a_name() {
        assert_eq!(port_of(&mut Request(b"\x04http\x03tcp")), Ok(vec![0, 80]));
        assert_eq!(name_of(&mut Request(b"\x00\x50\x03tcp")), Ok(b"http".to_vec()));
    }

    #[test]
    fn what_is_no_service_or_no_request_is_invalid() {
        assert_eq!(port_of(&mut Request(b"\x04nope\x03tcp")), Err("einval"));
        assert_eq!(port_of(&mut Request(b"\xffhttp")), Err("einval"));
        assert_eq!(name_of(&mut Request(b"\x00\x50\x09tcp")), Err("einval"));
        assert_eq!(name_of(&mut Request(b"")), Err("einval"));
    }
}
