//! Cutting input into packets or lines, and putting length headers before output.

use super::options::Packet;

/// One piece for the owner.
#[derive(Debug, PartialEq, Eq)]
pub enum Piece {
    Data(Vec<u8>),
    /// A whole line (without its newline) or, false, part of one.
    Line(bool, Vec<u8>),
}

impl Piece {
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

/// Takes the whole pieces out of `buffer`. `None` when a packet announces more than memory holds.
pub fn cut(packet: Packet, buffer: &mut Vec<u8>) -> Vec<Piece> {
    let mut pieces = Vec::new();
    match packet {
        Packet::Stream => {
            if !buffer.is_empty() {
                pieces.push(Piece::Data(std::mem::take(buffer)));
            }
        }
        Packet::Header(n) => {
            let n = n as usize;
            let mut at = 0;
            while buffer.len() - at >= n {
                let size = buffer[at..at + n].iter().fold(0usize, |acc, b| acc << 8 | *b as usize);
                if buffer.len() - at - n < size {
                    break;
                }
                pieces.push(Piece::Data(buffer[at + n..at + n + size].to_vec()));
                at += n + size;
            }
            buffer.drain(..at);
        }
        Packet::Line(max) => {
            let mut at = 0;
            loop {
                let rest = &buffer[at..];
                match rest.iter().take(max + 1).position(|&b| b == b'\n') {
                    Some(i) => {
                        pieces.push(Piece::Line(true, rest[..i].to_vec()));
                        at += i + 1;
                    }
                    None if rest.len() >= max => {
                        pieces.push(Piece::Line(false, rest[..max].to_vec()));
                        at += max;
                    }
                    None => break,
                }
            }
            buffer.drain(..at);
        }
    }
    pieces
}

/// What is left at the end of the input.
pub fn rest(packet: Packet, buffer: &mut Vec<u8>) -> Option<Piece> {
    match packet {
        Packet::Line(_) if !buffer.is_empty() => Some(Piece::Line(false, std::mem::take(buffer))),
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
        let mut buffer = vec![0, 3, b'a', b'b', b'c', 0, 2, b'd'];
        assert_eq!(cut(Packet::Header(2), &mut buffer), vec![Piece::Data(b"abc".to_vec())]);
        buffer.push(b'e');
        assert_eq!(cut(Packet::Header(2), &mut buffer), vec![Piece::Data(b"de".to_vec())]);
        assert!(buffer.is_empty());
    }

    #[test]
    fn long_lines_come_in_parts() {
        let mut buffer = b"abcdef\nxy".to_vec();
        let pieces = cut(Packet::Line(4), &mut buffer);
        assert_eq!(pieces, vec![Piece::Line(false, b"abcd".to_vec()), Piece::Line(true, b"ef".to_vec())]);
        assert_eq!(rest(Packet::Line(4), &mut buffer), Some(Piece::Line(false, b"xy".to_vec())));
    }

    #[test]
    fn headers_refuse_what_does_not_fit() {
        assert_eq!(header(Packet::Header(1), 256), None);
        assert_eq!(header(Packet::Header(4), 256), Some(vec![0, 0, 1, 0]));
    }
}
