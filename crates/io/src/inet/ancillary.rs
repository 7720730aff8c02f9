//! Ancillary data of datagrams: what the header of a packet said beside its data (type of service, traffic class, time to live).

use super::request::Request;
use heddle_term::{Atom, Heap, Term};
use libc::{IPPROTO_IP, IPPROTO_IPV6, cmsghdr};

/// Bytes for what comes with one datagram.
const ROOM_BYTES: usize = 256;
/// At most this many items can be sent with a datagram, as in stock.
const MAX_ITEMS: usize = 2;

/// (code of the option, name in Erlang, level, type)
const KINDS: [(u8, &str, i32, i32); 3] =
    [(9, "tos", IPPROTO_IP, libc::IP_TOS), (41, "tclass", IPPROTO_IPV6, libc::IPV6_TCLASS), (46, "ttl", IPPROTO_IP, libc::IP_TTL)];

pub struct Item {
    pub code: u8,
    name: &'static str,
    pub value: i64,
}

/// Room for control messages, aligned as they must be.
#[repr(align(8))]
pub struct Room([u8; ROOM_BYTES]);

impl Default for Room {
    fn default() -> Room {
        Room([0; ROOM_BYTES])
    }
}

const HEADER: usize = size_of::<cmsghdr>();

fn aligned(bytes: usize) -> usize {
    bytes.next_multiple_of(size_of::<usize>())
}

impl Room {
    pub fn bytes(&mut self) -> &mut [u8] {
        &mut self.0
    }

    /// The items of known kinds among the first `len` bytes.
    pub fn items(&self, len: usize) -> impl Iterator<Item = Item> + '_ {
        let mut rest = &self.0[..len.min(ROOM_BYTES)];
        std::iter::from_fn(move || {
            while let Some(header) = rest.first_chunk::<HEADER>() {
                let size = usize::from_ne_bytes(header[..8].try_into().ok()?);
                let level = i32::from_ne_bytes(header[8..12].try_into().ok()?);
                let kind = i32::from_ne_bytes(header[12..].try_into().ok()?);
                let data = rest.get(HEADER..size)?;
                let next = aligned(size).min(rest.len());
                let item = KINDS.iter().find(|k| (k.2, k.3) == (level, kind));
                let item = item.map(|&(code, name, ..)| Item { code, name, value: integer(data) });
                rest = &rest[next..];
                if item.is_some() {
                    return item;
                }
            }
            None
        })
    }

    /// Writes the items of a request `[Option, Value:32, ...]`. Returns how many bytes they take, or None if one of them cannot be sent.
    pub fn fill(&mut self, request: &[u8]) -> Option<usize> {
        let mut request = Request(request);
        let mut at = 0;
        for _ in 0..MAX_ITEMS {
            let Some(code) = request.byte() else { return Some(at) };
            let value = request.number()?;
            let &(_, _, level, kind) = KINDS.iter().find(|k| k.0 == code)?;
            let message = &mut self.0[at..at + aligned(HEADER + 4)];
            message[..8].copy_from_slice(&(HEADER + 4).to_ne_bytes());
            message[8..12].copy_from_slice(&level.to_ne_bytes());
            message[12..16].copy_from_slice(&kind.to_ne_bytes());
            message[16..20].copy_from_slice(&value.to_ne_bytes());
            at += message.len();
        }
        if request.byte().is_some() { None } else { Some(at) }
    }
}

/// A value of 1, 2, 4 or 8 bytes; 0 for any other size, as in ERTS.
fn integer(data: &[u8]) -> i64 {
    match data.len() {
        1 => data[0] as i64,
        2 => u16::from_ne_bytes([data[0], data[1]]) as i64,
        4 => u32::from_ne_bytes([data[0], data[1], data[2], data[3]]) as i64,
        8 => data.try_into().map_or(0, i64::from_ne_bytes),
        _ => 0,
    }
}

/// `[{tos, 0}, ...]`
pub fn list(heap: &mut Heap, items: &[Item]) -> Term {
    let terms: Vec<Term> = items.iter().map(|item| heap.tuple(&[Atom::new(item.name).into(), Term::small(item.value)])).collect();
    heap.list(&terms)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_that_are_written_are_read() {
        let mut room = Room::default();
        let len = room.fill(&[9, 0, 0, 0, 0x10, 46, 0, 0, 0, 7]).expect("two items");
        let items: Vec<(u8, i64)> = room.items(len).map(|item| (item.code, item.value)).collect();
        assert_eq!(items, [(9, 0x10), (46, 7)]);
    }

    #[test]
    fn no_more_than_two_items_of_known_kinds_are_sent() {
        let mut room = Room::default();
        assert_eq!(room.fill(&[]), Some(0));
        assert_eq!(room.fill(&[9, 0, 0, 0]), None);
        assert_eq!(room.fill(&[10, 0, 0, 0, 1]), None);
        assert_eq!(room.fill(&[9, 0, 0, 0, 1, 9, 0, 0, 0, 1, 9, 0, 0, 0, 1]), None);
    }

    #[test]
    fn headers_of_any_length_are_read_without_an_error() {
        let mut room = Room::default();
        for size in 0..400usize {
            room.bytes()[..8].copy_from_slice(&size.to_ne_bytes());
            // A size below that of a header ends the list.
            assert!(room.items(ROOM_BYTES).count() <= ROOM_BYTES / HEADER);
        }
        room.bytes()[..8].copy_from_slice(&usize::MAX.to_ne_bytes());
        assert_eq!(room.items(ROOM_BYTES).count(), 0);
    }
}
