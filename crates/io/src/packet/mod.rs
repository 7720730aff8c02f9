//! Framing: where the next packet of some bytes is. For `erlang:decode_packet/3` and for sockets.

pub mod http;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Raw,
    /// A length of 1, 2 or 4 bytes in front.
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
    pub kind: Kind,
    /// Largest packet, or 0.
    pub max_bytes: usize,
    /// Lines are cut after this many bytes, if it is not 0.
    pub line_bytes: usize,
    pub delimiter: u8,
}

/// Where the next packet is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
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
    pub fn new(kind: Kind) -> Framing {
        Framing { kind, max_bytes: 0, line_bytes: 0, delimiter: b'\n' }
    }

    pub fn next(&self, data: &[u8]) -> Next {
        match self.kind {
            Kind::Raw if data.is_empty() => Next::More(None),
            Kind::Raw => Next::Packet { header: 0, total: data.len(), trailer: 0 },
            Kind::Sized(n) => self.header(data, n, n, |h| Some(big_endian(h)), n),
            Kind::Asn1 => self.asn1(data),
            Kind::SunRm => self.header(data, 4, 4, |h| Some(big_endian(h) & 0x7fff_ffff), 0),
            Kind::Cdr => self.header(data, 12, 12, cdr_length, 0),
            Kind::FastCgi => match self.header(data, 8, 8, |h| (h[0] == 1).then(|| big_endian(&h[4..6]) + h[6] as usize), 0) {
                // Padding.
                Next::Packet { header, total, .. } => Next::Packet { header, total, trailer: data[6] as usize },
                other => other,
            },
            Kind::Tpkt => self.header(data, 4, 4, |h| if h[0] == 3 { big_endian(&h[2..4]).checked_sub(4) } else { None }, 0),
            Kind::Tls => self.tls(data),
            Kind::Line | Kind::Http | Kind::HttpHeader => self.line(data),
        }
    }

    /// A fixed header that says how long the rest is.
    fn header(&self, data: &[u8], need: usize, size: usize, length: impl Fn(&[u8]) -> Option<usize>, hidden: usize) -> Next {
        if data.len() < need {
            return Next::More(None);
        }
        match length(&data[..need]) {
            Some(body) => self.body(data, size, body, hidden),
            None => Next::Invalid,
        }
    }

    fn body(&self, data: &[u8], header: usize, body: usize, hidden: usize) -> Next {
        let total = header + body;
        if (self.max_bytes != 0 && body > self.max_bytes) || total > i32::MAX as usize {
            Next::Invalid
        } else if total > data.len() {
            Next::More(Some(total))
        } else {
            Next::Packet { header: hidden, total, trailer: 0 }
        }
    }

    fn asn1(&self, data: &[u8]) -> Next {
        let mut at = 1;
        match data.first() {
            None => return Next::More(None),
            Some(tag) if tag & 0x1f == 0x1f => {
                while data.get(at).is_some_and(|b| b & 0x80 != 0) {
                    at += 1;
                }
                at += 1;
            }
            Some(_) => {}
        }
        let Some(&first) = data.get(at) else { return Next::More(None) };
        at += 1;
        if first & 0x80 == 0 {
            return self.body(data, at, first as usize, 0);
        }
        let count = (first & 0x7f) as usize;
        match data.get(at..at + count) {
            Some(_) if count > 4 => Next::Invalid,
            Some(length) => self.body(data, at + count, big_endian(length), 0),
            None => Next::More(None),
        }
    }

    fn tls(&self, data: &[u8]) -> Next {
        if data.len() < 5 {
            return Next::More(None);
        }
        if is_old_hello(data) {
            // The length counts the three bytes that follow it, too.
            match (big_endian(&data[..2]) & 0x7fff).checked_sub(3) {
                Some(body) => self.body(data, 5, body, 0),
                None => Next::Invalid,
            }
        } else {
            self.body(data, 5, big_endian(&data[3..5]), 0)
        }
    }

    fn line(&self, data: &[u8]) -> Next {
        let mut from = 0;
        loop {
            let Some(end) = memchr::memchr(self.delimiter, &data[from..]).map(|i| from + i + 1) else {
                let full = self.kind != Kind::Line && self.limit().is_some_and(|limit| data.len() >= limit);
                return if full { Next::Invalid } else { self.long_line(data, data.len(), Next::More(None)) };
            };
            if self.kind == Kind::HttpHeader && !matches!(&data[..end], b"\n" | b"\r\n") {
                // A line that begins with a blank goes on the header.
                match data.get(end) {
                    None => return self.long_line(data, end, Next::More(None)),
                    Some(b' ' | b'\t') if end > 2 => {
                        from = end;
                        continue;
                    }
                    Some(_) => {}
                }
            }
            return self.long_line(data, end, Next::Packet { header: 0, total: end, trailer: 0 });
        }
    }

    /// HTTP lines are not cut: where no packet size was given, longer ones are refused.
    fn limit(&self) -> Option<usize> {
        let limit = if self.kind != Kind::Line && self.max_bytes == 0 { self.line_bytes } else { self.max_bytes };
        (limit != 0).then_some(limit)
    }

    fn long_line(&self, data: &[u8], len: usize, otherwise: Next) -> Next {
        if self.limit().is_some_and(|limit| len > limit) {
            Next::Invalid
        } else if self.kind == Kind::Line && self.line_bytes != 0 && len >= self.line_bytes && data.len() >= self.line_bytes {
            Next::Packet { header: 0, total: self.line_bytes, trailer: 0 }
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
    use super::{Framing, Kind, Next};

    fn packet(header: usize, total: usize) -> Next {
        Next::Packet { header, total, trailer: 0 }
    }

    #[test]
    fn sized_packets() {
        let framing = Framing::new(Kind::Sized(2));
        assert_eq!(framing.next(&[0]), Next::More(None));
        assert_eq!(framing.next(&[0, 3, 1]), Next::More(Some(5)));
        assert_eq!(framing.next(&[0, 3, 1, 2, 3, 4]), packet(2, 5));
        assert_eq!(Framing { max_bytes: 2, ..framing }.next(&[0, 3, 1]), Next::Invalid);
        assert_eq!(Framing::new(Kind::Sized(4)).next(&[255, 0, 0, 3]), Next::Invalid);
    }

    #[test]
    fn lines() {
        let framing = Framing::new(Kind::Line);
        assert_eq!(framing.next(b"abc"), Next::More(None));
        assert_eq!(framing.next(b"abc\ndef"), packet(0, 4));
        assert_eq!(Framing { line_bytes: 3, ..framing }.next(b"abcdef"), packet(0, 3));
        // A header goes on where the next line begins with a blank.
        let header = Framing::new(Kind::HttpHeader);
        assert_eq!(header.next(b"A: b\r\n"), Next::More(None));
        assert_eq!(header.next(b"A: b\r\n c\r\nx"), packet(0, 10));
        assert_eq!(header.next(b"\r\nx"), packet(0, 2));
    }
}
