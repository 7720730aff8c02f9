//! Cutting input into packets or lines, and putting length headers before output.

use super::options::Packet;

/// One piece for the owner. It borrows the bytes that were read.
#[derive(Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    Data(&'a [u8]),
    /// True: a whole line, without its newline. False: a part of a line.
    Line(bool, &'a [u8]),
}

impl Piece<'_> {
    /// Bytes of payload.
    pub fn len(&self) -> usize {
        match self {
            Piece::Data(b) | Piece::Line(_, b) => b.len(),
        }
    }
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Returns the whole pieces at the beginning of `bytes`, and how many bytes they take with their headers and newlines.
pub fn cut(packet: Packet, bytes: &[u8]) -> (Vec<Piece<'_>>, usize) {
    let mut pieces = Vec::new();
    let mut at = 0;
    match packet {
        Packet::Stream => {
            if !bytes.is_empty() {
                pieces.push(Piece::Data(bytes));
            }
            at = bytes.len();
        }
        Packet::Header(n) => {
            let n = n as usize;
            while bytes.len() - at >= n {
                let size = bytes[at..at + n].iter().fold(0usize, |acc, b| acc << 8 | *b as usize);
                if bytes.len() - at - n < size {
                    break;
                }
                pieces.push(Piece::Data(&bytes[at + n..at + n + size]));
                at += n + size;
            }
        }
        Packet::Line(max) => loop {
            let rest = &bytes[at..];
            match rest.iter().take(max + 1).position(|&b| b == b'\n') {
                Some(i) => {
                    pieces.push(Piece::Line(true, &rest[..i]));
                    at += i + 1;
                }
                None if rest.len() >= max => {
                    pieces.push(Piece::Line(false, &rest[..max]));
                    at += max;
                }
                None => break,
            }
        },
    }
    (pieces, at)
}

/// The piece that the last bytes make when the input has ended.
pub fn rest(packet: Packet, bytes: &[u8]) -> Option<Piece<'_>> {
    match packet {
        Packet::Line(_) if !bytes.is_empty() => Some(Piece::Line(false, bytes)),
        _ => None,
    }
}

/// The header for output of this size; None if it does not fit the header.
pub fn header(packet: Packet, size: usize) -> Option<Vec<u8>> {
    match packet {
        Packet::Header(n) => {
            if n < 8 && size >> (8 * n as u32) != 0 {
                return None;
            }
            Some(size.to_be_bytes()[8 - n as usize..].to_vec())
        }
        _ => Some(Vec::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_come_whole() {
        let bytes = [0, 3, b'a', b'b', b'c', 0, 2, b'd', b'e'];
        assert_eq!(cut(Packet::Header(2), &bytes[..8]), (vec![Piece::Data(b"abc")], 5));
        assert_eq!(cut(Packet::Header(2), &bytes[5..]), (vec![Piece::Data(b"de")], 4));
        assert_eq!(cut(Packet::Header(2), &bytes[..1]), (vec![], 0));
    }

    #[test]
    fn long_lines_come_in_parts() {
        let (pieces, used) = cut(Packet::Line(4), b"abcdef\nxy");
        assert_eq!(pieces, vec![Piece::Line(false, b"abcd"), Piece::Line(true, b"ef")]);
        assert_eq!((used, rest(Packet::Line(4), b"xy")), (7, Some(Piece::Line(false, b"xy"))));
    }

    #[test]
    fn headers_refuse_what_does_not_fit() {
        assert_eq!(header(Packet::Header(1), 256), None);
        assert_eq!(header(Packet::Header(4), 256), Some(vec![0, 0, 1, 0]));
    }
}
