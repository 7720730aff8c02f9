//! `ioctl`: questions about network interfaces, and settings of theirs, through a socket.

use super::address;
use super::answer::{atom, closed, error, int, invalid, last_error, map_of, ok, ok_with};
use super::control::flags_term;
use super::ioctl_table::{self, FieldKind, RequestKind};
use super::socket::Socket;
use crate::files::file::blocking;
use heddle_natives::args;
use heddle_runtime::process::{NativeResult, Process};
use heddle_term::{Heap, Term, big, list, map};
use std::os::fd::RawFd;

heddle_runtime::natives! { TABLE:
    "prim_socket" => {
        "nif_ioctl"/2 => ioctl,
        "nif_ioctl"/3 => ioctl,
        "nif_ioctl"/4 => ioctl,
    }
}

/// Bytes of the name of an interface in a request.
const NAME_BYTES: usize = libc::IFNAMSIZ;
const REQUEST_BYTES: usize = size_of::<libc::ifreq>();

/// The system's `struct ifreq`: a name, and a field of up to 24 bytes.
#[repr(C, align(8))]
struct InterfaceRequest([u8; REQUEST_BYTES]);

impl InterfaceRequest {
    /// With the name in a string, or what fits of it.
    fn of(name: Term) -> Option<InterfaceRequest> {
        let name = list::latin1_bytes(name)?;
        let mut request = InterfaceRequest([0; REQUEST_BYTES]);
        let len = name.len().min(NAME_BYTES - 1);
        request.0[..len].copy_from_slice(&name[..len]);
        Some(request)
    }

    fn name(&self) -> &[u8] {
        let name = &self.0[..NAME_BYTES];
        &name[..name.iter().position(|&byte| byte == 0).unwrap_or(NAME_BYTES)]
    }

    fn field<const N: usize>(&self, from: usize) -> [u8; N] {
        let from = NAME_BYTES + from;
        self.0[from..from + N].try_into().expect("inside the request")
    }

    fn number(&self) -> i32 {
        i32::from_ne_bytes(self.field(0))
    }

    fn set(&mut self, bytes: &[u8]) {
        let room = &mut self.0[NAME_BYTES..];
        let len = bytes.len().min(room.len());
        room[..len].copy_from_slice(&bytes[..len]);
    }

    /// False: the system refused.
    fn ask(&mut self, fd: RawFd, number: u64) -> bool {
        // SAFETY: the request is as large as the system's, which all requests that come here read and write.
        unsafe { libc::ioctl(fd, number, self.0.as_mut_ptr()) >= 0 }
    }
}

/// (Socket, Request), (Socket, Request, Argument), (Socket, Request, Interface, Value)
fn ioctl(p: &mut Process, a: &[Term]) -> NativeResult {
    let socket = Socket::of(p, a[0])?;
    let Some(number) = big::to_u64(a[1]) else { return Err(p.badarg()) };
    blocking()?;
    let read = socket.read();
    if !read.is_open() {
        return Ok(closed(&mut p.heap));
    }
    let fd = socket.fd();
    match (ioctl_table::find(number), a) {
        (Some(RequestKind::GetAll), [_, _]) => all(p, fd),
        (Some(kind @ (RequestKind::GetNumber | RequestKind::GetTruth)), [_, _]) => {
            let mut value = 0i32;
            // SAFETY: these requests write an integer.
            if unsafe { libc::ioctl(fd, number, &raw mut value) } < 0 {
                return Ok(last_error(&mut p.heap));
            }
            let value = if kind == RequestKind::GetNumber { Term::small(value.into()) } else { Term::bool(value != 0) };
            Ok(ok_with(&mut p.heap, value))
        }
        (Some(RequestKind::GetName), &[_, _, index]) => {
            let Some(index) = int(index) else { return Err(p.badarg()) };
            let mut request = InterfaceRequest([0; REQUEST_BYTES]);
            request.set(&index.to_ne_bytes());
            if !request.ask(fd, number) {
                return Ok(last_error(&mut p.heap));
            }
            let name = p.heap.byte_list(request.name());
            Ok(ok_with(&mut p.heap, name))
        }
        (Some(RequestKind::GetValue(kind)), &[_, _, name]) => {
            let Some(mut request) = InterfaceRequest::of(name) else { return Err(p.badarg()) };
            if !request.ask(fd, number) {
                return Ok(last_error(&mut p.heap));
            }
            let value = value(&mut p.heap, kind, &request);
            Ok(ok_with(&mut p.heap, value))
        }
        (Some(RequestKind::SetValue(kind)), &[_, _, name, value]) => set(p, fd, number, kind, name, value),
        _ => Ok(error(&mut p.heap, atom("enotsup"))),
    }
}

fn value(heap: &mut Heap, kind: FieldKind, request: &InterfaceRequest) -> Term {
    match kind {
        FieldKind::Number => Term::small(request.number().into()),
        FieldKind::Flags => {
            let flags = i16::from_ne_bytes(request.field(0)).into();
            // As in stock, flags are a number of 16 bits, and those that no name has stand last, as one number.
            flags_term(heap, flags, ioctl_table::FLAGS)
        }
        FieldKind::Address => address::encode(heap, &request.field::<16>(0)),
        FieldKind::Hardware => address::encode_hardware(heap, &request.field(0)),
        FieldKind::Device => {
            let (start, end) = (u64::from_ne_bytes(request.field(0)), u64::from_ne_bytes(request.field(8)));
            let (start, end) = (heap.unsigned(start), heap.unsigned(end));
            let [interrupt, channel, port]: [u8; 3] = request.field(18);
            let fields = [
                ("mem_start", start),
                ("mem_end", end),
                ("base_addr", Term::small(u16::from_ne_bytes(request.field(16)).into())),
                ("irq", Term::small(interrupt.into())),
                ("dma", Term::small(channel.into())),
                ("port", Term::small(port.into())),
            ];
            map_of(heap, &fields)
        }
    }
}

fn set(p: &mut Process, fd: RawFd, number: u64, kind: FieldKind, name: Term, value: Term) -> NativeResult {
    let Some(mut request) = InterfaceRequest::of(name) else { return Err(p.badarg()) };
    let bytes = match kind {
        FieldKind::Number => int(value).map(|value| value.to_ne_bytes().to_vec()),
        FieldKind::Address => address::decode(value).map(|address| address.as_bytes().to_vec()),
        FieldKind::Hardware => address::decode_hardware(value).map(|address| address.as_bytes().to_vec()),
        FieldKind::Device => None,
        FieldKind::Flags => {
            if !request.ask(fd, libc::SIOCGIFFLAGS) {
                return Ok(last_error(&mut p.heap));
            }
            changed_flags(&mut p.heap, i16::from_ne_bytes(request.field(0)).into(), value)
                .map(|flags| (flags as i16).to_ne_bytes().to_vec())
        }
    };
    let Some(bytes) = bytes else {
        let what = match (kind, number) {
            (FieldKind::Address, _) => "sockaddr",
            (FieldKind::Hardware, _) => "hwaddr",
            (FieldKind::Number, libc::SIOCSIFMTU) => "mtu",
            (FieldKind::Number, _) => "txqlen",
            (FieldKind::Flags | FieldKind::Device, _) => return Err(p.badarg()),
        };
        return Ok(invalid(&mut p.heap, what));
    };
    request.set(&bytes);
    if request.ask(fd, number) { Ok(ok()) } else { Ok(last_error(&mut p.heap)) }
}

/// The flags after `#{Flag => boolean()}`.
fn changed_flags(heap: &mut Heap, flags: i32, changes: Term) -> Option<i32> {
    if !changes.is_map() {
        return None;
    }
    let pairs = args::list(map::to_list(heap, changes))?;
    pairs.into_iter().try_fold(flags, |flags, pair| {
        let &[flag, on] = pair.as_tuple()? else { return None };
        let flag = int(flag)?;
        Some(if args::boolean(on) == Some(true) { flags | flag } else { flags & !flag })
    })
}

/// `{ok, [#{name, addr}]}` of all interfaces with an IPv4 address.
fn all(p: &mut Process, fd: RawFd) -> NativeResult {
    let mut room = vec![0u8; 100 * REQUEST_BYTES];
    let filled = loop {
        let mut list =
            libc::ifconf { ifc_len: room.len() as i32, ifc_ifcu: libc::__c_anonymous_ifc_ifcu { ifcu_buf: room.as_mut_ptr().cast() } };
        // SAFETY: the list has room for as many bytes as it says.
        if unsafe { libc::ioctl(fd, libc::SIOCGIFCONF, &raw mut list) } < 0 {
            return Ok(last_error(&mut p.heap));
        }
        let filled = list.ifc_len.max(0) as usize;
        if filled < room.len() {
            break filled;
        }
        // There may be more than fit.
        room.resize(2 * room.len(), 0);
    };
    let mut found = Vec::new();
    for bytes in room[..filled].chunks_exact(REQUEST_BYTES) {
        let request = InterfaceRequest(bytes.try_into().expect("a whole request"));
        let name = p.heap.byte_list(request.name());
        let address = address::encode(&mut p.heap, &request.field::<16>(0));
        found.push(map_of(&mut p.heap, &[("name", name), ("addr", address)]));
    }
    let found = p.heap.list(&found);
    Ok(ok_with(&mut p.heap, found))
}
