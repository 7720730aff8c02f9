//! `erlang:decode_packet/3`: cutting the next packet off a binary.

use super::bytes::{self, slice};
use heddle_io::packet::{Framing, NextPacket, PacketKind, http, tls};
use heddle_natives::args;
use heddle_runtime::process::{NativeResult, Process};
use heddle_term::{Atom, Term, am, list};

heddle_runtime::natives! { TABLE:
    "erlang" => { "decode_packet"/3 => decode_packet }
}

/// The kind that a program names, and true if strings in its packets become binaries.
pub fn kind(term: Term) -> Option<(PacketKind, bool)> {
    if let Some(n) = term.as_small() {
        return Some(match n {
            0 => (PacketKind::Raw, false),
            1 | 2 | 4 => (PacketKind::Sized(n as usize), false),
            _ => return None,
        });
    }
    Some(match term.as_atom()?.name() {
        "raw" => (PacketKind::Raw, false),
        "asn1" => (PacketKind::Asn1, false),
        "sunrm" => (PacketKind::SunRm, false),
        "cdr" => (PacketKind::Cdr, false),
        "fcgi" => (PacketKind::FastCgi, false),
        "tpkt" => (PacketKind::Tpkt, false),
        "line" => (PacketKind::Line, false),
        "ssl_tls" => (PacketKind::Tls, false),
        "http" => (PacketKind::Http, false),
        "http_bin" => (PacketKind::Http, true),
        "httph" => (PacketKind::HttpHeader, false),
        "httph_bin" => (PacketKind::HttpHeader, true),
        _ => return None,
    })
}

fn options(framing: &mut Framing, term: Term) -> Option<()> {
    for option in list::to_vec(term)? {
        let (name, value) = args::option(option)?;
        let value = args::count(value).filter(|&n| n <= u32::MAX as usize)?;
        match name.name() {
            "packet_size" => framing.max_bytes = value,
            "line_length" => framing.line_bytes = value,
            "line_delimiter" if framing.kind == PacketKind::Line => framing.delimiter = u8::try_from(value).ok()?,
            "line_delimiter" if value <= 255 => {}
            _ => return None,
        }
    }
    Some(())
}

fn decode_packet(p: &mut Process, a: &[Term]) -> NativeResult {
    let mut copy = Vec::new();
    let Some((kind, binary_strings)) = kind(a[0]) else { return Err(p.badarg_cause(Atom::new("badopt"))) };
    let Some(data) = bytes::bytes(a[1], &mut copy) else { return Err(p.badarg()) };
    let mut framing = Framing::new(kind);
    if options(&mut framing, a[2]).is_none() {
        return Err(p.badarg());
    }
    p.bump(1);
    match framing.next(data) {
        NextPacket::Invalid => {
            let invalid = Atom::new("invalid").into();
            Ok(p.heap.tuple(&[am::ERROR.into(), invalid]))
        }
        NextPacket::More(size) => {
            let size = size.map_or(am::UNDEFINED.into(), |n| Term::small(n as i64));
            Ok(p.heap.tuple(&[Atom::new("more").into(), size]))
        }
        NextPacket::Packet { header, total, trailer } => {
            let packet = match kind {
                PacketKind::Http | PacketKind::HttpHeader => {
                    http::parse(&mut p.heap, &data[..total], kind == PacketKind::HttpHeader, binary_strings)
                }
                PacketKind::Tls => tls::term(&mut p.heap, Term::NIL, &data[..total]),
                _ => slice(&mut p.heap, a[1], header as u64 * 8, (total - header - trailer) as u64 * 8),
            };
            let rest = slice(&mut p.heap, a[1], total as u64 * 8, (data.len() - total) as u64 * 8);
            Ok(p.heap.tuple(&[am::OK.into(), packet, rest]))
        }
    }
}
