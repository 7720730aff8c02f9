//! Records of TLS as terms.

use super::is_old_hello;
use heddle_term::{Atom, Heap, Term};

/// `{ssl_tls, Socket, Type, {Major, Minor}, Data}`. A hello of SSL 2 comes as a handshake record with a client hello. The packet is whole, as
/// `Framing::next` found it.
pub fn term(heap: &mut Heap, socket: Term, packet: &[u8]) -> Term {
    let small = |b: u8| Term::small(b as i64);
    let (kind, version, data) = if is_old_hello(packet) {
        let body = &packet[3..];
        let mut data = vec![1];
        data.extend_from_slice(&(body.len() as u32).to_be_bytes()[1..]);
        data.extend_from_slice(body);
        (22, [packet[3], packet.get(4).copied().unwrap_or(0)], data)
    } else {
        (packet[0], [packet[1], packet[2]], packet[5..].to_vec())
    };
    let version = heap.tuple(&[small(version[0]), small(version[1])]);
    let data = heap.binary(&data);
    heap.tuple(&[Atom::new("ssl_tls").into(), socket, small(kind), version, data])
}
