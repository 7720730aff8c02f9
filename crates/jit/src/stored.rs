//! Compiled functions as bytes, for a file.
//!
//! All numbers are 32 bits, the first byte least. First the number of segments. Then for each: its cell, the offset of its first instruction, the numbers
//! of bytes, of words to fill in, and of lines; the code; for each word the kind of its symbol and its offset (4 and 28 bits), and which it is; for
//! each line the offset and the cell.

use crate::compile::Piece;
use crate::symbol::Symbol;

/// Bits of the offset of a word.
const OFFSET_BITS: u32 = 28;

pub fn encode(pieces: &[Piece]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut put = |number: usize| bytes.extend_from_slice(&(number as u32).to_le_bytes());
    put(pieces.len());
    for piece in pieces {
        for number in [piece.cell as usize, piece.start, piece.code.len(), piece.words.len(), piece.lines.len()] {
            put(number);
        }
        for &(offset, symbol) in &piece.words {
            let (kind, which) = symbol.numbers();
            put(offset | (kind as usize) << OFFSET_BITS);
            put(which as usize);
        }
        for &(offset, cell) in &piece.lines {
            put(offset);
            put(cell as usize);
        }
    }
    for piece in pieces {
        bytes.extend_from_slice(&piece.code);
    }
    bytes
}

/// Returns `None` if the bytes are not what `encode` makes.
pub fn decode(bytes: &[u8]) -> Option<Vec<Piece>> {
    let mut rest = bytes;
    let mut take = || {
        let (number, after) = rest.split_first_chunk()?;
        rest = after;
        Some(u32::from_le_bytes(*number))
    };
    let count = take()? as usize;
    // Each has five numbers at least.
    if count > bytes.len() / 20 {
        return None;
    }
    let mut pieces = Vec::with_capacity(count);
    for _ in 0..count {
        let [cell, start, size, words, lines] = [take()?, take()?, take()?, take()?, take()?];
        let words = (0..words).map(|_| {
            let place = take()?;
            let offset = (place & ((1 << OFFSET_BITS) - 1)) as usize;
            let symbol = Symbol::of(place >> OFFSET_BITS, take()?)?;
            (offset + 8 <= size as usize).then_some((offset, symbol))
        });
        let words = words.collect::<Option<Vec<_>>>()?;
        let lines = (0..lines).map(|_| Some((take()? as usize, take()?))).collect::<Option<Vec<_>>>()?;
        if start > size {
            return None;
        }
        pieces.push((Piece { cell, code: Vec::new(), start: start as usize, lines, words }, size as usize));
    }
    let mut code = rest;
    let pieces = pieces.into_iter().map(|(piece, size)| {
        let (own, after) = code.split_at_checked(size)?;
        code = after;
        Some(Piece { code: own.to_vec(), ..piece })
    });
    let pieces = pieces.collect::<Option<Vec<_>>>()?;
    code.is_empty().then_some(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces() -> Vec<Piece> {
        let words = vec![(2, Symbol::Cell(9)), (10, Symbol::Literal(0))];
        let first = Piece { cell: 5, code: (0..18).collect(), start: 4, lines: vec![(4, 5), (9, 7)], words };
        vec![first, Piece { cell: 77, code: vec![0xc3], start: 0, lines: Vec::new(), words: Vec::new() }]
    }

    #[test]
    fn pieces_come_back() {
        let decoded = decode(&encode(&pieces())).unwrap();
        assert_eq!(decoded, pieces());
        assert_eq!(decode(&encode(&[])), Some(Vec::new()));
    }

    #[test]
    fn damaged_bytes_are_refused_or_are_other_pieces() {
        let bytes = encode(&pieces());
        for size in 0..bytes.len() {
            assert_eq!(decode(&bytes[..size]), None, "{size} bytes");
        }
        for at in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[at / 8] ^= 1 << (at % 8);
            for piece in decode(&damaged).unwrap_or_default() {
                assert!(piece.start <= piece.code.len() && piece.words.iter().all(|&(offset, _)| offset + 8 <= piece.code.len()));
            }
        }
    }
}
