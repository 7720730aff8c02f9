//! Data that processes send to ports.

use heddle_term::list::{self, Piece};
use heddle_term::{Heap, Term};

pub struct Data {
    pub bytes: Vec<u8>,
    /// The ends of the parts in which a driver gets the data, if it takes parts.
    ends: Option<Vec<usize>>,
}

/// A binary of as many bytes is a part of its own, as in stock.
const PART_BYTES: usize = 256;

impl Data {
    /// The data of an iolist or binary; None for another term. `in_parts`: large binaries stay apart from what is around them.
    pub fn of(term: Term, in_parts: bool) -> Option<Data> {
        if !in_parts {
            return Some(Data { bytes: list::iolist_to_vec(term).ok()?, ends: None });
        }
        let (mut bytes, mut ends) = (Vec::new(), Vec::new());
        list::walk_iolist(term, |piece| match piece {
            Piece::Byte(byte) => bytes.push(byte),
            Piece::Binary(view) => {
                let part = view.to_vec();
                let is_large = part.len() >= PART_BYTES;
                if is_large {
                    ends.push(bytes.len());
                }
                bytes.extend_from_slice(&part);
                if is_large {
                    ends.push(bytes.len());
                }
            }
        })
        .ok()?;
        ends.push(bytes.len());
        Some(Data { bytes, ends: Some(ends) })
    }

    /// The parts that are not empty, as ranges of the bytes.
    pub fn parts(&self) -> Vec<std::ops::Range<usize>> {
        let mut from = 0;
        let whole = [self.bytes.len()];
        let ends = self.ends.as_deref().unwrap_or(&whole);
        let parts = ends.iter().map(|&end| std::mem::replace(&mut from, end)..end);
        parts.filter(|part| !part.is_empty()).collect()
    }

    /// The data as tracers see it: a binary, or a list of the parts.
    pub fn term(&self, heap: &mut Heap) -> Term {
        if self.ends.is_none() {
            return heap.binary(&self.bytes);
        }
        let parts: Vec<Term> = self.parts().into_iter().map(|part| heap.binary(&self.bytes[part])).collect();
        heap.list(&parts)
    }
}

impl From<Vec<u8>> for Data {
    fn from(bytes: Vec<u8>) -> Data {
        Data { bytes, ends: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_binaries_are_parts_and_what_is_between_them_is_joined() {
        let mut heap = Heap::new();
        let (small, large) = (heap.binary(b"ab"), heap.binary(&[7; PART_BYTES]));
        let list = heap.list(&[Term::small(1), small, large, large, small, Term::small(2)]);
        let lengths = |in_parts| Data::of(list, in_parts).map(|data| data.parts().into_iter().map(|part| part.len()).collect::<Vec<_>>());
        assert_eq!(lengths(true), Some(vec![3, PART_BYTES, PART_BYTES, 3]));
        assert_eq!(lengths(false), Some(vec![2 * PART_BYTES + 6]));
        assert!(Data::of(Term::small(1), true).is_none());
        heap.clear();
    }
}
