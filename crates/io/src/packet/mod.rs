//! Framing: where the next packet of some bytes is. For `erlang:decode_packet/3` and for sockets.

pub mod http;
pub mod tls;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PacketKind {
    Raw,
    /// A header of 1, 2 or 4 bytes with the length.
    Sized(usize),
    Asn1,
    SunRm,
    Cdr,
    FastCgi,
    Tpkt,
    Line,
    Tls,
    Http,
    HttpHeader,
}

#[derive(Clone, Copy, Debug)]
pub struct Framing {
    pub kind: PacketKind,
    /// Size of the largest packet in bytes; 0: no limit.
    pub max_bytes: usize,
    /// Lines are cut after this many bytes, if it is not 0.
    pub line_bytes: usize,
    pub delimiter: u8,
}

/// Where the next packet is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NextPacket {
    /// It takes this many bytes, of which the first `header` and the last `trailer` are not given to the program.
    Packet {
        header: usize,
        total: usize,
        trailer: usize,
    },
    /// More bytes are needed. The packet takes this many in all, if that is known.
    More(Option<usize>),
    Invalid,
}

fn big_endian(bytes: &[u8]) -> usize {
    bytes.iter().fold(0, |n, &b| n << 8 | b as usize)
}

impl Framing {
    pub fn new(kind: PacketKind) -> Framing {
        Framing { kind, max_bytes: 0, line_bytes: 0, delimiter: b'\n' }
    }

    pub fn next(&self, data: &[u8]) -> NextPacket {
        match self.kind {
            PacketKind::Raw if data.is_empty() => NextPacket::More(None),
            PacketKind::Raw => NextPacket::Packet { header: 0, total: data.len(), trailer: 0 },
            PacketKind::Sized(n) => self.header(data, n, n, |h| Some(big_endian(h)), n),
            PacketKind::Asn1 => self.asn1(data),
            PacketKind::SunRm => self.header(data, 4, 4, |h| Some(big_endian(h) & 0x7fff_ffff), 0),
            PacketKind::Cdr => self.header(data, 12, 12, cdr_length, 0),
            PacketKind::FastCgi => match self.header(data, 8, 8, |h| (h[0] == 1).then(|| big_endian(&h[4..6]) + h[6] as usize), 0) {
                // Padding.
                NextPacket::Packet { header, total, .. } => NextPacket::Packet { header, total, trailer: data[6] as usize },
                other => other,
            },
            PacketKind::Tpkt => self.header(data, 4, 4, |h| if h[0] == 3 { big_endian(&h[2..4]).checked_sub(4) } else { None }, 0),
            PacketKind::Tls => self.tls(data),
            PacketKind::Line | PacketKind::Http | PacketKind::HttpHeader => self.line(data),
        }
    }

    /// How many bytes to read so that no byte of the packet after the next is read, where `have` bytes do not say how long the next one is.
    pub fn header_missing(&self, have: usize) -> usize {
        let header: usize = match self.kind {
            PacketKind::Sized(n) => n,
            PacketKind::SunRm | PacketKind::Tpkt => 4,
            PacketKind::Asn1 => 2,
            PacketKind::Tls => 5,
            PacketKind::Cdr => 12,
            PacketKind::FastCgi => 8,
            PacketKind::Raw | PacketKind::Line | PacketKind::Http | PacketKind::HttpHeader => 1,
        };
        header.saturating_sub(have).max(1)
    }

    /// A fixed header that says how long the rest is.
    fn header(&self, data: &[u8], need: usize, size: usize, length: impl Fn(&[u8]) -> Option<usize>, hidden: usize) -> NextPacket {
        if data.len() < need {
            return NextPacket::More(None);
        }
        match length(&data[..need]) {
            Some(body) => self.body(data, size, body, hidden),
            None => NextPacket::Invalid,
        }
    }

    fn body(&self, data: &[u8], header: usize, body: usize, hidden: usize) -> NextPacket {
        let total = header + body;
        if (self.max_bytes != 0 && body > self.max_bytes) || total > i32::MAX as usize {
            NextPacket::Invalid
        } else if total > data.len() {
            NextPacket::More(Some(total))
        } else {
            NextPacket::Packet { header: hidden, total, trailer: 0 }
        }
    }

    fn asn1(&self, data: &[u8]) -> NextPacket {
        let mut at = 1;
        match data.first() {
            None => return NextPacket::More(None),
            Some(tag) if tag & 0x1f == 0x1f => {
                while data.get(at).is_some_and(|b| b & 0x80 != 0) {
                    at += 1;
                }
                at += 1;
            }
            Some(_) => {}
        }
        let Some(&first) = data.get(at) else { return NextPacket::More(None) };
        at += 1;
        if first & 0x80 == 0 {
            return self.body(data, at, first as usize, 0);
        }
        let count = (first & 0x7f) as usize;
        match data.get(at..at + count) {
            Some(_) if count > 4 => NextPacket::Invalid,
            Some(length) => self.body(data, at + count, big_endian(length), 0),
            None => NextPacket::More(None),
        }
    }

    fn tls(&self, data: &[u8]) -> NextPacket {
        if data.len() < 5 {
            return NextPacket::More(None);
        }
        if is_old_hello(data) {
            // The length counts the three bytes that follow it, too.
            match (big_endian(&data[..2]) & 0x7fff).checked_sub(3) {
                Some(body) => self.body(data, 5, body, 0),
                None => NextPacket::Invalid,
            }
        } else {
            self.body(data, 5, big_endian(&data[3..5]), 0)
        }
    }

    fn line(&self, data: &[u8]) -> NextPacket {
        let mut from = 0;
        loop {
            let Some(end) = memchr::memchr(self.delimiter, &data[from..]).map(|i| from + i + 1) else {
                let full = self.kind != PacketKind::Line && self.limit().is_some_and(|limit| data.len() >= limit);
                return if full { NextPacket::Invalid } else { self.long_line(data, data.len(), NextPacket::More(None)) };
            };
            if self.kind == PacketKind::HttpHeader && !matches!(&data[..end], b"\n" | b"\r\n") {
                // A line that begins with a blank continues the header.
                match data.get(end) {
                    None => return self.long_line(data, end, NextPacket::More(None)),
                    Some(b' ' | b'\t') if end > 2 => {
                        from = end;
                        continue;
                    }
                    Some(_) => {}
                }
            }
            return self.long_line(data, end, NextPacket::Packet { header: 0, total: end, trailer: 0 });
        }
    }

    /// The largest size of a packet in bytes. Lines of HTTP are not cut: if no packet size was given, lines longer than the line length are
    /// refused.
    fn limit(&self) -> Option<usize> {
        let limit = if self.kind != PacketKind::Line && self.max_bytes == 0 { self.line_bytes } else { self.max_bytes };
        (limit != 0).then_some(limit)
    }

    fn long_line(&self, data: &[u8], len: usize, otherwise: NextPacket) -> NextPacket {
        if self.limit().is_some_and(|limit| len > limit) {
            NextPacket::Invalid
        } else if self.kind == PacketKind::Line && self.line_bytes != 0 && len >= self.line_bytes && data.len() >= self.line_bytes {
            NextPacket::Packet { header: 0, total: self.line_bytes, trailer: 0 }
        } else {
            otherwise
        }
    }
}

fn cdr_length(header: &[u8]) -> Option<usize> {
    if &header[..4] != b"GIOP" {
        return None;
    }
    let size: [u8; 4] = header[8..12].try_into().ok()?;
    Some(if header[6] & 1 == 1 { u32::from_le_bytes(size) } else { u32::from_be_bytes(size) } as usize)
}

/// The hello of SSL 2, which has no record layer of its own.
pub fn is_old_hello(data: &[u8]) -> bool {
    data[0] & 0x80 != 0 && data[2] == 1
}

#[cfg(test)]
mod tests {
    use super::{Framing, NextPacket, PacketKind};

    fn packet(header: usize, total: usize) -> NextPacket {
        NextPacket::Packet { header, total, trailer: 0 }
    }

    #[test]
    fn sized_packets() {
        let framing = Framing::new(PacketKind::Sized(2));
        assert_eq!(framing.next(&[0]), NextPacket::More(None));
        assert_eq!(framing.next(&[0, 3, 1]), NextPacket::More(Some(5)));
        assert_eq!(framing.next(&[0, 3, 1, 2, 3, 4]), packet(2, 5));
        assert_eq!(Framing { max_bytes: 2, ..framing }.next(&[0, 3, 1]), NextPacket::Invalid);
        assert_eq!(Framing::new(PacketKind::Sized(4)).next(&[255, 0, 0, 3]), NextPacket::Invalid);
    }

    #[test]
    fn lines() {
        let framing = Framing::new(PacketKind::Line);
        assert_eq!(framing.next(b"abc"), NextPacket::More(None));
        assert_eq!(framing.next(b"abc\ndef"), packet(0, 4));
        assert_eq!(Framing { line_bytes: 3, ..framing }.next(b"abcdef"), packet(0, 3));
        // A header continues if the next line begins with a blank.
        let header = Framing::new(PacketKind::HttpHeader);
        assert_eq!(header.next(b"A: b\r\n"), NextPacket::More(None));
        assert_eq!(header.next(b"A: b\r\n c\r\nx"), packet(0, 10));
        assert_eq!(header.next(b"\r\nx"), packet(0, 2));
    }
}
