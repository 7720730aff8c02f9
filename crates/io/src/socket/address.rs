//! Addresses of sockets as maps: `#{family, port, addr, ..}`, as the module `socket` has them.

use super::answer::{atom, field, int, map_of, unsigned};
use super::bytes;
use crate::inet::address::Address;
use heddle_natives::args;
use heddle_term::{Heap, Term};
use std::net::Ipv6Addr;

/// A domain that has a name, or a number.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Domain {
    Named(i32),
    Number(i32),
}

impl Domain {
    pub fn number(self) -> i32 {
        match self {
            Domain::Named(number) | Domain::Number(number) => number,
        }
    }
}

const DOMAINS: &[(&str, i32)] =
    &[("inet", libc::AF_INET), ("inet6", libc::AF_INET6), ("local", libc::AF_UNIX), ("unspec", libc::AF_UNSPEC)];
const TYPES: &[(&str, i32)] =
    &[("stream", libc::SOCK_STREAM), ("dgram", libc::SOCK_DGRAM), ("raw", libc::SOCK_RAW), ("seqpacket", libc::SOCK_SEQPACKET)];
/// A type that has a name only where the VM shows it.
const RDM: (&str, i32) = ("rdm", libc::SOCK_RDM);

/// The number of a name in a table.
pub fn number_of(table: &[(&str, i32)], term: Term) -> Option<i32> {
    let name = term.as_atom()?.name();
    table.iter().find(|row| row.0 == name).map(|row| row.1)
}

/// The name of a number in a table.
pub fn name_of<'a>(table: &[(&'a str, i32)], number: i32) -> Option<&'a str> {
    table.iter().find(|row| row.1 == number).map(|row| row.0)
}

pub fn domain(term: Term) -> Option<Domain> {
    number_of(DOMAINS, term).map(Domain::Named).or_else(|| int(term).map(Domain::Number))
}

pub fn domain_term(number: i32) -> Term {
    name_of(DOMAINS, number).map_or(Term::small(number.into()), atom)
}

pub fn kind(term: Term) -> Option<i32> {
    number_of(TYPES, term).or_else(|| int(term))
}

pub fn kind_term(number: i32) -> Term {
    let name = name_of(TYPES, number).or_else(|| name_of(&[RDM], number));
    name.map_or(Term::small(number.into()), atom)
}

/// `{A, B, C, D}` or `any`, `broadcast`, `loopback`.
pub fn v4(term: Term) -> Option<[u8; 4]> {
    match term.as_atom().map(|name| name.name()) {
        Some("any") => Some([0; 4]),
        Some("broadcast") => Some([255; 4]),
        Some("loopback") => Some([127, 0, 0, 1]),
        Some(_) => None,
        None => {
            let parts: &[Term; 4] = term.as_tuple()?.try_into().ok()?;
            let mut bytes = [0; 4];
            for (byte, part) in bytes.iter_mut().zip(parts) {
                *byte = args::count(*part)?.try_into().ok()?;
            }
            Some(bytes)
        }
    }
}

/// A tuple of eight numbers of 16 bits, or `any`, `loopback`.
pub fn v6(term: Term) -> Option<[u8; 16]> {
    match term.as_atom().map(|name| name.name()) {
        Some("any") => Some([0; 16]),
        Some("loopback") => Some(Ipv6Addr::LOCALHOST.octets()),
        Some(_) => None,
        None => {
            let parts: &[Term; 8] = term.as_tuple()?.try_into().ok()?;
            let mut words = [0u16; 8];
            for (word, part) in words.iter_mut().zip(parts) {
                *word = args::count(*part)?.try_into().ok()?;
            }
            Some(Ipv6Addr::from(words).octets())
        }
    }
}

pub fn v4_term(heap: &mut Heap, bytes: [u8; 4]) -> Term {
    heap.tuple(&bytes.map(|byte| Term::small(byte.into())))
}

pub fn v6_term(heap: &mut Heap, bytes: [u8; 16]) -> Term {
    heap.tuple(&Ipv6Addr::from(bytes).segments().map(|word| Term::small(word.into())))
}

/// The address that a map describes.
pub fn decode(term: Term) -> Option<Address> {
    let family = field(term, "family")?;
    // As in stock, only the low 16 bits of a port count.
    let port = || field(term, "port").and_then(int).map(|port| port as u16);
    match domain(family)? {
        Domain::Named(libc::AF_INET) => Some(Address::v4(v4(field(term, "addr")?)?, port()?)),
        Domain::Named(libc::AF_INET6) => {
            let (flow, scope) = (unsigned(field(term, "flowinfo")?)?, unsigned(field(term, "scope_id")?)?);
            Some(Address::v6(v6(field(term, "addr")?)?, port()?, flow, scope))
        }
        Domain::Named(libc::AF_UNIX) => {
            let path = field(term, "path")?;
            let path = bytes::of_data(&path)?;
            // A name that begins with zero needs none at its end.
            let bytes = path.len() + usize::from(path.first() != Some(&0));
            if bytes > PATH_BYTES { None } else { Address::raw(libc::AF_UNIX as libc::sa_family_t, &path) }
        }
        other => Address::raw(other.number() as libc::sa_family_t, &bytes::of_data(&field(term, "addr")?)?),
    }
}

const PATH_BYTES: usize = size_of::<libc::sockaddr_un>() - std::mem::offset_of!(libc::sockaddr_un, sun_path);

fn at<const N: usize>(bytes: &[u8], from: usize) -> Option<[u8; N]> {
    bytes.get(from..from + N)?.try_into().ok()
}

/// The map of an address: its family (two bytes) and data, as the system gave them. A shorter one than its family has becomes
/// `#{family, addr}` with the bytes.
pub fn encode(heap: &mut Heap, bytes: &[u8]) -> Term {
    let Some(family) = at(bytes, 0).map(u16::from_ne_bytes) else { return heap.binary(bytes) };
    let whole = match family as i32 {
        libc::AF_INET => encode_v4(heap, bytes),
        libc::AF_INET6 => encode_v6(heap, bytes),
        libc::AF_UNIX => Some(encode_local(heap, &bytes[2..])),
        libc::AF_PACKET => encode_packet(heap, bytes),
        _ => None,
    };
    whole.unwrap_or_else(|| {
        let family = if family as i32 == libc::AF_PACKET { atom("packet") } else { domain_term(family.into()) };
        native(heap, family, &bytes[2..])
    })
}

/// `#{family, addr}` with the bytes of the address.
pub fn native(heap: &mut Heap, family: Term, data: &[u8]) -> Term {
    let data = heap.binary(data);
    map_of(heap, &[("family", family), ("addr", data)])
}

fn encode_v4(heap: &mut Heap, bytes: &[u8]) -> Option<Term> {
    let (port, ip) = (u16::from_be_bytes(at(bytes, 2)?), at(bytes, 4)?);
    let ip = v4_term(heap, ip);
    Some(map_of(heap, &[("family", atom("inet")), ("port", Term::small(port.into())), ("addr", ip)]))
}

fn encode_v6(heap: &mut Heap, bytes: &[u8]) -> Option<Term> {
    let (port, ip) = (u16::from_be_bytes(at(bytes, 2)?), at(bytes, 8)?);
    let (flow, scope) = (u32::from_ne_bytes(at(bytes, 4)?), u32::from_ne_bytes(at(bytes, 24)?));
    let ip = v6_term(heap, ip);
    let fields = [
        ("family", atom("inet6")),
        ("port", Term::small(port.into())),
        ("addr", ip),
        ("flowinfo", Term::small(flow.into())),
        ("scope_id", Term::small(scope.into())),
    ];
    Some(map_of(heap, &fields))
}

fn encode_local(heap: &mut Heap, path: &[u8]) -> Term {
    // A path ends with zero; a name that begins with zero is as long as the system says.
    let len = match path.iter().position(|&byte| byte == 0) {
        None | Some(0) => path.len(),
        Some(len) => len,
    };
    let path = heap.binary(&path[..len]);
    map_of(heap, &[("family", atom("local")), ("path", path)])
}

fn encode_packet(heap: &mut Heap, bytes: &[u8]) -> Option<Term> {
    let (protocol, interface) = (u16::from_be_bytes(at(bytes, 2)?), i32::from_ne_bytes(at(bytes, 4)?));
    let (hardware, [packet, len]) = (u16::from_ne_bytes(at(bytes, 8)?), at(bytes, 10)?);
    let data: [u8; 8] = at(bytes, 12)?;
    let data = heap.binary(&data[..(len as usize).min(data.len())]);
    let fields = [
        ("family", atom("packet")),
        ("protocol", Term::small(protocol.into())),
        ("ifindex", Term::small(interface.into())),
        ("hatype", hardware_term(hardware)),
        ("pkttype", name_of(PACKETS, packet.into()).map_or(Term::small(packet.into()), atom)),
        ("addr", data),
    ];
    Some(map_of(heap, &fields))
}

/// Kinds of hardware (ARPHRD_ in the system's net/if_arp.h).
const HARDWARE: &[(&str, i32)] = &[
    ("netrom", 0),
    ("ether", 1),
    ("eether", 2),
    ("ax25", 3),
    ("pronet", 4),
    ("chaos", 5),
    ("ieee802", 6),
    ("arcnet", 7),
    ("appletlk", 8),
    ("dlci", 15),
    ("atm", 19),
    ("metricom", 23),
    ("ieee1394", 24),
    ("eui64", 27),
    ("infiniband", 32),
    ("tunnel", 768),
    ("tunnel6", 769),
    ("loopback", 772),
    ("localtlk", 773),
    ("none", 0xfffe),
    ("void", 0xffff),
];
/// Kinds of packets (PACKET_ in the system's linux/if_packet.h).
const PACKETS: &[(&str, i32)] =
    &[("host", 0), ("broadcast", 1), ("multicast", 2), ("otherhost", 3), ("outgoing", 4), ("loopback", 5), ("user", 6), ("kernel", 7)];

fn hardware_term(number: u16) -> Term {
    name_of(HARDWARE, number.into()).map_or(Term::small(number.into()), atom)
}

/// Families of the addresses of hardware that `ioctl` takes and returns.
const HARDWARE_FAMILIES: &[(&str, i32)] = &[
    ("netrom", 0),
    ("ether", 1),
    ("ieee802", 6),
    ("dlci", 15),
    ("frelay", 770),
    ("ieee1394", 24),
    ("loopback", 772),
    ("rawip", 519),
    ("none", 0xfffe),
];

/// The map of the address of hardware: 2 bytes of its kind and 14 of data.
pub fn encode_hardware(heap: &mut Heap, bytes: &[u8; 16]) -> Term {
    let family = u16::from_ne_bytes([bytes[0], bytes[1]]).into();
    let family = name_of(HARDWARE_FAMILIES, family).map_or(Term::small(family.into()), atom);
    native(heap, family, &bytes[2..])
}

pub fn decode_hardware(term: Term) -> Option<Address> {
    let family = number_of(HARDWARE_FAMILIES, field(term, "family")?)?;
    Address::raw(family as libc::sa_family_t, &bytes::of_data(&field(term, "addr")?)?)
}

/// The map of an address that a system call wrote; without one (no bytes) of the family `unspec`.
pub fn encode_known(heap: &mut Heap, address: &Address) -> Term {
    match address.as_bytes() {
        [] => native(heap, atom("unspec"), &[]),
        bytes => encode(heap, bytes),
    }
}
