//! Control messages of `sendmsg` and `recvmsg`: `#{level, type, data | value}`.
//!
//! In memory each is a header (length, level, type: 16 bytes) and data, up to the next multiple of 8 bytes. So a buffer is of words.

use super::address::{self, name_of, number_of};
use super::answer::{atom, field, int, map_of};
use super::option_values::{TYPES_OF_SERVICE, type_of_service};
use super::supports::level_term;
use super::{bytes, extended_error};
use heddle_natives::args;
use heddle_term::{Heap, Term, big};
use std::borrow::Cow;

const HEADER_BYTES: usize = size_of::<libc::cmsghdr>();
const _: () = assert!(HEADER_BYTES == 16 && align_of::<libc::cmsghdr>() == 8);

/// What the data of a message is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum DataKind {
    Time,
    TypeOfService,
    Int,
    /// One byte; only received.
    Byte,
    /// Where a packet came to; only received.
    PacketInfo4,
    PacketInfo6,
    /// Only received.
    Address,
    /// Only received.
    Error,
    /// Bytes alone.
    Opaque,
}

struct Row {
    level: i32,
    number: i32,
    name: &'static str,
    kind: DataKind,
    /// True: a program may send a value.
    is_sent: bool,
}

const fn row(level: i32, number: i32, name: &'static str, kind: DataKind, is_sent: bool) -> Row {
    Row { level, number, name, kind, is_sent }
}

use DataKind::{Byte, Error, Int, Opaque, PacketInfo4, PacketInfo6, Time, TypeOfService};
use libc::{IPPROTO_IP, IPPROTO_IPV6, SOL_SOCKET};

const ROWS: &[Row] = &[
    row(SOL_SOCKET, libc::SCM_CREDENTIALS, "credentials", Opaque, false),
    row(SOL_SOCKET, libc::SCM_RIGHTS, "rights", Opaque, false),
    row(SOL_SOCKET, libc::SCM_TIMESTAMP, "timestamp", Time, true),
    row(IPPROTO_IP, libc::IP_TOS, "tos", TypeOfService, true),
    row(IPPROTO_IP, libc::IP_TTL, "ttl", Int, true),
    row(IPPROTO_IP, libc::IP_RECVTTL, "recvttl", Byte, false),
    row(IPPROTO_IP, libc::IP_PKTINFO, "pktinfo", PacketInfo4, false),
    row(IPPROTO_IP, libc::IP_ORIGDSTADDR, "origdstaddr", DataKind::Address, false),
    row(IPPROTO_IP, libc::IP_RECVTOS, "recvtos", TypeOfService, false),
    row(IPPROTO_IP, libc::IP_RECVERR, "recverr", Error, false),
    row(IPPROTO_IPV6, libc::IPV6_PKTINFO, "pktinfo", PacketInfo6, false),
    row(IPPROTO_IPV6, libc::IPV6_HOPLIMIT, "hoplimit", Int, true),
    row(IPPROTO_IPV6, libc::IPV6_TCLASS, "tclass", Int, true),
    row(IPPROTO_IPV6, libc::IPV6_RECVTCLASS, "recvtclass", Int, false),
    row(IPPROTO_IPV6, libc::IPV6_RECVERR, "recverr", Error, false),
];

/// Returns the control messages of a list in one buffer of at most `room_bytes`, or None if one of them is wrong or they do not fit.
pub fn encode(messages: Term, room_bytes: usize) -> Option<Vec<u64>> {
    let mut out = Vec::new();
    for message in args::list(messages)? {
        let (level, number, data) = encode_one(message)?;
        let len_bytes = HEADER_BYTES + data.len();
        out.push(len_bytes as u64);
        out.push(level as u32 as u64 | (number as u32 as u64) << 32);
        out.extend(data.chunks(8).map(|chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            u64::from_ne_bytes(word)
        }));
        if size_of_val(&out[..]) > room_bytes {
            return None;
        }
    }
    Some(out)
}

/// Level, number and data.
fn encode_one(message: Term) -> Option<(i32, i32, Vec<u8>)> {
    let (level, kind) = (field(message, "level")?, field(message, "type")?);
    let level = if level == atom("socket") { SOL_SOCKET } else { int(level)? };
    let known = kind.as_atom().and_then(|name| ROWS.iter().find(|row| row.level == level && row.name == name.name()));
    match (field(message, "data"), field(message, "value")) {
        (None, Some(value)) => {
            let row = known.filter(|row| row.is_sent)?;
            Some((level, row.number, encode_value(row.kind, value)?))
        }
        (Some(data), None) => {
            let number = int(kind).or(known.map(|row| row.number))?;
            let data = bytes::of_data(&data)
                .map(Cow::into_owned)
                .or_else(|| int(data).map(|n| n.to_ne_bytes().to_vec()))
                .or_else(|| args::boolean(data).map(|on| i32::from(on).to_ne_bytes().to_vec()))?;
            Some((level, number, data))
        }
        _ => None,
    }
}

fn encode_value(kind: DataKind, value: Term) -> Option<Vec<u8>> {
    match kind {
        Time => {
            let (seconds, micros) = (field(value, "sec").and_then(big::to_i64)?, field(value, "usec").and_then(big::to_i64)?);
            Some([seconds.to_ne_bytes(), micros.to_ne_bytes()].concat())
        }
        TypeOfService => Some(type_of_service(value)?.to_ne_bytes().to_vec()),
        Int => Some(int(value)?.to_ne_bytes().to_vec()),
        _ => None,
    }
}

/// The messages of a buffer that the system filled.
pub fn decode(heap: &mut Heap, buffer: &[u8]) -> Term {
    let mut messages = Vec::new();
    let mut rest = buffer;
    while let Some((header, _)) = rest.split_at_checked(HEADER_BYTES) {
        let word = |at: usize| i32::from_ne_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
        let len_bytes = u64::from_ne_bytes(header[..8].try_into().expect("eight bytes")) as usize;
        if len_bytes < HEADER_BYTES {
            break;
        }
        let Some(data) = rest.get(HEADER_BYTES..len_bytes) else {
            messages.push(atom("bad_data"));
            break;
        };
        messages.push(decode_one(heap, word(8), word(12), data));
        rest = rest.get(len_bytes.next_multiple_of(8)..).unwrap_or_default();
    }
    heap.list(&messages)
}

fn decode_one(heap: &mut Heap, level: i32, number: i32, data: &[u8]) -> Term {
    let row = ROWS.iter().find(|row| row.level == level && row.number == number);
    let kind = row.map_or(Term::small(number.into()), |row| atom(row.name));
    let mut fields = vec![("level", level_term(level)), ("type", kind), ("data", heap.binary(data))];
    if let Some(value) = row.and_then(|row| decode_value(heap, row.kind, data)) {
        fields.push(("value", value));
    }
    map_of(heap, &fields)
}

fn at<const N: usize>(data: &[u8], from: usize) -> Option<[u8; N]> {
    data.get(from..from + N)?.try_into().ok()
}

fn decode_value(heap: &mut Heap, kind: DataKind, data: &[u8]) -> Option<Term> {
    Some(match kind {
        Time => {
            let (seconds, micros) = (i64::from_ne_bytes(at(data, 0)?), i64::from_ne_bytes(at(data, 8)?));
            let (seconds, micros) = (heap.integer(seconds), heap.integer(micros));
            map_of(heap, &[("sec", seconds), ("usec", micros)])
        }
        TypeOfService => type_of_service_term((*data.first()?).into()),
        Int => Term::small(i32::from_ne_bytes(at(data, 0)?).into()),
        Byte => Term::small((*data.first()?).into()),
        PacketInfo4 => {
            let interface = u32::from_ne_bytes(at(data, 0)?);
            let (destination, ip) = (at(data, 4)?, at(data, 8)?);
            let (destination, ip) = (address::v4_term(heap, destination), address::v4_term(heap, ip));
            map_of(heap, &[("ifindex", Term::small(interface.into())), ("spec_dst", destination), ("addr", ip)])
        }
        PacketInfo6 => {
            let (ip, interface) = (at(data, 0)?, i32::from_ne_bytes(at(data, 16)?));
            let ip = address::v6_term(heap, ip);
            map_of(heap, &[("addr", ip), ("ifindex", Term::small(interface.into()))])
        }
        DataKind::Address => address::encode(heap, data),
        Error => extended_error::decode(heap, data)?,
        Opaque => return None,
    })
}

/// A type of service with a name, or the number.
pub fn type_of_service_term(value: i32) -> Term {
    // The bits in which names stand (IPTOS_TOS_MASK).
    name_of(TYPES_OF_SERVICE, value & 0x1e).map_or(Term::small(value.into()), atom)
}

/// The names of the flags of a message, and a number for those without.
pub fn flags_term(heap: &mut Heap, mut flags: i32, names: &[(&str, i32)]) -> Term {
    let mut found = Vec::new();
    for &(name, flag) in names {
        if flag != 0 && flags & flag == flag {
            flags &= !flag;
            found.push(atom(name));
        }
    }
    if flags != 0 {
        found.push(Term::small(flags.into()));
    }
    heap.list(&found)
}

/// As `number_of`, or the number itself.
pub fn named_or_number(table: &[(&str, i32)], term: Term) -> Option<i32> {
    number_of(table, term).or_else(|| int(term))
}
